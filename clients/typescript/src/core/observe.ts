// Applies a table's events to its view. After every event the view equals the one that the server would send.
// Views are never changed in place; an unknown event changes nothing.

import type { Event, OpenPrompt, SeatView, TableView } from "../gen/socket.js";
import type { GameModel } from "../games/model.js";

type Phase = TableView["phase"];

export function observe(view: TableView, event: Event, model: GameModel | null): TableView {
  switch (event.type) {
    case "sat": {
      const { seat, player, name, avatar, bot } = event;
      const picture = avatar === undefined || avatar === null ? {} : { avatar };
      const sat = { player, name, ...picture, bot, connected: bot, taken_over: false };
      return withSeat(view, seat, () => sat);
    }
    case "left":
      return removePlayer(view, event.seat, event.player);
    case "moved": {
      const { seat, to } = event;
      const seats = view.seats.map((other, at) => {
        if (at === seat) return view.seats[to] ?? null;
        return at === to ? (view.seats[seat] ?? null) : other;
      });
      return { ...view, seats, seat: view.seat === seat ? to : view.seat };
    }
    case "presence":
      return withSeat(view, event.seat, (seat) => seat && { ...seat, connected: event.connected });
    case "takeover":
      return withSeat(view, event.seat, (seat) => seat && { ...seat, taken_over: event.on });
    case "waiting":
      return withPhase(view, { type: "waiting" });
    case "preparing": {
      const { game, commitment, deadline_ms } = event;
      return withPhase(view, { type: "preparing", game, commitment, deadline_ms, ready: [] });
    }
    case "ready": {
      const { phase } = view;
      if (phase.type !== "preparing") return view;
      return withPhase(view, { ...phase, ready: addSeat(phase.ready, event.seat) });
    }
    case "opening":
      return withPhase(view, { type: "opening", game: event.game });
    case "revealing": {
      const { game, commitments, pot, deadline_ms } = event;
      const phase: Phase = { type: "revealing", game, commitments, revealed: [], deadline_ms };
      return withPhase({ ...view, pot }, phase);
    }
    case "revealed": {
      const { phase } = view;
      if (phase.type !== "revealing") return view;
      return withPhase(view, { ...phase, revealed: addSeat(phase.revealed, event.seat) });
    }
    case "opened":
      return openGame(view, event, model);
    case "game": {
      const { phase } = view;
      if (phase.type !== "playing" || !model) return view;
      const game = model.observe(phase.view, event.event) as typeof phase.view;
      return withPhase(view, { ...phase, view: game });
    }
    case "countdown": {
      const { phase } = view;
      if (phase.type !== "playing") return view;
      return withPhase(view, { ...phase, deadline_ms: event.deadline_ms });
    }
    case "over":
      return withPhase(view, { type: "settling", game: event.game, settlement: event.settlement });
    case "settled":
      return { ...view, pot: event.pot, crown: event.crown };
    case "pot_refunded":
      return { ...view, pot: event.pot };
    case "terms_updated": {
      const { price, hits, clocks } = event;
      return { ...view, terms: { ...view.terms, price, hits: hits ?? null, clocks } };
    }
    default:
      return view;
  }
}

/** Returns the open prompt if it follows from the view: the short forms carry none. */
export function promptOf(view: TableView, model: GameModel | null): OpenPrompt | null {
  const { phase } = view;
  if (phase.type !== "playing" || !model) return null;
  const prompt = model.prompt(phase.view);
  if (!prompt) return null;
  const { game, deadline_ms, stakes } = phase;
  const own = view.seat !== null && view.seat < stakes.length ? view.seat : null;
  const isAsked = own !== null && prompt.seats.includes(own);
  const legal = (isAsked ? model.legal(phase.view) : []) as unknown as OpenPrompt["legal"];
  return { game, number: prompt.number, seats: prompt.seats, deadline_ms, legal };
}

/** Returns the game for which this client is asked to reveal its text. */
export function gameToReveal(view: TableView): string | null {
  const { phase, seat } = view;
  if (phase.type !== "revealing" || seat === null || phase.revealed.includes(seat)) return null;
  const commitment = phase.commitments[seat];
  return commitment === undefined || /^0*$/.test(commitment) ? null : phase.game;
}

function removePlayer(view: TableView, seat: number, player: string): TableView {
  const { phase, crown } = view;
  const freed = withSeat(view, seat, () => null);
  const isReady = phase.type === "preparing" && phase.ready.includes(seat);
  return {
    ...freed,
    phase: isReady ? { ...phase, ready: phase.ready.filter((other) => other !== seat) } : phase,
    seat: view.seat === seat ? null : view.seat,
    crown: crown?.player === player ? null : crown,
  };
}

function openGame(
  view: TableView,
  event: Extract<Event, { type: "opened" }>,
  model: GameModel | null,
): TableView {
  const { game, stakes, pot, starter } = event;
  const viewer = view.seat !== null && view.seat < stakes.length ? view.seat : null;
  const begun = model?.begin(view.terms.rules, stakes.length, starter, viewer) ?? {};
  const phase = { type: "playing", game, stakes, deadline_ms: null, view: begun } as Phase;
  return withPhase({ ...view, pot }, phase);
}

function withPhase(view: TableView, phase: Phase): TableView {
  return { ...view, phase };
}

function withSeat(
  view: TableView,
  seat: number,
  change: (seat: SeatView | null) => SeatView | null,
): TableView {
  if (seat >= view.seats.length) return view;
  return { ...view, seats: view.seats.map((other, at) => (at === seat ? change(other) : other)) };
}

function addSeat(seats: readonly number[], seat: number): readonly number[] {
  return [...new Set([...seats, seat])].sort((one, other) => one - other);
}
