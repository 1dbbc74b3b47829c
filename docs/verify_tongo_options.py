#!/usr/bin/env python3
"""Checks the record of a game of Tongo (options) with nothing but Python's standard library.

    python3 docs/verify_tongo_options.py record.json ...      (- for standard input)

It implements docs/rules/tongo_options.md and docs/FAIRNESS.md and shares no code with the server. The
keystream is in verify.py, the form of a record and the arithmetic of coins in verify_record.py. It
recomputes the commitment, the key, the dealer, both decks, the hands, the floors and every die and
shuffle; replays every action under the record's rule set; determines the winner and each other seat's
debt, item by item; and recomputes settlement, fee, POT and crown.

Exit code 0: every record holds. 1: at least one does not; its line names the reason and the rule. 2: a
file is not the record of a game of Tongo (options).
"""

import hashlib
import sys
from itertools import permutations

sys.dont_write_bytecode = True  # Leaves no cache in the documentation's folder.

from verify import deal_key, draw_uniform, keystream, shuffle_deck
from verify_record import SEAT, U8, U16, Fault, by_type, check, check_form, check_players
from verify_record import check_pot, check_settlement, check_stakes, expect, record_form, run

NUMBERS, SUITS = "A23456789TJK", "DHSC"
CARDS = [number + suit for suit in SUITS for number in NUMBERS]  # by index, rule 1.2
DICE = [(1, 4), (5, 4), (9, 4), (1, 6), (7, 6)]  # rule 1.4: lowest value and number of sides
COSTS = ("buy", "sell", "exchange")
# Rule 8.3: the purposes of payments, in the order of the items of a settlement.
LINES = [
    ("buy_in", "1.6"),
    ("risk", "3.3"),
    ("buys", "3.4"),
    ("sells", "3.4"),
    ("exchanges", "3.4"),
    ("rates", "3.4"),
    ("evasion", "3.5"),
    ("answer", "8.4"),
    ("reserves", "5.1"),
]


def number_of(card):
    return NUMBERS.index(card[0]) + 1


# Strength: rules 8.1, 8.2. Every matching is tried.


def strength(hand, floor, dice):
    """Returns pairs by class, highest first, then numbers and suits; greater is stronger."""
    best = ((0,) * 6, (), ())
    hand = [card for card in hand if any(other[0] == card[0] for other in floor)]
    padded = list(floor) + [None] * len(hand)
    for chosen in set(permutations(padded, len(hand))):
        pairs = [(mine, other) for mine, other in zip(hand, chosen) if other]
        if any(mine[0] != other[0] for mine, other in pairs):
            continue
        for order in permutations(pairs):
            best = max(best, ranked(order, dice))
    return best


def ranked(pairs, dice):
    """Assigns the dice to the pairs in this order; each pair takes as many as it can."""
    left, made = list(dice), []
    for mine, other in pairs:
        used = 0
        while number_of(mine) in left and used < 2:
            left.remove(number_of(mine))
            used += 1
        made.append((2 * used + (mine == other), number_of(mine), -SUITS.index(mine[1])))
    counts = tuple(sum(one[0] == kind for one in made) for kind in (5, 4, 3, 2, 1, 0))
    made.sort(reverse=True)
    return counts, tuple(one[1] for one in made), tuple(one[2] for one in made)


