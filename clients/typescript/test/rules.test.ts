// Tests of this client's rules of Tong-its against the server's games: the arrangements of final hands, and
// for every prompt the legal actions and the reasons against others.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  type Shown, type TongitsAction, type TongitsRules, type TongitsView, tongits,
} from "../src/index.js";
import { assertRefusals, playTapes } from "./refusals.js";
import { canonical } from "./tape.js";

/** Returns every action that a player could try, with the cards that are there. */
function candidates(view: TongitsView): TongitsAction[] {
  const hand = tongits.ownHand(view);
  const melds = [...tongits.melds(hand), hand.slice(0, 3), hand.slice(1, 4)];
  const targets = view.public.melds.map((_, meld) => meld);
  return [
    { type: "draw" }, { type: "fight" }, { type: "tongits" }, { type: "challenge" }, { type: "fold" },
    ...hand.map((card) => ({ type: "dump", card }) as const),
    ...melds.map((cards) => ({ type: "drop", cards }) as const),
    ...melds.map((cards) => ({ type: "drop", cards, face_down: true }) as const),
    ...hand.flatMap((card) => targets.map((meld) => ({ type: "sapaw", card, meld }) as const)),
    ...hand.flatMap((one, at) =>
      hand.slice(at + 1).map((other) => ({ type: "chow", cards: [one, other] }) as const),
    ),
  ];
}

test("whyNot accepts the listed actions and refuses all others", () => {
  assertRefusals<TongitsView, TongitsAction>({
    kind: "tongits", tapesMax: 200, whyNot: tongits.whyNot, candidates,
    asListed: (action) => {
      const { face_down, ...rest } = action as { face_down?: boolean };
      return face_down ? action : rest;
    },
  }, { legal: 500, others: 5_000 }, [
    "not_your_turn", "not_draw_phase", "not_play_phase", "chow_no_meld", "not_open", "fight_blocked",
    "drop_no_meld", "sapaw_no_meld", "card_addable", "cards_left_over", "no_fight",
  ]);
});

test("hands are arranged as by the server", () => {
  let hands = 0;
  playTapes("tongits", 200, (notification, { table }) => {
    if (notification.type !== "table" || !table) return;
    const min = (table.view.terms.rules as TongitsRules).secret_run_min;
    for (const event of notification.events) {
      if (event.type !== "game" || event.event.type !== "shown") continue;
      for (const { hand, arrangement } of event.event.hands as readonly Shown[]) {
        assert.equal(canonical(tongits.arrange(hand, min)), canonical(arrangement));
        assert.equal(tongits.deadwood(hand), arrangement.deadwood);
        hands += 1;
      }
    }
  });
  assert.ok(hands >= 30, `only ${hands} hands`);
});

test("a hand is sorted in both orders", () => {
  const hand = "7C 7D 7H 8H 9H TH KS AD 4D".split(" ");
  const words = (groups: string[][]): string => groups.map((group) => group.join(" ")).join(" | ");
  assert.equal(words(tongits.sortBySuit(hand)), "7C | AD 4D 7D | 7H 8H 9H TH | KS");
  assert.equal(words(tongits.sortByArrangement(hand)), "7C 7D 7H | 8H 9H TH | KS 4D AD");
  const jokers = "X2 7C AD 7D 7H X1".split(" ");
  assert.equal(words(tongits.sortBySuit(jokers)), "7C | AD 7D | 7H | X1 X2");
  assert.equal(words(tongits.sortByArrangement(jokers)), "7C 7D 7H | AD X1 X2");
});
