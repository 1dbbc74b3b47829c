// The public state of a game of Tongo (assets), and its change by events. The next prompt follows from the
// public state alone. An event is applied to a copy made for it.

import type {
  TongoAssetsEvent as Event, TongoAssetsFace as Face, TongoAssetsPhase as Phase,
  TongoAssetsPlayer as Player, TongoAssetsPublic as Public, TongoAssetsRules as Rules,
  TongoAssetsSection as Section,
} from "../../gen/socket.js";
import { apart, isAsset, isWild } from "./cards.js";

export const HAND_MAX = 7;
export const KEPT_MAX = 3;
export const SLOTS = 7;
const ACQUIRE_SLOTS = 3;
const DEALT = 4;
const ASSETS = 98;
const ACQUIRES = 30;

type Changed<T> = { -readonly [K in keyof T]: T[K] };

/** A mutable copy of the public state. */
interface Draft extends Omit<Changed<Public>, "players" | "sections"> {
  players: Changed<Player>[];
  sections: Changed<Section>[];
}

const NOBODY: Player = {
  chips: 0, paid: 0, acted: false, assets: 0, wilds: 0, kept: 0, pile_assets: 0, pile_acquires: 0,
  margin: 0, owes: 0, leverage: 0,
};

const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

/** Returns the public state before the deal. */
export function beginPublic(rules: Rules, seats: number, dealer: number | null): Public {
  return {
    rules,
    phase: { type: dealer === null ? "dealer" : "assets" },
    prompt: 0,
    countdown: 0,
    rounds: 0,
    opener: dealer,
    rotation: 0,
    risk: 0,
    purchase: 0,
    sell: 0,
    raises: 0,
    pot: 0,
    playing: range(seats),
    players: range(seats).map(() => ({ ...NOBODY, chips: rules.latinum })),
    sections: range(rules.sections).map(() => ({ slots: [], acquires: 0 })),
    asset_deck: ASSETS,
    acquire_deck: ACQUIRES,
  };
}

/** Returns the section in front of a seat (rule 1.6). */
export function sectionOf(open: Public, seat: number): number {
  const { sections } = open.rules;
  return (Math.floor((seat * sections) / open.players.length) + open.rotation) % sections;
}

/** Returns whether the last round has been played, after which no opening is paid (rule 6.4). */
export function isLast(open: Public): boolean {
  return open.rounds >= open.rules.rounds_max;
}

/** Returns the least and the greatest next opening risk (rules 2.1 and 3.7). */
export function openingRisk(open: Public): readonly [number, number] {
  const { rounds, risk, rules } = open;
  return rounds === 0 ? [1, rules.opening_max] : [risk, risk + rules.raise_max];
}

/** Returns the bounds of the prices that may be named with a risk (rule 2.1). */
export function priceBounds(risk: number): { readonly purchaseMin: number; readonly max: number } {
  return { purchaseMin: Math.ceil(risk / 2), max: Math.max(1, Math.floor((risk * 3) / 2)) };
}

/** Returns the price of an evasion (rule 4.1). */
export function evasion(open: Public): number {
  return Math.ceil((open.purchase * 3) / 2);
}

/** Returns the seat whose turn it is; an open bribe is answered by another seat. */
export function turnOf(phase: Phase): number | null {
  switch (phase.type) {
    case "open":
    case "risk":
    case "assess":
    case "confront":
    case "debts":
      return phase.seat;
    default:
      return null;
  }
}

/** Returns the seat with the open prompt. */
export function asked(open: Public): number | null {
  const { phase, offer } = open;
  const seat = phase.type === "showdown" ? phase.confronter
    : phase.type === "last_in" ? phase.seat : turnOf(phase);
  return seat === null ? null : (offer?.to ?? seat);
}

/** Returns the public state after an event, complete or redacted. */
export function apply(before: Public, event: Event): Public {
  const open: Draft = {
    ...before,
    players: before.players.map((player) => ({ ...player })),
    sections: before.sections.map((section) => ({ ...section })),
  };
  change(open, event);
  return open;
}

