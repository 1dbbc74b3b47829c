// The rotating table, seen from a little above: its sections with their face-down pieces, the seats, and in
// its middle the pot and the column of the risk that all pay.
import { useRef } from 'preact/hooks';
import { sectionOf } from '../../../../clients/typescript/src/games/tongo_assets/index.ts';
import type { TableState } from '../../model.ts';
import { Avatar } from '../../parts/index.tsx';
import { isPrompted, gameView, mode, nameOf, play, type View } from './state.ts';
import { say } from './words.ts';

const MIDDLE = 200;
const OUTER = 194;
const INNER = 74;
/** The largest number of slabs in the column, which has one for each chip of the risk. */
const SLABS_MAX = 18;

const point = (angle: number, radius: number): readonly [number, number] => {
  const turned = angle * Math.PI / 180;
  return [MIDDLE + Math.cos(turned) * radius, MIDDLE + Math.sin(turned) * radius];
};

/** Returns a position on the rim; far positions are closer to the middle. */
function rimPosition(angle: number) {
  const y = Math.sin(angle);
  return { '--x': Math.cos(angle).toFixed(3), '--y': (y < 0 ? y * 0.88 : y).toFixed(3) };
}

/** Returns the path of the ring's sector around an angle. */
function sectorPath(angle: number, width: number): string {
  const [from, to] = [angle - width / 2 + 0.8, angle + width / 2 - 0.8];
  const [a, b, c, d] = [point(from, OUTER), point(to, OUTER), point(to, INNER), point(from, INNER)];
  return `M${a}A${OUTER} ${OUTER} 0 0 1 ${b}L${c}A${INNER} ${INNER} 0 0 0 ${d}Z`;
}

export function Wheel({ state }: { state: TableState }) {
  const view = gameView(state.view);
  const count = view?.public.rules.sections ?? Number(state.view.terms.rules['sections'] ?? 8);
  const step = 360 / count;
  const seats = view?.public.players.length ?? state.view.seats.length;
  const mine = state.view.seat ?? 0;
  const own = Math.floor(mine * count / seats);
  const phase = view?.public.phase;
  const confronter = phase?.type === 'confront' || phase?.type === 'debts' ? phase.confronter : null;
  const acting = view?.public.offer?.to ?? (phase && 'seat' in phase ? phase.seat : null);
  const turn = useTurn(view?.public.rotation ?? 0, step);
  /** Returns the angle of a place: the player's own below, the next seat to its right. */
  const angleOf = (place: number) => 90 - (place - own) * step;
  const assessing = view?.public.phase.type === 'assess' ? sectionOf(view.public, view.public.phase.seat) : null;
  const before = view ? sectionOf(view.public, mine) : null;
  return (
    <section class={`ta-wheel ${mode.value.type === 'reveal' ? 'choosing' : ''} ${confronter === null ? '' : 'at-confront'}`} role="group"
      aria-label={view ? say('wheel', { risk: view.public.risk, pot: view.public.pot }) : say('title')}>
      <div class="ta-disc" aria-hidden="true" style={{ '--turn': `${turn}deg` }}>
        <svg viewBox="0 0 400 400">
          <circle class="rim" cx="200" cy="200" r="199" />
          {Array.from({ length: count }, (_, section) => {
            const angle = angleOf(section);
            const lying = view?.public.sections[section];
            const kind = view && confronter !== null && section === sectionOf(view.public, confronter) ? 'confronts' : section === assessing ? 'active' : section === before && view ? 'mine' : '';
            return (
              <g key={section} class={`ta-wedge ta-wedge-${section % 2} ${kind}`}>
                <path d={sectorPath(angle, step)} />
                {Array.from({ length: 7 }, (_, slot) => {
                  const [x, y] = point(angle + (slot - 3) * step * 0.124, 164);
                  return <circle key={slot} class={lying?.slots.includes(slot) ? 'dot' : 'dot empty'} cx={x} cy={y} r={count > 4 ? 6 : 9} />;
                })}
                {Array.from({ length: lying?.acquires ?? 0 }, (_, at) => {
                  const [x, y] = point(angle + (at - 1) * step * 0.22, 116);
                  return <rect key={at} class="square" x={x - 6.500} y={y - 6.500} width="13" height="13" rx="2.500" transform={`rotate(${angle - 90} ${x} ${y})`} />;
                })}
              </g>
            );
          })}
          <circle class="hub" cx="200" cy="200" r="70" />
        </svg>
      </div>
      {state.view.seats.map((who, seat) => {
        if (!who || seat >= seats) return null;
        const angle = angleOf(Math.floor(seat * count / seats)) * Math.PI / 180;
        const out = view && !view.public.playing.includes(seat);
        return (
          <span key={seat} class={`ta-mark ${out ? 'out' : ''} ${seat === mine ? 'own' : ''} ${seat === acting ? 'acts-now' : ''}`} aria-hidden="true"
            style={rimPosition(angle)}><Avatar name={who.name} picture={who.avatar ?? null} /></span>
        );
      })}
      {view && mode.value.type === 'reveal' && isPrompted.value ? <Places state={state} view={view} angleOf={angleOf} own={own} /> : null}
      <Pot view={view} />
    </section>
  );
}

