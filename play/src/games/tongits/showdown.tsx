// The end of a game of Tong-its with all hands arranged, and a step of a replay.
import { Back, Face } from '../../cards.tsx';
import type { GameStep, Seat } from '../../model.ts';
import { Avatar, shortName } from '../../parts/index.tsx';
import { cardName, isWord, say } from '../../words.ts';
import type { FinishedGame } from '../folder.ts';
import type { End, GameEvent, Shown, View } from './types.ts';

export interface TongitsEnd { shown: Shown[] | null; end: End | null }

function byRank(cards: readonly string[]): string[] {
  const height = (card: string) => 'A23456789TJQK'.indexOf(card[0] ?? '') * 4 + 'CDHS'.indexOf(card[1] ?? '');
  return [...cards].sort((a, b) => height(a) - height(b));
}

export function Showdown({ ended }: { ended: FinishedGame }) {
  const { shown, end } = ended.detail as TongitsEnd;
  if (!shown) return null;
  // The winner comes first, then the seats by points.
  const order = shown.map((_, seat) => seat).sort((a, b) =>
    Number(b === end?.winner) - Number(a === end?.winner) || shown[a]!.points - shown[b]!.points);
  return (
    <div class="hands-shown">
      {order.map((seat) => {
        const { arrangement, burned, points, face_down } = shown[seat]!;
        const who = ended.seats[seat];
        const name = seat === ended.viewer ? say('you') : shortName(who?.name ?? '?');
        return (
          <section key={seat} class={`hand-shown ${seat === end?.winner ? 'winner' : ''}`}>
            <header>
              <Avatar name={who?.name ?? '?'} picture={who?.avatar ?? null} />
              <b>{name}</b>
              {burned ? <span class="badge burned">{say('burned')}</span> : null}
              {end?.showdown.includes(seat) ? <span class="badge">{say('showdown')}</span> : null}
              <span class="points">{say('points_n', { n: points })}</span>
            </header>
            <div class="row">
              {[...(face_down ?? []), ...arrangement.melds].map((meld) => (
                <span class="group meld-group" key={meld.join()}>{meld.map((card) => <span class="card mini" key={card}><Face card={card} small named /></span>)}</span>
              ))}
              {arrangement.leftover.length > 0 ? (
                <span class="group">{byRank(arrangement.leftover).map((card) => <span class="card mini" key={card}><Face card={card} small named /></span>)}</span>
              ) : null}
              {arrangement.melds.length === 0 && arrangement.leftover.length === 0 ? <span class="quiet">{say('cards_n', { n: 0 })}</span> : null}
            </div>
          </section>
        );
      })}
    </div>
  );
}

export function Step({ step, seats, viewer }: { step: GameStep; seats: string[]; viewer: Seat }) {
  const view = step.view as View;
  const { melds, discards, stock_count, hand_counts, shown } = view.public;
  const name = (seat: Seat) => seat === viewer ? say('you') : shortName(seats[seat] ?? '?');
  const acting = step.taken?.seat;
  return (
    <div class="step">
      {seats.map((_, seat) => {
        const hand = view.hands[seat] ?? shown?.[seat]?.hand ?? null;
        return (
          <section key={seat} class={`hand-shown ${seat === acting ? 'winner' : ''}`}>
            <header><Avatar name={seats[seat] ?? '?'} /><b>{name(seat)}</b><span class="points">{say('cards_n', { n: hand_counts[seat] ?? 0 })}</span></header>
            <div class="row">
              <span class="group">{hand
                ? hand.map((card) => <span class="card mini" key={card}><Face card={card} small named /></span>)
                : Array.from({ length: Math.min(13, hand_counts[seat] ?? 0) }, (_, i) => <span class="card mini" key={i}><Back /></span>)}</span>
              {melds.map((meld, i) => meld.owner !== seat ? null : (
                <span class="group meld-group" key={`m${i}`}>{meld.cards.map((card) => <span class="card mini" key={card}><Face card={card} small named /></span>)}</span>
              ))}
            </div>
          </section>
        );
      })}
      <p class="step-piles">
        <span class="card mini"><Back /></span><span>{say('stock_left', { n: stock_count })}</span>
        {discards.length > 0 ? <><span class="card mini"><Face card={discards.at(-1)!} small named /></span><span>{say('discard')}</span></> : null}
      </p>
      <p class="step-words" aria-live="polite">{step.taken ? describeStep(step, name) : say('the_deal')}</p>
    </div>
  );
}

function describeStep(step: GameStep, name: (seat: Seat) => string): string {
  const view = step.view as View;
  const words = step.events.flatMap((one) => {
    const event = one as unknown as GameEvent;
    switch (event.type) {
      case 'drawn':
        return event.seat === view.viewer && event.card ? say('said_you_drew', { card: cardName(event.card) }) : say('said_drawn', { name: name(event.seat) });
      case 'dumped':
        return say('said_dumped', { name: name(event.seat), card: cardName(event.card) });
      case 'chowed':
        return say('said_chowed', { name: name(event.seat), card: cardName(event.discard) });
      case 'dropped':
        return say('said_dropped', { name: name(event.seat), cards: event.cards.map(cardName).join(', ') });
      case 'sapawed':
        return say('said_sapawed', { name: name(event.seat), card: cardName(event.card), owner: name(view.public.melds[event.meld]?.owner ?? 0) });
      case 'fought':
        return say('said_fought', { name: name(event.seat) });
      case 'answered':
        return `${name(event.seat)}: ${say(event.answer)}`;
      case 'tongits_declared':
        return say('said_tongits', { name: name(event.seat) });
      case 'laid_face_down':
        return say('said_face_down', { name: name(event.seat), n: event.count });
      case 'starter_chosen':
      case 'dealt':
      case 'sagasa':
      case 'shown':
      case 'over':
        return [];
    }
  });
  const by = step.taken?.by === 'clock' ? ` (${say('by_clock')})` : step.taken?.by === 'ai' ? ` (${say('by_ai')})` : '';
  const action = step.taken?.action.type ?? '';
  if (words.length === 0 && step.taken && isWord(action)) words.push(`${name(step.taken.seat)}: ${say(action)}`);
  return words.join(' ') + by;
}
