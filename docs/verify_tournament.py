#!/usr/bin/env python3
"""Checks the results of a tournament with nothing but Python's standard library.

    python3 docs/verify_tournament.py results.jsonl ...      (- for standard input)
    python3 docs/verify_tournament.py results.jsonl record.json ...

It implements docs/rules/tournaments.md and shares no code with the server. The input is the public,
append-only list of results: one JSON object a line. It recomputes entries, groups, tables, scores,
cuts, places, prizes and refunds, every payment, and the account of the tournament; with the seed that
is published at the end also every lot and every deal that all tables shared. Records of games may follow
a list: each must be a game of that tournament, with its players, its points and, in a duplicate, the
deal of its round. A record itself is checked by the verifier of its game, such as docs/verify.py.

Exit code 0: every list holds. 1: at least one does not; its line names the reason and the rule. 2: a
file is not the list of results of a tournament.
"""

import hashlib
import hmac
import json
import sys
import uuid
from bisect import bisect_left, bisect_right

DOMAIN = b"bahay/tournament/v1"
EVEN, BEST = 5_000, 10_000  # rule 5.4
WIN, STREAK = 2, 2  # rules 4.2 and 4.3


class Fault(Exception):
    """A violation, with the number of the violated rule."""

    def __init__(self, rule, what):
        super().__init__(f"{what} (rule {rule})")


def check(holds, rule, what):
    if not holds:
        raise Fault(rule, what)


