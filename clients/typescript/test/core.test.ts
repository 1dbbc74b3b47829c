// What the core does at each turn of things, one by one. What many games bring is in the tapes; what
// bad networks bring, in the suspensions.

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

test("a new guest signs in while the socket opens, and says all at once", () => {
  const bench = new Bench({ name: "Maria" });
  bench.input({ type: "start" });
  assert.equal(bench.link, "signing_in");
  assert.deepEqual(bench.protocols, ["bahay.v1.compact", "bahay.v1.brief", "bahay.v1"]);
  const socket = bench.open();
  assert.deepEqual(bench.commands(), [], "there is no token yet");
  const { path, body } = bench.signIn();
  assert.equal(path, "POST /v1/sign-in/guest");
  assert.equal(body["name"], "Maria");
  assert.ok(String(body["device_id"]).length >= 16);
  assert.equal(bench.stored.get("device"), body["device_id"]);
  assert.deepEqual(bench.commands(), [
    { type: "authenticate", token: "access 1", id: 0 },
    { type: "join", id: 1 },
  ]);
  bench.hear(socket, refusal(1, "not_seated"));
  assert.equal(bench.link, "live");
  assert.equal(bench.core.state.table, null);
  assert.deepEqual(bench.core.state.player, { id: PLAYER, name: "Maria" });
});

test("a name that is taken is left out", () => {
  const bench = new Bench({ name: "Maria" });
  bench.input({ type: "start" });
  bench.answer(409, { code: "name_taken", detail: "" });
  assert.equal(bench.asked[0]?.body["name"], undefined);
  bench.signIn();
  assert.equal(bench.link, "connecting");
});

test("who is banned is told, and not asked again", () => {
  const bench = new Bench();
  bench.input({ type: "start" });
  bench.answer(403, { code: "banned", detail: "until tomorrow" });
  assert.deepEqual(bench.core.state.link, {
    type: "signed_out", code: "banned", detail: "until tomorrow",
  });
  assert.equal(bench.opensWithin(600_000), null);
});

test("a page that was loaded again shows its table at once and goes on where it was", () => {
  const before = Bench.at(view(PREPARING));
  const bench = new Bench({ stored: Object.fromEntries(before.stored) });
  assert.equal(bench.core.state.table?.view.table, TABLE);
  assert.equal(bench.core.state.table?.current, false);
  bench.input({ type: "start" });
  assert.deepEqual(bench.asked, [], "the token is still good");
  bench.open();
  assert.deepEqual(bench.commands()[1], {
    type: "join", from: 6, tag: "000000000006", table: TABLE, id: 1,
  });
  const other = JSON.parse(before.stored.get("session") ?? "{}") as { player: { id: string } };
  other.player.id = "somebody else";
  const stored = { ...Object.fromEntries(before.stored), session: JSON.stringify(other) };
  assert.equal(new Bench({ stored }).core.state.table, null);
});

test("after each close code that allows it the client comes back", () => {
  for (const code of [1000, 1001, 1005, 1006, 1011, 4008, 4999]) {
    const bench = Bench.at(view(PREPARING));
    bench.close(1, code);
    assert.equal(bench.core.state.table?.current, false);
    const ms = bench.opensWithin(10_000);
    assert.ok(ms !== null && ms <= 100, `${code}: ${String(ms)}`);
  }
});

test("after haste the client waits for some seconds", () => {
  const bench = Bench.at(view(PREPARING));
  bench.close(1, 4029);
  const ms = bench.opensWithin(60_000) ?? 0;
  assert.ok(ms >= 3_000 && ms <= 6_000, String(ms));
});

test("who was replaced rests until told to take over", () => {
  const bench = Bench.at(view(PREPARING));
  bench.close(1, 4001);
  assert.equal(bench.link, "replaced");
  bench.input({ type: "wake" });
  assert.equal(bench.opensWithin(600_000), null);
  bench.input({ type: "start" });
  bench.enter();
  assert.equal(bench.link, "joining");
});

