"""Plays at the house of `$BAHAY_URL`, at practice tables."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from bahay_client import CallRefused, Client, CommandOutcome, FileStorage, MessageForm

HOUSE = os.environ.get("BAHAY_URL", "")
NAMES = ["Althea", "Benjie", "Carmela"]
FORMS = [MessageForm.FULL, MessageForm.BRIEF, MessageForm.COMPACT]
GAMES = ["tongits", "tongo_assets"]
SAMPLE = Path(__file__).parents[1] / "samples" / "player.py"
GAME_S = 300


async def play_to_settlement(client, game):
    """Sits down at a practice table and plays one game. Returns its settlement."""
    notifications = client.notifications()
    await client.practise(game)
    ready_for = None
    async for _ in notifications:
        table = client.screen.table
        if table is None or not table.is_current:
            continue
        if table.settlement is not None:
            return table.settlement
        phase = json.loads(client.table.view)["phase"]
        if table.actions:
            assert client.find_refusal(table.actions[0]) is None
            outcome = await client.act(table, table.actions[0])
            assert isinstance(outcome, (CommandOutcome.DONE, CommandOutcome.REFUSED)), outcome
        elif phase["type"] == "preparing" and phase["game"] != ready_for:
            ready_for = phase["game"]
            assert isinstance(await client.ready(), CommandOutcome.DONE)


class House(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.assertTrue(HOUSE, "BAHAY_URL is the address of a house")

    async def test_games_are_played_to_their_settlement(self):
        async def play(game, name, form):
            async with Client(HOUSE, name=name, forms=[form]) as client:
                settlement = await asyncio.wait_for(play_to_settlement(client, game), GAME_S)
                self.assertTrue(all(payment.owed >= 0 for payment in settlement.payments))
                self.assertIsInstance(await client.leave(), CommandOutcome.DONE)
                screen = await client.wait_until(lambda screen: screen.table is None)
                self.assertEqual(screen.player, name)

        await asyncio.gather(*map(play, GAMES, NAMES, FORMS))

    async def test_a_session_continues_after_a_restart(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "values.json"
            players = []
            for _ in range(2):
                async with Client(HOUSE, storage=FileStorage(path), follows_wallet=True) as client:
                    screen = await client.wait_until(lambda screen: screen.wallet is not None)
                    players.append((client.player_id, screen.wallet))
            self.assertEqual(players[0], players[1])

    async def test_a_client_returns_from_the_background(self):
        async with Client(HOUSE) as client:
            await client.practise("tongits")
            await client.wait_until(lambda screen: screen.table is not None)
            client.stop()
            self.assertEqual(client.screen.link, "off")
            client.start()
            screen = await client.wait_until(lambda screen: screen.link == "live")
            self.assertTrue(screen.table.is_current)

    async def test_a_newer_connection_replaces_the_client(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "values.json"
            async with Client(HOUSE, storage=FileStorage(path)) as first:
                await first.practise("tongits")
                await first.wait_until(lambda screen: screen.link == "live" and screen.table is not None)
                async with Client(HOUSE, storage=FileStorage(path)) as second:
                    await second.wait_until(lambda screen: screen.link == "live" and screen.table is not None)
                    await first.wait_until(lambda screen: screen.link == "replaced")

    async def test_a_refused_call_has_its_code(self):
        async with Client(HOUSE) as client:
            with self.assertRaises(CallRefused) as caught:
                await client.practise("solitaire")
            self.assertEqual((caught.exception.status, caught.exception.code), (422, "rules_invalid"))
            rooms = await client.call("GET", "/v1/rooms")
            self.assertTrue(rooms)

    async def test_the_sample_plays_a_game(self):
        command = [sys.executable, str(SAMPLE), HOUSE, "tongits", "1"]
        played = await asyncio.to_thread(
            subprocess.run, command, capture_output=True, text=True, timeout=GAME_S
        )
        self.assertEqual(played.returncode, 0, played.stderr)
        self.assertEqual(played.stdout.count("is over"), 1, played.stdout)


if __name__ == "__main__":
    unittest.main()
