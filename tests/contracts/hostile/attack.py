"""An attacker with the API. Of each role, from a stranger to an administrator with a token, so many
generated requests are sent, and after each role and each answer it is checked that

- nothing is answered with 5xx, nor by the end of a connection where HTTP was spoken;
- no answer takes longer than its class allows, again and again: one that did is asked for three times
  more, and is complained about if each takes too long, so that a machine that is busy is none;
- no row of the database has changed that the role may not change (`may_change` and `APPEND_ONLY`);
- no answer holds what only somebody else may know: tokens, devices, passwords, codes of private tables,
  the seed of a game that runs, hands of others in it, addresses where the role may not see them;
- coins are where the ledger says (`bahay verify ledger`), and none were made but by grants.

Usage: attack.py OPENAPI [--seed N] [--requests N] [--roles NAME,…], started by scripts/hostile.sh, with
what house.py reads from the environment. Ends with 1 when something did not hold."""

import argparse
import collections
import json
import random
import re
import sys
import time

import house
from making import Maker, bases
from wire import Answer, Line, Request, Socket

ROLES = ["stranger", "guest", "account", "viewer", "support", "finance", "admin"]
OPERATORS = ["viewer", "support", "finance", "admin"]

# The longest that an answer may take, in seconds, on a server that was not built to be fast.
SECONDS_MAX = {"password": 5.0, "report": 5.0, "plain": 2.0}
# One of a hundred requests of players is so many commands over a socket.
COMMANDS = 20

# Nobody changes or removes these.
APPEND_ONLY = {
    "operations", "operation_keys", "transfers", "entries", "seals", "game_records", "audit_entries",
    "room_revisions",
}
# What the house does by itself all the time, and by games that run.
BACKGROUND = {
    "accounts", "operations", "operation_keys", "transfers", "entries", "seals", "pending_house_entries", "ledger_checks", "booked_hours",
    "operation_hours", "figures_progress", "standings_progress", "ratings_progress", "held_by_kind", "held_pots",
    "games", "game_players", "game_records", "game_results", "player_statistics", "player_counters",
    "board_scores", "ratings", "settlements", "player_settlements", "settlement_days", "newcomer_coins",
}
# What anybody can do, whatever the token: sign in as a guest, and fail to sign in.
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
# Who may see from where players come.
SEES_ADDRESSES = {"support", "admin"}
SEED = "the seed of a game that runs"
# Words of our own insides, which tell somebody nothing that it needs.
INSIDES = re.compile(rb"panicked|sqlx|PgDatabaseError|stack backtrace|/src/[a-z_/]+\.rs|postgres://|redis\+unix")


class Role:
    """Who asks. A guest or account that ended itself is somebody new."""

    def __init__(self, name):
        self.name, self.kind = name, "operator" if name in OPERATORS else name
        self.address = f"198.51.100.{ROLES.index(name) + 1}"
        self.players, self.token, self.count = [], None, 0
        self.renew()

    def renew(self):
        self.count += 1
        if self.kind == "operator":
            self.token = house.operator(f"{self.name}.{self.count}.{random.getrandbits(32):x}", self.name)
        elif self.name != "stranger":
            password = "a long rain on a tin roof" if self.name == "account" else None
            player = house.Player(password, self.address)
            self.players.append(player)
            self.token = player.token

    def is_known(self):
        """Whether its token is still good."""
        path = "/v1/operator/today" if self.kind == "operator" else "/v1/me"
        headers = [("authorization", f"Bearer {self.token}")]
        return house.line.ask(Request("GET", path, headers, None, path, "own token")).status != 401


