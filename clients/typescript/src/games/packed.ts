// Values that MessagePack carries in a shorter form than JSON: cards as numbers, and structures as arrays of their
// fields (docs/PROTOCOL.md, "Shorter messages").

/**
 * The form of a value: null as in JSON; a function for cards by their index, single ones and lists at any depth; an
 * array of one form for a list; an object for a structure, whose fields may be missing at the end.
 */
export type Packed = null | ((index: number) => string) | readonly [Packed] | { readonly [field: string]: Packed };

/** The forms of a game's short events by the name of a field, or of an event and a field as in `shown.hands`. */
export type PackedFields = Readonly<Record<string, Packed>>;

/** Returns a value of this form as it is in JSON. */
export function unpack(value: unknown, packed: Packed): unknown {
  if (typeof packed === "function" && typeof value === "number") return packed(value);
  if (packed === null || !Array.isArray(value)) return value;
  if (typeof packed === "function") return value.map((item) => unpack(item, packed));
  if (isList(packed)) return value.map((item) => unpack(item, packed[0]));
  const present = Object.entries(packed).slice(0, value.length);
  return Object.fromEntries(present.map(([field, form], at) => [field, unpack(value[at], form)]));
}

const isList = (packed: Packed): packed is readonly [Packed] => Array.isArray(packed);
