// The inputs, effects and state of the core.

import type { GameModel } from "../games/model.js";
import type { Form } from "./wire.js";
import type {
  Event, GameId, LeftReason, OpenPrompt, Phrase, PlayerId, TableId, TableView, TicketId, TongitsAction,
  TongoAssetsAction, TongoOptionsAction, WaitReason,
} from "../gen/socket.js";

export interface CoreOptions {
  /** The server's origin, such as `https://house.example`. */
  readonly base: string;
  /** Returns cryptographically secure random bytes. */
  random(bytes: number): Uint8Array;
  /** The name of a new guest. */
  readonly name?: string;
  /** The values stored by an earlier core of this installation and page. */
  readonly stored?: Partial<Record<StoreKey, string | null>>;
  /** The present time by both clocks, as passed to `handle`. */
  readonly now?: number;
  readonly wall?: number;
  /** The games known from the start. */
  readonly games: readonly GameModel[];
  /** True if further games may be requested by `load_game`. */
  readonly loadsGames?: boolean;
  /** The message forms to offer; by default all, of which the server takes the shortest. */
  readonly forms?: readonly Form[];
}

/** An action of any game. */
export type Action = TongitsAction | TongoAssetsAction | TongoOptionsAction | { readonly type: string; readonly [field: string]: unknown };

/** The number of a command, independent of connections. The caller chooses it and never reuses it. */
export type CommandNumber = number;

export interface State {
  readonly link: Link;
  /** The player who is signed in. */
  readonly player: { readonly id: PlayerId; readonly name: string } | null;
  /** The last known state of the table, also while the network is unavailable. */
  readonly table: TableState | null;
  readonly seek: Seeking | null;
  /** The bot's advice; null once its prompt is closed. */
  readonly hint: Hint | null;
  /** A table that is watched without a seat. */
  readonly watched: TableState | null;
  /** The commands without an outcome, oldest first. */
  readonly open: readonly OpenCommand[];
  /** The number of unread notices, if known. */
  readonly notices: number | null;
}

export type Link =
  | { readonly type: "off" }
  | { readonly type: "signing_in" }
  | { readonly type: "connecting"; readonly attempt: number }
  | { readonly type: "joining" }
  | { readonly type: "live" }
  /** An answer has been missing for 2 s: the state may be old, and stays visible. */
  | { readonly type: "weak" }
  | {
      readonly type: "pausing";
      readonly until: number;
      readonly attempt: number;
      readonly why: string;
    }
  | { readonly type: "replaced" }
  | { readonly type: "signed_out"; readonly code: string; readonly detail: string }
  | { readonly type: "broken"; readonly why: string };

export interface TableState {
  readonly view: TableView;
  readonly version: number;
  readonly tag: string;
  readonly prompt: OpenPrompt | null;
  /** False from the loss of the connection until the table has been joined again. */
  readonly current: boolean;
  readonly deal: DealObservation | null;
}

/** The client's own observations of a deal, and its part in it. */
export interface DealObservation {
  readonly game: GameId;
  /** The server's commitment, shown with `preparing`; null if this client came later. */
  readonly commitment: string | null;
  /** The commitments of all clients, shown before the first text was requested. */
  readonly commitments: readonly string[] | null;
  /** The text of which this client's seed is made. */
  readonly text: string | null;
  /** True once the server has acknowledged the text. */
  readonly revealed: boolean;
  readonly seat: number | null;
  /** The client's own hand as it was dealt. */
  readonly hand: readonly string[] | null;
}

export interface Seeking {
  readonly ticket: TicketId | null;
  readonly rooms: readonly string[];
  readonly state: "asking" | "waiting" | "seated" | "cancelled" | "expired";
  /** The reason why the ticket waits although others wait too; null without one. */
  readonly reason: WaitReason | null;
  /** The expiry in the server's time. */
  readonly expiresAt: number | null;
}

/** The action that a house bot would choose in the player's seat, at a practice table. */
export interface Hint {
  readonly game: GameId;
  readonly prompt: number;
  readonly action: Action;
  /** The bot's name, such as `greedy`. */
  readonly by: string;
}

export interface OpenCommand {
  readonly command: CommandNumber;
  readonly intent: Intent;
}

/** A command as the player gives it. */
export type Wish =
  /** If the text is omitted, the client draws one; null takes no part in the deal. */
  | { readonly type: "ready"; readonly text?: string | null }
  | { readonly type: "act"; readonly action: Action }
  | { readonly type: "take_back" }
  | { readonly type: "leave" }
  /** Requests a bot's advice at a practice table, while a prompt is open. */
  | { readonly type: "hint" }
  | { readonly type: "say"; readonly phrase: Phrase }
  | { readonly type: "seek"; readonly rooms: readonly string[] }
  | { readonly type: "cancel_seek" }
  | { readonly type: "watch"; readonly table: TableId }
  | { readonly type: "unwatch" };

/** A wish bound to the prompt that it answers. */
export type Intent =
  | { readonly type: "ready"; readonly game: GameId; readonly commitment?: string }
  | { readonly type: "reveal"; readonly game: GameId; readonly text: string }
  | {
      readonly type: "act";
      readonly game: GameId;
      readonly prompt: number;
      readonly action: Action;
    }
  | Exclude<Wish, { type: "ready" | "act" }>;

