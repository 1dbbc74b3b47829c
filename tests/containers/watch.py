"""Starts Prometheus on loopback with the configuration of docker-compose.yml, beside a running server and an address
without one; plays a game by running COMMAND; and checks with Prometheus that the server is up and the other address is
down, that every rule is loaded and evaluates, that each metric of an alert or a dashboard panel exists, that moves were
counted, and that no alert fires for the server. The folders, the scrape interval and the service discovery differ from
docker-compose.yml: servers are found by address, since there is no DNS here.

Usage: watch.py REPOSITORY PROMETHEUS FOLDER COMMAND… (BAHAY_PROBE_LISTEN is the probe address of the server)"""

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

# The timeout of each wait.
PATIENCE_S = 60
# Metrics whose series appear with their first event, because each code has a series of its own.
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
        # The files that the container mounts, under the same names.
        for volume in service["volumes"]:
            source, target, *_ = volume.split(":")
            if source.startswith("./"):
                shutil.copy(root / source, self.local_path(target))
        config = self.local_path("/etc/prometheus/prometheus.yml")
        settings = yaml.safe_load(config.read_text())
        settings["rule_files"] = [str(self.local_path(file)) for file in settings["rule_files"]]
        settings["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
        (scrape,) = settings["scrape_configs"]
        del scrape["dns_sd_configs"]
        scrape["static_configs"] = [{"targets": places}]
        config.write_text(yaml.safe_dump(settings))
        self.rules = yaml.safe_load(self.local_path("/etc/prometheus/alerts.yml").read_text())
        flags = [re.sub(r"=(/.*)", lambda match: f"={self.local_path(match[1])}", flag) for flag in service["command"]]
        with open(folder / "log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [program, *flags, f"--web.listen-address={self.url.removeprefix('http://')}"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def local_path(self, path):
        """Returns the local path for a path of the container."""
        place = self.folder / path.strip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()

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

    def wait_until(self, what, holds):
        """Waits until `holds` returns a true value, and returns it."""
        begun, found, error = time.monotonic(), None, ""
        while not found:
            if self.process.poll() is not None:
                refuse(f"Prometheus ended: {(self.folder / 'log').read_text().splitlines()[-1]}")
            if time.monotonic() - begun > PATIENCE_S:
                refuse(f"{what}: not within {PATIENCE_S} s {error}")
            try:
                found = holds()
            except (urllib.error.URLError, ConnectionError) as refused:
                # Prometheus does not listen yet.
                error = f"({refused})"
            if not found:
                time.sleep(0.2)
        return found


def check(prometheus, root, server, dead_address, command):
    def health():
        return {target["labels"]["instance"]: target["health"] for target in prometheus.query_api("targets")["activeTargets"]}

    prometheus.wait_until("the server is up", lambda: health() == {server: "up", dead_address: "down"})
    if prometheus.query_api("targets")["activeTargets"][0]["labels"]["job"] != "bahay":
        refuse("the scrape job of servers is not named bahay, as alerts expect")
    if subprocess.run(command, check=False, stdin=subprocess.DEVNULL).returncode != 0:
        refuse("the game failed")
    prometheus.wait_until("moves are counted", lambda: prometheus.evaluate("sum(increase(bahay_moves_total[1m])) > 0"))

    written = [rule for group in prometheus.rules["groups"] for rule in group["rules"]]

    def evaluated():
        groups = prometheus.query_api("rules")["groups"]
        rules = [rule for group in groups for rule in group["rules"]]
        return rules if rules and all(rule["health"] != "unknown" for rule in rules) else None

    rules = prometheus.wait_until("every rule is evaluated", evaluated)
    if sorted(rule["name"] for rule in rules) != sorted(rule["alert"] for rule in written):
        refuse(f"{len(rules)} of {len(written)} rules are loaded")
    for rule in rules:
        if rule["health"] != "ok":
            refuse(f"{rule['name']} cannot be evaluated: {rule['lastError']}")

    dashboard = json.loads((root / "docs/grafana.json").read_text())
    panels = {
        panel["title"]: [target["expr"] for target in panel.get("targets", [])] for panel in dashboard["panels"]
    }
    asked = [rule["expr"] for rule in written] + [expression for many in panels.values() for expression in many]
    figures = sorted({name for expression in asked for name in FIGURE.findall(expression)})
    missing = [name for name in figures if name not in LATER and not prometheus.evaluate(f"count({name})")]
    if missing:
        refuse(f"an alert or a panel refers to missing metrics: {', '.join(missing)}")
    for title, expressions in panels.items():
        for expression in expressions:
            if not prometheus.evaluate(expression) and not LATER & set(FIGURE.findall(expression)):
                refuse(f"panel {title!r} shows nothing for {expression}")

    alerts = {
        (one["labels"]["alertname"], one["labels"].get("instance"), one["state"])
        for one in prometheus.query_api("alerts")["alerts"]
    }
    if ("ServerAway", dead_address, "pending") not in alerts and ("ServerAway", dead_address, "firing") not in alerts:
        refuse(f"no alert for a server that does not respond: {alerts}")
    firing = {alert for alert in alerts if alert[2] == "firing" and alert[1] != dead_address}
    if firing:
        refuse(f"alerts fire in a healthy house: {firing}")
    print(
        f"Prometheus scraped a server: {len(rules)} rules evaluate, and the {len(figures)} metrics of these and "
        f"of {len(panels)} panels exist"
    )


def main():
    root, program, folder, *command = sys.argv[1:]
    if not command:
        sys.exit(__doc__)
    root, server, dead_address = pathlib.Path(root), os.environ["BAHAY_PROBE_LISTEN"], f"127.0.0.1:{free_port()}"
    prometheus = Prometheus(root, program, pathlib.Path(folder).resolve(), [server, dead_address])
    try:
        check(prometheus, root, server, dead_address, command)
    finally:
        prometheus.stop()


main()
