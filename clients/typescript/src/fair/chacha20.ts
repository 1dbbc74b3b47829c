// The keystream of ChaCha20 (RFC 8439) with a nonce of zeros and the block counter from 0, as words of 32
// bits, and the draws that the house makes from it (rules 9.2 to 9.4).

export class Stream {
  readonly #start: Uint32Array;
  #block = new Uint32Array(16);
  #at = 16;

  /** `key` has 32 bytes. */
  constructor(key: Uint8Array) {
    this.#start = new Uint32Array(16);
    this.#start.set([0x61707865, 0x3320646e, 0x79622d32, 0x6b206574]);
    const view = new DataView(key.buffer, key.byteOffset, 32);
    for (let place = 0; place < 8; place += 1) {
      this.#start[4 + place] = view.getUint32(4 * place, true);
    }
  }

  word(): number {
    if (this.#at === 16) this.#next();
    const word = this.#block[this.#at] ?? 0;
    this.#at += 1;
    return word;
  }

  /** Returns a uniform number below n; words that would favour small numbers are skipped (rule 9.3). */
  uniform(n: number): number {
    const below = Math.floor(2 ** 32 / n) * n;
    for (;;) {
      const word = this.word();
      if (word < below) return word % n;
    }
  }

  /** Returns the numbers below `count` in a drawn order (rule 9.4). */
  order(count: number): number[] {
    const order = Array.from({ length: count }, (_, place) => place);
    for (let place = count - 1; place > 0; place -= 1) {
      const other = this.uniform(place + 1);
      [order[place], order[other]] = [order[other] ?? 0, order[place] ?? 0];
    }
    return order;
  }

  #next(): void {
    const state = this.#start.slice();
    for (let round = 0; round < 10; round += 1) {
      for (let column = 0; column < 4; column += 1) {
        quarterRound(state, column, 4 + column, 8 + column, 12 + column);
      }
      quarterRound(state, 0, 5, 10, 15);
      quarterRound(state, 1, 6, 11, 12);
      quarterRound(state, 2, 7, 8, 13);
      quarterRound(state, 3, 4, 9, 14);
    }
    this.#block = state.map((word, place) => word + (this.#start[place] ?? 0));
    this.#start[12] = (this.#start[12] ?? 0) + 1;
    this.#at = 0;
  }
}

function quarterRound(state: Uint32Array, a: number, b: number, c: number, d: number): void {
  step(state, a, b, d, 16);
  step(state, c, d, b, 12);
  step(state, a, b, d, 8);
  step(state, c, d, b, 7);
}

function step(state: Uint32Array, x: number, y: number, z: number, by: number): void {
  state[x] = (state[x] ?? 0) + (state[y] ?? 0);
  const mixed = (state[z] ?? 0) ^ (state[x] ?? 0);
  state[z] = (mixed << by) | (mixed >>> (32 - by));
}
