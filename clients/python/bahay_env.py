"""The house's games for learning programs: a process of `bahay-lab env` as an object, and as a PettingZoo environment if
PettingZoo is installed.

This module is a single file to be copied. `Games` needs the standard library only; with `numpy`, `Games.batch` returns
arrays; `aec` needs `pettingzoo`. docs/ENV.md documents requests and responses.

    with Games("tongits") as games:
        state = games.reset(seed=7)
        while state["seat"] is not None:
            state = games.step(state["legal"][0])
        print(state["returns"])
"""

import array
import json
import os
import random
import subprocess
import sys

try:
    import numpy
except ImportError:
    numpy = None

try:
    from gymnasium import spaces
    from pettingzoo import AECEnv
except ImportError:
    AECEnv = None

# The number of requests that are sent before the first response is read. Neither side blocks while they fit in the
# pipe.
WINDOW = 64


class Refused(Exception):
    """A refused request. `code` is stable; `answer` is the whole response."""

    def __init__(self, answer):
        super().__init__(answer["message"])
        self.code = answer["error"]
        self.answer = answer


class Games:
    """A number of games in one process of their own."""

    def __init__(self, game, rule_set=None, seats=None, games=1, tensor="hex", binary=None):
        """`binary` is the path of the program; the default is `$BAHAY_LAB`, or `bahay-lab` in PATH."""
        command = [binary or os.environ.get("BAHAY_LAB", "bahay-lab"), "env", "--game", game]
        command += ["--games", str(games), "--tensor", tensor]
        command += [] if rule_set is None else ["--rule-set", rule_set]
        command += [] if seats is None else ["--seats", str(seats)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.hello = self._read()
        self.seats = self.hello["seats"]
        self.games = self.hello["games"]
        self.actions = self.hello["actions"]
        self.tensor_len = self.hello["tensor"]["len"]
        self._is_hex = tensor == "hex"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends the process. Further calls have no effect."""
        if self._process.stdin.closed:
            return
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass
        self._process.stdout.close()
        self._process.wait()

    def reset(self, seed, game=0):
        """Deals a new game and returns its state."""
        return self.ask({"do": "reset", "game": game, "seed": seed})

    def step(self, action, game=0):
        """Plays an action, given as its number, its name or the action itself; returns the next state."""
        return self.ask({"do": "step", "game": game, "action": action})

    def state(self, game=0):
        return self.ask({"do": "state", "game": game})

    def legal(self, game=0):
        """Returns every legal action: its number, its name and the action itself."""
        return self.ask({"do": "legal", "game": game})["legal"]

    def observe(self, seat=None, game=0):
        """Returns a seat's view and tensor; the default is the seat to act."""
        request = {"do": "observe", "game": game}
        return self.ask(request if seat is None else {**request, "seat": seat})

    def advise(self, game=0):
        """Returns the action that the house's AI would choose in the view of the seat to act."""
        return self.ask({"do": "advise", "game": game})

    def clone(self, game=0):
        """Returns a text from which any process can restore the game. It contains all hidden information."""
        return self.ask({"do": "clone", "game": game})["state"]

    def restore(self, state, game=0):
        return self.ask({"do": "restore", "game": game, "state": state})

    def copy(self, source, target):
        """Copies the state of one game of this process to another."""
        return self.ask({"do": "copy", "from": source, "to": target})

    def batch(self, items):
        """Steps all games at once: an item is an action's number, `{"seed": N}` for a new deal, or `None`.

        Returns columns: `seats`, `legal`, `returns`, and `tensor` with a row for each game."""
        return self._with_tensor(self._ask({"do": "batch", "games": items}), self.games)

    def ask(self, request):
        """Sends any request and returns the response; raises `Refused` if it is refused."""
        return self._with_tensor(self._ask(request))

    def ask_all(self, requests):
        """Sends many requests; returns their responses in order, with a `Refused` for each refused one."""
        answers, requests = [], list(requests)
        for begin in range(0, len(requests), WINDOW):
            window = requests[begin : begin + WINDOW]
            self._write(window)
            for _ in window:
                answer = self._read()
                refused = "error" in answer
                answers.append(Refused(answer) if refused else self._with_tensor(answer))
        return answers

    def _ask(self, request):
        self._write([request])
        answer = self._read()
        if "error" in answer:
            raise Refused(answer)
        return answer

    def _write(self, requests):
        lines = "".join(json.dumps(request, separators=(",", ":")) + "\n" for request in requests)
        self._process.stdin.write(lines.encode())
        self._process.stdin.flush()

    def _read(self):
        line = self._process.stdout.readline()
        if not line:
            self.close()
            raise EOFError(f"bahay-lab env ended with {self._process.returncode}: see above")
        return json.loads(line)

    def _with_tensor(self, answer, rows=None):
        if self._is_hex and "tensor" in answer:
            answer["tensor"] = self._numbers(answer["tensor"], rows)
        return answer

    def _numbers(self, text, rows):
        data = bytes.fromhex(text)
        if numpy is not None:
            numbers = numpy.frombuffer(data, dtype="<i2")
            return numbers if rows is None else numbers.reshape(rows, self.tensor_len)
        numbers = array.array("h", data)
        if sys.byteorder == "big":
            numbers.byteswap()
        if rows is None:
            return numbers
        length = self.tensor_len
        return [numbers[row * length : (row + 1) * length] for row in range(rows)]


def aec(game, rule_set=None, seats=None, binary=None, render_mode=None):
    """Returns a PettingZoo environment of one game, whose agents are `seat_0` and so on.

    An observation is a dict of `observation`, the tensor, and `action_mask`. The reward is given at the end: the counts
    that the seat has won or lost."""
    if AECEnv is None:
        raise ImportError("aec needs pettingzoo: pip install pettingzoo")
    return _Environment(game, rule_set, seats, binary, render_mode)


if AECEnv is not None:

    class _Environment(AECEnv):
        metadata = {"name": "bahay_v0", "render_modes": ["ansi"], "is_parallelizable": False}

        def __init__(self, game, rule_set, seats, binary, render_mode):
            super().__init__()
            self.games = Games(game, rule_set, seats, binary=binary)
            self.render_mode = render_mode
            self.possible_agents = [f"seat_{seat}" for seat in range(self.games.seats)]
            fields = self.games.hello["tensor"]["fields"]
            most = [field["most"] for field in fields for _ in range(field["len"])]
            high = numpy.array(most, dtype=numpy.int16)
            count = len(self.games.actions)
            space = spaces.Dict(
                {
                    "observation": spaces.Box(numpy.zeros_like(high), high, dtype=numpy.int16),
                    "action_mask": spaces.Box(0, 1, (count,), dtype=numpy.int8),
                }
            )
            self.observation_spaces = {agent: space for agent in self.possible_agents}
            self.action_spaces = {agent: spaces.Discrete(count) for agent in self.possible_agents}
            self._random = random.Random()
            self._state = None

        def observation_space(self, agent):
            return self.observation_spaces[agent]

        def action_space(self, agent):
            return self.action_spaces[agent]

        def reset(self, seed=None, options=None):
            """Deals the game of the seed; without a seed, the next one derived from the last seed."""
            if seed is not None:
                self._random = random.Random(seed)
            self.agents = list(self.possible_agents)
            self.rewards = dict.fromkeys(self.agents, 0)
            self._cumulative_rewards = dict.fromkeys(self.agents, 0)
            self.terminations = dict.fromkeys(self.agents, False)
            self.truncations = dict.fromkeys(self.agents, False)
            self.infos = {agent: {} for agent in self.agents}
            deal = self._random.getrandbits(63) if seed is None else seed
            self._apply_state(self.games.reset(deal))

        def step(self, action):
            if self.terminations[self.agent_selection] or self.truncations[self.agent_selection]:
                self._was_dead_step(action)
                return
            agent = self.agent_selection
            self._cumulative_rewards[agent] = 0
            self._clear_rewards()
            self._apply_state(self.games.step(int(action)))
            self._accumulate_rewards()

        def observe(self, agent):
            seat = self.possible_agents.index(agent)
            mask = numpy.zeros(len(self.games.actions), dtype=numpy.int8)
            if seat == self._state["seat"]:
                mask[self._state["legal"]] = 1
                return {"observation": self._state["tensor"].astype(numpy.int16), "action_mask": mask}
            tensor = self.games.observe(seat)["tensor"]
            return {"observation": tensor.astype(numpy.int16), "action_mask": mask}

        def render(self):
            return json.dumps(self.games.observe(self._state["seat"] or 0)["view"])

        def close(self):
            self.games.close()

        def _apply_state(self, state):
            self._state = state
            if state["seat"] is not None:
                self.agent_selection = self.possible_agents[state["seat"]]
                return
            self.rewards = dict(zip(self.possible_agents, state["returns"]))
            self.terminations = dict.fromkeys(self.agents, True)
            self.agent_selection = self.agents[0]
