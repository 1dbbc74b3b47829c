// The player's own area: the chips as a shrinking stack, the four cards, and the tokens as coins.
import { matches, ownHand } from '../../../../clients/typescript/src/games/tongo_options/index.ts';
import { Face } from '../../cards.tsx';
import { showToast } from '../../house.ts';
import { cardName, say } from '../../words.ts';
import { isPrompted, bestFloorOfHand, frontOf, usesBuyIn, lifted, isLegal, ownTurn, picked, reasonAgainst, wordsOf } from './moves.ts';
import type { View } from './types.ts';
import { word } from './words.ts';

export function Side({ view }: { view: View }) {
  const seat = view.viewer;
  const me = seat === null ? undefined : view.public.players[seat];
  if (seat === null || !me) return <section class="hand empty" aria-hidden="true" />;
  const hand = ownHand(view);
  const { phase, floors, dice } = view.public;
  const here = phase.type === 'stop' || phase.type === 'turn' ? frontOf(view) : bestFloorOfHand.value?.floor ?? 0;
  const found = matches(hand, floors[here] ?? [], dice);
  const top = bestFloorOfHand.value;
  return (
    <section class={`hand side ${me.folded ? 'out' : ''}`} aria-label={say('hand')}>
      <p class="hand-line"><span>{top && top.matches.length > 0
        ? word('best_at', { best: wordsOf(top.matches), n: top.floor + 1 }) : word('best_none')}</span></p>
      <div class="purse" data-anchor="purse" role="img" aria-label={word('your_chips', { n: me.chips })}>
        <Stack count={me.chips} />
        <b aria-hidden="true">{me.chips}</b>
      </div>
      <div class="four">
        {hand.map((card) => {
          const match = found.find((one) => one.card === card);
          const isUp = lifted.value.has(card);
          return (
            <button type="button" key={card} data-card={card} class={`own-card ${isUp ? 'up' : ''} ${match ? `match of-${match.class}` : ''}`}
              aria-pressed={isUp} onClick={() => liftCard(view, card)}>
              <span class="sr">{cardName(card)}{match ? `, ${word(match.class)}` : ''}</span>
              <span class="card" data-flies={`own-${card}`}><Face card={card} /></span>
              {match ? <i class={`match-tag of-${match.class}`} aria-hidden="true">{word(match.class)}</i> : null}
            </button>
          );
        })}
      </div>
      <div class="tokens">
        <Token name="evade" isLeft={me.evade_token} />
        <Token name="reserves" isLeft={!me.paid.reserves && view.public.reserves?.by !== seat && (ownTurn(view)?.wager ?? null) === null} />
        <BuyInToken isLeft={!me.leveraged} isOpen={ownTurn(view) !== null && isPrompted.value} />
      </div>
    </section>
  );
}

/** Lifts a card, which an evasion then discards. */
function liftCard(view: View, card: string) {
  const canDiscard = isLegal({ type: 'evade', discards: [card] }) || isLegal({ type: 'pay_to_evade', discards: [card] });
  if (!canDiscard && !lifted.value.has(card)) {
    const not = ownTurn(view)?.step === 'open' ? reasonAgainst({ type: 'evade' }) : reasonAgainst({ type: 'pay_to_evade', discards: [card] });
    if (isPrompted.value && not) showToast(`${word('evade')}: ${not}`);
    return;
  }
  picked.value = null;
  const next = new Set(lifted.value);
  if (!next.delete(card)) next.add(card);
  lifted.value = next;
}

const CHIPS_A_DISC = 6;

function Stack({ count }: { count: number }) {
  const discs = Math.ceil(count / CHIPS_A_DISC);
  return (
    <svg class="stack" viewBox="0 0 60 100" aria-hidden="true">
      {Array.from({ length: discs }, (_, i) => (
        <g key={i} transform={`translate(0 ${-i * 4.600})`}>
          <path class="disc-side" d="M6 84v5c0 5 11 9 24 9s24-4 24-9v-5Z" />
          <ellipse class={`disc-top disc-${i % 5 === 4 ? 'gold' : 'red'}`} cx="30" cy="84" rx="24" ry="9" />
        </g>
      ))}
      {discs === 0 ? <ellipse class="disc-none" cx="30" cy="88" rx="24" ry="9" /> : null}
    </svg>
  );
}

const SIGNS = {
  evade: 'M50 14 82 26v24c0 20-13 33-32 40C31 83 18 70 18 50V26Z',
  reserves: 'M22 40h56v42H22ZM30 40c0-16 9-24 20-24s20 8 20 24h-9c0-10-5-15-11-15s-11 5-11 15Z',
  leverage: 'M14 76h72v8H14ZM46 46h8v30h-8ZM12 50 84 26l3 8-72 24ZM70 12h18v14H70Z',
};

export function Sign({ name }: { name: keyof typeof SIGNS }) {
  return <svg class="sign" viewBox="0 0 100 100" aria-hidden="true"><path d={SIGNS[name]} /></svg>;
}

function Token({ name, isLeft }: { name: 'evade' | 'reserves'; isLeft: boolean }) {
  const label = word(isLeft ? 'token_left' : 'token_spent', { token: word(`token_${name}`) });
  return <span class={`token ${isLeft ? '' : 'spent'}`} role="img" aria-label={label} title={label}><Sign name={name} /></span>;
}

/**
 * The token that lets the buy-in pay for a card, once a game; chosen before a card is bought, sold or
 * swapped.
 */
function BuyInToken({ isLeft, isOpen }: { isLeft: boolean; isOpen: boolean }) {
  if (!isLeft || !isOpen) {
    const label = word(isLeft ? 'token_left' : 'token_spent', { token: word('token_leverage') });
    return <span class={`token ${isLeft ? '' : 'spent'}`} role="img" aria-label={label} title={label}><Sign name="leverage" /></span>;
  }
  const label = word(usesBuyIn.value ? 'lever_on' : 'lever_off');
  return (
    <button type="button" class={`token lever ${usesBuyIn.value ? 'on' : ''}`} aria-pressed={usesBuyIn.value} aria-label={label} title={label}
      onClick={() => { usesBuyIn.value = !usesBuyIn.value; }}><Sign name="leverage" /></button>
  );
}
