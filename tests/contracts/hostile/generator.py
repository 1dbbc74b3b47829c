"""Generates hostile requests, deterministically for a seed: requests that schemathesis generates from openapi.yaml,
both valid and invalid, are changed further with knowledge of other players' ids."""

import base64
import hashlib
import json
import pathlib
import pickle
import random
import re
import urllib.parse
import uuid
import warnings

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import GenerationMode

from wire import Request

# The number of valid, and of invalid, requests per operation.
BASES = 6

# Routes outside of the contracts: the pages of operators, which need a cookie, and others.
PAGES = """
GET /desk                           GET /desk/sign-in                  POST /desk/sign-in
POST /desk/sign-out                 GET /desk/enrolment                POST /desk/enrolment
POST /desk/enrolment/completion     GET /desk/today                    GET /desk/today/live
GET /desk/search/names              GET /desk/search
GET /desk/today/compare
GET /desk/settlements               GET /desk/settlements/live         GET /desk/settlements.csv
GET /desk/games/{id}                GET /desk/games/{id}/replay        GET /desk/players
GET /desk/players/{id}              POST /desk/players/{id}/notes      POST /desk/players/{id}/sign-out
POST /desk/players/{id}/sanctions        POST /desk/players/{id}/sanctions/lifting
POST /desk/sanctions/{id}/lifting
GET /desk/ledger                    GET /desk/ledger/trial-balance     GET /desk/corrections
POST /desk/corrections
GET /desk/corrections/{id}          POST /desk/corrections/{id}/approval
GET /desk/rooms                     POST /desk/rooms                   POST /desk/rooms/{room}/closing
GET /desk/tables                    GET /desk/tables/{id}              GET /desk/tables/{id}/live
POST /desk/tables/{id}/hands        POST /desk/tables/{id}/voiding     POST /desk/tables/{id}/pot-refund
GET /desk/tables/{id}/pot-refund
GET /desk/switches                  POST /desk/switches/house/closing  GET /desk/operators
POST /desk/operators                POST /desk/token                   GET /desk/audit
GET /desk/audit.csv                 GET /desk/assets/{name}            GET /play/files/{name}
GET /desk/jobs                      POST /desk/jobs/{job}/retry         POST /desk/jobs/{job}/discarding
GET /play                           GET /play/join/{code}              GET /docs
GET /openapi.json                   GET /v1/play                       GET /{name}
"""

