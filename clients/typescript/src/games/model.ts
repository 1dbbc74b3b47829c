// What the core needs to know of a game: how its view follows its events, what is asked, how its
// common events are shortened on the wire, and how its cards are dealt. The core itself knows no game.

import type { Stream } from "../fair/chacha20.js";

/** One game. Views and events are what asyncapi.yaml says; none of them is ever changed in place. */
export interface GameModel {
  /** As in `view.kind`. */
  readonly kind: string;
  /** The words of its short events, in the order in which the server numbers them. */
  readonly shortEvents: readonly string[];
  /** An event from the fields of its short form; null where this version does not know it. */
  readShort(word: string, fields: readonly unknown[]): object | null;
  /** A game that begins, as this seat sees it. */
  begin(rules: unknown, seats: number, starter: number | null, viewer: number | null): object;
  /** The view after an event; an event that is not known leaves it as it is. */
  observe(view: object, event: object): object;
  /** The open question. */
  prompt(view: object): GamePrompt | null;
  /** What the viewer may do now, in the order in which the server lists it. */
  legal(view: object): object[];
  /** Draws again what the record says that chance decided, and notes a step for each thing drawn. */
  redeal(record: Redeal): Redealt | null;
}

/** The games that a client knows, by the name of the kind. One that is loaded later is added. */
export type Models = ReadonlyMap<string, GameModel>;

/** A game that is dealt again from its seeds. */
export interface Redeal {
  readonly stream: Stream;
  readonly seats: number;
  /** Null where chance decides about it. */
  readonly starter: number | null;
  /** What the record says, in order. */
  readonly chance: readonly unknown[];
  /** Of a record alone. */
  readonly rules: unknown;
  readonly step: (name: string, rule: string, computed: string, said: string) => void;
}

/** The hands that the deck gives, by seat, each as its player is shown it. */
export interface Redealt {
  readonly hands: readonly (readonly string[])[];
  /** The rule by which they are dealt. */
  readonly rule: string;
}

export interface GamePrompt {
  readonly number: number;
  readonly seats: readonly number[];
}
