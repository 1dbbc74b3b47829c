// UTF-8 encoding and decoding, so that the core depends on neither a browser nor Node.

export function encode(text: string): Uint8Array {
  const bytes: number[] = [];
  for (const character of text) {
    let point = character.codePointAt(0) ?? 0xfffd;
    if (point >= 0xd800 && point < 0xe000) point = 0xfffd;
    if (point < 0x80) {
      bytes.push(point);
      continue;
    }
    const more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    bytes.push(((0xf00 >> more) & 0xff) | (point >> (6 * more)));
    for (let left = more - 1; left >= 0; left -= 1) bytes.push(0x80 | ((point >> (6 * left)) & 0x3f));
  }
  return Uint8Array.from(bytes);
}

/** Decodes bytes that are valid UTF-8. */
export function decodeText(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at] ?? 0;
    const more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    let point = more === 0 ? first : first & (0x3f >> more);
    for (let next = 1; next <= more; next += 1) point = (point << 6) | ((bytes[at + next] ?? 0) & 0x3f);
    text += String.fromCodePoint(point);
    at += more + 1;
  }
  return text;
}
