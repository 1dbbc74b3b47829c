// Animates, sounds and announces the events of a table of Tongo (assets).
import { signal } from '@preact/signals';
import type { TongoAssetsEvent } from '../../../../clients/typescript/src/index.ts';
import type { TableChange } from '../../house.ts';
import type { Seat } from '../../model.ts';
import { anchor, measurePlaces, throwGhost, type Flights } from '../../motion.ts';
import { settings } from '../../settings.ts';
import { vibrate, sound } from '../../sound.ts';
import { newCards, nameOf } from './state.ts';
import { pieceName } from './tiles.tsx';
import { chipsOf, say } from './words.ts';

/** The flights that begin with the next frame. */
export const pending: { flights: Flights | null } = { flights: null };
/** The last events in words, for waiting players. */
export const log = signal<readonly string[]>([]);

const BEAT_MS = 180;
const DEAL_MS = 60;
/** The largest number of chips that fly one by one. */
const CHIPS_MAX = 8;

export function eventsOf(change: TableChange): TongoAssetsEvent[] {
  return change.events.flatMap((event) => event.type === 'game' ? [event['event'] as TongoAssetsEvent] : []);
}

/** Animates a change, and returns it in words. */
export function showChange(change: TableChange): string[] {
  const words: string[] = [];
  const events = eventsOf(change);
  if (change.quiet) return words;
  const flights = pending.flights ?? { before: measurePlaces(), delays: new Map(), sources: new Map(), turned: new Set() };
  let at = 0;
  for (const event of events) {
    at = animateEvent(event, change, flights, at);
    const text = describeEvent(event, change);
    if (text) words.push(text);
  }
  if (events.some((event) => event.type === 'dealt')) log.value = [];
  if (events.length > 0) pending.flights = flights;
  if (words.length > 0) log.value = [...log.value, ...words].slice(-8);
  return words;
}

/** Animates chips from a seat into the pot, or back. */
function animateChips(seat: Seat, count: number, at: number, mine: Seat | null, back = false) {
  const [home, pot] = [anchor(seat === mine ? 'own-chips' : `seat-${seat}`), anchor('pot')];
  if (!home || !pot || count <= 0) return;
  const flying = Math.min(CHIPS_MAX, count);
  for (let i = 0; i < flying; i += 1) throwGhost('ta-latinum', back ? pot : home, back ? home : pot, { delay: at + i * 45, duration: 380 });
  setTimeout(sound.chip, at + 200);
}

function animatePieces(seat: Seat, kind: 'ta-asset-ghost' | 'ta-acquire-ghost', at: number) {
  const [pot, home] = [anchor('pot'), anchor(`seat-${seat}`)];
  if (pot && home) throwGhost(kind, pot, home, { delay: at, duration: 340 });
}

