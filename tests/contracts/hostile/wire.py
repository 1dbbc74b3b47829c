"""Requests as raw bytes, which may be malformed in any way, and a WebSocket client without checks."""

import base64
import dataclasses
import http.client
import json
import os
import socket
import struct
import time
import urllib.parse

PATIENCE_S = 30.0
# The limit for reading a response; an endless stream is cut here.
ANSWER_BYTES_MAX = 20_000_000


@dataclasses.dataclass
class Request:
    method: str
    target: str
    headers: list  # of (name, value), both text
    body: bytes | None
    # The operation of the contract on which the request is based, and the changes made to it.
    operation: str
    change: str
    # The bytes to send instead of all other fields.
    raw: bytes | None = None

    def text(self):
        if self.raw is not None:
            return self.raw
        lines = [f"{self.method} {self.target} HTTP/1.1"]
        headers = list(self.headers)
        names = {name.lower() for name, _ in headers}
        if "host" not in names:
            headers.insert(0, ("host", "house.test"))
        if self.body is not None and "content-length" not in names:
            headers.append(("content-length", str(len(self.body))))
        lines += [f"{name}: {value}" for name, value in headers]
        head = "\r\n".join(lines) + "\r\n\r\n"
        return head.encode("utf-8", "surrogatepass") + (self.body or b"")

    def __str__(self):
        return f"{self.operation} ({self.change}): {self.text()[:1500]!r}"


@dataclasses.dataclass
class Answer:
    status: int  # 0 if the connection ended without a response
    headers: dict
    body: bytes
    seconds: float

    def json(self):
        try:
            return json.loads(self.body)
        except ValueError:
            return None


class Connection:
    """A keep-alive connection that is reopened after the server has closed it."""

    def __init__(self, url):
        place = urllib.parse.urlsplit(url)
        self.place = (place.hostname, place.port)
        self.socket = None

    def close(self):
        if self.socket is not None:
            self.socket.close()
        self.socket = None

    def send(self, request):
        for attempt in (1, 2):
            was_kept = self.socket is not None
            if not was_kept:
                self.socket = socket.create_connection(self.place, timeout=PATIENCE_S)
                self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            began = time.perf_counter()
            try:
                self.socket.sendall(request.text())
            except OSError:
                # The server may respond before it has read the whole request.
                pass
            try:
                return self.read(request, began)
            except (http.client.HTTPException, ConnectionError) as error:
                self.close()
                # The server may have closed an idle connection before the request arrived.
                if was_kept and attempt == 1 and not isinstance(error, http.client.LineTooLong):
                    continue
                return Answer(0, {}, b"", time.perf_counter() - began)
            except TimeoutError:
                self.close()
                return Answer(0, {}, b"", time.perf_counter() - began)
        raise AssertionError("the second attempt always returns")

    def read(self, request, began):
        response = http.client.HTTPResponse(self.socket, method=request.method)
        response.begin()
        body = b"" if response.status == 101 else response.read(ANSWER_BYTES_MAX)
        headers = {name.lower(): value for name, value in response.getheaders()}
        seconds = time.perf_counter() - began
        if request.raw is not None or response.will_close or response.status == 101:
            self.close()
        return Answer(response.status, headers, body, seconds)


class Socket:
    """A minimal client of RFC 6455."""

    def __init__(self, url, token, form="bahay.v1", address=None):
        place = urllib.parse.urlsplit(url)
        self.socket = socket.create_connection((place.hostname, place.port), timeout=PATIENCE_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        key = base64.b64encode(os.urandom(16)).decode()
        headers = [
            "GET /v1/play HTTP/1.1",
            f"host: {place.netloc}",
            "connection: Upgrade",
            "upgrade: websocket",
            "sec-websocket-version: 13",
            f"sec-websocket-key: {key}",
            f"sec-websocket-protocol: {form}",
        ]
        if token is not None:
            headers.append(f"authorization: Bearer {token}")
        if address is not None:
            headers.append(f"x-forwarded-for: {address}")
        self.socket.sendall(("\r\n".join(headers) + "\r\n\r\n").encode())
        self.kept = b""
        while b"\r\n\r\n" not in self.kept:
            self.kept += self.read_bytes()
        head, self.kept = self.kept.split(b"\r\n\r\n", 1)
        self.status = int(head.split(b" ", 2)[1])

    def read_bytes(self):
        data = self.socket.recv(65536)
        if not data:
            raise ConnectionError("the socket was closed")
        return data

    def send(self, payload, opcode=1):
        if isinstance(payload, str):
            payload = payload.encode("utf-8", "surrogatepass")
        mask = os.urandom(4)
        size = len(payload)
        head = bytes([0x80 | opcode])
        if size < 126:
            head += bytes([0x80 | size])
        elif size < 65536:
            head += bytes([0x80 | 126]) + struct.pack(">H", size)
        else:
            head += bytes([0x80 | 127]) + struct.pack(">Q", size)
        masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))
        self.socket.sendall(head + mask + masked)

    def receive(self, seconds):
        """Yields (opcode, bytes) of the frames received within the given seconds. Answers pings."""
        ends = time.monotonic() + seconds
        while True:
            frame = self.next_frame()
            if frame is None:
                left = ends - time.monotonic()
                if left <= 0:
                    return
                self.socket.settimeout(left)
                try:
                    self.kept += self.read_bytes()
                except TimeoutError:
                    return
                continue
            if frame[0] == 9:
                self.send(frame[1], 10)
                continue
            yield frame

    def next_frame(self):
        """Returns the next complete frame of the buffer, or none."""
        if len(self.kept) < 2:
            return None
        size, at = self.kept[1] & 127, 2
        if size == 126:
            if len(self.kept) < 4:
                return None
            size, at = struct.unpack(">H", self.kept[2:4])[0], 4
        elif size == 127:
            if len(self.kept) < 10:
                return None
            size, at = struct.unpack(">Q", self.kept[2:10])[0], 10
        if len(self.kept) < at + size:
            return None
        frame = (self.kept[0] & 15, self.kept[at : at + size])
        self.kept = self.kept[at + size :]
        return frame

    def close(self):
        self.socket.close()
