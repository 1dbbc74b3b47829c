// The types of the game, as in the client package.
import type {
  TongoOptionsAction, TongoOptionsClass, TongoOptionsEvent, TongoOptionsMatch, TongoOptionsPublic,
  TongoOptionsShown, TongoOptionsView,
} from '../../../../clients/typescript/src/index.ts';

export type Move = TongoOptionsAction;
export type Class = TongoOptionsClass;
export type GameEvent = TongoOptionsEvent;
export type Match = TongoOptionsMatch;
export type Open = TongoOptionsPublic;
export type Shown = TongoOptionsShown;
export type View = TongoOptionsView;
