"""Measures steps per second through the pipe, with the program of `$BAHAY_LAB`: `./dev env bench`.

Games are played by random actions, chosen by number. A step is an action of one seat. The time of a batch includes the
choice of actions in this program.
"""

import random
import time

from bahay_env import Games

SECONDS = 3


def single(name, tensor):
    """Plays one game, with one request and one response per step."""
    dice, steps = random.Random(1), 0
    with Games(name, tensor=tensor) as games:
        begun, seed = time.monotonic(), 0
        state = games.reset(seed)
        while time.monotonic() - begun < SECONDS:
            if state["seat"] is None:
                seed += 1
                state = games.reset(seed)
            legal = state["legal"]
            state = games.step(legal[int(dice.random() * len(legal))])
            steps += 1
        return steps / (time.monotonic() - begun)


def batch(name, count, tensor):
    """Plays many games, with one request for a step of all."""
    dice, steps, seed = random.Random(1).random, 0, count
    with Games(name, games=count, tensor=tensor) as games:
        state = games.batch([{"seed": game} for game in range(count)])
        begun = time.monotonic()
        while time.monotonic() - begun < SECONDS:
            items = [legal[int(dice() * len(legal))] if legal else None for legal in state["legal"]]
            for place, item in enumerate(items):
                if item is None:
                    seed += 1
                    items[place] = {"seed": seed}
                else:
                    steps += 1
            state = games.batch(items)
        return steps / (time.monotonic() - begun)


def main():
    print(f"{'steps per second through the pipe':<34}{'tensor none':>14}{'tensor hex':>14}")
    for name in ["tongits", "tongo_options", "tongo_assets"]:
        rates = [single(name, tensor) for tensor in ("none", "hex")]
        print(f"{name + ', one game':<34}" + "".join(f"{rate:>14,.0f}" for rate in rates))
        rates = [batch(name, 256, tensor) for tensor in ("none", "hex")]
        print(f"{name + ', 256 side by side':<34}" + "".join(f"{rate:>14,.0f}" for rate in rates))


if __name__ == "__main__":
    main()
