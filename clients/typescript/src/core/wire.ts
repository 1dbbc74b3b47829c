// Reads the server's messages, in each of their three forms, into the messages of asyncapi.yaml. The short
// forms omit what a client can derive: times are differences, and there is no prompt.

import type { Event, Message } from "../gen/socket.js";
import type { Models } from "../games/model.js";
import { decode } from "./msgpack.js";

/** The subprotocols, the shortest first: a server takes the first of these that it knows. */
export const FORMS = ["bahay.v1.compact", "bahay.v1.brief", "bahay.v1"] as const;

export type Form = (typeof FORMS)[number];

export const isForm = (protocol: string): protocol is Form =>
  (FORMS as readonly string[]).includes(protocol);

/** The numbers of the table's own short events in MessagePack. */
const COUNTDOWN = 5;
const READY = 6;

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
    const events = rest.map((event) => this.#expandEvent(event, server_time_ms));
    return {
      type: "update",
      version: first as number,
      tag: typeof second === "string" ? second : hexOf(second),
      server_time_ms,
      events: events.filter((event) => event !== null),
    };
  }

  #expandEvent(event: unknown, now: number): Event | null {
    if (!Array.isArray(event)) return event as Event;
    const [word, ...fields] = event as readonly unknown[];
    if (word === "countdown" || word === COUNTDOWN) {
      return { type: "countdown", deadline_ms: now + (fields[0] as number) };
    }
    if (word === "ready" || word === READY) return { type: "ready", seat: fields[0] as number };
    const model = this.#kind === null ? undefined : this.#models.get(this.#kind);
    const words = model?.shortEvents ?? [];
    const name = typeof word === "number" ? words[word < COUNTDOWN ? word : word - 2] : word;
    const read = name === undefined ? null : model?.readShort(String(name), fields);
    return read ? ({ type: "game", event: read } as Event) : null;
  }
}

export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
