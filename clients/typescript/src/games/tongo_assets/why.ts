// The first reason why an action of Tongo (assets) is illegal for the viewer, the same as the server's. It
// follows from the public state and the seat's own cards; the server still decides.

import type {
  TongoAssetsAction as Action, TongoAssetsBribe as Bribe, TongoAssetsCard as Card,
  TongoAssetsPublic as Public, TongoAssetsView as View,
} from "../../gen/socket.js";
import { type Kind, apart, firstOf, isAsset } from "./cards.js";
import {
  HAND_MAX, KEPT_MAX, evasion, isLast, openingRisk, priceBounds, sectionOf, turnOf,
} from "./public.js";

/** The reason for a refusal: the server's code and the number of the rule. */
export interface Illegal {
  readonly code: string;
  readonly rule: string;
}

/** A seat whose actions are checked, with its cards. */
export interface Actor {
  readonly open: Public;
  readonly seat: number;
  readonly hand: readonly Card[];
  readonly kept: readonly Card[];
}

const MARGIN_STEP = 5;
const MARGIN_MAX = 50;
const EVADE_CARDS = 3;

/** Returns the viewer as an actor; null for a spectator. */
export function actorOf({ viewer, own, public: open }: View): Actor | null {
  return viewer === null || !own ? null : { open, seat: viewer, hand: own.hand, kept: own.kept };
}

/** Returns the reason why an action is illegal, or null if it is legal. */
export function whyNot(view: View, action: Action): Illegal | null {
  const actor = actorOf(view);
  if (!actor) return illegal("not_your_turn", "2.2");
  const { open, seat } = actor;
  switch (open.phase.type) {
    case "dealer":
    case "assets":
    case "acquires":
    case "deal":
      return illegal("not_dealt", "1.7");
    case "over":
    case "showdown":
    case "last_in":
      return illegal("game_over", "6.1");
    default:
  }
  if (!open.playing.includes(seat)) return illegal("retreated", "2.2");
  if (action.type === "accept" || action.type === "refuse") {
    if (!open.offer) return illegal("no_bribe", "4.6");
    return unless(open.offer.to === seat, "not_asked", "4.6");
  }
  return unless(!open.offer, "bribe_open", "4.6")
    ?? unless(turnOf(open.phase) === seat, "not_your_turn", "2.2")
    ?? whyNotTurn(actor, action);
}

/** Returns the chips missing from the risk, or owed; null if nothing is due. */
export function missing({ open, seat }: Actor): number | null {
  const { paid, owes } = playerOf(open, seat);
  switch (open.phase.type) {
    case "risk":
    case "confront":
      return open.risk - paid;
    case "debts":
      return owes;
    default:
      return null;
  }
}

export function canPay({ open, seat }: Actor, chips: number): boolean {
  return playerOf(open, seat).chips >= chips;
}

export function keeps({ kept }: Actor, kind: Kind): boolean {
  return firstOf(kept, kind) !== null;
}

/** Returns the slots of the section in front of the seat. */
export function slotsOf({ open, seat }: Actor): readonly number[] {
  return open.sections[sectionOf(open, seat)]?.slots ?? [];
}

/** Returns the number of assets that a sale takes. */
export function saleOf(actor: Actor): number {
  return Math.min(actor.hand.length, slotsOf(actor).length);
}

/** Returns the risk after a margin (rule 4.4). */
export function indexed(risk: number, margin: number): number {
  return Math.floor((risk * 100) / (100 - margin));
}

/** Returns the payment of a leverage (rule 4.5). */
export function leveraged(risk: number, percent: number): number {
  return Math.ceil((risk * percent) / 100);
}

/** Returns whether the other seat may hold these cards beside its own (rules 1.5, 4.6). */
export function hasRoom(open: Public, to: number, cards: readonly Card[]): boolean {
  const { assets, wilds, kept } = playerOf(open, to);
  const [ofHand, ofKept] = apart(cards);
  return (ofHand.length === 0 || assets + wilds + ofHand.length <= HAND_MAX)
    && (ofKept.length === 0 || kept + ofKept.length <= KEPT_MAX);
}

