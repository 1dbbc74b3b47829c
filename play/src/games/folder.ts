// What a game brings: a folder whose `index` exports a `folder`, with the parts of the table that are its
// own; and its own look, where it has one, in `style.css`. Everything else, the seats, the clock, the
// money and the way to a table, is the same for all. What the pages around the table say of it is in `list`.
import type { ComponentChildren, ComponentType } from 'preact';
import type { GameModel } from '../../../clients/typescript/src/games/model.ts';
import type { Action, GameStep, Item, Seat, SeatView, Settlement, TableState, TableView, Terms } from '../model.ts';
import type { RulesPage } from '../rules.tsx';
import type { TableTold } from '../house.ts';

/** What a seat shows beside its player. */
export interface SeatInfo {
  /** It is to act. */
  acting: boolean;
  /** How many cards it holds, if it holds any. */
  cards: number | null;
  /** A short word of the game about it. */
  note: string | null;
  /** What else there is to see of it, as chips and tokens. */
  more?: ComponentChildren;
  /** It is out of the game that is played. */
  out?: boolean;
}

/** What a bot would play: in words, and where it lies on the table, as selectors. */
export interface Advised { words: string; marks: readonly string[] }

/** Short advice for one moment. */
export interface Hint {
  /** The same wherever the same is advised. */
  name: string;
  text: string;
  /** The types of the actions by which the player shows that it is learnt. */
  by: readonly string[];
}

/** One thing that the guide through a first game explains, once. */
export interface Lesson { name: string; title: string; text: string; marks: readonly string[] }

/** A game that is over, as this page saw it. */
export interface Ended {
  game: string;
  kind: string;
  table: string;
  room: string;
  viewer: Seat | null;
  seats: (SeatView | null)[];
  settlement: Settlement;
  hitsToWin: number | null;
  /** Nothing was played for, and no record of it is kept. */
  practice: boolean;
  /** After the coins have moved. */
  pot: number | null;
  crown: { player: string; wins: number } | null;
  /** The game's own: what it ended by, and every hand. */
  detail: unknown;
}

export interface GameFolder {
  /** The rules, by which the client package follows it. */
  model: GameModel;
  /** Table, hand and actions while a game is played, and the empty table else. */
  Board: ComponentType<{ state: TableState }>;
  /** How it ended: the hands of all. The money is shown by the frame. */
  Showdown: ComponentType<{ ended: Ended }>;
  /** One step of a game that is watched again. */
  Step: ComponentType<{ step: GameStep; seats: string[]; viewer: Seat }>;
  /** What a line of a settlement is called, where it has a name of this game's own. */
  itemName?: (name: string) => string | null;
  /** A line of a settlement, where its count is told in this game's own unit. */
  itemWords?: (item: Item) => string;
  /** What was won or lost in practice, by the counts of the settlement, where they have a unit of this game's own. */
  countWords?: (count: number) => string;
  /** What a step of the check of a deal is called, where this game has its own. */
  stepName?: (name: string) => string | null;
  /** The name of an ending. */
  ending: (ended: Ended) => string;
  endingName: (name: string) => string;
  seatInfo: (view: TableView, seat: Seat) => SeatInfo;
  /** How long the countdown that runs was at its beginning. */
  countdownMs: (view: TableView) => number;
  /** What is to be said of where the table stands, to the one who looks. */
  status: (state: TableState) => { text: string; urgent: boolean };
  /** Short advice for this moment, the most useful first. */
  hints: (state: TableState) => readonly Hint[];
  /** What an action is called that a bot would play here. */
  advised: (state: TableState, action: Action) => Advised;
  /** Loads a function that tells in a sentence why a bot would play an action, by what the player sees; null where there is nothing to say. */
  reasons: () => Promise<(state: TableState, action: Action) => string | null>;
  /** Loads the rules for a table with these terms, or the usual ones. */
  rules: (terms: Terms | null) => Promise<RulesPage>;
  /** Loads the lessons of a first game: those that fit the moment, the first one first. */
  lessons?: () => Promise<(state: TableState) => readonly Lesson[]>;
  /** Moves what moves, and gives words for what happened. */
  show: (told: TableTold) => string[];
  /** What this game told of its end, out of events. */
  ended: (told: TableTold) => unknown;
}