# Texts that break code which interprets them.
TEXTS = [
    "", " ", "\t", "'", "\"", "' or 1=1 --", "'; drop table entries; --", "\\", "%00", "\x00", "\u0000a",
    "../../../etc/passwd", "..%2f..%2f", "<script>alert(1)</script>", "{{7*7}}", "${jndi:ldap://x}",
    "null", "true", "-1", "0", "1e400", "NaN", "Infinity", "-0", "9223372036854775807",
    "9223372036854775808", "18446744073709551616", "0x10", "1_000", "\u202e\u0000", "\ufeff", "\u00df\u0130\u01c5",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467", "a\u0301" * 50, "\ufdfa" * 20, "A" * 300, "A" * 5000, "\u0661\u0662\u0663",
    "2026-02-30", "9999-12-31", "-262143-01-01", "+262142-12-31", "0000-00-00", "2026-11-23T24:00:60Z",
    "9999-12-31T23:59:59.999999999Z", "10000-01-01T00:00:00Z", "Mars/Olympus", "../UTC", "posixrules",
    "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
    "{00000000-0000-0000-0000-000000000001}", "urn:uuid:00000000-0000-0000-0000-000000000001",
    "wallet:", "issue", "suspense", "fee:newbie", "admin", "operator", "root", "__proto__", "constructor",
    "\r\nx-injected: yes", "%0d%0ax-injected:%20yes", "*", "(", "[", "%", "_", "%%%", "\\u0000",
]
NUMBERS = [
    0, -1, 1, 2, 7, 64, 255, 256, 1000, 65536, 2**31 - 1, 2**31, -(2**31) - 1, 2**32, 2**53, 2**63 - 1,
    2**63, -(2**63), 2**64, 10**30, 0.5, 1.0, -0.0, 1e308,
]
METHODS = ["HEAD", "OPTIONS", "TRACE", "CONNECT", "PATCH", "PUT", "DELETE", "GET", "POST", "QUERY", "get"]
TYPES = [
    "application/json", "application/json; charset=utf-16", "text/plain", "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x", "application/xml", "application/problem+json", "", "json", "*/*",
]
HEADERS = [
    ("x-forwarded-for", "127.0.0.1"), ("x-forwarded-for", "192.0.2.1, 127.0.0.1"), ("x-forwarded-for", "\u0661"),
    ("x-forwarded-for", "unknown, " * 200), ("forwarded", "for=127.0.0.1"), ("x-real-ip", "127.0.0.1"),
    ("x-http-method-override", "DELETE"), ("x-original-url", "/v1/operator/house"), ("host", "evil.test"),
    ("host", ""), ("origin", "https://evil.test"), ("origin", "null"), ("referer", "https://evil.test/desk"),
    ("sec-fetch-site", "cross-site"), ("cookie", "__Host-desk=1; desk=1"), ("cookie", "=;=;" * 500),
    ("accept", "text/html;q=\u221e"), ("accept-encoding", "br, gzip;q=-1"), ("range", "bytes=0-,0-,0-"),
    ("if-none-match", "*"), ("expect", "100-continue"), ("content-encoding", "gzip"), ("te", "trailers"),
    ("connection", "close, authorization"), ("traceparent", "00-" + "0" * 32 + "-" + "0" * 16 + "-01"),
    ("x-request-id", "\u00e4" * 100), ("accept-language", "x" * 4000), ("upgrade", "h2c"),
    ("last-event-id", "-1"), ("idempotency-key", ""), ("idempotency-key", "k" * 300), ("idempotency-key", "\u00fc"),
]


def generate_base_requests(path, number):
    """Returns (method, path with parameters, query, headers, body, operation), in the order of the contract. Generation
    takes minutes, so the result is stored in the working directory."""
    made = []
    contract = hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()[:16]
    kept = pathlib.Path(f"hostile-{contract}-{BASES}-{number}.pickle")
    if kept.exists():
        return pickle.loads(kept.read_bytes())
    # The warnings report slow strategies or few examples, which do not matter here.
    warnings.simplefilter("ignore")
    schema = schemathesis.openapi.from_path(path)
    for result in schema.get_all_operations():
        operation = result.ok()
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            made += generate_cases(operation, mode, number)
    words = PAGES.split()
    for method, template in zip(words[::2], words[1::2], strict=True):
        form = {"form_token": "x", "name": "admin", "password": "x", "code": "000000", "reason": "x" * 20}
        body = urllib.parse.urlencode(form).encode() if method == "POST" else None
        headers = [("content-type", "application/x-www-form-urlencoded"), ("sec-fetch-site", "same-origin")]
        target = re.sub(r"{[a-z]+}", "x", template)
        made += [(method, target, {}, headers, body, f"{method} {template}")] * 2
    kept.write_bytes(pickle.dumps(made))
    return made


