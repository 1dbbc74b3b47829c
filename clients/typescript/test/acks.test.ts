// Tests of acks within updates: an update is applied, and then ends the command that it answers.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Bench, GAME, type Json, PREPARING, view } from "./bench.js";

const READY: Json = { type: "ready", seat: 0 };
const BACK: Json = { type: "presence", seat: 0, connected: true };

/** Returns a client that has sent `ready` as command 2, with the number of the wish. */
function benchWithReady(): [Bench, number] {
  const bench = Bench.joined(view(PREPARING));
  const wish = bench.sendWish({ type: "ready" });
  bench.clearRecords();
  return [bench, wish];
}

/** Replaces the lost connection by one that has received hello, and returns its socket. */
function reconnect(bench: Bench): number {
  bench.timeToOpen(1_000);
  const socket = bench.openWithHello();
  bench.clearRecords();
  return socket;
}

test("an update is applied before the command that it acknowledges ends", () => {
  const [bench, wish] = benchWithReady();
  bench.update(1, 7, [READY, { type: "opening", game: GAME }], { ack: 2 });
  const told = bench.notifications.map((one) => {
    if (one.type === "table") return one.after.phase.type;
    return one.type === "ended" ? [one.command, one.outcome] : one;
  });
  assert.deepEqual(told, ["opening", [wish, { type: "done", version: 7 }]]);
  assert.deepEqual(bench.core.state.open, []);
});

test("an opening says that the own seat is ready too", () => {
  const OPENING: Json = { type: "opening", game: GAME };
  const [bench, wish] = benchWithReady();
  bench.update(1, 7, [OPENING], { ack: 2 });
  assert.deepEqual(bench.takeOutcomes(), [[wish, "done"]]);
  bench.sendWish({ type: "ready" });
  assert.deepEqual(bench.takeCommands(), []);

  const [lost, lostWish] = benchWithReady();
  lost.close(1, 1006);
  const socket = reconnect(lost);
  lost.update(socket, 7, [OPENING]);
  lost.update(socket, 8, [BACK], { ack: 1 });
  assert.deepEqual(lost.takeOutcomes(), [[lostWish, "overtaken"]]);
  assert.deepEqual(lost.takeCommands(), []);
});

test("a lost update with its ack comes without it, and the command counts as overtaken", () => {
  const [bench, wish] = benchWithReady();
  bench.close(1, 1006);
  bench.update(1, 7, [READY], { ack: 2 });
  assert.deepEqual(bench.takeOutcomes(), [], "the connection has been lost");
  const socket = reconnect(bench);
  bench.update(socket, 7, [READY]);
  assert.deepEqual(bench.takeOutcomes(), []);
  bench.update(socket, 8, [BACK], { ack: 1 });
  assert.equal(bench.link, "live");
  assert.deepEqual(bench.takeOutcomes(), [[wish, "overtaken"]]);
  assert.deepEqual(bench.takeCommands(), []);
});

test("a lost command is repeated after the ack of the join, and ended by the ack of its repetition", () => {
  const [bench, wish] = benchWithReady();
  bench.close(1, 1006);
  const socket = reconnect(bench);
  bench.update(socket, 7, [BACK], { ack: 1 });
  assert.deepEqual(bench.takeCommands().map(({ type, id }) => [type, id]), [["ready", 2]]);
  assert.deepEqual(bench.takeOutcomes(), []);
  bench.update(socket, 8, [READY], { ack: 2 });
  assert.deepEqual(bench.takeOutcomes(), [[wish, "done"]]);
});

test("each of several commands ends with its own ack, as an update or as a message", () => {
  const [bench, ready] = benchWithReady();
  const said = bench.sendWish({ type: "say", phrase: "hello" });
  const left = bench.sendWish({ type: "leave" });
  bench.update(1, 7, [{ type: "presence", seat: 1, connected: false }]);
  assert.deepEqual(bench.takeOutcomes(), [], "this update answers nothing");
  bench.update(1, 8, [READY], { ack: 2 });
  assert.deepEqual(bench.takeOutcomes(), [[ready, "done"]]);
  bench.receive(1, { type: "ack", id: 3 });
  assert.deepEqual(bench.takeOutcomes(), [[said, "done"]]);
  const { player } = bench.core.state.table?.view.seats[0] ?? assert.fail("the seat is taken");
  bench.update(1, 9, [{ type: "left", seat: 0, player, reason: "left" }], { ack: 4 });
  assert.equal(bench.core.state.table, null);
  assert.deepEqual(bench.takeOutcomes(), [[left, "done"]]);
});

test("a repeated ack and the ack of an unknown command end nothing", () => {
  const [bench, wish] = benchWithReady();
  bench.update(1, 7, [READY], { ack: 2 });
  bench.receive(1, { type: "ack", id: 2, version: 7 });
  bench.update(1, 8, [{ type: "presence", seat: 1, connected: false }], { ack: 2 });
  bench.update(1, 9, [{ type: "presence", seat: 2, connected: false }], { ack: 1_000_000 });
  assert.deepEqual(bench.takeOutcomes(), [[wish, "done"]]);
  assert.equal(bench.core.state.table?.version, 9);
  assert.equal(bench.link, "live");
});

test("an update that is not applied still ends its command", () => {
  const [bench, wish] = benchWithReady();
  bench.update(1, 9, [READY], { ack: 2 });
  assert.deepEqual(bench.takeOutcomes(), [[wish, "done"]]);
  assert.equal(bench.core.state.table?.version, 6, "there is a gap before it");
  assert.deepEqual(bench.takeCommands().map(({ type }) => type), ["join"]);

  const racing = Bench.joined(view(PREPARING));
  racing.answersPings = false;
  racing.close(1, 1006);
  racing.input({ type: "wake" });
  const [one = 0, two = 0] = racing.opening;
  for (const socket of [one, two]) racing.input({ type: "opened", socket, protocol: "bahay.v1" });
  const hello = { type: "hello", player: "p", protocol: "bahay.v1", server_time_ms: racing.now };
  racing.receive(one, hello);
  racing.update(one, 7, [BACK]);
  racing.receive(two, hello);
  racing.receive(two, { type: "ack", id: 0 });
  racing.update(two, 7, [BACK], { ack: 1 });
  assert.equal(racing.link, "live", "the update was known, and answers the join");
});

test("a connection with an acknowledged command has been answered", () => {
  const bench = Bench.joined(view(PREPARING));
  bench.answersPings = false;
  bench.close(1, 1006);
  const socket = reconnect(bench);
  bench.receive(socket, { type: "ack", id: 1, version: 6 });
  bench.sendWish({ type: "ready" });
  bench.update(socket, 7, [READY], { ack: 2 });
  bench.close(socket, 1006);
  const last = reconnect(bench);
  bench.receive(last, { type: "ack", id: 1, version: 7 });
  bench.close(last, 4001);
  assert.equal(bench.link, "replaced", "no join of the client itself is under way");
});
