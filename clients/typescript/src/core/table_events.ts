// Reads the short forms of the table's own events (docs/PROTOCOL.md, "Shorter messages").

import type { Event, Settlement } from "../gen/socket.js";
import { type Baseline, named } from "./baseline.js";

/** The words, in the order of their numbers in MessagePack. */
const WORDS = [
  "countdown", "ready", "preparing", "opening", "revealing", "text_revealed", "begun", "settlement", "settled",
  "presence", "takeover",
] as const;

/** The number of the first word; the words of a game have lower numbers. */
const FIRST_NUMBER = 64;

type TableWord = (typeof WORDS)[number];

/** The fields of an array, as they are in the event's object form. */
type Fields = readonly [never, never, never, never, never];

/** Returns the word of the table that a text or number names, or null. */
export function tableWord(word: unknown): TableWord | null {
  if (typeof word === "number") return WORDS[word - FIRST_NUMBER] ?? null;
  return WORDS.find((known) => known === word) ?? null;
}

/** Returns the event for the fields of its short form in an update between two baselines, and sets the later one. */
export function readTableEvent(word: TableWord, fields: readonly unknown[], before: Baseline, after: Baseline): Event {
  const [first, second, third, fourth] = fields as Fields;
  const now = after.time;
  const gameOf = (id: Hash | null): string => (after.game = id === null ? named(before.game) : idOf(id));
  switch (word) {
    case "countdown":
      after.countdownMs = before.countdownMs + ((first as number | undefined) ?? 0);
      return { type: "countdown", deadline_ms: now + after.countdownMs };
    case "ready":
      return { type: "ready", seat: first };
    case "preparing":
      return { type: "preparing", game: gameOf(first), commitment: hexOf(second), deadline_ms: now + third };
    case "opening":
      return { type: "opening", game: gameOf(first) };
    case "revealing": {
      const commitments = (second as readonly Hash[]).map(hexOf);
      return { type: "revealing", game: gameOf(first), commitments, pot: third, deadline_ms: now + fourth };
    }
    case "text_revealed":
      return { type: "revealed", seat: first };
    case "begun":
      return { type: "opened", game: gameOf(first), stakes: second, pot: third, starter: fourth ?? null };
    case "settlement":
      return { type: "over", game: gameOf(first), settlement: readSettlement(second), server_seed: seedOf(third) };
    case "settled":
      return { type: "settled", game: gameOf(first), pot: second, crown: readCrown(third ?? null) };
    case "presence":
      return { type: "presence", seat: first, connected: second };
    case "takeover":
      return { type: "takeover", seat: first, on: second };
  }
}

/** Returns the seed of a deal; null if other tables still play it. */
function seedOf(seed: Hash | undefined): string | null {
  return seed === undefined ? null : hexOf(seed);
}

type SettlementFields = readonly [never, readonly Fields[], readonly Fields[], Fields | null];

function readSettlement([winner, payments, fees, pot]: SettlementFields): Settlement {
  return {
    winner,
    payments: payments.map(([from, to, items, owed, paid]) => ({ from, to, items: readItems(items), owed, paid })),
    fees: fees.map(([seat, gross, fee]) => ({ seat, gross, fee })),
    pot: pot && { seat: pot[0], amount: pot[1] },
  };
}

function readItems(items: readonly Fields[]): Settlement["payments"][number]["items"] {
  return items.map(([name, rule, counts]) => ({ name, rule, counts }));
}

function readCrown(fields: Fields | null): Extract<Event, { type: "settled" }>["crown"] {
  return fields && { player: idOf(fields[0]), wins: fields[1] };
}

/** An id or a hash: a text in JSON, bytes in MessagePack. */
export type Hash = string | Uint8Array;

function idOf(id: Hash): string {
  return typeof id === "string" ? id : hexOf(id).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** Returns bytes in hexadecimal, and a text unchanged. */
export function hexOf(hash: Hash): string {
  return typeof hash === "string" ? hash : Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
