// The end of a game of Tongo (options): all hands with their matched floors, those of folded seats once the
// record is available; and a step of a replay.
import { useEffect, useState } from 'preact/hooks';
import { bestOf } from '../../../../clients/typescript/src/games/tongo_options/index.ts';
import { Back, Face } from '../../cards.tsx';
import { callHouse } from '../../house.ts';
import type { GameStep, Seat } from '../../model.ts';
import { Avatar, shortName } from '../../parts/index.tsx';
import { say } from '../../words.ts';
import type { FinishedGame } from '../folder.ts';
import { wordsOf } from './moves.ts';
import { Stone } from './ring.tsx';
import { describeEvent } from './show.ts';
import type { GameEvent, Match, Open, Shown, View } from './types.ts';
import { chips, word } from './words.ts';

export interface TongoEnd {
  shown: readonly Shown[] | null;
  end: Extract<GameEvent, { type: 'over' }> | null;
  /** The public state before the end. */
  open: Open | null;
}

interface Held { hand: readonly string[]; floor: number | null; matches: readonly Match[] }

/** Returns the last view of the game with all hands, once the game is settled. */
function useFinalView(ended: FinishedGame): View | null {
  const [view, setView] = useState<View | null>(null);
  // Practice has no record.
  const isSettled = ended.pot !== null && !ended.practice;
  useEffect(() => {
    if (!isSettled) return;
    let alive = true;
    void callHouse<{ items: GameStep[] }>('GET /v1/games/{id}/steps', { path: { id: ended.game }, query: { hands: 'all' } }, true)
      .then((got) => { if (alive && got) setView(got.items.at(-1)?.view as View ?? null); });
    return () => { alive = false; };
  }, [isSettled, ended.game]);
  return view;
}

export function Showdown({ ended }: { ended: FinishedGame }) {
  const { shown, end, open } = ended.detail as Partial<TongoEnd>;
  const all = useFinalView(ended);
  const floors = all?.public.floors ?? open?.floors ?? [];
  const dice = all?.public.dice ?? open?.dice ?? [];
  const winner = end?.winner ?? ended.settlement.winner;
  const heldBy = (seat: Seat): Held | null => {
    const one = shown?.find((each) => each.seat === seat);
    if (one) return one;
    const hand = all?.hands[seat] ?? null;
    if (!hand || !all) return null;
    const best = bestOf(hand, all.public);
    return { hand, floor: best.matches.length > 0 ? best.floor : null, matches: best.matches };
  };
  const order = ended.seats.flatMap((who, seat) => who ? [seat] : [])
    .filter((seat) => seat < (open?.players.length ?? ended.seats.length))
    .sort((a, b) => Number(b === winner) - Number(a === winner) || Number(isShown(shown, b)) - Number(isShown(shown, a)));
  return (
    <div class="hands-shown tongo-shown">
      <p class="end-pot">{word('pot_was', { n: end?.pot ?? 0 })}
        <span class="end-dice">{dice.map((die, i) => <span class="die" key={i} role="img" aria-label={word('die', { value: die.value })}><Stone number={die.value} /></span>)}</span></p>
      {order.map((seat) => {
        const held = heldBy(seat);
        const name = seat === ended.viewer ? say('you') : shortName(ended.seats[seat]?.name ?? '?');
        return (
          <section key={seat} class={`hand-shown ${seat === winner ? 'winner' : isShown(shown, seat) ? '' : 'out'}`}>
            <header>
              <Avatar name={ended.seats[seat]?.name ?? '?'} picture={ended.seats[seat]?.avatar ?? null} />
              <b>{name}</b>
              {seat === winner ? <span class="badge won">{word('winner')}</span> : shown && !isShown(shown, seat) || !shown ? <span class="badge">{word('folded')}</span> : null}
              <span class="points">{held ? wordsOf(held.matches) : ' '}</span>
            </header>
            <HandAndFloor held={held} floor={held?.floor === null || !held ? null : floors[held.floor] ?? null} />
          </section>
        );
      })}
      {all || ended.practice || shown?.length === order.length ? null : <p class="quiet">{word('hands_later')}</p>}
    </div>
  );
}

