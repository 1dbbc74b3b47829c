// Tests of dead connections: how soon they are detected, which pings are sent, and which link states are
// shown.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Bench, type Json, PLAYING, PREPARING, PROMPT, view } from "./bench.js";

const dump = (card: string): Json => ({ type: "dump", card });

/** Returns a client with an open prompt, on a connection that answers or not. */
function benchWithPrompt(answersPings: boolean): Bench {
  const bench = Bench.joined(view(PLAYING));
  bench.answersPings = answersPings;
  bench.snapshot(1, 7, view(PLAYING), PROMPT);
  bench.clearRecords();
  return bench;
}

/** Returns the link states over a time, each with the time since the beginning. */
function recordLinks(bench: Bench, ms: number): [number, string][] {
  const shown: [number, string][] = [];
  for (let passed = 0; passed < ms; passed += 100) {
    bench.notifications = [];
    bench.advance(100);
    for (const told of bench.notifications) if (told.type === "link") shown.push([passed + 100, told.link.type]);
  }
  return shown;
}

test("a connection that does not answer is replaced by one that does", () => {
  const bench = Bench.joined(view(PREPARING));
  bench.answersPings = false;
  bench.advance(20_000);
  const socket = bench.openWithHello();
  assert.ok(bench.closed.includes(1));
  assert.equal(bench.link, "joining");
  const { state } = bench.core;
  bench.update(1, 7, [{ type: "waiting" }]);
  assert.equal(bench.core.state, state, "what comes on the old one says nothing");
  bench.update(socket, 7, [{ type: "presence", seat: 0, connected: true }], { ack: 1 });
  assert.equal(bench.link, "live");
  assert.equal(bench.core.state.table?.version, 7);
});

test("a missing answer is detected soon, whatever else arrives", () => {
  const bench = Bench.joined(view(PLAYING));
  bench.answersPings = false;
  bench.snapshot(1, 7, view(PLAYING), PROMPT);
  bench.sendWish({ type: "act", action: dump("2C") as never });
  bench.advance(1_000);
  bench.update(1, 8, [{ type: "presence", seat: 1, connected: false }], { prompt: PROMPT });
  const ms = bench.timeToOpen(60_000);
  assert.ok(ms !== null && ms <= 2_600, String(ms));
});

test("silence causes a ping, and nothing else while pings are answered", () => {
  for (const [phase, questions] of [[view(PREPARING), 50], [null, 50]] as const) {
    const bench = Bench.joined(phase);
    bench.advance(600_000);
    const pings = bench.sent.filter(({ command }) => command["type"] === "ping");
    assert.ok(Math.abs(pings.length - questions) <= 1, `${pings.length} questions`);
    assert.deepEqual(bench.opening, []);
    assert.deepEqual(bench.closed, []);
    assert.equal(bench.link, "live");
  }
});

test("in the player's turn a dead connection is weak within 4 s, and abandoned 2 s later", () => {
  const bench = benchWithPrompt(false);
  assert.deepEqual(recordLinks(bench, 6_500), [[4_000, "weak"], [6_000, "connecting"]]);
  assert.ok(bench.closed.includes(1));
  assert.ok(bench.opening.length >= 3, "others were opened when it was weak");
  assert.ok(bench.core.state.table, "the table is shown on");
});

test("a command without an answer makes the connection weak after 2 s, and ends it after 4 s", () => {
  const bench = benchWithPrompt(false);
  bench.sendWish({ type: "act", action: dump("2C") as never });
  assert.deepEqual(recordLinks(bench, 4_500), [[2_000, "weak"], [4_000, "connecting"]]);
  const socket = bench.openWithHello();
  bench.takeCommands();
  bench.receive(socket, { type: "ack", id: 1, version: 7 });
  assert.deepEqual(bench.takeCommands(), [
    { type: "act", game: PROMPT.game, prompt: 4, action: dump("2C"), id: 2 },
  ]);
});

test("without an open prompt a dead connection is weak within 15 s", () => {
  for (const phase of [view(PREPARING), null]) {
    const bench = Bench.joined(phase);
    bench.answersPings = false;
    const [first] = recordLinks(bench, 16_000);
    assert.deepEqual(first, [14_000, "weak"]);
  }
});

test("a weak connection that answers is live again, and the other sockets are closed", () => {
  const bench = benchWithPrompt(false);
  bench.advance(4_500);
  assert.equal(bench.link, "weak");
  const beside = [...bench.opening];
  bench.receive(1, { type: "ack", id: 1_000_000 });
  assert.equal(bench.link, "live");
  assert.ok(beside.every((socket) => bench.closed.includes(socket)));
  assert.equal(bench.core.state.table?.current, true);
});

test("a command is sent on a weak connection, as it may arrive", () => {
  const bench = benchWithPrompt(false);
  bench.advance(4_500);
  bench.sendWish({ type: "act", action: dump("2C") as never });
  assert.equal(bench.takeCommands().length, 1);
});

test("a slow connection is weak for a while, and stays open", () => {
  const bench = benchWithPrompt(false);
  for (let times = 0; times < 5; times += 1) {
    bench.advance(4_900);
    bench.receive(1, { type: "ack", id: 1_000_000 });
  }
  assert.deepEqual(bench.closed.filter((socket) => socket === 1), []);
  assert.equal(bench.link, "live");
});

test("pings are sent after 2 s of silence while a prompt is open, and not afterwards", () => {
  const bench = benchWithPrompt(true);
  const pings = (): number => {
    const count = bench.sent.filter(({ command }) => command["type"] === "ping").length;
    bench.sent = [];
    return count;
  };
  bench.advance(20_000);
  assert.equal(pings(), 10);
  bench.update(1, 8, [{ type: "presence", seat: 1, connected: false }], { prompt: { ...PROMPT, legal: [] } });
  bench.snapshot(1, 9, view(PREPARING));
  bench.advance(20_000);
  assert.equal(pings(), 1);
  assert.equal(bench.link, "live");
});

test("a machine that slept during a wait pings again instead of giving up", () => {
  const bench = benchWithPrompt(false);
  bench.advance(2_500);
  bench.now += 600_000;
  bench.input({ type: "timer" });
  assert.equal(bench.link, "live");
  assert.deepEqual(bench.closed, []);
  assert.equal(bench.opening.length, 3);
});
