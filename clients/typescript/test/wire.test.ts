// Tests of the three forms of the same messages, by the examples of docs/PROTOCOL.md.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { MessageReader, GAMES, type Event, type Message, type ShortEvents } from "../src/index.js";
import { encode } from "./encode.js";

const ROOT = process.env["BAHAY_ROOT"] ?? "../..";
const readPage = (name: string): string => readFileSync(`${ROOT}/docs/${name}`, "utf8");
const page = readPage("PROTOCOL.md");
const MODELS = new Map(GAMES.map((model) => [model.kind, model]));
const HELLO_MS = 1_772_366_400_000;

function reader(form: "bahay.v1.brief" | "bahay.v1.compact", kind = "tongits"): MessageReader {
  const made = new MessageReader(form, MODELS, kind);
  const hello = { type: "hello", player: "p", protocol: form, server_time_ms: HELLO_MS };
  made.read(form === "bahay.v1.compact" ? encode(hello) : JSON.stringify(hello));
  return made;
}

/** Returns the events of an update that has these short events, in both short forms. */
function readBoth(kind: string, brief: readonly unknown[], compact: readonly unknown[]): readonly (readonly Event[])[] {
  const tag = Uint8Array.from([0x7a, 0x61, 0x67, 0x3a, 0, 0x0e]);
  const messages = [
    reader("bahay.v1.brief", kind).read(JSON.stringify([14, "7a61673a000e", 5, ...brief])),
    reader("bahay.v1.compact", kind).read(encode([14, tag, 5, ...compact])),
  ];
  return messages.map((message) => (message?.type === "update" ? message.events : assert.fail("no update")));
}

/** Returns the rows of the short events on a page: number, word, fields. */
function readRows(text: string): string[] {
  return [...text.matchAll(/^\d+ [a-z_]+(?: [a-z_ [\]]+)?$/gm)].map(([row]) => row);
}

const OF_TABLE = /^(?:6[4-9]|[7-9]\d) /;

type Field = ShortEvents[string][number];

const nameOf = (field: Field): string => (typeof field === "string" ? field : field[0]).replace(/\?$/, "");
const isOptional = (field: Field): boolean => typeof field !== "string" || field.endsWith("?");

/** Returns the row that documents a short event: brackets enclose the fields that may be omitted from the end. */
function formatRow(number: number, word: string, fields: readonly Field[]): string {
  const formatted = fields.reduceRight<string>((rest, field) => {
    const names = rest === "" ? nameOf(field) : `${nameOf(field)} ${rest}`;
    return isOptional(field) && (rest === "" || rest.startsWith("[")) ? `[${names}]` : names;
  }, "");
  return `${number} ${word} ${formatted}`.trimEnd();
}

/** The update that docs/PROTOCOL.md shows in all forms. */
const full = JSON.parse(
  /\{"type":"update","version":13.*\}/.exec(page)?.[0] ?? assert.fail("no example"),
) as Message & { type: "update" };

/** The part of the update before it to which the short forms refer. */
const BEFORE = [["countdown", 20_000]];

test("the documented brief form equals the full form without its prompt", () => {
  const [, update = "", ack = ""] = /```text\n(\["7a.*)\n(\[8.*)\n```/.exec(page) ?? [];
  const { prompt: _, ...expected } = full;
  assert.equal(expected.ack, 4);
  const brief = reader("bahay.v1.brief");
  brief.read(JSON.stringify([12, "7a61673a000c", 3_000, ...BEFORE]));
  assert.deepEqual(brief.read(update), expected);
  assert.deepEqual(brief.read(ack), { type: "ack", id: 8 });
  assert.deepEqual(brief.read("[4,13]"), { type: "ack", id: 4, version: 13 });
});

