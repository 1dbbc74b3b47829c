// Encodes messages in the server's three forms, as far as the tests need it.

/** Encodes a message that has the same fields in every form. */
export function encodeMessage(message: unknown, form: string): string | Uint8Array {
  if (form === "bahay.v1" && Array.isArray(message)) {
    const [id, version] = message as number[];
    return JSON.stringify({ type: "ack", id, ...(version === undefined ? {} : { version }) });
  }
  return form === "bahay.v1.compact" ? encode(message) : JSON.stringify(message);
}

/** Encodes a value as MessagePack. */
export function encode(value: unknown): Uint8Array {
  const bytes: number[] = [];
  write(value, bytes);
  return Uint8Array.from(bytes);
}

function write(value: unknown, bytes: number[]): void {
  if (value === null || value === undefined) bytes.push(0xc0);
  else if (typeof value === "boolean") bytes.push(value ? 0xc3 : 0xc2);
  else if (typeof value === "number") writeNumber(value, bytes);
  else if (typeof value === "string") {
    const text = new TextEncoder().encode(value);
    bytes.push(0xda, text.length >> 8, text.length & 0xff, ...text);
  } else if (value instanceof Uint8Array) {
    bytes.push(0xc4, value.length, ...value);
  } else if (Array.isArray(value)) {
    bytes.push(0xdc, value.length >> 8, value.length & 0xff);
    for (const item of value) write(item, bytes);
  } else {
    const fields = Object.entries(value as object);
    bytes.push(0xde, fields.length >> 8, fields.length & 0xff);
    for (const [key, field] of fields) {
      write(key, bytes);
      write(field, bytes);
    }
  }
}

function writeNumber(value: number, bytes: number[]): void {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigInt64(0, BigInt(value));
  bytes.push(0xd3, ...new Uint8Array(view.buffer));
}
