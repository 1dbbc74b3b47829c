// Tests of the tokens: when and how they are renewed, and the effects of clocks, lost answers, other tabs,
// captive portals and the ends of older sessions.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Bench, type Json, PLAYING, PREPARING, refusal, view } from "./bench.js";

const HOUR_MS = 3_600_000;
const TOKEN_MS = 15 * 60_000;

/** Returns the values that a page has stored, for the next one. */
const storedValues = (bench: Bench): Record<string, string> => Object.fromEntries(bench.stored);

/** Answers all requests as a server does for a time, and returns their number. */
function answerRequests(bench: Bench, ms: number): number {
  let asked = 0;
  for (const end = bench.now + ms; bench.now < end; bench.advance(500)) {
    while (bench.requests.length > 0) {
      asked += 1;
      bench.answer(200, bench.tokens());
    }
  }
  return asked;
}

/** Returns a client that has signed in with a password and sits at a table. */
function benchWithPassword(): Bench {
  const bench = Bench.joined(view(PREPARING));
  const body = { name: "Jose", password: "correct horse" };
  bench.input({ type: "sign_in", call: 5, path: "/v1/sign-in/password", body });
  bench.answer(200, { ...bench.tokens(), player: { id: "jose", name: "Jose" } });
  const socket = bench.openWithHello();
  bench.snapshot(socket, 6, view(PREPARING));
  bench.receive(socket, { type: "ack", id: 1, version: 6 });
  bench.clearRecords();
  return bench;
}

test("a refused token is renewed before the retry", () => {
  const bench = Bench.joined(view(PREPARING));
  bench.close(1, 1006);
  bench.timeToOpen(1_000);
  const socket = bench.open();
  bench.receive(socket, refusal(0, "token_expired"));
  bench.close(socket, 4401);
  bench.timeToOpen(1_000);
  const { path, body } = bench.answer(200, bench.tokens());
  const device_id = bench.stored.get("device");
  assert.deepEqual([path, body], ["POST /v1/token/refresh", { refresh_token: "refresh 1", device_id }]);
  bench.takeCommands();
  bench.open();
  assert.equal(bench.takeCommands()[0]?.["token"], "access 2");
});

test("an access token is renewed before it expires, and the connection stays open", () => {
  const bench = Bench.joined(view(PREPARING));
  const seen = new Set<string>();
  for (let seconds = 0; seconds < 3_600; seconds += 5) {
    bench.advance(5_000);
    while (bench.requests.length > 0) {
      const { body } = bench.answer(200, bench.tokens());
      assert.ok(!seen.has(String(body["refresh_token"])), "each is good for one use");
      seen.add(String(body["refresh_token"]));
    }
  }
  assert.equal(seen.size, 4);
  assert.equal(bench.link, "live");
});

test("requests are authenticated, and retried if that is safe", () => {
  const bench = Bench.joined(null);
  const call = (method: string, path: string): void =>
    bench.input({ type: "call", call: 1, method, path, headers: {}, body: null });
  call("GET", "/v1/rooms");
  assert.equal(bench.requests[0]?.headers["authorization"], "Bearer access 1");
  bench.failRequest();
  bench.advance(1_000);
  bench.answer(401, { code: "token_expired", detail: "" });
  assert.equal(bench.answer(200, bench.tokens()).path, "POST /v1/token/refresh");
  assert.equal(bench.requests[0]?.headers["authorization"], "Bearer access 2");
  bench.answer(200, { items: [] });
  assert.deepEqual(bench.answers.map(({ answer }) => answer.ok), [true]);
  call("POST", "/v1/me/rewards/daily");
  bench.failRequest();
  bench.advance(60_000);
  assert.deepEqual(bench.requests, [], "nobody knows whether it took effect");
  const last = bench.answers.at(-1)?.answer;
  assert.equal(last?.ok === false && last.problem.code, "unreachable");
});

test("a new player's page shows nothing of the previous player", () => {
  const bench = Bench.joined(view(PREPARING));
  const body = { name: "Jose", password: "correct horse" };
  bench.input({ type: "sign_in", call: 5, path: "/v1/sign-in/password", body });
  const player = { id: "another", name: "Jose" };
  const asked = bench.answer(200, { ...bench.tokens(), player });
  assert.deepEqual(asked.body, { ...body, device_id: bench.stored.get("device") });
  assert.equal(bench.core.state.table, null);
  assert.deepEqual(bench.core.state.player, player);
  bench.open();
  assert.deepEqual(bench.takeCommands().map(({ type }) => type), ["authenticate", "join"]);
});

