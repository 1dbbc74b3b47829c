// Tests of the core's single transitions. The tapes cover whole games, and the suspensions cover bad
// networks.

import assert from "node:assert/strict";
import { test } from "node:test";

import { commitmentTo } from "../src/index.js";
import {
  Bench, GAME, type Json, PLAYER, PLAYING, PREPARING, PROMPT, TABLE, refusal, view,
} from "./bench.js";

const hello = (bench: Bench): Json => ({
  type: "hello", player: PLAYER, protocol: "bahay.v1", server_time_ms: bench.now,
});
const dump = (card: string): Json => ({ type: "dump", card });
const away = (seat: number): Json => ({ type: "presence", seat, connected: false });

test("a new guest signs in while the socket opens, and sends all commands together", () => {
  const bench = new Bench({ name: "Maria" });
  bench.input({ type: "start" });
  assert.equal(bench.link, "signing_in");
  assert.deepEqual(bench.protocols, ["bahay.v1.compact", "bahay.v1.brief", "bahay.v1"]);
  const socket = bench.open();
  assert.deepEqual(bench.takeCommands(), [], "there is no token yet");
  const { path, body } = bench.signIn();
  assert.equal(path, "POST /v1/sign-in/guest");
  assert.equal(body["name"], "Maria");
  assert.ok(String(body["device_id"]).length >= 16);
  assert.equal(bench.stored.get("device"), body["device_id"]);
  assert.deepEqual(bench.takeCommands(), [
    { type: "authenticate", token: "access 1", id: 0 },
    { type: "join", id: 1 },
  ]);
  bench.receive(socket, refusal(1, "not_seated"));
  assert.equal(bench.link, "live");
  assert.equal(bench.core.state.table, null);
  assert.deepEqual(bench.core.state.player, { id: PLAYER, name: "Maria" });
});

test("the name is omitted after it was refused as taken", () => {
  const bench = new Bench({ name: "Maria" });
  bench.input({ type: "start" });
  bench.answer(409, { code: "name_taken", detail: "" });
  assert.equal(bench.requests[0]?.body["name"], undefined);
  bench.signIn();
  assert.equal(bench.link, "connecting");
});

test("a banned player is signed out without a retry", () => {
  const bench = new Bench();
  bench.input({ type: "start" });
  bench.answer(403, { code: "banned", detail: "until tomorrow" });
  assert.deepEqual(bench.core.state.link, {
    type: "signed_out", code: "banned", detail: "until tomorrow",
  });
  assert.equal(bench.timeToOpen(600_000), null);
});

test("a reloaded page shows its table at once and resumes", () => {
  const before = Bench.joined(view(PREPARING));
  const bench = new Bench({ stored: Object.fromEntries(before.stored) });
  assert.equal(bench.core.state.table?.view.table, TABLE);
  assert.equal(bench.core.state.table?.current, false);
  bench.input({ type: "start" });
  assert.deepEqual(bench.requests, [], "the token is still good");
  bench.open();
  assert.deepEqual(bench.takeCommands()[1], {
    type: "join", from: 6, tag: "000000000006", table: TABLE, id: 1,
  });
  const other = JSON.parse(before.stored.get("session") ?? "{}") as { player: { id: string } };
  other.player.id = "somebody else";
  const stored = { ...Object.fromEntries(before.stored), session: JSON.stringify(other) };
  assert.equal(new Bench({ stored }).core.state.table, null);
});

test("the client reconnects after each close code that allows it", () => {
  for (const code of [1000, 1001, 1005, 1006, 1011, 4008, 4999]) {
    const bench = Bench.joined(view(PREPARING));
    bench.close(1, code);
    assert.equal(bench.core.state.table?.current, false);
    const ms = bench.timeToOpen(10_000);
    assert.ok(ms !== null && ms <= 100, `${code}: ${String(ms)}`);
  }
});

test("the client waits some seconds after it was closed as too fast", () => {
  const bench = Bench.joined(view(PREPARING));
  bench.close(1, 4029);
  const ms = bench.timeToOpen(60_000) ?? 0;
  assert.ok(ms >= 3_000 && ms <= 6_000, String(ms));
});

