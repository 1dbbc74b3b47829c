"""Starts Prometheus on loopback with the scrape job and the alerts of containers/watch, beside a running server that
COMMAND plays on. It checks that the server is scraped, that every rule evaluates, that every panel of the dashboard has
data, and that no alert fires or is about to. Then it stops the server and waits for the alert of an absent server. Two
things differ from an installation: the server is found by its address, since there is no DNS here, and the alerts of
absent servers fire after a second.

Usage: drill.py REPOSITORY PROMETHEUS FOLDER COMMAND…
BAHAY_PROBE_LISTEN is the probe address of the server, BAHAY_SERVER its process. FOLDER is removed at the end."""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

# The time limit of the whole drill, without the end of Prometheus.
LIMIT_S = 40
STOP_S = 5
# Metrics whose series appear with their first event, because each code has a series of its own.
LATER = ("bahay_refusals_total",)
# The alerts of servers that do not answer.
ABSENCE = ("ServerAway", "NoServer")


def refuse(text):
    sys.exit(f"drill.py: {text}")


def free_port():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]


def replace_once(text, pattern, replacement):
    """Replaces the only match of a pattern."""
    text, count = re.subn(pattern, replacement, text)
    if count != 1:
        refuse(f"{pattern!r} matches {count} times: mend the drill")
    return text


def write_config(root, folder, server):
    """Writes the settings and the rules of Prometheus into the folder, and returns the number of rules."""
    rules = (root / "containers/watch/alerts.yml").read_text()
    for alert in ABSENCE:
        rules = replace_once(rules, rf"(alert: {alert}\n.*\n +for: )1m\n", r"\g<1>1s\n")
    (folder / "alerts.yml").write_text(rules)
    config = (root / "containers/watch/prometheus.yml").read_text()
    for interval in ("scrape_interval", "evaluation_interval"):
        config = replace_once(config, rf"\b{interval}: 10s", f"{interval}: 1s")
    config = replace_once(config, r"rule_files: \[.*\]", f"rule_files: [{folder / 'alerts.yml'}]")
    config = replace_once(config, r"(?s)dns_sd_configs:.*", f"static_configs: [targets: ['{server}']]\n")
    (folder / "prometheus.yml").write_text(config)
    return len(re.findall(r"- alert: ", rules))


class Prometheus:
    def __init__(self, program, folder):
        self.folder, self.url = folder, f"http://127.0.0.1:{free_port()}"
        self.deadline = time.monotonic() + LIMIT_S
        with open(folder / "log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [
                    program,
                    f"--config.file={folder / 'prometheus.yml'}",
                    f"--storage.tsdb.path={folder / 'data'}",
                    f"--web.listen-address={self.url.removeprefix('http://')}",
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def query_api(self, path, **words):
        query = urllib.parse.urlencode(words)
        with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{query}", timeout=10) as answer:
            return json.load(answer)["data"]

    def evaluate(self, expression):
        """Returns the current result of an expression; exits if it cannot be evaluated."""
        try:
            return self.query_api("query", query=expression)["result"]
        except urllib.error.HTTPError as error:
            refuse(f"{expression}: {json.load(error)['error']}")

    def alerts(self):
        """Returns the active alerts by state."""
        active = self.query_api("alerts")["alerts"]
        return sorted((alert["state"], alert["labels"]["alertname"]) for alert in active)

    def health(self):
        return [(target["labels"]["job"], target["health"]) for target in self.query_api("targets")["activeTargets"]]

    def wait_until(self, what, holds, describe=lambda: ""):
        """Waits until `holds` returns a true value, and returns it. `describe` returns the state for the message."""
        found, error = None, ""
        while not found:
            if self.process.poll() is not None:
                refuse(f"Prometheus ended: {(self.folder / 'log').read_text().splitlines()[-1]}")
            if time.monotonic() > self.deadline:
                refuse(f"not within {LIMIT_S} s: {what} {error or describe()}")
            try:
                found, error = holds(), ""
            except (urllib.error.URLError, ConnectionError) as refused:
                # Prometheus does not listen yet.
                error = f"({refused})"
            if not found:
                time.sleep(0.2)
        return found


def stop(process):
    process.terminate()
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def check_rules(prometheus, written):
    def evaluated():
        groups = prometheus.query_api("rules")["groups"]
        rules = [rule for group in groups for rule in group["rules"]]
        return rules if rules and all(rule["health"] != "unknown" for rule in rules) else None

    rules = prometheus.wait_until("every rule is evaluated", evaluated)
    if len(rules) != written:
        refuse(f"{len(rules)} of {written} rules are loaded")
    for rule in rules:
        if rule["health"] != "ok":
            refuse(f"{rule['name']} cannot be evaluated: {rule['lastError']}")


def check_panels(prometheus, root):
    """Waits until each panel has data, and returns the number of panels."""
    dashboard = json.loads((root / "docs/grafana.json").read_text())
    panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
    for panel in panels:
        for expression in (target["expr"] for target in panel["targets"]):
            if not any(name in expression for name in LATER):
                what = f"panel {panel['title']!r} has data for {expression}"
                prometheus.wait_until(what, lambda asked=expression: prometheus.evaluate(asked))
    return len(panels)


def check_absence(prometheus, server):
    """Stops the server, and waits until its absence is the only alert. Returns the seconds that it took."""
    began = time.monotonic()
    os.kill(server, signal.SIGTERM)
    prometheus.wait_until(
        "only ServerAway fires for a stopped server",
        lambda: [alert for alert in prometheus.alerts() if alert[0] == "firing"] == [("firing", "ServerAway")],
        lambda: f"{prometheus.alerts()} {prometheus.health()}",
    )
    return time.monotonic() - began


def check(prometheus, root, written, server, game):
    prometheus.wait_until("the server is up", lambda: prometheus.health() == [("bahay", "up")], prometheus.health)
    check_rules(prometheus, written)
    settled = "sum(bahay_games_settled_total) > 0"
    prometheus.wait_until("a game is settled", lambda: game.poll() or prometheus.evaluate(settled))
    if game.poll():
        refuse(f"the game failed with status {game.returncode}")
    panels = check_panels(prometheus, root)
    prometheus.wait_until("no alert is pending or fires", lambda: not prometheus.alerts(), prometheus.alerts)
    stop(game)
    seconds = check_absence(prometheus, server)
    print(
        f"Prometheus scraped a server that played: {written} rules evaluate, {panels} panels have data, and no alert "
        f"fired; {seconds:.0f} s after the server was stopped, ServerAway did"
    )


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    root, program, folder, *command = sys.argv[1:]
    root, folder = pathlib.Path(root), pathlib.Path(folder).resolve()
    server = int(os.environ["BAHAY_SERVER"])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    written = write_config(root, folder, os.environ["BAHAY_PROBE_LISTEN"])
    game = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    prometheus = None
    try:
        prometheus = Prometheus(program, folder)
        check(prometheus, root, written, server, game)
    finally:
        for process in filter(None, (game, prometheus and prometheus.process)):
            stop(process)
        shutil.rmtree(folder, ignore_errors=True)


main()
