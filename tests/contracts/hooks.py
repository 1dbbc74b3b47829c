"""What the generated requests need to know of this server, and a check of our own.

Half of the requests that fit the schema ask for things that exist: a game that was played, a player
of it, a room. And a refusal with 422 of a request that fits the schema must be for one of the
reasons that no schema can say, which are listed here by their codes.
"""

import json
import os
import urllib.request
import uuid

import schemathesis
from schemathesis import GenerationMode

URL = os.environ["BAHAY_URL"]
PLAYER_TOKEN = os.environ["BAHAY_PLAYER_TOKEN"]
GAME = os.environ["BAHAY_GAME"]
OPERATOR = "contract"
OTHER_PLAYER = os.environ["BAHAY_OTHER_PLAYER"]

# Codes of 422 that a request may meet which the schema allows, and why it cannot say so.
BEYOND_SCHEMAS = {
    # A cursor is sealed for its list and its owner.
    "cursor_invalid",
    # Which zones there are is not for a pattern.
    "time_zone_unknown",
    # The same key was used for another call.
    "idempotency_key_reused",
    # The bound is a setting of the house.
    "adjustment_too_large",
    # What everybody tries first is a list, not a pattern.
    "password_easy",
    # One setting of a room against another.
    "room_unsound",
    # The same of a private table; and which rule sets a game has is the catalogue's.
    "rules_invalid",
    # The bounds are the house's.
    "bet_invalid",
}

# The same of codes that also mean something which a schema could say: only with these words, or
# with words that begin so.
BEYOND_SCHEMAS_BY_DETAIL = [
    ("query_invalid", "`from` is not before `to`"),
    ("query_invalid", "`gross_min` is above `gross_max`"),
    # A schema cannot bound a time or a day.
    ("query_invalid", "from: a time is as in"),
    ("query_invalid", "to: a time is as in"),
    ("query_invalid", "Failed to deserialize query string: from: a time is as in"),
    ("query_invalid", "Failed to deserialize query string: to: a time is as in"),
    ("query_invalid", "Failed to deserialize query string: date: a day is as in"),
    # Which days were played is in the books.
    ("query_invalid", "`date` lies before the first counted game or after today"),
    # Of two parameters that do not fit each other no schema knows.
    ("query_invalid", "the ranks around a player have no offset"),
    # Which span today is in is not for a pattern.
    ("query_invalid", "ratings are available for the present span only"),
    # Counted without the white space around it.
    ("body_invalid", "a note has 1 to 2000 characters"),
    ("body_invalid", "a reason has 10 to 500 characters"),
    # Which actions there are is a list that grows.
    ("query_invalid", "unknown action"),
    # Which pictures there are is a list that grows.
    ("body_invalid", "there is no such avatar"),
    # What a name holds is said by properties of Unicode.
    ("body_invalid", "a name "),
    # Which games there are, and how they end, is the catalogue's.
    ("query_invalid", "`kind` names no game of the house"),
    ("query_invalid", "`ending` names no ending of a game"),
    # To a schema 1.0 is an integer; here a number with a point is none.
    ("body_invalid", "invalid type: floating point"),
    # A schema would have to say so of each text.
    ("body_invalid", "strings must not contain U+0000"),
    # One field against another.
    ("body_invalid", "the new device id equals the old one"),
    # Zero, in the midst of what is allowed.
    ("body_invalid", "the amount of an adjustment is zero"),
]


# However these are called, they must not end the session of all other requests.
ENDS_A_SESSION = {
    ("POST", "/v1/sign-out"),
    ("DELETE", "/v1/me"),
    ("DELETE", "/v1/me/sessions"),
    ("DELETE", "/v1/me/sessions/{id}"),
}


# These take a proof that the account is the caller's, which nobody can make up: half of the requests that
# fit the schema get a good one, of a guest of their own.
PROVEN = {
    ("POST", "/v1/me/password"),
    ("POST", "/v1/me/identities"),
    ("DELETE", "/v1/me/identities/{issuer}"),
    ("DELETE", "/v1/me/devices"),
    ("DELETE", "/v1/me"),
}


@schemathesis.hook
def before_call(context, case, kwargs):
    """Fits requests to this server; those that are wrong on purpose stay as they are."""
    path, parameters = case.operation.path, case.path_parameters or {}
    meta = case.meta
    is_positive = meta is None or meta.generation.mode == GenerationMode.POSITIVE
    if is_positive and (case.operation.method.upper(), path) in PROVEN:
        headers = case.headers or {}
        is_players = headers.get("Authorization") == f"Bearer {PLAYER_TOKEN}"
        if is_players and len(str(case.body)) % 2 == 0:
            token, proof = fresh_proof()
            case.headers["Authorization"] = f"Bearer {token}"
            case.headers["Account-Proof"] = proof
            return
    if (case.operation.method.upper(), path) in ENDS_A_SESSION:
        if (case.headers or {}).get("Authorization") == f"Bearer {PLAYER_TOKEN}":
            case.headers["Authorization"] = f"Bearer {fresh_token()}"
        return
    # Nor may the operator of all other requests get another token.
    if parameters.get("name") == OPERATOR:
        parameters["name"] = "ate.luz"
    if not is_positive:
        return
    # Nobody can make a cursor up, and a key is good for one call: both are mostly left to others.
    if case.query and len(str(case.query.get("cursor", ""))) % 4 != 3:
        case.query.pop("cursor", None)
    if case.headers and "Idempotency-Key" in case.headers:
        if len(case.headers["Idempotency-Key"]) % 4 != 3:
            case.headers["Idempotency-Key"] = str(uuid.uuid4())
    if "id" in parameters and wants_known(parameters["id"]):
        if path.startswith("/v1/games/"):
            parameters["id"] = GAME
        elif path.startswith(("/v1/players/", "/v1/me/blocks/", "/v1/me/mutes/")):
            parameters["id"] = OTHER_PLAYER
    elif "room" in parameters:
        parameters["room"] = "newbie"


@schemathesis.check
def refused_only_for_what_no_schema_says(context, response, case):
    """A request that fits the schema meets 422 only for a listed reason."""
    meta = case.meta
    if meta is None or meta.generation.mode != GenerationMode.POSITIVE:
        return None
    if response.status_code == 422:
        problem = response.json()
        code, detail = problem["code"], problem.get("detail", "")
        is_known = code in BEYOND_SCHEMAS or any(
            code == known and detail.startswith(words) for known, words in BEYOND_SCHEMAS_BY_DETAIL
        )
        assert is_known, f"a request that fits the schema was refused as {code}: {detail}"
    return None


def wants_known(value):
    """Every other id, and always the same ones."""
    try:
        return uuid.UUID(str(value)).int % 2 == 0
    except ValueError:
        return False


def fresh_token():
    """The token of a session that nothing else uses."""
    return said("/v1/sign-in/guest", {"device_id": f"contract-{uuid.uuid4()}"})["access_token"]


def fresh_proof():
    """The token of a guest that nothing else uses, and its proof that it holds the account."""
    device = f"contract-{uuid.uuid4()}"
    token = said("/v1/sign-in/guest", {"device_id": device})["access_token"]
    shown = {"by": "device", "device_id": device}
    return token, said("/v1/me/proof", shown, {"authorization": f"Bearer {token}"})["proof"]


def said(path, body, headers=None):
    """What the server answers to a body."""
    headers = {"content-type": "application/json", **(headers or {})}
    body = json.dumps(body).encode()
    request = urllib.request.Request(f"{URL}{path}", data=body, headers=headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)
