#!/usr/bin/env python3
"""Checks the record of a game of Tong-its with nothing but Python's standard library.

    python3 docs/verify.py record.json ...      (- for standard input)

It follows docs/rules/tongits.md and docs/FAIRNESS.md and shares no code with the server. It
recomputes the commitment, the key of the deal, who began, the deck and the hands; follows every
card through the actions; counts the winner's aces and kings; and does the arithmetic of settlement,
fee, POT and crown. It does not judge whether each action was allowed, nor the counts that need the
arrangement of a hand (rules 6.4 to 6.6): `bahay verify` does.

Exit code 0: every record holds. 1: one does not; the line says where, and by which rule. 2: a file
is not the record of a game of Tong-its.
"""

import hashlib
import hmac
import json
import struct
import sys
import uuid

RANKS, SUITS = "A23456789TJQK", "CDHS"
CARDS = [rank + suit for suit in SUITS for rank in RANKS]  # by index, rule 1.12


class Fault(Exception):
    """What does not hold, and the rule that says so."""

    def __init__(self, rule, what):
        super().__init__(f"{what} (rule {rule})")


def check(holds, rule, what):
    if not holds:
        raise Fault(rule, what)


# Chance: rules 9.1 to 9.4.


def keystream(key):
    """The ChaCha20 keystream of RFC 8439: nonce of twelve zeros, counter from 0, as words."""

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


def uniform(words, n):
    """Rule 9.3: words that would favour small numbers are passed over."""
    below = 2**32 // n * n
    return next(word for word in words if word < below) % n


def shuffled(words):
    """Rule 9.4; place 0 is the top."""
    deck = list(range(52))
    for i in range(51, 0, -1):
        j = uniform(words, i + 1)
        deck[i], deck[j] = deck[j], deck[i]
    return deck


def deal_key(server_seed, game, client_seeds):
    """Rule 9.2."""
    message = b"bahay/shuffle/v1" + uuid.UUID(game).bytes + b"".join(client_seeds)
    return hmac.new(server_seed, message, hashlib.sha256).digest()


def dealt(deck, starter, rules):
    """Rule 2.3: the hands by seat, and the stock from the top."""
    step = -1 if rules["deal"] == "clockwise" else 1
    hands, each = [set(), set(), set()], rules["hand_cards"]
    for place in range(3 * each):
        hands[(starter + step * place) % 3].add(CARDS[deck[place]])
    hands[starter].add(CARDS[deck[3 * each]])
    return hands, [CARDS[card] for card in deck[3 * each + 1 :]]


def check_deal(record):
    """Commitment, starter and deck; gives starter, hands and stock."""
    server_seed = bytes.fromhex(record["server_seed"])
    commitment = hashlib.sha256(server_seed).hexdigest()
    check(commitment == record["commitment"], "9.1", "the commitment is not that of the seed")
    client_seeds = [bytes.fromhex(seed) for seed in record["client_seeds"]]
    check(len(client_seeds) == 3, "9.2", "the client seeds are not one a seat")
    words = keystream(deal_key(server_seed, record["game"], client_seeds))
    starter, said = record["starter"], list(record["chance"])
    if starter is None:
        starter = uniform(words, 3)
        drawn = said and said.pop(0) == {"number": starter}
        check(drawn, "9.4", "the starter is not the drawn one")
    deck = shuffled(words)
    check(said == [{"order": deck}], "9.4", "the deck is not the drawn one")
    return starter, *dealt(deck, starter, record["terms"]["rules"])


# Cards: who holds what after every action.


class Table:
    def __init__(self, starter, hands, stock):
        self.seat, self.hands, self.stock = starter, hands, stock
        self.discards, self.melds = [], []
        # At the beginning of a turn the seat has still to draw, chow or fight (rule 2.4).
        self.begins, self.fight, self.over = False, False, False

    def draw(self):
        check(self.stock, "5.1", "a card is drawn from an empty stock")
        self.hands[self.seat].add(self.stock.pop(0))

    def take(self, cards, rule):
        check(len(set(cards)) == len(cards), rule, "a card is played twice")
        missing = set(cards) - self.hands[self.seat]
        check(not missing, rule, f"seat {self.seat} does not hold {' '.join(sorted(missing))}")
        self.hands[self.seat] -= set(cards)

    def lay(self, cards, more=()):
        ranks = sorted(RANKS.index(card[0]) for card in [*cards, *more])
        suits = {card[1] for card in [*cards, *more]}
        is_set = len(set(ranks)) == 1 and len(ranks) in (3, 4)
        is_run = len(suits) == 1 and ranks == list(range(ranks[0], ranks[0] + len(ranks)))
        check(is_set or (is_run and len(ranks) >= 3), "1.4", "what is laid is no meld")
        self.melds.append({"owner": self.seat, "own": {*cards, *more}})

    def act(self, seat, action):
        kind = action["type"]
        check(not self.over, "2.5", "the game was over")
        if self.fight or kind in ("challenge", "fold"):
            answers = self.fight and kind in ("challenge", "fold") and seat != self.seat
            check(answers, "4.2", "a fight is answered, and nothing else is")
            return
        check(seat == self.seat, "1.1", f"it is the turn of seat {self.seat}")
        if self.begins and kind not in ("draw", "chow", "fight"):
            self.draw()  # Nothing else was legal, so the table drew (rule 3.1).
        elif not self.begins:
            check(kind not in ("draw", "chow", "fight"), "3.1", "the turn has begun already")
        self.begins = False
        if kind == "draw":
            self.draw()
        elif kind == "chow":
            check(self.discards, "3.2", "there is no discard")
            self.take(action["cards"], "3.2")
            self.lay(action["cards"], [self.discards.pop()])
        elif kind == "drop":
            self.take(action["cards"], "3.4")
            self.lay(action["cards"])
        elif kind == "sapaw":
            check(action["meld"] < len(self.melds), "3.5", "there is no such meld")
            self.take([action["card"]], "3.5")
            meld = self.melds[action["meld"]]
            if meld["owner"] == seat:
                meld["own"].add(action["card"])
        elif kind == "dump":
            self.take([action["card"]], "3.6")
            self.discards.append(action["card"])
            self.over = not self.stock
            self.begins = bool(self.hands[seat])
            self.seat = (seat + 1) % 3 if self.begins else seat
        else:
            check(kind in ("tongits", "fight"), "3.1", f"there is no action {kind}")
            self.fight, self.over = kind == "fight", kind == "tongits"
        self.over = self.over or not self.hands[seat]

    def specials(self, seat):
        """Rule 6.3."""
        cards = set(self.hands[seat])
        for meld in self.melds:
            if meld["owner"] == seat:
                cards |= meld["own"]
        return sum(card[0] in "AK" for card in cards)