class Attack:
    def __init__(self, role, made, number, victims):
        self.role, self.victims, self.line = role, victims, Line(house.URL)
        self.table = house.Table()
        self.sitters = self.table.players
        others = victims + self.sitters
        self.maker = Maker(made, number, self.known(others))
        self.secrets = {}
        for player in others:
            for what in ("device", "token", "refresh", "password"):
                if getattr(player, what):
                    self.secrets[getattr(player, what).encode()] = f"the {what} of another"
            if role.name not in SEES_ADDRESSES:
                self.secrets[player.address.encode()] = "the address of another"
        seeds = self.table.seeds()
        if not seeds:
            raise SystemExit("live state shows no seed of the game that runs")
        self.secrets |= {seed.encode(): SEED for seed in seeds}
        if role.kind != "operator":
            self.secrets[self.table.code.encode()] = "the code of a private table"
        # Five cards that lie side by side in a hand, and do so for as long as none of them is played.
        self.hands = [
            json.dumps(hand[at : at + 5], separators=(",", ":"))[1:-1].encode()
            for hand in self.table.hands.values()
            for at in range(len(hand) - 4)
        ]
        self.complaints, self.statuses = [], collections.Counter()
        self.took = collections.defaultdict(list)
        self.reached = set()

    def known(self, others):
        """Ids by their kind, of others and of whoever asks."""
        ids = ", ".join(f"'{one.id}'" for one in others)
        wallets = [f"wallet:{one.id}" for one in others]
        own = [one.id for one in self.role.players] or [others[0].id]
        return {
            "player": [one.id for one in others] + own,
            "session": house.sql(f"select id from sessions where player in ({ids})"),
            "game": house.sql("select id from games") + [self.table.game],
            "table": [self.table.id],
            "room": ["newbie", "maharlika", "nowhere"],
            "operation": house.sql("select id from operations order by id desc limit 20"),
            "account": [*wallets, "issue", "suspense", "fee:newbie", f"pot:{self.table.id}"],
            "operator": house.sql("select name from operators") or ["admin"],
            "correction": house.sql("select id from corrections limit 20") or ["1"],
            "words": ["bans", "mutes", "google", "day", "ever", "coins", "rating", "a reason that is long enough"],
        }

    def hold_canaries(self):
        """What no role may do is complained about, and what is secret is found: else all that follows says
        nothing."""
        victim = self.victims[0]
        one = {"player": victim.id}
        planted = [
            ("transfers", "changed", one, one), ("entries", "removed", one, None), ("seals", "changed", {}, {}),
            ("corrections", "changed", {"state": "pending"}, {"state": "approved"}),
            ("operators", "added", None, {"disabled_at": None}), ("operator_enrolments", "added", None, {}),
            ("passwords", "changed", one, one), ("devices", "removed", one, None), ("players", "changed", one, one),
        ]
        for table, what, old, new in planted:
            why = self.not_allowed(table, what, old, new, set(), {victim.id}, set())
            if not why:
                raise SystemExit(f"{table}: nobody minds that a row was {what}")
        for secret in (*self.secrets, *self.hands):
            self.search("what is told", b"..." + secret + b"...")
            if not self.complaints:
                raise SystemExit(f"nobody minds that {secret!r} is told")
            self.complaints.clear()

    def run(self, requests):
        before = house.rows()
        issued = coins()
        sent = 0
        while sent < requests:
            if self.role.name in ("guest", "account") and self.maker.random.random() < 0.01:
                sent += self.say(min(COMMANDS, requests - sent))
                continue
            sent += 1
            request = self.maker.next(self.role)
            answer = self.send(request)
            # Who has signed itself out, or was, comes back.
            if answer.status == 401 and "own token" in request.change and not self.role.is_known():
                self.role.renew()
        # Before the table's next game is dealt there is nothing to be told of it.
        self.table.close()
        self.look(before, issued)

    def send(self, request):
        answer = self.line.ask(request)
        operation = request.operation
        self.statuses[answer.status] += 1
        kind = sort_of(request)
        self.took[kind].append(answer.seconds)
        if 200 <= answer.status < 300:
            self.reached.add(operation)
        self.judge(request, answer)
        if answer.seconds > SECONDS_MAX[kind] and request.raw is None:
            again = [self.line.ask(request).seconds for _ in range(3)]
            if min(again) > SECONDS_MAX[kind]:
                self.complain(f"takes {answer.seconds:.1f} s, then {again}", request)
        self.learn(answer)
        return answer

    def judge(self, request, answer):
        if answer.status >= 500:
            self.complain(f"{answer.status} {answer.body[:300]!r}", request)
        if answer.status == 0 and request.raw is None and request.method != "CONNECT":
            self.complain("no answer", request)
        self.search(request, answer.body)
        if any(b"x-injected" in name.encode() for name in answer.headers):
            self.complain("a header was put in", request)
        is_desk = " /desk/" in request.operation and not re.search("/(sign-in|enrolment|assets)", request.operation)
        if is_desk and request.raw is None and 200 <= answer.status < 300 and request.method not in ("OPTIONS",):
            self.complain("a page of the desk is shown to whoever has no session", request)
        if answer.status >= 400 and request.raw is None and request.target.startswith("/v1/") and answer.body:
            if "application/problem+json" not in answer.headers.get("content-type", ""):
                self.complain(f"{answer.status} is no problem document: {answer.body[:200]!r}", request)

    def search(self, request, body):
        said = request.text() if isinstance(request, Request) else request.encode("utf-8", "surrogatepass")
        for secret, what in self.secrets.items():
            if what == SEED and self.table.is_over:
                continue
            if secret in body and secret not in said:
                self.complain(f"tells {what}", request)
        asks_hands = self.role.name == "admin" and "hands-look" in str(request)
        if not asks_hands and not self.table.is_over and any(hand in body for hand in self.hands):
            self.complain("tells a hand of a game that runs", request)
        if INSIDES.search(body) and not isinstance(request, str) and "/docs" not in request.target:
            self.complain(f"tells of its insides: {INSIDES.search(body)[0]!r}", request)

    def learn(self, answer):
        """Cursors are used again elsewhere."""
        if b'"next' in answer.body[:200_000]:
            for found in re.findall(rb'"next[a-z_]*":"([^"]{8,400})"', answer.body):
                if len(self.maker.heard) < 200:
                    self.maker.heard.append(found.decode(errors="replace"))

    def say(self, count):
        """Commands over a socket of the role's own."""
        form = self.maker.random.choice(["bahay.v1", "bahay.v1.brief", "bahay.v1.compact"])
        try:
            socket = Socket(house.URL, self.role.token, form, self.role.address)
        except (ConnectionError, TimeoutError):
            return 0
        self.statuses[socket.status] += 1
        if socket.status != 101:
            socket.close()
            if socket.status >= 500:
                self.complain(f"a socket is answered with {socket.status}", f"GET /v1/play {form}")
            self.role.renew()
            return 1
        said = []
        try:
            for _ in range(count):
                text = self.maker.command(self.role)
                said.append(text if isinstance(text, str) else text.decode("latin-1"))
                socket.send(text)
                for opcode, heard in socket.heard(0.02):
                    self.search(said[-1], heard)
                    if opcode == 8 and heard[:2] == b"\x03\xf3":
                        self.complain("the socket is closed with 1011", " then ".join(said)[-1500:])
        except (ConnectionError, TimeoutError, BrokenPipeError):
            pass
        socket.close()
        return len(said)

    def look(self, before, issued):
        """What has become of the database."""
        own = {one.id for one in self.role.players}
        theirs = {one.id for one in self.victims}
        seated = {one.id for one in self.sitters}
        wallets = {}
        for table in (before, house.rows()):
            for row in table["accounts"].values():
                if row.get("player") in theirs:
                    wallets.setdefault(row["player"], set()).add((row["balance"], row["version"]))
        for player, kept in wallets.items():
            if len(kept) > 1:
                self.complain(f"the wallet of {player} went through {kept}", "the database")
        for table, what, old, new in house.changes(before, house.rows()):
            why = self.not_allowed(table, what, old, new, own, theirs, seated)
            if why:
                self.complain(f"{table}: a row was {what}: {why}: {json.dumps([old, new])[:600]}", "the database")
        for code, number in coins().items():
            if number != issued.get(code, 0) and code in ("adjustment", "reversal"):
                self.complain(f"transfers of {code} were booked", "the database")
        time.sleep(1)
        said = house.ledger()
        if said:
            self.complain(f"the ledger has differences: {said[-800:]}", "bahay verify ledger")

    def not_allowed(self, table, what, old, new, own, theirs, seated):
        name = self.role.name
        if table in APPEND_ONLY and what != "added":
            return "what was booked stays"
        if table in BACKGROUND:
            return None
        if table not in TABLES[name] | STRANGER:
            # Those who sit at the table do things themselves.
            if table in ("notices", "sessions") and (new or old).get("player") in seated:
                return None
            return f"the role {name} has nothing to do with it"
        text = json.dumps([old, new])
        is_office = self.role.kind == "operator" and table in TABLES[name]
        if is_office or not any(one in text for one in theirs | seated):
            return None
        # What concerns somebody else is told by whoever does it, or is counted against a name.
        if table in ("player_relations", "player_reports", "notices") and any(one in text for one in own):
            return None
        if table in ("audit_entries", "sign_in_failures", "idempotency_keys") and what == "added":
            return None
        return "it is another's"

    def complain(self, what, request):
        self.complaints.append(what)
        if request != "what is told" and len(self.complaints) <= 40:
            print(f"{self.role.name}: {what}\n    {str(request)[:1800]}", flush=True)


