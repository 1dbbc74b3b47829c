"""Plays a tape against the core (clients/tapes/README.md): provides the clock, the network and the server's side of
the connection, and compares the client's commands and state with those of the tape."""

import hashlib
import json
from collections import deque
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from urllib.parse import parse_qsl, urlsplit

from bahay_client.gen.bahay_client import (
    ClientEffect,
    ClientInput,
    ClientNotification,
    ClientOptions,
    ClientTime,
    CommandOutcome,
    PlayerClient,
    PlayerWish,
    SeedChoice,
)
from compact import encode_message

#: The client's clocks minus the server's; the client has to determine it.
AHEAD_MS = 5_000_000
TOKEN_MS = 15 * 60_000
PING_IDS = 1_000_000
#: The time for which a used refresh token returns the same successor.
REUSE_MS = 60_000
#: The bound of timer runs before the next line, far more than any client needs.
RUNS_MAX = 100_000
#: The permitted error of the client's server time once it is current.
CLOCK_MS = 1_000
#: The prefix of the subprotocol that carries the access token.
TOKEN_PREFIX = "bahay.token."
ABNORMAL = 1006
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Deviation(Exception):
    """The client deviates from its tape."""


@dataclass
class Refresh:
    """An issued refresh token."""

    access: str
    given_at: int
    used_at: int | None = None
    successor: dict | None = None


@dataclass
class Summary:
    """A summary of a played tape."""

    connections: int = 0
    shows: int = 0


def play_tape(text):
    """Plays a tape. Raises `Deviation` with the number of the line."""
    header, *lines = map(json.loads, text.splitlines())
    player = TapePlayer(header)
    for number, line in enumerate(lines, 2):
        try:
            player.play_line(line)
        except Deviation as deviation:
            raise Deviation(f"line {number}: {deviation}\n{json.dumps(line)}") from None
    player.check_nothing_pending()
    return player.summary