test("a replaced client stays closed until it is started again", () => {
  const bench = Bench.joined(view(PREPARING));
  bench.close(1, 4001);
  assert.equal(bench.link, "replaced");
  bench.input({ type: "wake" });
  assert.equal(bench.timeToOpen(600_000), null);
  bench.input({ type: "start" });
  bench.openWithHello();
  assert.equal(bench.link, "joining");
});

test("a client with a token sends all commands in the request, and a ping on the socket it uses", () => {
  const bench = Bench.joined(view(PREPARING));
  bench.close(1, 1006);
  bench.timeToOpen(1_000);
  const [socket = 0] = bench.opening;
  assert.equal(bench.url, `ws://bench/v1/play?type=join&from=6&tag=000000000006&table=${TABLE}`);
  assert.deepEqual(bench.protocols.slice(3), ["bahay.token.access 1"]);
  assert.ok(!bench.url.includes("access"), "nothing secret is in an address");
  bench.sent = [];
  bench.input({ type: "opened", socket, protocol: "bahay.v1" });
  assert.deepEqual(bench.sent, []);
  bench.receive(socket, hello(bench));
  assert.deepEqual(bench.sent, [{ socket, command: { type: "ping", id: 1_000_000 } }]);
  bench.receive(socket, { type: "ack", id: 0 });
  bench.receive(socket, { type: "ack", id: 1, version: 6 });
  assert.equal(bench.link, "live");
  bench.sendWish({ type: "leave" });
  assert.deepEqual(bench.takeCommands(), [{ type: "leave", id: 2 }]);
});

test("a ping with a retryable refusal is repeated", () => {
  const bench = Bench.joined(view(PREPARING));
  bench.answersPings = false;
  bench.close(1, 1006);
  bench.timeToOpen(1_000);
  const socket = bench.openWithHello();
  bench.sent = [];
  bench.receive(socket, refusal(1_000_000, "unavailable", true));
  bench.advance(600);
  assert.deepEqual(bench.sent, [{ socket, command: { type: "ping", id: 1_000_000 } }]);
  bench.receive(socket, refusal(1_000_000, "not_seated"));
  bench.advance(600);
  assert.equal(bench.sent.length, 1);
});

test("of racing sockets the one that receives the table first is used", () => {
  const bench = Bench.joined(view(PREPARING));
  bench.answersPings = false;
  bench.advance(5_000);
  bench.close(1, 1006);
  bench.input({ type: "wake" });
  const [one = 0, two = 0] = bench.opening;
  for (const socket of [one, two]) bench.input({ type: "opened", socket, protocol: "bahay.v1" });
  bench.receive(one, hello(bench));
  bench.update(one, 7, [away(1)]);
  assert.equal(bench.core.state.table?.version, 7);
  bench.receive(two, hello(bench));
  bench.receive(two, { type: "ack", id: 0 });
  bench.notifications = [];
  bench.update(two, 7, [away(1)]);
  assert.ok(bench.closed.includes(one));
  assert.ok(!bench.notifications.some(({ type }) => type === "table"), "it is known already");
  bench.update(two, 8, [away(2)], { ack: 1 });
  assert.equal(bench.link, "live");
  assert.equal(bench.core.state.table?.version, 8);
  assert.deepEqual(bench.closed.filter((socket) => socket === two), []);
});

test("a version with another tag is not a repetition", () => {
  const bench = Bench.joined(view(PREPARING));
  bench.update(1, 7, [away(1)]);
  bench.close(1, 1006);
  bench.timeToOpen(1_000);
  const socket = bench.openWithHello();
  bench.sent = [];
  const events = [away(2)];
  const other = { type: "update", version: 7, tag: "f".repeat(12), server_time_ms: bench.now, events };
  bench.receive(socket, other);
  bench.receive(socket, { type: "ack", id: 1, version: 7 });
  bench.advance(300);
  assert.deepEqual(bench.takeCommands(), [{ type: "join", id: 2 }]);
});

