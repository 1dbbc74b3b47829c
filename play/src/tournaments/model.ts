// The documents of tournaments, as far as the pages use them; openapi.yaml defines them in full.
import type { Coins } from '../model.ts';

export type TournamentState = 'announced' | 'running' | 'ended' | 'cancelled';

export interface Tournament {
  id: string;
  name: string;
  state: TournamentState;
  format: string;
  kind: string;
  seats: number;
  entrants: number;
  entrants_min: number;
  entrants_max: number;
  buy_in: Coins;
  fee: Coins;
  guarantee: Coins;
  has_bots: boolean;
  starts_at: string | null;
}

/** A row of the standings. */
export interface StandingRow {
  rank: number | null;
  player: string;
  name: string;
  is_bot: boolean;
  score: number;
  games: number;
  is_eliminated: boolean;
}

export type EntryState = 'pending' | 'registered' | 'playing' | 'waiting' | 'paused' | 'eliminated' | 'finished';

/** The player's own entry. */
export interface Entry {
  state: EntryState;
  is_paid_by_pass: boolean;
  rank: number | null;
  score: number;
  games: number;
  table: string | null;
  place: number | null;
  prize: Coins | null;
  refund: Coins | null;
}

export interface Stage { rounds: number; games: number; advance: number }

export interface TournamentDetail extends Tournament {
  round: number;
  pool: Coins | null;
  prizes: Coins[];
  expected_pool: Coins;
  expected_prizes: Coins[];
  stages: Stage[];
  duration_s: number | null;
  late_registration_s: number;
  is_registration_open: boolean;
  is_private: boolean;
  accepts_passes: boolean;
  /** The player's unused passes that pay an entry. */
  passes: { id: string; buy_in_max: Coins }[];
  next_at: string | null;
  leaders: StandingRow[];
  entry: Entry | null;
}

/** A finished game of a tournament. */
export interface TournamentGame {
  id: string;
  round: number;
  table_number: number;
  number: number;
  scores: { player: string; points: number }[];
}

export interface Page<Item> { items: Item[]; next_cursor: string | null }

/** Returns whether no more games are played. */
export function isOver({ state }: Tournament): boolean {
  return state === 'ended' || state === 'cancelled';
}
