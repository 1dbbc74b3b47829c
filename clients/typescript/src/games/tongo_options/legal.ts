// The legal actions of Tongo (options), from the public state and the player's own hand. `why` decides about
// one action, as the server does and in the same order; `legal` lists the actions, in the server's order. For
// free numbers the list has examples: changes of one cost, by one and as far as possible, and discards in the
// order of the cards.

import type {
  TongoOptionsAction as Action, TongoOptionsCard as Card, TongoOptionsPlayer as Player,
  TongoOptionsPublic as Public, TongoOptionsTurn as Turn, TongoOptionsView as View,
} from "../../gen/socket.js";
import { FLOORS, SLOTS, faces } from "./cards.js";
import { PERCENTS, changed, exchangePrice, indexed, price, risk, someChanges } from "./costs.js";
import { STEPS, hasEvaded, mayEvadeByToken, others } from "./view.js";

/** The reason for a refusal: the server's code and the rule. */
export interface Illegal {
  readonly code: string;
  readonly rule: string;
}

const RULES: Readonly<Record<string, string>> = {
  chance_first: "2.1", game_over: "4.1", not_your_turn: "2.2", stop_first: "3.1",
  no_such_floor: "1.3", not_asked: "6.2", stand_or_evade: "6.2", join_or_fold: "6.2",
  confront_or_fold: "7.1", already_stopped: "3.1", nothing_to_answer: "6.2", reserves_first: "5.2",
  only_end_left: "5.1", turn_begun: "3.3", no_risk: "3.3", risk_unpaid: "3.3",
  retreat_barred: "3.2", no_evade_token: "3.2", evasion_barred: "3.2", nothing_discarded: "3.5",
  discard_not_in_hand: "3.2", too_early: "8.4", target_missing: "6.1", target_given: "7.1",
  no_such_target: "6.1", confrontation_barred: "6.1", target_evaded: "6.1", index_off: "3.4",
  once_a_turn: "3.4", out_of_order: "3.4", no_such_slot: "1.3", no_free_exchange: "1.3",
  same_floor: "3.4", already_up: "3.4", not_up: "3.4", exchange_up: "3.4", leverage_free: "3.4",
  leverage_used: "3.4", below_one: "1.6", not_lower: "3.4", not_higher: "3.4",
  percent_out_of_range: "3.4", no_change: "3.4", raised_too_far: "1.6", no_die_here: "3.4",
  too_few_chips: "1.5",
};

/** Returns the first reason why an action is illegal for the viewer, or null if it is legal. */
export function whyNot(view: View, action: Action): Illegal | null {
  const code = why(view, action);
  return code === null ? null : { code, rule: RULES[code] ?? "" };
}

/** Returns the viewer's hand. */
export function ownHand({ viewer, hands }: View): readonly Card[] {
  return (viewer === null ? null : hands[viewer]) ?? [];
}

function why(view: View, action: Action): string | null {
  const { public: open, viewer } = view;
  const { phase } = open;
  switch (phase.type) {
    case "deal":
    case "roll":
    case "shuffle":
      return "chance_first";
    case "showdown":
    case "over":
      return "game_over";
    case "stop":
      if (phase.seat !== viewer) return "not_your_turn";
      if (action.type !== "stop") return "stop_first";
      return action.floor < FLOORS ? null : "no_such_floor";
    case "turn":
      return phase.seat === viewer ? new Mover(open, phase, ownHand(view)).why(action) : "not_your_turn";
    case "challenge":
      return whyAnswer(view, action);
    default:
      return "game_over";
  }
}

/** Returns the viewer's legal actions, in the server's order. */
export function legal(view: View): Action[] {
  const { public: open, viewer } = view;
  const { phase } = open;
  if (phase.type === "stop" && phase.seat === viewer) {
    return Array.from({ length: FLOORS }, (_, floor) => ({ type: "stop", floor }));
  }
  if (phase.type === "turn" && phase.seat === viewer) {
    return new Mover(open, phase, ownHand(view)).all();
  }
  if (phase.type !== "challenge" || phase.asked !== viewer) return [];
  const target = phase.target ?? null;
  if (target === null) return [{ type: "confront" }, { type: "fold" }];
  if (target !== viewer) return [{ type: "join" }, { type: "fold" }];
  return [{ type: "stand" }, ...evasions(ownHand(view))];
}

