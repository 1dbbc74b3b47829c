// Applies a game's events to a viewer's view. After every event the view equals the one that the server would
// send. Views are never changed in place: parts that an event does not change stay the same objects.

import type {
  TongoOptionsChallenge as Challenge, TongoOptionsCosts as Costs, TongoOptionsCostsChange as How,
  TongoOptionsEvent as GameEvent,
  TongoOptionsPaid as Paid, TongoOptionsPhase as Phase, TongoOptionsPlayer as Player,
  TongoOptionsPrevious as Previous, TongoOptionsPublic as Public, TongoOptionsRules as Rules,
  TongoOptionsStep as Step, TongoOptionsTurn as Turn, TongoOptionsView as View,
} from "../../gen/socket.js";
import { FLOORS, SLOTS, sorted } from "./cards.js";
import { COSTS } from "./costs.js";

type TurnPhase = Extract<Phase, { type: "turn" }>;
type Purpose = keyof Paid;

/** The steps of a turn, in order. */
export const STEPS: readonly Step[] = ["open", "begun", "lowered", "traded", "raised", "rolled"];

/** Returns the view of a game before its deal. */
export function begin(
  rules: Rules,
  seats: number,
  starter: number | null,
  viewer: number | null,
): View {
  const { chips, buy_in, start_cost } = rules;
  const paid = buy_in === 0 ? {} : { buy_in };
  const player = {
    chips: chips - buy_in, paid, facing: 0, evade_token: true, leveraged: false, folded: false,
    previous: {},
  };
  return {
    viewer,
    public: {
      rules,
      dealer: starter !== null && starter < seats ? starter : null,
      phase: { type: "deal" },
      prompt: 0,
      countdown: 0,
      round: 1,
      costs: { buy: start_cost, sell: start_cost, exchange: start_cost },
      pot: buy_in * seats,
      players: Array.from({ length: seats }, () => player),
      floors: Array.from({ length: FLOORS }, () => Array.from({ length: SLOTS }, () => null)),
      dice: [],
    },
    hands: Array.from({ length: seats }, () => null),
  };
}

/** Returns the view after an event. */
export function observe(view: View, event: GameEvent): View {
  return { ...view, public: apply(view.public, event), hands: hands(view, event) };
}

function hands({ hands: before }: View, event: GameEvent): View["hands"] {
  if (event.type === "dealt") return event.hands;
  if (event.type === "evaded" && event.discards) {
    const gone = event.discards;
    return at(before, event.seat, (hand) => hand && hand.filter((card) => !gone.includes(card)));
  }
  if (event.type === "drew" && event.cards) {
    const more = event.cards;
    return at(before, event.seat, (hand) => hand && sorted([...hand, ...more]));
  }
  return before;
}