test("a late join of the client itself does not count as a replacement", () => {
  const bench = Bench.joined(view(PREPARING));
  bench.answersPings = false;
  bench.close(1, 1006);
  bench.timeToOpen(1_000);
  bench.open();
  // The answer does not come, so another socket replaces this one.
  bench.timeToOpen(10_000);
  const socket = bench.openWithHello();
  bench.receive(socket, { type: "ack", id: 1, version: 6 });
  assert.equal(bench.link, "live");
  // The server receives the first join after the second.
  bench.close(socket, 4001);
  assert.equal(bench.link, "pausing");
  bench.timeToOpen(1_000);
  const last = bench.openWithHello();
  bench.receive(last, { type: "ack", id: 1, version: 6 });
  bench.close(last, 4001);
  assert.equal(bench.link, "replaced", "only once");
});

test("the client stops after the end of its session, and a guest signs in again by its device", () => {
  const bench = Bench.joined(view(PREPARING));
  bench.close(1, 4003);
  assert.equal(bench.link, "signed_out");
  assert.equal(bench.timeToOpen(600_000), null);
  bench.input({ type: "start" });
  assert.equal(bench.signIn().path, "POST /v1/sign-in/guest");
});

test("repeated protocol errors end the connection for good", () => {
  const bench = Bench.joined(view(PREPARING));
  for (let times = 0; times < 3; times += 1) {
    bench.timeToOpen(10_000);
    bench.close(times === 0 ? 1 : bench.open(), times === 1 ? 1009 : 1002);
  }
  assert.equal(bench.link, "broken");
  assert.equal(bench.timeToOpen(600_000), null);
});

test("the back-off grows with jitter up to a limit", () => {
  const bench = Bench.joined(view(PREPARING));
  bench.close(1, 1006);
  const pauses: number[] = [];
  for (let attempt = 0; attempt < 12; attempt += 1) {
    pauses.push(bench.timeToOpen(20_000) ?? Number.NaN);
    for (const socket of [...bench.opening]) bench.close(socket, 1006);
  }
  const [, ...later] = pauses;
  later.forEach((ms, place) => {
    const longest = Math.min(400 * 2 ** place, 8_000);
    assert.ok(ms >= longest / 2 && ms <= longest, `${ms} is not up to ${longest}`);
  });
  assert.ok(new Set(later.slice(-5)).size > 1, "chance has a part in it");
});

test("waking ends the back-off, and pings a connection that looks alive", () => {
  const bench = Bench.joined(view(PREPARING));
  bench.close(1, 1006);
  for (let attempt = 0; attempt < 8; attempt += 1) {
    bench.timeToOpen(20_000);
    for (const socket of [...bench.opening]) bench.close(socket, 1006);
  }
  assert.equal(bench.link, "pausing");
  bench.opening = [];
  bench.input({ type: "wake" });
  assert.equal(bench.opening.length, 3);

  const live = Bench.joined(view(PREPARING));
  live.answersPings = false;
  live.advance(5_000);
  live.clearRecords();
  live.input({ type: "wake" });
  assert.deepEqual(live.sent, [{ socket: 1, command: { type: "ping", id: 1_000_000 } }]);
  const [spare = 0] = live.opening;
  live.receive(1, { type: "ack", id: 1_000_000 });
  assert.ok(live.closed.includes(spare), "the connection has answered");
  live.input({ type: "opened", socket: spare, protocol: "bahay.v1" });
  assert.equal(live.link, "live");
});

test("sockets that wait for a lost network are abandoned when another network is available", () => {
  const bench = Bench.joined(view(PREPARING));
  bench.answersPings = false;
  bench.advance(5_000);
  bench.input({ type: "wake" });
  const old = [...bench.opening];
  assert.equal(old.length, 3);
  bench.advance(1_500);
  bench.input({ type: "wake" });
  assert.ok(old.every((socket) => bench.closed.includes(socket)));
  assert.equal(bench.opening.length, 3);
});