function whyAnswer(view: View, action: Action): string | null {
  const { phase } = view.public;
  if (phase.type !== "challenge" || phase.asked !== view.viewer) return "not_asked";
  const target = phase.target ?? null;
  if (target === view.viewer) {
    if (action.type === "evade") return whyDiscards(ownHand(view), action.discards ?? []);
    return action.type === "stand" ? null : "stand_or_evade";
  }
  if (action.type === "fold") return null;
  if (target !== null) return action.type === "join" ? null : "join_or_fold";
  if (action.type !== "confront") return "confront_or_fold";
  return (action.target ?? null) === null ? null : "target_given";
}

/** A seat in its turn, after the stop. */
class Mover {
  readonly #open: Public;
  readonly #turn: Turn;
  readonly #player: Player;
  readonly #hand: readonly Card[];
  /** The chips that the seat may spend; after converting its reserves, those of its wager. */
  readonly #chips: number;
  readonly #risk: number;
  readonly #hasConverted: boolean;

  constructor(open: Public, turn: Turn, hand: readonly Card[]) {
    this.#open = open;
    this.#turn = turn;
    this.#player = open.players[turn.seat] as Player;
    this.#hand = hand;
    this.#hasConverted = (turn.wager ?? null) !== null;
    this.#chips = turn.wager ?? this.#player.chips;
    this.#risk = risk(open);
  }

