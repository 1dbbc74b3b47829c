#!/usr/bin/env python3
"""Checks the record of a game of Tong-its with nothing but Python's standard library.

    python3 docs/verify.py record.json ...      (- for standard input)

It implements docs/rules/tongits.md and docs/FAIRNESS.md and shares no code with the server. The form of
a record, the keystream and the arithmetic of coins are in verify_record.py. It recomputes the
commitment, the key of the deal, the starter, the deck and the hands; replays every action under the
record's rule set; determines the winner and each loser's debt, item by item; and recomputes settlement,
fee, POT and crown.

Exit code 0: every record holds. 1: at least one does not; its line names the reason and the rule. 2: a
file is not the record of a game of Tong-its.
"""

import hashlib
import struct
import sys
from functools import cache
from itertools import combinations

sys.dont_write_bytecode = True  # Leaves no cache in the documentation's folder.

from verify_record import U8, Fault, ascending, by_type, check, check_form, check_players
from verify_record import check_pot, check_settlement, check_stakes, deal_key, keystream
from verify_record import draw_uniform, record_form, run, shuffle_deck

RANKS, SUITS = "A23456789TJQK", "CDHS"
JOKERS = ["X1", "X2"]
STANDARD = [rank + suit for suit in SUITS for rank in RANKS]
CARDS = STANDARD + JOKERS  # by index, rule 1.12
INDEX = {card: index for index, card in enumerate(CARDS)}


# The deal: rules 2.3 and 9.4.


def deal_hands(deck, starter, rules):
    """Rule 2.3. Returns the hands by seat, and the stock, top card first."""
    step = -1 if rules["deal"] == "clockwise" else 1
    hands, each = [set(), set(), set()], rules["hand_cards"]
    for place in range(3 * each):
        hands[(starter + step * place) % 3].add(CARDS[deck[place]])
    hands[starter].add(CARDS[deck[3 * each]])
    return hands, [CARDS[card] for card in deck[3 * each + 1 :]]


def check_deal(record):
    """Checks commitment, starter and deck; returns starter, hands and stock."""
    server_seed = bytes.fromhex(record["server_seed"])
    commitment = hashlib.sha256(server_seed).hexdigest()
    check(commitment == record["commitment"], "9.1", "the commitment does not match the seed")
    words = keystream(deal_key(server_seed, record))
    starter, draws = record["starter"], list(record["chance"])
    if starter is None:
        starter = draw_uniform(words, 3)
        drawn = draws and draws.pop(0) == {"number": starter}
        check(drawn, "9.4", "the starter is not the drawn one")
    rules = record["terms"]["rules"]
    deck = shuffle_deck(words, len(CARDS) if rules["jokers"] else len(STANDARD))
    check(draws == [{"order": deck}], "9.4", "the deck is not the drawn one")
    return starter, *deal_hands(deck, starter, rules)


# Melds: rules 1.4, 1.6, 1.9 to 1.11, 11.1.


def points(cards):
    return sum(min(RANKS.index(card[0]) + 1, 10) for card in cards if card not in JOKERS)


def naturals(cards):
    return [card for card in cards if card not in JOKERS]


def is_natural_meld(cards):
    ranks = sorted(RANKS.index(card[0]) for card in cards)
    is_set = len(set(ranks)) == 1
    is_row = ranks == list(range(ranks[0], ranks[0] + len(ranks)))
    return len(ranks) >= 3 and (is_set or (is_row and len({card[1] for card in cards}) == 1))


def is_meld(cards):
    others = naturals(cards)
    if len(others) == len(cards):
        return bool(cards) and is_natural_meld(cards)
    stand_ins = (card for card in STANDARD if card not in others)
    one_joker = len(others) == len(cards) - 1
    return one_joker and any(is_natural_meld([*others, card]) for card in stand_ins)


def is_secret(cards, run_min):
    """Rule 1.6, for cards that form a meld."""
    is_set = len({card[0] for card in cards}) == 1
    is_long = len(cards) == 4 if is_set else 0 < run_min <= len(cards)
    return is_long and len(naturals(cards)) == len(cards)


