// The folder of Tongo (options) for the frame of the table.
import { risk, tongoOptions } from '../../../../clients/typescript/src/games/tongo_options/index.ts';
import type { GameFolder } from '../folder.ts';
import type { Seat, TableState, TableView } from '../../model.ts';
import { addRefusals } from '../../refusals.ts';
import { say } from '../../words.ts';
import { describeAction } from './describe_action.ts';
import { Board } from './board.tsx';
import { isPrompted, restrictionWord, bestFloorOfHand, gameView, hints, KIND, nameOf, wordsOf } from './moves.ts';
import { Stone } from './ring.tsx';
import texts from '../../../../clients/refusals/tongo_options.json';
import { showChange } from './show.ts';
import { Showdown, Step, type TongoEnd } from './showdown.tsx';
import { Sign } from './side.tsx';
import type { GameEvent, View } from './types.ts';
import { chips, isTongoWord, word } from './words.ts';

addRefusals(KIND, texts);

function status(state: TableState): { text: string; urgent: boolean } {
  const view = gameView(state.view);
  if (!view) return { text: '', urgent: false };
  const { public: open, viewer } = view;
  const { phase } = open;
  const name = (seat: Seat) => nameOf(state.view, seat);
  const mine = viewer !== null && open.players[viewer]?.folded ? word('out_now') : null;
  switch (phase.type) {
    case 'deal':
      return { text: say('dealing'), urgent: false };
    case 'stop':
      return phase.seat === viewer ? { text: word('turn_stop'), urgent: isPrompted.value } : { text: mine ?? word('turn_of', { name: name(phase.seat) }), urgent: false };
    case 'turn':
      if (phase.seat !== viewer) return { text: mine ?? word('at_floor', { name: name(phase.seat), n: phase.floor + 1 }), urgent: false };
      return { text: turnText(state, view), urgent: isPrompted.value };
    case 'roll':
      return { text: word('rolling'), urgent: false };
    case 'shuffle':
      return { text: word('shuffling'), urgent: false };
    case 'challenge': {
      const target = phase.target ?? null;
      if (phase.asked !== viewer) return { text: word('waits_answer', { name: name(phase.asked) }), urgent: false };
      const by = name(phase.by);
      const text = target === viewer ? word('asked_stand', { name: by })
        : target === null ? word('asked_confront', { name: by, n: (open.players[phase.by]?.facing ?? 0) + 1 })
        : word('asked_join', { name: by, target: name(target) });
      return { text, urgent: isPrompted.value };
    }
    case 'showdown':
    case 'over':
      return { text: say('counting'), urgent: false };
  }
}

function turnText(state: TableState, { public: open }: View): string {
  const { phase, reserves, costs } = open;
  if (phase.type !== 'turn') return '';
  if (reserves && (phase.wager ?? null) === null) return word('turn_reserves', { name: nameOf(state.view, reserves.by), n: reserves.wager });
  if (reserves) return word('turn_wagered');
  if (phase.step === 'rolled') return word('turn_challenge_left');
  if (phase.step !== 'open') return word('turn_go');
  return word(costs.sell > costs.buy ? 'turn_open' : 'turn_free');
}

function named(prefix: string, name: string): string | null {
  const text = `${prefix}_${name}`;
  return isTongoWord(text) ? word(text) : null;
}

export const folder: GameFolder = {
  model: tongoOptions,
  Board,
  Showdown,
  Step,
  itemName: (name) => named('item', name),
  stepName: (name) => named('deal', name),
  endingName: (name) => named('end', name) ?? name,
  ending: (ended) => {
    const { end } = ended.detail as Partial<TongoEnd>;
    return end ? named('end', end.ending) ?? end.ending : '';
  },
  seatInfo: (table: TableView, seat) => {
    const view = gameView(table);
    const one = view?.public.players[seat];
    if (!view || !one) return { acting: false, cards: null, note: null };
    const { phase } = view.public;
    const acting = phase.type === 'stop' || phase.type === 'turn' || phase.type === 'roll' ? phase.seat === seat
      : phase.type === 'challenge' && phase.asked === seat;
    return {
      acting, cards: null, note: restrictionWord(view, seat), out: one.folded,
      more: (
        <span class="seat-chips"><i class="chip" aria-hidden="true" /><span class="sr">{chips(one.chips)}</span><b aria-hidden="true">{one.chips}</b>
          {one.evade_token ? <span role="img" aria-label={word('token_evade')}><Sign name="evade" /></span> : null}
          {one.leveraged ? null : <span role="img" aria-label={word('token_leverage')}><Sign name="leverage" /></span>}</span>
      ),
    };
  },
  countdownMs: (table) => {
    const view = gameView(table);
    if (!view) return 10_000;
    const { stop_ms, turn_ms, answer_ms } = view.public.rules.countdowns;
    const { type } = view.public.phase;
    return type === 'stop' ? stop_ms : type === 'challenge' ? answer_ms : turn_ms;
  },
  status,
  hints,
  describeAction,
  reasons: async () => (await import('./reasons.ts')).reasons({ best: () => wordsOf(bestFloorOfHand.value?.matches ?? []), risk }),
  rules: async (terms) => (await import('./rules.tsx')).rules(terms, Stone),
  showChange,
  endDetail: ({ events, before }) => {
    const detail: TongoEnd = { shown: null, end: null, open: gameView(before)?.public ?? null };
    for (const event of events) {
      if (event.type !== 'game') continue;
      const game = event['event'] as GameEvent;
      if (game.type === 'shown') detail.shown = game.hands;
      if (game.type === 'over') detail.end = game;
    }
    return detail.end || detail.shown ? detail : null;
  },
};