def check_actions(record, table):
    at = record["opened_at"]
    for number, taken in enumerate(record["actions"]):
        try:
            in_time = at <= taken["at"] <= record["finished_at"]
            check(in_time, "8.2", "it is out of order in time")
            table.act(taken["seat"], taken["action"])
        except Fault as fault:
            raise Fault("9.5", f"action {number}: {fault}") from None
        at = taken["at"]


# Coins: rules 6.7 to 7.5, in hundredths of a coin.


def check_settlement(record, table):
    price, hits = record["terms"]["price"], record["terms"]["hits"]
    outcome, settlement = record["outcome"], record["settlement"]
    winner, left = outcome["winner"], list(record["stakes"])
    check(winner == settlement["winner"], "6.7", "the winner is not the outcome's")
    check(len(left) == 3, "6.9", "the stakes are not one a seat")
    crown, pot = None, None
    takes_pot = outcome["takes_pot"]
    if winner is not None:
        player, before = record["players"][winner], record["crown_before"]
        wins = before["wins"] + 1 if before and before["player"] == player else 1
        crown = {"player": player, "wins": wins}
        takes_pot = takes_pot or wins >= hits["to_win"]
        if takes_pot:
            pot, crown = {"seat": winner, "amount": record["pot_before"]}, None

    debts = [
        (debt["from"], debt["to"], debt["items"], price["multiplier"])
        for debt in outcome["debts"]
    ]
    if winner is not None and not takes_pot and crown["wins"] == 2 and hits["second_hit_bonus"]:
        item = {"name": "second_hit", "rule": "7.5", "counts": hits["second_hit_bonus"]}
        debts += [((winner + step) % 3, winner, [item], 1) for step in (1, 2)]
    payments = []
    for source, target, items, multiplier in debts:
        owed = sum(item["counts"] for item in items) * price["bet"] * multiplier
        paid = min(owed, left[source])
        left[source] -= paid
        payments.append({"from": source, "to": target, "items": items, "owed": owed, "paid": paid})
    check(payments == settlement["payments"], "6.7", "the payments are not those of the counts")
    for debt in outcome["debts"]:
        special = sum(item["counts"] for item in debt["items"] if item["rule"] == "6.3")
        each = record["terms"]["rules"]["counts"]["special"]
        check(special == each * table.specials(winner), "6.3", "the aces and kings are others")

    fees = []
    for seat in range(3):
        gross = sum(payment["paid"] for payment in payments if payment["to"] == seat)
        if gross:
            fee = gross * price["fee_basis_points"] // 10_000
            fees.append({"seat": seat, "gross": gross, "fee": fee})
    check(fees == settlement["fees"], "6.8", "the fee is not the share of what was paid")
    check(pot == settlement["pot"], "7.2", "the POT's payout is not that of the crowns")
    pot_after = 0 if pot else record["pot_before"]
    check(record["pot_after"] == pot_after, "7.2", "the POT left is another")
    check(record["crown_after"] == crown, "7.2", "the crown is not that of the wins in a row")


def verify(record):
    """Raises the first fault; else says what was checked."""
    check(record["format"] == "bahay/record/v1", "9.5", "the record is of another format")
    check(record["kind"] == "tongits", "9.5", "the record is of another game")
    table = Table(*check_deal(record))
    check_actions(record, table)
    check_settlement(record, table)
    return f"game {record['game']}: deal, {len(record['actions'])} actions' cards, settlement"


def main(names):
    # A verifier that cannot do the published example verifies nothing.
    first = b"".join(struct.pack("<I", word) for word, _ in zip(keystream(bytes(32)), range(4)))
    assert first.hex() == "76b8e0ada0f13d90405d6ae55386bd28", "ChaCha20 is broken here"
    code = 0
    for name in names:
        try:
            with sys.stdin if name == "-" else open(name, encoding="utf-8") as file:
                print(f"verified: {verify(json.load(file))}")
        except Fault as fault:
            print(f"{name}: does not hold: {fault}")
            code = max(code, 1)
        except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            print(f"{name}: not a record of Tong-its: {error!r}")
            code = 2
    return code


if __name__ == "__main__":
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(main(sys.argv[1:]))
