// The pieces, drawn as SVG: assets are round and acquire cards square, as the rules require, so that the
// shapes differ face down too. Each colour has a sign of its own beside its number.
import { COLOURS, colourOf, kindOf, numberOf } from '../../../../clients/typescript/src/games/tongo_assets/index.ts';
import { say, type Word } from './words.ts';

const SIGNS: Record<string, string> = {
  R: 'M12 1c1 5 7 7 7 14a7 7 0 0 1-14 0c0-4 2-5 3-8 1 2 2 3 3 3 2-3 1-6 1-9Z',
  B: 'M1 8c4-5 7-5 11-1s7 4 11-1v5c-4 5-7 5-11 1s-7-4-11 1Zm0 9c4-5 7-5 11-1s7 4 11-1v5c-4 5-7 5-11 1s-7-4-11 1Z',
  Y: 'M12 0l3 8 9 .500-7 6 2.500 9L12 18.500 4.500 23.500 7 14.500l-7-6L9 8Z',
  G: 'M3 22C0 9 9 2 22 2c1 12-6 20-15 17l-2 4Z',
  P: 'M6 3h12l5 7-11 12L1 10Z',
  O: 'M12 1a11 11 0 1 0 0 22 11 11 0 0 0 0-22Zm0 7a4 4 0 1 1 0 8 4 4 0 0 1 0-8Z',
  K: 'M7 2h10l6 10-6 10H7L1 12Z',
};

const GLYPHS: Record<string, string> = {
  W: 'M50 14l10 25 27 2-21 17 7 27-23-15-23 15 7-27-21-17 27-2Z',
  F: 'M22 50 50 22h28v28L50 78Zm44-22a6 6 0 1 0 .1 0Z',
  V: 'M12 50c20-30 56-30 76 0-20 30-56 30-76 0Zm38-15a15 15 0 1 0 .1 0Zm0 8a7 7 0 1 1-.1 0Z',
  D: 'M50 16a34 34 0 1 0 .1 0Zm-5 12h10v6c7 1 10 5 10 10h-9c0-6-12-5-12 0 0 6 22 2 22 14 0 5-4 9-11 10v6H45v-6c-7-1-11-5-11-11h9c0 7 14 6 14 1 0-6-22-2-22-14 0-5 4-9 10-10Z',
  X: 'M50 12 90 82H10Zm-5 24 2 26h6l2-26Zm5 30a5 5 0 1 0 .1 0Z',
};

export function Sign({ colour, class: extra = '' }: { colour: string; class?: string }) {
  return <svg class={`ta-sign ${extra}`} viewBox="0 0 24 24" aria-hidden="true"><path fill-rule="evenodd" d={SIGNS[colour] ?? ''} /></svg>;
}

/** A piece, face up. Its container names it for screen readers, unless it stands alone (`named`). */
export function Tile({ card, named = false }: { card: string; named?: boolean }) {
  const label = named ? { role: 'img' as const, 'aria-label': pieceName(card) } : { 'aria-hidden': true as const };
  const kind = kindOf(card);
  if (kind !== null) {
    return (
      <svg class={`ta-face ta-acquire of-${kind}`} viewBox="0 0 100 100" {...label}>
        <rect class="body" x="4" y="4" width="92" height="92" rx="16" />
        <rect class="edge" x="10" y="10" width="80" height="80" rx="11" />
        <svg x="20" y="18" width="60" height="60" viewBox="0 0 100 100"><path fill-rule="evenodd" class="glyph" d={GLYPHS[kind] ?? ''} /></svg>
      </svg>
    );
  }
  const colour = colourOf(card);
  return (
    <svg class={`ta-face ta-asset c-${colour}`} viewBox="0 0 100 100" {...label}>
      <circle class="body" cx="50" cy="50" r="48" />
      <circle class="notches" cx="50" cy="50" r="43" />
      <circle class="dish" cx="50" cy="50" r="36" />
      <text x="50" y="58" text-anchor="middle">{numberOf(card)}</text>
      <svg x="38" y="62" width="24" height="22" viewBox="0 0 24 24"><path class="ta-sign-in" fill-rule="evenodd" d={SIGNS[colour] ?? ''} /></svg>
    </svg>
  );
}

/** A piece, face down, of which only the shape is visible. */
export function FaceDownTile({ shape }: { shape: 'asset' | 'acquire' }) {
  return shape === 'asset' ? (
    <svg class="ta-face ta-down" viewBox="0 0 100 100" aria-hidden="true">
      <circle class="body" cx="50" cy="50" r="48" />
      <circle class="edge" cx="50" cy="50" r="38" />
      <path class="lines" d="M23 50 50 23 77 50 50 77ZM36 36 64 64M64 36 36 64" />
    </svg>
  ) : (
    <svg class="ta-face ta-down" viewBox="0 0 100 100" aria-hidden="true">
      <rect class="body" x="4" y="4" width="92" height="92" rx="16" />
      <rect class="edge" x="13" y="13" width="74" height="74" rx="9" />
      <path class="lines" d="M25 50 50 25 75 50 50 75ZM37 37 63 63M63 37 37 63" />
    </svg>
  );
}

/** Returns the name of a piece for screen readers. */
export function pieceName(card: string): string {
  const kind = kindOf(card);
  if (kind !== null) return say(`kind_${kind}` as Word);
  if (card === 'asset') return say('card_asset_down');
  if (card === 'acquire') return say('card_acquire_down');
  return say('card_asset', { colour: say(`colour_${colourOf(card)}` as Word), number: numberOf(card) });
}

/** Sorts pieces for display: by colour or by number, wilds at the end. */
export function inOrder(cards: readonly string[], byNumber = false): string[] {
  const height = (card: string) => {
    const kind = kindOf(card);
    if (kind !== null) return 1000 + 'WFVDX'.indexOf(kind);
    const [number, colour] = [numberOf(card), COLOURS.indexOf(colourOf(card))];
    return (byNumber ? number * 7 + colour : colour * 7 + number) * 2 + (card.endsWith('b') ? 1 : 0);
  };
  return [...cards].sort((one, other) => height(one) - height(other));
}

/** A chip of latinum. */
export function Chip() {
  return <svg class="ta-chip" viewBox="0 0 20 20" aria-hidden="true"><path d="M3 6 10 2l7 4v8l-7 4-7-4Z" /><path class="in" d="M6 8l4-2 4 2v4l-4 2-4-2Z" /></svg>;
}
