// Tokens: when they are renewed and by what, and what clocks, lost answers, other tabs, captive portals
// and the ends of older sessions have to do with it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Bench, type Json, PLAYING, PREPARING, refusal, view } from "./bench.js";

const HOUR_MS = 3_600_000;
const TOKEN_MS = 15 * 60_000;

/** What a page has stored, for the next one. */
const storedOf = (bench: Bench): Record<string, string> => Object.fromEntries(bench.stored);

/** Answers all that is asked for as a server does, as long as the time goes on; gives how much it was. */
function answerFor(bench: Bench, ms: number): number {
  let asked = 0;
  for (const end = bench.now + ms; bench.now < end; bench.after(500)) {
    while (bench.asked.length > 0) {
      asked += 1;
      bench.answer(200, bench.tokens());
    }
  }
  return asked;
}

/** A client that signed in with a password, at a table. */
function withPassword(): Bench {
  const bench = Bench.at(view(PREPARING));
  const body = { name: "Jose", password: "correct horse" };
  bench.input({ type: "sign_in", call: 5, path: "/v1/sign-in/password", body });
  bench.answer(200, { ...bench.tokens(), player: { id: "jose", name: "Jose" } });
  const socket = bench.enter();
  bench.snapshot(socket, 6, view(PREPARING));
  bench.hear(socket, { type: "ack", id: 1, version: 6 });
  bench.forget();
  return bench;
}

test("a token that is refused is renewed first", () => {
  const bench = Bench.at(view(PREPARING));
  bench.close(1, 1006);
  bench.opensWithin(1_000);
  const socket = bench.open();
  bench.hear(socket, refusal(0, "token_expired"));
  bench.close(socket, 4401);
  bench.opensWithin(1_000);
  const { path, body } = bench.answer(200, bench.tokens());
  const device_id = bench.stored.get("device");
  assert.deepEqual([path, body], ["POST /v1/token/refresh", { refresh_token: "refresh 1", device_id }]);
  bench.commands();
  bench.open();
  assert.equal(bench.commands()[0]?.["token"], "access 2");
});

test("an access token is renewed ahead of its end, and the connection stays", () => {
  const bench = Bench.at(view(PREPARING));
  const seen = new Set<string>();
  for (let seconds = 0; seconds < 3_600; seconds += 5) {
    bench.after(5_000);
    while (bench.asked.length > 0) {
      const { body } = bench.answer(200, bench.tokens());
      assert.ok(!seen.has(String(body["refresh_token"])), "each is good for one use");
      seen.add(String(body["refresh_token"]));
    }
  }
  assert.equal(seen.size, 4);
  assert.equal(bench.link, "live");
});

test("requests are signed, and repeated where that does no harm", () => {
  const bench = Bench.at(null);
  const call = (method: string, path: string): void =>
    bench.input({ type: "call", call: 1, method, path, headers: {}, body: null });
  call("GET", "/v1/rooms");
  assert.equal(bench.asked[0]?.headers["authorization"], "Bearer access 1");
  bench.lose();
  bench.after(1_000);
  bench.answer(401, { code: "token_expired", detail: "" });
  assert.equal(bench.answer(200, bench.tokens()).path, "POST /v1/token/refresh");
  assert.equal(bench.asked[0]?.headers["authorization"], "Bearer access 2");
  bench.answer(200, { items: [] });
  assert.deepEqual(bench.answers.map(({ answer }) => answer.ok), [true]);
  call("POST", "/v1/me/rewards/daily");
  bench.lose();
  bench.after(60_000);
  assert.deepEqual(bench.asked, [], "nobody knows whether it took effect");
  const last = bench.answers.at(-1)?.answer;
  assert.equal(last?.ok === false && last.problem.code, "unreachable");
});

test("another player of the same page shows nothing of the one before", () => {
  const bench = Bench.at(view(PREPARING));
  const body = { name: "Jose", password: "correct horse" };
  bench.input({ type: "sign_in", call: 5, path: "/v1/sign-in/password", body });
  const player = { id: "another", name: "Jose" };
  const asked = bench.answer(200, { ...bench.tokens(), player });
  assert.deepEqual(asked.body, { ...body, device_id: bench.stored.get("device") });
  assert.equal(bench.core.state.table, null);
  assert.deepEqual(bench.core.state.player, player);
  bench.open();
  assert.deepEqual(bench.commands().map(({ type }) => type), ["authenticate", "join"]);
});

