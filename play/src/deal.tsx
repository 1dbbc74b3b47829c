// "Check this deal": the browser recomputes commitment, key, deck and hands, and shows each step beside the
// values that it was shown before the deal, as long as the page remembers them.
import { useEffect, useState } from 'preact/hooks';
import type { DealCheck } from '../../clients/typescript/src/fair/deal.ts';
import { loadedFolder } from './games/loading.ts';
import { client, tellRefusal } from './house.ts';
import { Sheet } from './parts/index.tsx';
import { isWord, say } from './words.ts';

export function DealSheet({ game, seats, onClose }: { game: string; seats: readonly string[]; onClose: () => void }) {
  const [check, setCheck] = useState<DealCheck | null>(null);
  useEffect(() => {
    let alive = true;
    void client.checkDeal(game).then((answer) => {
      if (!alive) return;
      if (answer.ok) setCheck(answer.data);
      else tellRefusal(answer.problem.code, answer.problem.detail);
    });
    return () => { alive = false; };
  }, [game]);
  const nameOf = (step: DealCheck['steps'][number]) => {
    const word = `deal_${step.name}`;
    const own = check ? loadedFolder(check.kind)?.stepName?.(step.name) ?? null : null;
    const seat = step.seat === null || step.name === 'own_hand' || step.name === 'own_text' ? '' : ` · ${seats[step.seat] ?? step.seat}`;
    return (own ?? (isWord(word) ? say(word) : step.name)) + seat;
  };
  return (
    <Sheet title={check ? say(check.holds ? 'deal_checked' : 'deal_wrong') : say('check_deal')} onClose={onClose} wide>
      <p>{check ? say('deal_note') : say('loading')}</p>
      {check ? (
        <ol class="deal-steps" data-holds={String(check.holds)}>
          {check.steps.map((step, i) => (
            <li key={i} class={step.holds ? '' : 'bad'}>
              <b>{nameOf(step)}</b> <span class="badge">{say(step.holds ? 'step_ok' : 'step_wrong')}</span> <small class="quiet">{say('why_rule', { rule: step.rule })}</small>
              <code>{step.computed}</code>
              {step.holds ? null : <code class="bad">{say('deal_expected')}: {step.said}</code>}
            </li>
          ))}
        </ol>
      ) : null}
    </Sheet>
  );
}