test("who has a token says all in the request, and then that it is used", () => {
  const bench = Bench.at(view(PREPARING));
  bench.close(1, 1006);
  bench.opensWithin(1_000);
  const [socket = 0] = bench.opening;
  assert.equal(bench.url, `ws://bench/v1/play?type=join&from=6&tag=000000000006&table=${TABLE}`);
  assert.deepEqual(bench.protocols.slice(3), ["bahay.token.access 1"]);
  assert.ok(!bench.url.includes("access"), "nothing secret is in an address");
  bench.said = [];
  bench.input({ type: "opened", socket, protocol: "bahay.v1" });
  assert.deepEqual(bench.said, []);
  bench.hear(socket, hello(bench));
  assert.deepEqual(bench.said, [{ socket, command: { type: "ping", id: 1_000_000 } }]);
  bench.hear(socket, { type: "ack", id: 0 });
  bench.hear(socket, { type: "ack", id: 1, version: 6 });
  assert.equal(bench.link, "live");
  bench.wish({ type: "leave" });
  assert.deepEqual(bench.commands(), [{ type: "leave", id: 2 }]);
});

test("what the table could not be told for now is said again", () => {
  const bench = Bench.at(view(PREPARING));
  bench.answersPings = false;
  bench.close(1, 1006);
  bench.opensWithin(1_000);
  const socket = bench.enter();
  bench.said = [];
  bench.hear(socket, refusal(1_000_000, "unavailable", true));
  bench.after(600);
  assert.deepEqual(bench.said, [{ socket, command: { type: "ping", id: 1_000_000 } }]);
  bench.hear(socket, refusal(1_000_000, "not_seated"));
  bench.after(600);
  assert.equal(bench.said.length, 1);
});

test("of sockets that race the one is used on which the table came first", () => {
  const bench = Bench.at(view(PREPARING));
  bench.answersPings = false;
  bench.after(5_000);
  bench.close(1, 1006);
  bench.input({ type: "wake" });
  const [one = 0, two = 0] = bench.opening;
  for (const socket of [one, two]) bench.input({ type: "opened", socket, protocol: "bahay.v1" });
  bench.hear(one, hello(bench));
  bench.update(one, 7, [{ type: "ready", seat: 1 }]);
  assert.equal(bench.core.state.table?.version, 7);
  bench.hear(two, hello(bench));
  bench.hear(two, { type: "ack", id: 0 });
  bench.notifications = [];
  bench.update(two, 7, [{ type: "ready", seat: 1 }]);
  assert.ok(bench.closed.includes(one));
  assert.ok(!bench.notifications.some(({ type }) => type === "table"), "it is known already");
  bench.update(two, 8, [{ type: "ready", seat: 2 }]);
  bench.hear(two, { type: "ack", id: 1, version: 8 });
  assert.equal(bench.link, "live");
  assert.equal(bench.core.state.table?.version, 8);
  assert.deepEqual(bench.closed.filter((socket) => socket === two), []);
});

test("a version that has another tag than before is no repetition", () => {
  const bench = Bench.at(view(PREPARING));
  bench.update(1, 7, [{ type: "ready", seat: 1 }]);
  bench.close(1, 1006);
  bench.opensWithin(1_000);
  const socket = bench.enter();
  bench.said = [];
  const events = [{ type: "ready", seat: 2 }];
  const other = { type: "update", version: 7, tag: "f".repeat(12), server_time_ms: bench.now, events };
  bench.hear(socket, other);
  bench.hear(socket, { type: "ack", id: 1, version: 7 });
  bench.after(300);
  assert.deepEqual(bench.commands(), [{ type: "join", id: 2 }]);
});

test("a join of one's own that came late is no other player's", () => {
  const bench = Bench.at(view(PREPARING));
  bench.answersPings = false;
  bench.close(1, 1006);
  bench.opensWithin(1_000);
  bench.open();
  // The answer does not come, so another socket takes its place.
  bench.opensWithin(10_000);
  const socket = bench.enter();
  bench.hear(socket, { type: "ack", id: 1, version: 6 });
  assert.equal(bench.link, "live");
  // The server hears the first join after the second.
  bench.close(socket, 4001);
  assert.equal(bench.link, "pausing");
  bench.opensWithin(1_000);
  const last = bench.enter();
  bench.hear(last, { type: "ack", id: 1, version: 6 });
  bench.close(last, 4001);
  assert.equal(bench.link, "replaced", "only once");
});