test("a refresh token whose answer was lost is sent again while the server repeats its successor", () => {
  const bench = benchWithPassword();
  bench.advance(13 * 60_000);
  const first = bench.failRequest();
  assert.equal(first.path, "POST /v1/token/refresh");
  const begin = bench.now;
  bench.advance(20_000);
  const again = bench.answer(200, bench.tokens());
  assert.deepEqual([again.path, again.body], [first.path, first.body]);
  assert.ok(bench.now - begin < 60_000);
  assert.equal(bench.link, "live");
});

test("a refresh interrupted by a reload or a sleep is repeated with the same token", () => {
  const bench = benchWithPassword();
  bench.advance(13 * 60_000);
  assert.equal(bench.requests.length, 1);
  bench.advance(5_000);
  bench.input({ type: "wake" });
  assert.deepEqual(bench.requests[1]?.body, bench.requests[0]?.body);

  const page = new Bench({ stored: storedValues(bench), now: TOKEN_MS + 1_000_000 });
  page.now = TOKEN_MS + 1_000_000;
  page.input({ type: "start" });
  page.advance(1_000);
  assert.deepEqual(page.requests.map(({ path, body }) => [path, body]), [
    ["POST /v1/token/refresh", bench.requests[0]?.body],
  ]);
});

test("an unanswered refresh does not sign the player out", () => {
  const bench = benchWithPassword();
  bench.close(2, 1006);
  bench.timeToOpen(1_000);
  const socket = bench.open();
  bench.receive(socket, refusal(0, "token_expired"));
  bench.close(socket, 4401);
  for (const fail of [
    () => bench.failRequest(),
    () => bench.answerAsPortal(),
    () => bench.answer(401, "<html>", "text/html"),
    () => bench.answer(502, { error: "bad gateway" }),
    () => bench.answer(200, { access_token: "half" }),
  ]) {
    bench.timeToOpen(20_000);
    assert.equal(fail().path, "POST /v1/token/refresh");
    assert.equal(bench.link, "pausing");
  }
  bench.timeToOpen(20_000);
  bench.answer(401, { code: "refresh_token_reused", detail: "it was used before" });
  const { link } = bench.core.state;
  assert.equal(link.type === "signed_out" && link.code, "refresh_token_reused");
});

test("a refused refresh keeps a live connection and the valid access token", () => {
  const bench = benchWithPassword();
  bench.advance(13 * 60_000);
  bench.answer(401, { code: "refresh_token_reused", detail: "" });
  assert.equal(bench.link, "live");
  bench.close(2, 1006);
  bench.timeToOpen(1_000);
  assert.equal(bench.link, "connecting");
  const socket = bench.openWithHello();
  bench.receive(socket, { type: "ack", id: 1, version: 6 });
  assert.equal(bench.link, "live");
  bench.advance(60_000);
  assert.deepEqual(bench.requests, [], "there is nothing to renew it with");
});

test("a session that can no longer be renewed opens no socket", () => {
  const bench = benchWithPassword();
  bench.advance(13 * 60_000);
  bench.answer(401, { code: "refresh_token_reused", detail: "" });
  bench.advance(3 * 60_000);
  bench.close(2, 1006);
  assert.equal(bench.timeToOpen(600_000), null);
  assert.equal(bench.link, "signed_out");
});

test("a wait that the server asks for is kept, also in a shorter pause", () => {
  for (const isPausing of [false, true]) {
    const bench = Bench.joined(view(PREPARING));
    bench.close(1, 1006);
    bench.timeToOpen(1_000);
    const socket = bench.open();
    bench.receive(socket, refusal(0, "token_expired"));
    if (isPausing) bench.close(socket, 4401);
    bench.answer(429, { code: "too_many_requests", detail: "" }, "application/problem+json", 20_000);
    if (!isPausing) bench.close(socket, 4401);
    const ms = bench.timeToOpen(600_000) ?? 0;
    assert.ok(ms >= 20_000 && ms <= 29_000, String(ms));
  }
});

test("a guest signs in by the device if the refresh token was used long ago", () => {
  const bench = Bench.joined(view(PREPARING));
  bench.advance(13 * 60_000);
  bench.answer(401, { code: "refresh_token_reused", detail: "" });
  assert.equal(bench.signIn().path, "POST /v1/sign-in/guest");
  assert.equal(bench.link, "live");
});

test("a clock set forward renews an older token once, and a new one not at all", () => {
  const bench = Bench.joined(view(PREPARING));
  bench.wallAhead = HOUR_MS;
  bench.close(1, 1006);
  bench.timeToOpen(1_000);
  assert.deepEqual(bench.requests, [], "the token is seconds old");
  bench.openWithHello();

  const older = Bench.joined(view(PREPARING));
  older.advance(5 * 60_000);
  older.wallAhead = HOUR_MS;
  older.close(1, 1006);
  older.timeToOpen(1_000);
  assert.equal(answerRequests(older, 20_000), 1);
});

