"""Trains a small agent against seats that play at random, and prints its share of wins before and after training:
`python train.py [--game NAME] [--games N] [--seed N]`. It needs numpy.

The agent is a linear policy. Each word of an action's name has a weight for each number of the tensor, so that
experience with `dump KS` applies to other dumps too; actions are chosen by the softmax of the summed scores. The weights
follow the policy gradient, with the reward 1 for a won game and 0 otherwise, less its running mean. The agent sits at
each seat equally often.

The same command prints the same shares on one machine.
"""

import argparse
import time

import numpy

from bahay_env import Games

# The number of concurrent games.
CONCURRENT_GAMES = 64

# The number of games per update of the weights.
GAMES_PER_CHANGE = 64

LEARNING_RATE = 0.02


class Agent:
    """A linear policy."""

    def __init__(self, hello):
        fields = hello["tensor"]["fields"]
        most = [field["most"] for field in fields for _ in range(field["len"])]
        self.scale = 1 / numpy.maximum(numpy.array(most, dtype=numpy.float32), 1)
        words, rows = {}, []
        for name in hello["actions"]:
            kind, *others = name.split()
            parts = [kind, *(f"{kind} {other}" for other in others)]
            rows.append([words.setdefault(part, len(words)) for part in parts])
        longest = max(len(row) for row in rows)
        # The padding of shorter names has a weight of zero.
        nothing = len(words)
        self.words = numpy.array([row + [nothing] * (longest - len(row)) for row in rows])
        self.weights = numpy.zeros((len(most) + 1, nothing + 1), dtype=numpy.float32)
        # The running mean of squared gradients, which scales the steps (RMSProp).
        self.squares = numpy.zeros_like(self.weights)

    def features(self, tensors):
        ones = numpy.ones((len(tensors), 1), dtype=numpy.float32)
        return numpy.hstack([tensors * self.scale, ones])

    def chances(self, scores, legal):
        sums = scores[self.words[legal]].sum(axis=1)
        powers = numpy.exp(sums - sums.max())
        return powers / powers.sum()

    def learn(self, steps, rewards):
        """Updates the weights. A step is (features, legal actions, probabilities, choice, game)."""
        gradient = numpy.zeros_like(self.weights)
        by_word = numpy.zeros((len(steps), self.weights.shape[1]), dtype=numpy.float32)
        for row, (_, legal, chances, chosen, game) in enumerate(steps):
            push = -chances * rewards[game]
            push[chosen] += rewards[game]
            numpy.add.at(by_word[row], self.words[legal], push[:, None])
        by_word[:, -1] = 0
        gradient = numpy.stack([step[0] for step in steps]).T @ by_word / len(rewards)
        self.squares = 0.95 * self.squares + 0.05 * gradient**2
        self.weights += LEARNING_RATE * gradient / (numpy.sqrt(self.squares) + 1e-3)


def play(games, agent, count, first_seed, dice):
    """Plays `count` games from consecutive seeds; the agent's seat follows from the seed. Returns whether the agent won
    each game, and all of its steps."""
    seats, won, steps = games.seats, numpy.zeros(count), []
    seeds = iter(range(count))
    playing = [next(seeds, None) for _ in range(games.games)]
    deals = [0 if game is None else game for game in playing]
    batch = games.batch([{"seed": first_seed + game} for game in deals])
    while any(game is not None for game in playing):
        items = [None] * games.games
        asked = [
            place
            for place, game in enumerate(playing)
            if game is not None and batch["seats"][place] == (first_seed + game) % seats
        ]
        features = agent.features(batch["tensor"][asked])
        scores = dict(zip(asked, features @ agent.weights))
        features_of = dict(zip(asked, features))
        for place, game in enumerate(playing):
            if game is None:
                continue
            returns = batch["returns"][place]
            if returns is not None:
                mine = returns[(first_seed + game) % seats]
                won[game] = mine > 0 and mine == max(returns)
                playing[place] = following = next(seeds, None)
                items[place] = None if following is None else {"seed": first_seed + following}
                continue
            legal = batch["legal"][place]
            if place not in scores:
                items[place] = legal[int(dice.random() * len(legal))]
                continue
            chances = agent.chances(scores[place], legal)
            chosen = min(int(numpy.searchsorted(chances.cumsum(), dice.random())), len(legal) - 1)
            items[place] = legal[chosen]
            steps.append((features_of[place], legal, chances, chosen, game))
        batch = games.batch(items)
    return won, steps


def measure_share(games, agent, count, seed):
    """Returns the agent's share of wins in games outside of the training set, the same ones each time."""
    won, _ = play(games, agent, count, 1 << 40, numpy.random.default_rng(seed))
    return won.mean()


def train(games, agent, count, seed, report=lambda done, share: None):
    dice = numpy.random.default_rng(seed)
    mean = 1 / games.seats
    for done in range(0, count, GAMES_PER_CHANGE):
        won, steps = play(games, agent, GAMES_PER_CHANGE, done + 1, dice)
        agent.learn(steps, won - mean)
        mean = 0.95 * mean + 0.05 * won.mean()
        report(done + GAMES_PER_CHANGE, mean)


def main():
    parser = argparse.ArgumentParser(description="Train a small agent against random play.")
    parser.add_argument("--game", default="tongits")
    parser.add_argument("--rule-set")
    parser.add_argument("--seats", type=int)
    parser.add_argument("--games", type=int, default=6_400, help="number of training games")
    parser.add_argument("--measured", type=int, default=2_000, help="number of games measured before and after training")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with Games(options.game, options.rule_set, options.seats, games=CONCURRENT_GAMES) as games:
        agent = Agent(games.hello)
        before = measure_share(games, agent, options.measured, options.seed)
        print(f"before: {before:.1%} of {options.measured} games, par {1 / games.seats:.1%}", flush=True)
        begun = time.monotonic()

        def report(done, mean):
            if done % (GAMES_PER_CHANGE * 10) == 0:
                print(f"{done:6} games: {mean:.1%} of the latest", flush=True)

        train(games, agent, options.games, options.seed, report)
        after = measure_share(games, agent, options.measured, options.seed)
        seconds = time.monotonic() - begun
        print(f"after: {after:.1%}, {options.games} games and {seconds:.0f} s later")


if __name__ == "__main__":
    main()