function apply(open: Public, event: GameEvent): Public {
  switch (event.type) {
    case "dealt": {
      const { dealer, dice, up } = event;
      const floors = open.floors.map((floor, number) => at(floor, SLOTS - 1, () => up[number] ?? null));
      return ask({ ...open, dealer, dice, floors }, { type: "stop", seat: next(open, dealer) });
    }
    case "stopped": {
      const { seat, floor } = event;
      const faced = player(open, seat, (one) => ({ ...one, facing: floor }));
      return ask(faced, { type: "turn", seat, floor, step: "open" });
    }
    case "risk_paid":
      return goOn(pay(open, event.seat, event.chips, "risk"), (turn) => ({ ...turn, step: "begun" }));
    case "retreated":
      return passTurn(previous(open, event.seat, { retreated: true }), event.seat);
    case "folded":
      return fold(open, event.seat);
    case "costs_changed": {
      const { seat, how, costs, chips } = event;
      const paid = pay({ ...open, costs }, seat, chips, "rates");
      return goOn(paid, (turn) => afterChange(turn, how, open.costs, costs));
    }
    case "bought": {
      const { seat, slot, card, chips, leverage } = event;
      const traded = trade(turnCard(open, slot, card), seat, chips, leverage, "buys");
      return goOn(traded, (turn) => ({ ...turn, bought: true }));
    }
    case "sold": {
      const { seat, slot, chips, leverage } = event;
      const traded = trade(turnCard(open, slot, null), seat, chips, leverage, "sells");
      return goOn(traded, (turn) => ({ ...turn, sold: true }));
    }
    case "exchanged": {
      const { seat, chips, leverage } = event;
      const traded = trade(open, seat, chips, leverage, "exchanges");
      return goOn(traded, (turn) => ({ ...turn, exchanged: true }));
    }
    case "rolling": {
      const { phase } = open;
      if (phase.type !== "turn") return open;
      return { ...open, phase: { ...phase, type: "roll", step: "rolled" } };
    }
    case "rolled": {
      const { phase } = open;
      const fallen = { ...open, dice: event.dice };
      if (phase.type !== "roll") return fallen;
      return { ...fallen, phase: { ...phase, type: "turn" }, prompt: open.prompt + 1 };
    }
    case "evaded":
      return evade(open, event.seat, event.token, event.chips, event.count);
    case "drew":
      return open.phase.type === "shuffle" ? passTurn(open, open.phase.turn) : open;
    case "reserves_converted": {
      const { seat: by, wager } = event;
      const reserves = open.reserves ?? { by, wager };
      return goOn({ ...open, reserves }, (turn) => ({
        ...turn, wager, step: turn.step === "open" ? "begun" : turn.step,
      }));
    }
    case "confronted": {
      const { seat: by, target } = event;
      const challenge = { by, target, asked: by, joined: [] };
      const asks = open.players[target];
      return asks && mayEvadeByToken(asks)
        ? ask(open, { type: "challenge", ...challenge, asked: target })
        : askNext(open, challenge);
    }
    case "acquired":
      return askNext(open, { by: event.seat, asked: event.seat, joined: [] });
    case "answered": {
      const { seat, answer, chips } = event;
      const paid = pay(open, seat, chips, "answer");
      if (paid.phase.type !== "challenge") return paid;
      const { type: _, ...challenge } = paid.phase;
      // The others are prompted after the target, beginning left of the challenger.
      if (answer === "stand") return askNext(paid, { ...challenge, asked: challenge.by });
      return askNext(paid, { ...challenge, joined: withSeat(challenge.joined, seat) });
    }
    case "ended": {
      const paid = pay(open, event.seat, event.chips, "reserves");
      return passTurn(previous(paid, event.seat, {}), event.seat);
    }
    case "shown": {
      const { shown: _, ...rest } = open;
      return event.hands.length > 0 ? { ...rest, shown: event.hands } : rest;
    }
    case "over": {
      const { ending, winner, pot } = event;
      return { ...open, phase: { type: "over" }, end: { ending, winner, pot } };
    }
    default:
      // Events of later versions are ignored.
      return open;
  }
}

/** Returns the seats that have not folded, in order. */
export function stillIn({ players }: Public): number[] {
  return players.flatMap((one, seat) => (one.folded ? [] : [seat]));
}

/** Returns whether a seat's previous turn was an evasion, by token or paid. */
export function hasEvaded({ previous: { evaded, paid_to_evade } }: Player): boolean {
  return Boolean(evaded) || Boolean(paid_to_evade);
}

/** Returns whether a seat may evade by token (rule 3.2). */
export function mayEvadeByToken(one: Player): boolean {
  const { retreated, confronted } = one.previous;
  return one.evade_token && !retreated && !confronted && !hasEvaded(one);
}

/** Opens a new prompt in a new countdown. */
function ask(open: Public, phase: Phase): Public {
  return { ...open, phase, prompt: open.prompt + 1, countdown: open.countdown + 1 };
}

/** Continues the turn within the running countdown. */
function goOn(open: Public, change: (turn: TurnPhase) => TurnPhase): Public {
  const { phase } = open;
  const turn = phase.type === "turn" ? change(phase) : phase;
  return { ...open, phase: turn, prompt: open.prompt + 1 };
}

/**
 * Returns the turn after a change of costs: the margin is indexed before everything else, or instead of
 * raising (rule 3.4).
 */
function afterChange(turn: TurnPhase, how: How, old: Costs, costs: Costs): TurnPhase {
  const isEarly = STEPS.indexOf(turn.step) <= STEPS.indexOf("begun");
  const step = how === "lower" ? "lowered" : how === "index" && isEarly ? "begun" : "raised";
  const risen = { ...turn.risen };
  for (const name of COSTS) {
    if (costs[name] > old[name]) risen[name] = (risen[name] ?? 0) + costs[name] - old[name];
  }
  const isRisen = Object.keys(risen).length > 0;
  return {
    ...turn, step, ...(how === "index" ? { indexed: true } : {}), ...(isRisen ? { risen } : {}),
  };
}

function pay(open: Public, seat: number, chips: number, purpose: Purpose): Public {
  if (chips === 0) return open;
  const paid = player(open, seat, (one) => ({
    ...one,
    chips: one.chips - chips,
    paid: { ...one.paid, [purpose]: (one.paid[purpose] ?? 0) + chips },
  }));
  const { phase } = open;
  const isWagered = phase.type === "turn" && (phase.wager ?? null) !== null;
  const left = isWagered ? { ...phase, wager: (phase.wager ?? 0) - chips } : phase;
  return { ...paid, pot: open.pot + chips, phase: left };
}