def split_by_weights(amount, weights):
    """Divides an amount by largest remainder (rule 6.4)."""
    total = sum(weights)
    if total == 0:
        return [0] * len(weights)
    parts = [amount * weight // total for weight in weights]
    order = sorted(range(len(weights)), key=lambda place: -(amount * weights[place] % total))
    for place in order[: amount - sum(parts)]:
        parts[place] += 1
    return parts


def share_ties(prizes, groups):
    """Shares the prizes of places among tied players (rule 6.5)."""
    shared = []
    for group in groups:
        places = prizes[len(shared) : len(shared) + len(group)]
        shared += split_by_weights(sum(places), [1] * len(group))
    return shared


class Entrant:
    def __init__(self, order):
        self.order, self.state = order, "pending"
        self.group = self.stage = self.score = self.points = self.streak = 0
        self.is_paused, self.table = False, None

    def standing(self):
        return (self.stage, self.score, self.points)


class Tournament:
    def __init__(self, announced, seed):
        self.id = uuid.UUID(announced["tournament"]).bytes
        self.terms, self.commitment = announced["terms"], announced["commitment"]
        self.seed = seed
        if seed is not None:
            check(hashlib.sha256(seed).hexdigest() == self.commitment, "2.3", "the seed is another one")
        self.format = self.terms["format"]["type"]
        self.seats = self.terms["game"]["seats"]
        self.entrants, self.tables, self.byes = {}, {}, []
        self.phase, self.pool, self.prizes, self.weights = "announced", None, [], []
        self.groups, self.commitments, self.round = 1, [], 0
        self.sizes = [0]  # the numbers of players by group of the stage
        self.stage = self.round_of_stage = self.games = 0
        self.given, self.results, self.placed = 0, 0, {}
        self.lost = None  # players who lost at a cut and have no place yet, and the number before them
        self.played, self.deals = {}, {}  # the tables by round and number; deals of ended rounds
        self.entries, self.payments = 0, {}  # the number of entries, and the form of each
        self.expected, self.seen, self.balance = {}, set(), 0

    # Entries: chapter 1.

    def registered(self, event):
        player, bot = event["player"], event["is_bot"]
        entrant = self.entrants.get(player)
        check(entrant is None or entrant.state == "withdrawn", "1.2", f"{player} registered twice")
        number = 1 if entrant is None else entrant.number + 1
        check(event["number"] == number, "1.2", f"{player} has no entry {event['number']}")
        order = len(self.entrants) if entrant is None else entrant.order
        entrant = self.entrants[player] = Entrant(order)
        entrant.number, entrant.is_bot, entrant.payment = number, bot, event["payment"]
        self.payments[player, number] = entrant.payment
        entry = self.terms["entry"]
        price = entry["buy_in"] + entry["fee"]
        free = bot or price == 0
        check(free == (entrant.payment == "free"), "1.3", f"{player} pays in another form")
        check(not bot or self.terms["bots"], "1.7", "bots do not take part")
        check(entrant.payment != "pass" or entry["accepts_passes"], "1.6", "passes are not accepted")
        if not free:
            self.expected[f"entry:{player}:{number}"] = (self.price(entrant), player)
        self.entries += 1
        check(self.entries <= self.terms["entrants"]["most"], "1.2", "there are too many entries")

    def price(self, entrant):
        entry = self.terms["entry"]
        return entry["buy_in"] + entry["fee"] if entrant.payment == "coins" else 0

    def entered(self, event):
        entrant = self.entrants[event["player"]]
        check(entrant.state == "pending" and entrant.number == event["number"], "1.3", "no such entry")
        paid = entrant.payment == "free" or f"entry:{event['player']}:{entrant.number}" in self.seen
        check(paid, "1.3", f"{event['player']} has not paid")
        check(self.pool is None, "1.5", "registration was closed")
        entrant.state = "entered"

    def withdrawn(self, event):
        player, number = event["player"], event["number"]
        entrant = self.entrants[player]
        check(entrant.number == number, "1.4", "no such entry")
        if entrant.state == "entered":
            check(self.phase == "announced", "1.4", f"{player} withdrew after the start")
            self.expect_return(player, number, entrant)
        entrant.state = "withdrawn"
        self.entries -= 1

    def expect_return(self, player, number, entrant):
        if entrant.payment != "free":
            self.expected[f"return:{player}:{number}"] = (self.price(entrant), player)

    def started(self, event):
        playing = self.playing()
        check(len(playing) >= self.terms["entrants"]["least"], "2.2", "too few have entered")
        full = len(playing) == self.terms["entrants"]["most"]
        check(self.format != "sit_and_go" or full, "2.1", "it is not full")
        self.phase = "running"

    def playing(self):
        return {player: one for player, one in self.entrants.items() if one.state == "entered"}

    def registration_closed(self, event):
        """Rules 6.1 to 6.4."""
        check(self.pool is None, "1.5", "registration was closed before")
        entry = self.terms["entry"]
        persons = [one for one in self.playing().values() if not one.is_bot]
        coins = sum(one.payment == "coins" for one in persons)
        passes = sum(one.payment == "pass" for one in persons)
        buy_ins = entry["buy_in"] * (coins + passes)
        self.pool = max(buy_ins, self.terms["guarantee"] if persons else 0)
        steps = [step for step in self.terms["payouts"] if step["entrants_from"] <= len(persons)]
        self.weights = steps[-1]["shares"][: len(persons)] if steps else []
        self.prizes = split_by_weights(self.pool, self.weights)
        check(event["pool"] == self.pool, "6.1", f"the pool is {self.pool}, not {event['pool']}")
        check(event["prizes"] == self.prizes, "6.4", "the prizes are others")
        self.fee, self.house_passes = entry["fee"] * coins, entry["buy_in"] * passes
        self.guarantee = self.pool - buy_ins
        for key, amount in (
            ("fee", self.fee),
            ("passes", self.house_passes),
            ("guarantee", self.guarantee),
        ):
            self.expect(key, amount, None)

    def expect(self, key, amount, player):
        if amount > 0:
            self.expected[key] = (amount, player)

    # Rounds: chapters 2, 3 and 5.

    def draw(self, purpose, number, players):
        def lot(player):
            text = DOMAIN + purpose + self.id + number.to_bytes(4, "big") + uuid.UUID(player).bytes
            return hmac.digest(self.seed, text, "sha256")[:8], uuid.UUID(player).bytes

        return sorted(players, key=lot)

    def stages(self):
        form = self.terms["format"]
        if self.format == "knock_out":
            return form["stages"]
        if self.format == "duplicate":
            return [{"groups": 1, "rounds": form["rounds"], "games": form["games"], "advance": 0}]
        stages, players = [], self.terms["entrants"]["most"]
        while players >= self.seats:
            groups = players // self.seats
            advance = groups if groups > 1 else 0
            stages.append({"groups": groups, "rounds": 1, "games": form["games"], "advance": advance})
            players = groups
        return stages

    def stage_started(self, event):
        playing, stages = self.playing(), self.stages()
        self.stage, self.round_of_stage = event["stage"], 0
        first = [one["advance"] == 0 or one["advance"] < len(playing) for one in stages].index(True)
        wanted = first + 1 if self.round == 0 else self.last_stage + 1
        check(self.stage == wanted, "3.2", f"stage {wanted} is next")
        self.last_stage, stage = self.stage, stages[self.stage - 1]
        groups = event["groups"]
        self.groups = max(1, min(stage["groups"], len(playing) // self.seats))
        members = [player for group in groups for player in group]
        check(sorted(members) == sorted(playing), "3.2", "the groups do not have the players")
        check(len(groups) == self.groups, "3.2", f"there are {self.groups} groups")
        if self.seed is not None:
            order = self.draw(b"group", self.stage, playing)
            drawn = [order[group :: self.groups] for group in range(self.groups)]
            check(groups == drawn, "3.2", "the groups were drawn otherwise")
        self.sizes = [len(group) for group in groups]
        for number, group in enumerate(groups):
            for player in group:
                one = self.entrants[player]
                one.group, one.stage, one.score = number, self.stage, 0

    def joined(self, event):
        for member in event["members"]:
            one = self.entrants[member["player"]]
            check(one.stage == 0, "1.5", f"{member['player']} is in a group")
            smallest = self.sizes.index(min(self.sizes))
            check(member["group"] == smallest, "1.5", "it is not the smallest group")
            self.sizes[smallest] += 1
            one.group, one.stage, one.score = smallest, self.stage, 0

    def seated(self, event):
        players = [player for table in event["tables"] for player in table["players"]]
        check(len(set(players)) == len(players), "2.4", "a player sits at two tables")
        for player in players:
            one = self.entrants[player]
            check(one.state == "entered", "2.4", f"{player} does not take part")
            check(one.table is None and not one.is_paused, "4.5", f"{player} does not wait")
        if self.format == "arena":
            self.round, self.games = 1, 1
        else:
            self.check_round(event, players)
        for table in event["tables"]:
            key = (table["table"]["round"], table["table"]["table"])
            check(key not in self.tables, "2.6", f"table {key} is seated twice")
            check(len(table["players"]) == self.seats, "2.4", "a table is not full")
            self.tables[key] = self.played[key] = (table["players"], {})
            for player in table["players"]:
                self.entrants[player].table = key

    def check_round(self, event, players):
        self.round, self.round_of_stage = self.round + 1, self.round_of_stage + 1
        stage = self.stages()[self.stage - 1]
        self.games = stage["games"]
        check(event["round"] == self.round, "2.4", f"round {self.round} is next")
        check(self.round_of_stage <= stage["rounds"], "3.3", "the stage is over")
        check(not self.tables, "2.4", "the round before is not over")
        check(sorted(players + event["byes"]) == sorted(self.playing()), "2.4", "a player has no table")
        for group in range(self.groups):
            byes = sum(self.entrants[player].group == group for player in event["byes"])
            size = sum(one.group == group for one in self.playing().values())
            check(byes == size % self.seats, "2.4", "there are too many byes")
        for table in event["tables"]:
            groups = {self.entrants[player].group for player in table["players"]}
            check(len(groups) == 1, "2.4", "players of two groups sit at a table")
        self.byes, self.commitments = event["byes"], event.get("commitments", [])
        wanted = self.games if self.format == "duplicate" else 0
        check(len(self.commitments) == wanted, "5.5", "a commitment is missing")

    def game_scored(self, event):
        key, game = (event["table"]["round"], event["table"]["table"]), event["game"]
        check(key in self.tables, "2.6", f"there is no table {key}")
        players, games = self.tables[key]
        check(1 <= game <= self.games and game not in games, "2.6", "the game was scored before")
        check([score["player"] for score in event["scores"]] == players, "2.6", "others have played")
        points = games[game] = [score["points"] for score in event["scores"]]
        check(sum(points) == 0, "2.6", "the points do not sum to zero")
        self.results += 1
        for player, won in zip(players, points):
            one = self.entrants[player]
            if self.format == "arena":
                one.points += won
            elif self.format != "duplicate":
                one.score += won
        if self.format == "arena":
            self.score_arena(players, points)
        if len(games) == self.games:
            self.end_table(key)

    def score_arena(self, players, points):
        """Rules 4.2 and 4.3."""
        winners = [player for player, won in zip(players, points) if won == max(points)]
        for player in players:
            one, factor = self.entrants[player], 1
            if one.streak >= STREAK:
                factor = 2
            if winners == [player]:
                one.score, one.streak = one.score + WIN * factor, one.streak + 1
            elif player in winners:
                one.score, one.streak = one.score + WIN // 2 * factor, 0
            else:
                one.streak = 0

    def table_ended(self, event):
        key = (event["table"]["round"], event["table"]["table"])
        check(key in self.tables, "2.7", f"there is no table {key}")
        self.end_table(key)

    def end_table(self, key):
        for player in self.tables[key][0]:
            self.entrants[player].table = None
        if self.format == "arena":
            del self.tables[key]

    def paused(self, event):
        self.entrants[event["player"]].is_paused = True

    def resumed(self, event):
        self.entrants[event["player"]].is_paused = False

    def round_ended(self, event):
        check(all(one.table is None for one in self.entrants.values()), "2.4", "a table goes on")
        if self.format == "duplicate":
            self.score_duplicate()
            self.check_deals(event)
        self.tables = {}

    def score_duplicate(self):
        """Rules 5.3, 5.4 and 5.7."""
        players = [player for table, _ in self.tables.values() for player in table]
        scores = {player: EVEN * self.games for player in players + self.byes}
        for game in range(1, self.games + 1):
            rows = [(table, games[game]) for table, games in self.tables.values() if game in games]
            for seat in range(self.seats):
                column = sorted(points[seat] for _, points in rows)
                if len(column) < 2:
                    continue
                for table, points in rows:
                    fewer = bisect_left(column, points[seat])
                    equal = bisect_right(column, points[seat]) - fewer - 1
                    share = (2 * fewer + equal) * BEST // (2 * (len(column) - 1))
                    scores[table[seat]] += share - EVEN
        for player, score in scores.items():
            self.entrants[player].score += score
        for table, games in self.tables.values():
            for points in games.values():
                for player, won in zip(table, points):
                    self.entrants[player].points += won

    def check_deals(self, event):
        """Rule 5.5."""
        seeds = [bytes.fromhex(seed) for seed in event["seeds"]]
        shown = [hashlib.sha256(seed).hexdigest() for seed in seeds]
        check(shown == self.commitments, "5.5", "a seed does not match its commitment")
        self.deals[self.round] = event["seeds"]
        for game, seed in enumerate(seeds, 1):
            text = DOMAIN + b"deal" + self.id + self.round.to_bytes(4, "big") + game.to_bytes(4, "big")
            if self.seed is not None:
                check(seed == hmac.digest(self.seed, text, "sha256"), "5.5", "a deal has another seed")

    # Cuts and places: chapters 3 and 6.

    def cut(self, event):
        """Rules 3.3 and 3.4."""
        stage = self.stages()[self.stage - 1]
        check(self.round_of_stage == stage["rounds"], "3.3", "the stage is not over")
        advanced, playing = [], self.playing()
        for group in range(self.groups):
            members = [player for player, one in playing.items() if one.group == group]
            if self.seed is not None:
                members = self.draw(b"cut", self.stage, members)
            members.sort(key=lambda player: -self.entrants[player].score)
            quota = stage["advance"] // self.groups + (group < stage["advance"] % self.groups)
            chosen = members[:quota]
            if self.seed is None:
                chosen = [player for player in members if player in set(event["advanced"])]
            least = min((self.entrants[player].score for player in chosen), default=0)
            most = max((self.entrants[player].score for player in set(members) - set(chosen)), default=least)
            check(len(chosen) == min(quota, len(members)) and most <= least, "3.3", "others advance")
            advanced += chosen
        check(event["advanced"] == advanced or self.seed is None, "3.4", "others advance")
        eliminated = set(playing) - set(advanced)
        check(set(event["eliminated"]) == eliminated, "3.3", "others are eliminated")
        self.lost = eliminated, sum(not self.entrants[player].is_bot for player in advanced)
        for player in eliminated:
            self.entrants[player].state = "eliminated"

    def ranked(self, players):
        """Returns ranked groups of tied players, without bots (rules 3.5 and 6.5)."""
        players = [player for player in players if not self.entrants[player].is_bot]
        players.sort(key=lambda player: self.entrants[player].order)
        players.sort(key=lambda player: self.entrants[player].standing(), reverse=True)
        groups = []
        for player in players:
            standing = self.entrants[player].standing()
            if groups and self.entrants[groups[-1][0]].standing() == standing:
                groups[-1].append(player)
            else:
                groups.append([player])
        return groups

    def places(self, event):
        """Rules 6.4 to 6.6."""
        lost, better = self.lost or (list(self.playing()), 0)
        self.lost = None
        groups = self.ranked(list(lost))
        prizes = share_ties(self.prizes[better:], groups)
        wanted, number = [], better
        for group in groups:
            first = number + 1
            for player in group:
                number += 1
                prize = prizes[number - better - 1]
                wanted.append({"player": player, "place": first, "prize": prize})
                self.placed[player] = first
                self.given += prize
                self.expect(f"place:{number}", prize, player)
        check(event["places"] == wanted, "6.5", "the places or prizes are others")

    def ended(self, event):
        persons = {player for player, one in self.entrants.items() if not one.is_bot}
        ranked = {player for player in persons if self.entrants[player].state in ("entered", "eliminated")}
        check(set(self.placed) == ranked, "6.6", "a player has no place")
        if self.format != "arena":
            stage = self.stages()[self.stage - 1]
            over = stage["advance"] == 0 and self.round_of_stage == stage["rounds"]
            check(over, "3.3", "a round is missing")
        check(self.given == self.pool, "6.4", "the prizes are not the pool")
        self.phase = "ended"

    def cancelled(self, event):
        """Chapter 7."""
        refunds = {refund["player"]: refund["amount"] for refund in event["refunds"]}
        if self.results == 0:
            check(not refunds, "7.1", "entries are returned")
            for player, one in self.playing().items():
                self.expect_return(player, one.number, one)
            if self.pool is not None:
                self.expect("fee-return", self.fee, None)
                self.expect("passes-return", self.house_passes, None)
                self.expect("guarantee-return", self.guarantee, None)
        else:
            self.check_refunds(refunds)
        self.phase = "cancelled"

    def check_refunds(self, refunds):
        """Rules 7.2 and 7.3."""
        groups = self.ranked(list(self.playing()))
        players = [player for group in groups for player in group]
        if self.given > 0:
            rule, parts = "7.3", share_ties(self.prizes[: len(players)], groups)
        else:
            rule, half = "7.2", self.pool // 2
            equal = split_by_weights(half, [1] * len(players))
            rest = split_by_weights(self.pool - half, self.weights[: len(players)])
            parts = [one + other for one, other in zip(share_ties(rest, groups), equal)]
        fees = 0
        wanted = {}
        for player, part in zip(players, parts):
            fee = self.terms["entry"]["fee"] if self.entrants[player].payment == "coins" else 0
            fees, wanted[player] = fees + fee, part + fee
            self.expect(f"cancel:{player}", part + fee, player)
        self.expect("fee-return", fees, None)
        check(refunds == wanted, rule, "the refunds are others")

    # Records of games: rules 2.6 and 5.5.

    def check_record(self, record):
        """Checks that a record is a game of the tournament; returns its description."""
        seating = record["terms"].get("tournament", {"tournament": None})
        own = str(uuid.UUID(bytes=self.id))
        check(seating["tournament"] == own, "2.6", "it is a game of another tournament")
        key = (seating["round"], seating["number"])
        check(key in self.played, "2.6", f"there is no table {key}")
        players, games = self.played[key]
        check(record["players"] == players, "2.6", "others have played")
        points = [0] * len(players)
        for payment in record["settlement"]["payments"]:
            points[payment["from"]] -= payment["paid"]
            points[payment["to"]] += payment["paid"]
        if self.format != "duplicate":
            check(points in games.values(), "2.6", "no game of the table has these points")
            return f"game {record['game']} of table {key}"
        seeds = self.deals.get(key[0], [])
        check(record["server_seed"] in seeds, "5.5", "the deal is none of the round")
        game = seeds.index(record["server_seed"]) + 1
        check(games.get(game) == points, "2.6", f"game {game} has other points")
        return f"game {record['game']}, {game} of table {key}"

    # The account: rule 6.7.

    def transferred(self, event):
        transfer = event["transfer"]
        form, amount = transfer["key"], transfer["amount"]
        parts = [form["type"].replace("_", "-"), form.get("player"), form.get("number", form.get("place"))]
        key = ":".join(str(part) for part in parts if part is not None)
        check(key not in self.seen, "6.7", f"{key} is booked twice")
        self.seen.add(key)
        if form["type"] == "return" and key not in self.expected:
            self.expect_late_return(form)
        wanted = self.expected.pop(key, None)
        check(wanted is not None, "6.7", f"{key} is not owed")
        booked = (amount, transfer.get("player"))
        check(booked == wanted, "6.7", f"{key} is {wanted}, not {booked}")
        into = form["type"] in ("entry", "passes", "guarantee", "fee_return")
        self.balance += amount if into else -amount
        check(self.balance >= 0, "6.7", "the account is overdrawn")

    def expect_late_return(self, form):
        """Returns an entry that was withdrawn, or refused, before it was held (rule 1.4)."""
        player, number = form["player"], form["number"]
        one = self.entrants[player]
        late = one.number > number or one.state == "withdrawn" or self.phase == "cancelled"
        check(late and f"entry:{player}:{number}" in self.seen, "1.4", "the entry counts")
        price = self.terms["entry"]["buy_in"] + self.terms["entry"]["fee"]
        amount = price if self.payments[player, number] == "coins" else 0
        self.expected[f"return:{player}:{number}"] = (amount, player)

    def finish(self):
        if self.phase not in ("ended", "cancelled"):
            return f"{len(self.playing())} players, not over yet"
        # An entry that was withdrawn before it was held need never be booked.
        owed = [key for key in self.expected if not key.startswith("entry:")]
        check(not owed, "6.7", f"{owed[:3]} are not paid")
        check(self.balance == 0, "6.7", f"{self.balance} hundredths are left")
        return f"{len(self.placed)} places, {self.results} games, {len(self.seen)} payments, {self.phase}"


def read(lines):
    """Returns the tournament of a list of results, checked, and its summary."""
    events = [json.loads(line, parse_float=refuse) for line in lines if line.strip()]
    seeds = [bytes.fromhex(event["seed"]) for event in events if event["type"] in ("ended", "cancelled")]
    check(len(seeds) <= 1, "8.1", "the tournament ends twice")
    if events[0]["type"] != "announced":
        raise ValueError("it does not begin with the announcement")
    tournament = Tournament(events[0], seeds[0] if seeds else None)
    at = events[0]["at"]
    methods = {"placed": tournament.places}
    for event in events[1:]:
        check(event["at"] >= at, "8.1", "the list is not in the order of time")
        at = event["at"]
        late = tournament.phase in ("ended", "cancelled")
        check(not late or event["type"] in ("transferred", "withdrawn"), "8.1", "it goes on after its end")
        method = methods.get(event["type"]) or getattr(tournament, event["type"])
        method(event)
    return tournament, tournament.finish()


def verify(text, before):
    """Checks a list of results, or a record of the tournament before it; returns both."""
    record = read_record(text) if before else None
    return (before, before.check_record(record)) if record else read(text.split("\n"))


def read_record(text):
    """Returns the record of a game; None for a list of results."""
    try:
        document = json.loads(text, parse_float=refuse)
    except ValueError:
        return None
    return document if "format" in document else None


def refuse(text):
    raise ValueError(f"{text} is not an integer")


def main(names):
    code, tournament = 0, None
    for name in names:
        try:
            with sys.stdin if name == "-" else open(name, encoding="utf-8") as file:
                tournament, verdict = verify(file.read(), tournament)
                print(f"verified: {verdict}")
        except Fault as fault:
            print(f"{name}: does not hold: {fault}")
            code = max(code, 1)
        except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            print(f"{name}: not the results of a tournament: {error!r}")
            code = 2
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
