// Games whose model is not there yet: a page loads each from a file of its own, while messages come.

import assert from "node:assert/strict";
import { test } from "node:test";

import { GAMES, type GameModel } from "../src/index.js";
import { Bench, type Json, PLAYER, PLAYING, PROMPT, view } from "./bench.js";

const TONGITS = GAMES.find(({ kind }) => kind === "tongits") ?? assert.fail("there is no Tong-its");
const DRAWN: Json = { type: "game", event: { type: "drawn", seat: 1, auto: false, card: null } };

/** A client without games, at whose socket hello and a table have been heard. */
function joining(form = "bahay.v1.brief"): { bench: Bench; socket: number } {
  const bench = new Bench({ games: [], loadsGames: true });
  bench.input({ type: "start" });
  bench.signIn();
  const [socket = 0] = bench.opening;
  bench.opening = [];
  bench.input({ type: "opened", socket, protocol: form });
  bench.hear(socket, { type: "hello", player: PLAYER, protocol: form, server_time_ms: bench.now });
  bench.snapshot(socket, 3, view(PLAYING), PROMPT);
  return { bench, socket };
}

const load = (bench: Bench, model: GameModel | null): void =>
  bench.input({ type: "game_loaded", kind: "tongits", model });

test("what is heard while a game is loaded is taken in when it is there, in order", () => {
  const { bench, socket } = joining();
  assert.deepEqual(bench.loads, ["tongits"]);
  bench.hear(socket, { type: "ack", id: 1, version: 3 });
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

test("loading may take longer than an attempt to connect may", () => {
  const { bench, socket } = joining();
  bench.hear(socket, { type: "ack", id: 1, version: 3 });
  bench.after(60_000);
  assert.deepEqual(bench.closed, []);
  load(bench, TONGITS);
  assert.equal(bench.link, "live");
});

test("a game that comes after its connection has gone is there for the next one", () => {
  const { bench, socket } = joining();
  bench.close(socket, 1006);
  load(bench, TONGITS);
  bench.after(1_000);
  const next = bench.enter();
  bench.snapshot(next, 3, view(PLAYING), PROMPT);
  bench.hear(next, { type: "ack", id: 1, version: 3 });
  assert.equal(bench.link, "live");
  assert.deepEqual(bench.loads, ["tongits"]);
});

test("a game that cannot be loaded is read in the full form", () => {
  const { bench } = joining();
  load(bench, null);
  assert.deepEqual(bench.protocols, ["bahay.v1", "bahay.token.access 1"]);
  const socket = bench.enter();
  bench.snapshot(socket, 3, view(PLAYING), PROMPT);
  bench.hear(socket, { type: "ack", id: 1, version: 3 });
  assert.equal(bench.link, "live");
  assert.deepEqual(bench.loads, ["tongits"]);
});

test("the game of a table that was shown before is asked for at the start, and what follows waits", () => {
  const before = Bench.at(view(PLAYING));
  const stored = Object.fromEntries(before.stored);
  const bench = new Bench({ games: [], loadsGames: true, stored });
  bench.input({ type: "start" });
  assert.deepEqual(bench.loads, ["tongits"]);
  const [socket = 0] = bench.opening;
  bench.opening = [];
  bench.input({ type: "opened", socket, protocol: "bahay.v1.brief" });
  bench.hear(socket, { type: "hello", player: PLAYER, protocol: "x", server_time_ms: bench.now });
  bench.update(socket, 7, [DRAWN]);
  bench.hear(socket, { type: "ack", id: 1, version: 7 });
  assert.equal(bench.core.state.table?.version, 6);
  load(bench, TONGITS);
  assert.equal(bench.core.state.table?.version, 7);
  assert.equal(bench.core.state.table?.current, true);
});

test("more than a client holds back ends its connection, and the next one begins anew", () => {
  const { bench, socket } = joining();
  for (let version = 4; version < 2_100; version += 1) {
    bench.update(socket, version, [{ type: "presence", seat: 1, connected: version % 2 === 0 }]);
  }
  assert.deepEqual(bench.closed, [socket]);
  assert.equal(bench.link, "pausing");
});

test("what anybody may ask is asked before there is a token", () => {
  const bench = new Bench();
  const call = { method: "GET", headers: {}, body: null };
  bench.input({ type: "call", call: 1, ...call, path: "/v1/rooms", isOpen: true });
  bench.input({ type: "call", call: 2, ...call, path: "/v1/me" });
  assert.deepEqual(bench.asked.map(({ path }) => path), ["GET /v1/rooms", "POST /v1/sign-in/guest"]);
  assert.equal(bench.asked[0]?.headers["authorization"], undefined);
});
