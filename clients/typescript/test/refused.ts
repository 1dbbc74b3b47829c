// What every model of a game is held to by the tapes: it finds no reason against what the server lists,
// and one against everything else that a player could try.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

import type { Action } from "../src/index.js";
import { type Look, canonical, play } from "./tape.js";

const ROOT = process.env["BAHAY_ROOT"] ?? "../..";
const FOLDER = process.env["BAHAY_TAPES"] ?? join(ROOT, "clients/tapes");

/** Plays tapes of a game and looks at what happens in them. */
export function each(kind: string, most: number, look: Look): void {
  const names = readdirSync(FOLDER).filter((name) => name.startsWith(`${kind}-`)).sort().slice(0, most);
  assert.ok(names.length >= 10, `only ${names.length} tapes of ${kind}`);
  for (const name of names) play(readFileSync(join(FOLDER, name), "utf8"), look);
}

/** A model of a game, and what could be tried of it. */
export interface Tried<View, Tries extends object> {
  readonly kind: string;
  readonly most: number;
  readonly whyNot: (view: View, action: Tries) => { readonly code: string; readonly rule: string } | null;
  readonly tries: (view: View) => readonly Tries[];
  /** As the server lists it, where that leaves something out. */
  readonly asListed?: (action: Tries) => object;
  /** Of such actions the server lists only some of the legal ones. */
  readonly isListedInPart?: (action: Tries) => boolean;
}

/** Holds a model to the tapes, over more than so many actions that are legal and others; each of the codes
 * is to be met. */
export function assertRefusals<View, Tries extends object>(
  { kind, most, whyNot, tries, asListed = (action) => action, isListedInPart = () => false }: Tried<View, Tries>,
  more: { readonly legal: number; readonly others: number },
  codes: readonly string[],
): void {
  let [legal, others] = [0, 0];
  const met = new Set<string>();
  each(kind, most, (told, { table }) => {
    const phase = table?.view.phase;
    if (told.type !== "table" || phase?.type !== "playing" || !table?.prompt) return;
    const view = phase.view as View;
    const listed = new Set(table.prompt.legal.map((action: Action) => canonical(action)));
    for (const action of table.prompt.legal) {
      assert.equal(whyNot(view, action as Tries), null, canonical(action));
      legal += 1;
    }
    for (const action of tries(view)) {
      if (listed.has(canonical(asListed(action)))) continue;
      const why = whyNot(view, action);
      if (why === null && isListedInPart(action)) continue;
      assert.ok(why && why.rule !== "", `${canonical(action)} is not listed in ${canonical(view)}`);
      met.add(why.code);
      others += 1;
    }
  });
  assert.ok(legal > more.legal && others > more.others, `${legal} and ${others}`);
  for (const code of codes) assert.ok(met.has(code), `nothing was refused as ${code}`);
}
