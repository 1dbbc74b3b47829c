// The legal actions of Tong-its for the viewer, and the first reason why another action is illegal. Both
// agree with the server's answer and follow from the public state and the player's own hand; the server still
// decides.

import type { Card, TongitsAction, TongitsPublic, TongitsView } from "../../gen/socket.js";
import { leavesNothing } from "./arrange.js";
import {
  type Set5, NONE, cardsOf, containsAll, difference, has, intersection, isJoker, naturals,
  placeOf, setOf, size, union,
} from "./cards.js";
import { additions, chowsOf, isMeld, isSecret, meldsOf } from "./melds.js";

/** The reason for a refusal: the server's code and the number of the rule. */
export interface Illegal {
  readonly code: string;
  readonly rule: string;
}

type TurnPhase = Extract<TongitsPublic["phase"], { type: "draw" | "play" }>;

/** Returns the viewer's hand. */
export function ownHand(view: TongitsView): readonly Card[] {
  return (view.viewer === null ? null : view.hands[view.viewer]) ?? [];
}

/** Returns every legal action of the viewer, each once. */
export function legal(view: TongitsView): TongitsAction[] {
  const { public: open, viewer } = view;
  if (viewer === null || !view.hands[viewer]) return [];
  const hand = setOf(ownHand(view));
  const { phase } = open;
  if (phase.type === "fight") {
    return whyNotAnswer(open, viewer) === null ? [{ type: "challenge" }, { type: "fold" }] : [];
  }
  if ((phase.type !== "draw" && phase.type !== "play") || phase.seat !== viewer) return [];
  return phase.type === "draw" ? drawActions(open, viewer, hand) : playActions(open, hand);
}

function drawActions(open: TongitsPublic, seat: number, hand: Set5): TongitsAction[] {
  const actions: TongitsAction[] = [{ type: "draw" }];
  const discard = open.discards.at(-1);
  if (discard !== undefined) {
    for (const cards of chowsOf(hand, placeOf(discard))) {
      actions.push({ type: "chow", cards: cardsOf(cards) });
    }
  }
  if (whyNotFight(open, seat) === null) actions.push({ type: "fight" });
  if (open.rules.spread && open.yet_to_act?.includes(seat) && leavesNothing(hand)) {
    actions.push({ type: "tongits" });
  }
  return actions;
}

function playActions(open: TongitsPublic, hand: Set5): TongitsAction[] {
  const actions: TongitsAction[] = [];
  const melds = meldsOf(hand);
  for (const cards of melds) actions.push({ type: "drop", cards: cardsOf(cards) });
  if (open.rules.bahay) {
    for (const cards of melds) {
      if (!isSecret(cards, open.rules.secret_run_min)) continue;
      actions.push({ type: "drop", cards: cardsOf(cards), face_down: true });
    }
  }
  for (const [meld, cards] of openMelds(open)) {
    for (const card of cardsOf(intersection(additions(cards), hand))) {
      actions.push({ type: "sapaw", card, meld });
    }
  }
  for (const card of cardsOf(dumpable(open, hand))) actions.push({ type: "dump", card });
  if (leavesNothing(hand)) actions.push({ type: "tongits" });
  return actions;
}

/** Returns the reason why an action is illegal, or null if it is legal. */
export function whyNot(view: TongitsView, action: TongitsAction): Illegal | null {
  const { public: open, viewer } = view;
  if (viewer === null) return { code: "not_seated", rule: "1.1" };
  const hand = setOf(ownHand(view));
  switch (action.type) {
    case "draw":
      return whyNotDrawPhase(open, viewer);
    case "chow":
      return whyNotDrawPhase(open, viewer) ?? whyNotChow(open, hand, action.cards);
    case "fight":
      return whyNotDrawPhase(open, viewer) ?? whyNotFight(open, viewer);
    case "drop":
      return whyNotPlayPhase(open, viewer) ?? whyNotDrop(open, hand, action.cards, action.face_down);
    case "sapaw":
      return whyNotPlayPhase(open, viewer) ?? whyNotSapaw(open, hand, action.card, action.meld);
    case "dump":
      return whyNotPlayPhase(open, viewer) ?? whyNotDump(open, hand, action.card);
    case "tongits":
      return whyNotTongits(open, viewer) ?? unless(leavesNothing(hand), "cards_left_over", "3.7");
    case "challenge":
    case "fold":
      return whyNotAnswer(open, viewer);
  }
}

/** Returns every choice of hand cards that forms a meld with the top discard. */
export function chows(view: TongitsView): Card[][] {
  const discard = view.public.discards.at(-1);
  if (discard === undefined) return [];
  return chowsOf(setOf(ownHand(view)), placeOf(discard)).map(cardsOf);
}

/** Returns the numbers of the open melds that take a card. */
export function targets(view: TongitsView, card: Card): number[] {
  return openMelds(view.public)
    .filter(([, cards]) => has(additions(cards), placeOf(card)))
    .map(([meld]) => meld);
}

/** Returns whether a seat owns an open meld, and whether it may fight at the beginning of its next turn. */
export function fightState(
  view: TongitsView,
  seat: number,
): { readonly open: boolean; readonly blocked: boolean } {
  const { phase, added_to } = view.public;
  const isTurn = phase.type === "draw" && phase.seat === seat;
  return {
    open: isOpen(view.public, seat),
    blocked: isTurn ? phase.fight_blocked : added_to.includes(seat),
  };
}

