// The end of a game of Tongo (assets) with every shown hand, its reading and its part of the pot, and a step
// of a replay.
import type { TongoAssetsEvent, TongoAssetsView } from '../../../../clients/typescript/src/index.ts';
import { makers } from '../../../../clients/typescript/src/games/tongo_assets/index.ts';
import type { GameStep, Seat } from '../../model.ts';
import { Avatar, shortName } from '../../parts/index.tsx';
import { say as sayCommon } from '../../words.ts';
import type { FinishedGame } from '../folder.ts';
import { bribeWords } from './show.ts';
import { FaceDownTile, inOrder, pieceName, Tile } from './tiles.tsx';
import { chipsOf, isWord, say, type Word } from './words.ts';

/** The public state at the end. */
export type AssetsEnd = TongoAssetsView['public'];

/** Returns a number of half chips, in chips. */
export const halves = (count: number): string => `${Math.floor(count / 2) || (count % 2 ? '' : '0')}${count % 2 ? '½' : ''}`;

function Minis({ cards, made }: { cards: readonly string[]; made?: ReadonlySet<string> }) {
  return <span class="ta-minis">{inOrder(cards).map((card) => <span key={card} class={`ta-mini ${made?.has(card) ? 'makes' : ''}`}><Tile card={card} named /></span>)}</span>;
}

export function Showdown({ ended }: { ended: FinishedGame }) {
  const open = ended.detail as Partial<AssetsEnd>;
  const { end, players } = open;
  if (!end || !players) return null;
  const order = players.map((_, seat) => seat).sort((a, b) => (end.awards[b] ?? 0) - (end.awards[a] ?? 0) || (players[b]?.chips ?? 0) - (players[a]?.chips ?? 0));
  return (
    <div class="hands-shown">
      {order.map((seat) => {
        const shown = open.shown?.[seat] ?? null;
        const who = ended.seats[seat];
        const award = end.awards[seat] ?? 0;
        const total = (players[seat]?.chips ?? 0) * 2 + award;
        const isOut = !open.playing?.includes(seat);
        return (
          <section key={seat} class={`hand-shown ${seat === end.winner ? 'winner' : ''}`}>
            <header>
              <Avatar name={who?.name ?? '?'} picture={who?.avatar ?? null} />
              <b>{seat === ended.viewer ? sayCommon('you') : shortName(who?.name ?? '?')}</b>
              {isOut ? <span class="badge away">{say('seat_out')}</span> : null}
              {shown ? <span class={`badge ${seat === end.winner ? 'won' : ''}`}>{say(`class_${shown.reading.class}` as Word)}</span> : null}
              <span class="points">{say('holds', { n: halves(total) })}</span>
            </header>
            {shown ? <Minis cards={shown.hand} made={new Set(makers(shown.hand))} />
              : isOut ? null : <small class="quiet">{say('not_shown')}</small>}
            {award > 0 ? <small class="ta-award">{say('award', { n: halves(award) })}</small> : null}
          </section>
        );
      })}
    </div>
  );
}

