"""Hooks that adapt generated requests to this server, and an additional check.

Half of the requests that fit the schema refer to existing resources: a finished game, its player, a room. A request
that fits the schema may be refused with 422 only for a reason that no schema can express; these reasons are listed
here by their codes.
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

# Codes of 422 with which the server may refuse a request that fits the schema, and the reason for each.
BEYOND_SCHEMAS = {
    # A cursor is sealed for its list and its owner.
    "cursor_invalid",
    # No pattern can list the known time zones.
    "time_zone_unknown",
    # The key has been used for another request.
    "idempotency_key_reused",
    # The limit is a setting of the house.
    "adjustment_too_large",
    # Common passwords and reserved names are lists, not patterns.
    "password_easy",
    "name_reserved",
    # Two settings of a room contradict each other.
    "room_unsound",
    # Two settings of a tournament contradict each other, or the catalogue lacks the game's rule set.
    "tournament_unsound",
    # The guarantee is above the setting of the server.
    "tournament_approval_required",
    # Two settings of a private table contradict each other, or the catalogue lacks the rule set.
    "rules_invalid",
    # The limits are settings of the house.
    "bet_invalid",
}

# Codes that also stand for errors a schema can express: the code is permitted only with details that begin with
# these words.
BEYOND_SCHEMAS_BY_DETAIL = [
    ("query_invalid", "`from` is not before `to`"),
    ("query_invalid", "Failed to deserialize query string: `from` is not before `to`"),
    ("query_invalid", "`gross_min` is above `gross_max`"),
    ("query_invalid", "the period has more than 92 days"),
    # A schema cannot limit the range of a time or a day.
    ("query_invalid", "from: a time is as in"),
    ("query_invalid", "to: a time is as in"),
    # A filter that is shared by several lists is read before its fields are known by name.
    ("query_invalid", "Failed to deserialize query string: a time is as in"),
    ("query_invalid", "Failed to deserialize query string: from: a time is as in"),
    ("query_invalid", "Failed to deserialize query string: to: a time is as in"),
    ("query_invalid", "Failed to deserialize query string: date: a day is as in"),
    ("query_invalid", "Failed to deserialize query string: first: a day is as in"),
    ("query_invalid", "Failed to deserialize query string: second: a day is as in"),
    # A schema does not know the current day.
    ("query_invalid", "`first` lies after today"),
    ("query_invalid", "`second` lies after today"),
    # The days with games are known to the ledger only.
    ("query_invalid", "`date` lies before the first counted game or after today"),
    # A schema cannot relate two parameters to each other.
    ("query_invalid", "the ranks around a player have no offset"),
    # A pattern cannot tell the current period.
    ("query_invalid", "ratings are available for the present span only"),
    # Surrounding white space does not count.
    ("body_invalid", "a note has 1 to 2000 characters"),
    ("body_invalid", "a reason has 10 to 500 characters"),
    # The list of actions grows.
    ("query_invalid", "Failed to deserialize query string: action: unknown variant"),
    # The list of avatars grows.
    ("body_invalid", "there is no such avatar"),
    # The characters of a name are defined by Unicode properties.
    ("body_invalid", "a name "),
    # The games and their endings are defined by the catalogue.
    ("query_invalid", "`kind` names no game of the house"),
    ("query_invalid", "`ending` names no ending of a game"),
    # For JSON Schema 1.0 is an integer; this server accepts no fraction.
    ("body_invalid", "invalid type: floating point"),
    # A schema would have to exclude the character in each string.
    ("body_invalid", "strings must not contain U+0000"),
    # A schema cannot compare two fields.
    ("body_invalid", "the new device id equals the old one"),
    # Zero lies within the permitted range.
    ("body_invalid", "the amount of an adjustment is zero"),
]


# Requests to these operations are sent with a separate session, so that they cannot end that of all other requests.
ENDS_A_SESSION = {
    ("POST", "/v1/sign-out"),
    ("DELETE", "/v1/me"),
    ("DELETE", "/v1/me/sessions"),
    ("DELETE", "/v1/me/sessions/{id}"),
}


# These operations need a proof of account ownership, which cannot be generated. Half of the requests that fit the
# schema carry a valid one, of a separate guest.
PROVEN = {
    ("POST", "/v1/me/password"),
    ("POST", "/v1/me/identities"),
    ("DELETE", "/v1/me/identities/{issuer}"),
    ("DELETE", "/v1/me/devices"),
    ("DELETE", "/v1/me"),
}


@schemathesis.hook
def before_call(context, case, kwargs):
    """Adapts requests to this server; intentionally invalid requests stay unchanged."""
    path, parameters = case.operation.path, case.path_parameters or {}
    meta = case.meta
    is_positive = meta is None or meta.generation.mode == GenerationMode.POSITIVE
    if is_positive and (case.operation.method.upper(), path) in PROVEN:
        headers = case.headers or {}
        is_players = headers.get("Authorization") == f"Bearer {PLAYER_TOKEN}"
        if is_players and len(str(case.body)) % 2 == 0:
            token, proof = create_proof()
            case.headers["Authorization"] = f"Bearer {token}"
            case.headers["Account-Proof"] = proof
            return
    if (case.operation.method.upper(), path) in ENDS_A_SESSION:
        if (case.headers or {}).get("Authorization") == f"Bearer {PLAYER_TOKEN}":
            case.headers["Authorization"] = f"Bearer {create_token()}"
        return
    # The token of the operator of all other requests must not be replaced.
    if parameters.get("name") == OPERATOR:
        parameters["name"] = "ate.luz"
    if not is_positive:
        return
    # A cursor cannot be generated, and a key is valid for one request, so most generated ones are replaced.
    if case.query and len(str(case.query.get("cursor", ""))) % 4 != 3:
        case.query.pop("cursor", None)
    if case.headers and "Idempotency-Key" in case.headers:
        if len(case.headers["Idempotency-Key"]) % 4 != 3:
            case.headers["Idempotency-Key"] = str(uuid.uuid4())
    if "id" in parameters and prefers_existing(parameters["id"]):
        if path.startswith("/v1/games/"):
            parameters["id"] = GAME
        elif path.startswith(("/v1/players/", "/v1/me/blocks/", "/v1/me/mutes/")):
            parameters["id"] = OTHER_PLAYER
    elif "room" in parameters:
        parameters["room"] = "newbie"


@schemathesis.check
def refuses_only_for_listed_reasons(context, response, case):
    """Fails if a request that fits the schema gets 422 for a reason that is not listed."""
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


def prefers_existing(value):
    """Returns true for half of the ids, deterministically."""
    try:
        return uuid.UUID(str(value)).int % 2 == 0
    except ValueError:
        return False


def create_token():
    """Returns the token of a separate session."""
    return post("/v1/sign-in/guest", {"device_id": f"contract-{uuid.uuid4()}"})["access_token"]


def create_proof():
    """Returns the token of a separate guest and its proof of account ownership."""
    device = f"contract-{uuid.uuid4()}"
    token = post("/v1/sign-in/guest", {"device_id": device})["access_token"]
    shown = {"by": "device", "device_id": device}
    return token, post("/v1/me/proof", shown, {"authorization": f"Bearer {token}"})["proof"]


def post(path, body, headers=None):
    """Posts a body and returns the response's JSON."""
    headers = {"content-type": "application/json", **(headers or {})}
    body = json.dumps(body).encode()
    request = urllib.request.Request(f"{URL}{path}", data=body, headers=headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)
