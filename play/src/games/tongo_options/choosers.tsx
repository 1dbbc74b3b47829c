// The choosers that cover the table: new costs, the target of a challenge, and all other actions of a turn. A
// disabled action stays visible, with the reason.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import {
  changed, COSTS, indexed, matches, ownHand, raiseLeft, type CostName,
} from '../../../../clients/typescript/src/games/tongo_options/index.ts';
import type { TableState } from '../../model.ts';
import { useLayer } from '../../parts/layers.ts';
import { say } from '../../words.ts';
import { refusalText } from '../../refusals.ts';
import { bestFloorOfHand, chooser, gameView, KIND, lifted, nameOf, ownTurn, play, reasonAgainst, wordsOf } from './moves.ts';
import type { Move, View } from './types.ts';
import { chips, word } from './words.ts';

export function Choosers({ state }: { state: TableState }) {
  const view = gameView(state.view);
  const turn = ownTurn(view);
  if (!view || !turn) return null;
  switch (chooser.value) {
    case 'none':
      return null;
    case 'costs':
      return <Costs view={view} />;
    case 'challenge':
      return <Challenge state={state} view={view} />;
    case 'more':
      return <More state={state} view={view} />;
  }
}

function Chooser({ title, children }: { title: string; children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  useLayer(() => { chooser.value = 'none'; });
  useEffect(() => {
    const before = document.activeElement instanceof HTMLElement ? document.activeElement : null;
    box.current?.focus({ preventScroll: true });
    return () => { if (before?.isConnected) before.focus({ preventScroll: true }); };
  }, []);
  return (
    <div class="chooser tongo-chooser" role="dialog" aria-label={title} tabIndex={-1} ref={box}
      onKeyDown={(event) => { if (event.key === 'Escape') { event.stopPropagation(); chooser.value = 'none'; } }}>
      <header><b>{title}</b><button type="button" class="round" aria-label={say('close')} onClick={() => { chooser.value = 'none'; }}>✕</button></header>
      {children}
    </div>
  );
}

/** An action, or the reason against it. */
function ActionButton({ name, label, note, move, danger = false }: { name: string; label: string; note?: string; move: Move; danger?: boolean }) {
  const not = reasonAgainst(move);
  return (
    <button type="button" class={`deed ${danger ? 'danger' : ''}`} data-deed={name} disabled={not !== null} onClick={() => void play(move)}>
      <b>{label}</b><small>{not ?? note ?? ' '}</small>
    </button>
  );
}

function Challenge({ state, view }: { state: TableState; view: View }) {
  const { public: open, viewer } = view;
  const turn = ownTurn(view)!;
  const here = matches(ownHand(view), open.floors[turn.floor] ?? [], open.dice);
  const held = bestFloorOfHand.value ? wordsOf(bestFloorOfHand.value.matches) : word('no_match');
  return (
    <Chooser title={word('who_wins', { pot: chips(open.pot) })}>
      <div class="deeds">
        <ActionButton name="acquire" label={word('acquire', { n: turn.floor + 1 })} note={word('you_hold', { best: wordsOf(here) })} move={{ type: 'acquire' }} />
        {open.players.map((one, seat) => seat === viewer || one.folded ? null : (
          <ActionButton key={seat} name={`confront-${seat}`} label={word('confront_name', { name: nameOf(state.view, seat) })}
            note={word('you_hold', { best: held })} move={{ type: 'confront', target: seat }} />
        ))}
      </div>
    </Chooser>
  );
}

function More({ state, view }: { state: TableState; view: View }) {
  const { public: open, viewer } = view;
  const turn = ownTurn(view)!;
  const me = open.players[viewer!]!;
  const cards = [...lifted.value];
  const draws = cards.length > 0 ? word('draws', { n: cards.length }) : '';
  const early = reasonAgainst({ type: 'acquire' });
  return (
    <Chooser title={word('what_next')}>
      <div class="deeds">
        <button type="button" class="deed" data-deed="costs" disabled={turn.step === 'open' && reasonAgainst({ type: 'end' }) !== null}
          onClick={() => { chooser.value = 'costs'; }}><b>{word('change_costs')}…</b><small>{turn.step === 'open' ? reasonAgainst({ type: 'end' }) ?? ' ' : ' '}</small></button>
        <button type="button" class="deed" data-deed="challenge" disabled={early !== null}
          onClick={() => { chooser.value = 'challenge'; }}><b>{word('challenge')}…</b><small>{early ?? nameList(state, view)}</small></button>
        <ActionButton name="retreat" label={word('retreat')} move={{ type: 'retreat' }} />
        <ActionButton name="evade" label={word('evade')} note={draws || word('keeps_all')} move={{ type: 'evade', ...(cards.length > 0 ? { discards: cards } : {}) }} />
        <ActionButton name="pay_to_evade" label={word('pay_to_evade')} note={draws} move={{ type: 'pay_to_evade', discards: cards }} />
        <ActionButton name="convert_reserves" label={word('convert_reserves')} note={word('wager') + ': ' + chips(me.chips)} move={{ type: 'convert_reserves' }} danger />
        <ActionButton name="fold" label={word('fold')} move={{ type: 'fold' }} danger />
      </div>
    </Chooser>
  );
}

function nameList(state: TableState, view: View): string {
  return view.public.players.flatMap((one, seat) => seat === view.viewer || one.folded ? [] : [nameOf(state.view, seat)]).join(', ');
}

/** The costs, lowered or raised as far as one turn allows, or by a percentage if the rules have it. */
function Costs({ view }: { view: View }) {
  const { public: open } = view;
  const [draft, setDraft] = useState<Record<CostName, number>>({ ...open.costs });
  const [percent, setPercent] = useState(10);
  const by = COSTS.map((name) => draft[name] - open.costs[name]);
  const how = by.some((more) => more < 0) ? 'lower' : 'raise';
  const isMixed = by.some((more) => more < 0) && by.some((more) => more > 0);
  const isSame = by.every((more) => more === 0);
  const given = Object.fromEntries(COSTS.filter((_, i) => by[i] !== 0).map((name) => [name, draft[name]]));
  const move: Move = { type: how, ...given };
  const not = isSame ? word('change_first') : isMixed ? word('either_way') : reasonAgainst(move);
  const change = changed(open, how, given);
  const later = indexed(open, percent);
  const step = (name: CostName, more: number) => setDraft({ ...draft, [name]: draft[name] + more });
  return (
    <Chooser title={word('new_costs')}>
      <div class="cost-rows">
        {COSTS.map((name) => (
          <div class="cost-row" key={name}>
            <span>{word(name)}</span>
            <button type="button" class="round" aria-label={word('less_of', { cost: word(name) })} disabled={draft[name] <= 1} onClick={() => step(name, -1)}>−</button>
            <b class={draft[name] === open.costs[name] ? '' : 'changed'}>{draft[name]}</b>
            <button type="button" class="round" aria-label={word('more_of', { cost: word(name) })}
              disabled={draft[name] >= open.costs[name] + raiseLeft(open, name)} onClick={() => step(name, 1)}>+</button>
          </div>
        ))}
        <p class="cost-risk">{word('risk')}: <b>{Math.max(0, draft.sell - draft.buy)}</b></p>
      </div>
      <button type="button" class="act gold" data-act="change" disabled={not !== null} onClick={() => void play(move)}>
        <span>{word(how)}</span><small>{not ?? ('chips' in change ? chips(change.chips) : '')}</small>
      </button>
      {open.rules.index_margin ? (
        <div class="index-row">
          <label>{word('index_margin')}: {percent > 0 ? '+' : ''}{percent} %
            <input type="range" min={-99} max={100} value={percent} onInput={(event) => setPercent(Number((event.target as HTMLInputElement).value))} /></label>
          <button type="button" class="act" data-act="index" disabled={reasonAgainst({ type: 'index_margin', percent }) !== null} onClick={() => void play({ type: 'index_margin', percent })}>
            <span>{'costs' in later ? COSTS.map((name) => later.costs[name]).join(' · ') : '–'}</span>
            <small>{reasonAgainst({ type: 'index_margin', percent }) ?? ('chips' in later ? chips(later.chips) : refusalText(later.code, null, KIND))}</small>
          </button>
        </div>
      ) : null}
    </Chooser>
  );
}