def sort_of(request):
    if "password" in request.operation or "operator/sign-in" in request.operation or "/desk" in request.operation:
        return "password"
    if "/v1/operator" in request.operation or "export" in request.operation or "leaderboards" in request.operation:
        return "report"
    return "plain"


def coins():
    """How many transfers of each code there are."""
    found = house.sql("select code || ' ' || count(*) from transfers group by code")
    return {row.split()[0]: int(row.split()[1]) for row in found}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("openapi")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--roles", default=",".join(ROLES))
    options = parser.parse_args()
    began = time.monotonic()
    made = bases(options.openapi, options.seed)
    print(f"{len(made)} requests to begin with, in {time.monotonic() - began:.0f} s", flush=True)
    victims = [house.Player(), house.Player("seven red lanterns tonight")]
    complaints = 0
    for name in options.roles.split(","):
        began = time.monotonic()
        role = Role(name)
        attack = Attack(role, made, f"{options.seed} {name}", victims)
        attack.hold_canaries()
        attack.run(options.requests)
        complaints += len(attack.complaints)
        took = {}
        for kind, all_of in sorted(attack.took.items()):
            all_of.sort()
            took[kind] = f"{all_of[len(all_of) * 99 // 100] * 1000:.0f}/{all_of[-1] * 1000:.0f} ms"
        print(
            f"{name}: {sum(attack.statuses.values())} answers in {time.monotonic() - began:.0f} s,"
            f" {dict(sorted(attack.statuses.items()))}; {len(attack.reached)} operations let it in;"
            f" p99/longest {took}; {len(attack.complaints)} complaints",
            flush=True,
        )
    sys.exit(bool(complaints))


main()