test("when the session has ended the client rests, and a guest signs in anew by its device", () => {
  const bench = Bench.at(view(PREPARING));
  bench.close(1, 4003);
  assert.equal(bench.link, "signed_out");
  assert.equal(bench.opensWithin(600_000), null);
  bench.input({ type: "start" });
  assert.equal(bench.signIn().path, "POST /v1/sign-in/guest");
});

test("mistakes of the client's own do not go on for ever", () => {
  const bench = Bench.at(view(PREPARING));
  for (let times = 0; times < 3; times += 1) {
    bench.opensWithin(10_000);
    bench.close(times === 0 ? 1 : bench.open(), times === 1 ? 1009 : 1002);
  }
  assert.equal(bench.link, "broken");
  assert.equal(bench.opensWithin(600_000), null);
});

test("the pauses between attempts grow, by chance, and have a limit", () => {
  const bench = Bench.at(view(PREPARING));
  bench.close(1, 1006);
  const pauses: number[] = [];
  for (let attempt = 0; attempt < 12; attempt += 1) {
    pauses.push(bench.opensWithin(20_000) ?? Number.NaN);
    for (const socket of [...bench.opening]) bench.close(socket, 1006);
  }
  const [, ...later] = pauses;
  later.forEach((ms, place) => {
    const longest = Math.min(400 * 2 ** place, 8_000);
    assert.ok(ms >= longest / 2 && ms <= longest, `${ms} is not up to ${longest}`);
  });
  assert.ok(new Set(later.slice(-5)).size > 1, "chance has a part in it");
});

test("waking up ends a pause, and asks on a connection that looks alive", () => {
  const bench = Bench.at(view(PREPARING));
  bench.close(1, 1006);
  for (let attempt = 0; attempt < 8; attempt += 1) {
    bench.opensWithin(20_000);
    for (const socket of [...bench.opening]) bench.close(socket, 1006);
  }
  assert.equal(bench.link, "pausing");
  bench.opening = [];
  bench.input({ type: "wake" });
  assert.equal(bench.opening.length, 3);

  const live = Bench.at(view(PREPARING));
  live.answersPings = false;
  live.after(5_000);
  live.forget();
  live.input({ type: "wake" });
  assert.deepEqual(live.said, [{ socket: 1, command: { type: "ping", id: 1_000_000 } }]);
  const [spare = 0] = live.opening;
  live.hear(1, { type: "ack", id: 1_000_000 });
  assert.ok(live.closed.includes(spare), "the connection has answered");
  live.input({ type: "opened", socket: spare, protocol: "bahay.v1" });
  assert.equal(live.link, "live");
});

test("sockets that wait for a network that is gone are given up when another one is there", () => {
  const bench = Bench.at(view(PREPARING));
  bench.answersPings = false;
  bench.after(5_000);
  bench.input({ type: "wake" });
  const old = [...bench.opening];
  assert.equal(old.length, 3);
  bench.after(1_500);
  bench.input({ type: "wake" });
  assert.ok(old.every((socket) => bench.closed.includes(socket)));
  assert.equal(bench.opening.length, 3);
});

test("updates that do not follow are not taken; the whole table is asked for", () => {
  const bench = Bench.at(view(PREPARING));
  bench.update(1, 8, [{ type: "waiting" }]);
  assert.equal(bench.core.state.table?.view.phase.type, "preparing");
  assert.deepEqual(bench.commands(), [{ type: "join", id: 2 }]);
  bench.update(1, 9, [{ type: "waiting" }]);
  assert.equal(bench.core.state.table?.version, 6);
  bench.snapshot(1, 9, view({ type: "waiting" }));
  bench.hear(1, { type: "ack", id: 2, version: 9 });
  assert.equal(bench.core.state.table?.version, 9);
  assert.equal(bench.link, "live");
});

test("a snapshot may go back, and replaces what was known", () => {
  const bench = Bench.at(view(PLAYING));
  bench.snapshot(1, 3, view(PREPARING));
  assert.equal(bench.core.state.table?.version, 3);
  bench.update(1, 4, [{ type: "ready", seat: 2 }]);
  assert.equal(bench.core.state.table?.version, 4);
});

