// The interface between the core and a game: applying events to a view, prompts, short events on the wire,
// and dealing. The core itself knows no game.

import type { Stream } from "../fair/chacha20.js";
import type { PackedFields } from "./packed.js";

/** One game. asyncapi.yaml defines its views and events; none of them is ever changed in place. */
export interface GameModel {
  /** The kind, as in `view.kind`. */
  readonly kind: string;
  /** The short events, in the order in which the server numbers their words. */
  readonly shortEvents: ShortEvents;
  /** The fields of short events that MessagePack carries in another form than JSON. */
  readonly packedFields: PackedFields;
  /** Returns the view of a seat at the beginning of a game. */
  begin(rules: unknown, seats: number, starter: number | null, viewer: number | null): object;
  /** Returns the view after an event; an unknown event leaves it as it is. */
  observe(view: object, event: object): object;
  /** Returns the open prompt. */
  prompt(view: object): GamePrompt | null;
  /** Returns the viewer's legal actions, in the server's order. */
  legal(view: object): object[];
  /** Repeats the draws that the record attributes to chance, and adds a step for each. */
  redeal(record: Redeal): Redealt | null;
}

/**
 * The names of the fields of short events, by word. A missing field has the value beside its name. A field whose
 * name ends in `?` is left out of the event if it is null or missing.
 */
export type ShortEvents = Readonly<Record<string, readonly ShortField<string>[]>>;

/** The same for the events of a type, with their words and names checked. */
export type ShortEventsOf<E extends { readonly type: string }> = {
  readonly [T in E["type"]]?: readonly ShortField<keyof Extract<E, { readonly type: T }> & string>[];
};

type ShortField<Name extends string> = Name | `${Name}?` | readonly [Name, unknown];

/** The known games by their kind. A game that is loaded later is added. */
export type Models = ReadonlyMap<string, GameModel>;

/** The inputs for dealing a game again from its seeds. */
export interface Redeal {
  readonly stream: Stream;
  readonly seats: number;
  /** Null if chance decides the starter. */
  readonly starter: number | null;
  /** The record's values, in order. */
  readonly chance: readonly unknown[];
  /** The rules, only in a record. */
  readonly rules: unknown;
  readonly step: (name: string, rule: string, computed: string, said: string) => void;
}

/** The hands dealt from the deck, by seat, each as its player sees it. */
export interface Redealt {
  readonly hands: readonly (readonly string[])[];
  /** The number of the rule by which the hands are dealt. */
  readonly rule: string;
}

export interface GamePrompt {
  readonly number: number;
  readonly seats: readonly number[];
}