/** Returns the rotation of the disc in degrees: each stop turns it on, at least once around. */
function useTurn(rotation: number, step: number): number {
  const last = useRef({ rotation, turn: rotation * step });
  const known = last.current;
  if (known.rotation !== rotation) {
    const on = ((rotation - known.rotation) * step % 360 + 360) % 360;
    last.current = { rotation, turn: known.turn + on + 360 };
  }
  return last.current.turn;
}

/** The sections that a reveal may show: all except the player's own. */
function Places({ state, view, angleOf, own }: { state: TableState; view: View; angleOf: (place: number) => number; own: number }) {
  const { rules, rotation, players, sections } = view.public;
  const count = rules.sections;
  return (
    <>
      {Array.from({ length: count }, (_, place) => place).filter((place) => place !== own).map((place) => {
        const section = (place + rotation) % count;
        const seat = players.findIndex((_, one) => Math.floor(one * count / players.length) === place);
        const name = seat >= 0 ? nameOf(state.view, seat) : '–';
        const angle = angleOf(place) * Math.PI / 180;
        return (
          <button type="button" key={place} class="ta-place" style={rimPosition(angle)}
            data-section={section} onClick={() => void play({ type: 'reveal', section })}
            aria-label={say('section_of', { name, assets: sections[section]?.slots.length ?? 0, acquires: sections[section]?.acquires ?? 0 })}>
            {section + 1}
          </button>
        );
      })}
    </>
  );
}

/** The pot, and beside it a slab for each chip that staying in costs. */
function Pot({ view }: { view: View | null }) {
  const open = view?.public;
  const slabs = Math.min(SLABS_MAX, open?.risk ?? 0);
  return (
    <div class="ta-pot" data-anchor="pot">
      <svg class="ta-column" viewBox="0 0 44 110" aria-hidden="true">
        {Array.from({ length: slabs }, (_, at) => (
          <g key={at} transform={`translate(0 ${88 - at * 4.600})`}><path class="slab" d="M2 8 22 1l20 7v5l-20 7L2 13Z" /><path class="top" d="M2 8 22 1l20 7-20 7Z" /></g>
        ))}
      </svg>
      <b>{open?.pot ?? 0}</b>
      <small>{say('pot')}</small>
    </div>
  );
}

/** The present prices. */
export function Prices({ view }: { view: View | null }) {
  if (!view) return <p class="ta-prices" />;
  const { risk, purchase, sell, pot, rounds, rules, players, phase } = view.public;
  const own = view.viewer === null ? null : players[view.viewer];
  const paid = own && (phase.type === 'risk' || phase.type === 'confront') ? own.paid : 0;
  const round = rounds === 0 ? say('round_none') : rounds > rules.rounds_max ? say('round_last') : say('round', { n: rounds, of: rules.rounds_max });
  return (
    <p class="ta-prices">
      <span class="ta-pot-pill">{say('pot')} <b>{pot}</b></span>
      <span class="ta-risk">{say('risk')} <b>{risk || '–'}</b></span>
      <span>{say('purchase')} <b>{purchase || '–'}</b></span>
      <span>{say('sell_price')} <b>{sell || '–'}</b></span>
      <small>{own && own.owes > 0 ? say('you_owe', { n: own.owes }) : paid > 0 ? say('you_paid', { n: paid }) : round}</small>
    </p>
  );
}