function isShown(shown: readonly Shown[] | null | undefined, seat: Seat): boolean {
  return shown?.some((one) => one.seat === seat) ?? false;
}

function HandAndFloor({ held, floor }: { held: Held | null; floor: readonly (string | null)[] | null }) {
  const kind = (card: string | null, side: 'card' | 'floor') => {
    const match = held?.matches.find((one) => one[side] === card);
    return match ? `match of-${match.class}` : '';
  };
  return (
    <div class="row tongo-row">
      <span class="group">{held ? held.hand.map((card) => <span class={`card mini ${kind(card, 'card')}`} key={card}><Face card={card} small named /></span>)
        : [0, 1, 2, 3].map((i) => <span class="card mini" key={i}><Back /></span>)}</span>
      {held && floor ? (
        <span class="group with-floor"><small>{word('with_floor', { n: (held.floor ?? 0) + 1 })}</small>
          {floor.map((card, slot) => <span class={`card mini ${card ? kind(card, 'floor') : ''}`} key={slot}>{card ? <Face card={card} small named /> : <Back />}</span>)}</span>
      ) : null}
    </div>
  );
}

export function Step({ step, seats, viewer }: { step: GameStep; seats: string[]; viewer: Seat }) {
  const view = step.view as View;
  const { floors, dice, players, pot, costs, shown } = view.public;
  const acting = step.taken?.seat;
  const hidden = view.hidden?.floors;
  return (
    <div class="step tongo-step">
      <p class="step-piles"><b>{word('treasury')}: {chips(pot)}</b> <span>{word('buy')} {costs.buy} · {word('sell')} {costs.sell} · {word('exchange')} {costs.exchange}</span></p>
      <ul class="step-floors">
        {floors.map((cards, floor) => (
          <li key={floor} class={players.some((one, seat) => seat === acting && one.facing === floor) ? 'front' : ''}>
            <small>{floor + 1}</small>
            {cards.map((card, slot) => {
              const below = card ?? hidden?.[floor]?.[slot] ?? null;
              return <span class={`card mini ${card ? '' : 'down'}`} key={slot}>{below ? <Face card={below} small named /> : <Back />}</span>;
            })}
            {dice.map((die, i) => die.place === 2 * floor || die.place === 2 * floor + 1
              ? <span class="die" key={i} role="img" aria-label={word('die', { value: die.value })}><Stone number={die.value} /></span> : null)}
          </li>
        ))}
      </ul>
      {seats.map((name, seat) => {
        const hand = view.hands[seat] ?? shown?.find((one) => one.seat === seat)?.hand ?? null;
        const one = players[seat];
        if (!one) return null;
        return (
          <section key={seat} class={`hand-shown ${seat === acting ? 'winner' : ''} ${one.folded ? 'out' : ''}`}>
            <header><Avatar name={name} /><b>{seat === viewer ? say('you') : shortName(name)}</b>
              {one.folded ? <span class="badge">{word('folded')}</span> : null}<span class="points">{chips(one.chips)}</span></header>
            <div class="row"><span class="group">{hand ? hand.map((card) => <span class="card mini" key={card}><Face card={card} small named /></span>)
              : [0, 1, 2, 3].map((i) => <span class="card mini" key={i}><Back /></span>)}</span></div>
          </section>
        );
      })}
      <p class="step-words" aria-live="polite">{step.taken ? wordsOfStep(step, view, seats, viewer) : say('the_deal')}</p>
    </div>
  );
}

function wordsOfStep(step: GameStep, view: View, seats: string[], viewer: Seat): string {
  const names = { seat: viewer, seats: seats.map((name) => ({ name })) } as unknown as Parameters<typeof describeEvent>[1];
  const words = step.events.flatMap((event) => describeEvent(event as unknown as GameEvent, names, view) ?? []);
  const by = step.taken?.by === 'clock' ? ` (${say('by_clock')})` : step.taken?.by === 'ai' ? ` (${say('by_ai')})` : '';
  return (words.join(' ') || ' ') + by;
}
