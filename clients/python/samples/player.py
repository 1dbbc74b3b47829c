"""Plays whole games at a practice table: signs in as a guest, sits down with bots, and chooses any legal action.

    python player.py https://house.example tongits 3

The arguments are the server's origin, the game and the number of games."""

import asyncio
import json
import random
import sys

from bahay_client import Client, ClientNotification


def preparing_game(client: Client) -> str | None:
    """Returns the game for which the players have to be ready."""
    phase = json.loads(client.table.view)["phase"] if client.table else {}
    return phase["game"] if phase.get("type") == "preparing" else None


async def play(base: str, kind: str, games: int) -> None:
    async with Client(base, name="Sample") as client:
        notifications = client.notifications()
        await client.practise(kind)
        ready_for = None
        async for notification in notifications:
            if isinstance(notification, ClientNotification.DEAL):
                # The house has revealed its seed: does it open the commitment that was shown before the deal?
                if notification.holds is False:
                    raise SystemExit(f"the deal of {notification.game} was not the promised one")
                print(f"game {notification.game} is over", flush=True)
                games -= 1
                if games == 0:
                    return
            table = client.screen.table
            if table is None or not table.is_current:
                continue
            if table.actions:
                action = random.choice(table.actions)
                outcome = await client.act(table, action)
                print(f"{action.words}: {outcome}", flush=True)
            elif (game := preparing_game(client)) not in (None, ready_for):
                await client.ready()
                ready_for = game


if __name__ == "__main__":
    origin, kind, games = sys.argv[1:]
    asyncio.run(play(origin, kind, int(games)))