test("a gap in the updates is not applied, and a snapshot is requested", () => {
  const bench = Bench.joined(view(PREPARING));
  bench.update(1, 8, [{ type: "waiting" }]);
  assert.equal(bench.core.state.table?.view.phase.type, "preparing");
  assert.deepEqual(bench.takeCommands(), [{ type: "join", id: 2 }]);
  bench.update(1, 9, [{ type: "waiting" }]);
  assert.equal(bench.core.state.table?.version, 6);
  bench.snapshot(1, 9, view({ type: "waiting" }));
  bench.receive(1, { type: "ack", id: 2, version: 9 });
  assert.equal(bench.core.state.table?.version, 9);
  assert.equal(bench.link, "live");
});

test("a snapshot may have an earlier version, and replaces the table", () => {
  const bench = Bench.joined(view(PLAYING));
  bench.snapshot(1, 3, view(PREPARING));
  assert.equal(bench.core.state.table?.version, 3);
  bench.update(1, 4, [{ type: "ready", seat: 0 }]);
  assert.equal(bench.core.state.table?.version, 4);
});

test("a text is committed to once, kept over a reload, and revealed on request", () => {
  const bench = Bench.joined(view(PREPARING));
  bench.sendWish({ type: "ready" });
  const [ready] = bench.takeCommands();
  const { text } = JSON.parse(bench.stored.get("seed") ?? "{}") as { text: string };
  assert.match(text, /^[0-9a-f]{32}$/);
  assert.deepEqual(ready, { type: "ready", game: GAME, commitment: commitmentTo(text), id: 2 });

  const again = new Bench({ stored: Object.fromEntries(bench.stored) });
  again.input({ type: "start" });
  const socket = again.openWithHello();
  const commitments = [commitmentTo(text), "0".repeat(64), "0".repeat(64)];
  const revealing = { type: "revealing", game: GAME, commitments, revealed: [], deadline_ms: 1 };
  again.snapshot(socket, 9, view(revealing));
  assert.ok(!again.takeCommands().some(({ type }) => type === "reveal"), "not before it has joined");
  again.receive(socket, { type: "ack", id: 1, version: 9 });
  assert.deepEqual(again.takeCommands(), [{ type: "reveal", game: GAME, text, id: 2 }]);
  again.update(socket, 10, [{ type: "revealed", seat: 0 }], { ack: 2 });
  assert.equal(again.core.state.table?.deal?.revealed, true);
});

test("a client without a part in the deal sends no commitment", () => {
  const bench = Bench.joined(view(PREPARING));
  bench.sendWish({ type: "ready", text: null });
  assert.deepEqual(bench.takeCommands(), [{ type: "ready", game: GAME, id: 2 }]);
});

test("the revealed seed is checked against the commitment shown before", () => {
  for (const [commitment, holds] of [
    ["630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd", true],
    ["c0".repeat(32), false],
  ] as const) {
    const bench = Bench.joined(view({ ...PREPARING, commitment }));
    const server_seed = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    const settlement = { winner: null, payments: [], fees: [], pot: null };
    bench.update(1, 7, [{ type: "over", game: GAME, settlement, server_seed }]);
    const told = bench.notifications.find((one) => one.type === "deal");
    assert.equal(told?.type === "deal" && told.check.holds, holds);
  }
});

test("an end without a seed says nothing about the deal", () => {
  const bench = Bench.joined(view(PREPARING));
  const settlement = { winner: null, payments: [], fees: [], pot: null };
  bench.update(1, 7, [{ type: "over", game: GAME, settlement, server_seed: null }]);
  assert.equal(bench.core.state.table?.view.phase.type, "settling");
  assert.ok(!bench.notifications.some((one) => one.type === "deal"), "other tables still play the deal");
});

test("a prompt is answered once", () => {
  const bench = Bench.joined(null);
  assert.deepEqual(bench.takeOutcomes(), []);
  const nowhere = bench.sendWish({ type: "act", action: dump("2C") as never });
  assert.deepEqual(bench.takeOutcomes(), [[nowhere, "dropped"]]);
  const table = Bench.joined(view(PLAYING));
  table.snapshot(1, 7, view(PLAYING), PROMPT);
  const first = table.sendWish({ type: "act", action: dump("2C") as never });
  const second = table.sendWish({ type: "act", action: dump("9C") as never });
  assert.deepEqual(table.takeOutcomes(), [[second, "dropped"]]);
  assert.equal(table.takeCommands().length, 1);
  table.receive(1, { type: "ack", id: 2, version: 8 });
  assert.deepEqual(table.takeOutcomes(), [[first, "done"]]);
  assert.deepEqual(table.core.state.open, []);
});

