#!/usr/bin/env python3
"""Compares the performance of two commits or builds on this machine: `./dev bench compare A B`.

Each commit is checked out and built for release in target/compare/COMMIT, and measured by its own `./dev`, so that
names of settings may differ between the two. A folder with the programs `bahay` and `bahay-lab`, such as an unpacked
release, is measured by the `./dev` of this checkout, without the ledger. A and B take turns (A B, B A, A B …), because
on a shared machine only figures of the same minutes are comparable. The floor of the machine (`./dev bench floor` of
this checkout) is measured before and after.

Parts: `moves` (500 ms to think, for each number of tables; the server has one processor), `saturation` (2,000 tables,
100 ms to think, all processors for both programs) and `ledger` (settlements, one at a time and 256 at a time).

The report has one line for each figure: the medians of A and B, the ratio B ÷ A as the geometric mean of the ratios
of all rounds, and its 95 % interval by Student's t. A ratio below 1 means that B needs less, except for moves and
settlements per second. With one round there is no interval.
"""

import argparse
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

# Quantiles of Student's t for 95 %, by degrees of freedom. Beyond them the last one is used, which is too wide.
T_95 = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14]
PARTS = ("moves", "saturation", "ledger")
# With 100 ms to think a table makes at most 6.7 moves a second, since some games wait for a fight's countdown: see
# docs/PERFORMANCE.md. This number demands more than two processors can do.
SATURATING_TABLES = 2_000


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="./dev bench compare",
        description="Measure two commits or builds in turns, and print the ratio of each figure.",
    )
    parser.add_argument(
        "compared", nargs=2, metavar="A B", help="what is compared: each a commit or a folder with bahay and bahay-lab"
    )
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each commit (3)")
    parser.add_argument("--tables", default="100,1000,3000", help="numbers of tables (100,1000,3000)")
    parser.add_argument("--seconds", type=int, default=20, help="length of a load test in seconds (20)")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"of {', '.join(PARTS)} (all)")
    parser.add_argument("--no-floor", action="store_true", help="do not measure the floor")
    arguments = parser.parse_args()
    arguments.tables = [int(number) for number in arguments.tables.split(",")]
    arguments.parts = arguments.parts.split(",")
    unknown = set(arguments.parts) - set(PARTS)
    if arguments.rounds < 1:
        parser.error("--rounds takes a number from 1")
    if unknown:
        parser.error(f"there is no part {', '.join(sorted(unknown))}: {', '.join(PARTS)}")
    return arguments


