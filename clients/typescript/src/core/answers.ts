// Parses the server's answers to HTTP requests.
//
// A captive portal answers in the server's place, mostly with a page of its own and status 200. An answer
// therefore counts only in the form that openapi.yaml promises; any other is treated as no answer, and the
// request is retried.

import type { SignedIn, Tokens } from "../gen/rest.js";
import type { Answer, HttpAnswer, CallProblem } from "./types.js";

/** A valid answer of the server. */
export interface Result {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfterMs: number | null;
}

const JSON_TYPE = /^application\/(problem\+)?json\b/i;

/** Returns the answer if it has the server's form, otherwise null. */
export function parseResult({ status, contentType, body, retryAfterMs }: HttpAnswer): Result | null {
  const isJson = JSON_TYPE.test(contentType ?? "") && typeof body === "object" && body !== null;
  const isExpected = status < 300 ? isJson : isJson && parseCode(body) !== null;
  return status === 204 || isExpected ? { status, body, retryAfterMs } : null;
}

/** Returns the tokens of an answer, or null if they are missing or incomplete. */
export function parseTokens(result: Result | null): Tokens | null {
  if (result?.status !== 200) return null;
  const tokens = result.body as Tokens;
  const { access_token, refresh_token, access_expires_at } = tokens;
  const isWhole = typeof access_token === "string" && typeof refresh_token === "string";
  return isWhole && Date.parse(access_expires_at) > 0 ? tokens : null;
}

/** Returns the content of an answer to a sign-in, or null if it is incomplete. */
export function parseSignedIn(result: Result | null): SignedIn | null {
  const signedIn = parseTokens(result) as SignedIn | null;
  return typeof signedIn?.player?.id === "string" ? signedIn : null;
}

export function toAnswer(result: Result | null): Answer {
  if (result && result.status < 300) return { ok: true, status: result.status, data: result.body };
  return { ok: false, status: result?.status ?? 0, problem: toProblem(result) };
}

export function toProblem(result: Result | null): CallProblem {
  const code = parseCode(result?.body);
  if (!result || code === null) return problemWithCode("unreachable");
  const { detail } = result.body as { detail?: unknown };
  return {
    code,
    detail: typeof detail === "string" ? detail : "",
    retryAfterMs: result.retryAfterMs,
  };
}

export function problemWithCode(code: string): CallProblem {
  return { code, detail: "", retryAfterMs: null };
}

function parseCode(body: unknown): string | null {
  const code = (body as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : null;
}