test("the documented compact form equals the full form without its prompt", () => {
  const [, update = "", ack = ""] = /```text\n(96[0-9a-f]+)\n(91[0-9a-f]+)\n```/.exec(page) ?? [];
  const compact = reader("bahay.v1.compact");
  compact.read(encode([12, "7a61673a000c", 3_000, ...BEFORE]));
  const { prompt: _, ...expected } = full;
  assert.deepEqual(compact.read(Buffer.from(update, "hex")), expected);
  assert.deepEqual(compact.read(Buffer.from(ack, "hex")), { type: "ack", id: 8 });
  assert.deepEqual(compact.read(Uint8Array.from([0x92, 4, 13])), { type: "ack", id: 4, version: 13 });
});

test("the short events of the table are read in both forms", () => {
  const game = "019ca944-3c00-7000-8000-000000009a3e";
  const id = Buffer.from(game.replaceAll("-", ""), "hex");
  const hash = "c0".repeat(32);
  const bytes = Buffer.from(hash, "hex");
  const settlement = {
    winner: 1,
    payments: [{ from: 0, to: 1, items: [{ name: "normal", rule: "6.1", counts: 2 }], owed: 300, paid: 200 }],
    fees: [{ seat: 1, gross: 200, fee: 10 }],
    pot: { seat: 1, amount: 600 },
  };
  const short = [1, [[0, 1, [["normal", "6.1", 2]], 300, 200]], [[1, 200, 10]], [1, 600]];
  const drawn = { winner: null, payments: [], fees: [], pot: null };
  const deadline_ms = HELLO_MS + 5 + 9_000;
  const cases: [readonly unknown[], readonly unknown[], object][] = [
    [["countdown", 9_000], [64, 9_000], { type: "countdown", deadline_ms }],
    [["countdown"], [64], { type: "countdown", deadline_ms: HELLO_MS + 5 }],
    [["ready", 2], [65, 2], { type: "ready", seat: 2 }],
    [["preparing", game, hash, 9_000], [66, id, bytes, 9_000], { type: "preparing", game, commitment: hash, deadline_ms }],
    [["opening", game], [67, id], { type: "opening", game }],
    [
      ["revealing", game, [hash, hash], 300, 9_000], [68, id, [bytes, bytes], 300, 9_000],
      { type: "revealing", game, commitments: [hash, hash], pot: 300, deadline_ms },
    ],
    [["text_revealed", 0], [69, 0], { type: "revealed", seat: 0 }],
    [["begun", game, [1400, 1400], 300], [70, id, [1400, 1400], 300], { type: "opened", game, stakes: [1400, 1400], pot: 300, starter: null }],
    [["begun", game, [1400], 300, 0], [70, id, [1400], 300, 0], { type: "opened", game, stakes: [1400], pot: 300, starter: 0 }],
    [["settlement", game, short, hash], [71, id, short, bytes], { type: "over", game, settlement, server_seed: hash }],
    [
      ["settlement", game, [null, [], [], null], hash], [71, id, [null, [], [], null], bytes],
      { type: "over", game, settlement: drawn, server_seed: hash },
    ],
    [["settlement", game, short], [71, id, short], { type: "over", game, settlement, server_seed: null }],
    [["settled", game, 600], [72, id, 600], { type: "settled", game, pot: 600, crown: null }],
    [["settled", game, 600, [game, 2]], [72, id, 600, [id, 2]], { type: "settled", game, pot: 600, crown: { player: game, wins: 2 } }],
    [["presence", 1, false], [73, 1, false], { type: "presence", seat: 1, connected: false }],
    [["takeover", 1, true], [74, 1, true], { type: "takeover", seat: 1, on: true }],
  ];
  for (const [brief, compact, expected] of cases) {
    assert.deepEqual(readBoth("tongits", [brief], [compact]), [[expected], [expected]], String(brief[0]));
  }
  const tested = cases.map(([brief, compact, expected]) => {
    const names = Object.keys(expected).slice(1).map((name) => (name === "deadline_ms" ? "ms" : name));
    return [compact[0], brief[0], ...names].join(" ");
  });
  const rows = readRows(page).filter((row) => OF_TABLE.test(row));
  assert.deepEqual([...new Set(tested)], rows.map((row) => row.replaceAll(/[[\]]/g, "")));
  for (const row of rows) {
    const [, word, ...names] = row.split(" ");
    const required = names.filter((name) => !/[[\]]/.test(name));
    const lengths = cases.map(([brief]) => brief).filter(([first]) => first === word).map((brief) => brief.length - 1);
    assert.deepEqual([Math.min(...lengths), Math.max(...lengths)], [required.length, names.length], row);
  }
});

