// The commands within a request for a socket, as a server reads them.

import { TOKEN_PREFIX } from "../src/core/sockets.js";

type Json = Readonly<Record<string, unknown>>;

/** Returns the commands; none if all of them follow once the socket is open. */
export function commandsInRequest(url: string, protocols: readonly string[]): readonly Json[] {
  const commands: Json[] = [];
  const tokenProtocol = protocols.find((name) => name.startsWith(TOKEN_PREFIX));
  if (tokenProtocol !== undefined) {
    commands.push({ type: "authenticate", token: tokenProtocol.slice(TOKEN_PREFIX.length), id: 0 });
  }
  const { from, ...join } = Object.fromEntries(new URL(url).searchParams);
  if (join["type"] !== undefined) {
    const version = from === undefined ? {} : { from: Number(from) };
    commands.push({ ...join, ...version, id: 1 });
  }
  return commands;
}