/** Turns a card of the facing floor. */
function turnCard(open: Public, slot: number, card: string | null): Public {
  const { phase } = open;
  if (phase.type !== "turn") return open;
  return { ...open, floors: at(open.floors, phase.floor, (cards) => at(cards, slot, () => card)) };
}

function trade(
  open: Public,
  seat: number,
  chips: number,
  leverage: boolean,
  purpose: Purpose,
): Public {
  const paid = pay(open, seat, chips, purpose);
  const marked = leverage ? player(paid, seat, (one) => ({ ...one, leveraged: true })) : paid;
  const { phase } = marked;
  return phase.type === "turn" ? { ...marked, phase: { ...phase, step: "traded" } } : marked;
}

/** Folds a seat (rules 3.2, 5.2, 6.2, 7.1). */
function fold(open: Public, seat: number): Public {
  const folded = player(open, seat, (one) => ({ ...one, folded: true }));
  if (open.phase.type === "turn") return passTurn(folded, seat);
  if (open.phase.type !== "challenge") return folded;
  const { type: _, ...challenge } = open.phase;
  return askNext(folded, challenge);
}

/** Evades with a seat (rules 3.2, 3.5, 6.2). */
function evade(open: Public, seat: number, token: boolean, chips: number, count: number): Public {
  const paid = pay(open, seat, chips, "evasion");
  let done = token ? player(paid, seat, (one) => ({ ...one, evade_token: false })) : paid;
  let turn = seat;
  if (open.phase.type === "challenge") {
    turn = open.phase.by;
    done = player(done, seat, (one) => ({ ...one, previous: { ...one.previous, evaded: true } }));
    done = previous(done, turn, { confronted: true });
  } else {
    done = previous(done, seat, token ? { evaded: true } : { paid_to_evade: true });
  }
  return count === 0 ? passTurn(done, turn) : { ...done, phase: { type: "shuffle", seat, count, turn } };
}

/** Prompts the seat after the last one prompted, beginning left of the challenger. */
function askNext(open: Public, challenge: Challenge): Public {
  const { by, asked, joined } = challenge;
  const target = challenge.target ?? null;
  const count = open.players.length;
  const place = (seat: number): number => (seat + count - by) % count;
  const left = others(by, count).find(
    (seat) => place(seat) > place(asked) && seat !== target && !open.players[seat]?.folded,
  );
  if (left !== undefined) return ask(open, { type: "challenge", ...challenge, asked: left });
  const shows = withSeat(target === null ? joined : withSeat(joined, target), by);
  const ending = target === null ? "acquire" : "confront";
  return { ...open, phase: { type: "showdown", by, seats: shows, ending } };
}

/** Passes the turn (rules 2.2, 4.1, 4.2, 5.3). */
function passTurn(open: Public, after: number): Public {
  const count = open.players.length;
  const seats = stillIn(open);
  const seat = [...others(after, count), after].find((one) => seats.includes(one)) ?? after;
  const steps = ((seat + count - after - 1) % count) + 1;
  const first = open.dealer === null ? null : next(open, open.dealer);
  const isNewRound = others(after, count).slice(0, steps).includes(first ?? -1);
  const { reserves, round, rules } = open;
  const show = (ending: "last_in" | "reserves" | "rounds"): Public =>
    ({ ...open, phase: { type: "showdown", by: seat, seats, ending } });
  if (seats.length === 1) return show("last_in");
  if (reserves && reserves.by === seat) return show("reserves");
  if (!reserves && isNewRound && round >= rules.rounds_max) return show("rounds");
  return ask({ ...open, round: round + (isNewRound ? 1 : 0) }, { type: "stop", seat });
}

function next({ players }: Public, seat: number): number {
  return (seat + 1) % players.length;
}

/** Returns all other seats, beginning left of this one. */
export function others(seat: number, count: number): number[] {
  return Array.from({ length: count - 1 }, (_, place) => (seat + 1 + place) % count);
}

function player(open: Public, seat: number, change: (one: Player) => Player): Public {
  return { ...open, players: at(open.players, seat, change) };
}

/** Records the finished turn of a seat. */
function previous(open: Public, seat: number, noted: Previous): Public {
  return player(open, seat, (one) => ({ ...one, previous: noted }));
}

function at<T>(list: readonly T[], place: number, change: (one: T) => T): readonly T[] {
  return list.map((one, index) => (index === place ? change(one) : one));
}

function withSeat(seats: readonly number[], seat: number): readonly number[] {
  return [...new Set([...seats, seat])].sort((one, other) => one - other);
}

export type { Turn };
