// Tests of games whose model is loaded while messages arrive.

import assert from "node:assert/strict";
import { test } from "node:test";

import { GAMES, type GameModel } from "../src/index.js";
import { Bench, type Json, PLAYER, PLAYING, PROMPT, view } from "./bench.js";

const TONGITS = GAMES.find(({ kind }) => kind === "tongits") ?? assert.fail("there is no Tong-its");
const DRAWN: Json = { type: "game", event: { type: "drawn", seat: 1, auto: false, card: null } };

/** Returns a client without games whose socket has received hello and a table. */
function benchAtTable(form = "bahay.v1.brief"): { bench: Bench; socket: number } {
  const bench = new Bench({ games: [], loadsGames: true });
  bench.input({ type: "start" });
  bench.signIn();
  const [socket = 0] = bench.opening;
  bench.opening = [];
  bench.input({ type: "opened", socket, protocol: form });
  bench.receive(socket, { type: "hello", player: PLAYER, protocol: form, server_time_ms: bench.now });
  bench.snapshot(socket, 3, view(PLAYING), PROMPT);
  return { bench, socket };
}

const load = (bench: Bench, model: GameModel | null): void =>
  bench.input({ type: "game_loaded", kind: "tongits", model });

test("messages received while a game is loaded are processed afterwards, in order", () => {
  const { bench, socket } = benchAtTable();
  assert.deepEqual(bench.loads, ["tongits"]);
  bench.receive(socket, { type: "ack", id: 1, version: 3 });
  bench.update(socket, 4, [DRAWN]);
  assert.equal(bench.core.state.table?.version, 3);
  assert.equal(bench.core.state.table?.current, false);
  load(bench, TONGITS);
  assert.equal(bench.core.state.table?.version, 4);
  assert.equal(bench.core.state.table?.current, true);
  assert.equal(bench.link, "live");
  bench.update(socket, 5, [{ type: "presence", seat: 1, connected: false }]);
  assert.equal(bench.core.state.table?.version, 5);
  assert.deepEqual([bench.loads, bench.closed], [["tongits"], []]);
});

test("loading may take longer than a connection attempt", () => {
  const { bench, socket } = benchAtTable();
  bench.receive(socket, { type: "ack", id: 1, version: 3 });
  bench.advance(60_000);
  assert.deepEqual(bench.closed, []);
  load(bench, TONGITS);
  assert.equal(bench.link, "live");
});

test("a game loaded after its connection is lost serves the next connection", () => {
  const { bench, socket } = benchAtTable();
  bench.close(socket, 1006);
  load(bench, TONGITS);
  bench.advance(1_000);
  const next = bench.openWithHello();
  bench.snapshot(next, 3, view(PLAYING), PROMPT);
  bench.receive(next, { type: "ack", id: 1, version: 3 });
  assert.equal(bench.link, "live");
  assert.deepEqual(bench.loads, ["tongits"]);
});

test("a game that cannot be loaded is read in the full form", () => {
  const { bench } = benchAtTable();
  load(bench, null);
  assert.deepEqual(bench.protocols, ["bahay.v1", "bahay.token.access 1"]);
  const socket = bench.openWithHello();
  bench.snapshot(socket, 3, view(PLAYING), PROMPT);
  bench.receive(socket, { type: "ack", id: 1, version: 3 });
  assert.equal(bench.link, "live");
  assert.deepEqual(bench.loads, ["tongits"]);
});

test("the game of a stored table is loaded at the start, and messages wait for it", () => {
  const before = Bench.joined(view(PLAYING));
  const stored = Object.fromEntries(before.stored);
  const bench = new Bench({ games: [], loadsGames: true, stored });
  bench.input({ type: "start" });
  assert.deepEqual(bench.loads, ["tongits"]);
  const [socket = 0] = bench.opening;
  bench.opening = [];
  bench.input({ type: "opened", socket, protocol: "bahay.v1.brief" });
  bench.receive(socket, { type: "hello", player: PLAYER, protocol: "x", server_time_ms: bench.now });
  bench.update(socket, 7, [DRAWN]);
  bench.receive(socket, { type: "ack", id: 1, version: 7 });
  assert.equal(bench.core.state.table?.version, 6);
  load(bench, TONGITS);
  assert.equal(bench.core.state.table?.version, 7);
  assert.equal(bench.core.state.table?.current, true);
});

test("a full message buffer restarts the connection", () => {
  const { bench, socket } = benchAtTable();
  for (let version = 4; version < 2_100; version += 1) {
    bench.update(socket, version, [{ type: "presence", seat: 1, connected: version % 2 === 0 }]);
  }
  assert.deepEqual(bench.closed, [socket]);
  assert.equal(bench.link, "pausing");
});

test("requests without authentication are sent before there is a token", () => {
  const bench = new Bench();
  const call = { method: "GET", headers: {}, body: null };
  bench.input({ type: "call", call: 1, ...call, path: "/v1/rooms", isOpen: true });
  bench.input({ type: "call", call: 2, ...call, path: "/v1/me" });
  assert.deepEqual(bench.requests.map(({ path }) => path), ["GET /v1/rooms", "POST /v1/sign-in/guest"]);
  assert.equal(bench.requests[0]?.headers["authorization"], undefined);
});
