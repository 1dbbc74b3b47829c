#!/usr/bin/env python3
"""Checks the record of a game of Tongo (assets) with nothing but Python's standard library.

    python3 docs/verify_tongo_assets.py record.json ...      (- for standard input)

It implements docs/rules/tongo_assets.md and docs/FAIRNESS.md and shares no code with the server. The
commitments, the key and the keystream are in verify.py, the strength of hands in
tongo_assets_hands.py, the form of a record and the arithmetic of coins in verify_record.py. It
recomputes the dealer, both decks and every turn; replays every action under the record's rule set;
evaluates the shown hands; and recomputes pot, settlement, fee and the table's POT.

Exit code 0: every record holds. 1: at least one does not; its line names the reason and the rule. 2: a
file is not the record of a game of Tongo (assets).
"""

import hashlib
import sys

sys.dont_write_bytecode = True  # Leaves no cache in the documentation's folder.

from tongo_assets_hands import ACQUIRES, ASSETS, INDEX, evaluate_hand, is_asset, is_wild, up
from verify import deal_key, draw_uniform, keystream, shuffle_deck
from verify_record import SEAT, U8, U32, Fault, ascending, by_type, check, check_form
from verify_record import check_players, check_pot, check_settlement, check_stakes, record_form, run

# Play: chapters 1 to 4.


