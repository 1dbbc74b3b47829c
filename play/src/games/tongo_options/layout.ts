// The geometry of the ring in a box of a given size, in pixels: eight floors on an ellipse, the front one
// enlarged, and the dice at their inner edges. Nothing is drawn here.
import { FLOORS } from '../../../../clients/typescript/src/games/tongo_options/index.ts';

export interface RingPosition { x: number; y: number; scale: number }

export interface Geometry {
  width: number;
  height: number;
  /** The width of a card of a far floor. */
  card: number;
  /** The scale of the front floor. */
  near: number;
  /** The box of a far floor. */
  box: { width: number; height: number };
  centre: { x: number; y: number };
  radius: { x: number; y: number };
  /** The additional distance of the front floor. */
  drop: number;
  /** The bottom edge of the free exchange, which lies in front of everything. */
  exchange: { x: number; y: number; card: number };
}

const RATIO = 1.42;
const NEAR = 2.2;

export function geometry(width: number, height: number, hasExchange: boolean): Geometry {
  const card = Math.max(16, Math.min(width / 14.2, height / 11.4, 46));
  const near = NEAR;
  const box = { width: card * 3 + 12, height: card * RATIO + 10 };
  const under = hasExchange ? card * 0.95 : 0;
  const half = box.height * near / 2;
  const free = height - box.height / 2 - half - under - 14;
  // The front floor moves down until it is clear of its neighbours.
  const clear = box.height / 2 + half + 9;
  const y = Math.max(box.height * 1.05, (free - clear) / (2 - (1 - Math.SQRT1_2)));
  const drop = Math.max(0, Math.min(free - 2 * y, clear - (1 - Math.SQRT1_2) * y));
  const x = Math.min(width / 2 - box.width / 2 - 2, y * 3.4);
  const centre = { x: width / 2, y: box.height / 2 + y + 9 };
  const bottom = centre.y + y + drop + half - 4;
  return {
    width, height, card, near, box, centre, radius: { x, y }, drop,
    exchange: { x: width / 2, y: bottom + under * 0.42, card: card * 0.95 },
  };
}

/** Returns a position on the ring, in floors from the front one: 0 is the front, 4 the back. */
export function ringPosition(by: Geometry, steps: number): RingPosition {
  const angle = Math.PI / 2 - steps * 2 * Math.PI / FLOORS;
  // The closeness to the front, from 0 to 1 over half a floor on both sides.
  const turns = ((steps % FLOORS) + FLOORS) % FLOORS;
  const away = Math.min(turns, FLOORS - turns);
  const front = Math.max(0, 1 - away);
  const depth = 0.92 + 0.08 * (1 + Math.sin(angle)) / 2;
  return {
    x: by.centre.x + Math.cos(angle) * by.radius.x,
    y: by.centre.y + Math.sin(angle) * by.radius.y + front * by.drop,
    scale: depth + front * (by.near - depth),
  };
}

/** Returns the positions on the shorter way around from one front floor to another. */
export function ringPath(by: Geometry, from: number, to: number, floor: number): RingPosition[] {
  const turn = ((to - from) % FLOORS + FLOORS) % FLOORS;
  const steps = turn > FLOORS / 2 ? turn - FLOORS : turn;
  const parts = Math.max(2, Math.abs(steps) * 4);
  return Array.from({ length: parts + 1 }, (_, i) => ringPosition(by, floor - from - steps * i / parts));
}

/** Returns the position of a die: at the inner edge of its floor, or on the line between two. */
export function diePosition(by: Geometry, front: number, place: number, nth: number, of: number): { x: number; y: number } {
  const steps = place / 2 - front;
  const isOnFloor = place % 2 === 0;
  const at = ringPosition(by, steps);
  const isFront = isOnFloor && ((steps % FLOORS) + FLOORS) % FLOORS === 0;
  const side = (nth - (of - 1) / 2) * by.card * 0.95;
  if (!isOnFloor) {
    const turns = ((steps % FLOORS) + FLOORS) % FLOORS;
    // Beside the front floor no line ends: the die lies above its shoulder.
    const isShoulder = turns < 1 || turns > FLOORS - 1;
    const pull = isShoulder ? 0.86 : 0.99;
    return {
      x: by.centre.x + (at.x - by.centre.x) * (isShoulder ? 1.24 : pull) + side,
      y: by.centre.y + (at.y - by.centre.y - (isShoulder ? by.drop * 0.5 : 0)) * pull,
    };
  }
  if (isFront) return { x: at.x + side * 1.1, y: at.y - by.card * by.near * RATIO / 2 - by.card * 0.36 };
  const [dx, dy] = [by.centre.x - at.x, by.centre.y - at.y];
  const far = Math.hypot(dx, dy) || 1;
  const [nx, ny] = [dx / far, dy / far];
  const edge = Math.min(by.box.width / 2 / Math.max(0.01, Math.abs(nx)), by.box.height / 2 / Math.max(0.01, Math.abs(ny)));
  const out = edge * at.scale + by.card * 0.28;
  return { x: at.x + nx * out - ny * side, y: at.y + ny * out + nx * side };
}
