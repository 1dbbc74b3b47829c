"""Simulates an attacker with access to the API. Sends generated requests as each role, from a client without a token
to an administrator with one, and checks after each response and after each role that

- no response is a 5xx, and no connection ends without a response where valid HTTP was sent;
- no response repeatedly exceeds the time limit of its class: a slow request is repeated three times and reported only
  if each repetition is slow, so that a busy machine is not reported;
- no database row has changed that the role may not change (`find_violation` and `APPEND_ONLY`);
- no response contains another party's secrets: tokens, devices, passwords, codes of private tables, the seed of a
  running game, other players' hands in it, or addresses that the role may not see;
- the ledger is consistent (`bahay verify ledger`), and coins were issued by grants only.

Usage: attack.py OPENAPI [--seed N] [--requests N] [--roles NAME,…], started by scripts/hostile.sh with the
environment variables that house.py reads. Exits with 1 if a check failed."""

import argparse
import collections
import json
import random
import re
import sys
import time

import house
from generator import RequestGenerator, generate_base_requests
from wire import Answer, Connection, Request, Socket

ROLES = ["stranger", "guest", "account", "viewer", "support", "finance", "admin"]
OPERATORS = ["viewer", "support", "finance", "admin"]

# The time limits of responses in seconds, for a server built without optimisation.
SECONDS_MAX = {"password": 5.0, "report": 5.0, "plain": 2.0}
# One in a hundred requests of a player is replaced by this many commands over a socket.
COMMANDS = 20

# Rows of these tables are never changed or deleted.
APPEND_ONLY = {
    "operations", "operation_keys", "account_operations", "seals", "game_records", "audit_entries",
    "room_revisions",
}
# Tables that background tasks and running games change at any time.
BACKGROUND = {
    "accounts", "operations", "operation_keys", "account_operations", "seals", "unsealed_operations",
    "ledger_checks", "booked_hours", "operation_hours", "projections", "held_by_kind", "held_pots", "jobs",
    "games", "game_players", "game_records", "game_results", "player_statistics", "player_counters",
    "tournaments", "tournament_lines", "tournament_entrants", "tournament_games",
    "board_scores", "ratings", "settlements", "player_settlements", "settlement_days", "newcomer_coins",
}
# Tables that every client can change without a token: guest sign-in and failed sign-ins.
STRANGER = {
    "players", "name_skeletons", "devices", "sessions", "refresh_tokens", "sign_in_failures", "grant_counts", "rewards",
    "idempotency_keys", "audit_entries",
}
PLAYER = STRANGER | {"player_relations", "player_reports", "passwords", "identities", "notices"}
VIEWER = {"audit_entries", "operator_sessions", "idempotency_keys"}
SUPPORT = VIEWER | {"player_notes", "player_reports", "sanctions", "sessions", "refresh_tokens", "notices"}
FINANCE = VIEWER
ADMIN = SUPPORT | FINANCE | {
    "rooms", "house", "room_revisions", "halted_tables",
}
TABLES = {
    "stranger": STRANGER, "guest": PLAYER, "account": PLAYER, "viewer": VIEWER, "support": SUPPORT,
    "finance": FINANCE, "admin": ADMIN,
}
# The roles that may see the addresses of players.
SEES_ADDRESSES = {"support", "admin"}
SEED = "the seed of a game that runs"
# Internal details that no response may contain.
INSIDES = re.compile(rb"panicked|sqlx|PgDatabaseError|stack backtrace|/src/[a-z_/]+\.rs|postgres://|redis\+unix")


class Role:
    """The sender of requests. A guest or account that deleted itself is replaced by a new one."""

    def __init__(self, name):
        self.name, self.kind = name, "operator" if name in OPERATORS else name
        self.address = f"198.51.100.{ROLES.index(name) + 1}"
        self.players, self.token, self.count = [], None, 0
        self.renew()

    def renew(self):
        self.count += 1
        if self.kind == "operator":
            self.token = house.create_operator(f"{self.name}.{self.count}.{random.getrandbits(32):x}", self.name)
        elif self.name != "stranger":
            password = "a long rain on a tin roof" if self.name == "account" else None
            player = house.Player(password, self.address)
            self.players.append(player)
            self.token = player.token

    def has_valid_token(self):
        """Returns whether the role's token is still valid."""
        path = "/v1/operator/today" if self.kind == "operator" else "/v1/me"
        headers = [("authorization", f"Bearer {self.token}")]
        return house.connection.send(Request("GET", path, headers, None, path, "own token")).status != 401


