// SHA-256 (FIPS 180-4) and HMAC with it (RFC 2104): `crypto.subtle` is missing on pages opened over plain
// http, and the client's commitment is needed synchronously.

import { encode } from "../core/utf8.js";

const ROUND = new Uint32Array(64);
const START = new Uint32Array(8);

// The constants are the first bits of the fractional parts of roots of the first primes.
{
  let found = 0;
  for (let number = 2; found < 64; number += 1) {
    let isPrime = true;
    for (let by = 2; by * by <= number; by += 1) isPrime &&= number % by !== 0;
    if (!isPrime) continue;
    if (found < 8) START[found] = (number ** (1 / 2) % 1) * 2 ** 32;
    ROUND[found] = (number ** (1 / 3) % 1) * 2 ** 32;
    found += 1;
  }
}

export function sha256(message: Uint8Array): Uint8Array {
  const padded = new Uint8Array((((message.length + 8) >> 6) + 1) << 6);
  padded.set(message);
  padded[message.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(message.length / 2 ** 29));
  view.setUint32(padded.length - 4, (message.length << 3) >>> 0);
  const state = START.slice();
  const words = new Uint32Array(64);
  for (let at = 0; at < padded.length; at += 64) block(state, words, view, at);
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, place) => digest.setUint32(4 * place, word));
  return new Uint8Array(digest.buffer);
}

function block(state: Uint32Array, words: Uint32Array, view: DataView, at: number): void {
  const word = (place: number): number => words[place] ?? 0;
  for (let place = 0; place < 16; place += 1) words[place] = view.getUint32(at + 4 * place);
  for (let place = 16; place < 64; place += 1) {
    const [x, y] = [word(place - 15), word(place - 2)];
    const small0 = rotateLeft(x, 7) ^ rotateLeft(x, 18) ^ (x >>> 3);
    const small1 = rotateLeft(y, 17) ^ rotateLeft(y, 19) ^ (y >>> 10);
    words[place] = word(place - 16) + small0 + word(place - 7) + small1;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let place = 0; place < 64; place += 1) {
    const big1 = rotateLeft(e, 6) ^ rotateLeft(e, 11) ^ rotateLeft(e, 25);
    const chosen = (e & f) ^ (~e & g);
    const one = (h + big1 + chosen + (ROUND[place] ?? 0) + word(place)) | 0;
    const big0 = rotateLeft(a, 2) ^ rotateLeft(a, 13) ^ rotateLeft(a, 22);
    const most = (a & b) ^ (a & c) ^ (b & c);
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + big0 + most) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((value, place) => {
    state[place] = (state[place] ?? 0) + value;
  });
}

function rotateLeft(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

export function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array {
  const block = new Uint8Array(64);
  block.set(key.length > 64 ? sha256(key) : key);
  const inner = sha256(concat([block.map((byte) => byte ^ 0x36), message]));
  return sha256(concat([block.map((byte) => byte ^ 0x5c), inner]));
}

export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Decodes hexadecimal digits; other characters, as the hyphens of a UUID, are skipped. */
export function fromHex(text: string): Uint8Array {
  const digits = text.replace(/[^0-9a-fA-F]/g, "");
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** Returns the SHA-256 of a text in UTF-8. */
export function sha256OfText(text: string): Uint8Array {
  return sha256(encode(text));
}