function openMelds(open: TongitsPublic): (readonly [number, Set5])[] {
  return open.melds.flatMap(({ cards, face_down }, meld) =>
    face_down === undefined || face_down === null ? [[meld, setOf(cards)] as const] : [],
  );
}

function isOpen(open: TongitsPublic, seat: number): boolean {
  return open.melds.some(({ owner, face_down }) => owner === seat && (face_down ?? null) === null);
}

/** Returns the cards that may be dumped (rules 3.6, 11.1). */
function dumpable(open: TongitsPublic, hand: Set5): Set5 {
  if (open.rules.dump_addable) return naturals(hand);
  const addable = openMelds(open).reduce((sum, [, cards]) => union(sum, additions(cards)), NONE);
  return difference(naturals(hand), addable);
}

function whyNotDrawPhase(open: TongitsPublic, seat: number): Illegal | null {
  return whyNotTurn(open, seat, "draw");
}

function whyNotPlayPhase(open: TongitsPublic, seat: number): Illegal | null {
  return whyNotTurn(open, seat, "play");
}

function whyNotTurn(open: TongitsPublic, seat: number, wanted: TurnPhase["type"]): Illegal | null {
  const { phase } = open;
  switch (phase.type) {
    case "starter":
    case "deal":
      return { code: "not_dealt", rule: "2.3" };
    case "over":
      return { code: "game_over", rule: "2.5" };
    case "fight":
      return { code: "fight_open", rule: "4.2" };
    case "draw":
    case "play":
      if (phase.seat !== seat) return { code: "not_your_turn", rule: "1.1" };
      return unless(phase.type === wanted, `not_${wanted}_phase`, "3.1");
  }
}

function whyNotAnswer({ phase }: TongitsPublic, seat: number): Illegal | null {
  switch (phase.type) {
    case "starter":
    case "deal":
      return { code: "not_dealt", rule: "2.3" };
    case "over":
      return { code: "game_over", rule: "2.5" };
    case "draw":
    case "play":
      return { code: "no_fight", rule: "4.2" };
    case "fight": {
      const isAsked = phase.asked.includes(seat) || phase.asked_secretly.includes(seat);
      return (
        unless(isAsked, "not_asked", "4.2") ??
        unless(!phase.answered.includes(seat), "already_answered", "4.2")
      );
    }
  }
}

function whyNotChow(open: TongitsPublic, hand: Set5, cards: readonly Card[]): Illegal | null {
  const discard = open.discards.at(-1);
  if (discard === undefined) return { code: "nothing_to_chow", rule: "3.2" };
  const chosen = setOf(cards);
  return (
    unless(containsAll(hand, chosen), "chow_card_not_in_hand", "3.2") ??
    unless(size(chosen) >= 2, "chow_too_few", "3.2") ??
    unless(isMeld(union(chosen, setOf([discard]))), "chow_no_meld", "3.2")
  );
}

/** Checks a fight in the draw phase of the seat's own turn (rule 4.1). */
function whyNotFight(open: TongitsPublic, seat: number): Illegal | null {
  const isBlocked = open.phase.type === "draw" && open.phase.fight_blocked;
  return (
    unless(isOpen(open, seat), "not_open", "4.1") ?? unless(!isBlocked, "fight_blocked", "4.1")
  );
}

function whyNotDrop(
  open: TongitsPublic,
  hand: Set5,
  cards: readonly Card[],
  faceDown = false,
): Illegal | null {
  const chosen = setOf(cards);
  const isSecretHere = isSecret(chosen, open.rules.secret_run_min);
  return (
    unless(open.rules.bahay || !faceDown, "face_down_off", "3.4") ??
    unless(containsAll(hand, chosen), "drop_card_not_in_hand", "3.4") ??
    unless(isMeld(chosen), "drop_no_meld", "3.4") ??
    unless(!faceDown || isSecretHere, "drop_no_secret", "3.4")
  );
}

function whyNotSapaw(open: TongitsPublic, hand: Set5, card: Card, meld: number): Illegal | null {
  if (!has(hand, placeOf(card))) return { code: "sapaw_card_not_in_hand", rule: "3.5" };
  const target = open.melds[meld];
  if (!target) return { code: "no_such_meld", rule: "3.5" };
  if ((target.face_down ?? null) !== null) return { code: "meld_face_down", rule: "3.4" };
  return unless(has(additions(setOf(target.cards)), placeOf(card)), "sapaw_no_meld", "3.5");
}

function whyNotDump(open: TongitsPublic, hand: Set5, card: Card): Illegal | null {
  return (
    unless(has(hand, placeOf(card)), "dump_card_not_in_hand", "3.6") ??
    unless(!isJoker(card), "joker_dumped", "11.1") ??
    unless(has(dumpable(open, hand), placeOf(card)), "card_addable", "3.6")
  );
}

function whyNotTongits(open: TongitsPublic, seat: number): Illegal | null {
  const { phase, rules, yet_to_act } = open;
  if (phase.type === "draw" && phase.seat === seat && rules.spread) {
    return unless(yet_to_act?.includes(seat) ?? false, "not_first_action", "10.3");
  }
  return whyNotPlayPhase(open, seat);
}

function unless(holds: boolean, code: string, rule: string): Illegal | null {
  return holds ? null : { code, rule };
}
