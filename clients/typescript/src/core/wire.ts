// Reads the server's messages, in each of their three forms, into the messages of asyncapi.yaml. The short
// forms omit what a client can derive: times are differences, and there is no prompt.

import type { Event, Message } from "../gen/socket.js";
import type { Models, ShortEvents } from "../games/model.js";
import type { PackedFields } from "../games/packed.js";
import { decode } from "./msgpack.js";
import { hexOf, readTableEvent, tableWord } from "./table_events.js";

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

/** Reads the messages of one connection. */
export class MessageReader {
  readonly form: Form;
  readonly #models: Models;
  /** The server's time in its hello, in ms. */
  #helloMs = 0;
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
    if (message.type === "hello") this.#helloMs = message.server_time_ms;
    if (message.type === "snapshot") this.#kind = message.view.kind;
    return message;
  }

  #fromShort(fields: readonly unknown[]): Message {
    const [first, second, third, ...rest] = fields;
    if (typeof second !== "string" && !(second instanceof Uint8Array)) {
      const version = second as number | undefined;
      return { type: "ack", id: first as number, ...(version === undefined ? {} : { version }) };
    }
    const server_time_ms = this.#helloMs + (third as number);
    // A number after the events is the id of the command that the update answers.
    const last = rest.at(-1);
    const ack = typeof last === "number" ? last : null;
    const events = rest.map((event) => this.#expandEvent(event, server_time_ms));
    return {
      type: "update",
      version: first as number,
      tag: hexOf(second),
      server_time_ms,
      events: events.filter((event) => event !== null),
      ...(ack === null ? {} : { ack }),
    };
  }

  /** Returns the event of an element of an update, or null for anything else and for an unknown event. */
  #expandEvent(event: unknown, now: number): Event | null {
    if (event === null || typeof event !== "object") return null;
    if (!Array.isArray(event)) return event as Event;
    const [word, ...fields] = event as readonly unknown[];
    const own = tableWord(word);
    if (own !== null) return readTableEvent(own, fields, now);
    const model = this.#kind === null ? undefined : this.#models.get(this.#kind);
    const forms = Object.entries(model?.shortEvents ?? {});
    const form = forms.find(([name], number) => name === word || number === word);
    const packed = this.form === "bahay.v1.compact" ? (model?.packedFields ?? {}) : {};
    return form ? ({ type: "game", event: readGameEvent(form, fields, packed) } as Event) : null;
  }
}

function readGameEvent(
  [type, fields]: readonly [string, ShortEvents[string]],
  values: readonly unknown[],
  packed: PackedFields,
): object {
  const event: Record<string, unknown> = { type };
  for (const [at, field] of fields.entries()) {
    const [marked, missing] = typeof field === "string" ? ([field, null] as const) : field;
    const name = marked.replace(/\?$/, "");
    const read = packed[`${type}.${name}`] ?? packed[name];
    const sent = values[at] ?? null;
    const value = sent === null ? missing : read ? read(sent) : sent;
    if (value !== null || name === marked) event[name] = value;
  }
  return event;
}