test("a text is committed to once, kept over a new page, and revealed when it is asked for", () => {
  const bench = Bench.at(view(PREPARING));
  bench.wish({ type: "ready" });
  const [ready] = bench.commands();
  const { text } = JSON.parse(bench.stored.get("seed") ?? "{}") as { text: string };
  assert.match(text, /^[0-9a-f]{32}$/);
  assert.deepEqual(ready, { type: "ready", game: GAME, commitment: commitmentTo(text), id: 2 });

  const again = new Bench({ stored: Object.fromEntries(bench.stored) });
  again.input({ type: "start" });
  const socket = again.enter();
  const commitments = [commitmentTo(text), "0".repeat(64), "0".repeat(64)];
  const revealing = { type: "revealing", game: GAME, commitments, revealed: [], deadline_ms: 1 };
  again.snapshot(socket, 9, view(revealing));
  assert.ok(!again.commands().some(({ type }) => type === "reveal"), "not before it has joined");
  again.hear(socket, { type: "ack", id: 1, version: 9 });
  assert.deepEqual(again.commands(), [{ type: "reveal", game: GAME, text, id: 2 }]);
  again.hear(socket, { type: "ack", id: 2, version: 10 });
  assert.equal(again.core.state.table?.deal?.revealed, true);
});

test("who takes no part commits to nothing", () => {
  const bench = Bench.at(view(PREPARING));
  bench.wish({ type: "ready", text: null });
  assert.deepEqual(bench.commands(), [{ type: "ready", game: GAME, id: 2 }]);
});

test("the seed that opens at the end is held against what was shown at the beginning", () => {
  for (const [commitment, holds] of [
    ["630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd", true],
    ["c0".repeat(32), false],
  ] as const) {
    const bench = Bench.at(view({ ...PREPARING, commitment }));
    const server_seed = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    const settlement = { winner: null, payments: [], fees: [], pot: null };
    bench.update(1, 7, [{ type: "over", game: GAME, settlement, server_seed }]);
    const told = bench.notifications.find((one) => one.type === "deal");
    assert.equal(told?.type === "deal" && told.check.holds, holds);
  }
});

test("one question is answered once", () => {
  const bench = Bench.at(null);
  assert.deepEqual(bench.ends(), []);
  const nowhere = bench.wish({ type: "act", action: dump("2C") as never });
  assert.deepEqual(bench.ends(), [[nowhere, "dropped"]]);
  const table = Bench.at(view(PLAYING));
  table.snapshot(1, 7, view(PLAYING), PROMPT);
  const first = table.wish({ type: "act", action: dump("2C") as never });
  const second = table.wish({ type: "act", action: dump("9C") as never });
  assert.deepEqual(table.ends(), [[second, "dropped"]]);
  assert.equal(table.commands().length, 1);
  table.hear(1, { type: "ack", id: 2, version: 8 });
  assert.deepEqual(table.ends(), [[first, "done"]]);
  assert.deepEqual(table.core.state.open, []);
});

test("what is refused for now is said again, and its own effect is no refusal", () => {
  const bench = Bench.at(view(PLAYING));
  bench.snapshot(1, 7, view(PLAYING), PROMPT);
  const command = bench.wish({ type: "act", action: dump("2C") as never });
  bench.commands();
  bench.hear(1, refusal(2, "unavailable", true));
  assert.deepEqual(bench.ends(), []);
  bench.after(700);
  assert.deepEqual(bench.commands(), [
    { type: "act", game: GAME, prompt: 4, action: dump("2C"), id: 3 },
  ]);
  bench.hear(1, refusal(3, "stale_prompt"));
  assert.deepEqual(bench.ends(), [[command, "overtaken"]]);

  const once = Bench.at(view(PLAYING));
  once.snapshot(1, 7, view(PLAYING), PROMPT);
  const late = once.wish({ type: "act", action: dump("2C") as never });
  once.hear(1, refusal(2, "stale_prompt"));
  assert.deepEqual(once.ends(), [[late, "refused"]], "it was said once, and came late");
});