def natural_melds(cards):
    """Yields every meld without a joker among the cards."""
    for rank in RANKS:
        same = [rank + suit for suit in SUITS if rank + suit in cards]
        for size in (3, 4):
            yield from map(frozenset, combinations(same, size))
    for suit in SUITS:
        for first in range(len(RANKS)):
            run = []
            for rank in RANKS[first:]:
                if rank + suit not in cards:
                    break
                run.append(rank + suit)
                if len(run) >= 3:
                    yield frozenset(run)


def find_melds(hand):
    """Returns every meld among the cards, including those in which a joker replaces a card."""
    cards = set(naturals(hand))
    found = set(natural_melds(cards))
    jokers = set(hand) - cards
    if jokers:
        for card in STANDARD:
            near = {other for other in cards if other[0] == card[0] or other[1] == card[1]}
            for meld in natural_melds(near | {card}):
                if card in meld:
                    found |= {meld - {card} | {joker} for joker in jokers}
    return found


def arrange_hand(hand, run_min):
    """Rule 1.10. Returns the points of loose cards, the number of secret melds, and the melds."""
    by_first = {}
    for meld in find_melds(hand):
        by_first.setdefault(min(meld, key=INDEX.get), []).append(meld)

    @cache
    def best(left):
        rest = naturals(left)
        if not rest:
            return (0, 0, 0, ())
        first = min(rest, key=INDEX.get)
        # The best arrangement minimises all three numbers.
        loose, secret, melds, listed = best(left - {first})
        found = (loose + points([first]), secret, melds, listed)
        for meld in by_first.get(first, []):
            if meld <= left:
                loose, secret, melds, listed = best(left - meld)
                indices = tuple(sorted(map(INDEX.get, meld)))
                one = is_secret(meld, run_min)
                found = min(found, (loose, secret - one, melds - 1, (indices, *listed)))
        return found

    loose, secret, _, listed = best(frozenset(hand))
    return loose, -secret, listed


def holds_secret(hand, run_min):
    """Rule 1.8. Returns whether any arrangement of the hand has a secret meld."""
    return any(is_secret(meld, run_min) for meld in natural_melds(hand))


# Play: chapters 3 to 5, 10 and 11.


