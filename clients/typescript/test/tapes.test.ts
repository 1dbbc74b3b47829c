// Holds the core to tapes: those of the folder beside this package, and those of another folder, where
// BAHAY_TAPES names one. Then to tapes that were spoilt, which must be noticed.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { play } from "./tape.js";

const ROOT = process.env["BAHAY_ROOT"] ?? "../..";
const OWN = join(ROOT, "clients/tapes");

/** Every tape of a folder, by its name. */
function tapesOf(folder: string): [string, string][] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".jsonl")).sort();
  return names.map((name) => [name, readFileSync(join(folder, name), "utf8")]);
}

for (const folder of [OWN, process.env["BAHAY_TAPES"] ?? []].flat()) {
  test(`every tape of ${folder} is played as it says`, (context) => {
    let [count, connections, shows] = [0, 0, 0];
    for (const [name, text] of tapesOf(folder)) {
      try {
        const played = play(text);
        connections += played.connections;
        shows += played.shows;
      } catch (error) {
        throw new Error(`${name}: ${(error as Error).message}`);
      }
      count += 1;
    }
    assert.ok(count >= 20, `only ${count} tapes`);
    context.diagnostic(`${count} tapes, ${connections} connections, ${shows} views compared`);
  });
}

/** A tape without, or with another, line of some kind; null where it has none. */
type Spoil = (lines: string[]) => string[] | null;

const without =
  (part: string): Spoil =>
  (lines) => {
    const place = lines.findIndex((line) => line.includes(part));
    return place < 0 ? null : [...lines.slice(0, place), ...lines.slice(place + 1)];
  };

const instead =
  (part: RegExp, other: string): Spoil =>
  (lines) => {
    const place = lines.findIndex((line) => part.test(line));
    return place < 0 ? null : lines.map((line, at) => (at === place ? line.replace(part, other) : line));
  };

const SPOILT: [string, Spoil][] = [
  ["a command that is not named", without('"send":{"action"')],
  ["a text that is not named", without('"type":"reveal"')],
  ["an end that is not named", without('"end"')],
  ["another digest", instead(/"digest":"[0-9a-f]{4}/, '"digest":"0000')],
  ["another version", instead(/("show".*"version":)\d+/, "$10")],
  ["another outcome", instead(/"outcome":"done"/, '"outcome":"overtaken"')],
  ["another place to go on from", instead(/"from":\d+/, '"from":1')],
  ["a connection that nobody closed", without('"close":4001')],
  ["an update that is missing", without('[\\"countdown\\",20000]]"}')],
  ["an answer that is missing", instead(/^.*"heard":"\[\d+,\d+\]".*$/, '{"at":0,"net":"up"}')],
];

for (const [what, spoil] of SPOILT) {
  test(`${what} is noticed`, () => {
    let found = 0;
    for (const [name, text] of tapesOf(OWN)) {
      const spoilt = spoil(text.trimEnd().split("\n"));
      if (!spoilt) continue;
      found += 1;
      assert.throws(() => play(spoilt.join("\n")), name);
    }
    assert.ok(found > 0, "no tape has it");
  });
}