test("the short events of the games are the documented ones", () => {
  for (const { kind, shortEvents } of GAMES) {
    const rows = readRows(kind === "tongits" ? page : readPage(`protocol/${kind}.md`));
    const formatted = Object.entries(shortEvents).map(([word, fields], number) => formatRow(number, word, fields));
    assert.deepEqual(formatted, rows.filter((row) => !OF_TABLE.test(row)), kind);
  }
});

test("the short events of the games are read in both forms, with their omitted fields", () => {
  for (const { kind, shortEvents, packedFields } of GAMES) {
    for (const [number, [word, fields]] of Object.entries(shortEvents).entries()) {
      // A number is a card where the compact form has another form than JSON.
      const isPacked = (name: string): boolean => `${word}.${name}` in packedFields || name in packedFields;
      const values = fields.map((field, at) => (isPacked(nameOf(field)) ? String(at) : at));
      const event = { type: word, ...Object.fromEntries(fields.map((field, at) => [nameOf(field), values[at]])) };
      const expected = [{ type: "game", event }];
      assert.deepEqual(readBoth(kind, [[word, ...values]], [[number, ...values]]), [expected, expected], `${kind} ${word}`);
    }
  }
  const omitted: [string, readonly unknown[], object][] = [
    ["tongits", ["drawn", 1], { type: "drawn", seat: 1, auto: false, card: null }],
    ["tongits", ["fought", 0, [1]], { type: "fought", seat: 0, asked: [1], asked_secretly: [] }],
    ["tongits", ["over", "stock", null, [0, 1]], { type: "over", ending: "stock", winner: null, showdown: [0, 1] }],
    ["tongo_options", ["drew", 1], { type: "drew", seat: 1 }],
    [
      "tongo_options", ["exchanged", 1, 2, null, 3, 0],
      { type: "exchanged", seat: 1, slot: 2, other: 3, chips: 0, leverage: false },
    ],
    ["tongo_options", ["sold", 1, 2, 3], { type: "sold", seat: 1, slot: 2, chips: 3, leverage: false }],
    ["tongo_assets", ["swapped", 1, 4], { type: "swapped", seat: 1, slot: 4, taken: "asset", discarded: "asset" }],
    ["tongo_assets", ["acquired", 1, "kept", 3], { type: "acquired", seat: 1, to: "kept", chips: 3, taken: "acquire" }],
  ];
  for (const [kind, short, event] of omitted) {
    const expected = [{ type: "game", event }];
    assert.deepEqual(readBoth(kind, [short], [short]), [expected, expected], String(short[0]));
  }
});