export function Step({ step, seats, viewer }: { step: GameStep; seats: string[]; viewer: Seat }) {
  const view = step.view as TongoAssetsView;
  const { players, playing, risk, purchase, sell, pot, rounds, rules, shown } = view.public;
  const name = (seat: Seat) => seat === viewer ? sayCommon('you') : shortName(seats[seat] ?? '?');
  const acting = step.taken?.seat;
  return (
    <div class="step">
      {players.map((player, seat) => {
        const hand = view.hidden?.hands[seat] ?? (seat === view.viewer ? view.own?.hand : null) ?? shown?.[seat]?.hand ?? null;
        const kept = view.hidden?.kept[seat] ?? (seat === view.viewer ? view.own?.kept : null) ?? [];
        return (
          <section key={seat} class={`hand-shown ${seat === acting ? 'winner' : ''}`}>
            <header><Avatar name={seats[seat] ?? '?'} /><b>{name(seat)}</b>
              {playing.includes(seat) ? null : <span class="badge away">{say('seat_out')}</span>}
              <span class="points">{chipsOf(player.chips)}</span></header>
            {hand ? <Minis cards={[...hand, ...kept]} /> : (
              <span class="ta-minis">{Array.from({ length: player.assets }, (_, i) => <span key={i} class="ta-mini"><FaceDownTile shape="asset" /></span>)}
                {Array.from({ length: player.wilds + player.kept }, (_, i) => <span key={`q${i}`} class="ta-mini"><FaceDownTile shape="acquire" /></span>)}</span>
            )}
          </section>
        );
      })}
      <p class="step-piles ta-prices"><span>{say('risk')} <b>{risk}</b></span><span>{say('purchase')} <b>{purchase}</b></span><span>{say('sell_price')} <b>{sell}</b></span>
        <span>{say('pot')} <b>{pot}</b></span><span>{rounds === 0 ? say('round_none') : say('round', { n: rounds, of: rules.rounds_max })}</span></p>
      <p class="step-words" aria-live="polite">{step.taken ? describeStep(step, name) : sayCommon('the_deal')}</p>
    </div>
  );
}

function describeStep(step: GameStep, name: (seat: Seat) => string): string {
  const words = step.events.flatMap((one) => describeEventOf(one as unknown as TongoAssetsEvent, name) ?? []);
  const by = step.taken?.by === 'clock' ? ` (${sayCommon('by_clock')})` : step.taken?.by === 'ai' ? ` (${sayCommon('by_ai')})` : '';
  const action = step.taken?.action.type ?? '';
  if (words.length === 0 && step.taken && isWord(action)) words.push(`${name(step.taken.seat)}: ${say(action)}`);
  return words.join(' ') + by;
}

/** Returns an event in words, independent of the viewer. */
function describeEventOf(event: TongoAssetsEvent, name: (seat: Seat) => string): string | null {
  switch (event.type) {
    case 'opened':
      return say('said_opened', { name: name(event.seat), risk: event.risk, purchase: event.purchase, sell: event.sell });
    case 'paid':
      return say('said_paid', { name: name(event.seat), n: event.chips });
    case 'raised':
      return say('said_raised', { name: name(event.seat), risk: event.risk });
    case 'retreated':
      return say('said_retreated', { name: name(event.seat) });
    case 'swapped':
      return `${say('said_swapped', { name: name(event.seat) })} ${pieceName(event.discarded)} → ${pieceName(event.taken)}.`;
    case 'purchased':
      return `${say('said_purchased', { name: name(event.seat), n: event.chips })} ${pieceName(event.taken)}.`;
    case 'acquired':
      return `${say('said_acquired', { name: name(event.seat), n: event.chips })} ${pieceName(event.taken)}.`;
    case 'free_spent':
      return say('said_free', { name: name(event.seat) });
    case 'audited':
      return say('said_audited', { name: name(event.seat), n: event.chips });
    case 'sold':
      return say('said_sold', { name: name(event.seat), n: event.chips });
    case 'revealed':
      return say('said_revealed', { name: name(event.seat), n: event.section + 1 });
    case 'dividend_taken':
      return say('said_dividend', { name: name(event.seat), n: event.chips });
    case 'done':
      return say('said_done', { name: name(event.seat) });
    case 'confronted':
      return say('said_confronted', { name: name(event.seat) });
    case 'evaded':
      return say('said_evaded', { name: name(event.seat) });
    case 'indexed':
      return say('said_indexed', { name: name(event.seat), n: event.margin, risk: event.risk });
    case 'leveraged':
      return say('said_leveraged', { name: name(event.seat), n: event.percent });
    case 'bribe_offered':
      return say('said_offered', { name: name(event.seat), to: name(event.to), what: bribeWords(event.chips ?? 0, event.cards ?? []) });
    case 'bribe_answered':
      return say(event.accepted ? 'said_accepted' : 'said_refused', { name: name(event.seat) });
    default:
      return null;
  }
}
