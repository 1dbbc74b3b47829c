"""Notifications as an async iterator."""

import asyncio
from collections import deque

from .errors import NotificationsLost
from .gen.bahay_client import ClientNotification

#: The number of notifications that wait for a reader. A slower reader loses its place.
WAITING_MAX = 4_096


class Notifications:
    """The notifications of a client from the creation of this reader on, until the client is closed."""

    def __init__(self) -> None:
        self._waiting: deque[ClientNotification] = deque()
        self._arrived = asyncio.Event()
        self._end: Exception | None = None

    def __aiter__(self) -> "Notifications":
        return self

    async def __anext__(self) -> ClientNotification:
        while not self._waiting:
            if self._end is not None:
                raise self._end
            self._arrived.clear()
            await self._arrived.wait()
        return self._waiting.popleft()

    def push(self, notification: ClientNotification) -> bool:
        """Appends a notification. Returns false if the reader has ended, by being too slow."""
        if self._end is None and len(self._waiting) >= WAITING_MAX:
            self._waiting.clear()
            self.finish(NotificationsLost())
        if self._end is None:
            self._waiting.append(notification)
            self._arrived.set()
        return self._end is None

    def finish(self, error: Exception | None = None) -> None:
        """Ends the reader after the waiting notifications, with an error if there is one."""
        self._end = self._end or error or StopAsyncIteration()
        self._arrived.set()
