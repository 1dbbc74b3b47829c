// Tests of the three forms of the same messages, by the examples of docs/PROTOCOL.md.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { MessageReader, GAMES, type Message } from "../src/index.js";

const ROOT = process.env["BAHAY_ROOT"] ?? "../..";
const page = readFileSync(`${ROOT}/docs/PROTOCOL.md`, "utf8");
const MODELS = new Map(GAMES.map((model) => [model.kind, model]));
const HELLO_MS = 1_772_366_400_000;

const hello = (protocol: string): string =>
  JSON.stringify({ type: "hello", player: "p", protocol, server_time_ms: HELLO_MS });

function reader(form: "bahay.v1" | "bahay.v1.brief" | "bahay.v1.compact"): MessageReader {
  const made = new MessageReader(form, MODELS, "tongits");
  if (form !== "bahay.v1.compact") made.read(hello(form));
  return made;
}

/** The update that docs/PROTOCOL.md shows in all forms. */
const full = JSON.parse(
  /\{"type":"update","version":13.*\}/.exec(page)?.[0] ?? assert.fail("no example"),
) as Message & { type: "update" };

test("the documented brief form equals the full form without its prompt", () => {
  const [, update = "", ack = ""] = /```text\n(\[13.*)\n(\[4.*)\n```/.exec(page) ?? [];
  const { prompt: _, ...expected } = full;
  assert.deepEqual(reader("bahay.v1.brief").read(update), expected);
  assert.deepEqual(reader("bahay.v1.brief").read(ack), { type: "ack", id: 4, version: 13 });
  assert.deepEqual(reader("bahay.v1.brief").read("[8]"), { type: "ack", id: 8 });
});

test("the documented compact form equals the full form without its prompt", () => {
  const [, update = "", ack = ""] = /```text\n(96[0-9a-f]+)\n(92[0-9a-f]+)\n```/.exec(page) ?? [];
  const compact = reader("bahay.v1.compact");
  // A hello with its time, as MessagePack encodes the object.
  const greeting = Buffer.from(
    "82a474797065a568656c6c6fae7365727665725f74696d655f6d73cf0000019caa2da400",
    "hex",
  );
  const said = compact.read(greeting) as unknown as { server_time_ms: number };
  const { prompt: _, ...expected } = full;
  const shift = said.server_time_ms - HELLO_MS;
  const read = compact.read(Buffer.from(update, "hex")) as typeof full;
  assert.deepEqual(read.events[0], expected.events[0]);
  assert.deepEqual(read.events[1], expected.events[1]);
  assert.equal(read.server_time_ms, expected.server_time_ms + shift);
  assert.equal(read.tag, expected.tag);
  assert.deepEqual(compact.read(Buffer.from(ack, "hex")), { type: "ack", id: 4, version: 13 });
});

test("unknown messages and events are ignored", () => {
  const brief = reader("bahay.v1.brief");
  const read = brief.read('[14,"7a61673a000e",5,["invented",1],["ready",2,"more"]]');
  assert.deepEqual(read, {
    type: "update",
    version: 14,
    tag: "7a61673a000e",
    server_time_ms: HELLO_MS + 5,
    events: [{ type: "ready", seat: 2 }],
  });
  assert.throws(() => brief.read("nonsense"));
  assert.throws(() => brief.read("7"));
  assert.throws(() => reader("bahay.v1.compact").read(Uint8Array.from([0x92, 4])));
});
