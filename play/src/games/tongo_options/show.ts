// Animates, sounds and announces the events of a table of Tongo (options).
import type { TableChange } from '../../house.ts';
import type { Seat, TableView } from '../../model.ts';
import { anchor, animateBurst, placeOf, measurePlaces, throwGhost, type Flights, type Place } from '../../motion.ts';
import { vibrate, sound } from '../../sound.ts';
import { cardName, cardSign } from '../../words.ts';
import { frontOf, gameView, nameOf } from './moves.ts';
import type { GameEvent, View } from './types.ts';
import { chips, rankOf, word } from './words.ts';

/** The flights that begin with the next frame. */
export const pending: { flights: Flights | null } = { flights: null };

/** The delay between two events of one update, in ms. */
const BEAT_MS = 300;
const DEAL_MS = 60;
const COINS_MAX = 5;

/** Animates a change, and returns it in words. */
export function showChange(change: TableChange): string[] {
  const words: string[] = [];
  const events = change.events.flatMap((event) => event.type === 'game' ? [event['event'] as GameEvent] : []);
  if (change.quiet || events.length === 0) return words;
  const flights = pending.flights ?? { before: measurePlaces(), delays: new Map(), sources: new Map(), turned: new Set() };
  let at = 0;
  for (const event of events) {
    at = animateEvent(event, change, flights, at);
    const text = describeEvent(event, change.before ?? change.after, gameView(change.before));
    if (text) words.push(text);
  }
  pending.flights = flights;
  return words;
}

function placeNamed(name: string): Place | null {
  const element = document.querySelector(`[data-place="${name}"]`);
  return element ? placeOf(element) : null;
}

function seatPlace(seat: Seat, mine: Seat | null): Place | null {
  return seat === mine ? anchor('purse') : anchor(`seat-${seat}`);
}

/** Animates chips from a seat into the treasury, a few at most. */
function animatePayment(seat: Seat, mine: Seat | null, count: number, delay: number) {
  const [from, to] = [seatPlace(seat, mine), anchor('pot')];
  if (!from || !to || count === 0) return;
  for (let i = 0; i < Math.min(COINS_MAX, count); i += 1) throwGhost('chip-ghost', from, to, { delay: delay + i * 60, duration: 420 });
  setTimeout(sound.chip, delay + 120);
}

