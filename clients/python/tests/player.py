"""Plays games in a room as a guest, each prompt with the first legal action, and prints each settlement as a line of
JSON (scripts/together.py).

    python player.py http://127.0.0.1:8080 --room newbie --games 1"""

import argparse
import asyncio
import json

from bahay_client import Client, ClientNotification


async def play(base, room, games):
    async with Client(base, name="Python") as client:
        notifications = client.notifications()
        await client.take_seat(room)
        answered = set()
        async for notification in notifications:
            if isinstance(notification, ClientNotification.TABLE):
                for event in map(json.loads, notification.events):
                    if event["type"] == "over":
                        print(json.dumps(describe(client.table, event)), flush=True)
                        games -= 1
            if games == 0:
                await client.leave()
                return
            await answer(client, answered)


def describe(table, over):
    table_id = json.loads(table.view)["table"]
    return {"table": table_id, "game": over["game"], "settlement": over["settlement"]}


async def answer(client, answered):
    """Is ready for each game, and answers each prompt once."""
    table = client.table
    if table is None or not table.is_current:
        return
    phase = json.loads(table.view)["phase"]
    prompt = json.loads(table.prompt) if table.prompt is not None else None
    if phase["type"] == "preparing" and phase["game"] not in answered:
        answered.add(phase["game"])
        await client.ready()
    elif prompt and prompt["legal"] and (prompt["game"], prompt["number"]) not in answered:
        answered.add((prompt["game"], prompt["number"]))
        await client.act_by_json(json.dumps(prompt["legal"][0]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="plays games in a room as a guest")
    parser.add_argument("base")
    parser.add_argument("--room", required=True)
    parser.add_argument("--games", type=int, default=1)
    chosen = parser.parse_args()
    asyncio.run(play(chosen.base, chosen.room, chosen.games))
