// The ring of eight floors, seen from above and a little from the front: the front floor enlarged, dice as
// stones at the floors, the Divine Treasury and the costs in the middle.
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { faces, matches, ownHand, risk } from '../../../../clients/typescript/src/games/tongo_options/index.ts';
import { Back, Face } from '../../cards.tsx';
import type { TableState } from '../../model.ts';
import { track } from '../../motion.ts';
import { Amount, Coin } from '../../parts/index.tsx';
import { settings } from '../../settings.ts';
import { cardName, coinsText, say } from '../../words.ts';
import { diePosition, geometry, ringPosition, ringPath, type Geometry, type RingPosition } from './layout.ts';
import { isPrompted, chooser, frontOf, usesBuyIn, nameOf, ownTurn, picked, play, swapPrice, swapPartners, swapMove, turned } from './moves.ts';
import type { Class, Open, View } from './types.ts';
import { chips, rankOf, word } from './words.ts';

const FLOOR_NUMBERS = [0, 1, 2, 3, 4, 5, 6, 7];
const EMPTY: (string | null)[] = [null, null, null];

function place({ x, y, scale }: RingPosition, { box }: Geometry): string {
  return `translate(${x - box.width / 2}px,${y - box.height / 2}px) scale(${scale})`;
}

export function Ring({ state, view }: { state: TableState; view: View | null }) {
  const box = useRef<HTMLElement>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const look = () => setSize({ width: box.current?.clientWidth ?? 0, height: box.current?.clientHeight ?? 0 });
    look();
    const watch = new ResizeObserver(look);
    if (box.current) watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  const open = view?.public ?? null;
  const turn = ownTurn(view);
  const hasExchange = open?.rules.free_exchange ?? true;
  const by = useMemo(() => geometry(size.width, size.height, hasExchange), [size.width, size.height, hasExchange]);
  const front = frontOf(view);
  useRotation(box, by, front);
  useTumble(box, open);
  const others = open?.phase.type === 'turn' || open?.phase.type === 'stop' || open?.phase.type === 'roll' ? open.phase.seat : null;
  const acting = open && others !== null && others !== state.view.seat
    ? { seat: others, floor: open.players[others]?.facing ?? 0 } : null;
  const claimed = open?.phase.type === 'challenge' && (open.phase.target ?? null) === null
    ? open.players[open.phase.by]?.facing ?? null : null;
  const targets = turn && picked.value !== null ? swapPartners(picked.value) : [];
  return (
    <section class={`ring-box ${picked.value !== null ? 'choosing' : ''}`} ref={box} aria-label={word('board')}
      style={{ '--u': `${by.card}px`, '--cw': `${by.card}px` }}>
      {size.width > 0 ? (
        <>
          <Plate by={by} />
          <Centre state={state} view={view} by={by} />
          <ul class="floors">
            {FLOOR_NUMBERS.map((floor) => (
              <Floor key={floor} floor={floor} view={view} by={by} front={front} targets={targets}
                tag={acting?.floor === floor ? nameOf(state.view, acting.seat) : null} isClaimed={claimed === floor} />
            ))}
          </ul>
          {open?.dice.map((die, i) => {
            const same = open.dice.filter((other) => other.place === die.place);
            const at = diePosition(by, front, die.place, same.indexOf(die), same.length);
            const isNear = faces(die, front);
            return (
              <span key={i} class={`die die-${i} ${isNear ? 'near' : ''}`} role="img"
                aria-label={`${word('die', { value: rankOf(die.value) })}, ${word('floor', { n: Math.floor(die.place / 2) + 1 })}`}
                style={{ transform: `translate(${at.x}px,${at.y}px)` }}><Stone number={die.value} /></span>
            );
          })}
          {hasExchange && view ? <FreeSwap view={view} by={by} targets={targets} /> : null}
        </>
      ) : null}
    </section>
  );
}