class TapePlayer:
    def __init__(self, header):
        require(header["tape"] == 2, f"a tape of version {header['tape']}")
        self.form = header["form"]
        self.now = 0
        # The time of the present line.
        self.at = 0
        self.ahead = AHEAD_MS
        self.wall_ahead = 0
        options = ClientOptions(
            base="http://tape",
            random_seed=bytes([1]) * 32,
            name=None,
            stored=[],
            forms=[],
            stores_table=False,
            follows_wallet=False,
        )
        self.core = PlayerClient(options, self.time())
        self.timeout = None
        self.inputs = deque()
        self.is_asleep = False
        self.stops = False
        self.net = "up"
        # True if the connection was lost while the machine slept, without notice.
        self.is_stale = False
        # The sockets that wait to be opened, oldest first.
        self.waiting = []
        # The commands within each socket's request, which count as sent when the socket opens.
        self.requests = {}
        self.socket = None
        self.before = None
        self.sent = deque()
        self.ended = deque()
        self.wishes = 0
        self.tokens = 0
        self.valid_tokens = set()
        self.refreshes = {}
        self.drops_refresh_answer = False
        self.id = ""
        self.summary = Summary()

    def time(self):
        now = self.now + self.ahead
        return ClientTime(now_ms=now, wall_ms=now + self.wall_ahead)

    def play_line(self, line):
        if "at" not in line:
            self.check_expectation(line)
            return
        self.check_nothing_pending()
        self.at = line["at"]
        self.advance_to(self.at)
        self.apply_event(line)

    def check_nothing_pending(self):
        """Checks that the tape has named every command and every outcome."""
        require(not self.sent, f"also sent: {list(self.sent)}")
        require(not self.ended, f"also ended: {list(self.ended)}")

    def apply_event(self, line):
        if "do" in line:
            self.perform_wish(line["do"], line)
        elif "enter" in line:
            self.expect_connection(line["enter"]["within"])
        elif "heard" in line or "bytes" in line:
            self.deliver(line)
        elif "close" in line:
            self.close(line["close"])
        elif "net" in line:
            self.net = line["net"]
            self.is_stale |= self.net == "dead"
        elif "noticed" in line:
            require(self.link() != "live", "the client has not noticed that the connection is dead")
        elif "clock" in line:
            self.wall_ahead += line["clock"]
        elif line.get("refresh") == "unanswered":
            self.drops_refresh_answer = True
        elif "refresh" in line:
            self.refresh(list(self.refreshes)[-1])
        elif "sleep" in line:
            self.is_asleep = self.is_stale = True
            self.stops = line.get("stops", False)
        elif "expire" in line:
            self.valid_tokens.clear()
        elif "link" in line:
            assert_same("link", self.link(), line["link"])
        else:
            raise Deviation("an unknown line")

    def link(self):
        return self.core.screen(self.time().now_ms).link

    def check_expectation(self, line):
        table = self.core.table()
        if "send" in line:
            assert_same("command", self.sent.popleft() if self.sent else None, line["send"])
        elif "show" in line:
            require(table is not None, "no table is shown")
            prompt = None if table.prompt is None else json.loads(table.prompt)
            shown = {"view": json.loads(table.view), "prompt": prompt}
            self.summary.shows += 1
            require(digest(shown) == line["show"]["digest"], f"shown: {canonical(shown)}")
            found = {"version": table.version, "tag": table.tag, "digest": digest(shown)}
            assert_same("shown", found, line["show"])
        elif "current" in line:
            require(table is not None and table.is_current, "the table is not current")
            self.check_clock()
        elif "unseated" in line:
            require(table is None, "the table is still shown")
        elif "end" in line:
            assert_same("ended", self.ended.popleft() if self.ended else None, line["end"])
        else:
            raise Deviation("an unknown line")

    def perform_wish(self, wish, line):
        kind = wish["type"]
        if kind == "start":
            self.id = line["player"]
            self.push_input(ClientInput.START())
        elif kind == "wake":
            self.push_input(ClientInput.WAKE())
        else:
            self.wishes += 1
            self.push_input(ClientInput.COMMAND(command=self.wishes, wish=to_wish(wish)))

    def check_clock(self):
        """Checks the client's server time, unless the line was processed late."""
        if self.now - self.at < CLOCK_MS:
            off = self.core.server_time_ms(self.now + self.ahead) - self.now
            require(abs(off) <= CLOCK_MS, f"the client's server time is off by {off} ms")

    def expect_connection(self, within):
        end = self.now + within
        while True:
            if not self.waiting:
                self.advance_to_next_timer(end)
                continue
            socket = self.waiting.pop()
            self.open(socket)
            while not self.sent and self.socket == socket:
                self.advance_to_next_timer(end)
            # The socket was opened into a dead network, and abandoned before a token arrived.
            if not self.sent:
                continue
            entry = dict(self.sent.popleft())
            token = entry.pop("token", None)
            assert_same("first command", entry, {"type": "authenticate", "id": 0})
            if token in self.valid_tokens:
                return
            self.sent.clear()
            detail = "the access token has expired; use the refresh token"
            refusal = {"type": "refusal", "id": 0, "code": "token_expired", "detail": detail}
            self.receive(socket, encode_message({**refusal, "retryable": False}, self.form))
            if self.socket == socket:
                self.close(4401)

    def open(self, socket):
        self.summary.connections += 1
        self.before = self.before if self.socket is None else self.socket
        self.socket = socket
        self.is_stale = False
        self.sent.extend(self.requests.pop(socket, []))
        self.push_input(ClientInput.OPENED(socket=socket, protocol=self.form))

    def deliver(self, line):
        data = line["heard"] if "heard" in line else bytes.fromhex(line["bytes"])
        if line.get("on") == "before":
            shown = (self.core.table(), self.core.screen(self.now + self.ahead))
            if self.before is not None:
                self.receive(self.before, data)
            now = (self.core.table(), self.core.screen(self.now + self.ahead))
            require(now == shown, "a message of an old connection changed the state")
            return
        require(self.socket is not None, "there is no connection")
        self.receive(self.socket, data)

    def receive(self, socket, data):
        if isinstance(data, str):
            self.push_input(ClientInput.RECEIVED_TEXT(socket=socket, text=data))
        else:
            self.push_input(ClientInput.RECEIVED_BINARY(socket=socket, bytes=data))

    def close(self, code):
        require(self.socket is not None, "there is no connection")
        self.before, self.socket = self.socket, None
        self.push_input(ClientInput.CLOSED(socket=self.before, code=code))

    def advance_to(self, at):
        """Advances time with the client's timers, unless the client sleeps."""
        if self.is_asleep:
            slept = max(0, at - self.now)
            self.now += slept
            if self.stops:
                self.ahead -= slept
                self.wall_ahead += slept
        self.is_asleep = False
        for _ in range(RUNS_MAX):
            timer = self.next_timer()
            if timer is None or timer > at:
                self.now = max(self.now, at)
                return
            self.now = max(self.now, timer)
            self.push_input(ClientInput.TIMEOUT())
        raise Deviation("the client's timers do not end")

    def advance_to_next_timer(self, end):
        """Advances to the next timer, which must be due by `end`."""
        timer = self.next_timer()
        require(timer is not None and timer <= end, "the client did not connect in time")
        self.advance_to(timer)

    def next_timer(self):
        return None if self.timeout is None else self.timeout - self.ahead

    def push_input(self, happened):
        """Handles an input. One caused by an effect waits until all effects of its input are performed."""
        self.inputs.append(happened)
        if len(self.inputs) > 1:
            return
        while self.inputs:
            handled = self.core.handle_input(self.time(), self.inputs[0])
            self.timeout = handled.timeout_ms
            for effect in handled.effects:
                self.perform(effect)
            self.inputs.popleft()

    def perform(self, effect):
        if isinstance(effect, ClientEffect.OPEN):
            if self.net in ("down", "portal"):
                self.push_input(ClientInput.CLOSED(socket=effect.socket, code=ABNORMAL))
            else:
                self.waiting.append(effect.socket)
                self.requests[effect.socket] = commands_in_request(effect.url, effect.protocols)
        elif isinstance(effect, ClientEffect.CLOSE):
            self.waiting = [socket for socket in self.waiting if socket != effect.socket]
            if self.socket == effect.socket:
                self.before, self.socket = self.socket, None
        elif isinstance(effect, ClientEffect.SEND):
            self.receive_command(effect.socket, json.loads(effect.text))
        elif isinstance(effect, ClientEffect.REQUEST):
            self.answer(effect.request, effect.url, json.loads(effect.body or "{}"))
        elif isinstance(effect, ClientEffect.NOTIFY):
            notification = effect.notification
            if isinstance(notification, ClientNotification.ENDED):
                outcome = to_word(notification.outcome)
                self.ended.append({"wish": notification.command, "outcome": outcome})

    def receive_command(self, socket, command):
        if command["type"] == "ping":
            require(command["id"] >= PING_IDS, "the id of a ping is at least a million")
            if self.net == "up" and not self.is_stale and socket == self.socket:
                self.receive(socket, encode_message([command["id"]], self.form))
            return
        require(socket == self.socket, f"sent on another connection: {command}")
        self.sent.append(command)

    def answer(self, request, url, body):
        # A request into a dead network has no answer; the client's own timeout ends it.
        if self.net == "dead":
            return
        if self.net == "down":
            self.push_input(ClientInput.UNANSWERED(request=request))
        elif self.net == "portal":
            self.reply(request, 200, "<html>", "text/html")
        elif url.endswith("/v1/token/refresh"):
            self.answer_refresh(request, body["refresh_token"])
        elif url.endswith("/v1/sign-in/guest"):
            require(len(body["device_id"]) >= 16, "a device id is too short")
            player = {"id": self.id, "name": "player"}
            self.reply(request, 200, json.dumps({**self.issue(), "player": player}))
        else:
            raise Deviation(f"an unexpected request: {url}")

    def answer_refresh(self, request, token):
        given = self.refreshes.get(token)
        is_young = given is not None and self.now - given.given_at < REUSE_MS and given.access in self.valid_tokens
        require(not is_young, "a token that is seconds old was renewed")
        tokens = self.refresh(token)
        if self.drops_refresh_answer:
            self.push_input(ClientInput.UNANSWERED(request=request))
        elif tokens is None:
            problem = json.dumps({"code": "refresh_token_reused", "detail": ""})
            self.reply(request, 401, problem, "application/problem+json")
        else:
            self.reply(request, 200, json.dumps(tokens))
        self.drops_refresh_answer = False

    def reply(self, request, status, body, content_type="application/json"):
        answer = {"status": status, "content_type": content_type, "body": body}
        self.push_input(ClientInput.ANSWERED(request=request, retry_after_ms=None, **answer))

    def refresh(self, token):
        """Returns the successor, repeatedly for a time; None if the token was used long ago."""
        require(token in self.refreshes, f"unknown refresh token {token}")
        refresh = self.refreshes[token]
        if refresh.used_at is not None and self.now - refresh.used_at > REUSE_MS:
            return None
        if refresh.successor is None:
            refresh.used_at = self.now
            refresh.successor = self.issue()
        return refresh.successor

    def issue(self):
        self.tokens += 1
        access = f"access {self.tokens}"
        refresh = f"refresh {self.tokens}"
        self.valid_tokens.add(access)
        self.refreshes[refresh] = Refresh(access, self.now)
        return {
            "access_token": access,
            "access_expires_at": to_rfc3339(self.now + TOKEN_MS),
            "refresh_token": refresh,
            "refresh_expires_at": to_rfc3339(self.now + 100 * TOKEN_MS),
            "session": "session",
        }


