// The games that this page can show, with what the pages around the table say of them. All else of a
// game is in its folder, which is loaded when it is played or looked at (`loading`).
import { say, type Word } from '../words.ts';

export interface Listed {
  /** The name of its folder. */
  kind: string;
  /** As players call it. */
  title: string;
  /** The rule sets that a table for friends may choose from, with the word for each; the usual one first. */
  sets: readonly (readonly [name: string, word: Word])[];
  /** The rules of a practice table where nobody is pressed for time. */
  unhurried: Record<string, unknown>;
  /** A host may let players stay whose coins do not cover a whole stake. */
  shortStakes?: boolean;
}

/** The longest countdown that the house allows. */
const LONG_MS = 600_000;

/** The first one is proposed to who has played none. */
export const GAMES: readonly [Listed, ...Listed[]] = [
  { kind: 'tongits', title: 'Tong-its', sets: [['kingdom', 'set_kingdom'], ['classic', 'set_classic'], ['joker', 'set_joker']], shortStakes: true,
    // A fight that concealed melds may answer lasts its whole countdown (rule 4.2), so here only open seats answer.
    unhurried: { secret_may_challenge: false, countdowns: { draw_ms: LONG_MS, play_ms: LONG_MS, fight_ms: LONG_MS } } },
  { kind: 'tongo_assets', title: 'Tongo (assets)', sets: [['standard', 'set_standard'], ['personal', 'set_personal'], ['advanced', 'set_advanced']],
    unhurried: { countdowns: { risk_ms: LONG_MS, assess_ms: LONG_MS, answer_ms: LONG_MS } } },
  { kind: 'tongo_options', title: 'Tongo (options)', sets: [['lively', 'set_lively'], ['seed', 'set_seed']],
    unhurried: { countdowns: { stop_ms: LONG_MS, turn_ms: LONG_MS, answer_ms: LONG_MS } } },
];

export function listed(kind: string): Listed | null {
  return GAMES.find((game) => game.kind === kind) ?? null;
}

export function titleOf(kind: string): string {
  return listed(kind)?.title ?? kind;
}

/** The rule sets of a game, each with what it is called. */
export function setsOf({ sets }: Listed): (readonly [name: string, title: string])[] {
  return sets.map(([name, word]) => [name, say(word)] as const);
}
