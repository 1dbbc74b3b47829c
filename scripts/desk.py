#!/usr/bin/env python3
"""Measures the time and size of the desk's pages on a large database: signs an operator in, requests each page a
number of times, and prints a table. Exits with 1 if the median time of a page is 300 ms or more, if a page has
200 KB or more, and at the first status other than 200; marks medians of 100 ms or more. Usage: desk.py URL
ENROLMENT-CODE PLAYER [TIMES], with the code that `bahay operator add NAME --role admin` prints, and a player with
many games. Times are measured by a client on the same machine, from the request to the last byte.

The server must not limit the rate of this address (BAHAY_REQUESTS_PER_ADDRESS=100000:100000). The last page of a
list is found by paging through hundreds of pages, which takes a while with many games.

With `csv PID` for TIMES, reads the export of all settlements instead, and prints its time and the peak memory of
the server's process PID before and during the export."""

import json
import pathlib
import re
import secrets
import sys
import threading
import time

sys.path.append(str(pathlib.Path(__file__).parent.parent / "tests" / "contracts" / "hostile"))
from enrol import Browser
from wire import Socket

URL, CODE, PLAYER = sys.argv[1:4]
WHAT = sys.argv[4] if len(sys.argv) > 4 else "20"
MS_MARKED, MS_MAX, BYTES_MAX = 100, 300, 200_000

browser = Browser(URL)


def page(path):
    return browser.expect(200, "GET", path)


def api(path, status=200, document=None, token=None):
    """Sends a GET, or a POST if a document is given, as the operator unless another token is given."""
    headers = [("authorization", f"Bearer {token or browser.session()}")]
    if document is None:
        return json.loads(browser.expect(status, "GET", path, None, headers)[0])
    headers += [("content-type", "application/json"), ("idempotency-key", secrets.token_hex(16))]
    return json.loads(browser.expect(status, "POST", path, json.dumps(document), headers)[0])


def last_page(path):
    """Returns the path of the last page of a list, after at most 400 pages."""
    for _ in range(400):
        text, _ = page(path)
        further = re.search(r'rel="next" href="([^"]+)"', text)
        if not further:
            break
        path = further.group(1).replace("&amp;", "&")
    return path


def open_table(room):
    """Opens a table as a guest, since the tables of a generated history no longer exist."""
    device = {"device_id": f"desk-{secrets.token_hex(16)}"}
    guest = api("/v1/sign-in/guest", document=device)
    # Only a player with an open socket can take a seat.
    socket = Socket(URL, guest["access_token"])
    next(socket.receive(10))
    asked = {"room": room, "bet": 100}
    return api("/v1/private-tables", 201, asked, guest["access_token"])["table"]


def request_correction(**correction):
    """Requests a correction, and returns its id."""
    asked = {"reason": "measuring the pages of the desk"} | correction
    return api("/v1/operator/corrections", 201, asked)["id"]


def opponent_of(player):
    """Returns another player of the newest game of a player."""
    game = api(f"/v1/operator/settlements?player={player}&limit=1")["items"][0]
    return next(seat["player"] for seat in game["seats"] if seat["player"] not in (None, player))


