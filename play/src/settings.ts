// The player's settings on this device, stored by the browser. Everything works without the storage, so
// failures are ignored.
import { effect, signal } from '@preact/signals';
import { GAMES } from './games/list.ts';
import { language, type Language } from './words.ts';

const KEY = 'bahay.settings';

function loadSettings(): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    return typeof value === 'object' && value !== null ? value as Record<string, unknown> : {};
  } catch {
    return {};
  }
}

const storedSettings = loadSettings();
const flag = (name: string, otherwise: boolean) =>
  signal(typeof storedSettings[name] === 'boolean' ? storedSettings[name] : otherwise);
const prefersReducedMotion = globalThis.matchMedia?.('(prefers-reduced-motion: reduce)').matches ?? false;

export const settings = {
  sound: flag('sound', false),
  fourColours: flag('fourColours', false),
  largeCards: flag('largeCards', false),
  still: flag('still', prefersReducedMotion),
  /** True if sound was offered. */
  soundAsked: flag('soundAsked', false),
  /** True if hints are shown, by game; on until the player switches them off. */
  hints: signal(storedRecord<boolean>('hints')),
  /** How often the player has performed a hint's action, by game and hint. */
  learnt: signal(storedRecord<number>('learnt')),
  /** The game that was played last. */
  kind: signal(typeof storedSettings['kind'] === 'string' ? storedSettings['kind'] : GAMES[0].kind),
  /** True if a first game was finished. */
  played: flag('played', false),
  /** True if the page has asked for a name. */
  named: flag('named', false),
  /** True if hands are sorted by melds instead of suits. */
  byMeld: flag('byMeld', true),
};

function storedRecord<Value>(name: string): Readonly<Record<string, Value>> {
  const kept = storedSettings[name];
  return typeof kept === 'object' && kept !== null ? kept as Record<string, Value> : {};
}

export function hintsFor(kind: string): boolean {
  return settings.hints.value[kind] ?? true;
}

/** Switches the hints of a game on or off. Switching them on resets the learnt ones. */
export function showHints(kind: string, on: boolean) {
  settings.hints.value = { ...settings.hints.value, [kind]: on };
  if (on) settings.learnt.value = Object.fromEntries(Object.entries(settings.learnt.value).filter(([name]) => !name.startsWith(`${kind}/`)));
}

/** The number of times after which a hint's action counts as learnt. */
const LEARNT_AFTER = 4;

/** Returns whether a hint is still to be shown. */
export function needsHint(kind: string, name: string): boolean {
  return hintsFor(kind) && (settings.learnt.value[`${kind}/${name}`] ?? 0) < LEARNT_AFTER;
}

/** Counts that the player has performed a hint's action. */
export function countLearnt(kind: string, name: string) {
  const key = `${kind}/${name}`;
  settings.learnt.value = { ...settings.learnt.value, [key]: (settings.learnt.value[key] ?? 0) + 1 };
}

language.value = storedSettings['language'] === 'fil' || storedSettings['language'] === 'en' ? storedSettings['language']
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
    // The settings are lost with the page.
  }
});