function animateEvent(event: GameEvent, { before, after }: TableChange, flights: Flights, at: number): number {
  const mine = after.seat;
  const later = (work: () => void) => { setTimeout(work, at); };
  const pot = anchor('pot');
  switch (event.type) {
    case 'dealt': {
      const own = mine === null ? [] : event.hands[mine] ?? [];
      let turn = 0;
      for (const [i, card] of own.entries()) {
        flights.sources.set(`own-${card}`, 'pot');
        flights.delays.set(`own-${card}`, turn * DEAL_MS);
        flights.turned.add(`own-${card}`);
        turn += 1;
        event.hands.forEach((_, seat) => {
          const to = anchor(`seat-${seat}`);
          if (seat !== mine && pot && to && i < 4) throwGhost('card-back', pot, to, { delay: turn * DEAL_MS });
          turn += 1;
        });
      }
      for (let i = 0; i < 6; i += 1) setTimeout(sound.card, i * DEAL_MS * 3);
      return at + turn * DEAL_MS * 0.3;
    }
    case 'stopped':
      later(sound.card);
      return at;
    case 'risk_paid':
    case 'ended':
      animatePayment(event.seat, mine, event.chips, at);
      return at + (event.chips > 0 ? BEAT_MS : 0);
    case 'costs_changed':
      animatePayment(event.seat, mine, event.chips, at);
      animateBurst(document.querySelector('.gauges'));
      return at + BEAT_MS;
    case 'bought':
    case 'sold':
      animatePayment(event.seat, mine, event.chips, at);
      later(sound.card);
      return at + BEAT_MS;
    case 'exchanged': {
      const view = gameView(before);
      const facing = view?.public.players[event.seat]?.facing;
      const own = placeNamed(`${facing}-${event.slot}`);
      // Only the free exchange of the front floor is visible.
      const isSeen = view !== null && facing === frontOf(view);
      const other = (event.floor ?? null) !== null ? placeNamed(`${event.floor}-${event.other}`) : isSeen ? placeNamed(`free-${event.other}`) : null;
      if (own && other) {
        throwGhost('card-back', own, other, { delay: at, duration: 420 });
        throwGhost('card-back', other, own, { delay: at, duration: 420 });
      }
      animatePayment(event.seat, mine, event.chips, at);
      later(sound.card);
      return at + BEAT_MS;
    }
    case 'rolled':
      later(sound.chip);
      return at + BEAT_MS;
    case 'evaded': {
      animatePayment(event.seat, mine, event.chips, at);
      const from = seatPlace(event.seat, mine);
      for (let i = 0; i < event.count && from && pot; i += 1) throwGhost('card-back', from, pot, { delay: at + i * 70 });
      later(sound.card);
      return at + BEAT_MS;
    }
    case 'drew':
      if (event.seat === mine) {
        for (const [i, card] of (event.cards ?? []).entries()) {
          flights.sources.set(`own-${card}`, 'pot');
          flights.delays.set(`own-${card}`, at + i * 90);
          flights.turned.add(`own-${card}`);
        }
      } else {
        const to = anchor(`seat-${event.seat}`);
        if (pot && to) throwGhost('card-back', pot, to, { delay: at });
      }
      later(sound.card);
      return at + BEAT_MS;
    case 'reserves_converted':
      later(sound.fight);
      if (event.seat !== mine) vibrate([60, 60, 120]);
      return at + BEAT_MS;
    case 'confronted':
      later(sound.fight);
      if (event.target === mine) vibrate([60, 60, 120]);
      return at + BEAT_MS;
    case 'acquired':
      later(sound.fight);
      if (event.seat !== mine) vibrate([60, 60, 120]);
      return at + BEAT_MS;
    case 'answered':
      animatePayment(event.seat, mine, event.chips, at);
      return at + BEAT_MS;
    case 'retreated':
    case 'folded':
    case 'rolling':
    case 'shown':
    case 'over':
      return at;
  }
}

/** Returns an event in words, for the table's line and for screen readers. */
export function describeEvent(event: GameEvent, view: TableView, game: View | null): string | null {
  const name = 'seat' in event ? nameOf(view, event.seat) : '';
  const isMine = 'seat' in event && event.seat === view.seat;
  switch (event.type) {
    case 'dealt':
      return word('said_dealt', { name: nameOf(view, (event.dealer + 1) % event.hands.length) });
    case 'stopped':
      return isMine ? null : word('said_stopped', { name, n: event.floor + 1 });
    case 'risk_paid':
      return word('said_risk', { name, chips: chips(event.chips) });
    case 'retreated':
      return word('said_retreated', { name });
    case 'folded':
      return word('said_folded', { name });
    case 'costs_changed':
      return word('said_costs', { name, ...event.costs });
    case 'bought':
      return word('said_bought', { name, card: cardSign(event.card) });
    case 'sold': {
      const facing = game?.public.players[event.seat]?.facing ?? 0;
      const card = game?.public.floors[facing]?.[event.slot] ?? null;
      return word('said_sold', { name, card: card ? cardSign(card) : word('face_down') });
    }
    case 'exchanged':
      return word('said_exchanged', { name });
    case 'rolled':
      return word('said_rolled', { name, values: event.dice.map((die) => rankOf(die.value)).join(', ') });
    case 'evaded':
      return word('said_evaded', { name, n: event.count });
    case 'drew':
      return isMine && event.cards ? word('said_you_drew', { cards: event.cards.map(cardName).join(', ') }) : null;
    case 'reserves_converted':
      return word('said_reserves', { name, n: event.wager });
    case 'confronted':
      return word('said_confronted', { name, target: nameOf(view, event.target) });
    case 'acquired':
      return word('said_acquired', { name, n: event.floor + 1 });
    case 'answered':
      return word(`said_${event.answer}`, { name });
    case 'ended':
      return isMine ? null : word('said_ended', { name });
    case 'rolling':
    case 'shown':
    case 'over':
      return null;
  }
}
