// The player's actions as buttons and keys, the same for every game.
import { useEffect, useRef } from 'preact/hooks';
import { say } from '../words.ts';

export interface Act {
  key: string;
  label: string;
  /** The cards or coins of the action, or the reason why it is disabled. */
  note: string;
  /** True if the rules require the action next. */
  gold: boolean;
  danger: boolean;
  enabled: boolean;
  letter: string;
  act: () => void;
}

/** Binds each action to its letter, unless an element matching `closed` covers the table. */
export function useActionKeys(all: readonly Act[], closed = '.veil') {
  const now = useRef(all);
  now.current = all;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector(closed)) return;
      if (event.target instanceof HTMLInputElement) return;
      const found = now.current.find((one) => one.enabled && one.letter === event.key.toUpperCase());
      if (found) { event.preventDefault(); found.act(); }
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

export function ActButton({ one }: { one: Act }) {
  return (
    <button type="button" class={`act ${one.gold ? 'gold' : ''} ${one.danger ? 'danger' : ''}`} disabled={!one.enabled}
      data-act={one.key} aria-keyshortcuts={one.letter} onClick={one.act}>
      <kbd aria-hidden="true">{one.letter}</kbd>
      <span>{one.label}</span>
      <small>{one.note || ' '}</small>
    </button>
  );
}

/** A row of action buttons. */
export function Acts({ all, closed }: { all: readonly Act[]; closed?: string }) {
  useActionKeys(all, closed);
  return <nav class={`acts acts-${all.length}`} aria-label={say('actions')}>{all.map((one) => <ActButton key={one.key} one={one} />)}</nav>;
}