test("a clock set forward before a reload costs one renewal, and the socket opens", () => {
  const before = Bench.joined(view(PREPARING));
  const bench = new Bench({ stored: storedValues(before), wall: before.now + HOUR_MS });
  bench.wallAhead = HOUR_MS;
  bench.input({ type: "start" });
  assert.equal(answerRequests(bench, 1_500), 1);
  const socket = bench.openWithHello();
  bench.receive(socket, { type: "ack", id: 1, version: 6 });
  assert.equal(bench.link, "live");
  assert.equal(answerRequests(bench, 5 * 60_000), 0);
});

test("a jumping clock causes at most one renewal per minute", () => {
  const bench = Bench.joined(view(PREPARING));
  let renewals = 0;
  for (let minute = 0; minute < 30; minute += 1) {
    bench.wallAhead = (minute % 3 - 1) * HOUR_MS;
    bench.input({ type: "call", call: minute, method: "GET", path: "/v1/me", headers: {}, body: null });
    while (bench.requests.length > 0) {
      const isRefresh = bench.requests[0]?.path === "POST /v1/token/refresh";
      if (isRefresh) renewals += 1;
      bench.answer(200, isRefresh ? bench.tokens() : {});
    }
    bench.advance(60_000);
  }
  assert.ok(renewals <= 30, `${renewals} renewals`);
  assert.equal(bench.link, "live");
});

test("countdowns and back-offs are independent of the wall clock", () => {
  for (const jump of [HOUR_MS, -HOUR_MS]) {
    const bench = Bench.joined(view(PLAYING));
    const shown = (): number => bench.core.serverTime(bench.now);
    assert.equal(shown(), bench.now);
    bench.wallAhead = jump;
    bench.advance(3_000);
    assert.equal(shown(), bench.now);
    bench.close(1, 1006);
    const ms = bench.timeToOpen(60_000);
    assert.ok(ms !== null && ms <= 100, `${ms}`);
  }
});

test("the server's time is updated after a sleep that stopped the monotonic clock", () => {
  const bench = Bench.joined(view(PREPARING));
  const server = bench.now + HOUR_MS;
  bench.wallAhead = HOUR_MS;
  bench.close(1, 1006);
  bench.input({ type: "wake" });
  const socket = bench.open();
  bench.receive(socket, { type: "hello", player: "p", protocol: "bahay.v1", server_time_ms: server });
  bench.receive(socket, { type: "ack", id: 0 });
  bench.receive(socket, { type: "ack", id: 1, version: 6 });
  const events = [{ type: "ready", seat: 1 }];
  const update = { type: "update", version: 7, tag: "0".repeat(12), server_time_ms: server, events };
  bench.receive(socket, update);
  assert.equal(bench.core.serverTime(bench.now), server);
  // A delayed message says nothing about the present time.
  bench.receive(socket, { ...update, version: 8, server_time_ms: server - 60_000 });
  assert.equal(bench.core.serverTime(bench.now), server);
});

test("a token that expired in such a sleep is renewed by the wall clock", () => {
  const bench = Bench.joined(view(PREPARING));
  bench.advance(2 * 60_000);
  bench.wallAhead = HOUR_MS;
  bench.close(1, 1006);
  bench.input({ type: "wake" });
  assert.deepEqual(bench.requests.map(({ path }) => path), ["POST /v1/token/refresh"]);
});

test("the sign-in is retried behind a captive portal until the house answers", () => {
  const bench = new Bench({ name: "Maria" });
  bench.input({ type: "start" });
  for (let times = 0; times < 5; times += 1) {
    assert.equal(bench.answerAsPortal().path, "POST /v1/sign-in/guest");
    assert.equal(bench.link, "pausing");
    assert.ok(bench.timeToOpen(10_000) !== null);
  }
  bench.signIn();
  bench.openWithHello();
  assert.equal(bench.link, "joining");
});

test("answers without the contract's form are ignored", () => {
  const forms: [number, unknown, string][] = [
    [200, null, "text/html"],
    [200, { rooms: [] }, "text/plain"],
    [200, null, "application/json"],
    [200, "signed in", "application/json"],
    [404, { error: "no" }, "application/json"],
    [302, { code: "moved" }, "text/html"],
    [511, null, "text/html"],
  ];
  for (const [status, body, contentType] of forms) {
    const bench = Bench.joined(null);
    bench.input({ type: "call", call: 1, method: "POST", path: "/v1/x", headers: {}, body: null });
    bench.answer(status, body, contentType);
    const [called] = bench.answers;
    assert.equal(called?.answer.ok, false, contentType);
    assert.equal(called?.answer.ok === false && called.answer.problem.code, "unreachable");
  }
  const bench = Bench.joined(null);
  const call = { method: "POST", path: "/v1/x", headers: {}, body: null };
  bench.input({ type: "call", call: 1, ...call });
  bench.answer(204, null, "");
  bench.input({ type: "call", call: 2, ...call });
  bench.answer(409, { code: "taken", detail: "" }, "application/problem+json");
  assert.deepEqual(bench.answers.map(({ answer }) => answer.ok), [true, false]);
  assert.equal(bench.answers[1]?.answer.ok === false && bench.answers[1].answer.problem.code, "taken");
});