class Table:
    def __init__(self, rules, starter, hands, stock):
        self.rules, self.seat, self.hands, self.stock = rules, starter, hands, stock
        self.run_min = rules["secret_run_min"]
        self.discards, self.melds, self.answers, self.asked = [], [], [], set()
        self.phase, self.drawn, self.drew_last = "play", None, None
        self.added_to, self.yet_to_act, self.blocked = set(), {0, 1, 2}, False
        # The ending (tongits, spread, fight, zero_count_fight or stock) and the winner.
        self.ending, self.winner, self.showdown, self.shown = None, None, set(), None

    def hand(self):
        return self.hands[self.seat]

    def is_open(self, seat):
        return any(meld["owner"] == seat and not meld["down"] for meld in self.melds)

    def has_down(self, seat):
        return any(meld["owner"] == seat and meld["down"] for meld in self.melds)

    def has_no_loose_cards(self):
        return arrange_hand(self.hand(), self.run_min)[0] == 0

    def is_addable(self, card):
        return any(is_meld(meld["cards"] | {card}) for meld in self.melds if not meld["down"])

    def may_fight(self):
        return self.is_open(self.seat) and not self.blocked

    def may_spread(self):
        return self.rules["spread"] and self.seat in self.yet_to_act and self.has_no_loose_cards()

    def may_chow(self):
        top = set(self.discards[-1:])
        return bool(top) and any(top <= meld for meld in find_melds(self.hand() | top))

    def may_dump(self):
        cards = naturals(self.hand())
        return [card for card in cards if self.rules["dump_addable"] or not self.is_addable(card)]

    def draw(self):
        check(self.stock, "5.1", "a card is drawn from an empty stock")
        self.drawn = self.stock.pop(0)
        self.hand().add(self.drawn)
        self.drew_last, self.phase = (None if self.stock else self.seat), "play"
        self.yet_to_act.discard(self.seat)

    def begin_turn(self):
        self.seat = (self.seat + 1) % 3
        self.phase, self.drawn = "draw", None
        self.blocked = self.seat in self.added_to
        self.added_to.discard(self.seat)
        may_choose = self.may_fight() or self.may_spread() or self.may_chow()
        if self.rules["auto_draw"] and not may_choose:
            self.draw()  # Rule 3.1.

    def take(self, cards, rule):
        check(len(set(cards)) == len(cards), rule, "a card is played twice")
        missing = set(cards) - self.hand()
        check(not missing, rule, f"seat {self.seat} does not hold {' '.join(sorted(missing))}")
        self.hands[self.seat] = self.hand() - set(cards)

    def lay(self, cards, down=False):
        check(is_meld(cards), "1.4", "the cards are not a meld")
        down_is_right = self.rules["bahay"] and is_secret(cards, self.run_min)
        check(not down or down_is_right, "3.4", "the face-down cards are not a secret meld")
        meld = {"owner": self.seat, "cards": set(cards), "own": set(cards)}
        self.melds.append({**meld, "down": down, "sagasa": False})

    def add(self, card, number):
        check(number < len(self.melds), "3.5", "the meld does not exist")
        meld = self.melds[number]
        check(not meld["down"], "3.4", "a face-down meld cannot be extended")
        self.take([card], "3.5")
        before = meld["cards"]
        is_three = len(before) == 3 and len({other[0] for other in before}) == 1
        is_own = meld["owner"] == self.seat
        if self.rules["sagasa"] and is_own and is_three and card == self.drawn:
            meld["sagasa"] = card not in JOKERS  # Rule 10.2.
        meld["cards"] = before | {card}
        check(is_meld(meld["cards"]), "3.5", "the card does not extend the meld")
        if is_own:
            meld["own"].add(card)
        if not is_own or self.rules["fight_blocked_by"] == "anyone":
            self.added_to.add(meld["owner"])

    def default_action(self, seat):
        """Rule 8.2. Returns the action that the clock plays, as far as a record determines it."""
        if self.phase == "fight":
            return {"type": "fold"}
        if self.phase == "draw":
            return {"type": "draw"}

        def height(card):
            return (RANKS.index(card[0]), SUITS.index(card[1]))

        cards = self.may_dump()
        if cards:
            return {"type": "dump", "card": max(cards, key=height)}
        cards = naturals(self.hands[seat])
        if not cards:
            return {"type": "tongits"}
        card = max((card for card in cards if self.is_addable(card)), key=height)
        takes = [not meld["down"] and is_meld(meld["cards"] | {card}) for meld in self.melds]
        return {"type": "sapaw", "card": card, "meld": takes.index(True)}

    def act(self, seat, action):
        kind = action["type"]
        check(self.ending is None, "2.5", "the game was over")
        if self.phase == "fight" or kind in ("challenge", "fold"):
            self.answer(seat, kind)
            return
        check(seat == self.seat, "1.1", f"it is the turn of seat {self.seat}")
        may_spread = kind == "tongits" and self.phase == "draw" and self.may_spread()
        if self.phase == "draw":
            begins = kind in ("draw", "chow", "fight") or may_spread
            check(begins, "3.1", "a turn begins with a draw, a chow or a fight")
        else:
            check(kind not in ("draw", "chow", "fight"), "3.1", "the turn has begun already")
        if kind == "draw":
            self.draw()
        elif kind == "chow":
            check(self.discards, "3.2", "the discard pile is empty")
            check(len(action["cards"]) >= 2, "3.2", "a chow needs at least two cards of the hand")
            self.take(action["cards"], "3.2")
            self.lay([*action["cards"], self.discards.pop()])
            self.phase = "play"
        elif kind == "drop":
            self.take(action["cards"], "3.4")
            self.lay(action["cards"], action.get("face_down", False))
        elif kind == "sapaw":
            self.add(action["card"], action["meld"])
        elif kind == "dump":
            self.dump(action["card"])
            return
        elif kind == "tongits":
            check(self.has_no_loose_cards(), "3.7", "Tongits is declared with cards left over")
            is_spread = self.rules["spread"] and seat in self.yet_to_act
            self.end("spread" if is_spread else "tongits", seat)
        else:
            check(kind == "fight", "3.1", f"unknown action {kind}")
            self.fight()
        self.yet_to_act.discard(seat)
        self.end_if_empty()

    def dump(self, card):
        check(card not in JOKERS, "11.1", "a joker is dumped")
        check(card not in self.hand() or card in self.may_dump(), "3.6", f"{card} could be added")
        self.take([card], "3.6")
        self.discards.append(card)
        self.yet_to_act.discard(self.seat)
        self.end_if_empty()
        if self.ending is None and not self.stock:
            self.end("stock", self.stock_winner())
        elif self.ending is None:
            self.begin_turn()

    def end_if_empty(self):
        """Rules 3.8 and 11.1."""
        if self.ending is None and not naturals(self.hand()):
            self.end("tongits", self.seat)

    def fight(self):
        check(self.may_fight(), "4.1", "a fight needs an exposed meld to which no card was added")
        if self.rules["zero_count_fight"] and self.has_no_loose_cards():
            self.end("zero_count_fight", self.seat)
            return
        self.phase = "fight"
        for other in {0, 1, 2} - {self.seat}:
            secret = self.has_down(other) or holds_secret(self.hands[other], self.run_min)
            if self.is_open(other) or (self.rules["secret_may_challenge"] and secret):
                self.asked.add(other)
        if not self.asked:
            self.end("fight", self.seat)

    def answer(self, seat, kind):
        is_answer = self.phase == "fight" and kind in ("challenge", "fold")
        check(is_answer, "4.2", "only a fight is answered, with a challenge or a fold")
        check(seat in self.asked, "4.2", f"seat {seat} is not prompted")
        self.asked.discard(seat)
        if kind == "challenge":
            self.answers.append(seat)
        if not self.asked:
            self.end("fight", self.fight_winner())

    def fight_winner(self):
        """Rules 4.3 and 4.4. Returns the winner of a fight."""
        fighter, challengers = self.seat, self.answers
        if not challengers:
            return fighter
        self.showdown = {fighter, *challengers}
        left = {seat: arrange_hand(self.hands[seat], self.run_min)[0] for seat in self.showdown}
        fewest = min(left[seat] for seat in challengers)
        if left[fighter] < fewest:
            return fighter
        tied = [seat for seat in challengers if left[seat] == fewest]
        if self.rules["challengers_tied"] == "last_answer":
            return tied[-1]
        return min(tied, key=lambda seat: (seat - fighter) % 3)

    def show(self, winner, by_tongits):
        """Rules 1.8 and 1.11. Returns for each seat whether it is burned, its points and its secret melds."""
        shown = []
        for seat, hand in enumerate(self.hands):
            loose, secret, _ = arrange_hand(hand, self.run_min)
            keeps = self.has_down(seat) or holds_secret(hand, self.run_min)
            has_tongits = by_tongits and seat == winner
            burned = not has_tongits and not self.is_open(seat) and not keeps
            counts = points(hand) if burned else loose
            shown.append({"burned": burned, "points": counts, "secret": secret})
        return shown

    def stock_winner(self):
        """Rules 5.2 and 5.3. Returns the winner when the stock is empty."""
        shown = self.show(None, False)
        seats = [(self.drew_last + step) % 3 for step in range(3)]
        if all(one["burned"] for one in shown):
            if self.rules["all_burned"] == "nobody":
                return None
        else:
            seats = [seat for seat in seats if not shown[seat]["burned"]]
        return min(seats, key=lambda seat: shown[seat]["points"])

    def end(self, ending, winner):
        self.ending, self.winner = ending, winner
        self.shown = self.show(winner, ending in ("tongits", "spread"))


