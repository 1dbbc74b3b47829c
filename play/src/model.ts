// The messages and resources of the house, as far as the pages use them; asyncapi.yaml and openapi.yaml
// define them in full.

export type Card = string;
export type Seat = number;
/** An amount in hundredths of a coin. */
export type Coins = number;

export interface SeatView {
  player: string;
  name: string;
  avatar?: string | null;
  bot: boolean;
  connected: boolean;
  taken_over: boolean;
}

export interface Terms {
  room: string;
  rules: Record<string, unknown>;
  price: { bet: Coins; multiplier: number; fee_basis_points: number };
  hits?: { ante: number; to_win: number; second_hit_bonus: number } | null;
  clocks: { prepare_ms: number; [name: string]: number };
  private?: unknown;
  /** The place of the table in a tournament; its games are for points. */
  tournament?: { tournament: string; round: number; number: number; games: number } | null;
  /** True if the table is for practice: without coins, with a bot's advice. */
  practice?: boolean;
}

export type Phase =
  | { type: 'waiting' }
  /** `ready`, and `revealed` below, have at most the viewer's own seat. */
  | { type: 'preparing'; game: string; commitment: string; deadline_ms: number; ready: Seat[] }
  | { type: 'opening'; game: string }
  | { type: 'revealing'; game: string; deadline_ms: number; revealed: Seat[]; commitments: string[] }
  | { type: 'playing'; game: string; stakes: Coins[]; deadline_ms: number | null; view: unknown }
  | { type: 'settling'; game: string; settlement: Settlement };

export interface TableView {
  table: string;
  terms: Terms;
  kind: string;
  seat: Seat | null;
  seats: (SeatView | null)[];
  pot: Coins;
  crown: { player: string; wins: number } | null;
  phase: Phase;
}

export interface Item { name: string; rule: string; counts: number }
export interface Payment { from: Seat; to: Seat; items: Item[]; owed: Coins; paid: Coins }

export interface Settlement {
  winner: Seat | null;
  payments: Payment[];
  fees: { seat: Seat; gross: Coins; fee: Coins }[];
  pot: { seat: Seat; amount: Coins } | null;
}

export interface Prompt {
  game: string;
  number: number;
  seats: Seat[];
  deadline_ms: number | null;
  legal: Action[];
}

/** An action of some game, whose folder knows its fields. */
export interface Action { type: string; [field: string]: unknown }

export interface TableState {
  view: TableView;
  version: number;
  prompt: Prompt | null;
  current: boolean;
}

export type TableEvent = { type: string; [field: string]: unknown };

export interface Room {
  id: string;
  name: string;
  kind: string;
  game: string;
  rule_set: string;
  bet: Coins;
  ante: Coins;
  multiplier: number;
  wallet_min: Coins;
  wallet_max: Coins | null;
  hits_to_win: number | null;
  is_open: boolean;
  needs_account: boolean;
  players: number;
  tables: number;
  seats: number;
  seats_min: number;
  /** The most that one game can cost a seat, including the ante; absent if the house does not state it. */
  loss_max?: Coins;
}

export interface PrivateTable {
  code: string;
  link: string;
  table: string;
  host: string;
  bet: Coins;
  seats: number;
  players: string[];
  kind: string;
  loss_max?: Coins;
}

export interface PrivateTable { code: string; link: string; table: string; host: string; bet: number; seats: number; players: string[]; kind: string }

export interface Me { id: string; name: string; avatar: string; renamable_at: string | null }

export interface Rewards {
  daily: { amount: Coins; claimable: boolean; claimable_at: string; streak_day: number };
  relief: { amount: Coins; claimable: boolean; floor: Coins; left_today: number };
}

export interface MyGame {
  id: string;
  kind: string;
  room: string;
  net: Coins;
  outcome: 'won' | 'lost' | 'drawn' | 'voided';
  ending: string | null;
  finished_at: string;
  state: 'settled' | 'voided';
}

/** A finished game in full. */
export interface Game {
  id: string;
  table: string;
  kind: string;
  room: string;
  state: 'settled' | 'voided';
  seats: { seat: Seat; player: string; name: string; is_bot: boolean; net: Coins }[];
  settlement: Settlement | null;
}

export interface Place { rank: number; player: string; name: string; score: number }

export interface GameStep {
  number: number;
  at: string;
  taken: { seat: Seat; by: 'player' | 'clock' | 'ai'; action: Action } | null;
  events: TableEvent[];
  view: unknown;
}

export const PHRASES = ['hello', 'good_luck', 'thanks', 'well_played', 'sorry', 'hurry', 'nice_fight',
  'i_surrender', 'one_more_game', 'goodbye'] as const;
export const EMOJI: Record<string, string> = {
  emoji_smile: '🙂', emoji_laugh: '😂', emoji_cry: '😢', emoji_angry: '😠', emoji_surprised: '😮',
  emoji_thinking: '🤔', emoji_sleepy: '😴', emoji_heart: '❤️', emoji_clap: '👏', emoji_fire: '🔥',
};
