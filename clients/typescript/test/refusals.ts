// Checks a game's model against the tapes: it has no reason against an action that the server lists, and one
// against every other action that a player could try.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

import type { Action } from "../src/index.js";
import { type Observer, canonical, play } from "./tape.js";

const ROOT = process.env["BAHAY_ROOT"] ?? "../..";
const FOLDER = process.env["BAHAY_TAPES"] ?? join(ROOT, "clients/tapes");

/** Plays tapes of a game, and calls `look` with each notification. */
export function playTapes(kind: string, tapesMax: number, observer: Observer): void {
  const names = readdirSync(FOLDER).filter((name) => name.startsWith(`${kind}-`)).sort().slice(0, tapesMax);
  assert.ok(names.length >= 10, `only ${names.length} tapes of ${kind}`);
  for (const name of names) play(readFileSync(join(FOLDER, name), "utf8"), observer);
}

/** A model of a game, and the actions to try. */
export interface ModelCheck<View, Candidate extends object> {
  readonly kind: string;
  readonly tapesMax: number;
  readonly whyNot: (view: View, action: Candidate) => { readonly code: string; readonly rule: string } | null;
  readonly candidates: (view: View) => readonly Candidate[];
  /** Returns the action as the server lists it, if the list omits a part of it. */
  readonly asListed?: (action: Candidate) => object;
  /** Returns whether the server lists only some of the legal actions of this sort. */
  readonly isListedInPart?: (action: Candidate) => boolean;
}

/**
 * Checks a model against the tapes, with more than the given numbers of legal and other actions; each of the
 * codes must occur.
 */
export function assertRefusals<View, Candidate extends object>(
  { kind, tapesMax, whyNot, candidates, asListed = (action) => action, isListedInPart = () => false }: ModelCheck<View, Candidate>,
  more: { readonly legal: number; readonly others: number },
  codes: readonly string[],
): void {
  let legal = 0;
  let others = 0;
  const seenCodes = new Set<string>();
  playTapes(kind, tapesMax, (notification, { table }) => {
    const phase = table?.view.phase;
    if (notification.type !== "table" || phase?.type !== "playing" || !table?.prompt) return;
    const view = phase.view as View;
    const listed = new Set(table.prompt.legal.map((action: Action) => canonical(action)));
    for (const action of table.prompt.legal) {
      assert.equal(whyNot(view, action as Candidate), null, canonical(action));
      legal += 1;
    }
    for (const action of candidates(view)) {
      if (listed.has(canonical(asListed(action)))) continue;
      const why = whyNot(view, action);
      if (why === null && isListedInPart(action)) continue;
      assert.ok(why && why.rule !== "", `${canonical(action)} is not listed in ${canonical(view)}`);
      seenCodes.add(why.code);
      others += 1;
    }
  });
  assert.ok(legal > more.legal && others > more.others, `${legal} and ${others}`);
  for (const code of codes) assert.ok(seenCodes.has(code), `nothing was refused as ${code}`);
}