test("cards and structures of the compact form are read as in JSON", () => {
  const cases: [string, readonly unknown[], object][] = [
    ["tongits", [4, 0, 1], { type: "dumped", seat: 0, card: "2C" }],
    ["tongits", [0, 1, false, 53], { type: "drawn", seat: 1, auto: false, card: "X2" }],
    ["tongits", [6, 2, [[0, 13, 51], null, null]], { type: "dealt", starter: 2, hands: [["AC", "AD", "KS"], null, null] }],
    [
      "tongits", [12, [[[0, 1, 2, 13], [[[0, 1, 2]], [13], 1], false, 1], [[], [[], [], 0], false, 0, [[3, 4, 5]]]]],
      {
        type: "shown",
        hands: [
          {
            hand: ["AC", "2C", "3C", "AD"],
            arrangement: { melds: [["AC", "2C", "3C"]], leftover: ["AD"], deadwood: 1 },
            burned: false, points: 1,
          },
          {
            hand: [], arrangement: { melds: [], leftover: [], deadwood: 0 }, burned: false, points: 0,
            face_down: [["4C", "5C", "6C"]],
          },
        ],
      },
    ],
    [
      "tongo_options", [10, 1, "lower", [1, 2, 3], 4],
      { type: "costs_changed", seat: 1, how: "lower", costs: { buy: 1, sell: 2, exchange: 3 }, chips: 4 },
    ],
    ["tongo_options", [12, 1, [[4, 7]]], { type: "rolled", seat: 1, dice: [{ value: 4, place: 7 }] }],
    [
      "tongo_options", [18, [[1, [4, 11], 0, [["exact_pair", 11, 23]]]]],
      {
        type: "shown",
        hands: [{ seat: 1, hand: ["5D", "KD"], floor: 0, matches: [{ class: "exact_pair", card: "KD", floor: "KH" }] }],
      },
    ],
    ["tongo_assets", [2, 1, 4, 0, "asset"], { type: "swapped", seat: 1, slot: 4, taken: "1Ra", discarded: "asset" }],
    [
      "tongo_assets", [21, [[[97, 98], ["treasury", 7, "K", 1]], null]],
      {
        type: "shown",
        hands: [{ hand: ["7Kb", "W0"], reading: { class: "treasury", number: 7, colour: "K", wilds: 1 } }, null],
      },
    ],
  ];
  for (const [kind, short, event] of cases) {
    const compact = reader("bahay.v1.compact", kind);
    const tag = Uint8Array.from([0x7a, 0x61, 0x67, 0x3a, 0, 0x0e]);
    const update = compact.read(encode([14, tag, 5, short]));
    assert.deepEqual(update?.type === "update" ? update.events : null, [{ type: "game", event }], JSON.stringify(short));
  }
});

test("a message in a short form continues the values of earlier ones", () => {
  const game = "019ca944-3c00-7000-8000-000000009a3e";
  const tag = "7a61673a000e";
  const update = (version: number, server_time_ms: number, events: unknown): unknown =>
    ({ type: "update", version, tag, server_time_ms, events });
  for (const form of ["bahay.v1.brief", "bahay.v1.compact"] as const) {
    const continued = reader(form);
    const read = (message: unknown): Message | null =>
      continued.read(form === "bahay.v1.compact" ? encode(message) : JSON.stringify(message));
    assert.throws(() => read([tag, 5, ["ready", 2]]), /omits/);
    assert.throws(() => read([14, tag, 5, ["opening", null]]), /omits/);
    const first = HELLO_MS + 5;
    assert.deepEqual(read([14, tag, 5, ["opening", game], ["countdown", 20_000]]), update(14, first, [
      { type: "opening", game }, { type: "countdown", deadline_ms: first + 20_000 },
    ]));
    // A phrase is no message to which others refer: a client may be unable to read it.
    read({ type: "said", player: "p", phrase: "hello", server_time_ms: first + 9 });
    const second = first + 700;
    assert.deepEqual(read([tag, 700, ["settled", null, 0], ["countdown", -3]]), update(15, second, [
      { type: "settled", game, pot: 0, crown: null }, { type: "countdown", deadline_ms: second + 19_997 },
    ]));
    read({ type: "snapshot", version: 3, tag, server_time_ms: second + 100, view: { kind: "tongits" } });
    const third = second + 101;
    assert.deepEqual(read([tag, 1, ["countdown"]]), update(4, third, [
      { type: "countdown", deadline_ms: third + 19_997 },
    ]));
    assert.deepEqual(read([4, tag, 0]), update(4, third, []));
  }
});

test("unknown messages, events and elements of updates are ignored", () => {
  const brief = reader("bahay.v1.brief");
  const read = brief.read('[14,"7a61673a000e",5,["invented",1],7,"later",null,["ready",2,"more"],true,3]');
  assert.deepEqual(read, {
    type: "update",
    version: 14,
    tag: "7a61673a000e",
    server_time_ms: HELLO_MS + 5,
    events: [{ type: "ready", seat: 2 }],
    ack: 3,
  });
  assert.deepEqual(readBoth("tongits", [], [[63, 1], [127]]), [[], []]);
  assert.throws(() => brief.read("nonsense"));
  assert.throws(() => brief.read("7"));
  assert.throws(() => reader("bahay.v1.compact").read(Uint8Array.from([0x92, 4])));
});
