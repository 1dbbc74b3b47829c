// Dead connections: how soon they are noticed, what is asked meanwhile, and what is shown.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Bench, type Json, PLAYING, PREPARING, PROMPT, view } from "./bench.js";

const dump = (card: string): Json => ({ type: "dump", card });

/** A client whose player is asked, on a connection that answers or not. */
function asked(answersPings: boolean): Bench {
  const bench = Bench.at(view(PLAYING));
  bench.answersPings = answersPings;
  bench.snapshot(1, 7, view(PLAYING), PROMPT);
  bench.forget();
  return bench;
}

/** The links that were shown, each with the time since the beginning. */
function links(bench: Bench, ms: number): [number, string][] {
  const shown: [number, string][] = [];
  for (let passed = 0; passed < ms; passed += 100) {
    bench.notifications = [];
    bench.after(100);
    for (const told of bench.notifications) if (told.type === "link") shown.push([passed + 100, told.link.type]);
  }
  return shown;
}

test("a connection that does not answer is left for one that does", () => {
  const bench = Bench.at(view(PREPARING));
  bench.answersPings = false;
  bench.after(20_000);
  const socket = bench.enter();
  assert.ok(bench.closed.includes(1));
  assert.equal(bench.link, "joining");
  const { state } = bench.core;
  bench.update(1, 7, [{ type: "waiting" }]);
  assert.equal(bench.core.state, state, "what comes on the old one says nothing");
  bench.update(socket, 7, [{ type: "ready", seat: 1 }]);
  bench.hear(socket, { type: "ack", id: 1, version: 7 });
  assert.equal(bench.link, "live");
  assert.equal(bench.core.state.table?.version, 7);
});

test("an answer that does not come is missed soon, whatever else is heard", () => {
  const bench = Bench.at(view(PLAYING));
  bench.answersPings = false;
  bench.snapshot(1, 7, view(PLAYING), PROMPT);
  bench.wish({ type: "act", action: dump("2C") as never });
  bench.after(1_000);
  bench.update(1, 8, [{ type: "presence", seat: 1, connected: false }], PROMPT);
  const ms = bench.opensWithin(60_000);
  assert.ok(ms !== null && ms <= 2_600, String(ms));
});

test("silence brings a question, and nothing else while it is answered", () => {
  for (const [phase, questions] of [[view(PREPARING), 50], [null, 50]] as const) {
    const bench = Bench.at(phase);
    bench.after(600_000);
    const pings = bench.said.filter(({ command }) => command["type"] === "ping");
    assert.ok(Math.abs(pings.length - questions) <= 1, `${pings.length} questions`);
    assert.deepEqual(bench.opening, []);
    assert.deepEqual(bench.closed, []);
    assert.equal(bench.link, "live");
  }
});

test("in the own turn a dead connection is weak within 4 s, and left 2 s later", () => {
  const bench = asked(false);
  assert.deepEqual(links(bench, 6_500), [[4_000, "weak"], [6_000, "connecting"]]);
  assert.ok(bench.closed.includes(1));
  assert.ok(bench.opening.length >= 3, "others were opened when it was weak");
  assert.ok(bench.core.state.table, "the table is shown on");
});

test("a command without an answer makes the connection weak after 2 s, and ends it after 4 s", () => {
  const bench = asked(false);
  bench.wish({ type: "act", action: dump("2C") as never });
  assert.deepEqual(links(bench, 4_500), [[2_000, "weak"], [4_000, "connecting"]]);
  const socket = bench.enter();
  bench.commands();
  bench.hear(socket, { type: "ack", id: 1, version: 7 });
  assert.deepEqual(bench.commands(), [
    { type: "act", game: PROMPT.game, prompt: 4, action: dump("2C"), id: 2 },
  ]);
});

test("where nothing is urgent a dead connection is weak within 15 s", () => {
  for (const phase of [view(PREPARING), null]) {
    const bench = Bench.at(phase);
    bench.answersPings = false;
    const [first] = links(bench, 16_000);
    assert.deepEqual(first, [14_000, "weak"]);
  }
});

test("a weak connection that answers is live again, and what was opened beside it is closed", () => {
  const bench = asked(false);
  bench.after(4_500);
  assert.equal(bench.link, "weak");
  const beside = [...bench.opening];
  bench.hear(1, { type: "ack", id: 1_000_000 });
  assert.equal(bench.link, "live");
  assert.ok(beside.every((socket) => bench.closed.includes(socket)));
  assert.equal(bench.core.state.table?.current, true);
});

test("on a weak connection a command is said, for it may arrive", () => {
  const bench = asked(false);
  bench.after(4_500);
  bench.wish({ type: "act", action: dump("2C") as never });
  assert.equal(bench.commands().length, 1);
});

test("a connection that answers slowly is weak for a while, and stays", () => {
  const bench = asked(false);
  for (let times = 0; times < 5; times += 1) {
    bench.after(4_900);
    bench.hear(1, { type: "ack", id: 1_000_000 });
  }
  assert.deepEqual(bench.closed.filter((socket) => socket === 1), []);
  assert.equal(bench.link, "live");
});

test("beats go to whoever is asked, one in 2 s of silence, and no longer than that", () => {
  const bench = asked(true);
  const pings = (): number => {
    const count = bench.said.filter(({ command }) => command["type"] === "ping").length;
    bench.said = [];
    return count;
  };
  bench.after(20_000);
  assert.equal(pings(), 10);
  bench.update(1, 8, [{ type: "presence", seat: 1, connected: false }], { ...PROMPT, legal: [] } as Json);
  bench.snapshot(1, 9, view(PREPARING));
  bench.after(20_000);
  assert.equal(pings(), 1);
  assert.equal(bench.link, "live");
});

test("a machine that slept while it waited asks again instead of giving up", () => {
  const bench = asked(false);
  bench.after(2_500);
  bench.now += 600_000;
  bench.input({ type: "timer" });
  assert.equal(bench.link, "live");
  assert.deepEqual(bench.closed, []);
  assert.equal(bench.opening.length, 3);
});
