"""Tests `bahay_env.py` and its example with the program of `$BAHAY_LAB`, by `python -m unittest test_bahay_env` in this
folder. They need the packages of requirements.lock; `./dev test` installs these and runs the tests."""

import os
import subprocess
import sys
import unittest
import warnings

import numpy
from pettingzoo.test import api_test, seed_test

import train
from bahay_env import Games, Refused, aec

# The games of the house.
GAMES = ["tongits", "tongo_options", "tongo_assets"]

HERE = os.path.dirname(os.path.abspath(__file__))

# Plays whole games with the standard library alone, one by one and in a batch.
PLAIN = """
from bahay_env import Games, numpy
assert numpy is None
with Games("tongits", games=2) as games:
    state = games.reset(seed=7)
    assert list(games.observe()["tensor"]) == list(state["tensor"])
    while state["seat"] is not None:
        state = games.step(state["legal"][0])
    assert sum(state["returns"]) == 0
    expected = games.batch([{"seed": 1}, {"seed": 2}])
    assert [len(row) for row in expected["tensor"]] == [games.tensor_len] * 2
"""


class Conformance(unittest.TestCase):
    def test_every_game_is_an_environment_of_pettingzoo(self):
        for game in GAMES:
            with self.subTest(game), warnings.catch_warnings():
                warnings.simplefilter("error")
                # These two warnings complain about a dict with an action mask, which is PettingZoo's own convention.
                for text in ("Observation is not a NumPy", "Observation space for each agent"):
                    warnings.filterwarnings("ignore", message=text)
                environment = aec(game)
                api_test(environment, num_cycles=500)
                environment.close()

    def test_a_seed_reproduces_its_game(self):
        for game in GAMES:
            with self.subTest(game):
                opened = []

                def make(game=game, opened=opened):
                    opened.append(aec(game))
                    return opened[-1]

                seed_test(make, num_cycles=300)
                for environment in opened:
                    environment.close()

    def test_observations_match_those_of_the_process(self):
        environment = aec("tongits")
        environment.reset(seed=5)
        for agent in environment.possible_agents:
            seen = environment.observe(agent)
            seat = environment.possible_agents.index(agent)
            expected = environment.games.observe(seat)["tensor"]
            self.assertTrue((seen["observation"] == expected).all())
            is_asked = agent == environment.agent_selection
            self.assertEqual(seen["action_mask"].any(), is_asked)
        environment.close()


class Requests(unittest.TestCase):
    def test_the_standard_library_is_enough(self):
        # -S excludes the folders of installed packages.
        command = [sys.executable, "-S", "-B", "-c", PLAIN]
        subprocess.run(command, check=True, cwd=HERE, env=os.environ | {"PYTHONPATH": HERE})

    def test_requests_are_answered_in_order(self):
        with Games("tongits", games=300) as games:
            resets = [{"do": "reset", "game": game, "seed": game % 7} for game in range(300)]
            states = games.ask_all([*resets, {"do": "dance"}, {"do": "state", "game": 8}])
            for game in range(7, 300):
                self.assertEqual(states[game]["legal"], states[game - 7]["legal"])
                self.assertTrue((states[game]["tensor"] == states[game - 7]["tensor"]).all())
            self.assertEqual(states[300].code, "not_a_request")
            self.assertEqual(states[301]["legal"], states[1]["legal"])

    def test_a_refusal_is_raised_and_the_game_goes_on(self):
        with Games("tongits") as games:
            before = games.reset(seed=1)
            with self.assertRaises(Refused) as raised:
                games.step("fight")
            self.assertEqual(raised.exception.code, "illegal")
            self.assertEqual(games.state()["legal"], before["legal"])

    def test_a_saved_game_is_restored_by_another_process(self):
        with Games("tongo_assets") as games, Games("tongo_assets", games=2) as others:
            games.reset(seed=3)
            for _ in range(20):
                state = games.step(games.advise()["action"])
            self.assertIsNotNone(state["seat"], "the game has not ended")
            restored = others.restore(games.clone(), game=1)
            self.assertEqual(restored["legal"], state["legal"])
            self.assertTrue((restored["tensor"] == state["tensor"]).all())
            self.assertEqual(others.copy(1, 0)["legal"], state["legal"])

    def test_an_unknown_game_starts_no_process(self):
        with self.assertRaises(EOFError):
            Games("chess")

    def test_the_ai_plays_a_whole_game(self):
        with Games("tongits") as games:
            state = games.reset(seed=11)
            while state["seat"] is not None:
                state = games.step(games.advise()["action"])
            self.assertEqual(sum(state["returns"]), 0)


class Learning(unittest.TestCase):
    def test_the_example_learns(self):
        with Games("tongits", games=train.CONCURRENT_GAMES) as games:
            agent = train.Agent(games.hello)
            before = train.measure_share(games, agent, 1_000, seed=1)
            again = train.measure_share(games, agent, 1_000, seed=1)
            self.assertEqual(before, again, "the same seeds give the same share")
            train.train(games, agent, 1_280, seed=1)
            after = train.measure_share(games, agent, 1_000, seed=1)
            self.assertTrue(numpy.isfinite(agent.weights).all())
            # Chance alone moves the share of a thousand games by about 0.02.
            self.assertGreater(after, before + 0.1, f"{before} before, {after} after")


if __name__ == "__main__":
    unittest.main()
