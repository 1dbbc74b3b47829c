// Tests of this client's rules of Tongo (assets) against the server's games: the readings of hands, and for
// every prompt the legal actions and the reasons against others. Bribes, which no named rule set has, are
// tested against the rules page by hand.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  Stream, type TongoAssetsAction, type TongoAssetsEvent, type TongoAssetsView, tongoAssets,
} from "../src/index.js";
import { assertRefusals, playTapes } from "./refusals.js";
import { canonical } from "./tape.js";

const { isAsset, readingOf, whyNot } = tongoAssets;

/** Returns every action that a player could try, except those with free numbers. */
function candidates({ own, public: open }: TongoAssetsView): TongoAssetsAction[] {
  const hand = own?.hand ?? [];
  const slots = [0, 1, 2, 3, 4, 5, 6];
  const actions: TongoAssetsAction[] = [
    { type: "pay" }, { type: "retreat" }, { type: "done" }, { type: "confront" }, { type: "dividend" },
    { type: "accept" }, { type: "refuse" }, { type: "raise_confront", risk: open.risk + 1 },
    { type: "raise", risk: open.risk + 1, purchase: open.risk + 1, sell: 1 },
    { type: "evade", discards: hand.slice(0, 3) }, { type: "sell", slots: slots.slice(0, hand.length) },
    { type: "bribe", to: 0, chips: 1 }, { type: "acquire" }, { type: "acquire", free: true },
  ];
  for (let hundredths = 5; hundredths <= 95; hundredths += 5) {
    actions.push({ type: "index", margin: hundredths }, { type: "leverage", percent: hundredths });
  }
  for (const section of slots) actions.push({ type: "reveal", section });
  for (const slot of slots) {
    actions.push({ type: "purchase", slot }, { type: "purchase", slot, free: true });
    for (const discard of hand) {
      actions.push({ type: "purchase", slot, discard }, { type: "swap", discard, slot });
    }
  }
  for (const replace of hand) actions.push({ type: "acquire", replace });
  return actions;
}

test("whyNot accepts the listed actions and refuses all others", () => {
  assertRefusals<TongoAssetsView, TongoAssetsAction>({
    kind: "tongo_assets", tapesMax: 40, whyNot, candidates,
    isListedInPart: ({ type }) => type === "raise",
  }, { legal: 5_000, others: 20_000 }, [
    "not_your_turn", "not_assessing", "not_confronting", "nothing_to_pay", "no_bribe", "bribes_off",
    "hand_not_full", "others_not_full", "discard_missing", "discard_needless", "slot_empty",
    "swapped_already", "no_free_purchase", "no_reveal", "no_dividend", "not_an_asset", "margins_off",
    "leverage_off", "retreated",
  ]);
});

test("hands are read as by the server, with the cards that form the class", () => {
  const classes = new Set<string>();
  playTapes("tongo_assets", 40, (notification) => {
    if (notification.type !== "table") return;
    for (const { type, event } of notification.events as readonly { type: string; event?: TongoAssetsEvent }[]) {
      if (type !== "game" || event?.type !== "shown") continue;
      for (const shown of event.hands) {
        if (!shown) continue;
        assert.equal(canonical(readingOf(shown.hand)), canonical(shown.reading), shown.hand.join(" "));
        const makers = tongoAssets.makers(shown.hand);
        assert.ok(makers.every((card) => shown.hand.includes(card)));
        const again = readingOf(makers);
        assert.equal(again.class, shown.reading.class, `${makers.join(" ")} of ${shown.hand.join(" ")}`);
        classes.add(shown.reading.class);
      }
    }
  });
  assert.ok(classes.size >= 3, [...classes].join(" "));
});

/** The examples of the server's own tests. */
const READINGS: readonly (readonly [string, string])[] = [
  ["1Ra 2Ba 3Ya 4Ga 5Pa 6Oa 7Ka", "full_monopoly 7K 0"],
  ["1Ra 2Ra 3Ra 4Ra 5Ra 6Ra 7Rb", "monopoly 7R 0"],
  ["3Ra 3Ba 3Ya 3Ga 3Pa 3Oa 3Ka", "monopoly 3R 0"],
  ["3Ba 3Bb 3Ya 3Ga 3Pa 3Oa 3Ka", "full_consortium 3B 0"],
  ["1Ga 1Gb 2Ga 2Gb 4Ga 5Ga 6Ga", "full_consortium 6G 0"],
  ["1Ra 2Ra 3Ra 4Ra 5Ra 6Ra W0", "consortium 7R 1"],
  ["3Ba 3Bb 3Ya 3Ga 3Pa 3Oa W0", "consortium 3R 1"],
  ["4Ga W0 W1 W2 W3 W4 W5", "consortium 7G 6"],
  ["W0 W1 W2 W3 W4 W5 W6", "consortium 7R 7"],
  ["7Ra 7Rb 3Ba 3Bb 1Ka 2Ya 5Pa", "material_continuum 7R 0"],
  ["7Ra 3Ba 3Bb W0 1Ka 2Ya 5Pa", "material_continuum 7R 1"],
  ["2Ra 3Ba W0 W1", "material_continuum 3B 2"],
  ["2Ra W0 W1 W2", "material_continuum 7R 3"],
  ["1Ra 2Ra 3Ra 4Ra 5Ra 6Ba 6Ya", "treasury 5R 0"],
  ["1Ra 2Ra 3Ra 4Ra W0", "treasury 7R 1"],
  ["7Ba 1Ba 2Ba 3Ba 4Ba W0", "treasury 7B 0"],
  ["7Ba 6Ya", "nothing 0 0"],
  ["7Ba 6Ba", "reserve 7B 0"],
  ["6Ba W0", "reserve 7B 1"],
  ["W0", "nothing 0 0"],
  ["W0 W1", "reserve 7R 2"],
];

