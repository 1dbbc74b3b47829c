// The table of Tong-its: the melds, the stock, the POT, the discards, the player's hand, and the actions. It
// is also drawn, without a hand, during the preparation of a game.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Back, Face } from '../../cards.tsx';
import type { Action, Card, TableState } from '../../model.ts';
import { animateFlights } from '../../motion.ts';
import { Acts } from '../../parts/acts.tsx';
import { Amount } from '../../parts/index.tsx';
import { useLayer } from '../../parts/layers.ts';
import { settings } from '../../settings.ts';
import { cardName, say } from '../../words.ts';
import { showToast } from '../../house.ts';
import { updateGroups, selected } from './hand.ts';
import { Hand } from './handview.tsx';
import { buttons, cardsOf, choices, legal, legalOf, play, sapawTo, fullReason, takingMelds } from './moves.ts';
import { gameView, nameOf, pending } from './show.ts';
import type { Meld, View } from './types.ts';

export function Board({ state }: { state: TableState }) {
  const view = gameView(state.view);
  const seat = state.view.seat;
  const hand = (view && seat !== null ? view.hands[seat] : null) ?? [];
  const [over, setOver] = useState<string | null>(null);
  updateGroups(hand);
  useLayoutEffect(() => {
    const flights = pending.flights;
    pending.flights = null;
    if (flights) animateFlights(flights);
  });
  // A new prompt closes the choices of the previous one. This runs before painting, so that no choice of the
  // new prompt is closed.
  const number = state.prompt?.number;
  useLayoutEffect(() => { choices.value = null; }, [number]);

  const targetAt = (x: number, y: number): HTMLElement | null => {
    const element = document.elementsFromPoint(x, y).find((one) => one.closest('[data-target]'));
    return element?.closest<HTMLElement>('[data-target]') ?? null;
  };
  const land = (card: Card, x: number, y: number): boolean => {
    const target = targetAt(x, y)?.dataset['target'];
    if (!target || !view) return false;
    if (target === 'discard') return tryPlay(view, { type: 'dump', card });
    if (target.startsWith('meld-')) return tryPlay(view, { type: 'sapaw', card, meld: Number(target.slice(5)) });
    const chosen = selected.value.has(card) ? [...selected.value] : [card];
    const drop = legalOf('drop').find((action) => cardsOf(action).length === chosen.length && cardsOf(action).every((one) => chosen.includes(one)))
      ?? (chosen.length === 1 ? legalOf('drop').find((action) => cardsOf(action).includes(card)) : undefined);
    if (drop) { void play(drop); return true; }
    return chosen.length > 1 && tryPlay(view, { type: 'drop', cards: chosen });
  };
  return (
    <>
      <Melds state={state} view={view} over={over} />
      <Piles state={state} view={view} over={over} />
      {view && hand.length > 0
        ? <Hand hand={hand} onLand={land} onDragOver={(card, x, y) => setOver(card ? targetAt(x, y)?.dataset['target'] ?? null : null)} />
        : <section class="hand empty" aria-hidden="true" />}
      <Acts all={buttons(state)} />
      {view && choices.value ? <Choice key={choices.value[0]?.type} state={state} view={view} ways={choices.value} /> : null}
    </>
  );
}

/** Plays an action if it is legal; otherwise shows the rule against it. */
function tryPlay(view: View, action: { type: string; [field: string]: unknown }): boolean {
  const found = legal.value.find((one) => one.type === action.type && Object.entries(action)
    .every(([field, value]) => JSON.stringify(one[field]) === JSON.stringify(value)));
  if (found) { void play(found); return true; }
  const text = fullReason(view, action);
  if (text) showToast(text);
  return false;
}

/** The least width of a card in a meld, in pixels. */
const MINI_LEAST = 16;

