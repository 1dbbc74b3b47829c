"""The common parts of all records, for the verifiers in this folder: the form of a record, its players
and stakes, and the arithmetic of settlement, fee, POT and crown.

It shares no code with the server. Rule numbers refer to docs/rules/tongits.md.
"""

import hashlib
import hmac
import json
import re
import struct
import sys
import uuid


class Fault(Exception):
    """A violation, with the number of the violated rule."""

    def __init__(self, rule, what):
        super().__init__(f"{what} (rule {rule})")


def check(holds, rule, what):
    if not holds:
        raise Fault(rule, what)


# Forms describe the fields of a document and their values. A form is one of
#   a dict: an object with exactly these fields; a field whose name ends with ? is optional
#   a list of one form: a list of such values
#   a tuple: a value of any of these forms
#   a range: an integer within it
#   a set: one of these strings
#   a pattern: a string that matches it
#   bool or str: a value of this type; True: only true; None: null
#   a function: a custom check


class Malformed(ValueError):
    """A document that is not a record."""


def check_form(value, form, path="the record"):
    if isinstance(form, dict):
        check_fields(value, form, path)
    elif isinstance(form, list):
        expect(type(value) is list, path, "a list")
        for place, item in enumerate(value):
            check_form(item, form[0], f"{path}[{place}]")
    elif isinstance(form, tuple):
        expect(any(has_form(value, one) for one in form), path, "of one of its forms")
    elif isinstance(form, range):
        expect(type(value) is int and value in form, path, f"from {form[0]} to {form[-1]}")
    elif isinstance(form, set):
        expect(type(value) is str and value in form, path, f"one of {sorted(form)}")
    elif isinstance(form, re.Pattern):
        expect(type(value) is str and form.fullmatch(value), path, f"written as {form.pattern}")
    elif isinstance(form, type):
        expect(type(value) is form, path, f"of type {form.__name__}")
    elif form is None or form is True:
        expect(value is form, path, json.dumps(form))
    else:
        form(value, path)


def check_fields(value, form, path):
    expect(type(value) is dict, path, "an object")
    known = {name.rstrip("?"): (one, name.endswith("?")) for name, one in form.items()}
    unknown = value.keys() - known.keys()
    expect(not unknown, path, f"without {sorted(unknown)}")
    for name, (one, may_be_absent) in known.items():
        if name in value:
            check_form(value[name], one, f"{path}.{name}")
        else:
            expect(may_be_absent, path, f"with {name}")


def has_form(value, form):
    try:
        check_form(value, form)
        return True
    except Malformed:
        return False


def expect(holds, path, what):
    if not holds:
        raise Malformed(f"{path} must be {what}")


def ascending(form, key=lambda item: item):
    """Returns the form of a set: a list in ascending order of the key, without duplicates."""

    def ask(value, path):
        check_form(value, [form], path)
        keys = [key(item) for item in value]
        expect(keys == sorted(set(keys)), path, "in ascending order without duplicates")

    return ask


def by_type(forms):
    """Returns the form of an action, whose fields depend on its type."""

    def ask(value, path):
        expect(type(value) is dict and type(value.get("type")) is str, path, "an object with a type")
        kind = value["type"]
        expect(kind in forms, path, f"of a known type, not {kind}")
        check_form(value, {"type": {kind}, **forms[kind]}, path)

    return ask


def read_document(file):
    """Reads a document. Rejects duplicate fields and numbers that are not integers."""

    def fields(pairs):
        read = dict(pairs)
        expect(len(read) == len(pairs), "each object", "without duplicate fields")
        return read

    def refused(text):
        raise Malformed(f"{text} is not an integer")

    return json.load(file, object_pairs_hook=fields, parse_float=refused, parse_constant=refused)


U8, U16, U32 = range(2**8), range(2**16), range(2**32)
COINS, TIME = range(2**63), range(2**63)  # hundredths of a coin; milliseconds since 1970
ID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
HASH = re.compile("[0-9a-f]{64}")
SEAT = range(8)
CROWN = {"player": ID, "wins": U8}