def check_actions(record, table):
    at = record["opened_at"]
    for number, taken in enumerate(record["actions"]):
        try:
            in_time = at <= taken["at"] <= record["finished_at"]
            check(in_time, "8.2", "its time is out of order")
            if taken["by"] == "clock":
                is_asked = table.phase == "fight" or taken["seat"] == table.seat
                check(is_asked, "1.1", f"it is the turn of seat {table.seat}")
                fits = table.default_action(taken["seat"]) == taken["action"]
                check(fits, "8.2", "it is not the action of the clock")
            table.act(taken["seat"], taken["action"])
        except Fault as fault:
            raise Fault("9.5", f"action {number}: {fault}") from None
        at = taken["at"]
    check(table.ending, "3.8", "the actions end before the game does")


# Debts: rules 6.1 to 6.6, or 10.1 to 11.3.


def items_owed(table, loser):
    counts, rules = table.rules["counts"], table.rules
    won, lost = table.shown[table.winner], table.shown[loser]
    own = [meld for meld in table.melds if meld["owner"] == table.winner]
    secret = won["secret"] + sum(meld["down"] or meld["sagasa"] for meld in own)
    by_tongits = table.ending in ("tongits", "spread")
    in_showdown = loser in table.showdown
    if "normal" in counts:
        special = set(table.hands[table.winner]).union(*(meld["own"] for meld in own))
        lines = [
            ("normal", "6.1", counts["normal"]),
            ("tongits", "6.2", by_tongits * counts["tongits"]),
            ("special", "6.3", sum(card[0] in "AK" for card in special) * counts["special"]),
            ("secret", "6.4", secret * counts["secret"]),
            ("challenge", "6.5", in_showdown * counts["challenge"]),
            ("burned", "6.6", (lost["burned"] and not in_showdown) * counts["burned"]),
        ]
    else:
        challenged = table.ending == "fight" and bool(table.showdown)
        name = "challenge" if challenged else table.ending
        rule = {"spread": "10.3", "zero_count_fight": "11.2"}.get(name, "10.1")
        varies = in_showdown or table.ending in ("stock", "zero_count_fight")
        more = max(0, lost["points"] - won["points"]) // counts["variable_points"]
        lines = [
            (name, rule, counts["tongits" if by_tongits else name]),
            ("secret", "10.1", by_tongits * secret * counts["secret"]),
            ("burned", "10.1", (lost["burned"] and not won["burned"]) * counts["burned"]),
            ("variable", "11.3", (rules["variable_payout"] and varies) * more),
        ]
    listed = [lines[0], *(line for line in lines[1:] if line[2])]
    return [{"name": name, "rule": rule, "counts": owed} for name, rule, owed in listed]