function change(open: Draft, event: Event): void {
  switch (event.type) {
    case "dealer_chosen":
      open.opener = event.seat;
      open.phase = { type: "assets" };
      return;
    case "assets_shuffled":
      open.phase = { type: "acquires" };
      return;
    case "acquires_shuffled":
      open.phase = { type: "deal" };
      return;
    case "dealt":
      return deal(open, event.rotation);
    case "opened":
      open.rounds += 1;
      open.opener = event.seat;
      beginPayments(open);
      setPrices(open, event);
      pay(open, event.seat, event.risk);
      refill(open);
      return nextRisk(open, event.seat);
    case "paid":
      pay(open, event.seat, event.chips);
      return afterPayment(open, event.seat);
    case "raised":
      open.raises += 1;
      setPrices(open, event);
      pay(open, event.seat, event.chips);
      return afterPayment(open, event.seat);
    case "retreated":
      return retreat(open, event.seat);
    case "stopped":
      open.rotation = event.rotation;
      return assess(open, nextIn(open, open.opener ?? 0));
    case "assessing":
      if (open.phase.type === "assess") open.phase = { ...open.phase, began: true };
      return;
    case "swapped":
      takeSlots(open, event.seat, [event.slot]);
      at(open, event.seat).pile_assets += 1;
      if (open.phase.type === "assess") open.phase = { ...open.phase, swapped: true };
      return askAgain(open);
    case "purchased":
      spend(open, event.seat, event.chips);
      takeSlots(open, event.seat, [event.slot]);
      at(open, event.seat).assets += 1;
      discard(open, event.seat, event.discarded);
      return askAgain(open);
    case "acquired":
      return acquire(open, event);
    case "free_spent":
      return playKept(open, event.seat);
    case "audited":
      return spend(open, event.seat, event.chips);
    case "sold":
      return sell(open, event);
    case "revealed":
      playKept(open, event.seat);
      if (open.phase.type === "assess") open.phase = { ...open.phase, revealed: event.section };
      return askAgain(open);
    case "dividend_taken":
      playKept(open, event.seat);
      spend(open, event.seat, -event.chips);
      return askAgain(open);
    case "done":
      return nextAssessment(open, event.seat);
    case "confronted":
      beginPayments(open);
      pay(open, event.seat, event.chips);
      return nextAnswer(open, event.seat, event.seat);
    case "evaded":
      spend(open, event.seat, event.chips);
      for (const face of event.discarded) discard(open, event.seat, face);
      if (open.phase.type === "confront") nextDebt(open, open.phase.confronter, event.seat);
      return;
    case "indexed":
      open.unindexed ??= open.risk;
      open.raises += 1;
      setPrices(open, event);
      pay(open, event.seat, event.chips);
      at(open, event.seat).margin = event.margin;
      at(open, event.seat).owes = event.risk - event.chips;
      return afterPayment(open, event.seat);
    case "leveraged":
      pay(open, event.seat, event.chips);
      at(open, event.seat).leverage = event.percent;
      return afterPayment(open, event.seat);
    case "bribe_offered":
      open.offer = { from: event.seat, to: event.to, chips: event.chips ?? 0, cards: event.cards ?? [] };
      open.prompt += 1;
      open.countdown += 1;
      return;
    case "bribe_answered":
      return answerBribe(open, event.accepted);
    case "shown":
      open.shown = event.hands;
      return;
    case "over":
      open.phase = { type: "over" };
      open.pot = 0;
      open.end = { ending: event.ending, winner: event.winner, awards: event.awards };
      return;
    default:
      // Events of later versions are ignored.
      return;
  }
}

function at(open: Draft, seat: number): Changed<Player> {
  const player = open.players[seat];
  if (!player) throw new Error(`no seat ${seat}`);
  return player;
}

function sectionBefore(open: Draft, seat: number): Changed<Section> {
  const section = open.sections[sectionOf(open, seat)];
  if (!section) throw new Error(`no section before seat ${seat}`);
  return section;
}

/** Deals the cards (rule 1.4). */
function deal(open: Draft, rotation: number): void {
  open.rotation = rotation;
  open.sections = open.sections.map(() => ({ slots: range(SLOTS), acquires: ACQUIRE_SLOTS }));
  open.asset_deck -= open.rules.sections * SLOTS;
  open.acquire_deck -= open.rules.sections * ACQUIRE_SLOTS;
  open.players.forEach((player, seat) => {
    takeSlots(open, seat, range(DEALT));
    player.assets = DEALT;
  });
  enter(open, { type: "open", seat: open.opener ?? 0 });
}

