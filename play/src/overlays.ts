// The sheets that cover any page; `overlays_view.tsx` draws them.
import { signal } from '@preact/signals';
import type { FinishedGame } from './games/folder.ts';
import type { Terms } from './model.ts';

/** The rules being read: those of a game, with the table's terms if there is a table. */
export const shownRules = signal<{ kind: string; terms: Terms | null } | null>(null);

/** The player whose profile is shown. `game` is a game of both players, for reports. */
export const shownProfile = signal<{ id: string; game: string | null } | null>(null);

/** The last finished game, until the player continues. */
export const finishedGame = signal<FinishedGame | null>(null);

/** The tournament that is shown. */
export const shownTournament = signal<{ id: string; code?: string } | null>(null);

/** The news about an own tournament that starts soon or goes on, for the strip on the first page. */
export const tournamentNews = signal<{ id: string; text: string } | null>(null);

/** True if the rules of tournaments are shown. */
export const areTournamentRulesShown = signal(false);

export const areNoticesShown = signal(false);

/** The finished game whose analysis is shown. */
export const analysedGame = signal<{ id: string; kind: string } | null>(null);

/** The finished game that is replayed, with its first step. */
export const replayedGame = signal<{ id: string; kind: string; from: number } | null>(null);

/** The offer of a rematch by a player of a finished game, at the private table with this code. */
export const rematchOffer = signal<{ code: string; from: string; name: string; game: string } | null>(null);
