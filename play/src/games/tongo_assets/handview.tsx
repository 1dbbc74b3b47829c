// The player's hand: seven places, the cards kept apart, the chips, and the strength.
import { signal } from '@preact/signals';
import { makers, nextBetter, readingOf } from '../../../../clients/typescript/src/games/tongo_assets/index.ts';
import { table } from '../../house.ts';
import { shownRules } from '../../overlays.ts';
import { isPrompted, newCards, mode, picked, spendsFree, touchCard, type View } from './state.ts';
import { touchKept } from './moves.ts';
import { Chip, inOrder, pieceName, Sign, Tile } from './tiles.tsx';
import { say, type Word } from './words.ts';

const byNumber = signal(false);
const PLACES = [0, 1, 2, 3, 4, 5, 6];

export function Hand({ view }: { view: View | null }) {
  if (!view?.own || view.viewer === null) return <section class="ta-hand" aria-hidden="true" />;
  const { hand, kept } = view.own;
  const chips = view.public.players[view.viewer]?.chips ?? 0;
  const shown = inOrder(hand, byNumber.value);
  const made = new Set(makers(hand));
  const isIn = view.public.playing.includes(view.viewer);
  return (
    <section class={`ta-hand ${isIn ? '' : 'out'}`} aria-label={say('hand')}>
      <div class="ta-line">
        <span class="ta-chips" data-anchor="own-chips"><Chip /><b>{chips}</b><span class="sr">{say('chips_short')}</span></span>
        <Strength hand={hand} />
        <KeptCards kept={kept} />
      </div>
      <div class="ta-row" role="group" aria-label={say('hand_n', { n: hand.length })}>
        {PLACES.map((place) => {
          const card = shown[place];
          if (card === undefined) return <span key={place} class="ta-piece gap" />;
          return (
            <button type="button" key={card} data-card={card} data-flies={card} disabled={!isPrompted.value}
              class={`ta-piece ${picked.value.has(card) ? 'chosen' : ''} ${made.has(card) ? 'makes' : ''} ${newCards.value.has(card) ? 'fresh' : ''}`}
              aria-pressed={picked.value.has(card)} aria-label={pieceName(card)} onClick={() => touchCard(card)}>
              <Tile card={card} />
            </button>
          );
        })}
      </div>
    </section>
  );
}

/** The class of the hand, and the next better one. */
function Strength({ hand }: { hand: readonly string[] }) {
  const reading = readingOf(hand);
  const next = nextBetter(hand);
  return (
    <span class="ta-strength">
      <button type="button" class="ta-ranks" onClick={() => { shownRules.value = { kind: 'tongo_assets', terms: table.value?.view.terms ?? null }; }}>
        <b>{say(`class_${reading.class}` as Word)}{reading.colour ? <> <Sign colour={reading.colour} class={`c-${reading.colour}`} />{reading.number}</> : null}</b>
        <small>{next ? say('next_hand', { n: next.lacks, hand: say(next.class === 'material_continuum' ? 'short_material_continuum' : `class_${next.class}` as Word) }) : say('next_top')}</small>
      </button>
      <button type="button" class="round ta-sort" aria-label={say(byNumber.value ? 'by_colour' : 'by_number')} onClick={() => { byNumber.value = !byNumber.value; }}>
        <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M7 3v13h3l-4.500 5L1 16h3V3Zm5 1h11v3H12Zm0 6h8v3h-8Zm0 6h5v3h-5Z" /></svg></button>
    </span>
  );
}

function KeptCards({ kept }: { kept: readonly string[] }) {
  return (
    <span class="ta-kept" role="group" aria-label={say('kept')}>
      {kept.map((card) => {
        const isOffer = mode.value.type === 'bribe';
        const isOn = isOffer ? picked.value.has(card) : card.startsWith('F') && spendsFree.value || card.startsWith('V') && mode.value.type === 'reveal';
        return (
          <button type="button" key={card} class={`ta-piece ${isOn ? 'chosen' : ''}`} data-kept={card} data-flies={card} disabled={!isPrompted.value} aria-pressed={isOn}
            aria-label={pieceName(card)} onClick={() => { if (isOffer) touchCard(card); else touchKept(card); }}>
            <Tile card={card} /><small aria-hidden="true">{pieceName(card)}</small>
          </button>
        );
      })}
    </span>
  );
}
/** The game in four sentences. */
export function HowTo() {
  return <ol class="ta-how">{(['how_1', 'how_2', 'how_3', 'how_4'] as const).map((word) => <li key={word}>{say(word)}</li>)}</ol>;
}