def to_wish(wish):
    if wish["type"] == "ready":
        text = wish["text"]
        return PlayerWish.READY(seed=SeedChoice.NONE() if text is None else SeedChoice.CHOSEN(text=text))
    if wish["type"] == "act":
        return PlayerWish.ACT(action=json.dumps(wish["action"]))
    if wish["type"] == "leave":
        return PlayerWish.LEAVE()
    raise Deviation(f"an unknown wish: {wish['type']}")


def to_word(outcome):
    if isinstance(outcome, CommandOutcome.DONE):
        return "done"
    return "overtaken" if isinstance(outcome, CommandOutcome.OVERTAKEN) else str(outcome)


def to_rfc3339(ms):
    return (EPOCH + timedelta(milliseconds=ms)).isoformat(timespec="milliseconds")


def commands_in_request(url, protocols):
    """Returns the commands within a request for a socket; none if all of them follow once it is open."""
    commands = []
    for protocol in protocols:
        if protocol.startswith(TOKEN_PREFIX):
            commands.append({"type": "authenticate", "token": protocol[len(TOKEN_PREFIX) :], "id": 0})
    join = dict(parse_qsl(urlsplit(url).query))
    if "type" in join:
        version = {"from": int(join.pop("from"))} if "from" in join else {}
        commands.append({**join, **version, "id": 1})
    return commands


def require(holds, otherwise):
    if not holds:
        raise Deviation(otherwise)


def assert_same(name, found, expected):
    require(
        canonical(found) == canonical(expected),
        f"{name}: expected {canonical(expected)}, found {canonical(found)}",
    )


def digest(value):
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:16]


def canonical(value):
    """Returns canonical JSON: keys in order, no spaces, and no nulls in objects."""
    return json.dumps(without_nulls(value), ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def without_nulls(value):
    if isinstance(value, dict):
        return {key: without_nulls(field) for key, field in value.items() if field is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value
