// The folder of Tong-its for the frame of the table.
import { arrange, deadwood, tongits } from '../../../../clients/typescript/src/games/tongits/index.ts';
import type { GameFolder } from '../folder.ts';
import type { TableState, TableView } from '../../model.ts';
import { isWord, say } from '../../words.ts';
import { describeAction } from './describe_action.ts';
import { Board } from './board.tsx';
import { hints, legal } from './moves.ts';
import './refusals.ts';
import { gameView, nameOf, showChange } from './show.ts';
import { Showdown, Step, type TongitsEnd } from './showdown.tsx';
import type { GameEvent, Shown } from './types.ts';

function status(state: TableState): { text: string; urgent: boolean } {
  const view = gameView(state.view);
  if (!view) return { text: '', urgent: false };
  const { phase } = view.public;
  const mine = state.view.seat;
  const asked = legal.value.length > 0;
  switch (phase.type) {
    case 'starter':
    case 'deal':
      return { text: say('dealing'), urgent: false };
    case 'draw':
      if (phase.seat !== mine) return { text: say('turn_of', { name: nameOf(state.view, phase.seat) }), urgent: false };
      return { text: say(legal.value.some((one) => one.type === 'fight') ? 'turn_draw_fight' : 'turn_draw'), urgent: asked };
    case 'play':
      if (phase.seat !== mine) return { text: say('turn_of', { name: nameOf(state.view, phase.seat) }), urgent: false };
      return { text: say('turn_play'), urgent: asked };
    case 'fight': {
      if (phase.fighter === mine) return { text: say('fight_mine'), urgent: false };
      const name = nameOf(state.view, phase.fighter);
      if (asked) return { text: say('fight_called', { name }), urgent: true };
      return { text: say(mine !== null && phase.answered.includes(mine) ? 'fight_answered' : 'fight_others', { name }), urgent: false };
    }
    case 'over':
      return { text: say('counting'), urgent: false };
  }
}

function endingName(name: string): string {
  const word = `end_${name}`;
  return isWord(word) ? say(word) : name;
}

export const folder: GameFolder = {
  model: tongits,
  Board,
  Showdown,
  Step,
  endingName,
  ending: (ended) => {
    const { end } = ended.detail as TongitsEnd;
    return end ? endingName(end.special ?? end.ending) : '';
  },
  seatInfo: (table: TableView, seat) => {
    const view = gameView(table);
    if (!view) return { acting: false, cards: null, note: null };
    const { phase, hand_counts } = view.public;
    const acting = phase.type === 'draw' || phase.type === 'play' ? phase.seat === seat
      : phase.type === 'fight' && phase.asked.includes(seat) && !phase.answered.includes(seat);
    const note = phase.type === 'fight' && phase.fighter === seat ? say('fight') : null;
    return { acting, cards: hand_counts[seat] ?? null, note };
  },
  countdownMs: (table) => {
    const view = gameView(table);
    if (!view) return 10_000;
    const { draw_ms, play_ms, fight_ms } = view.public.rules.countdowns;
    return view.public.phase.type === 'play' ? play_ms : view.public.phase.type === 'fight' ? fight_ms : draw_ms;
  },
  status,
  hints,
  describeAction,
  reasons: async () => (await import('./reasons.ts')).reasons({ arrange, deadwood }),
  rules: async (terms) => (await import('./rules.tsx')).rules(terms),
  lessons: async () => (await import('./lessons.ts')).lessons({ arrange, deadwood }),
  showChange,
  endDetail: ({ events }) => {
    const detail: TongitsEnd = { shown: null, end: null };
    for (const event of events) {
      if (event.type !== 'game') continue;
      const game = event['event'] as GameEvent;
      if (game.type === 'shown') detail.shown = game.hands as Shown[];
      if (game.type === 'over') detail.end = game;
    }
    return detail.end || detail.shown ? detail : null;
  },
};
