// Checks a deal as docs/FAIRNESS.md describes it, step by step, so that a page can show for each step the
// computed value, the server's value, and whether they agree.

import type { DealObservation } from "../core/types.js";
import { encode } from "../core/utf8.js";
import type { GameModel, Redealt } from "../games/model.js";
import { Stream } from "./chacha20.js";
import { concat, fromHex, hmacSha256, sha256, sha256OfText, toHex } from "./sha256.js";

const PURPOSE = "bahay/shuffle/v1";
const ZEROS = "0".repeat(64);
/** The kind of a record that names none. */
const FIRST_KIND = "tongits";

/** The fields that a game's record and `GET /v1/games/{id}/fairness` share. */
export interface DealRecord {
  readonly game: string;
  /** The id in the key, only in `fairness`; a record has it in its terms. */
  readonly deal_id?: string;
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
  /** The terms, only in a record; the cards are dealt by their rules. */
  readonly terms?: {
    readonly rules?: unknown;
    /** The place of a tournament's table; with `commitments` all tables of its round play the deal. */
    readonly tournament?: { readonly tournament: string; readonly commitments?: readonly string[] };
  };
}

export interface CheckStep {
  /**
   * `commitment`, `client_seed`, `shown_commitment`, `shown_commitments`, `own_text`, `own_hand`, and between
   * them the game's own draws, as the game names them.
   */
  readonly name: string;
  /** The seat of the client that the step concerns. */
  readonly seat: number | null;
  /** The number of the rule that the step follows. */
  readonly rule: string;
  readonly computed: string;
  readonly said: string;
  readonly holds: boolean;
}

export interface DealCheck {
  /** The name of the game. */
  readonly kind: string;
  readonly holds: boolean;
  readonly steps: readonly CheckStep[];
  /** The hands dealt from the deck, by seat; null if the rules are unknown. */
  readonly hands: readonly (readonly string[])[] | null;
}

/** Returns the commitment to the seed that is made of a text. */
export function commitmentTo(text: string): string {
  return toHex(sha256(sha256OfText(text)));
}

/** Returns the commitment to a server's seed. */
export function commitmentOf(serverSeed: string): string {
  return toHex(sha256(fromHex(serverSeed)));
}

/** Returns the key of a deal (rule 9.2); the id is that of `dealIdOf`. */
export function dealKey(serverSeed: string, id: string, seeds: readonly string[]): Uint8Array {
  const purpose = encode(PURPOSE);
  return hmacSha256(fromHex(serverSeed), concat([purpose, fromHex(id), ...seeds.map(fromHex)]));
}

/**
 * Returns the id in the key of a deal: the game's, or the tournament's if all tables of a duplicate's round have
 * played the deal.
 */
export function dealIdOf(record: DealRecord): string {
  const tournament = record.terms?.tournament;
  return record.deal_id ?? (tournament?.commitments ? tournament.tournament : record.game);
}

/** Returns the kind of a record's game. */
export function kindOf(record: DealRecord): string {
  return record.kind ?? FIRST_KIND;
}

/**
 * Recomputes a deal with the model of its game, without which the check fails. With `observation`, the client's own
 * observations are checked too.
 */
export function checkRecordedDeal(
  record: DealRecord,
  model: GameModel | null,
  observation: DealObservation | null = null,
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
  const stream = new Stream(dealKey(record.server_seed, dealIdOf(record), seeds));
  const { starter, chance } = record;
  const rules = record.terms?.rules;
  const seats = record.clients.length;
  const dealt = model?.redeal({ stream, seats, starter, chance, rules, step: add }) ?? null;
  if (observation?.game === record.game) steps.push(...observationSteps(record, observation, dealt));
  const holds = model !== null && steps.every((step) => step.holds);
  return { kind: kindOf(record), holds, steps, hands: dealt?.hands ?? null };
}

/** Adds the steps that compare the record with the client's observations during the preparation. */
function observationSteps(
  record: DealRecord,
  observation: DealObservation,
  dealt: Redealt | null,
): CheckStep[] {
  const { seat } = observation;
  const steps: CheckStep[] = [];
  const add = (name: CheckStep["name"], rule: string, computed: string, said: string): void => {
    steps.push({ name, seat, rule, computed, said, holds: computed === said });
  };
  if (observation.commitment !== null) {
    add("shown_commitment", "9.5", observation.commitment, record.commitment);
  }
  if (observation.commitments !== null) {
    const shown = observation.commitments.map((commitment) => commitment || ZEROS);
    const said = record.clients.map(({ commitment }) => commitment);
    add("shown_commitments", "9.5", shown.join(" "), said.join(" "));
  }
  const own = seat === null ? undefined : record.clients[seat];
  // If the answer got lost, only the record knows whether the text arrived in time.
  if (own && observation.text !== null && (observation.revealed || own.text !== null)) {
    add("own_text", "9.5", observation.text, own.text ?? "");
  }
  const hand = seat === null ? undefined : dealt?.hands[seat];
  if (dealt && hand && observation.hand !== null) {
    add("own_hand", dealt.rule, hand.join(" "), observation.hand.join(" "));
  }
  return steps;
}
