// Tests of the primitives against published vectors, and of a complete deal against docs/FAIRNESS.md.

import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Stream, checkRecordedDeal, commitmentOf, commitmentTo, dealKey, hmacSha256, sha256, tongits } from "../src/index.js";
import { randomBytes } from "./tape.js";

const ROOT = process.env["BAHAY_ROOT"] ?? "../..";

/** The vectors of docs/FAIRNESS.md, by name. */
const vectors = new Map(
  (/```vectors\n([^`]*)```/.exec(readFileSync(`${ROOT}/docs/FAIRNESS.md`, "utf8"))?.[1] ?? "")
    .trim()
    .split("\n")
    .map((line) => line.split(" = ") as [string, string]),
);
const vector = (name: string): string => vectors.get(name) ?? assert.fail(`no vector ${name}`);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

const record = {
  game: vector("game"),
  commitment: vector("commitment"),
  server_seed: vector("server_seed"),
  clients: [
    { commitment: vector("commitment_0"), seed: vector("seed_0"), text: "luck" },
    { commitment: vector("commitment_1"), seed: vector("seed_1"), text: null },
    { commitment: vector("commitment_2"), seed: vector("seed_2"), text: null },
  ],
  starter: null,
  chance: [
    { number: Number(vector("starter")) },
    { order: vector("deck").split(" ").map(tongits.indexOf) },
  ],
  terms: { rules: { deal: "clockwise", hand_cards: 12 } },
};

test("SHA-256 and HMAC equal Node's for every length around a block", () => {
  const random = randomBytes(7);
  for (let length = 0; length < 200; length += 1) {
    const message = random(length);
    assert.equal(hex(sha256(message)), createHash("sha256").update(message).digest("hex"));
    const key = random(length);
    const expected = createHmac("sha256", key).update(message).digest("hex");
    assert.equal(hex(hmacSha256(key, message)), expected);
  }
});

test("the keystream under a key of zeros equals the documented one", () => {
  const stream = new Stream(new Uint8Array(32));
  const bytes = Buffer.alloc(32);
  for (let place = 0; place < 8; place += 1) bytes.writeUInt32LE(stream.word(), 4 * place);
  const begins = "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7";
  assert.equal(bytes.toString("hex"), begins);
});

test("commitments, key and words equal the documented ones", () => {
  assert.equal(commitmentOf(vector("server_seed")), vector("commitment"));
  assert.equal(commitmentTo("luck"), vector("commitment_0"));
  const seeds = record.clients.map(({ seed }) => seed);
  assert.equal(hex(dealKey(vector("server_seed"), vector("game"), seeds)), vector("key"));
  const stream = new Stream(Buffer.from(vector("key"), "hex"));
  const words = vector("words").split(" ").map((word) => Number.parseInt(word, 16));
  assert.deepEqual(words.map(() => stream.word()), words);
});

test("the documented deal verifies and yields its hands", () => {
  const { holds, steps, hands } = checkRecordedDeal(record, tongits.tongits);
  assert.ok(holds, JSON.stringify(steps.filter((step) => !step.holds)));
  assert.deepEqual(
    hands?.map((hand) => hand.join(" ")),
    [vector("hand_0"), vector("hand_1"), vector("hand_2")],
  );
});

test("the id in the key of a deal that all tables play is the tournament's", () => {
  const game = "01990000-0000-7000-8000-000000000002";
  const shared = { tournament: vector("game"), commitments: [vector("commitment")] };
  assert.ok(checkRecordedDeal({ ...record, game, terms: { ...record.terms, tournament: shared } }, tongits.tongits).holds);
  assert.ok(checkRecordedDeal({ ...record, game, deal_id: vector("game") }, tongits.tongits).holds);
  const own = { tournament: vector("game") };
  assert.ok(!checkRecordedDeal({ ...record, game, terms: { ...record.terms, tournament: own } }, tongits.tongits).holds);
});

test("a deal without the model of its game does not verify", () => {
  const { holds, hands } = checkRecordedDeal({ ...record, kind: "chess" }, null);
  assert.deepEqual([holds, hands], [false, null]);
});

test("failing steps are named", () => {
  const failing = (change: object, seen: Parameters<typeof checkRecordedDeal>[2] = null): string[] =>
    checkRecordedDeal({ ...record, ...change }, tongits.tongits, seen)
      .steps.filter(({ holds }) => !holds)
      .map(({ name }) => name);
  const order = vector("deck").split(" ").map(tongits.indexOf).reverse();
  assert.deepEqual(failing({ commitment: "00" }), ["commitment"]);
  assert.deepEqual(failing({ chance: [record.chance[0], { order }] }), ["deck"]);
  assert.deepEqual(failing({ chance: [{ number: 2 }, record.chance[1]] }), ["starter"]);
  const [first, ...others] = record.clients;
  const clients = [{ ...first, text: "another" }, ...others];
  assert.deepEqual(failing({ clients }), ["client_seed", "client_seed"]);
  const seen = {
    game: record.game,
    commitment: record.commitment,
    commitments: record.clients.map(({ commitment }) => commitment),
    text: "luck",
    revealed: true,
    seat: 0,
    hand: vector("hand_0").split(" "),
  };
  assert.deepEqual(failing({}, seen), []);
  assert.deepEqual(failing({}, { ...seen, commitment: "00" }), ["shown_commitment"]);
  assert.deepEqual(failing({}, { ...seen, commitments: [] }), ["shown_commitments"]);
  assert.deepEqual(failing({}, { ...seen, hand: ["AS"] }), ["own_hand"]);
  // The house claims that nothing was revealed, though it has acknowledged the text.
  assert.deepEqual(failing({}, { ...seen, seat: 2 }), ["own_text", "own_hand"]);
});
