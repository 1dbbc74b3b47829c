"""Plays at every scenario of `bahay-lab certify` (docs/CERTIFY.md) with this client: it is ready for every game, answers
each prompt with the first legal action, and reports what it shows.

    python certify.py PROGRAM GAME…     each game in turn
    python certify.py http://127.0.0.1:4100     the address of a certification that is running

Requests for the list and reports are made by the standard library, in threads."""

import asyncio
import json
import re
import sys
import urllib.request
from contextlib import suppress

from bahay_client import Client, ClientClosed, ClientNotification, MessageForm

FORMS = [MessageForm.FULL, MessageForm.BRIEF, MessageForm.COMPACT]
#: The number of versions between two reports of the view.
REPORT_EVERY = 6
POLL_S = 0.5
SECONDS = 180
REQUEST_TIMEOUT_S = 10


async def read_scenarios(index):
    with_list = urllib.request.Request(f"{index}/certify")
    return json.loads(await send(with_list))["scenarios"]


async def send(request):
    def perform():
        with urllib.request.urlopen(request, timeout=REQUEST_TIMEOUT_S) as answer:
            return answer.read()

    return await asyncio.to_thread(perform)


async def report(base, shown):
    """Reports what the client shows. A report is lost with the end of the scenario."""
    body = json.dumps(shown).encode()
    with suppress(OSError):
        await send(urllib.request.Request(f"{base}/certify/shown", data=body, method="POST"))


class Player:
    """Plays at a scenario until it is cancelled."""

    def __init__(self, base, form):
        self.base = base
        self.form = form
        self.tasks = set()
        # Each prompt is answered once, and each game is played.
        self.answered = set()
        self.reported = 0

    async def play(self):
        async with Client(self.base, name="Certified", forms=[self.form]) as client:
            async for notification in client.notifications():
                if isinstance(notification, ClientNotification.DEAL):
                    deal = {"game": notification.game, "holds": notification.holds}
                    self.spawn(report(self.base, {"deals": [deal]}))
                elif isinstance(notification, (ClientNotification.TABLE, ClientNotification.LINK)):
                    self.handle_table(client)

    def handle_table(self, client):
        table = client.table
        if table is None:
            return
        if abs(table.version - self.reported) >= REPORT_EVERY:
            self.reported = table.version
            shown = {"version": table.version, "view": json.loads(table.view)}
            self.spawn(report(self.base, shown))
        if not table.is_current:
            return
        phase = json.loads(table.view)["phase"]
        if phase["type"] == "preparing" and self.is_new(phase["game"]):
            self.spawn(client.ready())
        prompt = json.loads(table.prompt) if table.prompt is not None else None
        if prompt and prompt["legal"] and self.is_new((prompt["game"], prompt["number"])):
            self.spawn(client.act_by_json(json.dumps(prompt["legal"][0])))

    def is_new(self, question):
        is_new = question not in self.answered
        self.answered.add(question)
        return is_new

    def spawn(self, work):
        async def run():
            with suppress(ClientClosed):
                await work

        task = asyncio.create_task(run())
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)


async def play_all(index):
    """Plays at every scenario, until each has its verdict."""
    scenarios = await read_scenarios(index)
    players = [Player(listed["url"], FORMS[place % len(FORMS)]) for place, listed in enumerate(scenarios)]
    tasks = [asyncio.create_task(player.play()) for player in players]
    # The certification ends with the last verdict.
    with suppress(OSError):
        while any(listed["verdict"] is None for listed in await read_scenarios(index)):
            for task in tasks:
                if task.done():
                    task.result()
            await asyncio.sleep(POLL_S)
    for task in tasks:
        task.cancel()
    ends = await asyncio.gather(*tasks, return_exceptions=True)
    errors = [end for end in ends if not isinstance(end, asyncio.CancelledError) and end is not None]
    if errors:
        raise errors[0]


async def certify(program, game):
    """Certifies the client at a game. Returns the exit code of the certification."""
    arguments = ["certify", "--listen", "127.0.0.1:0", "--seconds", str(SECONDS), "--game", game]
    lab = await asyncio.create_subprocess_exec(program, *arguments, stderr=asyncio.subprocess.PIPE)
    playing = None
    try:
        while line := (await lab.stderr.readline()).decode():
            address = re.match(r"scenarios: (http:\S+)/certify$", line.strip())
            if address is None:
                sys.stderr.write(line)
            else:
                playing = asyncio.create_task(play_all(address[1]))
        if playing is not None:
            await playing
        return await lab.wait()
    finally:
        if lab.returncode is None:
            lab.kill()


async def main():
    target, *games = sys.argv[1:]
    if target.startswith("http"):
        await play_all(target)
        return 0
    # One after the other: a client that gets no processor time answers too late.
    return max([await certify(target, game) for game in games])


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
