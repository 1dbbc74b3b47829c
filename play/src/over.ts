// The sheets that lie over whatever page is shown, table or first page; `over.tsx` draws them.
import { signal } from '@preact/signals';
import type { Terms } from './model.ts';

/** The rules that are read: those of a game, with the terms of the table where there is one. */
export const rulesRead = signal<{ kind: string; terms: Terms | null } | null>(null);

/** The player whose profile is shown. `game`: a game of both, to report the player of. */
export const profileShown = signal<{ id: string; game: string | null } | null>(null);

export const noticesShown = signal(false);

/** The finished game whose decisions are judged. */
export const gameJudged = signal<{ id: string; kind: string } | null>(null);

/** The finished game that is watched again, from this step on. */
export const replayed = signal<{ id: string; kind: string; from: number } | null>(null);

/** A player of a finished game asks for a rematch, at the private table with this code. */
export const rematchOffered = signal<{ code: string; from: string; name: string; game: string } | null>(null);
