"""Has programs in several languages play games at one table, and compares the settlements that they print.

    python scripts/together.py URL ROOM GAMES PROGRAM…

Each program is run as `PROGRAM URL --room ROOM --games GAMES`, and prints for each game one line of JSON:
`{"table", "game", "settlement"}`, the latter as asyncapi.yaml has it. All programs must print the same lines, and
exit with 0. The room must have no other players."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

TIMEOUT_S = 300


class DifferenceError(Exception):
    """The programs did not play the same games."""


async def run_player(path, arguments):
    """Runs a program, and returns the settlements that it prints."""
    program = await asyncio.create_subprocess_exec(
        path, *arguments, stdout=asyncio.subprocess.PIPE, start_new_session=True
    )
    try:
        output, _ = await program.communicate()
    finally:
        if program.returncode is None:
            os.killpg(program.pid, signal.SIGKILL)
    if program.returncode != 0:
        raise DifferenceError(f"{path} ended with {program.returncode}")
    return [json.loads(line) for line in output.decode().splitlines()]


async def play(url, room, games, players):
    """Runs all players, and returns their settlements by program. The first failure ends the others."""
    arguments = [url, "--room", room, "--games", str(games)]
    tasks = {path: asyncio.create_task(run_player(path, arguments)) for path in players}
    ended, running = await asyncio.wait(tasks.values(), timeout=TIMEOUT_S, return_when=asyncio.FIRST_EXCEPTION)
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    for task in ended:
        task.result()
    if running:
        raise DifferenceError(f"the games did not end within {TIMEOUT_S} s")
    return {Path(path).name: task.result() for path, task in tasks.items()}


def compare(settlements, games):
    (first, expected), *others = settlements.items()
    if len(expected) != games:
        raise DifferenceError(f"{first} printed {len(expected)} games instead of {games}")
    for name, printed in others:
        if printed != expected:
            raise DifferenceError(f"{name} and {first} differ:\n{json.dumps(printed)}\n{json.dumps(expected)}")


def main():
    url, room, games, *players = sys.argv[1:]
    try:
        settlements = asyncio.run(play(url, room, int(games), players))
        compare(settlements, int(games))
    except DifferenceError as error:
        sys.exit(str(error))
    print(f"{', '.join(settlements)} played {games} games at one table, with the same settlements")


if __name__ == "__main__":
    main()
