// Runs ten thousand interruptions on each kind of network, and reports the recovery times.

import assert from "node:assert/strict";
import { test } from "node:test";

import type { OpeningCost } from "./link.js";
import { type Report, run } from "./suspensions.js";

/** The number of interruptions on each network; BAHAY_INTERRUPTIONS overrides it. */
const INTERRUPTIONS = Number(process.env["BAHAY_INTERRUPTIONS"] ?? 10_000);
const INTERRUPTIONS_PER_PHONE = 50;

interface Sum {
  interruptions: number;
  wishes: number;
  done: number;
  overtaken: number;
  late: number;
  connections: number;
  recoveryMs: number[];
}

function runMany(opening: OpeningCost, first: number): Sum {
  const sum: Sum = {
    interruptions: 0, wishes: 0, done: 0, overtaken: 0, late: 0, connections: 0, recoveryMs: [],
  };
  for (let seed = first; sum.interruptions < INTERRUPTIONS; seed += 1) {
    let report: Report;
    try {
      report = run(seed, INTERRUPTIONS_PER_PHONE, { loss: 50, roundTripMs: 300, opening });
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).stack ?? ""}`);
    }
    sum.interruptions += report.interruptions;
    sum.wishes += report.wishes;
    sum.done += report.done;
    sum.overtaken += report.overtaken;
    sum.late += report.late;
    sum.connections += report.connections;
    sum.recoveryMs.push(...report.recoveryMs);
  }
  sum.recoveryMs.sort((one, other) => one - other);
  return sum;
}

function percentile(list: readonly number[], part: number): number {
  return Math.round(list[Math.floor(part * (list.length - 1))] ?? 0);
}

function formatReport({ recoveryMs, ...sum }: Sum): string {
  const at = [0.5, 0.9, 0.95, 0.99].map((part) => `p${100 * part} ${percentile(recoveryMs, part)} ms`);
  return `${JSON.stringify(sum)}; current again: ${at.join(", ")}`;
}

/**
 * The networks, each with the cost of opening a socket and, if one is enforced, the bound of the 95th
 * percentile in ms.
 */
const NETWORKS: readonly [OpeningCost, string, number | null][] = [
  ["nothing", "an established transport", 1_000],
  ["tcp", "TCP", 1_000],
  ["tcp_and_resumed_tls", "TCP and a resumed TLS session", null],
  ["tcp_and_full_tls", "TCP and a full TLS handshake", null],
];

for (const [place, [opening, name, boundMs]] of NETWORKS.entries()) {
  test(`5 % loss, 300 ms round trip, ${name}`, (context) => {
    const sum = runMany(opening, 1 + 100_000 * place);
    context.diagnostic(formatReport(sum));
    if (boundMs !== null) assert.ok(percentile(sum.recoveryMs, 0.95) <= boundMs, formatReport(sum));
  });
}
