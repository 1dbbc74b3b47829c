"""Starts Prometheus with what docker-compose.yml gives it, on loopback, beside a server that runs and a place where
nobody answers; has a game played by COMMAND; and asks Prometheus: that the server is up and the other place is not,
that every rule is loaded and can be evaluated, that each figure that an alert or a panel of the dashboard names is
there, that moves were counted, and that nobody would have been woken. Different from docker-compose.yml are the
folders, how often figures are read, and how servers are found: by their addresses, as there are no names here.

Usage: watch.py REPOSITORY PROMETHEUS FOLDER COMMAND… (where supervisors ask: BAHAY_PROBE_LISTEN)"""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import yaml

# Nothing takes so long unless it hangs.
PATIENCE_S = 60
# Shown once there was one, as each code has a series of its own.
LATER = {"bahay_refusals_total"}
FIGURE = re.compile(r"\bbahay_[a-z_]+")


def refuse(text):
    sys.exit(f"watch.py: {text}")


def free_port():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]


class Prometheus:
    def __init__(self, root, program, folder, places):
        self.folder, self.url = folder, f"http://127.0.0.1:{free_port()}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        service = yaml.safe_load((root / "docker-compose.yml").read_text())["services"]["prometheus"]
        # What the container is given, under the names that it has there.
        for volume in service["volumes"]:
            source, target, *_ = volume.split(":")
            if source.startswith("./"):
                shutil.copy(root / source, self.here(target))
        config = self.here("/etc/prometheus/prometheus.yml")
        told = yaml.safe_load(config.read_text())
        told["rule_files"] = [str(self.here(file)) for file in told["rule_files"]]
        told["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
        (scrape,) = told["scrape_configs"]
        del scrape["dns_sd_configs"]
        scrape["static_configs"] = [{"targets": places}]
        config.write_text(yaml.safe_dump(told))
        self.rules = yaml.safe_load(self.here("/etc/prometheus/alerts.yml").read_text())
        flags = [re.sub(r"=(/.*)", lambda match: f"={self.here(match[1])}", flag) for flag in service["command"]]
        with open(folder / "log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [program, *flags, f"--web.listen-address={self.url.removeprefix('http://')}"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def here(self, path):
        """Where a path of the container is."""
        place = self.folder / path.strip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def ask(self, path, **words):
        query = urllib.parse.urlencode(words)
        with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{query}", timeout=10) as answer:
            return json.load(answer)["data"]

    def series(self, expression):
        """What an expression gives just now; one that cannot be evaluated is refused."""
        try:
            return self.ask("query", query=expression)["result"]
        except urllib.error.HTTPError as error:
            refuse(f"{expression}: {json.load(error)['error']}")

    def until(self, what, holds):
        """Waits until it holds, and gives what it gave."""
        begun, found, error = time.monotonic(), None, ""
        while not found:
            if self.process.poll() is not None:
                refuse(f"Prometheus ended: {(self.folder / 'log').read_text().splitlines()[-1]}")
            if time.monotonic() - begun > PATIENCE_S:
                refuse(f"{what}: not within {PATIENCE_S} s {error}")
            try:
                found = holds()
            except (urllib.error.URLError, ConnectionError) as refused:
                # It does not listen yet.
                error = f"({refused})"
            if not found:
                time.sleep(0.2)
        return found


def check(prometheus, root, server, nowhere, command):
    def health():
        return {target["labels"]["instance"]: target["health"] for target in prometheus.ask("targets")["activeTargets"]}

    prometheus.until("the server is up", lambda: health() == {server: "up", nowhere: "down"})
    if prometheus.ask("targets")["activeTargets"][0]["labels"]["job"] != "bahay":
        refuse("the job of servers has another name, by which no alert asks")
    if subprocess.run(command, check=False, stdin=subprocess.DEVNULL).returncode != 0:
        refuse("no game was played")
    prometheus.until("moves are counted", lambda: prometheus.series("sum(increase(bahay_moves_total[1m])) > 0"))

    written = [rule for group in prometheus.rules["groups"] for rule in group["rules"]]

    def evaluated():
        groups = prometheus.ask("rules")["groups"]
        rules = [rule for group in groups for rule in group["rules"]]
        return rules if rules and all(rule["health"] != "unknown" for rule in rules) else None

    rules = prometheus.until("every rule is evaluated", evaluated)
    if sorted(rule["name"] for rule in rules) != sorted(rule["alert"] for rule in written):
        refuse(f"of {len(written)} rules {len(rules)} are loaded")
    for rule in rules:
        if rule["health"] != "ok":
            refuse(f"{rule['name']} cannot be evaluated: {rule['lastError']}")

    dashboard = json.loads((root / "docs/grafana.json").read_text())
    panels = {
        panel["title"]: [target["expr"] for target in panel.get("targets", [])] for panel in dashboard["panels"]
    }
    asked = [rule["expr"] for rule in written] + [expression for many in panels.values() for expression in many]
    figures = sorted({name for expression in asked for name in FIGURE.findall(expression)})
    missing = [name for name in figures if name not in LATER and not prometheus.series(f"count({name})")]
    if missing:
        refuse(f"named by an alert or a panel, and not there: {', '.join(missing)}")
    for title, expressions in panels.items():
        for expression in expressions:
            if not prometheus.series(expression) and not LATER & set(FIGURE.findall(expression)):
                refuse(f"panel {title!r} shows nothing for {expression}")

    alerts = {
        (one["labels"]["alertname"], one["labels"].get("instance"), one["state"])
        for one in prometheus.ask("alerts")["alerts"]
    }
    if ("ServerAway", nowhere, "pending") not in alerts and ("ServerAway", nowhere, "firing") not in alerts:
        refuse(f"nothing is said of a server that does not answer: {alerts}")
    firing = {alert for alert in alerts if alert[2] == "firing" and alert[1] != nowhere}
    if firing:
        refuse(f"in a house that is well, there are alerts: {firing}")
    print(
        f"Prometheus read a server: {len(rules)} rules are evaluated, {len(figures)} figures that they and "
        f"{len(panels)} panels name are there"
    )


def main():
    root, program, folder, *command = sys.argv[1:]
    if not command:
        sys.exit(__doc__)
    root, server, nowhere = pathlib.Path(root), os.environ["BAHAY_PROBE_LISTEN"], f"127.0.0.1:{free_port()}"
    prometheus = Prometheus(root, program, pathlib.Path(folder).resolve(), [server, nowhere])
    try:
        check(prometheus, root, server, nowhere, command)
    finally:
        prometheus.end()


main()