/** A stone with a number as on the cards. */
export function Stone({ number }: { number: number }) {
  const kind = number <= 4 ? 0 : number <= 8 ? 1 : 2;
  const shape = ['M50 4 96 84H4Z', 'M50 3 96 50 50 97 4 50Z', 'M27 6h46l23 44-23 44H27L4 50Z'][kind]!;
  return (
    <svg class={`stone stone-${kind}`} viewBox="0 0 100 100" aria-hidden="true">
      <path class="stone-side" d={shape} transform="translate(0 5)" /><path class="stone-top" d={shape} />
      <text x="50" y={kind === 0 ? 78 : 66} text-anchor="middle">{rankOf(number)}</text>
    </svg>
  );
}

/** Animates the ring from one front floor to another. */
function useRotation(box: { current: HTMLElement | null }, by: Geometry, front: number) {
  const before = useRef({ front, width: by.width });
  useLayoutEffect(() => {
    const { front: from, width } = before.current;
    before.current = { front, width: by.width };
    if (from === front || width !== by.width || settings.still.value) return;
    const apart = Math.min((front - from + 8) % 8, (from - front + 8) % 8);
    for (const floor of FLOOR_NUMBERS) {
      const element = box.current?.querySelector(`[data-floor="${floor}"]`);
      const frames = ringPath(by, from, front, floor).map((one) => ({ transform: place(one, by) }));
      if (element) track(element.animate(frames, { duration: 220 + 90 * apart, easing: 'cubic-bezier(.3,.1,.2,1)' }));
    }
  }, [front, by]);
}

/** Animates rolled dice. */
function useTumble(box: { current: HTMLElement | null }, open: Open | null) {
  const diceKey = JSON.stringify(open?.dice ?? []);
  const before = useRef(diceKey);
  useLayoutEffect(() => {
    if (before.current === diceKey) return;
    const wasNone = before.current === '[]';
    before.current = diceKey;
    if (settings.still.value || wasNone) return;
    box.current?.querySelectorAll('.die .stone').forEach((stone, i) => {
      track(stone.animate([
        { transform: 'rotate(0) scale(1)' }, { transform: 'rotate(400deg) scale(1.7)', offset: 0.5 }, { transform: 'rotate(720deg) scale(1)' },
      ], { duration: 620 + i * 70, easing: 'cubic-bezier(.3,.1,.3,1)' }));
    });
  }, [diceKey]);
}

function Plate({ by }: { by: Geometry }) {
  const y = by.centre.y + by.drop * 0.32;
  const outer = { rx: by.radius.x + by.box.width * 0.58, ry: by.radius.y + by.drop * 0.4 + by.box.height * 0.5 };
  const inner = { rx: by.radius.x - by.box.width * 0.56, ry: by.radius.y - by.box.height * 0.42 };
  const lines = FLOOR_NUMBERS.map((floor) => {
    const angle = (floor + 0.5) * Math.PI / 4;
    return `M${by.centre.x + Math.cos(angle) * inner.rx} ${by.centre.y + Math.sin(angle) * inner.ry}L${by.centre.x + Math.cos(angle) * outer.rx} ${y + Math.sin(angle) * outer.ry}`;
  }).join('');
  return (
    <svg class="plate" width={by.width} height={by.height} viewBox={`0 0 ${by.width} ${by.height}`} aria-hidden="true">
      <ellipse class="plate-edge" cx={by.centre.x} cy={y + 9} rx={outer.rx} ry={outer.ry} />
      <ellipse class="plate-wood" cx={by.centre.x} cy={y} rx={outer.rx} ry={outer.ry} />
      <path class="plate-lines" d={lines} />
      <ellipse class="plate-well" cx={by.centre.x} cy={by.centre.y} rx={Math.max(0, inner.rx)} ry={Math.max(0, inner.ry)} />
    </svg>
  );
}

interface FloorProps {
  floor: number;
  view: View | null;
  by: Geometry;
  front: number;
  targets: readonly [number | null, number][];
  tag: string | null;
  isClaimed: boolean;
}