def record_form(kind, rules, action):
    item = {"name": str, "rule": str, "counts": U32}
    debt = {"from": SEAT, "to": SEAT, "items": [item]}
    return {
        "format": {"bahay/record/v1"},
        "engine": {"bahay/engine/v1"},
        "kind": {kind},
        "game": ID,
        "table": ID,
        "terms": {
            "room": str,
            "rules": rules,
            "price": {"bet": COINS, "multiplier": U32, "fee_basis_points": U32},
            "hits?": {"ante": U32, "to_win": U8, "second_hit_bonus": U32},
            "clocks": {
                "prepare_ms": U32,
                "think_ms": U32,
                "grace_ms": U32,
                "missed_turns_to_takeover": U8,
                "absence_ms": U32,
                "retry_ms": U32,
            },
            "spectators": {"nobody", "anybody"},
            "bots?": {"quick"},
            "private?": {"ends_after_ms": U32, "short_stakes?": True},
            "practice?": True,
            "tournament?": {
                "tournament": ID,
                "round": U32,
                "number": U32,
                "games": U32,
                "players": [ID],
                "commitments?": [HASH],
            },
        },
        "players": [ID],
        "bots": ascending(SEAT),
        "opened_at": TIME,
        "finished_at": TIME,
        "commitment": HASH,
        "server_seed": HASH,
        "clients": [{"commitment": HASH, "text": (None, str), "seed": HASH}],
        "starter": (None, SEAT),
        "chance": [({"number": U32}, {"order": [U8]})],
        "actions": [{"at": TIME, "seat": SEAT, "by": {"player", "clock", "ai"}, "action": action}],
        "outcome": {"winner": (None, SEAT), "takes_pot": bool, "debts": [debt]},
        "stakes": [COINS],
        "settlement": {
            "winner": (None, SEAT),
            "payments": [{**debt, "owed": COINS, "paid": COINS}],
            "fees": [{"seat": SEAT, "gross": COINS, "fee": COINS}],
            "pot": (None, {"seat": SEAT, "amount": COINS}),
        },
        "pot_before": COINS,
        "pot_after": COINS,
        "crown_before": (None, CROWN),
        "crown_after": (None, CROWN),
    }


# Players and stakes.


def check_players(record, seats):
    """Rules 1.1, 8.6 and 9.1."""
    players, bots, clients = record["players"], record["bots"], record["clients"]
    check(len(players) in seats, "1.1", "the number of players is out of bounds")
    check(len(set(players)) == len(players), "1.1", "a player sits on two seats")
    check(len(clients) == len(players), "9.2", "there must be one client seed per seat")
    check(all(bot < len(players) for bot in bots), "8.6", "a bot's seat does not exist")
    zeros = "0" * 64
    none = {"commitment": zeros, "text": None, "seed": zeros}
    check(all(clients[bot] == none for bot in bots), "8.6", "a bot must not contribute a seed")
    played = {taken["seat"] for taken in record["actions"] if taken["by"] == "player"}
    check(played.isdisjoint(bots), "8.6", "a bot's actions must be the AI's")
    check_tournament(record)


def check_tournament(record):
    """A game of a tournament is played by the players of its table, and for points alone."""
    terms = record["terms"]
    if "tournament" not in terms:
        return
    check(
        record["players"] == terms["tournament"]["players"],
        "1.1",
        "the players are not those of the tournament's table",
    )
    is_other = terms.keys() & {"hits", "private", "practice"} or terms["price"]["fee_basis_points"]
    check(not is_other, "9.5", "a table of a tournament is played for points alone")
    shown = terms["tournament"].get("commitments")
    expect(shown != [], "the record's commitments", "absent or one a game")
    if shown is None:
        return
    check(len(shown) == terms["tournament"]["games"], "9.1", "the deal commitments are not one a game")
    check(record["commitment"] in shown, "9.1", "the commitment is none of those that all tables show")
    zeros = "0" * 64
    none = {"commitment": zeros, "text": None, "seed": zeros}
    takes_part = any(client != none for client in record["clients"])
    check(not takes_part, "9.1", "a client took part in a deal that all tables play")
    check(record["starter"] is None, "9.4", "an earlier game decided who begins a shared deal")
    check(terms["spectators"] == "nobody", "9.5", "a table of a shared deal is watched")


