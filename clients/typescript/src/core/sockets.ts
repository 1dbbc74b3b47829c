// Pending and active sockets, and the commands that the request for a socket carries: the token as a
// subprotocol, and `join` as the query. A browser can set nothing else. A command in the request need not
// wait until the socket is open, which saves a round trip.
//
// The token is never in the address, which is logged on the way; the position in a table's history is no
// secret.

import type { MessageReader } from "./wire.js";

/** The ids with which the server answers the commands in the request. */
export const AUTHENTICATE_ID = 0;
export const JOIN_ID = 1;
/** The first id of the commands sent on the socket. */
export const FIRST_ID = 2;

/** The prefix of the token as a subprotocol. */
export const TOKEN_PREFIX = "bahay.token.";

/** The position from which a table is joined again. */
export interface TablePosition {
  readonly from: number;
  readonly tag: string;
  readonly table: string;
}

export interface PendingSocket {
  since: number;
  /** The token in the socket's request; null if all commands follow once it is open. */
  readonly token: string | null;
  /** The session of the token. */
  readonly session: string | null;
  /** The negotiated subprotocol; null until the socket is open. */
  protocol: string | null;
  /** All messages received before the table has arrived. */
  received: (string | Uint8Array)[];
}

/** Returns a socket on which nothing has been sent yet. */
export function createPendingSocket(since: number, token: string | null, session: string | null): PendingSocket {
  return { since, token, session, protocol: null, received: [] };
}

/** A socket in use. */
export interface ActiveSocket {
  readonly socket: number;
  readonly reader: MessageReader;
  readonly pending: PendingSocket;
  nextId: number;
  /** The time at which the client had authenticated; null before. */
  authenticatedAt: number | null;
  /** True once a command has been sent by which the table learns of this connection. */
  hasSent: boolean;
  /** True once such a command has been answered. */
  hasAnswered: boolean;
  token: string | null;
  /** The session of the token: its end is not the end of a newer session. */
  session: string | null;
}

/** Returns a pending socket as an active one on which nothing has been sent. */
export function activateSocket(socket: number, pending: PendingSocket, reader: MessageReader): ActiveSocket {
  return {
    socket,
    reader,
    pending,
    nextId: pending.token === null ? AUTHENTICATE_ID : FIRST_ID,
    authenticatedAt: null,
    hasSent: false,
    hasAnswered: false,
    token: null,
    session: pending.session,
  };
}

/** Returns the address and the subprotocols of a new socket. */
export function socketRequest(
  url: string,
  forms: readonly string[],
  token: string | null,
  known: TablePosition | null,
): { readonly url: string; readonly protocols: readonly string[] } {
  if (token === null) return { url, protocols: forms };
  const pairs = Object.entries({ type: "join", ...known });
  const query = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
  return { url: `${url}?${query}`, protocols: [...forms, `${TOKEN_PREFIX}${token}`] };
}
