// What a player has chosen on this device, kept by the browser. Everything is of use without it, so a
// browser that keeps nothing is no fault.
import { effect, signal } from '@preact/signals';
import { GAMES } from './games/list.ts';
import { language, type Language } from './words.ts';

const KEY = 'bahay.settings';

function kept(): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    return typeof value === 'object' && value !== null ? value as Record<string, unknown> : {};
  } catch {
    return {};
  }
}

const before = kept();
const flag = (name: string, otherwise: boolean) =>
  signal(typeof before[name] === 'boolean' ? before[name] : otherwise);
const wantsLess = globalThis.matchMedia?.('(prefers-reduced-motion: reduce)').matches ?? false;

export const settings = {
  sound: flag('sound', false),
  fourColours: flag('fourColours', false),
  largeCards: flag('largeCards', false),
  still: flag('still', wantsLess),
  /** Short hints, by game: until the first game of its kind is over, or as the player has chosen. */
  hints: signal(hintsBefore()),
  /** The game that was played last. */
  kind: signal(typeof before['kind'] === 'string' ? before['kind'] : GAMES[0].kind),
  /** A first game is over. */
  played: flag('played', false),
  /** A name was asked for once. */
  named: flag('named', false),
  /** Hands are sorted by melds, and not by suits. */
  byMeld: flag('byMeld', true),
};

function hintsBefore(): Readonly<Record<string, boolean>> {
  const kept = before['hints'];
  return typeof kept === 'object' && kept !== null ? kept as Record<string, boolean> : {};
}

export function hintsFor(kind: string): boolean {
  return settings.hints.value[kind] ?? true;
}

export function showHints(kind: string, on: boolean) {
  settings.hints.value = { ...settings.hints.value, [kind]: on };
}

/** Hints are for the first game, unless the player has chosen. */
export function firstGameOver(kind: string) {
  if (!(kind in settings.hints.value)) showHints(kind, false);
}

language.value = before['language'] === 'fil' || before['language'] === 'en' ? before['language']
  : /^(fil|tl)\b/i.test(navigator.language) ? 'fil' : 'en';

export function choose(chosen: Language) {
  language.value = chosen;
}

effect(() => {
  const root = document.documentElement;
  root.lang = language.value;
  root.classList.toggle('four-colours', settings.fourColours.value);
  root.classList.toggle('large-cards', settings.largeCards.value);
  root.classList.toggle('still', settings.still.value);
  const values = Object.entries(settings).map(([name, one]) => [name, one.value]);
  try {
    localStorage.setItem(KEY, JSON.stringify({ language: language.value, ...Object.fromEntries(values) }));
  } catch {
    // Not kept, then.
  }
});
