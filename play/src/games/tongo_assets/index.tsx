// The folder of Tongo (assets) for the frame of the table.
import { handCount, observe, readingOf, tongoAssets } from '../../../../clients/typescript/src/games/tongo_assets/index.ts';
import type { TableChange } from '../../house.ts';
import type { TableState, TableView } from '../../model.ts';
import type { GameFolder, SeatInfo } from '../folder.ts';
import { describeAction } from './describe_action.ts';
import { Board } from './board.tsx';
import { hints } from './hints.ts';
import './refusals.ts';
import { bribeWords, eventsOf, showChange } from './show.ts';
import { halves, Showdown, Step, type AssetsEnd } from './showdown.tsx';
import { isPrompted, gameView, mode, nameOf, type View } from './state.ts';
import { Chip, Tile } from './tiles.tsx';
import { isWord, say, type Word } from './words.ts';

function status(state: TableState): { text: string; urgent: boolean } {
  const view = gameView(state.view);
  if (!view) return { text: '', urgent: false };
  const { phase, offer, playing, players, risk, rounds, rules } = view.public;
  const mine = state.view.seat;
  const quiet = (text: string) => ({ text, urgent: false });
  const urgent = (text: string) => ({ text, urgent: isPrompted.value });
  const name = (seat: number) => nameOf(state.view, seat);
  if (offer) {
    return offer.to === mine ? urgent(say('turn_offer', { name: name(offer.from), what: bribeWords(offer.chips, offer.cards) }))
      : quiet(say('wait_offer', { name: name(offer.to) }));
  }
  const isMine = 'seat' in phase && phase.seat === mine;
  const due = mine === null ? 0 : risk - (players[mine]?.paid ?? 0);
  if (mode.value.type === 'bribe' && isPrompted.value) return urgent(say('turn_bribe'));
  const out = mine !== null && !playing.includes(mine) ? `${say('you_out')} ` : '';
  switch (phase.type) {
    case 'open':
      return isMine ? urgent(say(rounds >= rules.rounds_max ? 'turn_open_last' : 'turn_open')) : quiet(out + say('wait_open', { name: name(phase.seat) }));
    case 'risk':
      return isMine ? urgent(say('turn_risk', { n: due })) : quiet(out + say('wait_risk', { name: name(phase.seat) }));
    case 'assess':
      return isMine ? urgent(say(mode.value.type === 'sell' ? 'turn_sell' : mode.value.type === 'reveal' ? 'turn_reveal' : 'turn_assess')) : quiet(out + say('wait_assess', { name: name(phase.seat) }));
    case 'confront':
      if (!isMine) return quiet(out + say('wait_confront', { name: name(phase.seat) }));
      if (mode.value.type === 'evade') return urgent(say('turn_evade'));
      return urgent(phase.confronter === mine ? say('turn_confront_own', { n: due }) : say('turn_confront', { name: name(phase.confronter) }));
    case 'debts':
      return isMine ? urgent(say('turn_debts', { n: players[mine ?? 0]?.owes ?? 0 })) : quiet(out + say('wait_risk', { name: name(phase.seat) }));
    case 'stop':
    case 'dealer':
    case 'assets':
    case 'acquires':
    case 'deal':
      return quiet(say('turning'));
    case 'showdown':
    case 'last_in':
    case 'over':
      return quiet(say('showing'));
  }
}

/** The chips of a seat, and a mark for each piece that it holds: round, square, and apart. */
function SeatPieces({ view, seat }: { view: View; seat: number }) {
  const player = view.public.players[seat];
  if (!player) return null;
  const hand = handCount(player);
  return (
    <span class="ta-more">
      <span class="sr">{say('seat_more', { chips: player.chips, hand, kept: player.kept })}</span>
      <span class="ta-held" aria-hidden="true"><Chip />{player.chips}</span>
      <span class="ta-marks" aria-hidden="true">
        {Array.from({ length: 7 }, (_, at) => <i key={at} class={at < player.assets ? 'ta-round' : at < hand ? 'ta-square' : 'ta-none'} />)}
        {Array.from({ length: player.kept }, (_, at) => <i key={`k${at}`} class="ta-kept-mark" />)}
      </span>
    </span>
  );
}

function seatInfo(table: TableView, seat: number): SeatInfo {
  const view = gameView(table);
  if (!view || !view.public.players[seat]) return { acting: false, cards: null, note: null };
  const { phase, offer, players, playing } = view.public;
  const player = players[seat]!;
  const acting = offer ? offer.to === seat : 'seat' in phase && phase.seat === seat && phase.type !== 'last_in';
  const isConfronter = (phase.type === 'confront' || phase.type === 'showdown') && phase.confronter === seat;
  const note = isConfronter ? say('seat_confronts') : player.margin > 0 ? say('seat_margin', { n: player.margin })
    : player.leverage > 0 ? say('seat_leverage', { n: player.leverage }) : null;
  const out = !playing.includes(seat);
  const more = out ? <small class="ta-out">{say('seat_out_short')}</small> : <SeatPieces view={view} seat={seat} />;
  return { acting, cards: null, note: out ? null : note, out, more };
}

function endingName(name: string): string {
  const word = `end_${name}`;
  return isWord(word) ? say(word) : name;
}

/** Returns the public state at the end, by applying the last events to the last view. */
function endState(change: TableChange): AssetsEnd | null {
  const before = gameView(change.before);
  const events = eventsOf(change);
  if (!before || !events.some((event) => event.type === 'over')) return null;
  return events.reduce(observe, before).public;
}

export const folder: GameFolder = {
  model: tongoAssets,
  Board,
  Showdown,
  Step,
  itemWords: ({ counts }) => say('net_chips', { n: halves(counts) }),
  countWords: (count) => say('net_chips', { n: `${count > 0 ? '+' : count < 0 ? '−' : ''}${halves(Math.abs(count))}` }),
  stepName: (name) => {
    const word = `step_${name}`;
    return isWord(word) ? say(word) : null;
  },
  endingName,
  ending: ({ detail }) => {
    const { end } = detail as Partial<AssetsEnd>;
    return end ? endingName(end.ending) : '';
  },
  seatInfo,
  countdownMs: (table) => {
    const view = gameView(table);
    if (!view) return 15_000;
    const { risk_ms, assess_ms, answer_ms } = view.public.rules.countdowns;
    const { phase, offer } = view.public;
    if (offer || phase.type === 'confront' || phase.type === 'debts') return answer_ms;
    return phase.type === 'assess' ? assess_ms : risk_ms;
  },
  status,
  hints: (state) => {
    const view = gameView(state.view);
    // While numbers or several pieces are chosen, the line above explains the choice.
    const isChoosing = mode.value.type !== 'none' && mode.value.type !== 'prices';
    return view && !isChoosing ? hints(view, isPrompted.value) : [];
  },
  describeAction,
  reasons: async () => (await import('./reasons.ts')).reasons({ readingOf, className: (name) => say(`class_${name}` as Word) }),
  rules: async (terms) => (await import('./rules.tsx')).rules(terms, Tile),
  showChange,
  endDetail: endState,
};