/** Refills sections and slots in ascending order while the decks last (rule 1.4). */
function refill(open: Draft): void {
  for (const section of open.sections) {
    const empty = range(SLOTS).filter((slot) => !section.slots.includes(slot));
    const filled = empty.slice(0, open.asset_deck);
    section.slots = [...section.slots, ...filled].sort((one, other) => one - other);
    open.asset_deck -= filled.length;
    const more = Math.min(ACQUIRE_SLOTS - section.acquires, open.acquire_deck);
    section.acquires += more;
    open.acquire_deck -= more;
  }
}

function setPrices(open: Draft, { risk, purchase, sell }: Pick<Public, "risk" | "purchase" | "sell">): void {
  Object.assign(open, { risk, purchase, sell });
}

/** Resets the payments, which count from zero in each round and in each confront (rule 2.2). */
function beginPayments(open: Draft): void {
  open.raises = 0;
  delete open.unindexed;
  for (const player of open.players) {
    Object.assign(player, { paid: 0, acted: false, margin: 0, owes: 0, leverage: 0 });
  }
}

/** Makes a payment that counts towards the risk. */
function pay(open: Draft, seat: number, chips: number): void {
  spend(open, seat, chips);
  at(open, seat).paid += chips;
  at(open, seat).acted = true;
}

function spend(open: Draft, seat: number, chips: number): void {
  at(open, seat).chips -= chips;
  open.pot += chips;
}

function afterPayment(open: Draft, seat: number): void {
  const { phase } = open;
  if (phase.type === "risk") nextRisk(open, seat);
  else if (phase.type === "confront" && seat === phase.confronter) {
    open.phase = { type: "showdown", confronter: seat };
  } else if (phase.type === "confront") nextAnswer(open, seat, phase.confronter);
  else if (phase.type === "debts") {
    at(open, seat).owes = 0;
    nextDebt(open, phase.confronter, phase.opener);
  }
}

/** Takes a seat out of the game (rule 2.2). */
function retreat(open: Draft, seat: number): void {
  const player = at(open, seat);
  open.asset_deck += player.assets + player.pile_assets;
  open.acquire_deck += player.wilds + player.kept + player.pile_acquires;
  open.players[seat] = { ...NOBODY, chips: player.chips };
  open.playing = open.playing.filter((other) => other !== seat);
  const next = nextIn(open, seat);
  const { phase } = open;
  if (open.playing.length === 1) open.phase = { type: "last_in", seat: next };
  else if (phase.type === "open") enter(open, { type: "open", seat: next });
  else if (phase.type === "risk") nextRisk(open, seat);
  else if (phase.type === "assess") nextAssessment(open, seat);
  else if (phase.type === "confront") nextDebt(open, phase.confronter, next);
  else if (phase.type === "debts") nextDebt(open, phase.confronter, phase.opener);
}

/** Returns the other seats in turn order, beginning after this one. */
function others(open: Draft, seat: number): number[] {
  const count = open.players.length;
  return range(count - 1).map((step) => (seat + 1 + step) % count);
}

/** Returns the first seat after this one that is still in. */
function nextIn(open: Draft, seat: number): number {
  return [...others(open, seat), seat].find((other) => open.playing.includes(other)) ?? seat;
}

/** Prompts the next seat that has not paid the risk, or stops the table (rules 2.2, 2.3). */
function nextRisk(open: Draft, after: number): void {
  const owes = (seat: number) => open.playing.includes(seat) && at(open, seat).paid < open.risk;
  const seat = others(open, after).find(owes);
  if (seat === undefined) open.phase = { type: "stop" };
  else enter(open, { type: "risk", seat });
}

/** Prompts the next assessment: each seat once, the opener last if it is still in (rules 2.3, 3). */
function nextAssessment(open: Draft, after: number): void {
  const [opener, count] = [open.opener ?? 0, open.players.length];
  for (let seat = after; seat !== opener; ) {
    seat = (seat + 1) % count;
    if (open.playing.includes(seat)) return assess(open, seat);
  }
  openBy(open, (opener + 1) % count);
}

