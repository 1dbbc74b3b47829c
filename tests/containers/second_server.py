"""Writes the additional services for the test of a house: a second server, which differs from the first in its port,
a reverse proxy in front of both, and players who connect through the proxy.

Usage: second_server.py REPOSITORY PROXY_IMAGE"""

import copy
import json
import pathlib
import sys

import yaml


def main():
    root, proxy_image = sys.argv[1:]
    compose = yaml.safe_load((pathlib.Path(root) / "docker-compose.yml").read_text())
    second = copy.deepcopy(compose["services"]["server"])
    del second["ports"], second["build"]
    guarded = {
        **compose["x-guarded"],
        "networks": ["outside"],
        "mem_limit": "256m",
        "cpus": 1,
        "pids_limit": 64,
    }
    proxy = {
        **guarded,
        "image": proxy_image,
        "user": "999:999",
        "depends_on": ["server", "server-two"],
    }
    player = {
        **guarded,
        "image": "bahay-lab",
        "user": second["user"],
        "command": ["demo", "--url", "http://proxy:8000"],
        "profiles": ["players"],
        "restart": "no",
    }
    services = {"server-two": second, "proxy": proxy, "player": player}
    json.dump({"services": services}, sys.stdout, indent=1)


main()
