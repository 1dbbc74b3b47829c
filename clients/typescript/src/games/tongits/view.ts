// Applies the events of Tong-its to a viewer's view. After every event the view equals the one that the
// server would send. Views are never changed in place: parts that an event does not change stay the same
// objects.

import type {
  Card, ExposedMeld, TongitsEvent, TongitsPublic, TongitsRules, TongitsView,
} from "../../gen/socket.js";
import { indexOf } from "./cards.js";

const SEATS = 3;

/** Returns the view of a game before its deal. */
export function begin(rules: TongitsRules, starter: number | null, viewer: number | null): TongitsView {
  const phase: TongitsPublic["phase"] =
    starter === null ? { type: "starter" } : { type: "deal", starter };
  return {
    viewer,
    public: {
      rules,
      phase,
      prompt: 0,
      countdown: 0,
      hand_counts: [0, 0, 0],
      stock_count: 0,
      discards: [],
      melds: [],
      added_to: [],
      drew_last: null,
      shown: null,
      end: null,
    },
    hands: [null, null, null],
    answers: [],
  };
}

/** Returns the view after an event. */
export function observe(view: TongitsView, event: TongitsEvent): TongitsView {
  const next: { -readonly [K in keyof TongitsView]: TongitsView[K] } = {
    ...view,
    public: apply(view.public, event),
    hands: hands(view, event),
  };
  const drawn = drawnAfter(view, event);
  delete next.drawn;
  if (drawn !== null) next.drawn = drawn;
  if (event.type === "answered") next.answers = [...view.answers, [event.seat, event.answer]];
  return next;
}

function hands(view: TongitsView, event: TongitsEvent): TongitsView["hands"] {
  if (event.type === "dealt") return event.hands;
  const [seat, change] = handChange(event);
  const hand = seat === null ? null : view.hands[seat];
  if (seat === null || !hand || change === null) return view.hands;
  return view.hands.map((other, at) => (at === seat ? change(hand) : other));
}

/** Returns the seat whose hand an event changes, and the change. */
function handChange(
  event: TongitsEvent,
): readonly [number | null, ((hand: readonly Card[]) => readonly Card[]) | null] {
  const lose = (gone: readonly Card[]) => (hand: readonly Card[]) =>
    hand.filter((card) => !gone.includes(card));
  switch (event.type) {
    case "drawn": {
      const { card } = event;
      return [event.seat, card === null ? null : (hand) => sorted([...hand, card])];
    }
    case "chowed":
    case "dropped":
    case "laid_face_down":
      return [event.seat, lose(event.cards)];
    case "sapawed":
    case "dumped":
      return [event.seat, lose([event.card])];
    default:
      return [null, null];
  }
}

/** Returns the card drawn in this turn, as far as the rules depend on it (rule 10.2). */
function drawnAfter(view: TongitsView, event: TongitsEvent): Card | null {
  switch (event.type) {
    case "drawn":
      return view.public.rules.sagasa ? event.card : null;
    case "dumped":
    case "shown":
      return null;
    default:
      return view.drawn ?? null;
  }
}

function apply(open: TongitsPublic, event: TongitsEvent): TongitsPublic {
  switch (event.type) {
    case "starter_chosen":
      return { ...open, phase: { type: "deal", starter: event.seat } };
    case "dealt":
      return deal(open, event.starter);
    case "drawn": {
      const stock_count = open.stock_count - 1;
      const drew_last = stock_count === 0 ? event.seat : open.drew_last;
      const counted = { ...acted(open, event.seat), stock_count, drew_last };
      return enter(counting(counted, event.seat, 1), { type: "play", seat: event.seat });
    }
    case "chowed": {
      const cards = sorted([...event.cards, event.discard]);
      const discards = open.discards.slice(0, -1);
      const laid = lay({ ...acted(open, event.seat), discards }, event.seat, cards);
      const counted = counting(laid, event.seat, -event.cards.length);
      return enter(counted, { type: "play", seat: event.seat });
    }
    case "dropped": {
      const laid = lay(acted(open, event.seat), event.seat, event.cards);
      return asked(counting(laid, event.seat, -event.cards.length));
    }
    case "laid_face_down": {
      const laid = lay(acted(open, event.seat), event.seat, event.cards, event.count);
      return asked(counting(laid, event.seat, -event.count));
    }
    case "sapawed": {
      const added = add(acted(open, event.seat), event.seat, event.card, event.meld);
      return asked(counting(added, event.seat, -1));
    }
    case "sagasa":
      return { ...open, melds: at(open.melds, event.meld, (meld) => ({ ...meld, sagasa: true })) };
    case "dumped":
      return dump(open, event.seat, event.card);
    case "fought": {
      const { seat: fighter, asked: seats, asked_secretly } = event;
      return enter(open, { type: "fight", fighter, asked: seats, asked_secretly, answered: [] });
    }
    case "answered": {
      const { phase } = open;
      if (phase.type !== "fight") return open;
      return { ...open, phase: { ...phase, answered: withSeat(phase.answered, event.seat) } };
    }
    case "shown":
      return { ...reveal(open, event.hands), shown: event.hands };
    case "over": {
      const { ending, winner, showdown, special } = event;
      const end = { ending, winner, showdown, ...(special ? { special } : {}) };
      return { ...open, phase: { type: "over" }, end };
    }
    case "tongits_declared":
      return open;
    default:
      // Events of later versions are ignored.
      return open;
  }
}

