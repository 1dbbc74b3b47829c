// Tests of this client's rules of Tongo (options) against the server's games: for every prompt the legal
// actions and the reasons against others, and the strength of hands that were shown.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  type TongoOptionsAction, type TongoOptionsEvent, type TongoOptionsView, tongoOptions,
} from "../src/index.js";
import { assertRefusals, playTapes } from "./refusals.js";

const upTo = (count: number): number[] => Array.from({ length: count }, (_, number) => number);

/** Returns every action that a player could try; of costs and discards only the listed ones. */
function candidates(view: TongoOptionsView): TongoOptionsAction[] {
  const hand = tongoOptions.ownHand(view);
  const { costs, rules } = view.public;
  const flags = [{}, { leverage: true }];
  const discards = [hand.slice(0, 1), hand.slice(1, 3), hand];
  const costNames = ["buy", "sell", "exchange"] as const;
  return [
    ...(["retreat", "convert_reserves", "confront", "acquire", "fold", "pay_risk", "roll", "end",
      "stand", "join", "evade"] as const).map((type) => ({ type })),
    ...upTo(8).map((floor) => ({ type: "stop", floor }) as const),
    ...upTo(8).map((target) => ({ type: "confront", target }) as const),
    ...discards.map((cards) => ({ type: "evade", discards: cards }) as const),
    ...discards.map((cards) => ({ type: "pay_to_evade", discards: cards }) as const),
    { type: "pay_to_evade", discards: [] },
    ...upTo(3).flatMap((slot) => flags.flatMap((flag) => [
      { type: "buy", slot, ...flag } as const, { type: "sell", slot, ...flag } as const,
      ...upTo(3).flatMap((other) => [
        { type: "exchange", slot, other, ...flag } as const,
        ...upTo(8).map((floor) => ({ type: "exchange", slot, floor, other, ...flag }) as const),
      ]),
    ])),
    ...costNames.flatMap((name) => [
      { type: "lower", [name]: costs[name] - 1 } as const, { type: "lower", [name]: 1 } as const,
      { type: "raise", [name]: costs[name] + 1 } as const,
      { type: "raise", [name]: costs[name] + rules.raise_max } as const,
      { type: "raise", [name]: costs[name] + rules.raise_max + 1 } as const,
      { type: "lower", [name]: costs[name] + 1 } as const,
      { type: "raise", [name]: costs[name] - 1 } as const,
    ]),
    ...[-50, -10, 10, 50, 100, 0].map((percent) => ({ type: "index_margin", percent }) as const),
  ];
}

test("whyNot accepts the listed actions and refuses all others", () => {
  assertRefusals<TongoOptionsView, TongoOptionsAction>({
    kind: "tongo_options", tapesMax: 60, whyNot: tongoOptions.whyNot, candidates,
  }, { legal: 1_000, others: 10_000 }, [
    "not_your_turn", "stop_first", "turn_begun", "risk_unpaid", "too_early", "no_such_target",
    "once_a_turn", "out_of_order", "already_up", "not_up", "exchange_up", "same_floor", "leverage_free",
    "below_one", "not_lower", "not_higher", "raised_too_far", "no_die_here", "index_off", "no_risk",
    "nothing_discarded",
  ]);
});

test("shown hands match as by the server, and the strongest wins", () => {
  let shown = 0;
  playTapes("tongo_options", 60, (notification) => {
    if (notification.type !== "table") return;
    const { before } = notification;
    for (const event of notification.events) {
      if (event.type !== "game" || event.event.type !== "shown" || before?.phase.type !== "playing") continue;
      const { hands } = event.event as Extract<TongoOptionsEvent, { type: "shown" }>;
      const { floors, dice } = (before.phase.view as TongoOptionsView).public;
      for (const { hand, floor, matches } of hands) {
        assert.deepEqual(tongoOptions.matches(hand, floors[floor] ?? [], dice), matches);
        shown += 1;
      }
      const winner: number = notification.events.reduce((found, one) => {
        const game = one.type === "game" ? (one.event as TongoOptionsEvent) : null;
        return game?.type === "over" ? game.winner : found;
      }, -1);
      const best = hands.reduce((one, other) => (tongoOptions.compare(other.matches, one.matches) > 0 ? other : one));
      assert.equal(best.seat, winner);
    }
  });
  assert.ok(shown > 20, `only ${shown} hands`);
});

test("ties in classes are broken by numbers, then by suits", () => {
  const dice = [{ value: 1 }];
  const ladder: [string[], string[]][] = [
    [["AC", "2C", "3C", "4C"], ["5D"]],
    [["2C"], ["2D"]],
    [["2S"], ["2D"]],
    [["3C"], ["3D"]],
    [["3C", "2C"], ["3D", "2D"]],
    [["2C"], ["2C"]],
    [["AC"], ["AD"]],
    [["AC"], ["AC"]],
  ];
  const found = ladder.map(([hand, floor]) => tongoOptions.matches(hand, floor, dice));
  for (const [place, one] of found.slice(1).entries()) {
    assert.ok(tongoOptions.compare(one, found[place] ?? []) > 0, ladder[place + 1]?.join(" on "));
  }
});
