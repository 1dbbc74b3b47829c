// The area before the player: the own section with its seven assets and its acquire cards, another section
// shown by a reveal, or the numbers being chosen.
import { sectionOf } from '../../../../clients/typescript/src/games/tongo_assets/index.ts';
import type { TableState } from '../../model.ts';
import { hintsFor } from '../../settings.ts';
import { bestImprovement } from './hints.ts';
import { Panel } from './panel.tsx';
import { isPrompted, gameView, showsOwnSection, mode, picked, slots, spendsFree, touchSlot, tryPlay, type View } from './state.ts';
import { FaceDownTile, pieceName, Tile } from './tiles.tsx';
import { say } from './words.ts';

const PLACES = [0, 1, 2, 3, 4, 5, 6];
const NUMBERS = new Set(['prices', 'raise_confront', 'index', 'leverage', 'bribe']);

export function NearArea({ state }: { state: TableState }) {
  const view = gameView(state.view);
  if (!view) return <section class="ta-near" aria-hidden="true" />;
  if (NUMBERS.has(mode.value.type) && isPrompted.value) return <section class="ta-near"><Panel view={view} state={state} /></section>;
  const look = showsOwnSection.value ? null : view.own?.look ?? null;
  return look ? <RevealedSection assets={look.assets} section={look.section} /> : <OwnSection state={state} view={view} />;
}

function OwnSection({ state, view }: { state: TableState; view: View }) {
  const before = view.own?.before ?? null;
  const lying = view.public.sections[sectionOf(view.public, view.viewer ?? 0)];
  const tip = before && isPrompted.value && hintsFor(state.view.kind) ? bestImprovement(view) : null;
  const isOpen = before !== null && isPrompted.value && mode.value.type !== 'reveal';
  return (
    <section class={`ta-near ${before ? 'open' : ''}`} aria-label={say('own_section')}>
      <div class="ta-row" role="group" aria-label={say('own_section')}>
        {PLACES.map((slot) => {
          const card = before?.[slot] ?? null;
          const dip = { '--dip': `${((slot - 3) ** 2) * 1.500}px` };
          if (card) {
            return (
              <button type="button" key={slot} style={dip} data-slot={slot} data-flies={card} disabled={!isOpen}
                class={`ta-piece ${slots.value.has(slot) ? 'chosen' : ''} ${tip?.slot === slot && !slots.value.has(slot) ? 'tip' : ''}`}
                aria-pressed={slots.value.has(slot)} aria-label={pieceName(card)} onClick={() => touchSlot(slot)}>
                <Tile card={card} />
              </button>
            );
          }
          const isThere = !before && lying?.slots.includes(slot);
          return (
            <span key={slot} style={dip} class={`ta-piece ${isThere ? '' : 'gap'}`}>
              <span class="sr">{say(isThere ? 'slot_down' : 'slot_empty')}</span>{isThere ? <FaceDownTile shape="asset" /> : null}
            </span>
          );
        })}
      </div>
      <AcquireStack count={lying?.acquires ?? 0} open={isOpen} full={(view.own?.hand.length ?? 0) === 7} price={view.public.purchase} />
    </section>
  );
}

/** The acquire cards of the section; a touch buys the next one. */
function AcquireStack({ count, open, full, price }: { count: number; open: boolean; full: boolean; price: number }) {
  const one = [...picked.value][0];
  return (
    <button type="button" class={`ta-stack ${open && count > 0 ? 'can' : ''}`} data-anchor="acquires" disabled={!open}
      onClick={() => tryPlay({ type: 'acquire', ...(full ? { replace: one ?? null } : {}), ...(spendsFree.value ? { free: true } : {}) })}>
      <span class="sr">{say('acquires', { n: count })}</span>
      {Array.from({ length: 3 }, (_, at) => <span key={at} class={`ta-small ${at < count ? '' : 'gap'}`}>{at < count ? <FaceDownTile shape="acquire" /> : null}</span>)}
      {open && count > 0 ? <small aria-hidden="true">{spendsFree.value ? say('free') : price}</small> : null}
    </button>
  );
}

function RevealedSection({ assets, section }: { assets: readonly (string | null)[]; section: number }) {
  return (
    <section class="ta-near looked open" aria-label={say('section', { n: section + 1 })}>
      <div class="ta-row" role="group" aria-label={say('section', { n: section + 1 })}>
        {PLACES.map((slot) => {
          const card = assets[slot] ?? null;
          return (
            <span key={slot} class={`ta-piece ${card ? '' : 'gap'}`} style={{ '--dip': `${((slot - 3) ** 2) * 1.500}px` }}>
              {card ? <Tile card={card} named /> : <span class="sr">{say('slot_empty')}</span>}
            </span>
          );
        })}
      </div>
      <p class="ta-looked"><span>{say('section', { n: section + 1 })}</span>
        <button type="button" class="tool" onClick={() => { showsOwnSection.value = true; }}>{say('close_look')}</button></p>
    </section>
  );
}
