// Plays the tapes of the folder beside this package, and those of BAHAY_TAPES if it names a folder. Corrupted
// tapes must fail.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { play } from "./tape.js";

const ROOT = process.env["BAHAY_ROOT"] ?? "../..";
const OWN = join(ROOT, "clients/tapes");

/** Returns every tape of a folder, with its name. */
function readTapes(folder: string): [string, string][] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".jsonl")).sort();
  return names.map((name) => [name, readFileSync(join(folder, name), "utf8")]);
}

for (const folder of [OWN, process.env["BAHAY_TAPES"] ?? []].flat()) {
  test(`the client agrees with every tape of ${folder}`, (context) => {
    let [count, connections, shows] = [0, 0, 0];
    for (const [name, text] of readTapes(folder)) {
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

/** Returns a tape with a line removed or changed, or null if it has no such line. */
type Corruption = (lines: string[]) => string[] | null;

const removeLine =
  (part: string): Corruption =>
  (lines) => {
    const place = lines.findIndex((line) => line.includes(part));
    return place < 0 ? null : [...lines.slice(0, place), ...lines.slice(place + 1)];
  };

const replaceInLine =
  (part: RegExp, other: string): Corruption =>
  (lines) => {
    const place = lines.findIndex((line) => part.test(line));
    return place < 0 ? null : lines.map((line, at) => (at === place ? line.replace(part, other) : line));
  };

const CORRUPTIONS: [string, Corruption][] = [
  ["a removed command", removeLine('"send":{"action"')],
  ["a removed reveal", removeLine('"type":"reveal"')],
  ["a removed outcome", removeLine('"end"')],
  ["a changed digest", replaceInLine(/"digest":"[0-9a-f]{4}/, '"digest":"0000')],
  ["a changed version", replaceInLine(/("show".*"version":)\d+/, "$10")],
  ["a changed outcome", replaceInLine(/"outcome":"done"/, '"outcome":"overtaken"')],
  ["a changed position of a join", replaceInLine(/"from":\d+/, '"from":1')],
  ["a removed close", removeLine('"close":4001')],
  ["a removed update", removeLine('[\\"countdown\\",20000]]"}')],
  ["a removed answer", replaceInLine(/^.*"heard":"\[\d+,\d+\]".*$/, '{"at":0,"net":"up"}')],
];

for (const [what, corrupt] of CORRUPTIONS) {
  test(`${what} fails`, () => {
    let found = 0;
    for (const [name, text] of readTapes(OWN)) {
      const corrupted = corrupt(text.trimEnd().split("\n"));
      if (!corrupted) continue;
      found += 1;
      assert.throws(() => play(corrupted.join("\n")), name);
    }
    assert.ok(found > 0, "no tape has it");
  });
}
