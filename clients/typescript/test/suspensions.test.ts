// Ten thousand interruptions, with the figures of each kind of network.

import assert from "node:assert/strict";
import { test } from "node:test";

import { type Report, run } from "./suspensions.js";

/** Together, over both tests; more with BAHAY_INTERRUPTIONS. */
const INTERRUPTIONS = Number(process.env["BAHAY_INTERRUPTIONS"] ?? 10_000);
const EACH = 50;

interface Sum {
  interruptions: number;
  wishes: number;
  done: number;
  overtaken: number;
  late: number;
  connections: number;
  backMs: number[];
}

function many(openingRoundTrips: number, first: number): Sum {
  const sum: Sum = {
    interruptions: 0, wishes: 0, done: 0, overtaken: 0, late: 0, connections: 0, backMs: [],
  };
  for (let seed = first; sum.interruptions < INTERRUPTIONS / 2; seed += 1) {
    let report: Report;
    try {
      report = run(seed, EACH, { loss: 50, roundTripMs: 300, openingRoundTrips });
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).stack ?? ""}`);
    }
    sum.interruptions += report.interruptions;
    sum.wishes += report.wishes;
    sum.done += report.done;
    sum.overtaken += report.overtaken;
    sum.late += report.late;
    sum.connections += report.connections;
    sum.backMs.push(...report.backMs);
  }
  sum.backMs.sort((one, other) => one - other);
  return sum;
}

function share(list: readonly number[], part: number): number {
  return Math.round(list[Math.floor(part * (list.length - 1))] ?? 0);
}

function told({ backMs, ...sum }: Sum): string {
  const at = [0.5, 0.9, 0.95, 0.99].map((part) => `p${100 * part} ${share(backMs, part)} ms`);
  return `${JSON.stringify(sum)}; current again: ${at.join(", ")}`;
}

test("5 % loss, 300 ms round trip, sockets that open in one of them", (context) => {
  const sum = many(1, 1);
  context.diagnostic(told(sum));
  assert.ok(share(sum.backMs, 0.95) <= 1_000, told(sum));
});

test("5 % loss, 300 ms round trip, sockets that open in two of them", (context) => {
  const sum = many(2, 100_001);
  context.diagnostic(told(sum));
});
