// The cards, drawn as SVG: paper, a rank and a suit large enough for thumbs and tired eyes, a picture for the
// court, and a woven back. Suits differ in shape, and in colour if four colours are chosen.
import type { JSX } from 'preact';
import type { Card } from './model.ts';
import { cardName } from './words.ts';

const SUITS: Record<string, string> = {
  H: 'M50 90C22 66 8 50 8 32 8 18 18 9 30 9c9 0 16 5 20 13C54 14 61 9 70 9c12 0 22 9 22 23 0 18-14 34-42 58Z',
  D: 'M50 4 86 50 50 96 14 50Z',
  S: 'M50 6C62 28 90 38 90 60c0 13-9 21-20 21-7 0-12-3-16-8 1 10 4 15 10 21H36c6-6 9-11 10-21-4 5-9 8-16 8-11 0-20-8-20-21C10 38 38 28 50 6Z',
  C: 'M50 5c12 0 21 9 21 20 0 6-2 11-6 15 3-2 7-3 11-3 11 0 20 9 20 20s-9 20-20 20c-8 0-15-4-19-11 1 12 4 19 10 27H33c6-8 9-15 10-27-4 7-11 11-19 11C13 77 4 68 4 57s9-20 20-20c4 0 8 1 11 3-4-4-6-9-6-15C29 14 38 5 50 5Z',
};

/** The court: a young fisherman's bolo, a lady's fan, the headman's salakot. */
const COURT: Record<string, JSX.Element> = {
  J: <g><path class="art-2" d="M30 84c2-22 6-32 20-32s18 10 20 32Z" /><circle class="art-3" cx="50" cy="36" r="14" /><path class="art-1" d="M34 33c1-14 10-19 17-19 9 0 15 6 15 18-9-6-20-7-32 1Z" /><path class="art-1" d="M74 22c8 12 8 28 0 44l-5-3c5-12 5-25 1-36Z" /><path class="art-2" d="m68 62 8 5-4 9-7-5Z" /></g>,
  Q: <g><path class="art-2" d="M26 84c2-20 9-32 24-32s22 12 24 32Z" /><circle class="art-3" cx="50" cy="35" r="14" /><path class="art-1" d="M35 38c-4-18 6-26 15-26s19 8 15 26c-2-8-6-12-15-12s-13 4-15 12Z" /><path class="art-1" d="M50 82 22 60c6-12 17-18 28-18s22 6 28 18Z" opacity=".92" /><path class="art-4" d="M50 82 32 52M50 82 41 46M50 82V44M50 82l9-36M50 82l18-30" /></g>,
  K: <g><path class="art-2" d="M24 84c2-22 11-32 26-32s24 10 26 32Z" /><circle class="art-3" cx="50" cy="38" r="14" /><path class="art-1" d="M14 35C26 14 38 8 50 8s24 6 36 27c-22 7-50 7-72 0Z" /><path class="art-4" d="M18 34c21-8 43-8 64 0" /><circle class="art-5" cx="50" cy="12" r="5" /><path class="art-1" d="M50 46c7 0 11-2 13-6 0 12-5 21-13 21s-13-9-13-21c2 4 6 6 13 6Z" opacity=".85" /></g>,
};

const RED = new Set(['H', 'D']);

/** A card face. Its container names the card for screen readers, unless it stands alone (`named`). */
export function Face({ card, small = false, named = false }: { card: Card; small?: boolean; named?: boolean }) {
  const rank = card[0] ?? '';
  const suit = card[1] ?? '';
  const isJoker = rank === 'X';
  const label = named ? { role: 'img' as const, 'aria-label': cardName(card) } : { 'aria-hidden': true as const };
  const kind = isJoker ? 'joker' : `of-${suit} ${RED.has(suit) ? 'red' : 'black'}`;
  return (
    <svg class={`face ${kind} ${small ? 'small' : ''}`} viewBox="0 0 100 142" {...label}>
      <rect class="paper" x="1" y="1" width="98" height="140" rx="11" />
      {isJoker ? (
        <>
          <text class="rank" x="9" y="40" textLength="30">★</text>
          <text class="joker-word" x="50" y="92">JOKER</text>
          <path class="art-1" d="M22 120 30 102l10 12 10-16 10 16 10-12 8 18Z" />
        </>
      ) : (
        <>
          <text class="rank" x={rank === 'T' ? 3 : 8} y={small ? 52 : 40}>{rank === 'T' ? '10' : rank}</text>
          {small
            ? <svg x="8" y="66" width="46" height="46" viewBox="0 0 100 100"><path d={SUITS[suit] ?? ''} /></svg>
            : <svg x="8" y="47" width="27" height="27" viewBox="0 0 100 100"><path d={SUITS[suit] ?? ''} /></svg>}
          {small ? null : COURT[rank]
            ? <svg x="30" y="48" width="68" height="92" viewBox="10 2 80 84" preserveAspectRatio="xMidYMax meet">{COURT[rank]}</svg>
            : <svg x="38" y="74" width="56" height="60" viewBox="0 0 100 100"><path d={SUITS[suit] ?? ''} class="pip" /></svg>}
        </>
      )}
    </svg>
  );
}

export function Back() {
  return (
    <svg class="face back" viewBox="0 0 100 142" aria-hidden="true">
      <rect class="paper" x="1" y="1" width="98" height="140" rx="11" />
      <rect class="weave" x="7" y="7" width="86" height="128" rx="7" />
      <path class="weave-line" d="M7 39 39 7M7 71 71 7M7 103 93 17M7 135 93 49M39 135 93 81M71 135l22-22M93 39 61 7M93 71 29 7M93 103 7 17M93 135 7 49M61 135 7 81M29 135 7 113" />
      <path class="weave-eye" d="M50 45 73 71 50 97 27 71Z" />
    </svg>
  );
}