def generate_cases(operation, mode, number):
    found = []

    @seed(number)
    @settings(
        max_examples=BASES,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def collect(case):
        found.append(case)

    try:
        collect()
    except Exception as error:
        # An operation without parameters has no invalid requests.
        if type(error).__name__ != "Unsatisfiable":
            raise
    made = []
    for case in found:
        sent = case.as_transport_kwargs(base_url="http://house.test")
        place = urllib.parse.urlsplit(sent["url"])
        body = sent.get("json", sent.get("data"))
        # The headers of the library itself are dropped.
        headers = [
            (name, value if isinstance(value, str) else value.decode("latin-1"))
            for name, value in (sent.get("headers") or {}).items()
            if name.lower() in ("content-type", "idempotency-key")
        ]
        query = sent.get("params") or {}
        target = place.path + (f"?{place.query}" if place.query else "")
        made.append((sent["method"], target, query, headers, body, operation.label))
    return made


class RequestGenerator:
    """Generates requests from base requests. `known` maps kinds to ids; the collected cursors are values that the
    server has sent to any role."""

    def __init__(self, made, number, known):
        self.bases, self.random, self.known, self.cursors = made, random.Random(number), known, []

    def next(self, role):
        chance = self.random.random
        method, target, query, headers, body, operation = self.random.choice(self.bases)
        # Most requests of a role are for operations of its kind.
        if role.kind != "stranger" and is_operator_operation(operation) != (role.kind == "operator") and chance() < 0.8:
            mine = [base for base in self.bases if is_operator_operation(base[5]) == (role.kind == "operator")]
            method, target, query, headers, body, operation = self.random.choice(mine)
        if chance() < 0.01:
            return self.malformed(role, operation)
        changed, headers = [], list(headers)
        if chance() < 0.6:
            target = self.replace_ids(target, operation)
            changed.append("aimed")
        if chance() < 0.3:
            query = self.change_query(query)
            changed.append("query")
        if query:
            target += "?" + urllib.parse.urlencode(query, doseq=True, errors="surrogatepass")
        if body is not None and not isinstance(body, (bytes, str)):
            if chance() < 0.5:
                body = self.corrupt_values(body)
                changed.append("body")
            body = json.dumps(body, ensure_ascii=chance() < 0.5)
        if body is not None and chance() < 0.06:
            body = self.corrupt_text(body)
            changed.append("broken body")
        if isinstance(body, str):
            body = body.encode("utf-8", "surrogatepass")
        if body is not None and not any(name.lower() == "content-type" for name, _ in headers):
            headers.append(("content-type", "application/json"))
        if chance() < 0.03:
            headers = [(name, value) for name, value in headers if name.lower() != "content-type"]
            headers.append(("content-type", self.random.choice(TYPES)))
            changed.append("type")
        if chance() < 0.12:
            headers.append(self.random.choice(HEADERS))
            changed.append("header")
        if chance() < 0.03:
            method = self.random.choice(METHODS)
            changed.append("method")
        credential, how = self.credential(role)
        if credential is not None:
            headers.append(("authorization", credential))
        changed.append(how)
        if not any(name.lower() == "x-forwarded-for" for name, _ in headers):
            headers.append(("x-forwarded-for", role.address))
        headers = [(name, replace_line_ends(value)) for name, value in headers]
        return Request(method, replace_line_ends(target, space="%20"), headers, body, operation, ", ".join(changed))

    def credential(self, role):
        """Returns mostly the role's own token; otherwise none, an invalid or a forged one."""
        token = role.token
        pick = self.random.random()
        if pick < 0.86 or token is None and pick < 0.93:
            return (None, "no token") if token is None else (f"Bearer {token}", "own token")
        forged = self.random.choice([
            "Bearer", "Bearer ", "Basic YWRtaW46YWRtaW4=", "bearer x", "Bearer a.b.c", "Bearer " + "x" * 6000,
            f"Bearer {forge_unsigned_token(self.random.choice(self.known['player']))}",
            f"Bearer {splice_token(token, self.random.choice(self.known['player']))}",
            f"bearer  {token}", f"Bearer {(token or 'x')[:-2]}", f"Bearer {token},Bearer {token}",
            "Bearer op_" + "0" * 64, "Bearer pt_" + "0" * 64,
        ])
        return forged, "forged token"

    def replace_ids(self, target, operation):
        """Replaces path parameters by other resources' ids."""
        path, _, query = target.partition("?")
        template = operation.split(" ", 1)[1].split("/")
        parts = path.split("/")
        if len(parts) != len(template):
            return target
        for at, part in enumerate(template):
            if part.startswith("{"):
                parts[at] = urllib.parse.quote(self.random_value(), safe="", errors="surrogatepass")
                if self.random.random() < 0.03:
                    parts[at] = self.random.choice(["..", ".", "%2e%2e", "%", "%zz", "%ff%fe", ";", "a/b", "%00"])
        return "/".join(parts) + (f"?{query}" if query else "")

    def random_value(self):
        """Returns an existing id of any kind, or a hostile text."""
        pick = self.random.random()
        if pick < 0.75:
            return str(self.random.choice(self.known[self.random.choice(sorted(self.known))]))
        if pick < 0.8:
            return str(uuid.UUID(int=self.random.getrandbits(128), version=4))
        if pick < 0.85 and self.cursors:
            return self.random.choice(self.cursors)
        return self.random.choice(TEXTS)

    def change_query(self, query):
        query = dict(query)
        for _ in range(self.random.randint(1, 3)):
            names = list(query) or ["limit"]
            more = ["limit", "cursor", "after", "from", "to", "kind", "ids", "offset", "name", "player", "room", "hands"]
            name = self.random.choice(names + more)
            value = self.random.choice([self.random_value, lambda: str(self.random.choice(NUMBERS))])()
            query[name] = [value, value] if self.random.random() < 0.1 else value
        return query

    def corrupt_values(self, body):
        """Replaces some values; occasionally removes or adds a field."""
        body = json.loads(json.dumps(body))
        for _ in range(self.random.randint(1, 3)):
            places = list(iterate_values(body))
            if not places:
                return self.random_leaf()
            holder, key = self.random.choice(places)
            pick = self.random.random()
            if pick < 0.1 and isinstance(holder, dict):
                holder.pop(key, None)
            elif pick < 0.2 and isinstance(holder, dict):
                name = self.random.choice(["player", "role", "amount", "is_admin", "id", "kind", "__proto__", "balance"])
                holder[name] = self.random_leaf()
            else:
                holder[key] = self.random_leaf()
        return body

    def random_leaf(self):
        pick = self.random.random()
        if pick < 0.5:
            return self.random_value()
        if pick < 0.8:
            return self.random.choice(NUMBERS)
        return self.random.choice([None, True, False, [], {}, [[]], [None] * 300, {"a": {"b": {"c": []}}}, ["x"] * 1000])

    def corrupt_text(self, body):
        """Returns malformed JSON, or JSON that is expensive to parse."""
        text = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
        return self.random.choice([
            text[: len(text) // 2], text + b"}", b"[" * 5000, b'{"a":' * 3000, b"\xff\xfe" + text, b"\xef\xbb\xbf" + text,
            text.replace(b'"', b"'"), b"NaN", b"", b"\x00", b'"' + b"\\ud800" * 10 + b'"', b"1" * 5000, text * 2,
            b'{"name":"a","name":"b","device_id":"' + b"d" * 20 + b'","device_id":"' + b"e" * 20 + b'"}',
            b'{"x":"' + b"A" * 70_000 + b'"}', b" " * 30_000 + text,
        ])

    def malformed(self, role, operation):
        """Returns bytes that are not HTTP, or HTTP that two parsers may interpret differently."""
        own = "" if role.token is None else f"authorization: Bearer {role.token}\r\n"
        start = "POST /v1/me/rewards/daily HTTP/1.1\r\nhost: h\r\n" + own
        raw = self.random.choice([
            start + "content-length: 2\r\ncontent-length: 3\r\n\r\n{}x",
            start + "content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
            start + "transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
            start + "transfer-encoding: identity, chunked\r\n\r\n0\r\n\r\n",
            start + "content-length: -1\r\n\r\n", start + "content-length: 99999999999999999999\r\n\r\n",
            "GET  /v1/me HTTP/1.1\r\nhost: h\r\n\r\n", "GET /v1/me HTTP/9.9\r\nhost: h\r\n\r\n", "GET /v1/me\r\n\r\n",
            "GET http://evil.test/v1/me HTTP/1.1\r\nhost: h\r\n" + own + "\r\n", "\r\n\r\n\r\nGET / HTTP/1.1\r\n\r\n",
            "GET /v1/me HTTP/1.1\r\n" + own + "\r\n", "GET /v1/me HTTP/1.1\r\nhost: a\r\nhost: b\r\n" + own + "\r\n",
            "GET /v1/me HTTP/1.1\r\nhost: h\r\nx : y\r\n\r\n", "GET /v1/me HTTP/1.1\r\nhost: h\r\n folded: y\r\n\r\n",
            "GET /v1/me HTTP/1.1\r\nhost: h\r\nx: " + "y" * 300_000 + "\r\n\r\n",
            "GET /v1/me HTTP/1.1\r\nhost: h\r\n" + "x: y\r\n" * 500 + "\r\n", "GET /" + "a" * 100_000 + " HTTP/1.1\r\nhost: h\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "GET /\x00 HTTP/1.1\r\nhost: h\r\n\r\n",
        ])
        raw = raw.encode("latin-1")
        # With `connection: close` the end of the response is visible without waiting for more.
        if raw.endswith(b"\r\n\r\n") and b"connection:" not in raw:
            raw = raw.replace(b"\r\nhost: h\r\n", b"\r\nhost: h\r\nconnection: close\r\n", 1)
        return Request("GET", "/", [], None, operation, "malformed", raw)

    def command(self, role):
        """Returns a text message for the socket."""
        game, table = self.random.choice(self.known["game"]), self.random.choice(self.known["table"])
        made = {
            "authenticate": {"token": splice_token(role.token, self.random.choice(self.known["player"]))},
            "join": {"from": self.random.choice(NUMBERS), "tag": "0" * 12, "table": table},
            "watch": {"table": table}, "unwatch": {}, "leave": {}, "take_back": {}, "ping": {}, "cancel_seek": {},
            "ready": {"game": game, "commitment": "0" * 64}, "reveal": {"game": game, "text": self.random.choice(TEXTS)},
            "act": {"game": game, "prompt": self.random.choice(NUMBERS), "action": self.random.choice([
                {"type": "draw"}, {"type": "dump", "card": "2C"}, {"type": "tongits"}, {"type": "fight"},
                {"type": "chow", "cards": ["2C", "2D"]}, {"type": "drop", "cards": ["2C"] * 13}, {"type": "fold"},
            ])},
            "say": {"phrase": "hello"}, "seek": {"rooms": self.random.choice([["newbie"], [], ["x"] * 9, ["newbie"] * 8])},
        }
        kind = self.random.choice(sorted(made))
        command = {"type": kind, "id": self.random.choice(NUMBERS[:8]), **made[kind]}
        if self.random.random() < 0.4:
            command = self.corrupt_values(command)
        text = json.dumps(command, ensure_ascii=self.random.random() < 0.5)
        return self.corrupt_text(text)[:8000] if self.random.random() < 0.05 else text


def is_operator_operation(operation):
    """Returns whether the operation is for operators."""
    return " /v1/operator" in operation or " /desk" in operation


def iterate_values(body):
    """Yields each position in a document that holds a value."""
    if isinstance(body, dict):
        for key, value in body.items():
            yield body, key
            yield from iterate_values(value)
    elif isinstance(body, list):
        for at, value in enumerate(body):
            yield body, at
            yield from iterate_values(value)


def replace_line_ends(text, space=" "):
    """Replaces characters that end a line, which malformed requests cover."""
    return "".join(letter if letter not in "\r\n\x00" else "?" for letter in text).replace(" ", space)


def encode_segment(document):
    return base64.urlsafe_b64encode(json.dumps(document).encode()).decode().rstrip("=")


def forge_unsigned_token(player):
    claims = {"sub": player, "sid": str(uuid.UUID(int=1)), "exp": 4102444800, "iat": 0}
    return f"{encode_segment({'alg': 'none', 'typ': 'JWT'})}.{encode_segment(claims)}."


def splice_token(token, player):
    """Returns the role's own token with another player as its subject."""
    if token is None or token.count(".") != 2:
        return forge_unsigned_token(player)
    head, claims, signature = token.split(".")
    try:
        claims = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
    except ValueError:
        return token
    claims["sub"] = player
    return f"{head}.{encode_segment(claims)}.{signature}"