def check_outcome(outcome, table):
    check(outcome["winner"] == table.winner, "6", "the winner is wrong")
    check(outcome["takes_pot"] == (table.ending == "spread"), "10.3", "only a Spread takes the POT")
    losers = [] if table.winner is None else [(table.winner + step) % 3 for step in (1, 2)]
    debts = outcome["debts"]
    seats = [(debt["from"], debt["to"]) for debt in debts]
    check(seats == [(loser, table.winner) for loser in losers], "6.7", "the wrong seats owe")
    for debt in debts:
        owed = items_owed(table, debt["from"])
        for ours, theirs in zip(owed, debt["items"]):
            check(ours == theirs, ours["rule"], f"seat {debt['from']} must owe {ours}")
        check(len(owed) == len(debt["items"]), "6.7", f"seat {debt['from']} must owe {owed}")


# The form of the rules: docs/rules/tongits.md documents each switch.

COUNT = range(10_001)
CARD = set(STANDARD + JOKERS)
CARD_SET = ascending(CARD, INDEX.get)
MILLISECONDS = range(1, 2**32)
ITEM_COUNTS = "normal tongits special secret challenge burned"
ENDING_COUNTS = "tongits fight challenge stock zero_count_fight burned secret"
RULES = {
    "deal": {"clockwise", "counterclockwise"},
    "hand_cards": range(1, 17),
    "jokers": bool,
    "auto_draw": bool,
    "dump_addable": bool,
    "secret_run_min": range(14),
    "bahay": bool,
    "sagasa": bool,
    "spread": bool,
    "fight_blocked_by": {"anyone", "opponents"},
    "secret_may_challenge": bool,
    "challengers_tied": {"first_after_fighter", "last_answer"},
    "zero_count_fight": bool,
    "variable_payout": bool,
    "all_burned": {"fewest_points", "nobody"},
    "counts": (
        dict.fromkeys(ITEM_COUNTS.split(), COUNT),
        {**dict.fromkeys(ENDING_COUNTS.split(), COUNT), "variable_points": range(1, 10_001)},
    ),
    "countdowns": dict.fromkeys(["draw_ms", "play_ms", "fight_ms"], MILLISECONDS),
}
ACTION = by_type(
    {
        "draw": {},
        "chow": {"cards": CARD_SET},
        "fight": {},
        "drop": {"cards": CARD_SET, "face_down?": True},
        "sapaw": {"card": CARD, "meld": U8},
        "dump": {"card": CARD},
        "tongits": {},
        "challenge": {},
        "fold": {},
    }
)
RECORD = record_form("tongits", RULES, ACTION)