export type Outcome =
  | { readonly type: "done"; readonly version: number | null }
  /** The answer was lost, and the table no longer expects the command. */
  | { readonly type: "overtaken" }
  | {
      readonly type: "refused";
      readonly code: string;
      readonly rule: string | null;
      readonly detail: string;
    }
  /** The command was not sent: there was no prompt or no table for it. */
  | { readonly type: "dropped" };

export type Notification =
  | { readonly type: "link"; readonly link: Link }
  | {
      readonly type: "table";
      readonly events: readonly Event[];
      readonly before: TableView | null;
      readonly after: TableView;
      readonly snapshot: boolean;
      readonly catchingUp: boolean;
    }
  | {
      readonly type: "watched";
      readonly events: readonly Event[];
      readonly before: TableView | null;
      readonly after: TableView;
      readonly snapshot: boolean;
    }
  | {
      readonly type: "ended";
      readonly command: CommandNumber;
      readonly intent: Intent | Wish;
      readonly outcome: Outcome;
    }
  | {
      readonly type: "seek";
      readonly state: "waiting" | "seated" | "cancelled" | "expired";
      readonly table: TableId | null;
    }
  | { readonly type: "said"; readonly player: PlayerId; readonly phrase: Phrase }
  | { readonly type: "hint"; readonly hint: Hint }
  /** A player of a finished game has opened its rematch; the code leads to a seat there. */
  | {
      readonly type: "invited";
      readonly code: string;
      readonly from: PlayerId;
      readonly name: string;
      readonly game: GameId;
    }
  /** A game or a round has changed the player's score in a tournament. */
  | {
      readonly type: "standing";
      readonly tournament: string;
      /** The rank, from 1. */
      readonly rank: number;
      readonly score: number;
      /** Hundredths of a point. */
      readonly tie_break: number;
      readonly entrants: number;
    }
  | {
      readonly type: "unseated";
      /** The reason given by the table; `not_seated` if only the loss of the seat is known. */
      readonly reason: LeftReason | "not_seated" | "voided" | "lost" | "halted";
    }
  | { readonly type: "deal"; readonly game: GameId; readonly check: CommitmentCheck };

/**
 * The result of comparing the seed revealed after a game with the commitment made before it. There is none after a
 * game whose seed is withheld because other tables still play its deal.
 */
export interface CommitmentCheck {
  readonly serverSeed: string;
  readonly computed: string;
  /** The commitment that was shown; null if this client came later. */
  readonly shown: string | null;
  readonly holds: boolean | null;
}

export type Input =
  | { readonly type: "start" }
  | { readonly type: "stop" }
  /** The page became visible, or the network returned. */
  | { readonly type: "wake" }
  | { readonly type: "timer" }
  | ({
      readonly type: "answered";
      readonly request: number;
    } & HttpAnswer)
  | { readonly type: "unanswered"; readonly request: number }
  | { readonly type: "opened"; readonly socket: number; readonly protocol: string }
  | { readonly type: "received"; readonly socket: number; readonly data: string | Uint8Array }
  | {
      readonly type: "closed";
      readonly socket: number;
      readonly code: number;
      readonly reason: string;
    }
  | { readonly type: "command"; readonly command: CommandNumber; readonly wish: Wish }
  /** Another tab of the same session has stored this session. */
  | { readonly type: "shared"; readonly session: string }
  /** The table may have changed through REST, as by a seat taken there: the client joins. */
  | { readonly type: "join" }
  /** Signs in with a name and password or an external account; openapi.yaml defines the bodies. */
  | {
      readonly type: "sign_in";
      readonly call: number;
      readonly path: "/v1/sign-in/password" | "/v1/sign-in/openid";
      readonly body: unknown;
    }
  /** Forgets the player and stops. */
  | { readonly type: "forget" }
  | ({ readonly type: "call"; readonly call: number } & Call)
  /** The answer to `load_game`; null if the model cannot be loaded. */
  | { readonly type: "game_loaded"; readonly kind: string; readonly model: GameModel | null };

/** An answer to an HTTP request, from the server or an intermediary. */
export interface HttpAnswer {
  readonly status: number;
  /** The header `content-type`; null without one. */
  readonly contentType: string | null;
  /** The parsed JSON; null if the body is not JSON. */
  readonly body: unknown;
  readonly retryAfterMs: number | null;
}

/** A request of the caller. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** True if the operation needs no authentication: without a token it is sent at once. */
  readonly isOpen?: boolean;
}

export type Answer =
  | { readonly ok: true; readonly status: number; readonly data: unknown }
  | { readonly ok: false; readonly status: number; readonly problem: CallProblem };

/**
 * A refusal. Without an answer its code is `unreachable`, and it is unknown whether the request took effect.
 */
export interface CallProblem {
  readonly code: string;
  readonly detail: string;
  readonly retryAfterMs: number | null;
}

export type StoreKey = "device" | "seed" | "session" | "table";

export type Effect =
  | {
      readonly type: "request";
      readonly request: number;
      readonly method: string;
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string | null;
    }
  | {
      readonly type: "open";
      readonly socket: number;
      readonly url: string;
      readonly protocols: readonly string[];
    }
  | { readonly type: "send"; readonly socket: number; readonly text: string }
  | { readonly type: "close"; readonly socket: number }
  | { readonly type: "store"; readonly key: StoreKey; readonly value: string | null }
  | { readonly type: "notify"; readonly notification: Notification }
  | { readonly type: "called"; readonly call: number; readonly answer: Answer }
  /** Requests the model of an unknown game; messages are buffered until `game_loaded`. */
  | { readonly type: "load_game"; readonly kind: string };
