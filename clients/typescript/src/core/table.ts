// The state of a table as this client knows it, derived from snapshots and updates, and the client's
// observations of the deal. The value is never changed in place.

import type { Event, Message, OpenPrompt, TableView } from "../gen/socket.js";
import { commitmentOf } from "../fair/deal.js";
import type { GameModel } from "../games/model.js";
import { observe, promptOf } from "./observe.js";
import type { CommitmentCheck, DealObservation, TableState } from "./types.js";

export type Snapshot = Extract<Message, { type: "snapshot" }>;
export type Update = Extract<Message, { type: "update" }>;

/** The text that this client has committed to. */
export interface Seed {
  readonly game: string;
  readonly text: string;
}

/** Returns the text that a page stores for a reload; it is shown to no other player. */
export function toStored(table: TableState, player: string | null): string {
  return JSON.stringify({ player, table });
}

export function fromStored(text: string | null, player: string | null): TableState | null {
  if (text === null) return null;
  const stored = JSON.parse(text) as { player: string | null; table: TableState };
  return stored.player === player ? { ...stored.table, current: false } : null;
}

export function fromSnapshot(
  message: Snapshot,
  before: TableState | null,
  seed: Seed | null,
  current: boolean,
): TableState {
  const { view, version, tag, prompt } = message;
  const game = gameOf(view);
  const known = before?.deal && before.deal.game === game ? before.deal : null;
  const deal = game === null ? null : observeView(view, known ?? emptyObservation(game, view, seed));
  return { view, version, tag, prompt: prompt ?? null, current, deal };
}

/** Returns the table after an update, or null if an earlier update is missing. */
export function fromUpdate(
  message: Update,
  before: TableState,
  model: GameModel | null,
  isShort: boolean,
  seed: Seed | null,
): TableState | null {
  if (message.version !== before.version + 1) return null;
  let { view, deal } = before;
  for (const event of message.events) {
    view = observe(view, event, model);
    deal = observeEvent(event, view, deal, seed);
  }
  const prompt: OpenPrompt | null = isShort ? promptOf(view, model) : (message.prompt ?? null);
  const { version, tag } = message;
  return { view, version, tag, prompt, current: before.current, deal };
}

/** Checks that the seed revealed at the end is the one committed to at the beginning. */
export function checkCommitment(game: string, serverSeed: string, deal: DealObservation | null): CommitmentCheck {
  const shown = deal?.game === game ? deal.commitment : null;
  const computed = commitmentOf(serverSeed);
  const holds = shown === null ? null : shown === computed;
  return { serverSeed, computed, shown, holds };
}

/** Returns the game in preparation, play or settlement. */
export function gameOf(view: TableView): string | null {
  return view.phase.type === "waiting" ? null : view.phase.game;
}

function emptyObservation(game: string, view: TableView, seed: Seed | null): DealObservation {
  const text = seed?.game === game ? seed.text : null;
  const nothing = { commitment: null, commitments: null, revealed: false, hand: null };
  return { game, text, seat: view.seat, ...nothing };
}

function observeView({ phase, seat }: TableView, deal: DealObservation): DealObservation {
  switch (phase.type) {
    case "preparing":
      return { ...deal, seat, commitment: deal.commitment ?? phase.commitment };
    case "revealing": {
      const revealed = deal.revealed || (seat !== null && phase.revealed.includes(seat));
      return { ...deal, seat, commitments: deal.commitments ?? phase.commitments, revealed };
    }
    default:
      return { ...deal, seat };
  }
}

function observeEvent(
  event: Event,
  view: TableView,
  deal: DealObservation | null,
  seed: Seed | null,
): DealObservation | null {
  switch (event.type) {
    case "waiting":
      return null;
    case "preparing":
      return { ...emptyObservation(event.game, view, seed), commitment: event.commitment };
    case "revealing":
      return deal && { ...deal, seat: view.seat, commitments: event.commitments };
    case "revealed":
      return deal && event.seat === view.seat ? { ...deal, revealed: true } : deal;
    case "game": {
      const dealt = event.event as { type: string; hands?: readonly (readonly string[] | null)[] };
      const hand = view.seat === null ? null : (dealt.hands?.[view.seat] ?? null);
      return deal && dealt.type === "dealt" && hand ? { ...deal, seat: view.seat, hand } : deal;
    }
    default:
      return deal;
  }
}
