// The costs of actions, and their changes (rules 1.6, 3.4, 8.4).

import type {
  TongoOptionsCosts as Costs, TongoOptionsCostsChange as How, TongoOptionsNewCosts as NewCosts,
  TongoOptionsPublic as Public,
} from "../../gen/socket.js";
import { distance } from "./cards.js";

export type CostName = "buy" | "sell" | "exchange";

/** The costs in the order of the fields. */
export const COSTS: readonly CostName[] = ["buy", "sell", "exchange"];

/** The percentages that represent all others in a list of legal actions. */
export const PERCENTS = [-50, -10, 10, 50, 100] as const;

/** Returns the risk (rule 1.6), which is nothing once reserves were converted (rule 5.1). */
export function risk({ reserves, costs }: Public): number {
  return reserves ? 0 : Math.max(0, costs.sell - costs.buy);
}

/** The costs after a change with the chips that it takes, or the code of its refusal. */
export type Change = { readonly costs: Costs; readonly chips: number } | { readonly code: string };

/** Returns the amount by which a cost may still rise in this turn (rule 1.6). */
export function raiseLeft({ phase, rules }: Public, name: CostName): number {
  const risen = phase.type === "turn" ? phase.risen?.[name] ?? 0 : 0;
  return Math.max(0, rules.raise_max - risen);
}

export function changed(open: Public, how: How, given: NewCosts): Change {
  const { costs: old } = open;
  const next = { ...old };
  for (const name of COSTS) next[name] = given[name] ?? old[name];
  const by = COSTS.map((name) => next[name] - old[name]);
  if (COSTS.some((name) => next[name] < 1)) return { code: "below_one" };
  if (how === "lower" && by.some((more) => more > 0)) return { code: "not_lower" };
  if (how === "raise" && by.some((more) => more < 0)) return { code: "not_higher" };
  if (by.every((more) => more === 0)) return { code: "no_change" };
  if (COSTS.some((name, place) => (by[place] ?? 0) > raiseLeft(open, name))) {
    return { code: "raised_too_far" };
  }
  return { costs: next, chips: by.reduce((sum, more) => sum + Math.abs(more), 0) };
}

/** Returns the costs after the margin is indexed, rounded up (rule 3.4). */
export function indexed(open: Public, percent: number): Change {
  if (!Number.isInteger(percent) || percent < -99 || percent > 100 || percent === 0) {
    return { code: "percent_out_of_range" };
  }
  const next = (name: CostName): number =>
    Math.max(1, Math.ceil((open.costs[name] * (100 + percent)) / 100));
  const given = { buy: next("buy"), sell: next("sell"), exchange: next("exchange") };
  return changed(open, "index", given);
}

/** Returns the changes that represent all others in a list: each cost by one, and as far as possible. */
export function someChanges(open: Public, how: "lower" | "raise"): NewCosts[] {
  return COSTS.flatMap((name) => {
    const old = open.costs[name];
    const left = raiseLeft(open, name);
    const [near, far] = how === "lower" ? [old - 1, 1] : [old + Math.min(left, 1), old + left];
    const all = near === far ? [near] : [near, far];
    return all.filter((cost) => cost >= 1 && cost !== old).map((cost) => ({ [name]: cost }));
  });
}

/** Returns the price of a card, which the buy-in may pay (rule 3.4). */
export function price({ rules }: Public, whole: number, leverage: boolean): number {
  return leverage ? Math.max(0, whole - rules.buy_in) : whole;
}

/** Returns the price of an exchange, which is free if no other floor is named. */
export function exchangePrice({ costs }: Public, facing: number, floor: number | null): number {
  return floor === null ? 0 : costs.exchange * distance(facing, floor);
}

/** Returns the price of an answer for a seat that stays in; standing as the target is free (rule 8.4). */
export function answerPrice(open: Public, seat: number): number {
  if (open.phase.type === "challenge" && open.phase.target === seat) return 0;
  const whole = open.rules.answer_pays_risk ? risk(open) : 0;
  return Math.min(whole, open.players[seat]?.chips ?? 0);
}