test("a refresh token whose answer was lost is sent again before the server forgets what it gave", () => {
  const bench = withPassword();
  bench.after(13 * 60_000);
  const first = bench.lose();
  assert.equal(first.path, "POST /v1/token/refresh");
  const begin = bench.now;
  bench.after(20_000);
  const again = bench.answer(200, bench.tokens());
  assert.deepEqual([again.path, again.body], [first.path, first.body]);
  assert.ok(bench.now - begin < 60_000);
  assert.equal(bench.link, "live");
});

test("a refresh that the page's end or a sleep has cut off is sent again with the same token", () => {
  const bench = withPassword();
  bench.after(13 * 60_000);
  assert.equal(bench.asked.length, 1);
  bench.after(5_000);
  bench.input({ type: "wake" });
  assert.deepEqual(bench.asked[1]?.body, bench.asked[0]?.body);

  const page = new Bench({ stored: storedOf(bench), now: TOKEN_MS + 1_000_000 });
  page.now = TOKEN_MS + 1_000_000;
  page.input({ type: "start" });
  page.after(1_000);
  assert.deepEqual(page.asked.map(({ path, body }) => [path, body]), [
    ["POST /v1/token/refresh", bench.asked[0]?.body],
  ]);
});

test("nobody is signed out because a refresh was not answered by the server", () => {
  const bench = withPassword();
  bench.close(2, 1006);
  bench.opensWithin(1_000);
  const socket = bench.open();
  bench.hear(socket, refusal(0, "token_expired"));
  bench.close(socket, 4401);
  for (const fail of [
    () => bench.lose(),
    () => bench.intercept(),
    () => bench.answer(401, "<html>", "text/html"),
    () => bench.answer(502, { error: "bad gateway" }),
    () => bench.answer(200, { access_token: "half" }),
  ]) {
    bench.opensWithin(20_000);
    assert.equal(fail().path, "POST /v1/token/refresh");
    assert.equal(bench.link, "pausing");
  }
  bench.opensWithin(20_000);
  bench.answer(401, { code: "refresh_token_reused", detail: "it was used before" });
  const { link } = bench.core.state;
  assert.equal(link.type === "signed_out" && link.code, "refresh_token_reused");
});

test("a refused refresh leaves a live connection, and the token that is still good", () => {
  const bench = withPassword();
  bench.after(13 * 60_000);
  bench.answer(401, { code: "refresh_token_reused", detail: "" });
  assert.equal(bench.link, "live");
  bench.close(2, 1006);
  bench.opensWithin(1_000);
  assert.equal(bench.link, "connecting");
  const socket = bench.enter();
  bench.hear(socket, { type: "ack", id: 1, version: 6 });
  assert.equal(bench.link, "live");
  bench.after(60_000);
  assert.deepEqual(bench.asked, [], "there is nothing to renew it with");
});

test("whoever is a guest goes on by the device where the refresh token was used long ago", () => {
  const bench = Bench.at(view(PREPARING));
  bench.after(13 * 60_000);
  bench.answer(401, { code: "refresh_token_reused", detail: "" });
  assert.equal(bench.signIn().path, "POST /v1/sign-in/guest");
  assert.equal(bench.link, "live");
});

test("a clock that is set forward renews nothing that is seconds old, and an older token once", () => {
  const bench = Bench.at(view(PREPARING));
  bench.wallAhead = HOUR_MS;
  bench.close(1, 1006);
  bench.opensWithin(1_000);
  assert.deepEqual(bench.asked, [], "the token is seconds old");
  bench.enter();

  const older = Bench.at(view(PREPARING));
  older.after(5 * 60_000);
  older.wallAhead = HOUR_MS;
  older.close(1, 1006);
  older.opensWithin(1_000);
  assert.equal(answerFor(older, 20_000), 1);
});

test("after a reload a clock that was set forward costs one renewal, and the socket opens", () => {
  const before = Bench.at(view(PREPARING));
  const bench = new Bench({ stored: storedOf(before), wall: before.now + HOUR_MS });
  bench.wallAhead = HOUR_MS;
  bench.input({ type: "start" });
  assert.equal(answerFor(bench, 1_500), 1);
  const socket = bench.enter();
  bench.hear(socket, { type: "ack", id: 1, version: 6 });
  assert.equal(bench.link, "live");
  assert.equal(answerFor(bench, 5 * 60_000), 0);
});