class Attack:
    def __init__(self, role, made, number, victims):
        self.role, self.victims, self.connection = role, victims, Connection(house.URL)
        self.table = house.Table()
        self.sitters = self.table.players
        others = victims + self.sitters
        self.generator = RequestGenerator(made, number, self.collect_ids(others))
        self.secrets = {}
        for player in others:
            for what in ("device", "token", "refresh", "password"):
                if getattr(player, what):
                    self.secrets[getattr(player, what).encode()] = f"the {what} of another player"
            if role.name not in SEES_ADDRESSES:
                self.secrets[player.address.encode()] = "the address of another player"
        seeds = self.table.read_seeds()
        if not seeds:
            raise SystemExit("the live store contains no seed of the running game")
        self.secrets |= {seed.encode(): SEED for seed in seeds}
        if role.kind != "operator":
            self.secrets[self.table.code.encode()] = "the code of a private table"
        # Five adjacent cards of a hand, which stay adjacent until one of them is played.
        self.hands = [
            json.dumps(hand[at : at + 5], separators=(",", ":"))[1:-1].encode()
            for hand in self.table.hands.values()
            for at in range(len(hand) - 4)
        ]
        self.complaints, self.statuses = [], collections.Counter()
        self.took = collections.defaultdict(list)
        self.reached = set()

    def collect_ids(self, others):
        """Returns ids of the role and of others by their kind."""
        ids = ", ".join(f"'{one.id}'" for one in others)
        wallets = [f"wallet:{one.id}" for one in others]
        own = [one.id for one in self.role.players] or [others[0].id]
        return {
            "player": [one.id for one in others] + own,
            "session": house.query_database(f"select id from sessions where player in ({ids})"),
            "game": house.query_database("select id from games") + [self.table.game],
            "table": [self.table.id],
            "room": ["newbie", "maharlika", "nowhere"],
            "operation": house.query_database("select id from operations order by id desc limit 20"),
            "account": [*wallets, "issue", "suspense", "fee:newbie", f"pot:{self.table.id}"],
            "operator": house.query_database("select name from operators") or ["admin"],
            "correction": house.query_database("select id from corrections limit 20") or ["1"],
            "words": ["bans", "mutes", "google", "day", "ever", "coins", "rating", "a reason that is long enough"],
        }

    def check_canaries(self):
        """Checks the checks: forbidden changes and leaked secrets must be reported, or the run would be
        meaningless."""
        victim = self.victims[0]
        one = {"player": victim.id}
        planted = [
            ("operations", "changed", one, one), ("account_operations", "removed", one, None),
            ("seals", "changed", {}, {}), ("corrections", "changed", {"state": "pending"}, {"state": "approved"}),
            ("operators", "added", None, {"disabled_at": None}), ("operator_enrolments", "added", None, {}),
            ("passwords", "changed", one, one), ("devices", "removed", one, None), ("players", "changed", one, one),
        ]
        for table, what, old, new in planted:
            why = self.find_violation(table, what, old, new, set(), {victim.id}, set())
            if not why:
                raise SystemExit(f"{table}: the checks do not report that a row was {what}")
        for secret in (*self.secrets, *self.hands):
            self.check_secrets("canary", b"..." + secret + b"...")
            if not self.complaints:
                raise SystemExit(f"the checks do not report the leak of {secret!r}")
            self.complaints.clear()

    def run(self, requests):
        before = house.read_rows()
        issued = count_transfers()
        sent = 0
        while sent < requests:
            if self.role.name in ("guest", "account") and self.generator.random.random() < 0.01:
                sent += self.send_commands(min(COMMANDS, requests - sent))
                continue
            sent += 1
            request = self.generator.next(self.role)
            answer = self.send(request)
            # A role that has signed itself out, or has been signed out, signs in again.
            if answer.status == 401 and "own token" in request.change and not self.role.has_valid_token():
                self.role.renew()
        # The table is closed before it deals another game, whose secrets are not known here.
        self.table.close()
        self.check_database(before, issued)

    def send(self, request):
        answer = self.connection.send(request)
        operation = request.operation
        self.statuses[answer.status] += 1
        kind = latency_class(request)
        self.took[kind].append(answer.seconds)
        if 200 <= answer.status < 300:
            self.reached.add(operation)
        self.check_answer(request, answer)
        if answer.seconds > SECONDS_MAX[kind] and request.raw is None:
            again = [self.connection.send(request).seconds for _ in range(3)]
            if min(again) > SECONDS_MAX[kind]:
                self.complain(f"takes {answer.seconds:.1f} s, then {again}", request)
        self.collect_cursors(answer)
        return answer

    def check_answer(self, request, answer):
        if answer.status >= 500:
            self.complain(f"{answer.status} {answer.body[:300]!r}", request)
        if answer.status == 0 and request.raw is None and request.method != "CONNECT":
            self.complain("no answer", request)
        self.check_secrets(request, answer.body)
        if any(b"x-injected" in name.encode() for name in answer.headers):
            self.complain("a response header was injected", request)
        is_desk = " /desk/" in request.operation and not re.search("/(sign-in|enrolment|assets)", request.operation)
        if is_desk and request.raw is None and 200 <= answer.status < 300 and request.method not in ("OPTIONS",):
            self.complain("a page of the desk is shown without a session", request)
        if answer.status >= 400 and request.raw is None and request.target.startswith("/v1/") and answer.body:
            if "application/problem+json" not in answer.headers.get("content-type", ""):
                self.complain(f"status {answer.status} without a problem document: {answer.body[:200]!r}", request)

    def check_secrets(self, request, body):
        said = request.text() if isinstance(request, Request) else request.encode("utf-8", "surrogatepass")
        for secret, what in self.secrets.items():
            if what == SEED and self.table.is_over:
                continue
            if secret in body and secret not in said:
                self.complain(f"the response contains {what}", request)
        asks_hands = self.role.name == "admin" and "hands-look" in str(request)
        if not asks_hands and not self.table.is_over and any(hand in body for hand in self.hands):
            self.complain("the response contains a hand of a running game", request)
        if INSIDES.search(body) and not isinstance(request, str) and "/docs" not in request.target:
            self.complain(f"the response contains internal details: {INSIDES.search(body)[0]!r}", request)

    def collect_cursors(self, answer):
        """Collects cursors for use in other requests."""
        if b'"next' in answer.body[:200_000]:
            for found in re.findall(rb'"next[a-z_]*":"([^"]{8,400})"', answer.body):
                if len(self.generator.cursors) < 200:
                    self.generator.cursors.append(found.decode(errors="replace"))

    def send_commands(self, count):
        """Sends commands over a socket of the role."""
        form = self.generator.random.choice(["bahay.v1", "bahay.v1.brief", "bahay.v1.compact"])
        try:
            socket = Socket(house.URL, self.role.token, form, self.role.address)
        except (ConnectionError, TimeoutError):
            return 0
        self.statuses[socket.status] += 1
        if socket.status != 101:
            socket.close()
            if socket.status >= 500:
                self.complain(f"the socket upgrade returned {socket.status}", f"GET /v1/play {form}")
            self.role.renew()
            return 1
        said = []
        try:
            for _ in range(count):
                text = self.generator.command(self.role)
                said.append(text if isinstance(text, str) else text.decode("latin-1"))
                socket.send(text)
                for opcode, payload in socket.receive(0.02):
                    self.check_secrets(said[-1], payload)
                    if opcode == 8 and payload[:2] == b"\x03\xf3":
                        self.complain("the socket is closed with 1011", " then ".join(said)[-1500:])
        except (ConnectionError, TimeoutError, BrokenPipeError):
            pass
        socket.close()
        return len(said)

    def check_database(self, before, issued):
        """Compares the database with its state before the attack, and verifies the ledger."""
        own = {one.id for one in self.role.players}
        theirs = {one.id for one in self.victims}
        seated = {one.id for one in self.sitters}
        wallets = {}
        for table in (before, house.read_rows()):
            for row in table["accounts"].values():
                if row.get("player") in theirs:
                    wallets.setdefault(row["player"], set()).add((row["balance"], row["version"]))
        for player, kept in wallets.items():
            if len(kept) > 1:
                self.complain(f"the wallet of {player} changed: {kept}", "the database")
        for table, what, old, new in house.diff_rows(before, house.read_rows()):
            why = self.find_violation(table, what, old, new, own, theirs, seated)
            if why:
                self.complain(f"{table}: a row was {what}: {why}: {json.dumps([old, new])[:600]}", "the database")
        for code, number in count_transfers().items():
            if number != issued.get(code, 0) and code in ("adjustment", "reversal"):
                self.complain(f"transfers of {code} were booked", "the database")
        time.sleep(1)
        said = house.verify_ledger()
        if said:
            self.complain(f"the ledger has differences: {said[-800:]}", "bahay verify ledger")

    def find_violation(self, table, what, old, new, own, theirs, seated):
        name = self.role.name
        if table in APPEND_ONLY and what != "added":
            return "the table is append-only"
        if table in BACKGROUND:
            return None
        if table not in TABLES[name] | STRANGER:
            # The players at the table act themselves.
            if table in ("notices", "sessions") and (new or old).get("player") in seated:
                return None
            return f"the role {name} may not change this table"
        text = json.dumps([old, new])
        is_office = self.role.kind == "operator" and table in TABLES[name]
        if is_office or not any(one in text for one in theirs | seated):
            return None
        # A change that concerns another player is permitted if the acting player made it, or if it counts a failure.
        if table in ("player_relations", "player_reports", "notices") and any(one in text for one in own):
            return None
        if table in ("audit_entries", "sign_in_failures", "idempotency_keys") and what == "added":
            return None
        return "the row belongs to another player"

    def complain(self, what, request):
        self.complaints.append(what)
        if request != "canary" and len(self.complaints) <= 40:
            print(f"{self.role.name}: {what}\n    {str(request)[:1800]}", flush=True)