test("a retryable refusal is retried, and the effect of the first attempt is not a refusal", () => {
  const bench = Bench.joined(view(PLAYING));
  bench.snapshot(1, 7, view(PLAYING), PROMPT);
  const command = bench.sendWish({ type: "act", action: dump("2C") as never });
  bench.takeCommands();
  bench.receive(1, refusal(2, "unavailable", true));
  assert.deepEqual(bench.takeOutcomes(), []);
  bench.advance(700);
  assert.deepEqual(bench.takeCommands(), [
    { type: "act", game: GAME, prompt: 4, action: dump("2C"), id: 3 },
  ]);
  bench.receive(1, refusal(3, "stale_prompt"));
  assert.deepEqual(bench.takeOutcomes(), [[command, "overtaken"]]);

  const once = Bench.joined(view(PLAYING));
  once.snapshot(1, 7, view(PLAYING), PROMPT);
  const late = once.sendWish({ type: "act", action: dump("2C") as never });
  once.receive(1, refusal(2, "stale_prompt"));
  assert.deepEqual(once.takeOutcomes(), [[late, "refused"]], "it was said once, and came late");
});

test("a phrase is never sent later", () => {
  const bench = Bench.joined(view(PREPARING));
  const said = bench.sendWish({ type: "say", phrase: "hello" });
  bench.close(1, 1006);
  const unsaid = bench.sendWish({ type: "say", phrase: "hurry" });
  assert.deepEqual(bench.takeOutcomes(), [[unsaid, "dropped"]]);
  bench.timeToOpen(1_000);
  const socket = bench.openWithHello();
  bench.takeCommands();
  bench.receive(socket, { type: "ack", id: 1, version: 6 });
  assert.deepEqual(bench.takeCommands(), []);
  assert.deepEqual(bench.takeOutcomes(), [[said, "overtaken"]]);
});

test("a hint is requested at practice tables only, and stays until the prompt is answered", () => {
  const paid = Bench.joined(view(PLAYING));
  paid.snapshot(1, 7, view(PLAYING), PROMPT);
  const refused = paid.sendWish({ type: "hint" });
  assert.deepEqual(paid.takeOutcomes(), [[refused, "dropped"]], "coins are played for");

  const played = view(PLAYING);
  const practice = { ...played, terms: { ...(played["terms"] as Json), practice: true } };
  const bench = Bench.joined(practice);
  const early = bench.sendWish({ type: "hint" });
  assert.deepEqual(bench.takeOutcomes(), [[early, "dropped"]], "nothing is asked");
  bench.snapshot(1, 7, practice, PROMPT);
  const asked = bench.sendWish({ type: "hint" });
  const twice = bench.sendWish({ type: "hint" });
  assert.deepEqual(bench.takeCommands(), [{ type: "hint", id: 2 }]);
  assert.deepEqual(bench.takeOutcomes(), [[twice, "dropped"]], "one at a time");
  const hint = { game: GAME, prompt: 4, action: dump("2C"), by: "greedy" };
  bench.receive(1, { type: "advice", ...hint, prompt: 3 });
  assert.equal(bench.core.state.hint, null, "that prompt has passed");
  bench.receive(1, { type: "advice", ...hint });
  bench.receive(1, { type: "ack", id: 2 });
  assert.deepEqual(bench.core.state.hint, hint);
  assert.deepEqual(bench.takeOutcomes(), [[asked, "done"]]);
  bench.snapshot(1, 8, practice, { ...PROMPT, number: 5 });
  assert.equal(bench.core.state.hint, null, "another question");
});

