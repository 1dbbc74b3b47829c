// The commands that a request for a socket stands for, as a server takes them.

import { TOKEN_PREFIX } from "../src/core/sockets.js";

type Json = Readonly<Record<string, unknown>>;

/** None where all is to be said once the socket is open. */
export function saidIn(url: string, protocols: readonly string[]): readonly Json[] {
  const said: Json[] = [];
  const named = protocols.find((name) => name.startsWith(TOKEN_PREFIX));
  if (named !== undefined) {
    said.push({ type: "authenticate", token: named.slice(TOKEN_PREFIX.length), id: 0 });
  }
  const { from, ...join } = Object.fromEntries(new URL(url).searchParams);
  if (join["type"] !== undefined) {
    const version = from === undefined ? {} : { from: Number(from) };
    said.push({ ...join, ...version, id: 1 });
  }
  return said;
}
