// The interface of a game's folder: its `index` exports a `folder` with the game's own parts of the table,
// and `style.css` holds its own style, if any. The frame has the common parts: seats, clock, money, and the
// ways to a table. `list` has what other pages show of a game.
import type { ComponentChildren, ComponentType } from 'preact';
import type { GameModel } from '../../../clients/typescript/src/games/model.ts';
import type { Action, GameStep, Item, Seat, SeatView, Settlement, TableState, TableView, Terms } from '../model.ts';
import type { RulesPage } from '../rules.tsx';
import type { TableChange } from '../house.ts';

/** The public parts of a seat beside its player. */
export interface SeatInfo {
  /** True if the seat has to act. */
  acting: boolean;
  /** The number of cards that the seat holds; null if it holds none. */
  cards: number | null;
  /** The game's short note on the seat. */
  note: string | null;
  /** Further public parts of the seat, such as chips and tokens. */
  more?: ComponentChildren;
  /** True if the seat is out of the running game. */
  out?: boolean;
}

/** A bot's action in words, and its places on the table as selectors. */
export interface DescribedAction { words: string; marks: readonly string[] }

/** A short hint for one moment. */
export interface Hint {
  /** The same name for the same advice. */
  name: string;
  text: string;
  /** The types of the actions by which the player shows that the hint is learnt. */
  by: readonly string[];
}

/** A lesson of the guide through a first game, which is shown once. */
export interface Lesson { name: string; title: string; text: string; marks: readonly string[] }

/** A finished game as this page saw it. */
export interface FinishedGame {
  game: string;
  kind: string;
  table: string;
  room: string;
  viewer: Seat | null;
  seats: (SeatView | null)[];
  settlement: Settlement;
  hitsToWin: number | null;
  /** True if the game was practice: without coins and without a record. */
  practice: boolean;
  /** The tournament of the game, whose amounts are points. */
  tournament?: string | null;
  /** The POT after the settlement. */
  pot: number | null;
  crown: { player: string; wins: number } | null;
  /** The game's own details: the kind of ending, and all hands. */
  detail: unknown;
}

export interface GameFolder {
  /** The model by which the client package follows the game. */
  model: GameModel;
  /** Table, hand and actions during a game, and the empty table otherwise. */
  Board: ComponentType<{ state: TableState }>;
  /** The end of a game with all hands. The frame shows the money. */
  Showdown: ComponentType<{ ended: FinishedGame }>;
  /** A step of a replay. */
  Step: ComponentType<{ step: GameStep; seats: string[]; viewer: Seat }>;
  /** Returns the game's own name of a settlement item, if it has one. */
  itemName?: (name: string) => string | null;
  /** Returns a settlement item in words, if the game counts it in a unit of its own. */
  itemWords?: (item: Item) => string;
  /** Returns the gain or loss of practice in words, if the game counts in a unit of its own. */
  countWords?: (count: number) => string;
  /** Returns the game's own name of a step in the check of a deal, if it has one. */
  stepName?: (name: string) => string | null;
  /** Returns the name of an ending. */
  ending: (ended: FinishedGame) => string;
  endingName: (name: string) => string;
  seatInfo: (view: TableView, seat: Seat) => SeatInfo;
  /** Returns the full length of the running countdown, in ms. */
  countdownMs: (view: TableView) => number;
  /** Returns the status line for the viewer. */
  status: (state: TableState) => { text: string; urgent: boolean };
  /** Returns the hints for this moment, the most useful first. */
  hints: (state: TableState) => readonly Hint[];
  /** Returns a bot's action in words, with its places on the table. */
  describeAction: (state: TableState, action: Action) => DescribedAction;
  /**
   * Loads a function that explains in a sentence, from what the player sees, why a bot would choose an
   * action; it returns null without a reason.
   */
  reasons: () => Promise<(state: TableState, action: Action) => string | null>;
  /** Loads the rules for a table with these terms, or the usual ones. */
  rules: (terms: Terms | null) => Promise<RulesPage>;
  /**
   * Loads the lessons of a first game: a function that returns those that fit the moment, the first one
   * first.
   */
  lessons?: () => Promise<(state: TableState) => readonly Lesson[]>;
  /** Starts the animations of a change, and returns it in words. */
  showChange: (change: TableChange) => string[];
  /** Returns the game's details of its end from its events. */
  endDetail: (change: TableChange) => unknown;
}