test("a hint lost with the connection is requested again while its prompt is open", () => {
  const played = view(PLAYING);
  const practice = { ...played, terms: { ...(played["terms"] as Json), practice: true } };
  const bench = Bench.joined(practice);
  bench.snapshot(1, 7, practice, PROMPT);
  const asked = bench.sendWish({ type: "hint" });
  bench.close(1, 1006);
  bench.timeToOpen(1_000);
  const socket = bench.openWithHello();
  bench.takeCommands();
  bench.snapshot(socket, 8, practice, null);
  bench.receive(socket, { type: "ack", id: 1, version: 8 });
  assert.deepEqual(bench.takeCommands(), []);
  assert.deepEqual(bench.takeOutcomes(), [[asked, "overtaken"]]);
});

test("a search survives the connection and ends at a table", () => {
  const bench = Bench.joined(null);
  const seek = bench.sendWish({ type: "seek", rooms: ["newbie"] });
  assert.equal(bench.core.state.seek?.state, "asking");
  assert.deepEqual(bench.takeCommands(), [{ type: "seek", rooms: ["newbie"], id: 2 }]);
  const ticket = { type: "ticket", ticket: "t", rooms: ["newbie"], expires_at_ms: 5 };
  bench.receive(1, { ...ticket, state: "waiting" });
  bench.receive(1, { type: "ack", id: 2 });
  assert.deepEqual(bench.takeOutcomes(), [[seek, "done"]]);
  bench.close(1, 1001);
  bench.timeToOpen(1_000);
  const socket = bench.openWithHello();
  bench.takeCommands();
  bench.receive(socket, refusal(1, "not_seated"));
  assert.deepEqual(bench.takeCommands(), [{ type: "seek", rooms: ["newbie"], id: 2 }]);
  bench.receive(socket, { ...ticket, state: "seated", table: TABLE });
  assert.deepEqual(bench.takeCommands(), [{ type: "join", id: 3 }]);
  bench.snapshot(socket, 1, view({ type: "waiting" }));
  bench.receive(socket, { type: "ack", id: 3, version: 1 });
  assert.equal(bench.core.state.seek?.state, "seated");
  assert.equal(bench.core.state.table?.current, true);
});

test("a search in rooms that a request cannot name is not repeated", () => {
  for (const rooms of [[], Array.from({ length: 9 }, (_, number) => `room ${number}`)]) {
    const bench = Bench.joined(null);
    bench.receive(1, { type: "ticket", ticket: "t", rooms, state: "waiting", expires_at_ms: 5 });
    bench.close(1, 1001);
    bench.timeToOpen(1_000);
    const socket = bench.openWithHello();
    bench.takeCommands();
    bench.receive(socket, refusal(1, "not_seated"));
    assert.deepEqual(bench.takeCommands(), []);
  }
});

test("the messages that sockets receive before the table are buffered up to a bound", () => {
  const bench = Bench.joined(view(PREPARING));
  bench.close(1, 1006);
  bench.timeToOpen(1_000);
  const first = bench.open();
  bench.receive(first, hello(bench));
  bench.opening = [];
  bench.advance(1_500);
  bench.input({ type: "wake" });
  const [second] = bench.opening;
  assert.ok(second !== undefined, "other sockets are opened beside it");
  for (let message = 0; message < 5_000; message += 1) bench.receive(first, { type: "news" });
  // A socket that has received more would be used from now on.
  for (let message = 0; message < 6_000; message += 1) bench.receive(second, { type: "news" });
  bench.snapshot(first, 7, view(PREPARING));
  bench.receive(first, { type: "ack", id: 1, version: 7 });
  assert.equal(bench.link, "live");
});

test("a lost seat is reported, and the table is removed", () => {
  const bench = Bench.joined(view(PREPARING));
  bench.update(1, 7, [{ type: "left", seat: 0, player: PLAYER, reason: "not_ready" }]);
  assert.ok(bench.notifications.some((one) => one.type === "unseated" && one.reason === "not_ready"));
  assert.equal(bench.core.state.table, null);
  assert.equal(bench.stored.has("table"), false);
  bench.input({ type: "join" });
  assert.deepEqual(bench.takeCommands(), [{ type: "join", id: 2 }]);

  const gone = Bench.joined(view(PREPARING));
  gone.receive(1, { type: "closed", table: TABLE, reason: "voided" });
  assert.ok(gone.notifications.some((one) => one.type === "unseated" && one.reason === "voided"));
});

