// The player's hand: cards are lifted by a touch, moved by a drag, and chosen with the arrow keys.
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { deadwood, melds as meldsOf } from '../../../../clients/typescript/src/games/tongits/index.ts';
import { Face } from '../../cards.tsx';
import type { Card } from '../../model.ts';
import { settings } from '../../settings.ts';
import { cardName, say } from '../../words.ts';
import { cardWidth, newCard, groupCards, groups, layout, moveCard, selectCards, selected, sortHand, toggleCard, type Slot } from './hand.ts';

/** Handles a card dropped at a point, and returns whether that had an effect. */
export type DropHandler = (card: Card, x: number, y: number) => boolean;

interface Drag { card: Card; dx: number; dy: number; moved: boolean; x: number; y: number; id: number }

export function Hand({ hand, onLand, onDragOver }:
  { hand: readonly Card[]; onLand: DropHandler; onDragOver: (card: Card | null, x: number, y: number) => void }) {
  const box = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ width: 0, screen: innerHeight });
  // The pointer's state is stored at once: its next event may come before the page is redrawn.
  const pointer = useRef<Drag | null>(null);
  const [drag, draw] = useState<Drag | null>(null);
  const setDrag = (now: Drag | null) => { pointer.current = now; draw(now); };
  const [focus, setFocus] = useState(0);
  const tapped = useRef<{ card: Card; at: number } | null>(null);

  useLayoutEffect(() => {
    const look = () => setSize({ width: box.current?.clientWidth ?? 0, screen: innerHeight });
    look();
    const watch = new ResizeObserver(look);
    if (box.current) watch.observe(box.current);
    return () => watch.disconnect();
  }, []);

  const card = cardWidth(size.width, size.screen, settings.largeCards.value);
  const laid = useMemo(() => layout(groups.value, size.width, card), [groups.value, size.width, card]);
  const inOrder = useMemo(() => [...laid.slots].sort((a, b) => a.row - b.row || a.x - b.x), [laid]);

  const nearest = (x: number, y: number): Slot | null => {
    const rect = box.current?.getBoundingClientRect();
    if (!rect || y < rect.top - 30) return null;
    let found: Slot | null = null;
    let least = Infinity;
    for (const slot of laid.slots) {
      const far = Math.abs(slot.x + card / 2 - (x - rect.left)) + Math.abs(slot.y + card * 0.7 - (y - rect.top)) * 1.5;
      if (far < least) { least = far; found = slot; }
    }
    return found;
  };

  const down = (event: PointerEvent, one: Card) => {
    if (event.button !== 0) return;
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    setDrag({ card: one, dx: 0, dy: 0, moved: false, x: event.clientX, y: event.clientY, id: event.pointerId });
  };
  const over = (event: PointerEvent) => {
    const held = pointer.current;
    if (!held || event.pointerId !== held.id) return;
    const dx = event.clientX - held.x;
    const dy = event.clientY - held.y;
    if (!held.moved && Math.hypot(dx, dy) < 9) return;
    setDrag({ ...held, dx, dy, moved: true });
    onDragOver(held.card, event.clientX, event.clientY);
  };
  const up = (event: PointerEvent) => {
    const held = pointer.current;
    if (!held || event.pointerId !== held.id) return;
    const { card: one, moved } = held;
    setDrag(null);
    onDragOver(null, 0, 0);
    if (moved) {
      if (onLand(one, event.clientX, event.clientY)) return;
      const near = nearest(event.clientX, event.clientY);
      const rect = box.current?.getBoundingClientRect();
      if (!near || !rect || near.card === one) return;
      const after = event.clientX - rect.left > near.x + card * 0.5;
      moveCard(one, { group: near.group, at: near.at + (after ? 1 : 0) });
      return;
    }
    const now = performance.now();
    const twice = tapped.current?.card === one && now - tapped.current.at < 320;
    tapped.current = { card: one, at: now };
    if (twice) {
      // Selects the largest meld that contains the card.
      const all = meldsOf([...hand]).filter((meld) => meld.includes(one));
      const best = all.reduce<string[]>((a, b) => b.length > a.length ? b : a, []);
      if (best.length > 0) { selectCards(best); return; }
    }
    toggleCard(one);
  };
  const key = (event: KeyboardEvent) => {
    const last = inOrder.length - 1;
    const at = Math.min(focus, last);
    const to = event.key === 'ArrowRight' ? Math.min(last, at + 1) : event.key === 'ArrowLeft' ? Math.max(0, at - 1)
      : event.key === 'Home' ? 0 : event.key === 'End' ? last : null;
    if (to !== null) {
      event.preventDefault();
      setFocus(to);
      box.current?.querySelector<HTMLElement>(`[data-card="${inOrder[to]?.card}"]`)?.focus();
    } else if (event.key === ' ' || event.key === 'Enter') {
      event.preventDefault();
      const one = inOrder[at]?.card;
      if (one) toggleCard(one);
    }
  };

  const chosen = selected.value;
  return (
    <section class="hand" aria-label={say('hand')}>
      <div class="hand-line">
        <span class="tools" role="group" aria-label={say('sort_meld')}>
          <button type="button" class="tool" aria-pressed={!settings.byMeld.value} onClick={() => sortHand(false, hand)}>{say('sort_suit')}</button>
          <button type="button" class="tool" aria-pressed={settings.byMeld.value} onClick={() => sortHand(true, hand)}>{say('sort_meld')}</button>
          {chosen.size > 1 ? <button type="button" class="tool" onClick={() => groupCards([...chosen])}>{say('group')}</button> : null}
        </span>
        <span class="points">{say('points_left', { n: deadwood([...hand]) })}</span>
      </div>
      <div class="rack" ref={box} role="listbox" aria-multiselectable="true" aria-label={say('hand')}
        style={{ height: `${laid.height}px`, '--cw': `${card}px` }} onKeyDown={key}>
        {laid.lines.map((line) => (
          <i key={`${line.x}-${line.y}`} class={`line ${line.meld ? 'meld-line' : ''}`} aria-hidden="true"
            style={{ transform: `translate(${line.x}px,${line.y}px)`, width: `${line.width}px`, zIndex: line.row * 20 }} />
        ))}
        {[...laid.slots].sort((a, b) => a.card < b.card ? -1 : 1).map((slot) => {
          const isDragged = drag?.moved && drag.card === slot.card;
          const x = slot.x + (isDragged ? drag.dx : 0);
          const y = slot.y + (isDragged ? drag.dy : 0);
          const order = inOrder.indexOf(slot);
          return (
            <div key={slot.card} class={`slot ${isDragged ? 'dragged' : ''}`}
              style={{ transform: `translate(${x}px,${y}px)`, zIndex: isDragged ? 60 : slot.row * 20 + order + 1 }}>
              <div class={`card ${chosen.has(slot.card) ? 'lifted' : ''} ${newCard.value === slot.card ? 'fresh' : ''}`}
                data-flies={slot.card} data-card={slot.card} role="option" aria-selected={chosen.has(slot.card)}
                aria-label={cardName(slot.card)} tabIndex={order === Math.min(focus, inOrder.length - 1) ? 0 : -1}
                onPointerDown={(event) => down(event, slot.card)} onPointerMove={over} onPointerUp={up}
                onPointerCancel={() => { setDrag(null); onDragOver(null, 0, 0); }}
                onFocus={() => setFocus(order)}>
                <Face card={slot.card} />
              </div>
            </div>
          );
        })}
      </div>
    </section>
  );
}