test("a phrase is said now or never", () => {
  const bench = Bench.at(view(PREPARING));
  const said = bench.wish({ type: "say", phrase: "hello" });
  bench.close(1, 1006);
  const unsaid = bench.wish({ type: "say", phrase: "hurry" });
  assert.deepEqual(bench.ends(), [[unsaid, "dropped"]]);
  bench.opensWithin(1_000);
  const socket = bench.enter();
  bench.commands();
  bench.hear(socket, { type: "ack", id: 1, version: 6 });
  assert.deepEqual(bench.commands(), []);
  assert.deepEqual(bench.ends(), [[said, "overtaken"]]);
});

test("a hint is asked for at a practice table alone, and holds until the question is answered", () => {
  const paid = Bench.at(view(PLAYING));
  paid.snapshot(1, 7, view(PLAYING), PROMPT);
  const refused = paid.wish({ type: "hint" });
  assert.deepEqual(paid.ends(), [[refused, "dropped"]], "coins are played for");

  const played = view(PLAYING);
  const practice = { ...played, terms: { ...(played["terms"] as Json), practice: true } };
  const bench = Bench.at(practice);
  const early = bench.wish({ type: "hint" });
  assert.deepEqual(bench.ends(), [[early, "dropped"]], "nothing is asked");
  bench.snapshot(1, 7, practice, PROMPT);
  const asked = bench.wish({ type: "hint" });
  const twice = bench.wish({ type: "hint" });
  assert.deepEqual(bench.commands(), [{ type: "hint", id: 2 }]);
  assert.deepEqual(bench.ends(), [[twice, "dropped"]], "one at a time");
  const hint = { game: GAME, prompt: 4, action: dump("2C"), by: "greedy" };
  bench.hear(1, { type: "advice", ...hint, prompt: 3 });
  assert.equal(bench.core.state.hint, null, "that prompt has passed");
  bench.hear(1, { type: "advice", ...hint });
  bench.hear(1, { type: "ack", id: 2 });
  assert.deepEqual(bench.core.state.hint, hint);
  assert.deepEqual(bench.ends(), [[asked, "done"]]);
  bench.snapshot(1, 8, practice, { ...PROMPT, number: 5 });
  assert.equal(bench.core.state.hint, null, "another question");
});

test("a hint that was lost with the connection is asked for again, as long as it is of use", () => {
  const played = view(PLAYING);
  const practice = { ...played, terms: { ...(played["terms"] as Json), practice: true } };
  const bench = Bench.at(practice);
  bench.snapshot(1, 7, practice, PROMPT);
  const asked = bench.wish({ type: "hint" });
  bench.close(1, 1006);
  bench.opensWithin(1_000);
  const socket = bench.enter();
  bench.commands();
  bench.snapshot(socket, 8, practice, null);
  bench.hear(socket, { type: "ack", id: 1, version: 8 });
  assert.deepEqual(bench.commands(), []);
  assert.deepEqual(bench.ends(), [[asked, "overtaken"]]);
});

test("a search outlives the connection and ends at a table", () => {
  const bench = Bench.at(null);
  const seek = bench.wish({ type: "seek", rooms: ["newbie"] });
  assert.equal(bench.core.state.seek?.state, "asking");
  assert.deepEqual(bench.commands(), [{ type: "seek", rooms: ["newbie"], id: 2 }]);
  const ticket = { type: "ticket", ticket: "t", rooms: ["newbie"], expires_at_ms: 5 };
  bench.hear(1, { ...ticket, state: "waiting" });
  bench.hear(1, { type: "ack", id: 2 });
  assert.deepEqual(bench.ends(), [[seek, "done"]]);
  bench.close(1, 1001);
  bench.opensWithin(1_000);
  const socket = bench.enter();
  bench.commands();
  bench.hear(socket, refusal(1, "not_seated"));
  assert.deepEqual(bench.commands(), [{ type: "seek", rooms: ["newbie"], id: 2 }]);
  bench.hear(socket, { ...ticket, state: "seated", table: TABLE });
  assert.deepEqual(bench.commands(), [{ type: "join", id: 3 }]);
  bench.snapshot(socket, 1, view({ type: "waiting" }));
  bench.hear(socket, { type: "ack", id: 3, version: 1 });
  assert.equal(bench.core.state.seek?.state, "seated");
  assert.equal(bench.core.state.table?.current, true);
});