test("watching a table resumes after a broken connection", () => {
  const bench = Bench.joined(null);
  bench.sendWish({ type: "watch", table: TABLE });
  assert.deepEqual(bench.takeCommands(), [{ type: "watch", table: TABLE, id: 2 }]);
  bench.receive(1, { type: "ack", id: 2 });
  bench.snapshot(1, 3, view({ type: "waiting" }, { seat: null }));
  bench.update(1, 4, [away(1)]);
  assert.equal(bench.core.state.watched?.view.seats[1]?.connected, false);
  assert.equal(bench.core.state.table, null);
  bench.close(1, 1006);
  bench.timeToOpen(1_000);
  const socket = bench.openWithHello();
  bench.takeCommands();
  bench.receive(socket, refusal(1, "not_seated"));
  assert.deepEqual(bench.takeCommands(), [{ type: "watch", table: TABLE, id: 2 }]);
});

test("a game without a model is joined in the full form", () => {
  const bench = new Bench();
  bench.input({ type: "start" });
  bench.signIn();
  const [first = 0] = bench.opening;
  bench.opening = [];
  bench.input({ type: "opened", socket: first, protocol: "bahay.v1.brief" });
  bench.receive(first, { type: "hello", player: PLAYER, protocol: "x", server_time_ms: bench.now });
  bench.snapshot(first, 3, view(PLAYING, { kind: "another" }), PROMPT);
  assert.deepEqual(bench.protocols, ["bahay.v1", "bahay.token.access 1"]);
  const socket = bench.openWithHello();
  bench.snapshot(socket, 3, view(PLAYING, { kind: "another" }), PROMPT);
  bench.receive(socket, { type: "ack", id: 1, version: 3 });
  bench.takeCommands();
  const other = { ...PROMPT, number: 5 };
  bench.update(socket, 4, [{ type: "game", event: { type: "invented" } }], { prompt: other });
  assert.equal(bench.core.state.table?.prompt?.number, 5);
  assert.deepEqual(bench.takeCommands(), [{ type: "join", id: 2 }]);
});

test("messages of later versions are ignored", () => {
  const bench = Bench.joined(view(PREPARING));
  bench.receive(1, { type: "invented", id: 7 });
  bench.update(1, 7, [{ type: "invented" }, { type: "ready", seat: 0 }]);
  const phase = bench.core.state.table?.view.phase;
  assert.deepEqual(phase?.type === "preparing" && phase.ready, [0]);
  assert.equal(bench.link, "live");
});

test("a halted table is joined again after a delay", () => {
  const bench = new Bench();
  bench.input({ type: "start" });
  bench.signIn();
  const socket = bench.openWithHello();
  bench.receive(socket, refusal(1, "table_halted"));
  assert.ok(bench.notifications.some((one) => one.type === "unseated" && one.reason === "halted"));
  bench.takeCommands();
  bench.advance(10_000);
  assert.deepEqual(bench.takeCommands(), [{ type: "join", id: 2 }]);
});

test("an invitation to a rematch is reported at a table and without one, unless it is incomplete", () => {
  const bench = Bench.joined(view(PREPARING));
  const invited = { type: "invited", code: "K7MWQ2XA", from: PLAYER, name: "Benjie", game: GAME };
  const { name: _, ...half } = invited;
  bench.notifications = [];
  for (const message of [invited, half]) bench.receive(1, message as unknown as Json);
  assert.deepEqual(bench.notifications, [invited]);
});

test("a standing in a tournament is reported unless it is incomplete", () => {
  const bench = Bench.joined(view(PREPARING));
  const standing = { type: "standing", tournament: GAME, rank: 4, score: 12, tie_break: -300, entrants: 87 };
  const { rank: _, ...half } = standing;
  bench.notifications = [];
  for (const message of [standing, half]) bench.receive(1, message as unknown as Json);
  assert.deepEqual(bench.notifications, [standing]);
});
