// Animates, sounds and announces the events of a table of Tong-its.
import type { TableChange } from '../../house.ts';
import type { Seat, TableView } from '../../model.ts';
import { shortName } from '../../parts/index.tsx';
import { anchor, measurePlaces, throwGhost, type Flights } from '../../motion.ts';
import { settings } from '../../settings.ts';
import { vibrate, sound } from '../../sound.ts';
import { cardName, cardSign, say } from '../../words.ts';
import { newCard } from './hand.ts';
import type { GameEvent, View } from './types.ts';

/** The flights that begin with the next frame. */
export const pending: { flights: Flights | null } = { flights: null };

/** The delay between two events of one update, in ms. */
const BEAT_MS = 320;
const DEAL_MS = 40;

export function gameView(view: TableView | null): View | null {
  return view?.phase.type === 'playing' ? view.phase.view as View : null;
}

export function nameOf(view: TableView, seat: Seat): string {
  return seat === view.seat ? say('you') : shortName(view.seats[seat]?.name ?? '?');
}

/** Animates a change, and returns it in words. */
export function showChange(change: TableChange): string[] {
  const words: string[] = [];
  const events = change.events.flatMap((event) => event.type === 'game' ? [event['event'] as GameEvent] : []);
  const names = change.before ?? change.after;
  if (change.quiet) return words;
  const flights = pending.flights ?? { before: measurePlaces(), delays: new Map(), sources: new Map(), turned: new Set() };
  let at = 0;
  for (const event of events) {
    at = animateEvent(event, change, flights, at);
    const text = describeEvent(event, names, gameView(change.before));
    if (text) words.push(text);
  }
  if (events.length > 0) pending.flights = flights;
  return words;
}

function animateEvent(event: GameEvent, { before, after }: TableChange, flights: Flights, at: number): number {
  const mine = after.seat;
  const from = (card: string, source: string) => {
    if (!flights.before.has(card)) flights.sources.set(card, source);
    flights.delays.set(card, at);
  };
  const later = (work: () => void) => { setTimeout(work, at); };
  switch (event.type) {
    case 'dealt': {
      let turn = 0;
      const own = mine === null ? [] : event.hands[mine] ?? [];
      const others = event.hands.map((_, seat) => seat).filter((seat) => seat !== mine);
      [...own].forEach((card) => {
        flights.sources.set(card, 'stock');
        flights.delays.set(card, turn * DEAL_MS);
        flights.turned.add(card);
        turn += 1;
        for (const seat of others) {
          const [stock, to] = [anchor('stock'), anchor(`seat-${seat}`)];
          if (stock && to && turn < 36) throwGhost('card-back', stock, to, { delay: turn * DEAL_MS });
          turn += 1;
        }
      });
      for (let i = 0; i < 8; i += 1) setTimeout(sound.card, i * DEAL_MS * 4);
      return at + (settings.still.value ? 0 : turn * DEAL_MS * 0.4);
    }
    case 'drawn': {
      if (event.seat === mine) {
        if (event.card) {
          from(event.card, 'stock');
          flights.turned.add(event.card);
          newCard.value = event.card;
        }
        later(() => { sound.card(); if (mine !== null) sound.turn(); });
        vibrate(30);
      } else {
        const [stock, to] = [anchor('stock'), anchor(`seat-${event.seat}`)];
        if (stock && to) throwGhost('card-back', stock, to, { delay: at });
        later(sound.card);
      }
      return at + BEAT_MS;
    }
    case 'dumped':
      from(event.card, `seat-${event.seat}`);
      later(sound.card);
      return at + BEAT_MS;
    case 'chowed':
      for (const card of [event.discard, ...event.cards]) from(card, `seat-${event.seat}`);
      later(sound.meld);
      return at + BEAT_MS;
    case 'dropped':
      for (const card of event.cards) from(card, `seat-${event.seat}`);
      later(sound.meld);
      return at + BEAT_MS;
    case 'sapawed':
      from(event.card, `seat-${event.seat}`);
      later(sound.meld);
      return at + BEAT_MS;
    case 'fought':
      later(sound.fight);
      if (mine !== null && (event.asked.includes(mine) || event.asked_secretly.includes(mine))) vibrate([60, 60, 120]);
      return at + BEAT_MS;
    case 'tongits_declared':
      later(sound.fight);
      return at + BEAT_MS;
    case 'laid_face_down':
      later(sound.meld);
      return at + BEAT_MS;
    case 'starter_chosen':
    case 'sagasa':
    case 'answered':
    case 'shown':
    case 'over':
      void before;
      return at;
  }
}

/** Returns an event in words, for the table's line and for screen readers. */
function describeEvent(event: GameEvent, view: TableView, game: View | null): string | null {
  const name = 'seat' in event ? nameOf(view, event.seat) : '';
  const isMine = 'seat' in event && event.seat === view.seat;
  switch (event.type) {
    case 'dealt':
      return say('said_dealt', { name: nameOf(view, event.starter) });
    case 'drawn':
      return isMine && event.card ? say('said_you_drew', { card: cardName(event.card) }) : say('said_drawn', { name });
    case 'dumped':
      return isMine ? null : say('said_dumped', { name, card: cardName(event.card) });
    case 'chowed':
      return say('said_chowed', { name, card: cardName(event.discard) });
    case 'dropped':
      return say('said_dropped', { name, cards: event.cards.map(cardSign).join(' ') });
    case 'laid_face_down':
      return say('said_face_down', { name, n: event.count });
    case 'sapawed': {
      const owner = game?.public.melds[event.meld]?.owner;
      return say('said_sapawed', { name, card: cardName(event.card), owner: owner === undefined ? '?' : nameOf(view, owner) });
    }
    case 'fought':
      return say('said_fought', { name });
    case 'tongits_declared':
      return say('said_tongits', { name });
    case 'starter_chosen':
    case 'sagasa':
    case 'answered':
    case 'shown':
    case 'over':
      return null;
  }
}