def check_rules(rules):
    """Checks that the switches permit a deal."""
    run_min = rules["secret_run_min"]
    check(run_min not in (1, 2, 3), "1.6", "a secret run has four cards or more")
    by_ending = "normal" not in rules["counts"]
    for switch in ("sagasa", "zero_count_fight", "variable_payout"):
        check(by_ending or not rules[switch], "10", f"{switch} needs counts by ending")


def counts_max(rules):
    """Rule 6.9. Returns the most that one loser can owe, in counts."""
    counts, cards = rules["counts"], rules["hand_cards"]
    secret = (cards + 1) // 4 * counts["secret"]
    if "normal" in counts:
        dearest = max(counts["challenge"], counts["tongits"] + counts["burned"])
        special = min(8, cards + 1) * counts["special"]
        return counts["normal"] + dearest + special + secret

    def more(cards, same):
        """Rule 11.3, for a hand with at most `same` cards of one rank."""
        dearest = sorted(STANDARD, key=lambda card: -points([card]))
        taken = [card for card in dearest if SUITS.index(card[1]) < same][:cards]
        return points(taken) // counts["variable_points"] if rules["variable_payout"] else 0

    burned = counts["burned"] + more(cards, 3)
    endings = [
        counts["tongits"] + counts["burned"] + secret,
        counts["fight"] + counts["burned"],
        counts["challenge"] + max(counts["burned"], more(max(0, cards - 3), 2)),
        counts["stock"] + burned,
    ]
    return max([*endings, counts["zero_count_fight"] + burned] if rules["zero_count_fight"] else endings)


def verify(record):
    """Raises the first fault, or returns a summary of the checks."""
    check_form(record, RECORD)
    rules = record["terms"]["rules"]
    check_rules(rules)
    check_players(record, range(3, 4))
    check_stakes(record, counts_max(rules), 1, may_be_short=True)
    check_pot(record)
    table = Table(rules, *check_deal(record))
    check_actions(record, table)
    check_settlement(record)
    check_outcome(record["outcome"], table)
    return f"game {record['game']}: deal, {len(record['actions'])} actions, counts, settlement"


def main(names):
    # The keystream must reproduce the test vector of RFC 8439.
    first = b"".join(struct.pack("<I", word) for word, _ in zip(keystream(bytes(32)), range(4)))
    assert first.hex() == "76b8e0ada0f13d90405d6ae55386bd28", "ChaCha20 is broken here"
    return run(names, verify, "Tong-its")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(main(sys.argv[1:]))
