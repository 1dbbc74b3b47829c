"""Tests the client and its storage without a server."""

import asyncio
import stat
import tempfile
import unittest
from pathlib import Path

from bahay_client import (
    CallRefused,
    Client,
    ClientClosed,
    ClientError,
    ClientNotification,
    CommandOutcome,
    FileStorage,
    LinkState,
    MemoryStorage,
    Notifications,
    NotificationsLost,
    StorageError,
    StoredKey,
)

#: An address at which nothing listens.
NOWHERE = "http://127.0.0.1:9"
LIMIT_S = 10


class FullStorage(MemoryStorage):
    """A storage that cannot be written."""

    def store(self, key, value):
        raise StorageError("the disk is full")


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "values.json"

    def test_values_are_kept_for_their_owner_only(self):
        storage = FileStorage(self.path)
        self.assertEqual(storage.load(), {})
        storage.store(StoredKey.DEVICE, "secret")
        storage.store(StoredKey.SESSION, "tokens")
        storage.store(StoredKey.SESSION, None)
        self.assertEqual(FileStorage(self.path).load(), {StoredKey.DEVICE: "secret"})
        self.assertEqual(stat.S_IMODE(self.path.stat().st_mode), 0o600)
        self.assertEqual(list(self.path.parent.iterdir()), [self.path])

    def test_an_unreadable_file_is_an_error(self):
        for text in ("{", "[]", '{"device": 1}'):
            self.path.write_text(text)
            with self.subTest(text), self.assertRaises(StorageError):
                FileStorage(self.path).load()

    def test_a_missing_folder_is_an_error(self):
        storage = FileStorage(self.path / "values.json")
        with self.assertRaises(StorageError):
            storage.store(StoredKey.DEVICE, "secret")


class Clients(unittest.IsolatedAsyncioTestCase):
    async def test_a_call_without_a_network_is_unreachable(self):
        async with Client(NOWHERE) as client:
            with self.assertRaises(CallRefused) as caught:
                await asyncio.wait_for(client.call("GET", "/v1/rooms", is_open=True), LIMIT_S)
        self.assertEqual((caught.exception.status, caught.exception.code), (0, "unreachable"))

    async def test_a_lost_network_is_shown(self):
        async with Client(NOWHERE) as client:
            screen = await asyncio.wait_for(client.wait_until(lambda screen: screen.link == "pausing"), LIMIT_S)
        self.assertIsNone(screen.table)
        self.assertIsNotNone(screen.retry_in_ms)

    async def test_a_command_without_a_table_is_dropped(self):
        async with Client(NOWHERE) as client:
            self.assertIsInstance(await client.ready(), CommandOutcome.DROPPED)
            with self.assertRaises(ClientError.NotAnAction):
                await client.act_by_json('{"type":"pass"}')
            with self.assertRaises(ClientError.UnknownPhrase):
                await client.say("a_song")
            with self.assertRaises(ClientError.NotAnId):
                await client.watch("the first")

    async def test_a_closed_client_ends_its_requests_and_readers(self):
        async with Client(NOWHERE) as client:
            reader = client.notifications()
            waiting = asyncio.create_task(client.wait_until(lambda screen: screen.link == "live"))
            await asyncio.sleep(0)
        links = [notification async for notification in reader]
        self.assertTrue(all(isinstance(link, ClientNotification.LINK) for link in links))
        self.assertIsInstance(links[-1].link, LinkState.OFF)
        with self.assertRaises(ClientClosed):
            await waiting
        with self.assertRaises(ClientClosed):
            client.start()
        await client.aclose()

    async def test_a_full_storage_ends_the_client(self):
        client = Client(NOWHERE, storage=FullStorage())
        reader = client.notifications()
        with self.assertRaises(StorageError):
            client.start()
        with self.assertRaises(StorageError):
            async for _ in reader:
                pass
        await client.aclose()

    async def test_a_slow_reader_loses_its_place(self):
        reader = Notifications()
        notification = ClientNotification.SAID(player="", phrase="good_luck")
        pushed = [reader.push(notification) for _ in range(4_097)]
        self.assertEqual((pushed[-2], pushed[-1]), (True, False))
        with self.assertRaises(NotificationsLost):
            await anext(aiter(reader))


if __name__ == "__main__":
    unittest.main()