function Floor({ floor, view, by, front, targets, tag, isClaimed }: FloorProps) {
  const open = view?.public;
  const cards = open?.floors[floor] ?? EMPTY;
  const isFront = floor === front;
  const turn = ownTurn(view);
  const isMine = isFront && turn !== null && turn.floor === floor;
  const mayTurn = open?.phase.type === 'stop' && open.phase.seat === view?.viewer;
  const found = view && open ? matches(ownHand(view), cards, open.dice) : [];
  const best = found[0];
  const names = cards.map((card) => card ? cardName(card) : word('face_down')).join(', ');
  const label = word('floor_holds', { floor: word('floor', { n: floor + 1 }), cards: names });
  return (
    <li class={`floor ${isFront ? 'front' : ''} ${tag ? 'visited' : ''} ${isClaimed ? 'claimed' : ''}`} data-floor={floor}
      style={{ width: `${by.box.width}px`, height: `${by.box.height}px`, transform: place(ringPosition(by, floor - front), by), zIndex: isFront ? 5 : 2 }}>
      <span class="sr">{label}{isFront ? `, ${word('floor_facing')}` : ''}{best ? `, ${word(best.class)}` : ''}</span>
      {mayTurn && !isFront ? <button type="button" class="turn-to" aria-label={`${word('turn_left')}: ${word('floor', { n: floor + 1 })}`} onClick={() => { turned.value = floor; }} /> : null}
      <span class="floor-cards">
        {cards.map((card, slot) => {
          const match = found.find((one) => one.floor === card);
          const swap = targets.find(([to, other]) => to === floor && other === slot);
          return <Slot key={slot} card={card} slot={slot} floor={floor} isMine={isMine} match={match?.class ?? null}
            price={swap && view ? swapPrice(view, floor) : null} />;
        })}
      </span>
      <i class="floor-number" aria-hidden="true">{floor + 1}</i>
      {best ? <i class={`match-tag of-${best.class}`} aria-hidden="true">{word(best.class)}{found.length > 1 ? ` +${found.length - 1}` : ''}</i> : null}
      {tag ? <i class="visit-tag" aria-hidden="true">{tag}</i> : null}
    </li>
  );
}

interface SlotProps { card: string | null; slot: number; floor: number; isMine: boolean; match: Class | null; price: number | null }

function Slot({ card, slot, floor, isMine, match, price }: SlotProps) {
  const look = (
    <span class={`card turns ${match ? `match of-${match}` : ''}`} data-place={`${floor}-${slot}`} key={card ?? 'down'}>
      {card ? <Face card={card} small /> : <Back />}
      {price !== null ? <b class="price-tag" aria-hidden="true">{price}</b> : null}
    </span>
  );
  const named = word('card_at', { n: slot + 1, card: card ? cardName(card) : word('face_down') });
  if (price !== null) {
    return (
      <button type="button" class="place target" onClick={() => { if (picked.value !== null) void play(swapMove(picked.value, floor, slot)); }}>
        <span class="sr">{`${word('swap')}: ${word('floor', { n: floor + 1 })}, ${named}, ${price === 0 ? word('for_free') : chips(price)}`}</span>{look}</button>
    );
  }
  if (!isMine) return <span class="place">{look}</span>;
  return (
    <button type="button" class={`place own ${picked.value === slot ? 'picked' : ''}`} data-slot={slot} aria-pressed={picked.value === slot}
      aria-label={named} onClick={() => { picked.value = picked.value === slot ? null : slot; }}>{look}</button>
  );
}

/** The free exchange of the front floor: hidden cards below it. */
function FreeSwap({ view, by, targets }: { view: View; by: Geometry; targets: readonly [number | null, number][] }) {
  const { x, y, card } = by.exchange;
  const isOpen = targets.some(([floor]) => floor === null);
  return (
    <div class={`free-swap ${isOpen ? 'open' : ''}`} style={{ '--cw': `${card}px`, left: `${x}px`, top: `${y}px` }}>
      {[0, 1, 2].map((other) => {
        const can = targets.some(([floor, slot]) => floor === null && slot === other);
        return can ? (
          <button type="button" key={other} class="place target" onClick={() => { if (picked.value !== null) void play(swapMove(picked.value, null, other)); }}>
            <span class="sr">{`${word('swap')}: ${word('free_card', { n: other + 1 })}, ${word('for_free')}`}</span>
            <span class="card" data-place={`free-${other}`}><Back /><b class="price-tag" aria-hidden="true">0</b></span></button>
        ) : <span key={other} class="place"><span class="card" data-place={`free-${other}`}><Back /></span></span>;
      })}
      {view.public.phase.type === 'turn' ? <small>{word('free_swap')}</small> : null}
    </div>
  );
}