test("a clock that jumps at every moment, and whatever it shows, renews once a minute at most", () => {
  const bench = Bench.at(view(PREPARING));
  let renewals = 0;
  for (let minute = 0; minute < 30; minute += 1) {
    bench.wallAhead = (minute % 3 - 1) * HOUR_MS;
    bench.input({ type: "call", call: minute, method: "GET", path: "/v1/me", headers: {}, body: null });
    while (bench.asked.length > 0) {
      const isRefresh = bench.asked[0]?.path === "POST /v1/token/refresh";
      if (isRefresh) renewals += 1;
      bench.answer(200, isRefresh ? bench.tokens() : {});
    }
    bench.after(60_000);
  }
  assert.ok(renewals <= 30, `${renewals} renewals`);
  assert.equal(bench.link, "live");
});

test("a countdown and a pause last as long as they say, wherever the wall clock is set", () => {
  for (const jump of [HOUR_MS, -HOUR_MS]) {
    const bench = Bench.at(view(PLAYING));
    const shown = (): number => bench.core.serverTime(bench.now);
    assert.equal(shown(), bench.now);
    bench.wallAhead = jump;
    bench.after(3_000);
    assert.equal(shown(), bench.now);
    bench.close(1, 1006);
    const ms = bench.opensWithin(60_000);
    assert.ok(ms !== null && ms <= 100, `${ms}`);
  }
});

test("the server's time is learnt anew after a sleep in which the monotonic clock stood still", () => {
  const bench = Bench.at(view(PREPARING));
  const server = bench.now + HOUR_MS;
  bench.wallAhead = HOUR_MS;
  bench.close(1, 1006);
  bench.input({ type: "wake" });
  const socket = bench.open();
  bench.hear(socket, { type: "hello", player: "p", protocol: "bahay.v1", server_time_ms: server });
  bench.hear(socket, { type: "ack", id: 0 });
  bench.hear(socket, { type: "ack", id: 1, version: 6 });
  const events = [{ type: "ready", seat: 1 }];
  const update = { type: "update", version: 7, tag: "0".repeat(12), server_time_ms: server, events };
  bench.hear(socket, update);
  assert.equal(bench.core.serverTime(bench.now), server);
  // What was held up on the way says nothing of the present.
  bench.hear(socket, { ...update, version: 8, server_time_ms: server - 60_000 });
  assert.equal(bench.core.serverTime(bench.now), server);
});

test("a token that has run out in such a sleep is renewed by the wall clock", () => {
  const bench = Bench.at(view(PREPARING));
  bench.after(2 * 60_000);
  bench.wallAhead = HOUR_MS;
  bench.close(1, 1006);
  bench.input({ type: "wake" });
  assert.deepEqual(bench.asked.map(({ path }) => path), ["POST /v1/token/refresh"]);
});

test("a captive portal is no server: sign-in is tried again until the house answers", () => {
  const bench = new Bench({ name: "Maria" });
  bench.input({ type: "start" });
  for (let times = 0; times < 5; times += 1) {
    assert.equal(bench.intercept().path, "POST /v1/sign-in/guest");
    assert.equal(bench.link, "pausing");
    assert.ok(bench.opensWithin(10_000) !== null);
  }
  bench.signIn();
  bench.enter();
  assert.equal(bench.link, "joining");
});

test("answers of another form than the contract's count as none", () => {
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
    const bench = Bench.at(null);
    bench.input({ type: "call", call: 1, method: "POST", path: "/v1/x", headers: {}, body: null });
    bench.answer(status, body, contentType);
    const [called] = bench.answers;
    assert.equal(called?.answer.ok, false, contentType);
    assert.equal(called?.answer.ok === false && called.answer.problem.code, "unreachable");
  }
  const bench = Bench.at(null);
  const call = { method: "POST", path: "/v1/x", headers: {}, body: null };
  bench.input({ type: "call", call: 1, ...call });
  bench.answer(204, null, "");
  bench.input({ type: "call", call: 2, ...call });
  bench.answer(409, { code: "taken", detail: "" }, "application/problem+json");
  assert.deepEqual(bench.answers.map(({ answer }) => answer.ok), [true, false]);
  assert.equal(bench.answers[1]?.answer.ok === false && bench.answers[1].answer.problem.code, "taken");
});

