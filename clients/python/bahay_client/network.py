"""Sockets and HTTP, without a decision of their own: timeouts, pings and repetitions are the core's."""

import asyncio
from collections.abc import Callable
from typing import Protocol

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.typing import Subprotocol

from .gen.bahay_client import ClientEffect, ClientInput

#: A request that the core no longer waits for ends by itself after this time, in seconds.
REQUEST_TIMEOUT_S = 15.0
#: The largest message, in bytes: far more than any of the server.
MESSAGE_BYTES_MAX = 4 * 1024 * 1024
#: The time that a closed socket waits for the other side, in seconds.
CLOSE_TIMEOUT_S = 1.0
#: The close code of a connection that ended without one.
ABNORMAL = 1006

Report = Callable[[ClientInput], None]


class Request(Protocol):
    """A request of the core, `ClientEffect.REQUEST`."""

    request: int
    method: str
    url: str
    headers: dict[str, str]
    body: str | None


class Network:
    """Performs the requests of a client and keeps its sockets. `report` receives what happens."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._http = httpx.AsyncClient(timeout=REQUEST_TIMEOUT_S)
        self._sockets: dict[int, _Socket] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def send_request(self, request: Request) -> None:
        self._spawn(self._perform_request(request))

    def open_socket(self, socket: int, url: str, protocols: list[str]) -> None:
        opened = _Socket(socket, self._report)
        self._sockets[socket] = opened
        opened.task = self._spawn(opened.run(url, protocols))

    def send_text(self, socket: int, text: str) -> None:
        if socket in self._sockets:
            self._sockets[socket].outgoing.put_nowait(text)

    def close_socket(self, socket: int) -> None:
        closed = self._sockets.pop(socket, None)
        if closed is not None:
            closed.close()

    async def aclose(self) -> None:
        """Closes every socket and ends every request."""
        for socket in list(self._sockets):
            self.close_socket(socket)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSE_TIMEOUT_S)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._http.aclose()

    def _spawn(self, work) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _perform_request(self, request: Request) -> None:
        content = None if request.body is None else request.body.encode()
        try:
            answer = await self._http.request(
                request.method, request.url, headers=request.headers, content=content
            )
            body = answer.text
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError):
            self._report(ClientInput.UNANSWERED(request=request.request))
            return
        self._report(
            ClientInput.ANSWERED(
                request=request.request,
                status=answer.status_code,
                content_type=answer.headers.get("content-type"),
                body=body,
                retry_after_ms=_read_seconds(answer.headers.get("retry-after")),
            )
        )


class _Socket:
    """A socket from its request to its end."""

    def __init__(self, socket: int, report: Report) -> None:
        self._socket = socket
        self._report = report
        self._connection: ClientConnection | None = None
        self._is_closed = False
        self.outgoing: asyncio.Queue[str | None] = asyncio.Queue()
        self.task: asyncio.Task[None] | None = None

    def close(self) -> None:
        """Closes the socket after everything that was sent. Nothing is reported about it any more."""
        self._is_closed = True
        if self._connection is None and self.task is not None:
            self.task.cancel()
        self.outgoing.put_nowait(None)

    async def run(self, url: str, protocols: list[str]) -> None:
        code = ABNORMAL
        try:
            async with connect(
                url,
                subprotocols=[Subprotocol(protocol) for protocol in protocols],
                open_timeout=None,
                close_timeout=CLOSE_TIMEOUT_S,
                ping_interval=None,
                max_size=MESSAGE_BYTES_MAX,
            ) as connection:
                self._connection = connection
                self._tell(ClientInput.OPENED(socket=self._socket, protocol=connection.subprotocol or ""))
                sender = asyncio.create_task(self._send_all(connection))
                try:
                    await self._receive_all(connection)
                finally:
                    sender.cancel()
                code = connection.close_code or ABNORMAL
        except (OSError, WebSocketException, EOFError):
            pass
        self._tell(ClientInput.CLOSED(socket=self._socket, code=code))

    async def _receive_all(self, connection: ClientConnection) -> None:
        try:
            while True:
                message = await connection.recv()
                if isinstance(message, str):
                    self._tell(ClientInput.RECEIVED_TEXT(socket=self._socket, text=message))
                else:
                    self._tell(ClientInput.RECEIVED_BINARY(socket=self._socket, bytes=message))
        except ConnectionClosed:
            return

    async def _send_all(self, connection: ClientConnection) -> None:
        try:
            while (text := await self.outgoing.get()) is not None:
                await connection.send(text)
            await connection.close()
        except ConnectionClosed:
            return

    def _tell(self, happened: ClientInput) -> None:
        if not self._is_closed:
            self._report(happened)


def _read_seconds(text: str | None) -> int | None:
    """Reads a number of seconds as milliseconds; a date counts as no delay."""
    return 1_000 * int(text) if text is not None and text.isascii() and text.isdigit() else None
