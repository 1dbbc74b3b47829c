// Follows the player's own tournaments while the page is open: it leads to a table that is ready, opens the
// tournament between two tables, and shows the final place. Loaded once the page is idle.
import { effect, signal } from '@preact/signals';
import { callHouse, client, leftTable, online, player, table } from '../house.ts';
import { finishedGame, shownTournament, tournamentNews } from '../overlays.ts';
import { loadStored, storeValue } from '../storage.ts';
import { clockText, word } from './words.ts';
import { isOver, type Page, type Tournament, type TournamentDetail } from './model.ts';

/** The interval of requests while something may happen soon, and otherwise. */
const FAST_MS = 3_000;
const SLOW_MS = 20_000;
/** The time before a start from which requests are fast. */
const SOON_MS = 60_000;
/** The time before a start from which the first page says so. */
const STRIP_MS = 600_000;
/** The number of own tournaments that are followed at once. */
const FOLLOWED_MAX = 5;
/** The number of tournaments whose end is kept to be shown. */
const KEPT_MAX = 50;

/** The tournaments in which the player takes part, as they were last read. */
export const ownTournaments = signal<readonly TournamentDetail[]>([]);

let timer: ReturnType<typeof setTimeout> | null = null;
let reading = false;
let isStarted = false;

/** Returns the tournaments that this device has followed and whose end it has not shown. */
function awaitedEnds(): string[] {
  return loadStored<string[]>('local', 'tournaments') ?? [];
}

function awaitEnds(ids: readonly string[]) {
  const before = awaitedEnds();
  const added = ids.filter((id) => !before.includes(id));
  if (added.length > 0) storeValue('local', 'tournaments', [...before, ...added].slice(-KEPT_MAX));
}

export function readTournament(id: string): Promise<TournamentDetail | null> {
  return callHouse<TournamentDetail>('GET /v1/tournaments/{id}', { path: { id } }, true);
}

/** Returns whether this end of a tournament is still to be shown. */
function isNewEnd({ id, entry, state }: TournamentDetail): boolean {
  const hasEnd = entry !== null && (entry.place !== null || state === 'cancelled');
  return hasEnd && awaitedEnds().includes(id);
}

/** Notes that the player has seen the end of a tournament. */
export function noteShownEnd(id: string) {
  storeValue('local', 'tournaments', awaitedEnds().filter((one) => one !== id));
}

/** Reads the player's tournaments now, and again later as often as needed. */
export async function followNow(): Promise<void> {
  if (reading || !player.value) return;
  reading = true;
  if (timer) clearTimeout(timer);
  try {
    const page = await callHouse<Page<Tournament>>('GET /v1/tournaments', { query: { mine: true, limit: 20 } }, true);
    if (!page) return;
    awaitEnds(page.items.filter((one) => !isOver(one)).map(({ id }) => id));
    const awaited = awaitedEnds();
    const ids = page.items.map(({ id }) => id).filter((id) => awaited.includes(id));
    const details = await Promise.all(ids.slice(0, FOLLOWED_MAX).map(readTournament));
    ownTournaments.value = details.filter((one) => one !== null);
    act();
  } finally {
    reading = false;
    timer = setTimeout(() => { void followNow(); }, document.visibilityState === 'visible' && isNear() ? FAST_MS : SLOW_MS);
  }
}

/** Returns whether a tournament of the player may change within seconds. */
function isNear(): boolean {
  return ownTournaments.value.some((one) => one.state === 'running'
    || (one.state === 'announced' && (one.starts_at === null || new Date(one.starts_at).getTime() - client.serverNow() < SOON_MS)));
}

/** Returns what the first page says of the player's tournaments, the running ones first. */
function findNews(): { id: string; text: string } | null {
  const all = ownTournaments.value;
  const running = all.find(({ state, entry }) => state === 'running' && entry !== null && entry.place === null);
  if (running) return { id: running.id, text: word(running.entry?.table ? 'table_ready' : 'goes_on', { name: running.name }) };
  const next = all.filter(({ state, starts_at }) => state === 'announced' && starts_at !== null)
    .map((one) => ({ one, left: new Date(one.starts_at!).getTime() - client.serverNow() }))
    .filter(({ left }) => left < STRIP_MS).sort((a, b) => a.left - b.left)[0];
  return next ? { id: next.one.id, text: word('soon', { name: next.one.name, time: clockText(next.left) }) } : null;
}

function act() {
  tournamentNews.value = findNews();
  const isFree = table.value === null && leftTable.value === null;
  for (const one of ownTournaments.value) {
    // The socket leads to a table at once; this finds it after a lost connection.
    if (one.entry?.table && isFree && online.value) void client.takeTournamentSeat(one.id);
    if (isNewEnd(one) && table.value === null && finishedGame.value === null) shownTournament.value = { id: one.id };
  }
}

/** Begins to follow; later calls do nothing. */
export function startFollowing() {
  if (isStarted) return;
  isStarted = true;
  let before: string | null | undefined;
  effect(() => {
    const me = player.value?.id ?? null;
    const at = table.value?.view.table ?? null;
    const ended = finishedGame.value?.game ?? null;
    const now = `${me} ${at} ${ended}`;
    if (now === before) return;
    before = now;
    void followNow();
  });
  document.addEventListener('visibilitychange', () => { if (document.visibilityState === 'visible') void followNow(); });
}