def price_of_count(record, counts_per_bet):
    """Returns the price of a count in hundredths of a coin."""
    price = record["terms"]["price"]
    bet = price["bet"] * price["multiplier"]
    check(bet % counts_per_bet == 0, "6.7", "the price of a count is not a whole number of hundredths")
    return bet // counts_per_bet


def check_stakes(record, counts_max, counts_per_bet, may_be_short=False, rule="6.9"):
    """Each stake is the most a seat can owe, or less if a private table permits short stakes."""
    terms, stakes = record["terms"], record["stakes"]
    check(len(stakes) == len(record["players"]), rule, "there must be one stake per seat")
    if "practice" in terms:
        check(not any(stakes), "8.7", "a practice table has no stakes")
        return
    bonus = terms["hits"]["second_hit_bonus"] if "hits" in terms else 0
    most = (counts_max + bonus) * price_of_count(record, counts_per_bet)
    may_be_short = may_be_short and "short_stakes" in terms.get("private", {})
    for stake in stakes:
        holds = 0 < stake < most if may_be_short and stake != most else stake == most > 0
        check(holds, rule, f"the stake is {stake} instead of {most}")


def check_pot(record):
    """Rules 7.1 and 7.2, before the settlement."""
    hits, before, crown = record["terms"].get("hits"), record["pot_before"], record["crown_before"]
    if hits is None:
        check(not before and crown is None, "7.1", "this table has neither POT nor crown")
        return
    antes = hits["ante"] * record["terms"]["price"]["bet"] * len(record["players"])
    check(before >= antes, "7.1", "the POT is less than the antes of this game")
    can_be = crown is None or (
        0 < crown["wins"] < hits["to_win"] and crown["player"] in record["players"]
    )
    check(can_be, "7.2", "the crown before the game is not possible")


# Chance: rules 9.1 to 9.4.


def keystream(key):
    """The ChaCha20 keystream of RFC 8439 as words: a nonce of zeros, a counter from 0."""

    def quarter_round(s, a, b, c, d):
        for x, y, z, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            s[x] = (s[x] + s[y]) & 0xFFFFFFFF
            mixed = s[z] ^ s[x]
            s[z] = (mixed << turn | mixed >> (32 - turn)) & 0xFFFFFFFF

    counter = 0
    while True:
        start = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574]
        start += [*struct.unpack("<8I", key), counter, 0, 0, 0]
        state = start[:]
        for _ in range(10):
            for column in range(4):
                quarter_round(state, column, 4 + column, 8 + column, 12 + column)
            quarter_round(state, 0, 5, 10, 15)
            quarter_round(state, 1, 6, 11, 12)
            quarter_round(state, 2, 7, 8, 13)
            quarter_round(state, 3, 4, 9, 14)
        yield from ((x + y) & 0xFFFFFFFF for x, y in zip(state, start))
        counter += 1


def draw_uniform(words, n):
    """Rule 9.3. Draws a uniform number below n, rejecting words that would bias it."""
    below = 2**32 // n * n
    return next(word for word in words if word < below) % n


def shuffle_deck(words, cards):
    """Rule 9.4. Returns the shuffle_deck deck, top card first."""
    deck = list(range(cards))
    for i in range(cards - 1, 0, -1):
        j = draw_uniform(words, i + 1)
        deck[i], deck[j] = deck[j], deck[i]
    return deck