function animateEvent(event: TongoAssetsEvent, { after }: TableChange, flights: Flights, at: number): number {
  const mine = after.seat;
  const taken = (card: string, source: string | null) => {
    if (source && !flights.before.has(card)) { flights.sources.set(card, source); flights.turned.add(card); }
    flights.delays.set(card, at);
    newCards.value = new Set([card]);
  };
  const isSeen = (face: string) => face !== 'asset' && face !== 'acquire';
  switch (event.type) {
    case 'dealt': {
      const own = mine === null ? [] : event.hands[mine] ?? [];
      own.forEach((card, i) => {
        flights.sources.set(card, 'pot');
        flights.delays.set(card, i * DEAL_MS * 3);
        flights.turned.add(card);
      });
      event.hands.forEach((_, seat) => {
        if (seat !== mine) for (let i = 0; i < 4; i += 1) animatePieces(seat, 'ta-asset-ghost', (i * event.hands.length + seat) * DEAL_MS);
      });
      for (let i = 0; i < 6; i += 1) setTimeout(sound.card, i * DEAL_MS * 3);
      return at + (settings.still.value ? 0 : 500);
    }
    case 'opened':
      animateChips(event.seat, event.risk, at, mine);
      return at + BEAT_MS;
    case 'paid':
    case 'raised':
    case 'indexed':
    case 'leveraged':
    case 'confronted':
    case 'audited':
      animateChips(event.seat, event.chips, at, mine);
      if (event.type === 'confronted') { sound.fight(); vibrate([60, 60, 120]); }
      if (event.type === 'audited' && event.seat === mine) vibrate([90]);
      return at + BEAT_MS;
    case 'dividend_taken':
      animateChips(event.seat, event.chips, at, mine, true);
      return at + BEAT_MS;
    case 'swapped':
    case 'purchased':
      if (event.type === 'purchased') animateChips(event.seat, event.chips, at, mine);
      if (event.seat === mine && isSeen(event.taken)) taken(event.taken, null);
      else animatePieces(event.seat, 'ta-asset-ghost', at);
      setTimeout(sound.card, at);
      return at + BEAT_MS;
    case 'acquired':
      animateChips(event.seat, event.chips, at, mine);
      if (event.seat === mine && isSeen(event.taken) && event.to !== 'pile') taken(event.taken, 'acquires');
      else animatePieces(event.seat, 'ta-acquire-ghost', at);
      setTimeout(sound.card, at);
      return at + BEAT_MS;
    case 'sold':
      animateChips(event.seat, event.chips, at, mine);
      setTimeout(sound.meld, at);
      return at + BEAT_MS;
    case 'evaded':
      animateChips(event.seat, event.chips, at, mine);
      setTimeout(sound.meld, at);
      return at + BEAT_MS;
    case 'assessing':
      if (event.seat === mine) {
        (event.assets ?? []).forEach((card, i) => {
          if (!card) return;
          flights.sources.set(card, 'pot');
          flights.delays.set(card, at + i * 40);
          flights.turned.add(card);
        });
        sound.turn();
        vibrate(30);
      }
      return at;
    case 'stopped':
      setTimeout(sound.meld, at);
      return at;
    default:
      return at;
  }
}

/** Returns the content of a bribe in words. */
export function bribeWords(count: number, cards: readonly string[]): string {
  return cards.length > 0 ? cards.map(pieceName).join(', ') : chipsOf(count);
}

/**
 * Returns an event in words, for the table's line and for screen readers; null for the player's own actions.
 */
function describeEvent(event: TongoAssetsEvent, { before, after }: TableChange): string | null {
  const view = before ?? after;
  const isMine = 'seat' in event && event.seat === after.seat;
  const name = 'seat' in event ? nameOf(view, event.seat) : '';
  switch (event.type) {
    case 'dealer_chosen':
      return say('said_dealt', { name });
    case 'opened':
      return isMine ? null : say('said_opened', { name, risk: event.risk, purchase: event.purchase, sell: event.sell });
    case 'paid':
      return isMine ? null : say('said_paid', { name, n: event.chips });
    case 'raised':
      return isMine ? null : say('said_raised', { name, risk: event.risk });
    case 'retreated':
      return isMine ? say('you_out') : say('said_retreated', { name });
    case 'stopped':
      return say('said_stopped');
    case 'swapped':
      return isMine ? null : say('said_swapped', { name });
    case 'purchased':
      return isMine ? null : say('said_purchased', { name, n: event.chips });
    case 'acquired':
      return isMine ? say('said_you_acquired', { card: pieceName(event.taken) }) : say('said_acquired', { name, n: event.chips });
    case 'free_spent':
      return isMine ? null : say('said_free', { name });
    case 'audited':
      return say('said_audited', { name, n: event.chips });
    case 'sold':
      return isMine ? null : say('said_sold', { name, n: event.chips });
    case 'revealed':
      return isMine ? null : say('said_revealed', { name, n: event.section + 1 });
    case 'dividend_taken':
      return say('said_dividend', { name, n: event.chips });
    case 'confronted':
      return isMine ? null : say('said_confronted', { name });
    case 'evaded':
      return isMine ? null : say('said_evaded', { name });
    case 'indexed':
      return isMine ? null : say('said_indexed', { name, n: event.margin, risk: event.risk });
    case 'leveraged':
      return isMine ? null : say('said_leveraged', { name, n: event.percent });
    case 'bribe_offered':
      return say('said_offered', { name, to: nameOf(view, event.to), what: bribeWords(event.chips ?? 0, event.cards ?? []) });
    case 'bribe_answered':
      return say(event.accepted ? 'said_accepted' : 'said_refused', { name });
    default:
      return null;
  }
}
