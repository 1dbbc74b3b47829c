// The stack of layers over the page: the table, and the sheets. Back and Escape close the uppermost. For the
// browser's Back button, one history entry lies above the page while a layer is open, and is pushed again
// until the last one is closed.
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

interface Layer {
  /** Closes the layer by Escape; undefined if the player has to decide. */
  close: (() => void) | undefined;
  /** Closes the layer by Back. */
  back: (() => void) | undefined;
  /** The dialog that keeps the keyboard focus; null if the page keeps it. */
  box: HTMLElement | null;
}

const layers: Layer[] = [];
const FOCUSABLE = 'button:not([disabled]),a[href],input:not([disabled]),select,summary,[tabindex="0"]';

/** Closes the uppermost layer as Back does, and returns whether there was one. */
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

/**
 * Handles Back while the component is mounted, and Escape too if there is a box; otherwise the page keeps the
 * keyboard.
 */
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

/** Returns the focus to the dialog when the focused element is removed, such as a form that was sent. */
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