function Melds({ state, view, over }: { state: TableState; view: View | null; over: string | null }) {
  const melds = view?.public.melds ?? [];
  const box = useRef<HTMLElement>(null);
  const fitted = useRef('');
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    // Measuring forces a layout, so it runs only if the melds or the available space have changed.
    const now = `${melds.map(({ cards, face_down }) => `${cards.length}-${face_down ?? 0}`).join()} ${innerWidth} ${innerHeight} ${settings.largeCards.value}`;
    if (fitted.current === now) return;
    fitted.current = now;
    const most = Number(getComputedStyle(element).getPropertyValue('--mini-most')) || 36;
    for (let size = most; size >= MINI_LEAST; size -= 2) {
      element.style.setProperty('--mini', `${size}px`);
      const isWide = [...element.querySelectorAll<HTMLElement>('.meld')].some((meld) => meld.offsetWidth > (meld.parentElement?.clientWidth ?? 0) + 1);
      if (!isWide && element.scrollHeight <= element.clientHeight + 1) break;
    }
  });
  const touch = (index: number) => {
    if (!view) return;
    const action = sapawTo(index);
    if (action) { void play(action); return; }
    const one = [...selected.value];
    if (one.length === 1) { tryPlay(view, { type: 'sapaw', card: one[0]!, meld: index }); return; }
    // If several cards fit, the player chooses among them.
    const fits = legalOf('sapaw').filter((each) => each['meld'] === index);
    if (fits.length > 1) choices.value = fits;
    else if (fits.length > 0) selected.value = new Set([String(fits[0]!['card'])]);
  };
  return (
    <section class="melds" ref={box} aria-label={say('melds')} data-target="melds">
      {SIDES.map((side) => (
        <div class={`melds-of melds-${side}`} key={side} data-target="melds">
          {melds.map((meld, index) => relation(state, meld.owner) === side
            ? <OneMeld key={index} state={state} meld={meld} index={index} isOver={over === `meld-${index}`} onTouch={() => touch(index)} /> : null)}
        </div>
      ))}
    </section>
  );
}

/** The sides of the table: each owner's melds lie on its side, the player's own ones before the hand. */
const SIDES = ['left', 'right', 'me'] as const;

function OneMeld({ state, meld, index, isOver, onTouch }:
  { state: TableState; meld: Meld; index: number; isOver: boolean; onTouch: () => void }) {
  const name = nameOf(state.view, meld.owner);
  const can = takingMelds.value.has(index);
  const label = say('meld_of', { name, cards: meld.cards.length > 0 ? meld.cards.map(cardName).join(', ')
    : say('face_down_meld', { n: meld.face_down ?? 0 }) });
  return (
    <button type="button" data-target={`meld-${index}`}
      class={`meld ${can ? 'can' : ''} ${can && selected.value.size > 0 ? 'takes' : ''} ${isOver ? 'over' : ''} owner-${relation(state, meld.owner)}`}
      onClick={onTouch}>
      <span class="sr">{can ? `${say('sapaw')}: ${label}` : label}</span>
      <span class="own" aria-hidden="true">{name}</span>
      <span class="row" aria-hidden="true">{inOrder(meld).map((card) => <span class="card mini" key={card} data-flies={card}><Face card={card} small /></span>)}
        {meld.cards.length === 0 ? Array.from({ length: meld.face_down ?? 0 }, (_, i) => <span class="card mini" key={i}><Back /></span>) : null}
      </span>
    </button>
  );
}

function relation(state: TableState, seat: number): typeof SIDES[number] {
  const count = state.view.seats.length;
  const mine = state.view.seat ?? 0;
  const way = (seat - mine + count) % count;
  return way === 0 ? 'me' : way === 1 ? 'right' : 'left';
}

/** Returns a run in sequence or a set by suits, with a joker at its end. */
function inOrder(meld: Meld): Card[] {
  const place = (card: Card) => card[0] === 'X' ? 99 : 'A23456789TJQK'.indexOf(card[0]!) * 4 + 'CDHS'.indexOf(card[1]!);
  return [...meld.cards].sort((a, b) => place(a) - place(b));
}

