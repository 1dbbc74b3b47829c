// Decodes MessagePack as far as the server encodes it: without fractions and extensions.

import { decodeText } from "./utf8.js";

/** Returns the one value of these bytes. Binary data becomes a Uint8Array. */
export function decode(bytes: Uint8Array): unknown {
  const reader = new Reader(bytes);
  const value = reader.value();
  if (!reader.isAtEnd) throw new Error("something follows the message");
  return value;
}

class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  value(): unknown {
    const kind = this.#unsigned(1);
    if (kind < 0x80) return kind;
    if (kind < 0x90) return this.#map(kind & 0x0f);
    if (kind < 0xa0) return this.#array(kind & 0x0f);
    if (kind < 0xc0) return this.#text(kind & 0x1f);
    if (kind >= 0xe0) return kind - 0x100;
    switch (kind) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.#take(this.#unsigned(1 << (kind - 0xc4)));
      case 0xcc:
      case 0xcd:
      case 0xce:
      case 0xcf:
        return this.#unsigned(1 << (kind - 0xcc));
      case 0xd0:
        return this.#view.getInt8(this.#skip(1));
      case 0xd1:
        return this.#view.getInt16(this.#skip(2));
      case 0xd2:
        return this.#view.getInt32(this.#skip(4));
      case 0xd3:
        return Number(this.#view.getBigInt64(this.#skip(8)));
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#text(this.#unsigned(1 << (kind - 0xd9)));
      case 0xdc:
      case 0xdd:
        return this.#array(this.#unsigned(kind === 0xdc ? 2 : 4));
      case 0xde:
      case 0xdf:
        return this.#map(this.#unsigned(kind === 0xde ? 2 : 4));
      default:
        throw new Error(`no value begins with 0x${kind.toString(16)}`);
    }
  }

  #array(count: number): unknown[] {
    const list: unknown[] = [];
    for (let place = 0; place < count; place += 1) list.push(this.value());
    return list;
  }

  #map(count: number): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    for (let place = 0; place < count; place += 1) {
      const key = String(this.value());
      map[key] = this.value();
    }
    return map;
  }

  #text(length: number): string {
    return decodeText(this.#take(length));
  }

  #unsigned(length: number): number {
    let sum = 0;
    for (const byte of this.#take(length)) sum = sum * 256 + byte;
    return sum;
  }

  #take(length: number): Uint8Array {
    const from = this.#skip(length);
    return this.#bytes.subarray(from, from + length);
  }

  #skip(length: number): number {
    const from = this.#at;
    if (from + length > this.#bytes.length) throw new Error("the message ends too soon");
    this.#at += length;
    return from;
  }
}