function assess(open: Draft, seat: number): void {
  enter(open, { type: "assess", seat, began: false, swapped: false, sold: false });
}

/** Lets the seat open the next round, or the first one after it that is still in. */
function openBy(open: Draft, seat: number): void {
  enter(open, { type: "open", seat: open.playing.includes(seat) ? seat : nextIn(open, seat) });
}

/** Prompts the next answer to a confront (rules 4.1 and 4.3). */
function nextAnswer(open: Draft, after: number, confronter: number): void {
  const seat = nextIn(open, after);
  const isPaid = seat === confronter && at(open, confronter).paid >= open.risk;
  if (isPaid) open.phase = { type: "showdown", confronter };
  else enter(open, { type: "confront", seat, confronter });
}

/** Settles a failed confront before the opener continues (rules 4.2, 4.4 and 4.5). */
function nextDebt(open: Draft, confronter: number, opener: number): void {
  const settles = (seat: number) =>
    open.playing.includes(seat) && (at(open, seat).owes > 0 || at(open, seat).leverage > 0);
  const seat = others(open, confronter).find(settles);
  if (seat === undefined) {
    beginPayments(open);
    openBy(open, opener);
  } else if (at(open, seat).leverage > 0) {
    open.phase = { type: "debts", seat, confronter, opener };
  } else enter(open, { type: "debts", seat, confronter, opener });
}

function takeSlots(open: Draft, seat: number, slots: readonly number[]): void {
  const section = sectionBefore(open, seat);
  section.slots = section.slots.filter((slot) => !slots.includes(slot));
}

function discard(open: Draft, seat: number, face: Face | null | undefined): void {
  if (!face) return;
  const player = at(open, seat);
  if (isAsset(face)) {
    player.assets -= 1;
    player.pile_assets += 1;
  } else {
    player.wilds -= 1;
    player.pile_acquires += 1;
  }
}

function acquire(open: Draft, event: Extract<Event, { type: "acquired" }>): void {
  const { seat, to } = event;
  spend(open, seat, event.chips);
  sectionBefore(open, seat).acquires -= 1;
  const player = at(open, seat);
  if (to === "hand") player.wilds += 1;
  else if (to === "kept") player.kept += 1;
  else player.pile_acquires += 1;
  discard(open, seat, event.discarded);
  askAgain(open);
}

function playKept(open: Draft, seat: number): void {
  at(open, seat).kept -= 1;
  at(open, seat).pile_acquires += 1;
}

/** Sells assets (rule 3.4). */
function sell(open: Draft, { seat, slots, chips }: Extract<Event, { type: "sold" }>): void {
  spend(open, seat, chips);
  takeSlots(open, seat, slots);
  const player = at(open, seat);
  player.pile_assets += player.assets;
  player.pile_acquires += player.wilds;
  player.assets = slots.length;
  player.wilds = 0;
  if (open.phase.type === "assess") open.phase = { ...open.phase, sold: true };
  askAgain(open);
}

/**
 * Exchanges the offered cards or chips if a bribe is accepted; then the seat continues its turn (rule 4.6).
 */
function answerBribe(open: Draft, accepted: boolean): void {
  open.prompt += 1;
  open.countdown += 1;
  open.offered = true;
  const { offer } = open;
  delete open.offer;
  if (!offer || !accepted) return;
  const [ofHand, kept] = apart(offer.cards);
  const wilds = ofHand.filter(isWild).length;
  const move = (seat: number, way: 1 | -1) => {
    const player = at(open, seat);
    player.chips += way * offer.chips;
    player.assets += way * (ofHand.length - wilds);
    player.wilds += way * wilds;
    player.kept += way * kept.length;
  };
  move(offer.from, -1);
  move(offer.to, 1);
}

function enter(open: Draft, phase: Phase): void {
  open.phase = phase;
  open.countdown += 1;
  askAgain(open);
}

/** Prompts for a further decision of the same assessment, within its countdown. */
function askAgain(open: Draft): void {
  open.prompt += 1;
  delete open.offered;
}
