// What goes into the core and what comes out of it.

import type { GameModel } from "../games/model.js";
import type { Form } from "./wire.js";
import type {
  Event, GameId, LeftReason, OpenPrompt, Phrase, PlayerId, TableId, TableView, TicketId, TongitsAction,
  TongoAssetsAction, TongoOptionsAction, WaitReason,
} from "../gen/socket.js";

export interface CoreOptions {
  /** As in `https://house.example`. */
  readonly base: string;
  /** Random bytes that nobody can guess. */
  random(bytes: number): Uint8Array;
  /** How a new guest is called. */
  readonly name?: string;
  /** What was stored by a core of this installation and page before. */
  readonly stored?: Partial<Record<StoreKey, string | null>>;
  /** The present, by both clocks, as `handle` is given it. */
  readonly now?: number;
  readonly wall?: number;
  /** The games that are known from the beginning. */
  readonly games: readonly GameModel[];
  /** Whether others may be asked for by `load_game`. */
  readonly loadsGames?: boolean;
  /** The forms of messages that are offered; by default all, and the server takes the shortest. */
  readonly forms?: readonly Form[];
}

/** An action of any game; the server knows which. */
export type Action = TongitsAction | TongoAssetsAction | TongoOptionsAction | { readonly type: string; readonly [field: string]: unknown };

/** Names a command, whatever the connection. The caller gives it, and never twice. */
export type CommandNumber = number;

export interface State {
  readonly link: Link;
  /** Who is signed in. */
  readonly player: { readonly id: PlayerId; readonly name: string } | null;
  /** The table as it was last known, also while the network is away. */
  readonly table: TableState | null;
  readonly seek: Seeking | null;
  /** What a bot would play; null once what it answers is asked no more. */
  readonly hint: HintSeen | null;
  /** A table that is watched without a seat. */
  readonly watched: TableState | null;
  /** Commands that have not come to their end, oldest first. */
  readonly open: readonly OpenCommand[];
  /** Unread notices, where known. */
  readonly notices: number | null;
}

export type Link =
  | { readonly type: "off" }
  | { readonly type: "signing_in" }
  | { readonly type: "connecting"; readonly attempt: number }
  | { readonly type: "joining" }
  | { readonly type: "live" }
  /** An answer has been missing for 2 s: what is shown may be old, and is shown on. */
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
  readonly deal: DealSeen | null;
}

/** What this client itself saw of a deal, and said in it. */
export interface DealSeen {
  readonly game: GameId;
  /** Shown with `preparing`; null where this client came later. */
  readonly commitment: string | null;
  /** Of all clients, shown before the first text was asked for. */
  readonly commitments: readonly string[] | null;
  /** What this client's seed is made of. */
  readonly text: string | null;
  /** The server has acknowledged it. */
  readonly revealed: boolean;
  readonly seat: number | null;
  /** The own hand as it was dealt. */
  readonly hand: readonly string[] | null;
}

export interface Seeking {
  readonly ticket: TicketId | null;
  readonly rooms: readonly string[];
  readonly state: "asking" | "waiting" | "seated" | "cancelled" | "expired";
  /** Why it waits although others wait too; null where nothing is to be said. */
  readonly reason: WaitReason | null;
  /** In the server's time. */
  readonly expiresAt: number | null;
}

/** What a bot of the house would play in the own seat, at a practice table. */
export interface HintSeen {
  readonly game: GameId;
  readonly prompt: number;
  readonly action: Action;
  /** Which bot, as in `greedy`. */
  readonly by: string;
}

export interface OpenCommand {
  readonly command: CommandNumber;
  readonly intent: Intent;
}

/** What a player wants. */
export type Wish =
  /** Without a text the client draws one; null takes no part in the deal. */
  | { readonly type: "ready"; readonly text?: string | null }
  | { readonly type: "act"; readonly action: Action }
  | { readonly type: "take_back" }
  | { readonly type: "leave" }
  /** What a bot would play: at a practice table, while one is asked. */
  | { readonly type: "hint" }
  | { readonly type: "say"; readonly phrase: Phrase }
  | { readonly type: "seek"; readonly rooms: readonly string[] }
  | { readonly type: "cancel_seek" }
  | { readonly type: "watch"; readonly table: TableId }
  | { readonly type: "unwatch" };