test("a duplicated tab takes the newer tokens that the other one tells it", () => {
  const one = withPassword();
  const other = new Bench({ stored: storedOf(one) });
  one.after(13 * 60_000);
  one.answer(200, one.tokens());
  other.input({ type: "shared", session: one.stored.get("session") ?? "" });
  assert.equal(other.stored.get("session")?.includes("access 3"), true);
  const stranger = Bench.at(null);
  const session = one.stored.get("session")?.replace('"session":"s"', '"session":"another"') ?? "";
  stranger.input({ type: "shared", session });
  assert.equal(stranger.stored.get("session")?.includes("access 3"), false, "that is another session");
});

test("a tab that comes back with an old refresh token waits a moment for a newer one", () => {
  const before = withPassword();
  const old = storedOf(before);
  const now = before.now + 2 * HOUR_MS;
  before.after(2 * HOUR_MS);
  const bench = new Bench({ stored: old, now });
  bench.now = now;
  bench.input({ type: "start" });
  const newer = JSON.parse(old["session"] ?? "{}") as Json;
  const tokens = { access: "access 9", refresh: "refresh 9", accessExpiresMs: now + TOKEN_MS };
  bench.input({ type: "shared", session: JSON.stringify({ ...newer, ...tokens }) });
  bench.after(1_000);
  assert.deepEqual(bench.asked, [], "the old one is not used");
  bench.open();
  assert.equal(bench.commands()[0]?.["token"], "access 9");
});

test("a refresh that was refused goes on with what another tab has got meanwhile", () => {
  const bench = withPassword();
  bench.after(13 * 60_000);
  const newer = JSON.parse(bench.stored.get("session") ?? "{}") as Json;
  bench.asked.length = 0;
  bench.input({ type: "wake" });
  const late = bench.asked.length;
  const tokens = { access: "access 9", refresh: "refresh 9", accessExpiresMs: bench.now + TOKEN_MS };
  bench.input({ type: "shared", session: JSON.stringify({ ...newer, ...tokens }) });
  for (let times = 0; times < late; times += 1) {
    bench.answer(401, { code: "refresh_token_reused", detail: "" });
  }
  assert.equal(bench.link, "live");
  assert.equal(bench.stored.get("session")?.includes("refresh 9"), true);
});

test("the end of an older session is not that of a newer one", () => {
  const bench = Bench.at(view(PREPARING));
  bench.after(13 * 60_000);
  // The old session is over for refreshing; the device has a new one, and the socket stays.
  bench.answer(401, { code: "session_ended", detail: "" });
  const player = { id: "019ca944-3c00-7000-8000-00000091a7e0", name: "Maria" };
  bench.answer(200, { ...bench.tokens(), session: "newer", player });
  assert.equal(bench.link, "live");
  bench.close(1, 4003);
  assert.equal(bench.link, "pausing");
  bench.opensWithin(1_000);
  const socket = bench.enter();
  bench.hear(socket, { type: "ack", id: 1, version: 6 });
  assert.equal(bench.link, "live");
  bench.close(1, 4001);
  bench.close(1, 4401);
  assert.equal(bench.link, "live", "that socket is not used any more");
  bench.close(socket, 4003);
  assert.equal(bench.link, "signed_out");
});

test("a guest who is forgotten has no device to come back by, and a player with a password keeps it", () => {
  const guest = Bench.at(view(PREPARING));
  guest.input({ type: "forget" });
  const gone = ["session", "device", "table"].map((key) => guest.stored.get(key as never) ?? null);
  assert.deepEqual(gone, [null, null, null]);
  assert.deepEqual([guest.link, guest.core.state.table, guest.core.state.player], ["off", null, null]);
  const before = guest.asked.length;
  guest.input({ type: "start" });
  const [asked] = guest.asked.slice(before);
  assert.equal(asked?.path, "POST /v1/sign-in/guest", "somebody else");

  const bench = withPassword();
  const device = bench.stored.get("device");
  bench.input({ type: "forget" });
  assert.equal(bench.stored.get("session") ?? null, null);
  assert.equal(bench.stored.get("device"), device);
});
