"""The cards of Tongo (assets) and the strength of hands: chapters 1 and 5 of the rules.

Used by verify_tongo_assets.py; it shares no code with the server.
"""

COLOURS = "RBYGPOK"
ASSETS = [f"{number}{colour}{copy}" for copy in "ab" for colour in COLOURS for number in range(1, 8)]
KINDS = [("W", 14), ("F", 6), ("V", 4), ("D", 4), ("X", 2)]
ACQUIRES = [f"{kind}{number}" for kind, count in KINDS for number in range(count)]
INDEX = {card: index for index, card in enumerate(ASSETS + ACQUIRES)}


def is_wild(card):
    return card[0] == "W"


def is_asset(card):
    return card[0].isdigit()


def up(amount, by):
    """Returns the quotient, rounded up."""
    return -(-amount // by)


# Strength: chapter 5.

CLASSES = ["nothing", "reserve", "treasury", "material_continuum", "consortium", "full_consortium"]
CLASSES += ["monopoly", "full_monopoly"]


def groups(natural):
    """Yields, for each number and each colour, its cards and the best card it could contain."""
    for number in range(1, 8):
        yield [card for card in natural if card[0] == number], (number, 0)
    for colour in range(7):
        yield [card for card in natural if card[1] == colour], (7, colour)


def evaluate_hand(hand):
    """Returns class, highest number, its colour and the wilds; a greater tuple is stronger."""
    natural = [(int(card[0]), COLOURS.index(card[1])) for card in hand if is_asset(card)]
    wilds = sum(is_wild(card) for card in hand)
    found = [(0, 0, 0, 0)]

    def make(name, cards, wild_as=()):
        """Adds a hand of cards and of the cards that wilds replace."""
        number = max(card[0] for card in [*cards, *wild_as])
        colour = min(card[1] for card in [*cards, *wild_as] if card[0] == number)
        found.append((CLASSES.index(name), number, 7 - colour, -len(wild_as)))

    numbers, colours = {card[0] for card in natural}, {card[1] for card in natural}
    if len(natural) == 7 and len(numbers) == 7 and len(colours) == 7:
        make("full_monopoly", natural)
    if len(natural) == 7 and (len(numbers) == 1 or len(colours) == 1):
        make("monopoly" if len(set(natural)) == 7 else "full_consortium", natural)
    for name, wanted in (("consortium", 7), ("treasury", 5), ("reserve", 2)):
        for cards, best in groups(natural):
            best_first = sorted(cards, key=lambda card: (-card[0], card[1]))
            for used in range(wilds + 1):
                if name == "consortium" and not used:
                    continue
                if len(best_first) + used >= wanted >= used:
                    make(name, best_first[: wanted - used], [best] * used)
    twice = {card for card in natural if natural.count(card) == 2}
    every = [(number, colour) for number in range(1, 8) for colour in range(7)]
    cost = {card: 0 if card in twice else 2 - (card in natural) for card in every}
    for one in every:
        if cost[one] <= wilds:
            others = [other for other in every if other != one]
            other = min(others, key=lambda card: (cost[card], card[0], -card[1]))
            if cost[one] + cost[other] <= wilds:
                made = [one] * cost[one] + [other] * cost[other]
                make("material_continuum", [one, other], made)
    return max(found)