test("a seat that is lost is told, and the table is gone", () => {
  const bench = Bench.at(view(PREPARING));
  bench.update(1, 7, [{ type: "left", seat: 0, player: PLAYER, reason: "not_ready" }]);
  assert.ok(bench.notifications.some((one) => one.type === "unseated" && one.reason === "not_ready"));
  assert.equal(bench.core.state.table, null);
  assert.equal(bench.stored.has("table"), false);
  bench.input({ type: "join" });
  assert.deepEqual(bench.commands(), [{ type: "join", id: 2 }]);

  const gone = Bench.at(view(PREPARING));
  gone.hear(1, { type: "closed", table: TABLE, reason: "voided" });
  assert.ok(gone.notifications.some((one) => one.type === "unseated" && one.reason === "voided"));
});

test("a table is watched, also after the connection has broken", () => {
  const bench = Bench.at(null);
  bench.wish({ type: "watch", table: TABLE });
  assert.deepEqual(bench.commands(), [{ type: "watch", table: TABLE, id: 2 }]);
  bench.hear(1, { type: "ack", id: 2 });
  bench.snapshot(1, 3, view({ type: "waiting" }, { seat: null }));
  bench.update(1, 4, [{ type: "presence", seat: 1, connected: false }]);
  assert.equal(bench.core.state.watched?.view.seats[1]?.connected, false);
  assert.equal(bench.core.state.table, null);
  bench.close(1, 1006);
  bench.opensWithin(1_000);
  const socket = bench.enter();
  bench.commands();
  bench.hear(socket, refusal(1, "not_seated"));
  assert.deepEqual(bench.commands(), [{ type: "watch", table: TABLE, id: 2 }]);
});

test("a game that this client does not know is joined in the full form, and shown whole", () => {
  const bench = new Bench();
  bench.input({ type: "start" });
  bench.signIn();
  const [first = 0] = bench.opening;
  bench.opening = [];
  bench.input({ type: "opened", socket: first, protocol: "bahay.v1.brief" });
  bench.hear(first, { type: "hello", player: PLAYER, protocol: "x", server_time_ms: bench.now });
  bench.snapshot(first, 3, view(PLAYING, { kind: "another" }), PROMPT);
  assert.deepEqual(bench.protocols, ["bahay.v1", "bahay.token.access 1"]);
  const socket = bench.enter();
  bench.snapshot(socket, 3, view(PLAYING, { kind: "another" }), PROMPT);
  bench.hear(socket, { type: "ack", id: 1, version: 3 });
  bench.commands();
  const other = { ...PROMPT, number: 5 };
  bench.update(socket, 4, [{ type: "game", event: { type: "invented" } }], other);
  assert.equal(bench.core.state.table?.prompt?.number, 5);
  assert.deepEqual(bench.commands(), [{ type: "join", id: 2 }]);
});

test("what a later version says is passed over", () => {
  const bench = Bench.at(view(PREPARING));
  bench.hear(1, { type: "invented", id: 7 });
  bench.update(1, 7, [{ type: "invented" }, { type: "ready", seat: 1 }]);
  const phase = bench.core.state.table?.view.phase;
  assert.deepEqual(phase?.type === "preparing" && phase.ready, [1]);
  assert.equal(bench.link, "live");
});

test("a table that was halted is asked for again after a while", () => {
  const bench = new Bench();
  bench.input({ type: "start" });
  bench.signIn();
  const socket = bench.enter();
  bench.hear(socket, refusal(1, "table_halted"));
  assert.ok(bench.notifications.some((one) => one.type === "unseated" && one.reason === "halted"));
  bench.commands();
  bench.after(10_000);
  assert.deepEqual(bench.commands(), [{ type: "join", id: 2 }]);
});

test("an invitation to a rematch is told, at a table and without one; half of one is not", () => {
  const bench = Bench.at(view(PREPARING));
  const invited = { type: "invited", code: "K7MWQ2XA", from: PLAYER, name: "Benjie", game: GAME };
  const { name: _, ...half } = invited;
  bench.notifications = [];
  for (const message of [invited, half]) bench.hear(1, message as unknown as Json);
  assert.deepEqual(bench.notifications, [invited]);
});
