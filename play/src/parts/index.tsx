// Small components used by all pages.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { client } from '../house.ts';
import { sound } from '../sound.ts';
import { settings } from '../settings.ts';
import { coinsText, say } from '../words.ts';
import { useFocusWithin, useLayer } from './layers.ts';

export function Coin() {
  return <svg class="coin" viewBox="0 0 20 20" aria-hidden="true"><circle cx="10" cy="10" r="9.2" /><circle class="in" cx="10" cy="10" r="6" /><path class="in" d="M10 7v6M7.500 8.500h4M7.500 11h4" /></svg>;
}

/** An amount that rolls to its new value. */
export function Amount({ value, class: extra = '' }: { value: number; class?: string }) {
  const [shown, show] = useState(value);
  const at = useRef(value);
  useEffect(() => {
    const from = at.current;
    if (from === value) return;
    if (settings.still.value) { at.current = value; show(value); return; }
    const begin = performance.now();
    let frame = 0;
    const step = (now: number) => {
      const part = Math.min(1, (now - begin) / 600);
      at.current = part === 1 ? value : Math.round(from + (value - from) * (1 - (1 - part) ** 3));
      show(at.current);
      if (part < 1) frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
    return () => cancelAnimationFrame(frame);
  }, [value]);
  return <b class={`amount ${extra}`}>{coinsText(shown)}</b>;
}

const CIRCLE = 2 * Math.PI * 19;
const STEP_MS = 200;
/** The remaining seconds from which the countdown is audible. */
const SOON_S = 5;

/** A ring that empties until the deadline, in the server's time, with the remaining seconds. */
export function Ring({ deadline, total, loud = false, number = true }:
  { deadline: number; total: number; loud?: boolean; number?: boolean }) {
  const [left, setLeft] = useState<number | null>(null);
  const circle = useRef<SVGCircleElement>(null);
  // The ring is drawn in steps, because each change repaints it, which must not happen during a card's
  // flight.
  useLayoutEffect(() => {
    const draw = () => {
      const part = Math.min(1, Math.max(0, deadline - client.serverNow()) / total);
      circle.current?.setAttribute('stroke-dashoffset', String(CIRCLE * (1 - part)));
    };
    draw();
    const timer = setInterval(draw, STEP_MS);
    return () => clearInterval(timer);
  }, [deadline, total]);
  useEffect(() => {
    let lastTick = 99;
    const look = () => {
      const seconds = Math.ceil((deadline - client.serverNow()) / 1000);
      setLeft(Math.max(0, seconds));
      if (loud && seconds <= SOON_S && seconds > 0 && seconds < lastTick) {
        lastTick = seconds;
        sound.tick();
        if (seconds <= 3 && !settings.still.value) navigator.vibrate?.(40);
      }
    };
    look();
    const timer = setInterval(look, STEP_MS);
    return () => clearInterval(timer);
  }, [deadline, loud]);
  return (
    <svg class={`ring ${left !== null && left <= SOON_S ? 'soon' : ''}`} viewBox="0 0 44 44" aria-hidden="true">
      <circle class="track" cx="22" cy="22" r="19" />
      <circle class="left" ref={circle} cx="22" cy="22" r="19" transform="rotate(-90 22 22)"
        stroke-dasharray={CIRCLE} />
      {number && left !== null ? <text x="22" y="28" text-anchor="middle">{left}</text> : null}
    </svg>
  );
}

/** Returns a bot's name without its prefix, which a badge replaces. */
export function shortName(name: string): string {
  return name.replace(/^Bot /, '');
}

/** A player's picture: a letter on colours derived from the picture's name. */
export function Avatar({ name, picture, children }: { name: string; picture?: string | null; children?: ComponentChildren }) {
  let sum = 0;
  for (const letter of picture ?? name) sum = (sum * 31 + letter.charCodeAt(0)) % 9973;
  const letter = shortName(name).slice(0, 1).toUpperCase() || '?';
  return (
    <span class={`avatar hue-${sum % 12} cut-${sum % 5}`} aria-hidden="true"><span>{letter}</span>{children}</span>
  );
}

/** A dialog over the page that Escape and Back close, and that keeps the keyboard focus within. */
export function Sheet({ title, onClose, onBack = onClose, children, wide = false, quiet = false }: {
  title: string; onClose?: (() => void) | undefined; onBack?: (() => void) | undefined;
  children: ComponentChildren; wide?: boolean; quiet?: boolean;
}) {
  const box = useRef<HTMLDivElement>(null);
  useLayer(onClose, () => box.current, onBack);
  useFocusWithin(() => box.current);
  useLayoutEffect(() => {
    const before = document.activeElement instanceof HTMLElement ? document.activeElement : null;
    if (!quiet) box.current?.focus({ preventScroll: true });
    return () => { if (before?.isConnected) before.focus({ preventScroll: true }); };
  }, []);
  return (
    <div class="veil" onClick={(event) => { if (event.target === event.currentTarget) onClose?.(); }}>
      <div class={`sheet ${wide ? 'wide' : ''}`} role="dialog" aria-modal="true" aria-label={title} tabIndex={-1} ref={box}>
        <div class="sheet-head">
          <h2>{title}</h2>
          {onClose ? <button type="button" class="round" aria-label={say('close')} onClick={onClose}>✕</button> : null}
        </div>
        {children}
      </div>
    </div>
  );
}

/** A switch that is on or off. */
export function Toggle({ label, on, onChange }: { label: string; on: boolean; onChange: (on: boolean) => void }) {
  return (
    <button type="button" class="toggle" role="switch" aria-checked={on} onClick={() => onChange(!on)}>
      <span>{label}</span><i aria-hidden="true" />
    </button>
  );
}

/** Buttons of which one is chosen. */
export function Choice<T extends string>({ label, of, chosen, onChoose }:
  { label: string; of: readonly (readonly [T, string])[]; chosen: T; onChoose: (one: T) => void }) {
  return (
    <div class="choice" role="group" aria-label={label}>
      {of.map(([one, text]) => (
        <button type="button" key={one} aria-pressed={one === chosen} onClick={() => onChoose(one)}>{text}</button>
      ))}
    </div>
  );
}