def latency_class(request):
    if "password" in request.operation or "operator/sign-in" in request.operation or "/desk" in request.operation:
        return "password"
    if "/v1/operator" in request.operation or "export" in request.operation or "leaderboards" in request.operation:
        return "report"
    return "plain"


def count_transfers():
    """Returns the number of transfers by code."""
    found = house.query_database("select code || ' ' || count(*) from transfers group by code")
    return {row.split()[0]: int(row.split()[1]) for row in found}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("openapi")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--roles", default=",".join(ROLES))
    options = parser.parse_args()
    began = time.monotonic()
    made = generate_base_requests(options.openapi, options.seed)
    print(f"{len(made)} base requests, generated in {time.monotonic() - began:.0f} s", flush=True)
    victims = [house.Player(), house.Player("seven red lanterns tonight")]
    complaints = 0
    for name in options.roles.split(","):
        began = time.monotonic()
        role = Role(name)
        attack = Attack(role, made, f"{options.seed} {name}", victims)
        attack.check_canaries()
        attack.run(options.requests)
        complaints += len(attack.complaints)
        took = {}
        for kind, all_of in sorted(attack.took.items()):
            all_of.sort()
            took[kind] = f"{all_of[len(all_of) * 99 // 100] * 1000:.0f}/{all_of[-1] * 1000:.0f} ms"
        print(
            f"{name}: {sum(attack.statuses.values())} answers in {time.monotonic() - began:.0f} s,"
            f" {dict(sorted(attack.statuses.items()))}; {len(attack.reached)} operations permitted;"
            f" p99/longest {took}; {len(attack.complaints)} complaints",
            flush=True,
        )
    sys.exit(bool(complaints))


main()