class Game:
    def __init__(self, rules, seats, words, starter):
        self.rules, self.seats, self.words = rules, seats, words
        self.draws = []  # The draws of chance, in the form of a record.
        self.chips = [rules["latinum"]] * seats
        self.playing = set(range(seats))
        self.risk, self.purchase, self.sell, self.pot, self.rounds = 0, 0, 0, 0, 0
        self.hands, self.kept, self.piles = ([set() for _ in range(seats)] for _ in range(3))
        self.offer, self.offered, self.awards, self.winner = None, False, None, None
        self.opener = self.draw_number(seats) if starter is None else starter
        self.clear()
        self.deal()

    def clear(self):
        """Rule 2.2. Resets the payments of the round."""
        self.paid, self.owes, self.margin, self.leverage = ([0] * self.seats for _ in range(4))
        self.acted, self.raises, self.unindexed = set(), 0, None

    def draw_number(self, n):
        number = draw_uniform(self.words, n)
        self.draws.append({"number": number})
        return number

    def draw_order(self, n):
        order = shuffle_deck(self.words, n)
        self.draws.append({"order": order})
        return order

    def deal(self):
        """Rules 1.4 and 1.7."""
        self.assets = [ASSETS[index] for index in self.draw_order(98)]
        self.acquires = [ACQUIRES[index] for index in self.draw_order(30)]
        count = self.rules["sections"]
        self.rotation = self.draw_number(count)
        self.slots = [[self.assets.pop(0) for _ in range(7)] for _ in range(count)]
        self.lying = [[self.acquires.pop(0) for _ in range(3)] for _ in range(count)]
        for seat in range(self.seats):
            before = self.slots[self.front(seat)]
            self.hands[seat] = set(before[:4])
            before[:4] = [None] * 4
        self.phase, self.seat = "open", self.opener

    def front(self, seat):
        """Rule 1.6."""
        count = self.rules["sections"]
        return (seat * count // self.seats + self.rotation) % count

    def refill(self):
        for slots, lying in zip(self.slots, self.lying):
            for places, deck in ((slots, self.assets), (lying, self.acquires)):
                for place, card in enumerate(places):
                    if card is None and deck:
                        places[place] = deck.pop(0)

    def after(self, seat):
        """Returns the next seat that has not retreated."""
        turns = [(seat + step) % self.seats for step in range(1, self.seats + 1)]
        return next(turn for turn in turns if turn in self.playing)

    def is_last(self):
        return self.rounds >= self.rules["rounds_max"]

    def spend(self, seat, chips):
        check(chips <= self.chips[seat], "2.2", f"seat {seat} has too few chips")
        self.chips[seat] -= chips
        self.pot += chips

    def pay(self, seat, chips):
        self.spend(seat, chips)
        self.paid[seat] += chips
        self.acted.add(seat)

    def most(self, risk):
        return max(1, 3 * risk // 2)

    def name_prices(self, risk, purchase, sell):
        """Rule 2.1."""
        check(up(risk, 2) <= purchase <= self.most(risk), "2.1", "the purchase price is out of bounds")
        check(1 <= sell <= self.most(risk), "2.1", "the sell price is out of bounds")
        self.risk, self.purchase, self.sell = risk, purchase, sell

    def scale_prices(self, risk):
        """Rule 4.1."""
        purchase, sell = (up(price * risk, self.risk) for price in (self.purchase, self.sell))
        self.purchase = min(max(purchase, up(risk, 2)), self.most(risk))
        self.sell = min(sell, self.most(risk))
        self.risk = risk

    def to_pile(self, seat, card):
        check(card in self.hands[seat], "3.1", f"seat {seat} does not hold {card}")
        self.hands[seat].remove(card)
        self.piles[seat].add(card)

    def play_kept(self, seat, kind):
        cards = sorted((card for card in self.kept[seat] if card[0] == kind), key=INDEX.get)
        check(cards, "1.3", f"seat {seat} keeps no {kind}")
        self.kept[seat].remove(cards[0])
        self.piles[seat].add(cards[0])

    # Order of turns.

    def turn(self, phase, seat):
        self.phase, self.seat, self.offered = phase, seat, False

    def open_by(self, seat):
        self.turn("open", seat if seat in self.playing else self.after(seat))

    def next_risk(self, seat):
        """Rules 2.2 and 2.3."""
        turns = [(seat + step) % self.seats for step in range(1, self.seats)]
        owing = [turn for turn in turns if turn in self.playing and self.paid[turn] < self.risk]
        if owing:
            self.turn("risk", owing[0])
            return
        self.rotation = self.draw_number(self.rules["sections"])
        self.assess(self.after(self.opener))

    def assess(self, seat):
        self.turn("assess", seat)
        self.swapped, self.sold = False, False

    def next_assessment(self, seat):
        while seat != self.opener:
            seat = (seat + 1) % self.seats
            if seat in self.playing:
                self.assess(seat)
                return
        self.open_by((self.opener + 1) % self.seats)

    def next_answer(self, seat):
        """Rules 4.1 and 4.3."""
        seat = self.after(seat)
        if seat == self.confronter and self.paid[seat] >= self.risk:
            self.show()
        else:
            self.turn("confront", seat)

    def fail(self, opener):
        """Rules 4.2, 4.4 and 4.5."""
        self.next_opener = opener
        for step in range(1, self.seats):
            seat = (self.confronter + step) % self.seats
            if seat in self.playing and self.leverage[seat]:
                self.turn("debt", seat)
                self.retreat(seat)
                return
            if seat in self.playing and self.owes[seat]:
                self.turn("debt", seat)
                return
        self.clear()
        self.open_by(opener)

    def retreat(self, seat):
        """Rule 2.2."""
        cards = sorted(self.hands[seat] | self.kept[seat] | self.piles[seat], key=INDEX.get)
        self.assets += [card for card in cards if is_asset(card)]
        self.acquires += [card for card in cards if not is_asset(card)]
        self.hands[seat], self.kept[seat], self.piles[seat] = set(), set(), set()
        self.owes[seat] = self.margin[seat] = self.leverage[seat] = 0
        self.playing.remove(seat)
        if len(self.playing) == 1:
            self.phase, (self.winner,) = "over", self.playing
            self.awards = [2 * self.pot * (seat == self.winner) for seat in range(self.seats)]
        elif self.phase == "open":
            self.open_by(seat)
        elif self.phase == "risk":
            self.next_risk(seat)
        elif self.phase == "assess":
            self.next_assessment(seat)
        else:
            self.fail(self.after(seat) if self.phase == "confront" else self.next_opener)

    def show(self):
        """Rules 5.3 and 6.2."""
        circle = [(self.confronter + step) % self.seats for step in range(self.seats)]
        circle = [seat for seat in circle if seat in self.playing]
        strongest = max(evaluate_hand(self.hands[seat]) for seat in circle)
        self.winner = next(s for s in circle if evaluate_hand(self.hands[s]) == strongest)
        self.phase, pot, awards = "over", 2 * self.pot, [0] * self.seats
        awards[self.winner] = up(pot * self.rules["winner_share"], 100)
        rest = left = pot - awards[self.winner]
        for seat in [*circle[1:], circle[0]]:
            margin = min(up(rest * self.margin[seat], 200), left)
            awards[seat] += margin
            left -= margin
        part = left // (len(circle) - 1)
        for seat in circle:
            awards[seat] += part * (seat != self.winner)
        awards[self.winner] += left - part * (len(circle) - 1)
        given = 0
        for seat in circle:
            back = up(awards[seat] * (100 - self.leverage[seat]), 100) if self.leverage[seat] else 0
            awards[seat] -= back
            given += back
        full = [seat for seat in circle if not self.leverage[seat] and not self.margin[seat]]
        for seat in full:
            awards[seat] += given // len(full)
        awards[self.winner] += given % len(full)
        self.awards = awards

    # Prompts and actions.

    def prompted_seat(self):
        return self.offer["to"] if self.offer else self.seat

    def default_action(self):
        """Rule 7.2."""
        seat = self.seat
        if self.offer:
            return {"type": "refuse"}
        if self.phase == "assess":
            return {"type": "done"}
        if self.phase == "open":
            risk = self.risk if self.rounds else 1
            if self.chips[seat] < risk:
                return {"type": "retreat"}
            if self.is_last():
                return {"type": "confront"}
            purchase, sell = up(risk, 2), self.most(risk)
            return {"type": "open", "risk": risk, "purchase": purchase, "sell": sell}
        return {"type": "pay" if self.missing(seat) <= self.chips[seat] else "retreat"}

    def missing(self, seat):
        return self.owes[seat] if self.phase == "debt" else self.risk - self.paid[seat]

    def act(self, seat, action):
        kind = action["type"]
        check(self.phase != "over", "6.1", "the game was over")
        check(seat in self.playing, "2.2", f"seat {seat} has retreated")
        check(seat == self.prompted_seat(), "2.2", f"it is the turn of seat {self.prompted_seat()}")
        if self.offer or kind in ("accept", "refuse"):
            self.answer_bribe(kind)
        elif kind == "bribe":
            self.bribe(action)
        elif kind == "retreat":
            self.retreat(seat)
        elif kind == "confront":
            self.confront()
        elif self.phase == "assess":
            self.in_assessment(kind, action)
        elif self.phase == "open":
            check(kind == "open", "2.1", "a round is opened")
            self.open(action)
        elif kind == "pay":
            self.pay_missing()
        elif self.phase == "risk":
            check(kind == "raise", "2.2", "a risk is paid or raised")
            self.raise_risk(action)
        else:
            self.answer(kind, action)

    def open(self, action):
        check(not self.is_last(), "6.4", "no more rounds are opened")
        least, most = (self.risk, self.risk + self.rules["raise_max"])
        if not self.rounds:
            least, most = 1, self.rules["opening_max"]
        check(least <= action["risk"] <= most, "3.7", "the opening risk is out of bounds")
        self.name_prices(action["risk"], action["purchase"], action["sell"])
        self.clear()
        self.rounds, self.opener = self.rounds + 1, self.seat
        self.pay(self.seat, self.risk)
        self.refill()
        self.next_risk(self.seat)

    def pay_missing(self):
        seat = self.seat
        self.pay(seat, self.missing(seat))
        if self.phase == "risk":
            self.next_risk(seat)
        elif self.phase == "debt":
            self.owes[seat] = 0
            self.fail(self.next_opener)
        elif seat == self.confronter:
            self.show()
        else:
            self.next_answer(seat)

    def check_raise(self, risk, bounded=True):
        check(self.raises < self.rules["raises_max"], "2.2", "there are no more raises")
        check(risk > self.risk, "2.2", "the risk does not rise")
        within = not bounded or risk - self.risk <= self.rules["raise_max"]
        check(within, "2.2", "the raise is too high")
        self.raises += 1

    def raise_risk(self, action):
        check(self.seat not in self.acted, "2.2", "who has had a turn raises no more")
        self.check_raise(action["risk"])
        self.name_prices(action["risk"], action["purchase"], action["sell"])
        self.pay(self.seat, self.risk - self.paid[self.seat])
        self.next_risk(self.seat)

    def confront(self):
        seat, rules = self.seat, self.rules
        if self.phase == "assess":
            who = self.playing if self.rounds <= rules["confront_all_rounds"] else {seat}
            full = all(len(self.hands[other]) == 7 for other in who)
            check(full, "3.5", "hands of seven are needed for a confront")
        else:
            check(self.phase == "open" and self.is_last(), "3.5", "a confrontation is not possible now")
        self.clear()
        self.confronter = seat
        self.pay(seat, self.risk)
        self.next_answer(seat)

    def answer(self, kind, action):
        """Rules 4.1, 4.4 and 4.5."""
        seat = self.seat
        check(self.phase == "confront", "4.4", "a debt is paid, or the seat retreats")
        check(seat != self.confronter, "4.3", "the confronter pays or retreats")
        if kind == "raise_confront":
            self.check_raise(action["risk"])
            self.scale_prices(action["risk"])
            self.pay(seat, self.risk)
        elif kind == "evade":
            cards = set(action["discards"])
            check(len(cards) == len(action["discards"]) == 3, "4.1", "three cards are discarded")
            self.spend(seat, up(3 * self.purchase, 2))
            for card in cards:
                self.to_pile(seat, card)
            self.fail(seat)
            return
        elif kind == "index":
            margin = action["margin"]
            check(self.rules["margins"], "4.4", "at this table there are no margins")
            check(margin in range(5, 51, 5), "4.4", "a margin is from 5 to 50 in steps of 5")
            base = self.risk if self.unindexed is None else self.unindexed
            risk = 100 * self.risk // (100 - margin)
            self.check_raise(risk, bounded=False)
            self.scale_prices(risk)
            self.pay(seat, base)
            self.unindexed, self.margin[seat], self.owes[seat] = base, margin, risk - base
        else:
            check(kind == "leverage", "4.1", f"there is no answer {kind}")
            check(self.rules["leverage"], "4.5", "at this table there is no leverage")
            check(5 <= action["percent"] <= 95, "4.5", "a leverage is from 5 to 95")
            self.leverage[seat] = action["percent"]
            self.pay(seat, up(self.risk * action["percent"], 100))
        self.next_answer(seat)

    def in_assessment(self, kind, action):
        seat, before = self.seat, self.slots[self.front(self.seat)]
        self.offered = False
        if kind == "done":
            self.next_assessment(seat)
        elif kind == "swap":
            check(not self.swapped, "3.1", "only one card can be swapped per turn")
            check(is_asset(action["discard"]), "3.1", "only an asset can be swapped")
            self.to_pile(seat, action["discard"])
            self.take(action["slot"])
            self.swapped = True
        elif kind == "purchase":
            self.buy(action)
            self.part_with(action.get("discard"))
            self.take(action["slot"])
        elif kind == "acquire":
            self.acquire(action)
        elif kind == "sell":
            slots = set(action["slots"])
            there = {slot for slot in range(7) if before[slot]}
            check(not self.sold, "3.4", "the hand can only be sold once per turn")
            wanted = min(len(self.hands[seat]), len(there))
            fits = wanted and slots <= there and len(slots) == wanted
            check(fits, "3.4", "as many assets are taken as are sold")
            self.spend(seat, self.sell)
            self.piles[seat] |= self.hands[seat]
            self.hands[seat] = set()
            for slot in slots:
                self.take(slot)
            self.sold = True
        elif kind == "reveal":
            other = 0 <= action["section"] < self.rules["sections"]
            other = other and action["section"] != self.front(seat)
            check(other, "1.3", "a reveal looks at another section")
            self.play_kept(seat, "V")
        else:
            check(kind == "dividend", "3.1", f"{kind} is not for an assessment")
            self.play_kept(seat, "D")
            chips = min(self.purchase, self.pot)
            self.pot -= chips
            self.chips[seat] += chips

    def take(self, slot):
        before = self.slots[self.front(self.seat)]
        check(before[slot], "3.1", "there is no asset in this slot")
        self.hands[self.seat].add(before[slot])
        before[slot] = None
        check(len(self.hands[self.seat]) <= 7, "1.5", "a hand is at most seven cards")

    def buy(self, action):
        if action.get("free"):
            self.play_kept(self.seat, "F")
        else:
            self.spend(self.seat, self.purchase)

    def part_with(self, card):
        full = len(self.hands[self.seat]) == 7
        check(full == (card is not None), "3.2", "with seven in hand one is parted with")
        if card is not None:
            self.to_pile(self.seat, card)

    def acquire(self, action):
        """Rules 1.3 and 3.3."""
        seat, lying = self.seat, self.lying[self.front(self.seat)]
        self.buy(action)
        check(len(self.kept[seat]) < 3, "1.5", "three cards are kept")
        replaced = action.get("replace")
        full = len(self.hands[seat]) == 7
        check(full == (replaced is not None), "3.2", "with seven in hand one is named")
        check(any(lying), "3.3", "the section has no acquire card")
        place = next(place for place, card in enumerate(lying) if card)
        card, lying[place] = lying[place], None
        check(not full or replaced in self.hands[seat], "3.1", "what is named is not held")
        if is_wild(card):
            self.part_with(replaced)
            self.hands[seat].add(card)
        elif card[0] != "X":
            self.kept[seat].add(card)
        else:
            self.piles[seat].add(card)
            if self.chips[seat] >= self.risk:
                self.spend(seat, self.risk)
            else:
                self.retreat(seat)

    def bribe(self, action):
        seat, to, cards = self.seat, action["to"], set(action.get("cards", []))
        chips = action.get("chips", 0)
        check(self.rules["bribes"] and not self.offered, "4.6", "no bribe is offered now")
        check(to != seat and to in self.playing, "4.6", "a bribe is for another seat still in")
        check((chips > 0) != bool(cards), "4.6", "a bribe consists of chips or cards")
        held = chips <= self.chips[seat] and cards <= self.hands[seat] | self.kept[seat]
        check(held, "4.6", "the seat does not hold what it offers")
        to_hand = {card for card in cards if is_asset(card) or is_wild(card)}
        room = not to_hand or len(self.hands[to]) + len(to_hand) <= 7
        apart = cards - to_hand
        room = room and (not apart or len(self.kept[to]) + len(apart) <= 3)
        check(room, "4.6", "the other seat has no room")
        self.offer = {"to": to, "chips": chips, "hand": to_hand, "apart": apart}

    def answer_bribe(self, kind):
        check(self.offer and kind in ("accept", "refuse"), "4.6", "a bribe is answered")
        offer, self.offer, self.offered = self.offer, None, True
        if kind == "accept":
            for purse, what in ((self.hands, offer["hand"]), (self.kept, offer["apart"])):
                purse[self.seat] -= what
                purse[offer["to"]] |= what
            self.chips[self.seat] -= offer["chips"]
            self.chips[offer["to"]] += offer["chips"]


def check_actions(record, game):
    at = record["opened_at"]
    for number, taken in enumerate(record["actions"]):
        try:
            check(at <= taken["at"] <= record["finished_at"], "7.1", "its time is out of order")
            if taken["by"] == "clock":
                fits = taken["seat"] == game.prompted_seat() and taken["action"] == game.default_action()
                check(fits, "7.2", "it is not the action of the clock")
            game.act(taken["seat"], taken["action"])
        except Fault as fault:
            fault.args = (f"action {number}: {fault}",)
            raise
        at = taken["at"]
    check(game.phase == "over", "6.4", "the actions end before the game does")
    check(record["chance"] == game.draws, "1.7", "the draws of chance do not follow from the seeds")


# Debts: rule 6.3, and chapters 6 and 7 of Tong-its for the table.


def check_outcome(outcome, game):
    began = 2 * game.rules["latinum"]
    more = [2 * chips + award - began for chips, award in zip(game.chips, game.awards)]
    check(sum(more) == 0, "6.2", "the pot differs from the payments into it")
    rule, debts = "6.1" if len(game.playing) == 1 else "6.2", []
    for source in range(game.seats):
        for target in range(game.seats):
            counts = min(-more[source], more[target])
            if counts > 0:
                more[source], more[target] = more[source] + counts, more[target] - counts
                items = [{"name": "pot", "rule": rule, "counts": counts}]
                debts.append({"from": source, "to": target, "items": items})
    check(outcome["winner"] == game.winner, "6.2", "the winner is wrong")
    check(not outcome["takes_pot"], "7.3", "no win takes the POT by itself")
    check(outcome["debts"] == debts, "6.3", "the debts do not match the chips")


# The form of the rules: docs/rules/tongo_assets.md documents each switch.

ASSET, CARD = set(ASSETS), set(ASSETS + ACQUIRES)
CARD_SET = ascending(CARD, INDEX.get)
RULES = {
    "sections": range(4, 9, 4),
    "latinum": range(1, 10_001),
    "opening_max": range(1, 1_001),
    "raise_max": range(1, 1_001),
    "raises_max": range(21),
    "rounds_max": range(1, 51),
    "confront_all_rounds": range(51),
    "winner_share": range(1, 101),
    "margins": bool,
    "leverage": bool,
    "bribes": bool,
    "countdowns": dict.fromkeys(["risk_ms", "assess_ms", "answer_ms"], range(1, 2**32)),
}
PRICES = {"risk": U32, "purchase": U32, "sell": U32}
ACTION = by_type(
    {
        **dict.fromkeys("pay retreat dividend done confront accept refuse".split(), {}),
        "open": PRICES,
        "raise": PRICES,
        "raise_confront": {"risk": U32},
        "swap": {"discard": CARD, "slot": U8},
        "purchase": {"slot": U8, "discard?": CARD, "free?": True},
        "acquire": {"replace?": CARD, "free?": True},
        "sell": {"slots": ascending(U8)},
        "reveal": {"section": U8},
        "evade": {"discards": CARD_SET},
        "index": {"margin": U8},
        "leverage": {"percent": U8},
        "bribe": {"to": SEAT, "chips?": range(1, 2**32), "cards?": CARD_SET},
    }
)
RECORD = record_form("tongo_assets", RULES, ACTION)


def verify(record):
    """Raises the first fault, or returns a summary of the checks."""
    check_form(record, RECORD)
    rules, seats = record["terms"]["rules"], len(record["players"])
    fits = rules["confront_all_rounds"] <= rules["rounds_max"]
    check(fits, "3.5", "the rounds that need full hands exceed the rounds")
    check_players(record, range(4, 5 if rules["sections"] == 4 else 9))
    check_stakes(record, 2 * rules["latinum"], 2, rule="1.5")
    check_pot(record)
    server_seed = bytes.fromhex(record["server_seed"])
    commitment = hashlib.sha256(server_seed).hexdigest()
    check(commitment == record["commitment"], "1.7", "the commitment does not match the seed")
    words = keystream(deal_key(server_seed, record))
    game = Game(rules, seats, words, record["starter"])
    check_actions(record, game)
    check_outcome(record["outcome"], game)
    check_settlement(record, 2, fee_rule="6.3")
    return f"game {record['game']}: deal, {len(record['actions'])} actions, pot, settlement"


if __name__ == "__main__":
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(run(sys.argv[1:], verify, "Tongo (assets)"))
