// Animations. An element with a `data-flies` name flies from its place before a change to its place after it;
// a new one flies from the anchor that `data-from` names. The page changes at once, so that nothing waits for
// an animation: a flying element is shown at its old place until its flight begins. Only transforms and
// opacity are animated.
import { settings } from './settings.ts';

export interface Place { x: number; y: number; width: number; height: number }

const EASE = 'cubic-bezier(.2,.7,.25,1)';

export function placeOf(element: Element): Place {
  const { left, top, width, height } = element.getBoundingClientRect();
  return { x: left + width / 2, y: top + height / 2, width, height };
}

/** Returns the present places of all flying elements and anchors. */
export function measurePlaces(root: ParentNode = document): Map<string, Place> {
  const places = new Map<string, Place>();
  for (const element of root.querySelectorAll<HTMLElement>('[data-flies]')) {
    places.set(element.dataset['flies']!, placeOf(element));
  }
  for (const element of root.querySelectorAll<HTMLElement>('[data-anchor]')) {
    places.set(`@${element.dataset['anchor']}`, placeOf(element));
  }
  return places;
}

/** The delays of flights, by the name of the element. */
export type Delays = Map<string, number>;
/** The anchors from which new elements fly, by the name of the element. */
export type Sources = Map<string, string>;

export interface Flights { before: Map<string, Place>; delays: Delays; sources: Sources; turned: Set<string> }

let running: Animation[] = [];

/** Finishes all running animations. */
export function skipMotion() {
  for (const one of running) one.finish();
  running = [];
}

export function moving(): boolean {
  return running.some((one) => one.playState === 'running');
}

export function track(animation: Animation): Animation {
  running.push(animation);
  const forget = () => { running = running.filter((one) => one !== animation); };
  animation.finished.then(forget, forget);
  return animation;
}

/** Animates every element whose place has changed. */
export function animateFlights({ before, delays, sources, turned }: Flights, root: ParentNode = document) {
  // All places are read before the first flight begins; otherwise the browser would recompute its styles for
  // each of them.
  const moved = [...root.querySelectorAll<HTMLElement>('[data-flies]')].flatMap((element) => {
    const name = element.dataset['flies']!;
    const from = before.get(name) ?? before.get(`@${sources.get(name) ?? ''}`);
    if (!from || from.width === 0) return [];
    const to = placeOf(element);
    const isMoved = to.width !== 0 && (Math.abs(from.x - to.x) >= 2 || Math.abs(from.y - to.y) >= 2);
    return isMoved ? [{ element, name, from, to }] : [];
  });
  for (const { element, name, from, to } of moved) {
    const dx = from.x - to.x;
    const dy = from.y - to.y;
    const isNew = !before.has(name);
    const delay = delays.get(name) ?? 0;
    if (settings.still.value) {
      track(element.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 180, delay, fill: 'backwards' }));
      continue;
    }
    const scale = from.width / to.width;
    const far = Math.hypot(dx, dy);
    const lift = -Math.min(40, far * 0.12);
    // The rotation follows the distance, so that a card lands instead of sliding.
    const tilt = Math.max(-9, Math.min(9, dx / 26));
    const turn = turned.has(name) && isNew;
    const frames: Keyframe[] = [
      { transform: `translate(${dx}px,${dy}px) scale(${scale}) rotate(${tilt}deg)${turn ? ' rotateY(80deg)' : ''}`,
        opacity: isNew && turn ? 0 : 1, offset: 0 },
      { transform: `translate(${dx * 0.4}px,${dy * 0.4 + lift}px) scale(${(scale + 1) / 2 * 1.06}) rotate(${tilt / 2}deg)${turn ? ' rotateY(30deg)' : ''}`,
        opacity: 1, offset: 0.55 },
      { transform: 'none', opacity: 1, offset: 1 },
    ];
    const duration = Math.min(300, 170 + far * 0.25);
    // Within the keyframes, this property would keep the flight off the compositor.
    element.style.zIndex = '30';
    const landed = () => { element.style.zIndex = ''; };
    track(element.animate(frames, { duration, delay, easing: EASE, fill: 'backwards' })).finished.then(landed, landed);
  }
}

interface Thrown { kind: string; from: Place; to: Place; delay: number; duration: number }

let thrown: Thrown[] = [];

/** Animates an element that is visible only in flight, such as a face-down card or a coin. */
export function throwGhost(kind: string, from: Place, to: Place, { delay = 0, duration = 280 }: { delay?: number; duration?: number } = {}) {
  if (settings.still.value || from.width === 0 || to.width === 0) return;
  // All ghosts begin together, because a caller with several reads places between them.
  if (thrown.length === 0) queueMicrotask(throwAll);
  thrown.push({ kind, from, to, delay, duration });
}

function throwAll() {
  const all = thrown;
  thrown = [];
  const layer = document.getElementById('air');
  if (!layer) return;
  const at = ({ x, y }: Place, scale: number) => `translate(${x}px,${y}px) translate(-50%,-50%) scale(${scale})`;
  const ghosts = all.map(({ kind }) => {
    const ghost = document.createElement('i');
    ghost.className = `ghost ${kind}`;
    return ghost;
  });
  layer.append(...ghosts);
  for (const [i, { from, to, delay, duration }] of all.entries()) {
    const ghost = ghosts[i]!;
    const high: Place = { ...to, x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 - 28 };
    const animation = track(ghost.animate([
      { transform: at(from, 1), opacity: 1 },
      { transform: at(high, 1.1), opacity: 1, offset: 0.5 },
      { transform: at(to, 0.9), opacity: 0.2 },
    ], { duration, delay, easing: EASE, fill: 'both' }));
    const gone = () => ghost.remove();
    animation.finished.then(gone, gone);
  }
}

export function anchor(name: string): Place | null {
  const element = document.querySelector(`[data-anchor="${name}"]`);
  return element ? placeOf(element) : null;
}

/** Enlarges and highlights an element for a moment, such as the POT when it is won. */
export function animateBurst(element: Element | null) {
  if (!element || settings.still.value) return;
  track(element.animate([
    { transform: 'scale(1)' }, { transform: 'scale(1.5)', offset: 0.3 }, { transform: 'scale(1)' },
  ], { duration: 520, easing: 'ease-out' }));
}