test("hands are read as the rules page states", () => {
  for (const [hand, expected] of READINGS) {
    const { class: name, number, colour, wilds } = readingOf(hand.split(" "));
    assert.equal(`${name} ${number}${colour ?? ""} ${wilds}`, expected, hand);
  }
});

/** Returns a dealt game of four that allows bribes, as seat 0 sees it in its assessment. */
function gameWithBribes(): TongoAssetsView {
  const rules = {
    sections: 4, latinum: 100, opening_max: 5, raise_max: 10, raises_max: 3, rounds_max: 12,
    confront_all_rounds: 3, winner_share: 50, margins: false, leverage: false, bribes: true,
    countdowns: { risk_ms: 15_000, assess_ms: 30_000, answer_ms: 10_000 },
  };
  const events: TongoAssetsEvent[] = [
    { type: "assets_shuffled" }, { type: "acquires_shuffled" },
    { type: "dealt", rotation: 0, hands: [["1Ra", "2Ra", "3Ra", "4Ra"], null, null, null] },
    { type: "opened", seat: 3, risk: 2, purchase: 1, sell: 1 },
    ...[0, 1, 2].map((seat) => ({ type: "paid", seat, chips: 2 }) as const),
    { type: "stopped", rotation: 1 },
    { type: "assessing", seat: 0, assets: ["1Ba", "2Ba", "3Ba", "4Ba", "5Ba", "6Ba", "7Ba"] },
    { type: "acquired", seat: 0, taken: "F0", to: "kept", chips: 1 },
  ];
  const begun = tongoAssets.tongoAssets.begin(rules, 4, 3, 0);
  return events.reduce<object>(tongoAssets.tongoAssets.observe, begun) as TongoAssetsView;
}

test("a bribe is offered once, answered, and applied", () => {
  const view = gameWithBribes();
  assert.equal(view.own?.before?.length, 7);
  const listed = tongoAssets.legal(view).filter((action) => action.type === "bribe");
  assert.equal(listed.length, 3 * (1 + 5), "one chip and each card, to three seats");
  assert.equal(whyNot(view, { type: "bribe", to: 0, chips: 1 })?.code, "bribe_to");
  assert.equal(whyNot(view, { type: "bribe", to: 1 })?.code, "bribe_what");
  assert.equal(whyNot(view, { type: "bribe", to: 1, chips: 98 })?.code, "bribe_not_held");
  const four = ["1Ra", "2Ra", "3Ra", "4Ra"];
  assert.equal(whyNot(view, { type: "bribe", to: 1, cards: four })?.code, "bribe_no_room");
  const offered = tongoAssets.observe(view, { type: "bribe_offered", seat: 0, to: 1, cards: ["1Ra", "F0"] });
  assert.deepEqual(tongoAssets.tongoAssets.prompt(offered)?.seats, [1]);
  assert.deepEqual(tongoAssets.legal(offered), []);
  assert.equal(whyNot(offered, { type: "done" })?.code, "bribe_open");
  const taken = tongoAssets.observe(offered, { type: "bribe_answered", seat: 1, accepted: true });
  assert.deepEqual([taken.own?.hand, taken.own?.kept], [["2Ra", "3Ra", "4Ra"], []]);
  const [from, to] = taken.public.players;
  assert.deepEqual([from?.assets, from?.kept, to?.assets, to?.kept], [3, 0, 5, 1]);
  assert.equal(whyNot(taken, { type: "bribe", to: 1, chips: 1 })?.code, "offered_already");
  const refused = tongoAssets.observe(offered, { type: "bribe_answered", seat: 1, accepted: false });
  assert.deepEqual(refused.own?.hand, view.own?.hand);
  assert.ok(view.own?.hand.every(isAsset));
});

test("the documented deal of this game verifies, and a changed record fails", () => {
  const key = new Uint8Array(32).fill(0x22);
  const deal = (chance: readonly unknown[]) => {
    const steps: { name: string; holds: boolean }[] = [];
    const step = (name: string, _rule: string, computed: string, said: string) =>
      void steps.push({ name, holds: computed === said });
    const dealt = tongoAssets.tongoAssets.redeal({
      stream: new Stream(key), seats: 4, starter: null, chance, rules: { sections: 4 }, step,
    });
    return { dealt, steps };
  };
  const stream = new Stream(key);
  const chance: unknown[] = [
    { number: stream.uniform(4) }, { order: stream.order(98) }, { order: stream.order(30) },
    { number: stream.uniform(4) }, { number: stream.uniform(4) },
  ];
  assert.deepEqual([chance[0], chance[3], chance[4]], [{ number: 0 }, { number: 0 }, { number: 2 }]);
  const { dealt, steps } = deal(chance);
  assert.deepEqual(dealt?.hands[0], ["5Ya", "1Pa", "1Ob", "3Ob"]);
  assert.deepEqual(steps.map(({ name }) => name), ["dealer", "assets", "acquires", "rotation", "stop"]);
  assert.ok(steps.every(({ holds }) => holds));
  chance.forEach((_, place) => {
    const other = chance.map((said, at) => (at === place ? { number: 3, order: [1, 0] } : said));
    assert.deepEqual(deal(other).steps.map(({ holds }) => holds), steps.map((_, at) => at !== place));
  });
  assert.ok(Array.from({ length: 128 }, (_, index) => index)
    .every((index) => tongoAssets.indexOf(tongoAssets.cardOf(index)) === index));
});
