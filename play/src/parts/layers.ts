// Keeps the stack of what lies over the page: the table, and the sheets. Back and Escape close the uppermost.
// The browser's Back button works by one entry of the history, which lies above the page while anything is
// open and is put there again as long as something is.
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

interface Layer {
  /** By Escape; undefined where the player has to decide in it. */
  close: (() => void) | undefined;
  /** By Back. */
  back: (() => void) | undefined;
  /** The dialog that keeps the keyboard; null for what leaves it to the page. */
  box: HTMLElement | null;
}

const layers: Layer[] = [];
const FOCUSABLE = 'button:not([disabled]),a[href],input:not([disabled]),select,summary,[tabindex="0"]';

/** Does what Back does to what is uppermost; false where nothing is open. */
function goBack(): boolean {
  const top = layers.at(-1);
  top?.back?.();
  return top !== undefined;
}

function isGuarded(): boolean {
  return (history.state as { layer?: boolean } | null)?.layer === true;
}

function guard() {
  if (layers.length > 0 && !isGuarded()) history.pushState({ layer: true }, '');
}

addEventListener('popstate', () => {
  if (isGuarded()) return;
  if (goBack()) setTimeout(guard);
  else history.back();
});

addEventListener('keydown', (event) => {
  const top = layers.at(-1);
  if (!top?.box || event.defaultPrevented) return;
  if (event.key === 'Escape') top.close?.();
  if (event.key === 'Tab') keepWithin(top.box, event);
});

function keepWithin(box: HTMLElement, event: KeyboardEvent) {
  const all = [...box.querySelectorAll<HTMLElement>(FOCUSABLE)].filter((one) => one.offsetParent !== null);
  const first = all[0] ?? box;
  const last = all.at(-1) ?? box;
  const now = document.activeElement;
  const isOutside = !box.contains(now);
  if (event.shiftKey ? isOutside || now === first || now === box : isOutside || now === last) {
    event.preventDefault();
    (event.shiftKey ? last : first).focus();
  }
}

/** Makes Back do this while the component is there, and with a box Escape; without, the keyboard stays with the page. */
export function useLayer(close: (() => void) | undefined, find: () => HTMLElement | null = () => null, back = close) {
  const layer = useRef<Layer>({ close, back, box: null });
  layer.current.close = close;
  layer.current.back = back;
  useLayoutEffect(() => {
    const { current } = layer;
    current.box = find();
    layers.push(current);
    guard();
    return () => { layers.splice(layers.indexOf(current), 1); };
  }, []);
}

/** Gives the focus back to the dialog when what had it is gone, as a form that was sent. */
export function useFocusWithin(find: () => HTMLElement | null) {
  useEffect(() => {
    const box = find();
    if (!box) return;
    const look = () => {
      const now = document.activeElement;
      const isTop = layers.at(-1)?.box === box;
      if (isTop && box.isConnected && (now === null || now === document.body)) box.focus({ preventScroll: true });
    };
    const later = () => { setTimeout(look); };
    const watch = new MutationObserver(look);
    watch.observe(box, { childList: true, subtree: true, attributes: true, attributeFilter: ['disabled'] });
    box.addEventListener('focusout', later);
    return () => { watch.disconnect(); box.removeEventListener('focusout', later); };
  }, []);
}
