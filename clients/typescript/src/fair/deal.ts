// Checks a deal as docs/FAIRNESS.md tells it, step by step, so that a page can show each of them:
// what was computed, what was said, and whether they agree.

import type { DealSeen } from "../core/types.js";
import { encode } from "../core/utf8.js";
import type { GameModel, Redealt } from "../games/model.js";
import { Stream } from "./chacha20.js";
import { concat, fromHex, hmacSha256, sha256, sha256OfText, toHex } from "./sha256.js";

const PURPOSE = "bahay/shuffle/v1";
const ZEROS = "0".repeat(64);
/** What a record without a kind is of. */
const FIRST_KIND = "tongits";

/** What the record of a game and `GET /v1/games/{id}/fairness` both say. */
export interface DealRecord {
  readonly game: string;
  readonly kind?: string;
  readonly commitment: string;
  readonly server_seed: string;
  readonly clients: readonly {
    readonly commitment: string;
    readonly seed: string;
    readonly text: string | null;
  }[];
  readonly starter: number | null;
  readonly chance: readonly unknown[];
  /** Of a record: by its rules the cards are dealt. */
  readonly terms?: { readonly rules?: unknown };
}

export interface CheckStep {
  /**
   * `commitment`, `client_seed`, `shown_commitment`, `shown_commitments`, `own_text`, `own_hand`, and
   * between them what the game draws, in its own words.
   */
  readonly name: string;
  /** Which client the step is about. */
  readonly seat: number | null;
  /** The rule that it follows. */
  readonly rule: string;
  readonly computed: string;
  readonly said: string;
  readonly holds: boolean;
}

export interface DealCheck {
  /** The game, by its name. */
  readonly kind: string;
  readonly holds: boolean;
  readonly steps: readonly CheckStep[];
  /** The hands that the deck gives, by seat; null where the rules were not told. */
  readonly hands: readonly (readonly string[])[] | null;
}

/** The commitment to the seed that is made of a text. */
export function commitmentTo(text: string): string {
  return toHex(sha256(sha256OfText(text)));
}

/** The commitment to a server's seed. */
export function commitmentOf(serverSeed: string): string {
  return toHex(sha256(fromHex(serverSeed)));
}

/** The key of a deal (rule 9.2). */
export function dealKey(serverSeed: string, game: string, seeds: readonly string[]): Uint8Array {
  const purpose = encode(PURPOSE);
  return hmacSha256(fromHex(serverSeed), concat([purpose, fromHex(game), ...seeds.map(fromHex)]));
}

/** The game that a record is of. */
export function kindOf(record: DealRecord): string {
  return record.kind ?? FIRST_KIND;
}

/**
 * Recomputes a deal, by the model of its game: without one it does not hold. With `seen` also what only
 * this client can know.
 */
export function checkRecordedDeal(
  record: DealRecord,
  model: GameModel | null,
  seen: DealSeen | null = null,
): DealCheck {
  const steps: CheckStep[] = [];
  const add = (
    name: CheckStep["name"],
    rule: string,
    computed: string,
    said: string,
    seat: number | null = null,
  ): void => {
    steps.push({ name, seat, rule, computed, said, holds: computed === said });
  };
  add("commitment", "9.1", commitmentOf(record.server_seed), record.commitment);
  record.clients.forEach(({ commitment, seed, text }, seat) => {
    if (text === null) {
      add("client_seed", "9.1", commitment, seed, seat);
      return;
    }
    const computed = toHex(sha256OfText(text));
    add("client_seed", "9.1", computed, seed, seat);
    add("client_seed", "9.1", toHex(sha256(fromHex(computed))), commitment, seat);
  });
  const seeds = record.clients.map(({ seed }) => seed);
  const stream = new Stream(dealKey(record.server_seed, record.game, seeds));
  const { starter, chance } = record;
  const rules = record.terms?.rules;
  const seats = record.clients.length;
  const dealt = model?.redeal({ stream, seats, starter, chance, rules, step: add }) ?? null;
  if (seen?.game === record.game) steps.push(...ownSteps(record, seen, dealt));
  const holds = model !== null && steps.every((step) => step.holds);
  return { kind: kindOf(record), holds, steps, hands: dealt?.hands ?? null };
}

/** What a client notes while the game is prepared, and compares afterwards. */
function ownSteps(
  record: DealRecord,
  seen: DealSeen,
  dealt: Redealt | null,
): CheckStep[] {
  const { seat } = seen;
  const steps: CheckStep[] = [];
  const add = (name: CheckStep["name"], rule: string, computed: string, said: string): void => {
    steps.push({ name, seat, rule, computed, said, holds: computed === said });
  };
  if (seen.commitment !== null) {
    add("shown_commitment", "9.5", seen.commitment, record.commitment);
  }
  if (seen.commitments !== null) {
    const shown = seen.commitments.map((commitment) => commitment || ZEROS);
    const said = record.clients.map(({ commitment }) => commitment);
    add("shown_commitments", "9.5", shown.join(" "), said.join(" "));
  }
  const own = seat === null ? undefined : record.clients[seat];
  // Where the answer got lost nobody can tell whether it came in time; the record says.
  if (own && seen.text !== null && (seen.revealed || own.text !== null)) {
    add("own_text", "9.5", seen.text, own.text ?? "");
  }
  const hand = seat === null ? undefined : dealt?.hands[seat];
  if (dealt && hand && seen.hand !== null) {
    add("own_hand", dealt.rule, hand.join(" "), seen.hand.join(" "));
  }
  return steps;
}