test("a duplicated tab adopts the newer tokens of the other one", () => {
  const one = benchWithPassword();
  const other = new Bench({ stored: storedValues(one) });
  one.advance(13 * 60_000);
  one.answer(200, one.tokens());
  other.input({ type: "shared", session: one.stored.get("session") ?? "" });
  assert.equal(other.stored.get("session")?.includes("access 3"), true);
  const stranger = Bench.joined(null);
  const session = one.stored.get("session")?.replace('"session":"s"', '"session":"another"') ?? "";
  stranger.input({ type: "shared", session });
  assert.equal(stranger.stored.get("session")?.includes("access 3"), false, "that is another session");
});

test("a restored tab with an old refresh token waits briefly for a newer one", () => {
  const before = benchWithPassword();
  const old = storedValues(before);
  const now = before.now + 2 * HOUR_MS;
  before.advance(2 * HOUR_MS);
  const bench = new Bench({ stored: old, now });
  bench.now = now;
  bench.input({ type: "start" });
  const newer = JSON.parse(old["session"] ?? "{}") as Json;
  const tokens = { access: "access 9", refresh: "refresh 9", accessExpiresMs: now + TOKEN_MS };
  bench.input({ type: "shared", session: JSON.stringify({ ...newer, ...tokens }) });
  bench.advance(1_000);
  assert.deepEqual(bench.requests, [], "the old one is not used");
  bench.open();
  assert.equal(bench.takeCommands()[0]?.["token"], "access 9");
});

test("a refused refresh continues with the tokens of another tab", () => {
  const bench = benchWithPassword();
  bench.advance(13 * 60_000);
  const newer = JSON.parse(bench.stored.get("session") ?? "{}") as Json;
  bench.requests.length = 0;
  bench.input({ type: "wake" });
  const late = bench.requests.length;
  const tokens = { access: "access 9", refresh: "refresh 9", accessExpiresMs: bench.now + TOKEN_MS };
  bench.input({ type: "shared", session: JSON.stringify({ ...newer, ...tokens }) });
  for (let times = 0; times < late; times += 1) {
    bench.answer(401, { code: "refresh_token_reused", detail: "" });
  }
  assert.equal(bench.link, "live");
  assert.equal(bench.stored.get("session")?.includes("refresh 9"), true);
});

test("the end of an older session does not end a newer one", () => {
  const bench = Bench.joined(view(PREPARING));
  bench.advance(13 * 60_000);
  // The refresh token of the old session is refused; the device has a new session, and the socket stays open.
  bench.answer(401, { code: "session_ended", detail: "" });
  const player = { id: "019ca944-3c00-7000-8000-00000091a7e0", name: "Maria" };
  bench.answer(200, { ...bench.tokens(), session: "newer", player });
  assert.equal(bench.link, "live");
  bench.close(1, 4003);
  assert.equal(bench.link, "pausing");
  bench.timeToOpen(1_000);
  const socket = bench.openWithHello();
  bench.receive(socket, { type: "ack", id: 1, version: 6 });
  assert.equal(bench.link, "live");
  bench.close(1, 4001);
  bench.close(1, 4401);
  assert.equal(bench.link, "live", "that socket is not used any more");
  bench.close(socket, 4003);
  assert.equal(bench.link, "signed_out");
});

test("forgetting a guest discards the device, and forgetting a player with a password keeps it", () => {
  const guest = Bench.joined(view(PREPARING));
  guest.input({ type: "forget" });
  const gone = ["session", "device", "table"].map((key) => guest.stored.get(key as never) ?? null);
  assert.deepEqual(gone, [null, null, null]);
  assert.deepEqual([guest.link, guest.core.state.table, guest.core.state.player], ["off", null, null]);
  const before = guest.requests.length;
  guest.input({ type: "start" });
  const [asked] = guest.requests.slice(before);
  assert.equal(asked?.path, "POST /v1/sign-in/guest", "somebody else");

  const bench = benchWithPassword();
  const device = bench.stored.get("device");
  bench.input({ type: "forget" });
  assert.equal(bench.stored.get("session") ?? null, null);
  assert.equal(bench.stored.get("device"), device);
});