function Piles({ state, view, over }: { state: TableState; view: View | null; over: string | null }) {
  const { pot, crown, terms, seats } = state.view;
  const stock = view?.public.stock_count ?? null;
  const discards = view?.public.discards ?? [];
  const canDraw = legalOf('draw').length > 0;
  const one = [...selected.value];
  const canDump = one.length === 1 && legalOf('dump').some((action) => action['card'] === one[0]);
  const chows = legalOf('chow');
  const wearer = crown ? seats.find((each) => each?.player === crown.player) : null;
  const needed = terms.hits && crown ? terms.hits.to_win - crown.wins : null;
  const takeDiscard = () => {
    if (canDump) void play({ type: 'dump', card: one[0]! });
    else if (chows.length === 1) void play(chows[0]!);
    else if (chows.length > 1) choices.value = chows;
  };
  return (
    <section class="middle">
      <div class="pile">
        <button type="button" class={`stock ${canDraw ? 'can' : ''} ${stock === 0 ? 'none' : ''}`} data-anchor="stock" disabled={!canDraw}
          onClick={() => void play({ type: 'draw' })}>
          <span class="sr">{say('stock')}: {say('stock_left', { n: stock ?? 0 })}</span>
          <Back />
        </button>
        <small>{stock === null ? ' ' : say('stock_left', { n: stock })}</small>
      </div>
      {terms.hits ? (
        <div class="pot" data-anchor="pot">
          <small>{say('pot')}{needed !== null ? ` · ${needed === 1 ? say('pot_one') : say('pot_more', { n: needed })}` : ''}</small>
          <Amount value={pot} class="pot-amount" />
          <small class="wearer">{wearer ? <><span aria-hidden="true">♛</span> {wearer.player === seats[state.view.seat ?? -1]?.player ? say('you') : wearer.name}</> : ' '}</small>
        </div>
      ) : null}
      <div class="pile">
        <button type="button" data-target="discard" data-anchor="discard" disabled={!canDump && chows.length === 0}
          class={`discards ${canDump || chows.length > 0 ? 'can' : ''} ${over === 'discard' ? 'over' : ''}`}
          onClick={takeDiscard}>
          <span class="sr">{say('discard')}: {discards.length > 0 ? cardName(discards.at(-1)!) : ''}</span>
          {discards.slice(-3).map((card, i, shown) => (
            <span class="card" key={card} data-flies={card} aria-hidden="true"
              style={{ '--turn': `${(card.charCodeAt(0) * 7 + card.charCodeAt(1) * 3) % 11 - 5}deg` }}>
              <Face card={card} small={i < shown.length - 1} />
            </span>
          ))}
        </button>
        <small>{say('discard')}</small>
      </div>
    </section>
  );
}

/** Returns the meld that an action makes, with the added card. */
function madeMeld(view: View, action: Action): { all: Card[]; added: Card } {
  const added = action.type === 'chow' ? view.public.discards.at(-1)! : String(action['card']);
  const meld = action.type === 'chow' ? cardsOf(action) : view.public.melds[Number(action['meld'])]?.cards ?? [];
  return { all: [...meld, added], added };
}

/**
 * The choice of the cards to chow with, or of the card or meld of a sapaw, if there are several ways. It
 * covers the melds, so that the hand and the clock stay visible.
 */
function Choice({ state, view, ways }: { state: TableState; view: View; ways: readonly Action[] }) {
  const first = useRef<HTMLButtonElement>(null);
  const close = () => { choices.value = null; };
  useEffect(() => { first.current?.focus({ preventScroll: true }); }, []);
  useLayer(close);
  const title = say(ways[0]?.type === 'chow' ? 'chow_choose' : 'sapaw_choose');
  return (
    <div class="chooser" role="dialog" aria-label={title} onKeyDown={(event) => { if (event.key === 'Escape') close(); }}>
      <p>{title}</p>
      <div class="ways">
        {ways.map((way, i) => {
          const { all, added } = madeMeld(view, way);
          const owner = way.type === 'sapaw' ? view.public.melds[Number(way['meld'])]?.owner ?? null : null;
          return (
            <button type="button" key={JSON.stringify(way)} class="way" ref={i === 0 ? first : null} onClick={() => void play(way)}>
              <span class="sr">{all.map(cardName).join(', ')}{owner === null ? '' : ` (${nameOf(state.view, owner)})`}</span>
              <span class="row" aria-hidden="true">{inOrder({ owner: 0, cards: all, by: [] }).map((card) => (
                <span class={`card mini ${card === added ? 'taken' : ''}`} key={card}><Face card={card} small /></span>
              ))}</span>
              {owner === null ? null : <small aria-hidden="true">{nameOf(state.view, owner)}</small>}
            </button>
          );
        })}
      </div>
      <button type="button" class="plain" onClick={close}>{say('cancel')}</button>
    </div>
  );
}
