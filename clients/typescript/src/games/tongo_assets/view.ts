// Applies the events of Tongo (assets) to a viewer's view: the public state, and the cards that the seat
// itself holds and sees. After every event the view equals the one that the server would send.

import type {
  TongoAssetsBribe as Bribe, TongoAssetsCard as Card, TongoAssetsEvent as Event,
  TongoAssetsOwn as Own, TongoAssetsPublic as Public, TongoAssetsRules as Rules,
  TongoAssetsView as View,
} from "../../gen/socket.js";
import { type Kind, apart, firstOf, seen, sorted, without } from "./cards.js";
import { apply, beginPublic } from "./public.js";

/** Returns the view of a game before its deal. */
export function begin(rules: Rules, seats: number, dealer: number | null, viewer: number | null): View {
  const open = beginPublic(rules, seats, dealer);
  return { viewer, public: open, ...(viewer === null ? {} : { own: { hand: [], kept: [] } }) };
}

/** Returns the view after an event. */
export function observe(view: View, event: Event): View {
  const { viewer, own } = view;
  const open = apply(view.public, event);
  if (viewer === null || !own) return { ...view, public: open };
  return { ...view, public: open, own: follow(own, viewer, open, event, view.public.offer ?? null) };
}

/**
 * Returns the seat's private state after an event. `offer` is the bribe that was open before the event, and
 * `open` is the public state after it.
 */
function follow(own: Own, seat: number, open: Public, event: Event, offer: Bribe | null): Own {
  const { hand, kept } = held(own, seat, event, offer);
  const next: { -readonly [K in keyof Own]: Own[K] } = { ...own, hand, kept };
  const isOwn = "seat" in event && event.seat === seat;
  const take = (slots: readonly number[]) => {
    next.before = next.before?.map((card, slot) => (slots.includes(slot) ? null : card)) ?? null;
  };
  if (isOwn && event.type === "assessing") next.before = event.assets ?? null;
  if (isOwn && event.type === "revealed" && event.assets) {
    next.look = { section: event.section, assets: event.assets };
  }
  if (isOwn && (event.type === "swapped" || event.type === "purchased")) take([event.slot]);
  if (isOwn && event.type === "sold") take(event.slots);
  const { phase } = open;
  if (phase.type !== "assess" || phase.seat !== seat) {
    delete next.before;
    delete next.look;
  }
  return next;
}

interface Held {
  readonly hand: readonly Card[];
  readonly kept: readonly Card[];
}

const PLAYED: Readonly<Record<string, Kind>> = { free_spent: "F", revealed: "V", dividend_taken: "D" };

/** Returns the cards that the seat holds after an event. */
function held(own: Held, seat: number, event: Event, offer: Bribe | null): Held {
  const { hand, kept } = own;
  if (event.type === "dealt") return { hand: event.hands[seat] ?? [], kept };
  if (event.type === "bribe_answered") return event.accepted ? bribed(own, seat, offer) : own;
  if (!("seat" in event) || event.seat !== seat) return own;
  switch (event.type) {
    case "retreated":
      return { hand: [], kept: [] };
    case "swapped":
    case "purchased": {
      const left = without(hand, seen([event.discarded]));
      return { hand: sorted([...left, ...seen([event.taken])]), kept };
    }
    case "acquired": {
      const left = without(hand, seen([event.discarded]));
      const taken = seen([event.taken]);
      if (event.to === "hand") return { hand: sorted([...left, ...taken]), kept };
      return { hand: left, kept: event.to === "kept" ? sorted([...kept, ...taken]) : kept };
    }
    case "free_spent":
    case "revealed":
    case "dividend_taken": {
      const kind = PLAYED[event.type];
      const played = kind === undefined ? null : firstOf(kept, kind);
      return { hand, kept: kept.filter((card) => card !== played) };
    }
    case "sold":
      return { hand: event.hand ?? [], kept };
    case "evaded":
      return { hand: without(hand, seen(event.discarded)), kept };
    default:
      return own;
  }
}

/** Returns the cards held after an accepted bribe (rule 4.6). */
function bribed({ hand, kept }: Held, seat: number, offer: Bribe | null): Held {
  if (!offer) return { hand, kept };
  const [ofHand, ofKept] = apart(offer.cards);
  if (seat === offer.from) return { hand: without(hand, ofHand), kept: without(kept, ofKept) };
  if (seat !== offer.to) return { hand, kept };
  return { hand: sorted([...hand, ...ofHand]), kept: sorted([...kept, ...ofKept]) };
}
