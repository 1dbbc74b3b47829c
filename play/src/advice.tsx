// Advice at practice tables: a button or a key requests a bot's action from the house, which is shown in
// words and marked on the table until the prompt is answered. The game's folder names an action and its
// place.
import { signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import type { DescribedAction } from './games/folder.ts';
import { loadedFolder } from './games/loading.ts';
import { client, hint, online } from './house.ts';
import { useLoaded } from './use_loaded.ts';
import type { TableState, TableView } from './model.ts';
import { useActionKeys } from './parts/acts.tsx';
import { say } from './words.ts';

const LETTER = 'H';

/**
 * The style sheet belongs to the page and not to an element, because the marked elements may be redrawn at
 * any time.
 */
const sheet = new CSSStyleSheet();
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

/** Returns the advice for the open prompt, if it was requested. */
export function currentAdvice(state: TableState): DescribedAction | null {
  const seen = hint.value;
  const folder = loadedFolder(state.view.kind);
  if (!seen || !folder || !state.view.terms.practice || state.view.phase.type !== 'playing') return null;
  return folder.describeAction(state, seen.action);
}

/** The marks of the lesson being read; null without one. */
export const lessonMarks = signal<readonly string[] | null>(null);

/** Outlines these places on the table. */
export function useMarks(marks: readonly string[]) {
  const places = marks.map((mark) => `.table ${mark}`).join(', ');
  useLayoutEffect(() => {
    sheet.replaceSync(places === '' ? '' : `${places} { outline: 4px dashed #7fe3ff; outline-offset: 2px; border-radius: 12px; }`);
    return () => sheet.replaceSync('');
  }, [places]);
}

/** Returns the reason for the advice, once the game's reasons are loaded. */
export function useReason(state: TableState): string | null {
  const { kind, terms } = state.view;
  const reasons = useLoaded(terms.practice === true ? kind : null, () => loadedFolder(kind)?.reasons());
  const action = hint.value?.action;
  return action && reasons ? reasons(state, action) : null;
}

/** The countdown from which no clock is shown, in ms. */
const UNHURRIED_MS = 300_000;

/** Returns whether the table has no time pressure: a practice table with the longest countdowns. */
export function isUnhurried({ terms }: TableView): boolean {
  const countdowns = Object.values(terms.rules['countdowns'] as Record<string, number> | undefined ?? {});
  return terms.practice === true && countdowns.length > 0 && Math.min(...countdowns) >= UNHURRIED_MS;
}

/** The button that requests advice, shown while a prompt is open without advice. */
export function AskAdvice({ state }: { state: TableState }) {
  const isAsked = (state.prompt?.legal.length ?? 0) > 0;
  const isOpen = state.view.terms.practice === true && isAsked && state.current && online.value && !hint.value;
  const ask = () => void client.hint();
  useActionKeys([{ key: 'hint', label: '', note: '', gold: false, danger: false, letter: LETTER, enabled: isOpen, act: ask }]);
  if (!isOpen) return null;
  return <button type="button" class="act advise" data-act="hint" aria-keyshortcuts={LETTER} onClick={ask}>{say('advice_ask')}</button>;
}

/** Returns a selector of a place on the table by a data attribute. */
export function selectorOf(name: string, value: string | number): string {
  return `[data-${name}="${CSS.escape(String(value))}"]`;
}