class Checkout:
    """A commit in a folder of its own, with its own build."""

    def __init__(self, root, commit):
        self.name = run(["git", "rev-parse", "--short=8", f"{commit}^{{commit}}"], root).strip()
        self.folder = root / "target" / "compare" / self.name
        self.settings = {}
        if not self.folder.exists():
            partial = self.folder.with_suffix(".partial")
            shutil.rmtree(partial, ignore_errors=True)
            partial.parent.mkdir(parents=True, exist_ok=True)
            run(["git", "clone", "--quiet", "--shared", "--no-checkout", str(root), str(partial)], root)
            run(["git", "checkout", "--quiet", self.name], partial)
            partial.rename(self.folder)

    def dev(self, *arguments, **settings):
        """Runs this commit's `./dev` and returns what it prints."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("BAHAY_", "CARGO_TARGET"))}
        return run(["./dev", *arguments], self.folder, {**kept, **self.settings, **settings})

    def load(self, tables, seconds, *arguments, **settings):
        """Runs a load test and returns its report."""
        path = self.folder / "target" / "report.json"
        path.unlink(missing_ok=True)
        self.dev(
            "loadtest", "fixed", "--tables", str(tables), "--seconds", str(seconds), "--json", str(path), *arguments,
            **settings,
        )
        return json.loads(path.read_text())


class Programs(Checkout):
    """Programs in a folder, which were built before."""

    def __init__(self, root, programs):
        self.name = programs.name
        self.folder = root
        self.settings = {"BAHAY_BUILT": str(programs / "bahay")}


def find_compared(root, word):
    """Returns the build that `word` names: a folder with programs, or a commit."""
    programs = pathlib.Path(os.environ.get("CALLED_FROM", "."), word).resolve()
    return Programs(root, programs) if (programs / "bahay").exists() else Checkout(root, word)


def run(command, folder, environment=None):
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"compare: {' '.join(command)} failed in {folder}:\n{done.stdout}{done.stderr}")
    return done.stdout


def read_load(report):
    """Returns the figures of a load test by name."""
    (step,) = report["steps"]
    counted = step["counted"]
    moves = max(counted["counts"]["moves"], 1)
    if counted["faults"] or report["faults"]:
        sys.exit(f"compare: the load test found faults: {counted['faults']} {report['faults']}")
    latency = counted["latencies"]["action_to_event"]
    return {
        "server CPU µs a move": step["server_cpu_us"] / moves,
        "tester CPU µs a move": step["tester_cpu_us"] / moves,
        "moves a second": moves * 1_000 / step["long_ms"],
        "p50 ms": latency["p50_us"] / 1_000,
        "p99 ms": latency["p99_us"] / 1_000,
        "messages a move": counted["counts"]["messages_in"] / moves,
        "bytes a move": counted["counts"]["bytes_in"] / moves,
        "memory KiB a table": (step["server_rss_bytes"] - report["empty_rss_bytes"]) / step["tables"] / 1_024,
    }


def read_ledger(text):
    """Returns the figures of `./dev bench ledger --alone` by name."""
    figures = {}
    for line in text.splitlines():
        if line.startswith("settle, "):
            name, (_, per_second, server_us) = line[:58].strip(), line[58:].split()
            figures[f"{name}: a second"] = float(per_second)
            figures[f"{name}: PostgreSQL CPU µs"] = float(server_us)
    return figures


def measure(checkout, arguments):
    """Measures every requested part once, and returns the figures by part and name."""
    figures = {}
    if "moves" in arguments.parts:
        for tables in arguments.tables:
            for name, value in read_load(checkout.load(tables, arguments.seconds)).items():
                figures[f"{tables} tables: {name}"] = value
    if "saturation" in arguments.parts:
        everywhere = {"BAHAY_SERVER_CPU": "none", "BAHAY_TESTER_CPU": "none"}
        report = checkout.load(SATURATING_TABLES, arguments.seconds, "--think-ms", "100", **everywhere)
        for name in ("moves a second", "p99 ms"):
            figures[f"saturation: {name}"] = read_load(report)[name]
    if "ledger" in arguments.parts:
        figures.update(read_ledger(checkout.dev("bench", "ledger", "--alone")))
    return figures


def ratio(pairs):
    """Returns the geometric mean of B ÷ A, and half the width of its 95 % interval as a factor."""
    logs = [math.log(after / before) for before, after in pairs if before > 0 and after > 0]
    if not logs:
        return None, None
    mean = statistics.fmean(logs)
    if len(logs) < 2:
        return math.exp(mean), None
    error = statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(mean), math.exp(T_95[min(len(logs) - 1, len(T_95)) - 1] * error)


def print_report(before, after, measured):
    print(f"{'':<44}{before.name[-11:]:>12}{after.name[-11:]:>12}{'ratio':>8}  95 %")
    # A figure that only one of the commits has is not compared.
    for name in [name for name in measured[0][0] if name in measured[0][1]]:
        pairs = [(first[name], second[name]) for first, second in measured]
        medians = [statistics.median(values) for values in zip(*pairs)]
        mean, factor = ratio(pairs)
        ratio_text = "–" if mean is None else f"{mean:.3f}"
        interval = "" if factor is None else f"{mean / factor:.3f}–{mean * factor:.3f}"
        print(f"{name:<44}{medians[0]:>12.1f}{medians[1]:>12.1f}{ratio_text:>8}  {interval}")


def main():
    arguments = parse_arguments()
    root = pathlib.Path(__file__).resolve().parent.parent
    before, after = (find_compared(root, word) for word in arguments.compared)
    for checkout in (before, after):
        if "ledger" in arguments.parts and isinstance(checkout, Programs):
            sys.exit(f"compare: {checkout.name} is a folder, which has no benchmark of the ledger: use --parts")
        print(f"compare: building {checkout.name}", file=sys.stderr)
        # A short run of each builds what is measured later.
        checkout.load(1, 1)
        if "ledger" in arguments.parts:
            checkout.dev("bench", "ledger", "--alone", "--seconds", "1")
    if not arguments.no_floor:
        print(run(["./dev", "bench", "floor"], root))
    measured = []
    for turn in range(arguments.rounds):
        figures = {}
        for checkout in (before, after) if turn % 2 == 0 else (after, before):
            print(f"compare: round {turn + 1} of {arguments.rounds}, {checkout.name}", file=sys.stderr)
            figures[checkout] = measure(checkout, arguments)
        measured.append((figures[before], figures[after]))
    if not arguments.no_floor:
        print(run(["./dev", "bench", "floor"], root))
    print_report(before, after, measured)


if __name__ == "__main__":
    main()
