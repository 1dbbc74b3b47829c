// The view of a game of Tong-its: the schemas TongitsView and TongitsEvent of asyncapi.yaml.
import type { Card, Seat } from '../../model.ts';

export interface Rules {
  deal: 'clockwise' | 'counterclockwise';
  dump_addable: boolean;
  secret_run_min: number;
  bahay: boolean;
  spread: boolean;
  jokers: boolean;
  countdowns: { draw_ms: number; play_ms: number; fight_ms: number };
  [name: string]: unknown;
}

export interface Meld {
  owner: Seat;
  cards: Card[];
  by: Card[][];
  face_down?: number | null;
  sagasa?: boolean;
}

export interface Shown {
  hand: Card[];
  arrangement: { melds: Card[][]; leftover: Card[]; deadwood: number };
  burned: boolean;
  points: number;
  face_down?: Card[][];
}

export type GamePhase =
  | { type: 'starter' }
  | { type: 'deal'; starter: Seat }
  | { type: 'draw'; seat: Seat; fight_blocked: boolean }
  | { type: 'play'; seat: Seat }
  | { type: 'fight'; fighter: Seat; asked: Seat[]; asked_secretly: Seat[]; answered: Seat[] }
  | { type: 'over' };

export interface End {
  ending: 'tongits' | 'fight' | 'stock';
  winner: Seat | null;
  showdown: Seat[];
  special?: 'spread' | 'zero_count_fight' | null;
}

export interface Public {
  rules: Rules;
  phase: GamePhase;
  prompt: number;
  hand_counts: number[];
  stock_count: number;
  discards: Card[];
  melds: Meld[];
  added_to: Seat[];
  shown: Shown[] | null;
  end: End | null;
}

export interface View {
  viewer: Seat | null;
  public: Public;
  hands: (Card[] | null)[];
  answers: [Seat, 'challenge' | 'fold'][];
}

export type GameEvent =
  | { type: 'starter_chosen'; seat: Seat }
  | { type: 'dealt'; starter: Seat; hands: (Card[] | null)[] }
  | { type: 'drawn'; seat: Seat; card: Card | null; auto: boolean }
  | { type: 'chowed'; seat: Seat; discard: Card; cards: Card[] }
  | { type: 'dropped'; seat: Seat; cards: Card[] }
  | { type: 'laid_face_down'; seat: Seat; cards: Card[]; count: number }
  | { type: 'sapawed'; seat: Seat; card: Card; meld: number }
  | { type: 'sagasa'; seat: Seat; meld: number }
  | { type: 'dumped'; seat: Seat; card: Card }
  | { type: 'tongits_declared'; seat: Seat }
  | { type: 'fought'; seat: Seat; asked: Seat[]; asked_secretly: Seat[] }
  | { type: 'answered'; seat: Seat; answer: 'challenge' | 'fold' }
  | { type: 'shown'; hands: Shown[] }
  | ({ type: 'over' } & End);