/** The value at which a gauge is full. */
const GAUGE_MAX = 12;
const ARC = Math.PI * 38 * 1.5;

function Gauge({ name, value }: { name: 'buy' | 'sell' | 'exchange'; value: number }) {
  const part = Math.min(1, value / GAUGE_MAX);
  return (
    <span class={`gauge gauge-${name}`} aria-hidden="true">
      <svg viewBox="0 0 100 88" aria-hidden="true">
        <path class="gauge-track" d="M23 77A38 38 0 1 1 77 77" />
        <path class="gauge-fill" d="M23 77A38 38 0 1 1 77 77" stroke-dasharray={ARC} stroke-dashoffset={ARC * (1 - part)} />
        <text x="50" y="64" text-anchor="middle">{value}</text>
      </svg>
      <small>{word(name)}</small>
    </span>
  );
}

function Flame({ value }: { value: number }) {
  const size = value === 0 ? 0.5 : Math.min(1, 0.62 + value * 0.06);
  return (
    <span class={`flame ${value > 0 ? 'burns' : ''}`} aria-hidden="true">
      <svg viewBox="0 0 100 88" aria-hidden="true">
        <g transform={`translate(50 86) scale(${size})`}>
          <path class="flame-out" d="M0 0C-30 0-40-22-34-42c4-13 14-18 16-34 9 6 12 13 12 20 8-6 12-20 8-38C22-82 40-60 38-34 37-14 24 0 0 0Z" />
          <path class="flame-in" d="M0-3c-14 0-20-10-17-22 3-9 10-13 13-24 10 8 24 18 23 31C18-9 11-3 0-3Z" />
        </g>
        <text x="50" y={70} text-anchor="middle">{value}</text>
      </svg>
      <small>{word('risk')}</small>
    </span>
  );
}

function Centre({ state, view, by }: { state: TableState; view: View | null; by: Geometry }) {
  const open = view?.public;
  const { bet, multiplier } = state.view.terms.price;
  const { y } = by.centre;
  const now = open ? risk(open) : 0;
  return (
    <div class={`centre ${by.width > by.height * 1.8 ? 'beside' : ''}`} style={{ left: `${by.centre.x}px`, top: `${y}px`, width: `${Math.max(0, by.width - 2 * by.box.width - 22)}px` }}>
      <div class="treasury" data-anchor="pot">
        <small>{word('treasury')}</small>
        <b class="treasury-chips"><Chest /><span>{open?.pot ?? 0}</span></b>
        <small class="treasury-coins"><Coin /> <Amount value={(open?.pot ?? 0) * bet * multiplier} /></small>
        {state.view.terms.hits ? <small>{say('pot')} {coinsText(state.view.pot)}</small> : null}
      </div>
      {open ? (
        <button type="button" class="gauges" disabled={!isPrompted.value || ownTurn(view) === null} onClick={() => { chooser.value = 'costs'; }}>
          <span class="sr">{word('costs', { ...open.costs, risk: now })}</span>
          <Gauge name="buy" value={open.costs.buy} />
          <Flame value={now} />
          <Gauge name="sell" value={open.costs.sell} />
          <Gauge name="exchange" value={open.costs.exchange} />
        </button>
      ) : null}
      {open ? <small class="round-now">{word('round', { n: open.round })}{usesBuyIn.value ? ` · ${word('token_leverage')}` : ''}</small> : null}
    </div>
  );
}

function Chest() {
  return (
    <svg class="chest" viewBox="0 0 100 84" aria-hidden="true">
      <path class="chest-glow" d="M20 36 50 8l30 28Z" /><path class="chest-lid" d="M10 40C10 18 26 8 50 8s40 10 40 32Z" />
      <path class="chest-box" d="M8 42h84v34a6 6 0 0 1-6 6H14a6 6 0 0 1-6-6Z" /><path class="chest-band" d="M44 34h12v22H44ZM8 42h84v6H8Z" />
    </svg>
  );
}
