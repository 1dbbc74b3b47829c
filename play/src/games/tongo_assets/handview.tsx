// The own hand: seven places, what is kept apart, the chips, and what the hand is worth.
import { signal } from '@preact/signals';
import { makers, nextBetter, readingOf } from '../../../../clients/typescript/src/games/tongo_assets/index.ts';
import { Sheet } from '../../parts/index.tsx';
import { asked, fresh, mode, picked, spendsFree, touchCard, type View } from './state.ts';
import { touchKept } from './moves.ts';
import { Chip, inOrder, pieceName, Sign, Tile } from './tiles.tsx';
import { say, type Word } from './words.ts';

const byNumber = signal(false);
const ranksOpen = signal(false);
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
        <Kept kept={kept} />
      </div>
      <div class="ta-row" role="group" aria-label={say('hand_n', { n: hand.length })}>
        {PLACES.map((place) => {
          const card = shown[place];
          if (card === undefined) return <span key={place} class="ta-piece gap" />;
          return (
            <button type="button" key={card} data-card={card} data-flies={card} disabled={!asked.value}
              class={`ta-piece ${picked.value.has(card) ? 'chosen' : ''} ${made.has(card) ? 'makes' : ''} ${fresh.value.has(card) ? 'fresh' : ''}`}
              aria-pressed={picked.value.has(card)} aria-label={pieceName(card)} onClick={() => touchCard(card)}>
              <Tile card={card} />
            </button>
          );
        })}
      </div>
      {ranksOpen.value ? <Ranks onClose={() => { ranksOpen.value = false; }} /> : null}
    </section>
  );
}

/** What the hand is, and what it could be next. */
function Strength({ hand }: { hand: readonly string[] }) {
  const reading = readingOf(hand);
  const next = nextBetter(hand);
  return (
    <span class="ta-strength">
      <button type="button" class="ta-ranks" onClick={() => { ranksOpen.value = true; }}>
        <b>{say(`class_${reading.class}` as Word)}{reading.colour ? <> <Sign colour={reading.colour} class={`c-${reading.colour}`} />{reading.number}</> : null}</b>
        <small>{next ? say('next_hand', { n: next.lacks, hand: say(next.class === 'material_continuum' ? 'short_material_continuum' : `class_${next.class}` as Word) }) : say('next_top')}</small>
      </button>
      <button type="button" class="round ta-sort" aria-label={say(byNumber.value ? 'by_colour' : 'by_number')} onClick={() => { byNumber.value = !byNumber.value; }}>
        <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M7 3v13h3l-4.500 5L1 16h3V3Zm5 1h11v3H12Zm0 6h8v3h-8Zm0 6h5v3h-5Z" /></svg></button>
    </span>
  );
}

function Kept({ kept }: { kept: readonly string[] }) {
  return (
    <span class="ta-kept" role="group" aria-label={say('kept')}>
      {kept.map((card) => {
        const isOffer = mode.value.type === 'bribe';
        const isOn = isOffer ? picked.value.has(card) : card.startsWith('F') && spendsFree.value || card.startsWith('V') && mode.value.type === 'reveal';
        return (
          <button type="button" key={card} class={`ta-piece ${isOn ? 'chosen' : ''}`} data-kept={card} data-flies={card} disabled={!asked.value} aria-pressed={isOn}
            aria-label={pieceName(card)} onClick={() => { if (isOffer) touchCard(card); else touchKept(card); }}>
            <Tile card={card} /><small aria-hidden="true">{pieceName(card)}</small>
          </button>
        );
      })}
    </span>
  );
}

const EXAMPLES: readonly (readonly [Word, Word, string])[] = [
  ['class_full_monopoly', 'rank_full_monopoly', '1Ra 2Ba 3Ya 4Ga 5Pa 6Oa 7Ka'],
  ['class_monopoly', 'rank_monopoly', '1Ba 2Ba 3Ba 4Ba 5Ba 6Ba 7Ba'],
  ['class_full_consortium', 'rank_full_consortium', '2Ga 2Gb 3Ga 5Ga 5Gb 6Ga 7Ga'],
  ['class_consortium', 'rank_consortium', '4Ra 4Ba 4Ya 4Ga 4Pa W0 W1'],
  ['class_material_continuum', 'rank_material_continuum', '6Oa 6Ob 3Pa 3Pb'],
  ['class_treasury', 'rank_treasury', '5Ra 5Ya 5Ga 5Oa 5Ka'],
  ['class_reserve', 'rank_reserve', '7Ra 2Ra'],
];

/** The game in four sentences. */
export function HowTo() {
  return <ol class="ta-how">{(['how_1', 'how_2', 'how_3', 'how_4'] as const).map((word) => <li key={word}>{say(word)}</li>)}</ol>;
}

/** The hands, highest first, each with an example. */
function Ranks({ onClose }: { onClose: () => void }) {
  return (
    <Sheet title={say('how')} onClose={onClose} wide>
      <HowTo />
      <h3>{say('ranks')}</h3>
      <p class="quiet">{say('ranks_note')}</p>
      <ol class="ta-examples">
        {EXAMPLES.map(([name, words, cards]) => (
          <li key={name}><b>{say(name)}</b><small>{say(words)}</small>
            <span class="ta-minis" aria-hidden="true">{cards.split(' ').map((card) => <span key={card} class="ta-mini"><Tile card={card} /></span>)}</span></li>
        ))}
      </ol>
    </Sheet>
  );
}
