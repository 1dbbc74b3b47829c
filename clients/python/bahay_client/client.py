"""The client: the core, driven by the network, the clocks and the storage of this process."""

import asyncio
import json
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar

from .errors import CallRefused, ClientClosed, StorageError
from .gen.bahay_client import (
    ActionModel,
    ActionRefusalModel,
    CallAnswer,
    ClientEffect,
    ClientInput,
    ClientNotification,
    ClientOptions,
    ClientTime,
    CommandOutcome,
    MessageForm,
    PlayerClient,
    PlayerWish,
    ScreenModel,
    SeedChoice,
    StoredValue,
    TableModel,
    TableSnapshot,
)
from .network import Network
from .notifications import Notifications
from .storage import MemoryStorage, Storage

#: The time for which a request for a seat waits until the socket is open, in seconds.
SOCKET_TIMEOUT_S = 10.0
#: The words of a link whose socket is open.
OPEN_LINKS = frozenset({"joining", "live", "weak"})

_Answer = TypeVar("_Answer")


class Client:
    """A player of a house. `async with` starts it and closes it; it belongs to one event loop.

    Commands return their outcome, also if the connection is lost meanwhile. An outcome `DROPPED` means that nothing
    was sent. Arguments that cannot exist raise an error of `ClientError`."""

    def __init__(
        self,
        base: str,
        *,
        storage: Storage | None = None,
        name: str | None = None,
        forms: Sequence[MessageForm] = (),
        stores_table: bool = False,
        follows_wallet: bool = False,
    ) -> None:
        """`base` is the server's origin; `name` is that of a new guest, of 2 to 20 characters. Without a storage
        each run is another guest. The message forms are all by default, of which the server takes the shortest."""
        self._loop = asyncio.get_running_loop()
        self._storage = MemoryStorage() if storage is None else storage
        self._network = Network(self._handle_input)
        self._readers: list[Notifications] = []
        self._commands: dict[int, asyncio.Future[CommandOutcome]] = {}
        self._calls: dict[int, asyncio.Future[CallAnswer]] = {}
        self._numbers = 0
        self._timer: asyncio.TimerHandle | None = None
        self._changed = asyncio.Event()
        self._end: Exception | None = None
        options = ClientOptions(
            base=base.rstrip("/"),
            random_seed=secrets.token_bytes(32),
            name=name,
            stored=[StoredValue(key=key, value=value) for key, value in self._storage.load().items()],
            forms=list(forms),
            stores_table=stores_table,
            follows_wallet=follows_wallet,
        )
        self._core = PlayerClient(options, self._now())

    async def __aenter__(self) -> "Client":
        self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    def start(self) -> None:
        """Signs in, connects, and stays connected; also takes over from a newer connection of the player."""
        self._handle(ClientInput.START())

    def stop(self) -> None:
        """Closes the connection, as for the background, and drops open commands. `start` returns."""
        self._handle(ClientInput.STOP())

    def wake(self) -> None:
        """Checks the connection after a suspension, or after the network has returned or changed."""
        self._handle(ClientInput.WAKE())

    def forget(self) -> None:
        """Forgets the player and stops. The next `start` signs in another guest."""
        self._handle(ClientInput.FORGET())

    async def aclose(self) -> None:
        """Stops the client for good. Open requests raise `ClientClosed`, and readers of notifications end."""
        if self._end is None:
            self.stop()
        self._finish(None)
        await self._network.aclose()

    @property
    def screen(self) -> ScreenModel:
        """Everything that an app shows. Amounts are in hundredths of a coin."""
        return self._core.screen(self._now().now_ms)

    @property
    def table(self) -> TableSnapshot | None:
        """The player's table, for apps that draw a game by themselves."""
        return self._core.table()

    @property
    def watched(self) -> TableSnapshot | None:
        """The watched table."""
        return self._core.watched()

    @property
    def player_id(self) -> str | None:
        """The id of the player who is signed in."""
        return self._core.player_id()

    @property
    def server_time_ms(self) -> int:
        """The server's time, in milliseconds since 1970-01-01 UTC."""
        return self._core.server_time_ms(self._now().now_ms)

    def find_refusal(self, action: ActionModel | str) -> ActionRefusalModel | None:
        """Returns the reason for which the server would refuse an action now; None if it is legal."""
        return self._core.find_refusal(_action_json(action))

    def notifications(self) -> Notifications:
        """Returns a reader of the notifications from now on. A reader that falls 4,096 behind raises
        `NotificationsLost`."""
        reader = Notifications()
        if self._end is not None:
            reader.finish(self._end)
        self._readers.append(reader)
        return reader

    async def wait_until(self, holds: Callable[[ScreenModel], bool]) -> ScreenModel:
        """Returns the first screen for which a condition holds. `asyncio.timeout` limits the time."""
        while not holds(screen := self.screen):
            self._check_open()
            self._changed.clear()
            await self._changed.wait()
        return screen

    async def ready(self, seed: str | None = None, *, takes_part: bool = True) -> CommandOutcome:
        """Reports that the player is ready for the game in preparation. `seed` is the player's text for the deal, of
        at most 256 bytes; without one it is drawn. With `takes_part=False` the client takes no part in the deal."""
        if not takes_part:
            choice = SeedChoice.NONE()
        elif seed is None:
            choice = SeedChoice.DRAWN()
        else:
            choice = SeedChoice.CHOSEN(text=seed)
        return await self._send_wish(PlayerWish.READY(seed=choice))

    async def act(self, table: TableModel, action: ActionModel) -> CommandOutcome:
        """Answers the prompt of `screen.table` as it was shown, with one of its actions. If another prompt is open
        meanwhile, nothing is sent, and the outcome is `OVERTAKEN`."""
        if table.prompt is None:
            return CommandOutcome.DROPPED()
        return await self._send_wish(PlayerWish.ANSWER(prompt=table.prompt, action=action.json))

    async def act_by_json(self, action: str) -> CommandOutcome:
        """Answers whichever prompt is open, by an action as JSON."""
        return await self._send_wish(PlayerWish.ACT(action=action))

    async def take_back(self) -> CommandOutcome:
        """Returns the seat from the AI to the player."""
        return await self._send_wish(PlayerWish.TAKE_BACK())

    async def leave(self) -> CommandOutcome:
        """Leaves the table. During a game the AI plays on."""
        return await self._send_wish(PlayerWish.LEAVE())

    async def hint(self) -> CommandOutcome:
        """Requests a bot's advice at a practice table, which a notification brings."""
        return await self._send_wish(PlayerWish.HINT())

    async def say(self, phrase: str) -> CommandOutcome:
        """Says a phrase, such as `good_luck`, now or never."""
        return await self._send_wish(PlayerWish.SAY(phrase=phrase))

    async def seek(self, rooms: Sequence[str]) -> CommandOutcome:
        """Seeks a table in one to eight rooms of one game."""
        return await self._send_wish(PlayerWish.SEEK(rooms=list(rooms)))

    async def cancel_seek(self) -> CommandOutcome:
        """Ends the search for a table."""
        return await self._send_wish(PlayerWish.CANCEL_SEEK())

    async def watch(self, table: str) -> CommandOutcome:
        """Watches a table, one turn late."""
        return await self._send_wish(PlayerWish.WATCH(table=table))

    async def unwatch(self) -> CommandOutcome:
        """Ends watching."""
        return await self._send_wish(PlayerWish.UNWATCH())

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        is_open: bool = False,
    ) -> Any:
        """Performs an operation of openapi.yaml, authenticated, and returns its body, or None without one. `is_open`
        states that the operation needs no authentication. Raises `CallRefused`."""
        text = None if body is None else json.dumps(body)
        fields = {"method": method, "path": path, "headers": dict(headers or {}), "body": text}
        return await self._ask(lambda call: ClientInput.CALL(call=call, is_open=is_open, **fields))

    async def sign_in(self, path: str, body: Mapping[str, Any]) -> Any:
        """Signs in with `/v1/sign-in/password` or `/v1/sign-in/openid`. Raises `CallRefused`."""
        text = json.dumps(dict(body))
        return await self._ask(lambda call: ClientInput.SIGN_IN(call=call, path=path, body=text))

    async def take_seat(self, room: str) -> Any:
        """Takes a seat in a room at once, and joins. Raises `CallRefused`."""
        return await self._take_seat(f"/v1/rooms/{room}/seat", None)

    async def take_private_seat(self, code: str) -> Any:
        """Takes a seat at a private table, and joins. Raises `CallRefused`."""
        return await self._take_seat(f"/v1/private-tables/{code}/seat", None)

    async def practise(self, kind: str, **options: Any) -> Any:
        """Opens a practice table of a game, with bots and without coins, and joins. The options are `rule_set`,
        `rules` and `players`. Raises `CallRefused`."""
        return await self._take_seat("/v1/practice-tables", {"kind": kind, **options})

    async def _take_seat(self, path: str, body: Any) -> Any:
        """Requests a seat, which the server keeps only for a player whose socket is open."""
        try:
            answer = await self.call("POST", path, body)
        except CallRefused as refusal:
            if refusal.code != "socket_required":
                raise
            try:
                opened = self.wait_until(lambda screen: screen.link in OPEN_LINKS)
                await asyncio.wait_for(opened, SOCKET_TIMEOUT_S)
            except asyncio.TimeoutError:
                raise refusal from None
            answer = await self.call("POST", path, body)
        self._handle(ClientInput.JOIN())
        return answer

    def _send_wish(self, wish: PlayerWish) -> Awaitable[CommandOutcome]:
        return self._request(self._commands, lambda command: ClientInput.COMMAND(command=command, wish=wish))

    async def _ask(self, to_input: Callable[[int], ClientInput]) -> Any:
        answer = await self._request(self._calls, to_input)
        if isinstance(answer, CallAnswer.OK):
            return json.loads(answer.body)
        raise CallRefused(answer.status, answer.code, answer.detail, answer.retry_after_ms)

    def _request(
        self,
        waiting: dict[int, "asyncio.Future[_Answer]"],
        to_input: Callable[[int], ClientInput],
    ) -> "asyncio.Future[_Answer]":
        """Handles an input with a number, and returns the future of its answer."""
        self._numbers += 1
        number = self._numbers
        answer: asyncio.Future[_Answer] = self._loop.create_future()
        waiting[number] = answer
        try:
            self._handle(to_input(number))
        except BaseException:
            del waiting[number]
            raise
        return answer

    def _handle_input(self, happened: ClientInput) -> None:
        """Handles an input of the network or the timer, whose end nobody awaits."""
        if self._end is None:
            self._handle(happened)

    def _handle(self, happened: ClientInput) -> None:
        """Handles an input and performs its effects. No effect causes an input before this returns."""
        self._check_open()
        handled = self._core.handle_input(self._now(), happened)
        try:
            for effect in handled.effects:
                self._perform(effect)
        except StorageError as error:
            self._finish(error)
            raise
        self._set_timer(handled.timeout_ms)
        self._changed.set()

    def _perform(self, effect: ClientEffect) -> None:
        if isinstance(effect, ClientEffect.REQUEST):
            self._network.send_request(effect)
        elif isinstance(effect, ClientEffect.OPEN):
            self._network.open_socket(effect.socket, effect.url, effect.protocols)
        elif isinstance(effect, ClientEffect.SEND):
            self._network.send_text(effect.socket, effect.text)
        elif isinstance(effect, ClientEffect.CLOSE):
            self._network.close_socket(effect.socket)
        elif isinstance(effect, ClientEffect.STORE):
            self._storage.store(effect.key, effect.value)
        elif isinstance(effect, ClientEffect.CALLED):
            _answer(self._calls, effect.call, effect.answer)
        elif isinstance(effect, ClientEffect.NOTIFY):
            notification = effect.notification
            if isinstance(notification, ClientNotification.ENDED):
                _answer(self._commands, notification.command, notification.outcome)
            self._readers = [reader for reader in self._readers if reader.push(notification)]

    def _set_timer(self, timeout_ms: int | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if timeout_ms is not None and self._end is None:
            timeout = lambda: self._handle_input(ClientInput.TIMEOUT())  # noqa: E731
            self._timer = self._loop.call_at(timeout_ms / 1_000, timeout)

    def _finish(self, error: Exception | None) -> None:
        """Ends the client, by an error or by its caller."""
        if self._end is not None:
            return
        self._end = error or ClientClosed()
        self._set_timer(None)
        for answer in [*self._commands.values(), *self._calls.values()]:
            if not answer.done():
                answer.set_exception(self._end)
        for reader in self._readers:
            reader.finish(error)
        self._changed.set()

    def _check_open(self) -> None:
        if self._end is not None:
            raise self._end

    def _now(self) -> ClientTime:
        # The loop's clock rounds; a timer that is early by less than a millisecond counts as due.
        return ClientTime(now_ms=round(self._loop.time() * 1_000), wall_ms=round(time.time() * 1_000))


def _answer(waiting: dict[int, "asyncio.Future[_Answer]"], number: int, answer: _Answer) -> None:
    """Answers a request, unless its caller was cancelled."""
    future = waiting.pop(number, None)
    if future is not None and not future.done():
        future.set_result(answer)


def _action_json(action: ActionModel | str) -> str:
    return action if isinstance(action, str) else action.json