/** Checks a confront, in the seat's assessment or instead of an opening (rules 3.5 and 6.4). */
export function whyNotConfront(actor: Actor): Illegal | null {
  const { open, hand } = actor;
  const { phase, players, playing, rounds, rules } = open;
  if (phase.type !== "assess" && !(phase.type === "open" && isLast(open))) {
    return illegal("not_assessing", "3.1");
  }
  if (phase.type === "assess") {
    if (hand.length !== HAND_MAX) return illegal("hand_not_full", "3.5");
    const isFull = (seat: number) => handCount(players[seat]) === HAND_MAX;
    const mayAll = rounds > rules.confront_all_rounds || playing.every(isFull);
    if (!mayAll) return illegal("others_not_full", "3.5");
  }
  return poor(actor, open.risk);
}

function whyNotTurn(actor: Actor, action: Action): Illegal | null {
  const { open, seat, kept } = actor;
  switch (action.type) {
    case "open":
      return whyNotOpen(actor, action.risk) ?? whyNotPrices(action) ?? poor(actor, action.risk);
    case "pay": {
      const chips = missing(actor);
      return chips === null ? illegal("nothing_to_pay", "2.2") : poor(actor, chips);
    }
    case "raise":
      return unless(open.phase.type === "risk", "not_risking", "2.2")
        ?? unless(!playerOf(open, seat).acted, "acted_already", "2.2")
        ?? whyNotRaise(open, action.risk) ?? whyNotPrices(action)
        ?? poor(actor, action.risk - playerOf(open, seat).paid);
    case "raise_confront":
      return whyNotCircle(open) ?? whyNotRaise(open, action.risk) ?? poor(actor, action.risk);
    case "retreat":
      return null;
    case "swap":
      return whyNotSwap(actor, action.discard, action.slot);
    case "purchase":
      return whyNotAssess(open) ?? whyNotPrice(actor, action.free ?? false)
        ?? unless(slotsOf(actor).includes(action.slot), "slot_empty", "3.1")
        ?? whyNotDiscard(actor, action.discard ?? null);
    case "acquire": {
      const free = action.free ?? false;
      const lying = open.sections[sectionOf(open, seat)]?.acquires ?? 0;
      return whyNotAssess(open) ?? whyNotPrice(actor, free)
        ?? unless(lying > 0, "no_acquire_card", "3.3")
        ?? unless(kept.length - (free ? 1 : 0) < KEPT_MAX, "kept_full", "1.5")
        ?? whyNotDiscard(actor, action.replace ?? null);
    }
    case "sell":
      return whyNotSell(actor, action.slots);
    case "reveal": {
      const isOther = action.section < open.rules.sections && action.section !== sectionOf(open, seat);
      return whyNotAssess(open) ?? unless(keeps(actor, "V"), "no_reveal", "1.3")
        ?? unless(isOther, "no_such_section", "1.3");
    }
    case "dividend":
      return whyNotAssess(open) ?? unless(keeps(actor, "D"), "no_dividend", "1.3");
    case "done":
      return whyNotAssess(open);
    case "confront":
      return whyNotConfront(actor);
    case "evade":
      return whyNotCircle(open) ?? poor(actor, evasion(open))
        ?? unless(action.discards.length === EVADE_CARDS && holds(actor, action.discards),
          "evade_cards", "4.1");
    case "index":
      return whyNotIndex(actor, action.margin);
    case "leverage":
      return unless(open.rules.leverage, "leverage_off", "4.5") ?? whyNotCircle(open)
        ?? unless(action.percent >= 5 && action.percent <= 95, "leverage_percent", "4.5")
        ?? poor(actor, leveraged(open.risk, action.percent));
    case "bribe": {
      const { to, chips = 0, cards = [] } = action;
      return whyNotBribe(actor, { from: seat, to, chips, cards });
    }
    case "accept":
    case "refuse":
      return illegal("no_bribe", "4.6");
  }
}

function whyNotOpen({ open }: Actor, risk: number): Illegal | null {
  const [least, most] = openingRisk(open);
  return unless(open.phase.type === "open", "not_opening", "2.1")
    ?? unless(!isLast(open), "rounds_over", "6.4")
    ?? unless(risk >= least, "risk_too_low", "2.2")
    ?? unless(risk <= most, "risk_too_high", "2.2");
}

/** Checks the prices (rule 2.1). */
function whyNotPrices(named: Pick<Public, "risk" | "purchase" | "sell">): Illegal | null {
  const { purchaseMin, max } = priceBounds(named.risk);
  return unless(named.purchase >= purchaseMin && named.purchase <= max, "purchase_price", "2.1")
    ?? unless(named.sell >= 1 && named.sell <= max, "sell_price", "2.1");
}