  why(action: Action): string | null {
    const barred = this.#whyReserves(action);
    if (barred !== null) return barred;
    switch (action.type) {
      case "stop":
        return "already_stopped";
      case "stand":
      case "join":
        return "nothing_to_answer";
      case "retreat":
        return this.#whyOpen() ?? this.#whyRetreat();
      case "evade":
        return this.#whyOpen() ?? this.#whyEvade() ?? whyDiscards(this.#hand, action.discards ?? []);
      case "fold":
        return this.#whyOpen();
      case "convert_reserves":
        return null;
      case "confront":
        return this.#whyConfront(action.target ?? null);
      case "acquire":
        return this.#whyRound();
      case "pay_risk":
        if (this.#turn.step !== "open" || this.#risk === 0) return "no_risk";
        return this.#whyChips(this.#risk);
      case "lower":
        return this.#whyChange("lower", action);
      case "raise":
        return this.#whyChange("raise", action);
      case "index_margin":
        return this.#whyIndex(action.percent);
      case "buy":
        return this.#whyTrade(this.#turn.bought) ?? this.#whyBuy(action.slot)
          ?? this.#whyPrice(this.#open.costs.buy, action.leverage ?? false);
      case "sell":
        return this.#whyTrade(this.#turn.sold) ?? this.#whySell(action.slot)
          ?? this.#whyPrice(this.#open.costs.sell, action.leverage ?? false);
      case "exchange": {
        const [floor, leverage] = [action.floor ?? null, action.leverage ?? false];
        const not = this.#whyTrade(this.#turn.exchanged)
          ?? this.#whyExchange(action.slot, floor, action.other);
        if (not !== null) return not;
        if (floor === null && leverage) return "leverage_free";
        return this.#whyPrice(exchangePrice(this.#open, this.#turn.floor, floor), leverage);
      }
      case "roll":
        return this.#whyRoll();
      case "end":
        return this.#whyBegun();
      case "pay_to_evade":
        return this.#whyBegun() ?? this.#whyPayToEvade()
          ?? (action.discards.length === 0 ? "nothing_discarded" : null)
          ?? whyDiscards(this.#hand, action.discards) ?? this.#whyChips(this.#risk);
      default:
        return "game_over";
    }
  }

  all(): Action[] {
    if (this.#mustAnswer()) return [{ type: "convert_reserves" }, { type: "fold" }];
    const all: Action[] = [];
    if (this.#turn.step === "open") {
      all.push({ type: "fold" });
      if (this.#whyRetreat() === null) all.push({ type: "retreat" });
      if (this.#whyEvade() === null) all.push(...evasions(this.#hand));
      if (this.#risk > 0 && this.#risk <= this.#chips) all.push({ type: "pay_risk" });
    }
    if (!this.#hasConverted) all.push({ type: "convert_reserves" }, ...this.#challenges());
    if (this.#whyBegun() !== null) return all;
    all.push({ type: "end" }, ...this.#changes());
    if (this.#isUpTo("traded")) all.push(...this.#trades());
    if (this.#whyRoll() === null) all.push({ type: "roll" });
    const affords = this.#risk <= this.#chips;
    if (!this.#hasConverted && affords && this.#whyPayToEvade() === null) {
      const some = discardSets(this.#hand).filter((discards) => discards.length > 0);
      all.push(...some.map((discards) => ({ type: "pay_to_evade", discards }) as const));
    }
    return all;
  }

  #challenges(): Action[] {
    if (this.#whyRound() !== null) return [];
    const targets = others(this.#turn.seat, this.#open.players.length)
      .filter((target) => this.#whyConfront(target) === null);
    return [{ type: "acquire" }, ...targets.map((target) => ({ type: "confront", target }) as const)];
  }

  #changes(): Action[] {
    const changes = (type: "lower" | "raise"): Action[] =>
      someChanges(this.#open, type)
        .filter((costs) => this.#whyChange(type, costs) === null)
        .map((costs) => ({ type, ...costs }));
    const all: Action[] = [];
    if (this.#isUpTo("begun")) all.push(...changes("lower"));
    if (!this.#isUpTo("traded")) return all;
    all.push(...changes("raise"));
    const percents = this.#open.rules.index_margin ? PERCENTS : [];
    for (const percent of percents) {
      if (this.#whyIndex(percent) === null) all.push({ type: "index_margin", percent });
    }
    return all;
  }

  #trades(): Action[] {
    const { bought, sold, exchanged, floor } = this.#turn;
    const cards = this.#open.floors[floor] ?? [];
    const { buy, sell } = this.#open.costs;
    const all: Action[] = [];
    cards.forEach((card, slot) => {
      const isUp = card !== null;
      if (isUp ? sold : bought) return;
      for (const leverage of this.#affordable(isUp ? sell : buy)) {
        all.push({ type: isUp ? "sell" : "buy", slot, ...leverage });
      }
    });
    if (exchanged) return all;
    cards.forEach((card, slot) => { if (card === null) all.push(...this.#exchanges(slot)); });
    return all;
  }

  /** Returns the exchanges with a face-down card of the facing floor. */
  #exchanges(slot: number): Action[] {
    const all: Action[] = [];
    if (this.#open.rules.free_exchange) {
      for (let other = 0; other < SLOTS; other += 1) all.push({ type: "exchange", slot, other });
    }
    this.#open.floors.forEach((cards, floor) => {
      if (floor === this.#turn.floor) return;
      const ways = this.#affordable(exchangePrice(this.#open, this.#turn.floor, floor));
      cards.forEach((card, other) => {
        if (card !== null) return;
        for (const leverage of ways) all.push({ type: "exchange", slot, floor, other, ...leverage });
      });
    });
    return all;
  }

  /** Returns the ways to pay, without and with leverage, that the seat can afford. */
  #affordable(whole: number): { readonly leverage?: boolean }[] {
    return [
      ...(this.#whyPrice(whole, false) === null ? [{}] : []),
      ...(this.#whyPrice(whole, true) === null ? [{ leverage: true }] : []),
    ];
  }

  /** Returns whether others have converted reserves, and this seat has to answer (rule 5.2). */
  #mustAnswer(): boolean {
    return Boolean(this.#open.reserves) && !this.#hasConverted;
  }

  #isUpTo(step: Turn["step"]): boolean {
    return STEPS.indexOf(this.#turn.step) <= STEPS.indexOf(step);
  }

  /**
   * Checks an action against the restrictions of reserves (rules 5.1, 5.2); without reserves everything is
   * allowed.
   */
  #whyReserves({ type }: Action): string | null {
    const converted = this.#hasConverted ? "only_end_left" : null;
    const asked = this.#mustAnswer() ? "reserves_first" : null;
    switch (type) {
      case "stop":
      case "stand":
      case "join":
        return null;
      case "convert_reserves":
      case "fold":
        return converted;
      case "retreat":
      case "evade":
      case "confront":
      case "acquire":
      case "pay_risk":
      case "pay_to_evade":
        return asked ?? converted;
      case "lower":
      case "buy":
      case "sell":
      case "exchange":
      case "raise":
      case "index_margin":
      case "roll":
      case "end":
        return asked;
      default:
        return null;
    }
  }

  /** Checks that nothing was paid or done in this turn (rule 3.3). */
  #whyOpen(): string | null {
    return this.#turn.step === "open" ? null : "turn_begun";
  }

  /** Checks that the risk is paid, or that there is none (rule 3.3). */
  #whyBegun(): string | null {
    return this.#turn.step !== "open" || this.#risk === 0 ? null : "risk_unpaid";
  }

  #whyRetreat(): string | null {
    return this.#player.previous.retreated || hasEvaded(this.#player) ? "retreat_barred" : null;
  }

  #whyEvade(): string | null {
    if (!this.#player.evade_token) return "no_evade_token";
    return mayEvadeByToken(this.#player) ? null : "evasion_barred";
  }

  #whyPayToEvade(): string | null {
    if (!this.#player.evade_token) return "no_evade_token";
    return this.#player.previous.retreated || hasEvaded(this.#player) ? "evasion_barred" : null;
  }

  /** Checks that challenges are allowed in this round (rule 8.4). */
  #whyRound(): string | null {
    return this.#open.round >= this.#open.rules.challenge_round ? null : "too_early";
  }

  /** Checks a confront (rule 6.1). */
  #whyConfront(target: number | null): string | null {
    const early = this.#whyRound();
    if (early !== null) return early;
    if (target === null) return "target_missing";
    const one = this.#open.players[target];
    if (!one || one.folded || target === this.#turn.seat) return "no_such_target";
    const { retreated, evaded, confronted } = this.#player.previous;
    if (retreated || evaded || confronted) return "confrontation_barred";
    return one.previous.evaded ? "target_evaded" : null;
  }

  #whyChange(how: "lower" | "raise", given: Parameters<typeof changed>[2]): string | null {
    const [last, own] = how === "lower" ? (["begun", "lowered"] as const) : (["traded", "raised"] as const);
    const not = this.#whyBegun() ?? this.#whyStep(last, this.#turn.step === own);
    if (not !== null) return not;
    const change = changed(this.#open, how, given);
    return "code" in change ? change.code : this.#whyChips(change.chips);
  }

  #whyIndex(percent: number): string | null {
    if (!this.#open.rules.index_margin) return "index_off";
    const not = this.#whyBegun() ?? this.#whyStep("traded", this.#turn.indexed);
    if (not !== null) return not;
    const change = indexed(this.#open, percent);
    return "code" in change ? change.code : this.#whyChips(change.chips);
  }

  #whyTrade(isDone: boolean | undefined): string | null {
    return this.#whyBegun() ?? this.#whyStep("traded", isDone);
  }

  #whyRoll(): string | null {
    const not = this.#whyBegun();
    if (not !== null) return not;
    if (this.#turn.step === "rolled") return "once_a_turn";
    return this.#open.dice.some((die) => faces(die, this.#turn.floor)) ? null : "no_die_here";
  }

  /** Checks that the steps of a turn are in order and taken once each (rule 3.4). */
  #whyStep(last: Turn["step"], isDone: boolean | undefined): string | null {
    if (isDone) return "once_a_turn";
    return this.#isUpTo(last) ? null : "out_of_order";
  }

  #isUp(floor: number, slot: number): boolean | string {
    const cards = this.#open.floors[floor];
    if (!cards) return "no_such_floor";
    const card = cards[slot];
    return card === undefined ? "no_such_slot" : card !== null;
  }

  #whyBuy(slot: number): string | null {
    const isUp = this.#isUp(this.#turn.floor, slot);
    if (typeof isUp === "string") return isUp;
    return isUp ? "already_up" : null;
  }

  #whySell(slot: number): string | null {
    const isUp = this.#isUp(this.#turn.floor, slot);
    if (typeof isUp === "string") return isUp;
    return isUp ? null : "not_up";
  }

  #whyExchange(slot: number, floor: number | null, other: number): string | null {
    const isUp = this.#isUp(this.#turn.floor, slot);
    if (typeof isUp === "string") return isUp;
    let isOtherUp: boolean | string = false;
    if (floor !== null) isOtherUp = this.#isUp(floor, other);
    else if (other >= SLOTS) return "no_such_slot";
    else if (!this.#open.rules.free_exchange) return "no_free_exchange";
    if (typeof isOtherUp === "string") return isOtherUp;
    if (floor === this.#turn.floor) return "same_floor";
    return isUp || isOtherUp ? "exchange_up" : null;
  }

  #whyPrice(whole: number, leverage: boolean): string | null {
    if (leverage && this.#player.leveraged) return "leverage_used";
    return this.#whyChips(price(this.#open, whole, leverage));
  }

  #whyChips(chips: number): string | null {
    return chips <= this.#chips ? null : "too_few_chips";
  }
}

/** Checks that discards are cards of the hand, each once (rule 3.2). */
function whyDiscards(hand: readonly Card[], discards: readonly Card[]): string | null {
  const isHeld = discards.every((card, place) => hand.includes(card) && discards.indexOf(card) === place);
  return isHeld ? null : "discard_not_in_hand";
}

function evasions(hand: readonly Card[]): Action[] {
  return discardSets(hand).map((discards) =>
    discards.length === 0 ? { type: "evade" } : { type: "evade", discards });
}

/** Returns every set of cards of the hand, in the order of the cards, beginning with the empty one. */
function discardSets(hand: readonly Card[]): Card[][] {
  return Array.from({ length: 1 << hand.length }, (_, set) =>
    hand.filter((_card, place) => ((set >> place) & 1) === 1));
}
