// Readers of values that MessagePack carries in a shorter form than JSON: cards as numbers, and structures as arrays
// of their fields (docs/PROTOCOL.md, "Shorter messages").

/** Returns the value in its JSON form. */
export type PackedReader = (value: unknown) => unknown;

/** The readers of a game's short events by the name of a field, or of an event and a field as in `shown.hands`. */
export type PackedFields = Readonly<Record<string, PackedReader>>;

/** Reads cards by their index, single ones and lists at any depth; other values are unchanged. */
export function packedCards(cardOf: (index: number) => string): PackedReader {
  return function read(value: unknown): unknown {
    if (typeof value === "number") return cardOf(value);
    return Array.isArray(value) ? value.map(read) : value;
  };
}

/** Reads a list whose elements have this form; null stays null. */
export function packedList(read: PackedReader): PackedReader {
  return (value) => (Array.isArray(value) ? value.map((item) => (item === null ? null : read(item))) : value);
}

/** Reads a structure by its fields in their order. Fields that are missing at the end are left out. */
export function packedStructure(fields: readonly (readonly [name: string, read?: PackedReader])[]): PackedReader {
  return (value) => {
    if (!Array.isArray(value)) return value;
    const values = value as readonly unknown[];
    const present = fields.slice(0, values.length);
    return Object.fromEntries(present.map(([name, read], at) => [name, read ? read(values[at]) : values[at]]));
  };
}
