// Sockets: one that is being opened or is open beside the one in use, that one itself, and what the
// request for a socket says already: who this is, as a subprotocol, and `join`, as the query. A browser can set nothing else, and what is
// said there need not wait until the socket is open, which saves a round trip.
//
// The token is never in the address, which is logged on the way; where a table was left is no secret.

import type { MessageReader } from "./wire.js";

/** The server answers with these ids to what the request says. */
export const AUTHENTICATE_ID = 0;
export const JOIN_ID = 1;
/** What is said on the socket is numbered from here on. */
export const FIRST_ID = 2;

/** Before the token. */
export const TOKEN_PREFIX = "bahay.token.";

/** What is known of a table that is joined again. */
export interface Known {
  readonly from: number;
  readonly tag: string;
  readonly table: string;
}

export interface Opening {
  since: number;
  /** The token that its request names; null where all is to be said once it is open. */
  readonly token: string | null;
  /** The session of that token. */
  readonly session: string | null;
  /** What was agreed on; null until it is open. */
  protocol: string | null;
  /** All that came on it, until a table is there. */
  heard: (string | Uint8Array)[];
}

/** Of a socket on which nothing has been said yet. */
export function opening(since: number, token: string | null, session: string | null): Opening {
  return { since, token, session, protocol: null, heard: [] };
}

/** A socket that is in use. */
export interface Line {
  readonly socket: number;
  readonly reader: MessageReader;
  readonly opening: Opening;
  nextId: number;
  /** When it had been said who this is. */
  enteredAt: number | null;
  /** Something was said by which the table hears of this connection. */
  hasSaid: boolean;
  /** That was answered. */
  hasAnswered: boolean;
  token: string | null;
  /** Which session that token is of: its end is not that of a newer one. */
  session: string | null;
}

/** One on which nothing has been said. */
export function lineOn(socket: number, opened: Opening, reader: MessageReader): Line {
  return {
    socket,
    reader,
    opening: opened,
    nextId: opened.token === null ? AUTHENTICATE_ID : FIRST_ID,
    enteredAt: null,
    hasSaid: false,
    hasAnswered: false,
    token: null,
    session: opened.session,
  };
}

/** Where to open a socket, and with which subprotocols. */
export function requestFor(
  url: string,
  forms: readonly string[],
  token: string | null,
  known: Known | null,
): { readonly url: string; readonly protocols: readonly string[] } {
  if (token === null) return { url, protocols: forms };
  const pairs = Object.entries({ type: "join", ...known });
  const query = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
  return { url: `${url}?${query}`, protocols: [...forms, `${TOKEN_PREFIX}${token}`] };
}
