// Reads the server's messages, in each of their three forms, into the messages of asyncapi.yaml. The short forms
// omit what a client can derive, such as the prompt, and write differences to earlier messages of the connection.

import type { Event, Message } from "../gen/socket.js";
import type { Models, ShortEvents } from "../games/model.js";
import { type PackedFields, unpack } from "../games/packed.js";
import { type Baseline, named } from "./baseline.js";
import { decode } from "./msgpack.js";
import { type Hash, hexOf, readTableEvent, tableWord } from "./table_events.js";

/** The subprotocols, the shortest first: a server takes the first of these that it knows. */
export const FORMS = ["bahay.v1.compact", "bahay.v1.brief", "bahay.v1"] as const;

export type Form = (typeof FORMS)[number];

export const isForm = (protocol: string): protocol is Form =>
  (FORMS as readonly string[]).includes(protocol);

/** Returns the id of the command that a message answers, or null if it answers none. */
export function answeredId(message: Message): number | null {
  switch (message.type) {
    case "ack":
    case "refusal":
      return message.id;
    case "update":
      return message.ack ?? null;
    default:
      return null;
  }
}

/** Reads the messages of one connection, in their order. */
export class MessageReader {
  readonly form: Form;
  readonly #models: Models;
  #baseline: Baseline = { time: 0, version: null, game: null, countdownMs: 0 };
  #kind: string | null;

  constructor(form: Form, models: Models, kind: string | null) {
    this.form = form;
    this.#models = models;
    this.#kind = kind;
  }

  /** Returns the message, or null for a type that this version does not know. */
  read(data: string | Uint8Array): Message | null {
    const value = typeof data === "string" ? (JSON.parse(data) as unknown) : decode(data);
    const message = Array.isArray(value) ? this.#fromShort(value) : value;
    if (message === null || typeof message !== "object" || !("type" in message)) {
      throw new Error("a message is an object with a type, or an array");
    }
    return this.#trackContext(message as Message);
  }

  #trackContext(message: Message): Message {
    if (message.type === "hello" || message.type === "snapshot") this.#baseline.time = message.server_time_ms;
    if (message.type === "snapshot") {
      this.#baseline.version = message.version;
      this.#kind = message.view.kind;
    }
    return message;
  }

  #fromShort(fields: readonly unknown[]): Message {
    const [first, second] = fields;
    if (!isHash(first) && !isHash(second)) {
      const version = second as number | undefined;
      return { type: "ack", id: first as number, ...(version === undefined ? {} : { version }) };
    }
    const [tag, ms, ...rest] = (isHash(first) ? fields : fields.slice(1)) as [Hash, number, ...unknown[]];
    const before = this.#baseline;
    const version = isHash(first) ? named(before.version) + 1 : (first as number);
    const after = { ...before, time: before.time + ms, version };
    // A number after the events is the id of the command that the update answers.
    const last = rest.at(-1);
    const ack = typeof last === "number" ? last : null;
    const events = rest.map((event) => this.#expandEvent(event, after));
    this.#baseline = after;
    return {
      type: "update",
      version,
      tag: hexOf(tag),
      server_time_ms: after.time,
      events: events.filter((event) => event !== null),
      ...(ack === null ? {} : { ack }),
    };
  }

  /** Returns the event of an element of an update, or null for anything else and for an unknown event. */
  #expandEvent(event: unknown, after: Baseline): Event | null {
    if (event === null || typeof event !== "object") return null;
    if (!Array.isArray(event)) return event as Event;
    const [word, ...fields] = event as readonly unknown[];
    const own = tableWord(word);
    if (own !== null) return readTableEvent(own, fields, this.#baseline, after);
    const model = this.#kind === null ? undefined : this.#models.get(this.#kind);
    const forms = Object.entries(model?.shortEvents ?? {});
    const form = forms.find(([name], number) => name === word || number === word);
    const packed = this.form === "bahay.v1.compact" ? (model?.packedFields ?? {}) : {};
    return form ? ({ type: "game", event: readGameEvent(form, fields, packed) } as Event) : null;
  }
}

const isHash = (value: unknown): value is Hash => typeof value === "string" || value instanceof Uint8Array;

function readGameEvent(
  [type, fields]: readonly [string, ShortEvents[string]],
  values: readonly unknown[],
  packed: PackedFields,
): object {
  const event: Record<string, unknown> = { type };
  for (const [at, field] of fields.entries()) {
    const [marked, missing] = typeof field === "string" ? ([field, null] as const) : field;
    const name = marked.replace(/\?$/, "");
    const form = packed[`${type}.${name}`] ?? packed[name] ?? null;
    const value = unpack(values[at] ?? missing, form);
    if (value !== null || name === marked) event[name] = value;
  }
  return event;
}
