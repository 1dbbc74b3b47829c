// The inputs of numbers: the risk and its prices, a margin, a leverage, a bribe. Two buttons change each
// within the range that the rules allow.
import { indexed, openingRisk, priceBounds } from '../../../../clients/typescript/src/games/tongo_assets/index.ts';
import type { TableState } from '../../model.ts';
import { Avatar } from '../../parts/index.tsx';
import { mode, nameOf, proposePrices, type View } from './state.ts';
import { say } from './words.ts';

export function Panel({ view, state }: { view: View; state: TableState }) {
  const chosen = mode.value;
  const { public: open } = view;
  const own = open.players[view.viewer ?? 0]!;
  switch (chosen.type) {
    case 'prices': {
      const isOpening = open.phase.type === 'open';
      const [least, limit] = isOpening ? openingRisk(open) : [open.risk + 1, open.risk + open.rules.raise_max] as const;
      const most = Math.max(least, Math.min(limit, own.chips + (isOpening ? 0 : own.paid)));
      const { risk, purchase, sell } = chosen;
      const { purchaseMin, max } = priceBounds(risk);
      return (
        <div class="ta-panel">
          <Stepper name="risk" label={say('risk')} value={risk} min={least} max={most} big onChange={(to) => { mode.value = { type: 'prices', ...proposePrices(to) }; }} />
          <Stepper name="purchase" label={say('purchase_long')} value={purchase} min={purchaseMin} max={max} onChange={(to) => { mode.value = { ...chosen, purchase: to }; }} />
          <Stepper name="sell" label={say('sell_long')} value={sell} min={1} max={max} onChange={(to) => { mode.value = { ...chosen, sell: to }; }} />
        </div>
      );
    }
    case 'raise_confront': {
      const most = Math.max(open.risk + 1, Math.min(open.risk + open.rules.raise_max, own.chips));
      return <div class="ta-panel one"><Stepper name="risk" label={say('risk')} value={chosen.risk} min={open.risk + 1} max={most} big onChange={(risk) => { mode.value = { type: 'raise_confront', risk }; }} /></div>;
    }
    case 'index': {
      const least = [5, 10, 15, 20, 25, 30, 35, 40, 45, 50].find((margin) => indexed(open.risk, margin) > open.risk) ?? 50;
      return <div class="ta-panel one"><Stepper name="margin" label={say('index')} value={chosen.margin} unit=" %" min={least} max={50} by={5} big onChange={(margin) => { mode.value = { type: 'index', margin }; }} /></div>;
    }
    case 'leverage':
      return <div class="ta-panel one"><Stepper name="percent" label={say('leverage')} value={chosen.percent} unit=" %" min={5} max={95} by={5} big onChange={(percent) => { mode.value = { type: 'leverage', percent }; }} /></div>;
    case 'bribe':
      return (
        <div class="ta-panel bribe">
          <div class="ta-seats" role="group" aria-label={say('note_bribe_pick')}>
            {open.playing.filter((seat) => seat !== view.viewer).map((seat) => (
              <button type="button" key={seat} aria-pressed={chosen.to === seat} aria-label={nameOf(state.view, seat)} data-seat={seat}
                onClick={() => { mode.value = { ...chosen, to: seat }; }}><Avatar name={state.view.seats[seat]?.name ?? '?'} picture={state.view.seats[seat]?.avatar ?? null} /></button>
            ))}
          </div>
          <Stepper name="chips" label={say('chips_short')} value={chosen.chips} min={1} max={Math.max(1, own.chips)} onChange={(chips) => { mode.value = { ...chosen, chips }; }} />
        </div>
      );
    case 'none':
    case 'sell':
    case 'evade':
    case 'reveal':
      return null;
  }
}

function Stepper({ name, label, value, min, max, by = 1, unit = '', big = false, onChange }:
  { name: string; label: string; value: number; min: number; max: number; by?: number; unit?: string; big?: boolean; onChange: (value: number) => void }) {
  const to = (next: number) => onChange(Math.max(min, Math.min(max, next)));
  const key = (event: KeyboardEvent) => {
    const by10 = Math.max(by, Math.round((max - min) / 5));
    const moves: Record<string, number> = { ArrowUp: by, ArrowRight: by, ArrowDown: -by, ArrowLeft: -by, PageUp: by10, PageDown: -by10, Home: min - value, End: max - value };
    const move = moves[event.key];
    if (move !== undefined) { event.preventDefault(); to(value + move); }
  };
  return (
    <div class={`ta-step ${big ? 'big' : ''}`} data-step={name}>
      <button type="button" class="round" aria-label={`${label}: ${say('less')}`} disabled={value <= min} onClick={() => to(value - by)}>−</button>
      <span class="ta-value" role="spinbutton" tabIndex={0} aria-label={label} aria-valuenow={value} aria-valuemin={min} aria-valuemax={max} onKeyDown={key}>
        <b>{value}{unit}</b><small>{label}</small>
      </span>
      <button type="button" class="round" aria-label={`${label}: ${say('more')}`} disabled={value >= max} onClick={() => to(value + by)}>+</button>
    </div>
  );
}
