"""A player's client of a bahay house on asyncio.

The behaviour is the client core's (crates/client), in a native library (`gen`); this package owns what the
platform does: sockets, HTTP, timers and storage.

    async with Client("https://house.example", storage=FileStorage("~/.bahay.json")) as client:
        await client.practise("tongits")
        async for notification in client.notifications():
            print(client.screen)

docs/CLIENTS.md is the guide for authors of clients.
"""

from .client import Client
from .errors import CallRefused, ClientClosed, NotificationsLost, StorageError
from .gen.bahay_client import (
    ActionModel,
    ActionRefusalModel,
    CallAnswer,
    ClientError,
    ClientNotification,
    CommandOutcome,
    CountdownModel,
    LinkState,
    MessageForm,
    PaymentItem,
    PaymentModel,
    PotPayout,
    ScreenModel,
    SeatModel,
    SeatPresence,
    SeedChoice,
    SettlementModel,
    StoredKey,
    TableLine,
    TableModel,
    TableSnapshot,
    UnseatedCause,
    WalletModel,
)
from .notifications import Notifications
from .storage import FileStorage, MemoryStorage, Storage

__all__ = [
    "ActionModel",
    "ActionRefusalModel",
    "CallAnswer",
    "CallRefused",
    "Client",
    "ClientClosed",
    "ClientError",
    "ClientNotification",
    "CommandOutcome",
    "CountdownModel",
    "FileStorage",
    "LinkState",
    "MemoryStorage",
    "MessageForm",
    "Notifications",
    "NotificationsLost",
    "PaymentItem",
    "PaymentModel",
    "PotPayout",
    "ScreenModel",
    "SeatModel",
    "SeatPresence",
    "SeedChoice",
    "SettlementModel",
    "Storage",
    "StorageError",
    "StoredKey",
    "TableLine",
    "TableModel",
    "TableSnapshot",
    "UnseatedCause",
    "WalletModel",
]