def deal_key(server_seed, record):
    """Rule 9.2. Returns the key of the deal."""
    seeds = b"".join(map(client_seed, record["clients"]))
    message = b"bahay/shuffle/v1" + uuid.UUID(deal_id(record)).bytes + seeds
    return hmac.new(server_seed, message, hashlib.sha256).digest()


def deal_id(record):
    """Returns the id in the key: the game's, or the tournament's if all tables of a round play the deal
    (rule 5.5 of docs/rules/tournaments.md)."""
    tournament = record["terms"].get("tournament", {})
    return tournament["tournament"] if "commitments" in tournament else record["game"]


def client_seed(client):
    """Rule 9.1. Returns the hash of the revealed text, or the commitment if no text was revealed."""
    commitment, text = bytes.fromhex(client["commitment"]), client["text"]
    seed = commitment if text is None else hashlib.sha256(text.encode()).digest()
    fits = text is None or hashlib.sha256(seed).digest() == commitment
    check(fits, "9.1", "a client's text does not match its commitment")
    check(seed.hex() == client["seed"], "9.1", "a client's seed does not match its text")
    return seed


# Coins: rules 6.7 to 7.5, in hundredths of a coin.


def check_settlement(record, counts_per_bet=1, fee_rule="6.8"):
    outcome, settlement = record["outcome"], record["settlement"]
    check(outcome["winner"] == settlement["winner"], "6.7", "the winner differs from the outcome's")
    pot, crown, bonus = apply_hits(record)
    payments = compute_payments(record, bonus, price_of_count(record, counts_per_bet))
    check(payments == settlement["payments"], "6.7", "the payments do not match the counts")
    fees = []
    for seat in range(len(record["players"])):
        gross = sum(payment["paid"] for payment in payments if payment["to"] == seat)
        if gross:
            fee = gross * record["terms"]["price"]["fee_basis_points"] // 10_000
            fees.append({"seat": seat, "gross": gross, "fee": fee})
    check(fees == settlement["fees"], fee_rule, "the fees do not match the payments")
    check(pot == settlement["pot"], "7.2", "the payout of the POT is wrong")
    pot_after = 0 if pot else record["pot_before"]
    check(record["pot_after"] == pot_after, "7.2", "the POT after the game is wrong")
    check(record["crown_after"] == crown, "7.2", "the crown after the game is wrong")


def apply_hits(record):
    """Returns the payout of the POT, the crown after the game, and the bonus items of a second hit."""
    hits, before = record["terms"].get("hits"), record["crown_before"]
    winner = record["outcome"]["winner"]
    if hits is None or winner is None:
        return None, before, []
    player = record["players"][winner]
    wins = before["wins"] + 1 if before and before["player"] == player else 1
    if record["outcome"]["takes_pot"] or wins >= hits["to_win"]:
        return {"seat": winner, "amount": record["pot_before"]}, None, []
    bonus = []
    if wins == 2 and hits["second_hit_bonus"]:
        bonus = [{"name": "second_hit", "rule": "7.5", "counts": hits["second_hit_bonus"]}]
    return None, {"player": player, "wins": wins}, bonus


def compute_payments(record, bonus, price):
    payments, left = [], list(record["stakes"])
    for debt in record["outcome"]["debts"]:
        more = bonus if debt["to"] == record["outcome"]["winner"] else []
        items = debt["items"] + more
        owed = sum(item["counts"] for item in items) * price
        paid = min(owed, left[debt["from"]])
        left[debt["from"]] -= paid
        payments.append({**debt, "items": items, "owed": owed, "paid": paid})
    return payments


def run(names, verify, game):
    """Verifies the records in the files; returns the exit code."""
    code = 0
    for name in names:
        try:
            with sys.stdin if name == "-" else open(name, encoding="utf-8") as file:
                print(f"verified: {verify(read_document(file))}")
        except Fault as fault:
            print(f"{name}: does not hold: {fault}")
            code = max(code, 1)
        except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            print(f"{name}: not a record of {game}: {error!r}")
            code = 2
    return code