class Table:
    """The state of a game, with every payment by its purpose."""

    def __init__(self, record, words):
        self.rules, self.words = record["terms"]["rules"], words
        self.seats, self.chance = len(record["players"]), list(record["chance"])
        self.dealer = record["starter"]
        if self.dealer is None:
            self.dealer = self.draw_number(self.seats)
        self.deck = [CARDS[card] for card in self.draw_order(len(CARDS))]
        options = [CARDS[card] for card in self.draw_order(len(CARDS))]
        self.floors = [options[3 * floor : 3 * floor + 3] for floor in range(8)]
        self.free = [options[24 + 3 * floor : 27 + 3 * floor] for floor in range(8)]
        self.up = [[False, False, True] for _ in range(8)]
        self.dice = self.draw_dice()
        self.hands = [[] for _ in range(self.seats)]
        for place in range(4 * self.seats):
            self.hands[(self.dealer + 1 + place) % self.seats].append(self.deck.pop(0))
        start = self.rules["start_cost"]
        self.costs = {name: start for name in COSTS}
        self.chips = [self.rules["chips"]] * self.seats
        self.paid = [{name: 0 for name, _ in LINES} for _ in range(self.seats)]
        self.folded, self.tokens = set(), set(range(self.seats))
        self.leveraged, self.facing = set(), [0] * self.seats
        # The previous turn of each seat: retreat, token, paid or confront (rule 3.2).
        self.previous = [set() for _ in range(self.seats)]
        self.round, self.converter, self.wager = 1, None, None
        self.ending = self.winner = None
        for seat in range(self.seats):
            self.pay(seat, self.rules["buy_in"], "buy_in")
        self.begin_turn((self.dealer + 1) % self.seats)

    # Draws of chance, in order, from the keystream.

    def check_draw(self, answer):
        check(self.chance and self.chance.pop(0) == answer, "2.1", "the draw does not follow from the seeds")

    def draw_number(self, n):
        number = draw_uniform(self.words, n)
        self.check_draw({"number": number})
        return number

    def draw_order(self, n):
        order = shuffle_deck(self.words, n)
        self.check_draw({"order": order})
        return order

    def draw_dice(self):
        """Draws the value and the place of each die."""
        kinds = DICE if self.rules["dice_2d6"] else DICE[:3]
        drawn = []
        for lowest, sides in kinds:
            value = lowest + self.draw_number(sides)
            drawn.append((value, self.draw_number(16)))
        return drawn

    # Chips.

    def pay(self, seat, chips, purpose):
        has = self.wager_left if purpose != "buy_in" and self.is_spending(seat) else self.chips[seat]
        check(0 <= chips <= has, "1.5", f"seat {seat} pays {chips} of {has} chips")
        self.chips[seat] -= chips
        self.paid[seat][purpose] += chips
        if purpose != "buy_in" and self.is_spending(seat):
            self.wager_left -= chips

    def is_spending(self, seat):
        return self.phase == "turn" and seat == self.seat and self.wager_left is not None

    phase, seat, wager_left = "deal", None, None

    def pot(self):
        return sum(sum(paid.values()) for paid in self.paid)

    def risk(self):
        if self.converter is not None:
            return 0
        return max(0, self.costs["sell"] - self.costs["buy"])

    # Turns.

    def still_in(self):
        return [seat for seat in range(self.seats) if seat not in self.folded]

    def left_of(self, seat):
        return [(seat + step) % self.seats for step in range(1, self.seats)]

    def begin_turn(self, seat):
        self.seat, self.phase = seat, "stop"
        # Rank of the last step of the turn: 0 nothing, 1 paid, 2 lowered, 3 traded, 4 raised, 5 rolled.
        self.step, self.done, self.wager_left = 0, set(), None
        self.risen = [0] * len(COSTS)  # rise of each cost in this turn, rule 1.6

    def pass_turn(self, after):
        """Rules 2.2, 4.1, 4.2 and 5.3."""
        if len(self.still_in()) == 1:
            self.show("last_in", self.still_in()[0], self.still_in())
            return
        steps, following = 0, after
        first = (self.dealer + 1) % self.seats
        new_round = False
        while steps == 0 or following in self.folded:
            following = (following + 1) % self.seats
            new_round = new_round or following == first
            steps += 1
        if self.converter is not None:
            if following == self.converter:
                self.show("reserves", following, self.still_in())
                return
        elif new_round and self.round >= self.rules["rounds_max"]:
            self.show("rounds", following, self.still_in())
            return
        self.round += new_round
        self.begin_turn(following)

    def end_turn(self, seat, was=()):
        self.previous[seat] = set(was)
        self.pass_turn(seat)

    def show(self, ending, by, seats):
        """Rules 6.3, 7.2 and 8.2: the strongest wins, of equals the first left of the challenger."""
        self.phase, self.ending = "over", ending
        ups = [
            [card for card, up in zip(cards, ups) if up]
            for cards, ups in zip(self.floors, self.up)
        ]
        values = [value for value, _ in self.dice]
        best = None
        for seat in [*self.left_of(by), by]:
            if seat not in seats:
                continue
            acquires = ending == "acquire" and seat == by
            floors = [ups[self.facing[seat]]] if acquires else ups
            found = max(strength(self.hands[seat], floor, values) for floor in floors)
            if best is None or found > best:
                best, self.winner = found, seat

    # Legal actions.

    def may_evade(self, seat):
        return seat in self.tokens and not self.previous[seat]

    def default_action(self, seat):
        """Rule 9.1."""
        if self.phase == "stop":
            return {"type": "stop", "floor": self.facing[seat]}
        if self.phase == "answer":
            return {"type": "stand" if seat == self.target else "fold"}
        if self.converter is not None and self.wager_left is None:
            return {"type": "fold"}
        if self.wager_left is None and self.step == 0:
            if not self.previous[seat] & {"retreat", "token", "paid"}:
                return {"type": "retreat"}
            if self.risk() > self.chips[seat]:
                return {"type": "fold"}
            if self.risk() > 0:
                return {"type": "pay_risk"}
        return {"type": "end"}

    def act(self, seat, action):
        check(self.phase != "over", "4.1", "the game was over")
        kind = action["type"]
        if self.phase == "answer":
            self.answer(seat, kind, action)
            return
        check(seat == self.seat, "2.2", f"it is the turn of seat {self.seat}")
        if self.phase == "stop":
            check(kind == "stop" and 0 <= action["floor"] < 8, "3.1", "the floor's stop must be chosen first")
            self.facing[seat], self.phase = action["floor"], "turn"
            return
        check(kind not in ("stop", "stand", "join"), "3.1", f"{kind} is not possible now")
        converted = self.wager_left is not None
        if self.converter is not None and not converted:
            check(kind in ("convert_reserves", "fold"), "5.2", "the conversion of reserves must be answered")
        if converted:
            barred = "retreat evade fold pay_risk confront acquire convert_reserves pay_to_evade"
            check(kind not in barred.split(), "5.1", "the turn can only end")
        getattr(self, f"do_{kind}")(seat, action)

    def open_only(self):
        check(self.step == 0, "3.3", "the turn has begun")

    def begun_only(self):
        check(self.step > 0 or self.risk() == 0, "3.3", "the risk is not paid")

    def do_retreat(self, seat, _):
        self.open_only()
        barred = self.previous[seat] & {"retreat", "token", "paid"}
        check(not barred, "3.2", "a retreat must not follow a retreat or an evasion")
        self.end_turn(seat, ["retreat"])

    def do_fold(self, seat, _):
        self.open_only()
        self.folded.add(seat)
        self.pass_turn(seat)

    def do_evade(self, seat, action):
        self.open_only()
        check(self.may_evade(seat), "3.2", "an evasion by token is not possible")
        self.tokens.discard(seat)
        self.discard(seat, action.get("discards", []))
        self.end_turn(seat, ["token"])

    def discard(self, seat, cards):
        """Rule 3.2."""
        for card in cards:
            check(card in self.hands[seat], "3.2", f"{card} is not in the hand")
            self.hands[seat].remove(card)
        if cards:
            pile = self.deck + cards
            pile = [pile[place] for place in self.draw_order(len(pile))]
            self.hands[seat] += pile[: len(cards)]
            self.deck = pile[len(cards) :]

    def do_pay_risk(self, seat, _):
        self.open_only()
        check(self.risk() > 0, "3.3", "the risk is zero")
        self.pay(seat, self.risk(), "risk")
        self.step = 1

    def do_convert_reserves(self, seat, _):
        """Rules 5.1 and 5.2."""
        if self.converter is None:
            self.converter, self.wager = seat, self.chips[seat]
        self.wager_left = min(self.chips[seat], self.wager)
        self.step = max(self.step, 1)

    def change(self, seat, new, last):
        """Rule 3.4."""
        self.begun_only()
        check(self.step <= last, "3.4", "the turn is past this step")
        check(new != self.costs, "3.4", "no cost changes")
        check(min(new.values()) >= 1, "1.6", "a cost is below 1")
        rises = [new[name] - self.costs[name] for name in COSTS]
        self.risen = [risen + max(0, rise) for risen, rise in zip(self.risen, rises)]
        check(max(self.risen) <= self.rules["raise_max"], "1.6", "a cost is raised too far")
        self.pay(seat, sum(map(abs, rises)), "rates")
        self.costs = new

    def named(self, action):
        given = {name: action[name] for name in COSTS if action.get(name) is not None}
        return {**self.costs, **given}

    def do_lower(self, seat, action):
        new = self.named(action)
        check(all(new[name] <= self.costs[name] for name in COSTS), "3.4", "a cost goes up")
        self.change(seat, new, 1)
        self.step = 2

    def do_raise(self, seat, action):
        new = self.named(action)
        check(all(new[name] >= self.costs[name] for name in COSTS), "3.4", "a cost goes down")
        self.change(seat, new, 3)
        self.step = 4

    def do_index_margin(self, seat, action):
        check(self.rules["index_margin"], "3.4", "this table does not permit indexing the margin")
        percent = action["percent"]
        check(-99 <= percent <= 100 and percent != 0, "3.4", "the percentage is out of bounds")
        check("index" not in self.done, "3.4", "only one index is possible per turn")
        new = {name: max(1, -(-cost * (100 + percent) // 100)) for name, cost in self.costs.items()}
        self.change(seat, new, 3)
        self.done.add("index")
        self.step = 1 if self.step <= 1 else 4

    def trade(self, seat, kind, price, leverage):
        """Rule 3.4."""
        self.begun_only()
        check(self.step <= 3 and kind not in self.done, "3.4", f"{kind} is not possible in this turn any more")
        if leverage:
            check(seat not in self.leveraged, "3.4", "the buy-in has already been used")
            self.leveraged.add(seat)
            price = max(0, price - self.rules["buy_in"])
        self.pay(seat, price, kind)
        self.done.add(kind)
        self.step = 3

    def turn_card(self, seat, action, kind, cost, up):
        floor, slot = self.facing[seat], action["slot"]
        check(0 <= slot < 3, "1.3", "the slot does not exist")
        check(self.up[floor][slot] != up, "3.4", "the card already lies that way")
        self.trade(seat, kind, self.costs[cost], action.get("leverage", False))
        self.up[floor][slot] = up

    def do_buy(self, seat, action):
        self.turn_card(seat, action, "buys", "buy", True)

    def do_sell(self, seat, action):
        self.turn_card(seat, action, "sells", "sell", False)

    def do_exchange(self, seat, action):
        facing, slot, other = self.facing[seat], action["slot"], action["other"]
        floor, leverage = action.get("floor"), action.get("leverage", False)
        check(0 <= slot < 3 and 0 <= other < 3, "1.3", "the slot does not exist")
        check(not self.up[facing][slot], "3.4", "an exchanged card lies face up")
        if floor is None:
            check(self.rules["free_exchange"], "1.3", "a free exchange is not possible")
            check(not leverage, "3.4", "a free exchange has no leverage")
            distance, place = 0, self.free[facing]
        else:
            check(0 <= floor < 8 and floor != facing, "3.4", "the floor does not exist or is the same")
            check(not self.up[floor][other], "3.4", "an exchanged card lies face up")
            straight = abs(floor - facing)
            distance, place = min(straight, 8 - straight), self.floors[floor]
        self.trade(seat, "exchanges", distance * self.costs["exchange"], leverage)
        mine = self.floors[facing]
        mine[slot], place[other] = place[other], mine[slot]

    def do_roll(self, seat, _):
        self.begun_only()
        check(self.step < 5, "3.4", "only one roll is possible per turn")
        floor = self.facing[seat]
        near = {2 * floor, 2 * floor + 1, (2 * floor - 1) % 16}
        check(any(place in near for _, place in self.dice), "3.4", "no die faces the floor")
        self.dice, self.step = self.draw_dice(), 5

    def do_end(self, seat, _):
        self.begun_only()
        if self.wager_left is not None:
            self.pay(seat, self.wager_left, "reserves")
        self.end_turn(seat)

    def do_pay_to_evade(self, seat, action):
        """Rule 3.5."""
        self.begun_only()
        barred = self.previous[seat] & {"retreat", "token", "paid"}
        check(seat in self.tokens and not barred, "3.5", "a paid evasion is not possible")
        check(action["discards"], "3.5", "at least one card must be discarded")
        self.pay(seat, self.risk(), "evasion")
        self.discard(seat, action["discards"])
        self.end_turn(seat, ["paid"])

    def challenge(self, by, target):
        check(self.round >= self.rules["challenge_round"], "8.4", "it is too early to challenge")
        self.phase, self.target, self.joined = "answer", target, []
        self.asked = [seat for seat in self.left_of(by) if seat not in self.folded | {target}]
        if target is not None and self.may_evade(target):
            self.asked.insert(0, target)
        self.decide()

    def do_confront(self, seat, action):
        target = action["target"]
        check(target != seat and target in self.still_in(), "6.1", "the target is not in the game")
        barred = self.previous[seat] & {"retreat", "token", "confront"}
        check(not barred, "6.1", "a confrontation must not follow this turn")
        check("token" not in self.previous[target], "6.1", "the target evaded by token")
        self.challenge(seat, target)

    def do_acquire(self, seat, _):
        self.challenge(seat, None)

    def answer(self, seat, kind, action):
        """Rules 6.2, 7.1 and 8.4."""
        check(seat == self.asked[0], "6.2", f"seat {self.asked[0]} is prompted")
        self.asked.pop(0)
        if seat == self.target and kind == "evade":
            self.tokens.discard(seat)
            self.discard(seat, action.get("discards", []))
            self.previous[seat].add("token")
            self.end_turn(self.seat, ["confront"])
            return
        expected = "confront" if self.target is None else "stand" if seat == self.target else "join"
        may_fold = seat != self.target
        check(kind == expected or (kind == "fold" and may_fold), "6.2", f"{kind} is not a valid answer")
        if kind == "fold":
            self.folded.add(seat)
        else:
            check(action.get("target") is None, "7.1", "this answer names no target")
            pays = self.rules["answer_pays_risk"] and kind != "stand"
            self.pay(seat, min(self.risk(), self.chips[seat]) if pays else 0, "answer")
            self.joined.append(seat)
        self.decide()

    def decide(self):
        if not self.asked:
            ending = "acquire" if self.target is None else "confront"
            others = [] if self.target is None else [self.target]
            self.show(ending, self.seat, [self.seat, *others, *self.joined])


def check_deal(record):
    """Checks the commitment; returns the words of the keystream."""
    server_seed = bytes.fromhex(record["server_seed"])
    commitment = hashlib.sha256(server_seed).hexdigest()
    check(commitment == record["commitment"], "9.1", "the commitment does not match the seed")
    return keystream(deal_key(server_seed, record))


def check_actions(record, table):
    at = record["opened_at"]
    for number, taken in enumerate(record["actions"]):
        try:
            in_time = at <= taken["at"] <= record["finished_at"]
            check(in_time, "9.1", "its time is out of order")
            if taken["by"] == "clock":
                fits = table.default_action(taken["seat"]) == taken["action"]
                check(fits, "9.1", "it is not the action of the clock")
            table.act(taken["seat"], taken["action"])
        except Fault as fault:
            raise Fault("9.5", f"action {number}: {fault}") from None
        at = taken["at"]
    check(table.ending, "4.1", "the actions end before the game does")
    check(not table.chance, "2.1", "the record contains unused draws of chance")


def check_outcome(outcome, table):
    """Rule 8.3."""
    check(outcome["winner"] == table.winner, "8.2", f"the winner is seat {table.winner}")
    check(outcome["takes_pot"] is False, "9.2", "no win of this game takes the POT directly")
    debts = []
    for seat in table.left_of(table.winner):
        paid = table.paid[seat]
        items = [
            {"name": name, "rule": rule, "counts": paid[name]} for name, rule in LINES if paid[name]
        ]
        if items:
            debts.append({"from": seat, "to": table.winner, "items": items})
    check(outcome["debts"] == debts, "8.3", f"the debts must be {debts}")


# The form of the rules: docs/rules/tongo_options.md documents each switch.

CARD = set(CARDS)
NUMBER = range(1, 101)
CHANGES = {"buy?": U16, "sell?": U16, "exchange?": U16}
RULES = {
    "seats_min": range(2, 9),
    "seats_max": range(2, 9),
    "chips": NUMBER,
    "start_cost": NUMBER,
    "raise_max": NUMBER,
    "buy_in": range(101),
    "free_exchange": bool,
    "dice_2d6": bool,
    "index_margin": bool,
    "rounds_max": NUMBER,
    "challenge_round": NUMBER,
    "answer_pays_risk": bool,
    "countdowns": dict.fromkeys(["stop_ms", "turn_ms", "answer_ms"], range(1, 2**32)),
}


def discards(value, path):
    check_form(value, [CARD], path)
    expect(1 <= len(value) <= 4, path, "one to four cards")


ACTION = by_type(
    {
        **dict.fromkeys("retreat convert_reserves acquire fold pay_risk roll end".split(), {}),
        **dict.fromkeys(("stand", "join"), {}),
        "stop": {"floor": U8},
        "evade": {"discards?": discards},
        "confront": {"target?": SEAT},
        "lower": CHANGES,
        "raise": CHANGES,
        "buy": {"slot": U8, "leverage?": True},
        "sell": {"slot": U8, "leverage?": True},
        "exchange": {"slot": U8, "floor?": U8, "other": U8, "leverage?": True},
        "index_margin": {"percent": range(-128, 128)},
        "pay_to_evade": {"discards": discards},
    }
)
RECORD = record_form("tongo_options", RULES, ACTION)


def check_rules(rules):
    """Checks that the switches permit a deal."""
    check(rules["seats_min"] <= rules["seats_max"], "1.1", "the maximum of seats is below the minimum")
    check(rules["buy_in"] <= rules["chips"], "1.6", "the buy-in is more than all chips")
    fits = rules["challenge_round"] <= rules["rounds_max"]
    check(fits, "8.4", "no round remains for a challenge")


def verify(record):
    """Raises the first fault, or returns a summary of the checks."""
    check_form(record, RECORD)
    rules = record["terms"]["rules"]
    check_rules(rules)
    check_players(record, range(rules["seats_min"], rules["seats_max"] + 1))
    check_stakes(record, rules["chips"], 1)
    check_pot(record)
    table = Table(record, check_deal(record))
    check_actions(record, table)
    check_outcome(record["outcome"], table)
    check_settlement(record)
    return f"game {record['game']}: deal, {len(record['actions'])} actions, chips, settlement"


def main(names):
    # The keystream must reproduce the test vector of RFC 8439.
    first = [word for word, _ in zip(keystream(bytes(32)), range(2))]
    assert first == [0xADE0B876, 0x903DF1A0], "ChaCha20 is broken here"
    return run(names, verify, "Tongo (options)")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(main(sys.argv[1:]))
