// The games that this page can show, with the texts of other pages about them. Everything else about a game
// is in its folder, which is loaded when the game is played or viewed (`loading`).
import { say, type Word } from '../words.ts';

export interface ListedGame {
  /** The name of the game's folder. */
  kind: string;
  /** The title for players. */
  title: string;
  /** The rule sets that a private table may choose from, each with its word; the usual one first. */
  sets: readonly (readonly [name: string, word: Word])[];
  /** The rules of a practice table without time pressure. */
  unhurried: Record<string, unknown>;
  /** True if a host may admit players whose coins do not cover a whole stake. */
  shortStakes?: boolean;
}

/** The longest countdown that the house allows. */
const LONG_MS = 600_000;

/** All games; the first is proposed to new players. */
export const GAMES: readonly [ListedGame, ...ListedGame[]] = [
  { kind: 'tongits', title: 'Tong-its', sets: [['kingdom', 'set_kingdom'], ['classic', 'set_classic'], ['joker', 'set_joker']], shortStakes: true,
    // A fight that concealed melds may answer lasts its whole countdown (rule 4.2), so here only open seats
    // answer.
    unhurried: { secret_may_challenge: false, countdowns: { draw_ms: LONG_MS, play_ms: LONG_MS, fight_ms: LONG_MS } } },
  { kind: 'tongo_assets', title: 'Tongo (assets)', sets: [['standard', 'set_standard'], ['personal', 'set_personal'], ['advanced', 'set_advanced']],
    unhurried: { countdowns: { risk_ms: LONG_MS, assess_ms: LONG_MS, answer_ms: LONG_MS } } },
  { kind: 'tongo_options', title: 'Tongo (options)', sets: [['lively', 'set_lively'], ['seed', 'set_seed']],
    unhurried: { countdowns: { stop_ms: LONG_MS, turn_ms: LONG_MS, answer_ms: LONG_MS } } },
];

export function findGame(kind: string): ListedGame | null {
  return GAMES.find((game) => game.kind === kind) ?? null;
}

export function titleOf(kind: string): string {
  return findGame(kind)?.title ?? kind;
}

/** Returns the rule sets of a game with their titles. */
export function ruleSetTitles({ sets }: ListedGame): (readonly [name: string, title: string])[] {
  return sets.map(([name, word]) => [name, say(word)] as const);
}
