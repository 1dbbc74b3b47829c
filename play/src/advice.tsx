// At a practice table: what a bot would play. The house is asked by a button or a key, and what it says
// is told in words, and marked where it lies on the table, until the question is answered. What an
// action is called, and where it lies, is the game's own folder's to say.
import { signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import type { Advised } from './games/folder.ts';
import { folderOf } from './games/loading.ts';
import { client, hint, online } from './house.ts';
import { useLoaded } from './loaded.ts';
import type { TableState, TableView } from './model.ts';
import { useLetters } from './parts/acts.tsx';
import { say } from './words.ts';

const LETTER = 'H';

/** Of the page, and not of an element: what lies where may be drawn anew at any time. */
const sheet = new CSSStyleSheet();
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

/** What a bot would play now, where it was asked. */
export function advisedNow(state: TableState): Advised | null {
  const seen = hint.value;
  const folder = folderOf(state.view.kind);
  if (!seen || !folder || !state.view.terms.practice || state.view.phase.type !== 'playing') return null;
  return folder.advised(state, seen.action);
}

/** What the lesson that is read points at; null while none is. */
export const lessonMarks = signal<readonly string[] | null>(null);

/** Outlines these places on the table. */
export function useMarks(marks: readonly string[]) {
  const places = marks.map((mark) => `.table ${mark}`).join(', ');
  useLayoutEffect(() => {
    sheet.replaceSync(places === '' ? '' : `${places} { outline: 4px dashed #7fe3ff; outline-offset: 2px; border-radius: 12px; }`);
    return () => sheet.replaceSync('');
  }, [places]);
}

/** Why a bot would play that, once the game's reasons are loaded. */
export function useReason(state: TableState): string | null {
  const { kind, terms } = state.view;
  const reasons = useLoaded(terms.practice === true ? kind : null, () => folderOf(kind)?.reasons());
  const action = hint.value?.action;
  return action && reasons ? reasons(state, action) : null;
}

/** From so long a countdown on nobody is shown a clock. */
const UNHURRIED_MS = 300_000;

/** Whether nobody is pressed for time: a practice table with the longest countdowns that there are. */
export function isUnhurried({ terms }: TableView): boolean {
  const countdowns = Object.values(terms.rules['countdowns'] as Record<string, number> | undefined ?? {});
  return terms.practice === true && countdowns.length > 0 && Math.min(...countdowns) >= UNHURRIED_MS;
}

/** The button, while a question is open to the player and nothing was said of it yet. */
export function AskAdvice({ state }: { state: TableState }) {
  const isAsked = (state.prompt?.legal.length ?? 0) > 0;
  const isOpen = state.view.terms.practice === true && isAsked && state.current && online.value && !hint.value;
  const ask = () => void client.hint();
  useLetters([{ key: 'hint', label: '', note: '', gold: false, danger: false, letter: LETTER, enabled: isOpen, act: ask }]);
  if (!isOpen) return null;
  return <button type="button" class="act advise" data-act="hint" aria-keyshortcuts={LETTER} onClick={ask}>{say('advice_ask')}</button>;
}

/** A place on the table by an attribute of its own. */
export function mark(name: string, value: string | number): string {
  return `[data-${name}="${CSS.escape(String(value))}"]`;
}
