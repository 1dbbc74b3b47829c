"""The house under attack: its players, their secrets, and the content of its database. The server trusts this
machine's X-Forwarded-For, so each player has an address of its own."""

import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import time
import uuid

from wire import Connection, Request, Socket

URL = os.environ["BAHAY_URL"]
PSQL = os.environ["BAHAY_PSQL"]
REDIS_CLI = os.environ["BAHAY_REDIS_CLI"]
REDIS_SOCKET = os.environ["BAHAY_REDIS_SOCKET"]
BINARY = os.environ["BAHAY_BINARY"]
DATABASE_URL = os.environ["DATABASE_URL"]
ENROL = str(pathlib.Path(__file__).parents[3] / "scripts" / "enrol.py")

connection = Connection(URL)


def call(method, path, body=None, token=None, address=None):
    """Returns the response to a valid request; exits on a status other than 2xx."""
    headers = [("content-type", "application/json")]
    if token:
        headers.append(("authorization", f"Bearer {token}"))
    if address:
        headers.append(("x-forwarded-for", address))
    sent = None if body is None else json.dumps(body).encode()
    answer = connection.send(Request(method, path, headers, sent, path, "valid"))
    if not 200 <= answer.status < 300:
        raise SystemExit(f"{method} {path}: {answer.status} {answer.body[:400]!r}")
    return answer.json() if answer.body else None


class Player:
    """A guest, with a password if one is given. Each has an address of its own, except for attackers, who share one."""

    made = 100

    def __init__(self, password=None, address=None):
        if address is None:
            Player.made += 1
            address = f"203.0.113.{Player.made}"
        self.address = address
        self.device = f"device-{uuid.uuid4().hex}"
        self.password, self.name = password, None
        self.sign_in()
        if password:
            self.name = f"Rosa {uuid.uuid4().hex[:8]}"
            body = {"name": self.name, "password": password}
            call("POST", "/v1/me/password", body, self.token, self.address)

    def sign_in(self):
        body = {"device_id": self.device}
        answer = call("POST", "/v1/sign-in/guest", body, address=self.address)
        self.id = answer["player"]["id"]
        self.token, self.refresh = answer["access_token"], answer["refresh_token"]

    def call(self, method, path, body=None):
        return call(method, path, body, self.token, self.address)


class Table:
    """Three players at a private table with the longest permitted countdowns."""

    def __init__(self):
        self.players = [Player() for _ in range(3)]
        slow = {"countdowns": {"draw_ms": 600000, "play_ms": 600000, "fight_ms": 600000}}
        asked = {"room": "newbie", "bet": 100, "rules": slow}
        # Only a player with an open socket can take a seat.
        self.sockets = [Socket(URL, one.token, address=one.address) for one in self.players]
        for one in self.sockets:
            next(one.receive(10))
        opened = self.players[0].call("POST", "/v1/private-tables", asked)
        self.id, self.code = opened["table"], opened["code"]
        for player in self.players[1:]:
            player.call("POST", f"/v1/private-tables/{self.code}/seat")
        self.hands, self.game, self.ready = {}, None, set()
        self.is_open, self.is_over = True, False
        for one in self.sockets:
            one.send('{"type":"join","id":1}')
        ends = time.monotonic() + 60
        while len(self.hands) < 3:
            if time.monotonic() > ends:
                raise SystemExit("the table has not dealt")
            self.listen(0.05)
        # The listener answers pings, which keeps the connections open.
        self.listener = threading.Thread(target=self.run_listener, daemon=True)
        self.listener.start()

    def run_listener(self):
        while self.is_open:
            self.listen(0.2)

    def listen(self, seconds):
        for seat, one in enumerate(self.sockets):
            try:
                for opcode, text in one.receive(seconds):
                    if opcode == 1:
                        self.handle_message(seat, json.loads(text))
            except (ConnectionError, OSError):
                continue

    def handle_message(self, seat, message):
        whole = json.dumps(message)
        for found in re.finditer(r'"type": "preparing", "game": "([0-9a-f-]{36})"', whole):
            if self.is_over or seat in self.ready:
                continue
            self.game = found[1]
            self.ready.add(seat)
            said = {"type": "ready", "id": 2, "game": found[1]}
            self.sockets[seat].send(json.dumps(said))
        for event in message.get("events", ()):
            dealt = event.get("event", {}) if event["type"] == "game" else {}
            if dealt.get("type") == "dealt":
                self.hands[seat] = dealt["hands"][seat]
            # Once a game is over, its secrets are public.
            self.is_over |= event["type"] == "over"

    def close(self):
        self.is_open = False
        self.listener.join()
        for one in self.sockets:
            one.close()

    def read_seeds(self):
        """Returns the secret seeds of the table's game from the live store."""
        found = set()
        for key in run_redis_command("keys", f"*{self.id}*"):
            for kept in run_redis_command("hvals", key) + run_redis_command("lrange", key, "0", "-1"):
                found |= set(re.findall(r'"(?:server_)?seed"\s*:\s*"([0-9a-f]{64})"', kept))
        return found


def run_redis_command(*words):
    run = subprocess.run([REDIS_CLI, "-s", REDIS_SOCKET, *words], capture_output=True, check=True)
    return run.stdout.decode(errors="replace").splitlines()


def query_database(text):
    run = subprocess.run(
        [PSQL, "-XAtq", "-v", "ON_ERROR_STOP=1", DATABASE_URL, "-c", text],
        capture_output=True,
        check=True,
    )
    return run.stdout.decode().splitlines()


def create_operator(name, role):
    """Creates an operator and returns its token, created in a session."""
    code = run_program(BINARY, "operator", "add", name, "--role", role)
    return run_program(sys.executable, ENROL, URL, code)


def run_program(*command):
    """Returns the output of a program; exits if the program fails."""
    run = subprocess.run(command, capture_output=True)
    if run.returncode:
        raise SystemExit(run.stderr.decode())
    return run.stdout.decode().strip()


def read_rows():
    """Returns all rows of the database by table, keyed by primary key if there is one."""
    found = {}
    for entry in query_database(
        """
        select json_build_object('table', c.relname, 'key', coalesce((
            select json_agg(a.attname order by k.place)
            from pg_index i
            cross join lateral unnest(i.indkey) with ordinality as k (attnum, place)
            join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
            where i.indrelid = c.oid and i.indisprimary
        ), '[]'))
        from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
            and not c.relispartition and c.relname <> '_sqlx_migrations'
        order by c.relname
        """
    ):
        entry = json.loads(entry)
        table, key = entry["table"], entry["key"]
        kept = {}
        for text in query_database(f"select row_to_json(t) from {table} t"):
            row = json.loads(text)
            kept[json.dumps([row[name] for name in key]) if key else text] = row
        found[table] = kept
    return found


def diff_rows(before, after):
    """Yields (table, kind of change, row before, row after)."""
    for table, kept in after.items():
        old = before[table]
        for key, row in kept.items():
            if key not in old:
                yield table, "added", None, row
            elif old[key] != row:
                yield table, "changed", old[key], row
        for key, row in old.items():
            if key not in kept:
                yield table, "removed", row, None


def verify_ledger():
    """Returns the output of `bahay verify ledger` if there are differences, otherwise an empty string."""
    run = subprocess.run([BINARY, "verify", "ledger"], capture_output=True)
    return "" if run.returncode == 0 else (run.stdout + run.stderr).decode()