def pages():
    """Yields the name and the path of each page to measure."""
    newest = api("/v1/operator/settlements?limit=1")["items"][0]
    game, room = newest["game"], newest["room"]
    books = api("/v1/operator/ledger")
    fees = max((one for one in books["house"] if one["kind"] == "fee"), key=lambda one: one["version"])
    # A day in the middle of the history, and the first one.
    day = time.gmtime(time.time() - 45 * 86_400)
    first = time.gmtime(time.time() - 90 * 86_400)
    date = lambda at: time.strftime("%Y-%m-%d", at)
    listed = "/desk/settlements"
    table = open_table(room)
    first_of_pair, second_of_pair = sorted([PLAYER, opponent_of(PLAYER)])
    # The longest period of pairs, and of a statement of this player with at most 10,000 bookings.
    quarter = f"from={date(time.gmtime(time.time() - 90 * 86_400))}&to={date(time.gmtime())}"
    month = f"from={date(time.gmtime(time.time() - 30 * 86_400))}&to={date(time.gmtime())}"
    wallet = f"/desk/players/{PLAYER}"
    yield "Today", "/desk/today"
    yield "Alerts", "/desk/alerts"
    yield "Today, two weeks", "/desk/today/compare?unit=week"
    yield "Settlements", listed
    yield "Settlements, kept fresh", f"{listed}/live"
    yield "Settlements, one room", f"{listed}?room={room}"
    yield "Settlements, a room without any", f"{listed}?room=nowhere"
    yield "Settlements, stock, POT, AI", f"{listed}?ending=stock&pot=yes&takeover=yes"
    yield "Settlements, hardly any (large)", f"{listed}?least=9999"
    yield "Settlements, none (larger)", f"{listed}?least=99999999"
    yield "Settlements, an hour long ago", f"{listed}?from={date(day)}T10:00&to={date(day)}T11:00"
    yield "Settlements, 60 days, AI", f"{listed}?to={date(day)}T10:30&takeover=yes"
    yield "Settlements, last page", last_page(f"{listed}?to={date(first)}T23:59")
    yield "Settlements, one player", f"{listed}?player={PLAYER}"
    yield "Settlements, one player, hardly any", f"{listed}?player={PLAYER}&least=9999&pot=yes"
    yield "Settlements, one player, last page", last_page(f"{listed}?player={PLAYER}")
    orders = ["oldest", "largest", "smallest_fee", "largest_pot", "largest_ante", "newest_reversal", "first_room",
              "last_kind", "first_ending", "with_ai"]
    for order in orders:
        yield f"Settlements, order {order}", f"{listed}?order={order}"
    yield "Game", f"/desk/games/{game}"
    yield "Game, card by card", f"/desk/games/{game}/replay"
    yield "Players, by name", "/desk/players?search=a"
    yield "Suggestions of players", "/desk/search/names?text=al"
    yield "Player with many games", wallet
    yield "Player, oldest entries", last_page(wallet)
    yield "Statement, 24 hours", f"{wallet}/statement?from={date(time.gmtime(time.time() - 86_400))}"
    yield "Statement, 30 days", f"{wallet}/statement?{month}"
    yield "Statement, 30 days, last page", last_page(f"{wallet}/statement?{month}")
    yield "Collusion", "/desk/collusion?state=all"
    yield "Collusion, a pair", f"/desk/collusion/{first_of_pair}/{second_of_pair}?{quarter}"
    yield "Ledger", "/desk/ledger"
    yield "Ledger, fees of a room", f"/desk/ledger?account={fees['code']}"
    yield "Ledger, the wallet", f"/desk/ledger?account=wallet:{PLAYER}"
    yield "Ledger, further", last_page("/desk/ledger")
    yield "Trial balance", "/desk/ledger/trial-balance"
    yield "Transfers", "/desk/transfers"
    yield "Transfers, 45 days", f"/desk/transfers?from={date(day)}&to={date(time.gmtime())}"
    yield "Rooms", "/desk/rooms"
    yield "Room", f"/desk/rooms/{room}"
    yield "Tables", "/desk/tables"
    yield "Table", f"/desk/tables/{table}"
    yield "Table, void it", f"/desk/tables/{table}/voiding"
    yield "Tournaments", "/desk/tournaments"
    yield "Announce a tournament", "/desk/tournaments/new"
    yield "Schedules of tournaments", "/desk/tournament-schedules"
    yield "Requests for tournaments", "/desk/tournament-requests"
    yield "Corrections", "/desk/corrections"
    yield "Request a correction", f"/desk/corrections/new?player={PLAYER}"
    adjustment = request_correction(kind="adjustment", player=PLAYER, amount=100)
    yield "Correction, an adjustment", f"/desk/corrections/{adjustment}"
    operations = api("/v1/operator/ledger/operations?limit=100")["items"]
    operation = next(one["id"] for one in operations if one["is_reversible"])
    reversal = request_correction(kind="reversal", operation=operation)
    yield "Correction, a reversal", f"/desk/corrections/{reversal}"
    yield "Reports", "/desk/reports"
    yield "Sanctions", "/desk/sanctions"
    yield "Search, part of a name", "/desk/search?text=al"
    yield "Search, digits of an id", f"/desk/search?text={PLAYER[:4]}"
    yield "Switches", "/desk/switches"
    yield "Operators", "/desk/operators"
    yield "Token", "/desk/token"
    yield "Jobs", "/desk/jobs"
    yield "Audit", "/desk/audit"
    yield "Audit, a kind that is rare", "/desk/audit?action=house_close"
    yield "Audit, a subject", f"/desk/audit?subject=game:{game}"
    yield "Audit, further", last_page("/desk/audit")


def resident_kb(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def read_csv(pid):
    before, most, over = resident_kb(pid), [0], threading.Event()

    def watch():
        while not over.wait(0.05):
            most[0] = max(most[0], resident_kb(pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    began, size, lines = time.perf_counter(), 0, 0
    headers = {"authorization": f"Bearer {browser.session()}"}
    browser.connection.request("GET", "/v1/operator/settlements.csv", headers=headers)
    answer = browser.connection.getresponse()
    if answer.status != 200:
        sys.exit(f"the export: status {answer.status} instead of 200")
    while part := answer.read1(1 << 20):
        size += len(part)
        lines += part.count(b"\n")
    took = time.perf_counter() - began
    over.set()
    watcher.join()
    print(f"{lines - 1} rows, {size / 1e6:.0f} MB, {took:.1f} s")
    print(f"server's memory: {before / 1024:.1f} MiB before, at most {most[0] / 1024:.1f} MiB during the export")


def measure(times):
    slow = False
    print(f"{'page':<38}{'p50 ms':>9}{'max ms':>9}{'KB':>9}", flush=True)
    for name, path in pages():
        took = []
        for _ in range(times):
            text, ms = page(path)
            took.append(ms)
        took.sort()
        size = len(text.encode())
        median = took[times // 2]
        exceeds = median >= MS_MAX or size >= BYTES_MAX
        slow |= exceeds
        mark = "  <<" if exceeds else "  <" if median >= MS_MARKED else ""
        figures = f"{median:>9.1f}{took[-1]:>9.1f}{size / 1000:>9.1f}"
        # Each row is flushed as soon as it is known, into a file as well.
        print(f"{name:<38}{figures}{mark}", flush=True)
    return slow


browser.enrol(CODE)
if WHAT == "csv":
    read_csv(int(sys.argv[5]))
else:
    sys.exit(1 if measure(int(WHAT)) else 0)
