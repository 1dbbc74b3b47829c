#!/usr/bin/env python3
"""Measures the waiting time of three matching players: creates guests, opens tickets for three at a time, and
prints the time from the response with the ticket to the one with the state `seated`. Usage: seek.py [URL [GROUPS]],
against a server that does not separate players of one address."""

import json
import pathlib
import sys
import threading
import time
import urllib.request
import uuid

sys.path.append(str(pathlib.Path(__file__).parent.parent / "tests" / "contracts" / "hostile"))
from wire import Socket

URL = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080"
GROUPS = int(sys.argv[2]) if len(sys.argv) > 2 else 20
ASK_EVERY_S = 0.03


def call(method, path, body=None, token=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(URL + path, method=method, data=data)
    request.add_header("content-type", "application/json")
    if token:
        request.add_header("authorization", f"Bearer {token}")
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read())


def guest():
    body = {"device_id": f"seek-{uuid.uuid4().hex}", "name": "Tala"}
    return call("POST", "/v1/sign-in/guest", body)["access_token"]


def seek(token, waits_s):
    # Only a player with an open socket can open a ticket.
    socket = Socket(URL, token)
    next(socket.receive(10))
    ticket = call("POST", "/v1/matchmaking/tickets", {"rooms": ["newbie"]}, token)
    begun = time.monotonic()
    while ticket["state"] in ("waiting", "placed"):
        time.sleep(ASK_EVERY_S)
        ticket = call("GET", f"/v1/matchmaking/tickets/{ticket['id']}", token=token)
    assert ticket["state"] == "seated", ticket
    waits_s.append(time.monotonic() - begun)
    socket.close()


waits_s = []
for _ in range(GROUPS):
    group = [threading.Thread(target=seek, args=(guest(), waits_s)) for _ in range(3)]
    for player in group:
        player.start()
    for player in group:
        player.join()
waits_s.sort()
p50, p95 = (waits_s[len(waits_s) * part // 100] for part in (50, 95))
print(f"{len(waits_s)} seated, p50 {p50:.3f} s, p95 {p95:.3f} s, longest {waits_s[-1]:.3f} s")