function deal(open: TongitsPublic, starter: number): TongitsPublic {
  const { hand_cards, jokers, spread } = open.rules;
  const hand_counts = [0, 1, 2].map((seat) => hand_cards + (seat === starter ? 1 : 0));
  const stock_count = (jokers ? 54 : 52) - SEATS * hand_cards - 1;
  const dealt = { ...open, hand_counts, stock_count, ...(spread ? { yet_to_act: [0, 1, 2] } : {}) };
  return enter(dealt, { type: "play", seat: starter });
}

/** Dumps a card and passes the turn, unless the game is at its end. */
function dump(open: TongitsPublic, seat: number, card: Card): TongitsPublic {
  const discards = [...open.discards, card];
  const dumped = counting({ ...acted(open, seat), discards }, seat, -1);
  if ((dumped.hand_counts[seat] ?? 0) === 0 || dumped.stock_count === 0) return dumped;
  const next = (seat + 1) % SEATS;
  const fight_blocked = dumped.added_to.includes(next);
  const added_to = dumped.added_to.filter((other) => other !== next);
  return enter({ ...dumped, added_to }, { type: "draw", seat: next, fight_blocked });
}

function lay(
  open: TongitsPublic,
  owner: number,
  cards: readonly Card[],
  face_down?: number,
): TongitsPublic {
  const by = [0, 1, 2].map((seat) => (seat === owner ? cards : []));
  const meld = { owner, cards, by, ...(face_down === undefined ? {} : { face_down }) };
  return { ...open, melds: [...open.melds, meld] };
}

/** Adds a card to a meld (rule 3.5), which may block its owner's right to fight (rule 4.1). */
function add(open: TongitsPublic, seat: number, card: Card, place: number): TongitsPublic {
  const melds = at(open.melds, place, (meld) => ({
    ...meld,
    cards: sorted([...meld.cards, card]),
    by: meld.by.map((cards, by) => (by === seat ? sorted([...cards, card]) : cards)),
  }));
  const owner = open.melds[place]?.owner;
  const counts = open.rules.fight_blocked_by === "anyone" || owner !== seat;
  const added_to =
    owner === undefined || !counts ? open.added_to : withSeat(open.added_to, owner);
  return { ...open, melds, added_to };
}

/** Turns up the cards that were laid face down, in the order in which they were laid. */
function reveal(open: TongitsPublic, shown: NonNullable<TongitsPublic["shown"]>): TongitsPublic {
  const left = shown.map(({ face_down }) => [...(face_down ?? [])]);
  const melds = open.melds.map((meld): ExposedMeld => {
    if ((meld.face_down ?? null) === null) return meld;
    const cards = left[meld.owner]?.shift() ?? [];
    return { ...meld, cards, by: meld.by.map((_, seat) => (seat === meld.owner ? cards : [])) };
  });
  return { ...open, melds };
}

/** Records that a seat has acted (rule 10.3). */
function acted(open: TongitsPublic, seat: number): TongitsPublic {
  if (!open.yet_to_act?.includes(seat)) return open;
  const { yet_to_act, ...rest } = open;
  const left = yet_to_act.filter((other) => other !== seat);
  return left.length > 0 ? { ...rest, yet_to_act: left } : rest;
}

function counting(open: TongitsPublic, seat: number, more: number): TongitsPublic {
  const hand_counts = open.hand_counts.map((count, at) => (at === seat ? count + more : count));
  return { ...open, hand_counts };
}

function enter(open: TongitsPublic, phase: TongitsPublic["phase"]): TongitsPublic {
  return { ...open, phase, prompt: open.prompt + 1, countdown: open.countdown + 1 };
}

function asked(open: TongitsPublic): TongitsPublic {
  return { ...open, prompt: open.prompt + 1 };
}

function at<T>(list: readonly T[], place: number, change: (one: T) => T): readonly T[] {
  return list.map((one, index) => (index === place ? change(one) : one));
}

function withSeat(seats: readonly number[], seat: number): readonly number[] {
  return [...new Set([...seats, seat])].sort((one, other) => one - other);
}

function sorted(cards: readonly Card[]): Card[] {
  return [...cards].sort((one, other) => indexOf(one) - indexOf(other));
}
