// A client of the socket whose every command and message has the type that asyncapi.yaml gives it.

import WebSocket from "ws";

import type { Socket } from "./gen/socket.js";

export type Command = Socket["command"];
export type Message = Socket["message"];
export type Snapshot = Extract<Message, { type: "snapshot" }>;
export type Update = Extract<Message, { type: "update" }>;
export type Prompt = NonNullable<Snapshot["prompt"]>;
export type Action = Prompt["legal"][number];

/** A command before it has its number. */
export type Asked = Command extends infer C ? (C extends Command ? Omit<C, "id"> : never) : never;

export class Refused extends Error {
  constructor(readonly refusal: Extract<Message, { type: "refusal" }>) {
    super(`${refusal.code}: ${refusal.detail}`);
  }
}

interface Waiting {
  resolve(version: number | undefined): void;
  reject(error: Error): void;
}

export class Play {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, Waiting>();
  #last_id = 0;

  private constructor(socket: WebSocket, told: (message: Message) => void) {
    this.#socket = socket;
    socket.on("message", (data) => {
      const message = JSON.parse(String(data)) as Message;
      this.#answer(message);
      told(message);
    });
    socket.on("close", (code, reason) => {
      const closed = new Error(`closed with ${code}: ${String(reason)}`);
      for (const waiting of this.#waiting.values()) waiting.reject(closed);
      this.#waiting.clear();
    });
  }

  /** Opens a socket and says by a ticket who it is, as a page in a browser does. */
  static async open(
    base: string,
    ticket: string,
    told: (message: Message) => void,
  ): Promise<Play> {
    const address = `${base.replace(/^http/, "ws")}/v1/play`;
    const socket = new WebSocket(address, "bahay.v1");
    const play = new Play(socket, told);
    await new Promise<void>((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    await play.send({ type: "authenticate", ticket });
    return play;
  }

  /** Resolves with the version that the command is part of, or rejects with its refusal. */
  send(asked: Asked): Promise<number | undefined> {
    const id = ++this.#last_id;
    const command = { ...asked, id } as Command;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify(command));
    });
  }

  close(): void {
    this.#socket.close();
  }

  #answer(message: Message): void {
    if (message.type === "ack") {
      this.#waiting.get(message.id)?.resolve(message.version ?? undefined);
      this.#waiting.delete(message.id);
    } else if (message.type === "refusal" && message.id !== null) {
      this.#waiting.get(message.id)?.reject(new Refused(message));
      this.#waiting.delete(message.id);
    }
  }
}