/** The same, with what was asked when it was wanted. */
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
  /** Its answer was lost and nothing waits for it any longer. */
  | { readonly type: "overtaken" }
  | {
      readonly type: "refused";
      readonly code: string;
      readonly rule: string | null;
      readonly detail: string;
    }
  /** It was not sent: there was nothing to answer, or no table. */
  | { readonly type: "dropped" };

export type Told =
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
  | { readonly type: "hint"; readonly hint: HintSeen }
  /** A player of a finished game has opened its rematch, and the code leads to a seat there. */
  | {
      readonly type: "invited";
      readonly code: string;
      readonly from: PlayerId;
      readonly name: string;
      readonly game: GameId;
    }
  | {
      readonly type: "unseated";
      /** Why, as the table said; `not_seated` where only the end of it is known. */
      readonly reason: LeftReason | "not_seated" | "voided" | "lost" | "halted";
    }
  | { readonly type: "deal"; readonly game: GameId; readonly check: CommitmentCheck };

/** Whether the seed that opened after a game is the one that was committed to before it. */
export interface CommitmentCheck {
  readonly serverSeed: string;
  readonly computed: string;
  /** Null where this client came after it was shown. */
  readonly shown: string | null;
  readonly holds: boolean | null;
}

export type Input =
  | { readonly type: "start" }
  | { readonly type: "stop" }
  /** The page is shown again, or the network is back. */
  | { readonly type: "wake" }
  | { readonly type: "timer" }
  | ({
      readonly type: "answered";
      readonly request: number;
    } & HttpAnswer)
  | { readonly type: "unanswered"; readonly request: number }
  | { readonly type: "opened"; readonly socket: number; readonly protocol: string }
  | { readonly type: "heard"; readonly socket: number; readonly data: string | Uint8Array }
  | {
      readonly type: "closed";
      readonly socket: number;
      readonly code: number;
      readonly reason: string;
    }
  | { readonly type: "command"; readonly command: CommandNumber; readonly wish: Wish }
  /** Another tab of the same session has stored this. */
  | { readonly type: "shared"; readonly session: string }
  /** The table may have changed by other means, as by a seat that was taken over REST: join. */
  | { readonly type: "join" }
  /** By a name and password, or an account elsewhere: the bodies that openapi.yaml has for them. */
  | {
      readonly type: "sign_in";
      readonly call: number;
      readonly path: "/v1/sign-in/password" | "/v1/sign-in/openid";
      readonly body: unknown;
    }
  /** Forget who is signed in, and stop. */
  | { readonly type: "forget" }
  | ({ readonly type: "call"; readonly call: number } & Call)
  /** The answer to `load_game`; null where it cannot be loaded. */
  | { readonly type: "game_loaded"; readonly kind: string; readonly model: GameModel | null };

/** An answer to a request, whoever gave it. */
export interface HttpAnswer {
  readonly status: number;
  /** The header `content-type`; null where there is none. */
  readonly contentType: string | null;
  /** What the JSON says; null where it is none. */
  readonly body: unknown;
  readonly retryAfterMs: number | null;
}

/** A request of the caller's own. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Anybody may ask this: without a token it is asked at once. */
  readonly isOpen?: boolean;
}

export type Answer =
  | { readonly ok: true; readonly status: number; readonly data: unknown }
  | { readonly ok: false; readonly status: number; readonly problem: ProblemSeen };

/** A refusal. Without an answer its code is `unreachable`, and nobody knows whether it took effect. */
export interface ProblemSeen {
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
  | { readonly type: "tell"; readonly told: Told }
  | { readonly type: "called"; readonly call: number; readonly answer: Answer }
  /** A table plays a game that is not known yet: what is heard waits until `game_loaded` says more. */
  | { readonly type: "load_game"; readonly kind: string };
