"""Writes the additional services for the test of a house: a second server, which differs from the first in its port,
a reverse proxy in front of both, and players who connect through the proxy. Every container has a fixed address, and
finds the others in its file of hosts.

Usage: second_server.py REPOSITORY PROXY_IMAGE"""

import copy
import json
import pathlib
import sys

import yaml

# The containers that others connect to, by network, in the order of their addresses. The players' containers take
# addresses of the same networks, from the first free one.
NAMES = {
    "outside": ["server", "server-two", "proxy"],
    "data": ["postgres", "redis", "server", "server-two"],
    "watch": ["server", "server-two"],
}


def subnet_of(network):
    return f"10.89.{201 + list(NAMES).index(network)}"


def address_of(network, name):
    return f"{subnet_of(network)}.{100 + NAMES[network].index(name)}"


def add_addresses(services):
    """Gives each service its addresses, and a file of hosts with those of the others: the first by network."""
    hosts = {}
    for network, names in NAMES.items():
        for name in names:
            hosts.setdefault(name, address_of(network, name))
    for name, service in services.items():
        service["extra_hosts"] = [f"{other}:{at}" for other, at in hosts.items() if other != name]
        at = {net: {"ipv4_address": address_of(net, name)} for net in NAMES if name in NAMES[net]}
        if at:
            service["networks"] = at


def write_range(network):
    # podman reports this option, and docker-compose refuses a network whose options differ from the file's.
    options = {"driver": "host-local"}
    return {"config": [{"subnet": f"{subnet_of(network)}.0/24"}], "options": options}


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
    services |= {name: {} for name in ["server", "migrate", "postgres", "redis"]}
    add_addresses(services)
    networks = {
        name: {**(given or {}), "ipam": write_range(name)}
        for name, given in compose["networks"].items()
    }
    json.dump({"services": services, "networks": networks}, sys.stdout, indent=1)


main()