function whyNotRaise({ rules, raises, risk: before }: Public, risk: number): Illegal | null {
  return unless(raises < rules.raises_max, "raises_used_up", "2.2")
    ?? unless(risk > before, "risk_too_low", "2.2")
    ?? unless(risk - before <= rules.raise_max, "risk_too_high", "2.2");
}

function whyNotAssess({ phase }: Public): Illegal | null {
  return unless(phase.type === "assess", "not_assessing", "3.1");
}

function whyNotSwap(actor: Actor, discard: Card, slot: number): Illegal | null {
  const { phase } = actor.open;
  if (phase.type !== "assess") return illegal("not_assessing", "3.1");
  return unless(actor.hand.includes(discard), "card_not_in_hand", "3.1")
    ?? unless(isAsset(discard), "not_an_asset", "3.1")
    ?? unless(slotsOf(actor).includes(slot), "slot_empty", "3.1")
    ?? unless(!phase.swapped, "swapped_already", "3.1");
}

function whyNotPrice(actor: Actor, free: boolean): Illegal | null {
  if (free) return unless(keeps(actor, "F"), "no_free_purchase", "1.3");
  return poor(actor, actor.open.purchase);
}

function whyNotDiscard({ hand }: Actor, discard: Card | null): Illegal | null {
  if (discard === null) return unless(hand.length < HAND_MAX, "discard_missing", "3.2");
  return unless(hand.includes(discard), "card_not_in_hand", "3.1")
    ?? unless(hand.length === HAND_MAX, "discard_needless", "3.2");
}

function whyNotSell(actor: Actor, slots: readonly number[]): Illegal | null {
  const { open } = actor;
  if (open.phase.type !== "assess") return illegal("not_assessing", "3.1");
  const lying = slotsOf(actor);
  const fits = slots.length === saleOf(actor) && slots.every((slot) => lying.includes(slot));
  return poor(actor, open.sell)
    ?? unless(!open.phase.sold, "sold_already", "3.4")
    ?? unless(saleOf(actor) > 0, "nothing_to_sell", "3.4")
    ?? unless(fits, "sell_slots", "3.4");
}

/** Checks that the seat belongs to the circle that answers a confront (rule 4.1). */
function whyNotCircle({ phase }: Public): Illegal | null {
  if (phase.type !== "confront") return illegal("not_confronting", "4.1");
  return unless(phase.seat !== phase.confronter, "confronter_pays", "4.3");
}

function whyNotIndex(actor: Actor, margin: number): Illegal | null {
  const { rules, raises, risk, unindexed } = actor.open;
  const isStep = margin % MARGIN_STEP === 0 && margin >= 1 && margin <= MARGIN_MAX;
  return unless(rules.margins, "margins_off", "4.4") ?? whyNotCircle(actor.open)
    ?? unless(isStep, "margin_step", "4.4")
    ?? unless(raises < rules.raises_max, "raises_used_up", "2.2")
    ?? unless(indexed(risk, margin) > risk, "margin_no_rise", "4.4")
    ?? poor(actor, unindexed ?? risk);
}

function whyNotBribe(actor: Actor, { to, chips, cards }: Bribe): Illegal | null {
  const { open, seat } = actor;
  return unless(open.rules.bribes, "bribes_off", "4.6")
    ?? unless(!open.offered, "offered_already", "4.6")
    ?? unless(to !== seat && open.playing.includes(to), "bribe_to", "4.6")
    ?? unless(chips > 0 === (cards.length === 0), "bribe_what", "4.6")
    ?? unless(canPay(actor, chips) && holds({ ...actor, hand: [...actor.hand, ...actor.kept] }, cards),
      "bribe_not_held", "4.6")
    ?? unless(hasRoom(open, to, cards), "bribe_no_room", "4.6");
}

function holds({ hand }: Actor, cards: readonly Card[]): boolean {
  return cards.every((card) => hand.includes(card));
}

function poor(actor: Actor, chips: number): Illegal | null {
  return unless(canPay(actor, chips), "too_few_chips", "2.2");
}

/** Returns the number of cards in a hand, which is public. */
export function handCount(player: Public["players"][number] | undefined): number {
  return player ? player.assets + player.wilds : 0;
}

export function playerOf(open: Public, seat: number): Public["players"][number] {
  const player = open.players[seat];
  if (!player) throw new Error(`no seat ${seat}`);
  return player;
}

function unless(holdsTrue: boolean, code: string, rule: string): Illegal | null {
  return holdsTrue ? null : illegal(code, rule);
}

const illegal = (code: string, rule: string): Illegal => ({ code, rule });
