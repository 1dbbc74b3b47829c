"""Checks docker-compose.yml, Dockerfile and .env.sample against docs/OPERATIONS.md: every service is hardened, every
image has a version, only the server and Grafana are published on this host, each secret is given only to the services
that need it, and every setting is documented. Prints a line for each violation and exits with 1 if there is any. Then
violates each rule in turn and expects a report, which proves that the checks work.

Usage: compose.py REPOSITORY"""

import copy
import pathlib
import re
import sys

import yaml

# Options of every service.
GUARDS = {
    "cap_drop": lambda value: value == ["ALL"],
    "security_opt": lambda value: "no-new-privileges:true" in (value or []),
    "read_only": lambda value: value is True,
    "user": lambda value: re.fullmatch(r"[1-9]\d*:[1-9]\d*", str(value)) is not None,
    "mem_limit": bool,
    "cpus": bool,
    "pids_limit": bool,
    "logging": lambda value: "max-size" in ((value or {}).get("options") or {}),
}
# Options that would undo the hardening.
UNWANTED = ("privileged", "cap_add", "network_mode", "pid", "ipc", "devices", "userns_mode")
# The services that may know each secret.
SECRETS = {
    "BAHAY_SIGNING_SECRET": {"server"},
    "BAHAY_SECOND_FACTOR_KEYS": {"server", "migrate"},
    "BAHAY_SERVER_PASSWORD": {"server", "postgres"},
    "BAHAY_OWNER_PASSWORD": {"migrate", "postgres"},
    "POSTGRES_PASSWORD": {"postgres"},
    "REDIS_PASSWORD": {"server", "migrate", "redis"},
}
# The published services, and the networks of each service; all others are in the network `data` alone.
PUBLISHED = {"server", "grafana"}
NETWORKS = {
    "server": {"outside", "data", "watch"},
    "prometheus": {"watch"},
    "grafana": {"outside", "watch"},
    "tempo": {"watch"},
}
VARIABLE = re.compile(r"\$\{([A-Z0-9_]+)([^}]*)\}")
PINNED = re.compile(r"[a-z/]+:v?\d+\.\d+.*|[a-z/]+:[a-z]+-\d{8}.*|.*@sha256:[0-9a-f]{64}")


def violations(compose, dockerfile, sample):
    for name, service in compose["services"].items():
        for guard, is_good in GUARDS.items():
            if not is_good(service.get(guard)):
                yield f"{name}: {guard} is {service.get(guard)!r}"
        yield from (f"{name}: has {key}" for key in UNWANTED if key in service)
        if "build" not in service and not PINNED.fullmatch(str(service.get("image"))):
            yield f"{name}: image {service.get('image')} has no version"
        for port in service.get("ports", []):
            if name not in PUBLISHED or not str(port).startswith("127.0.0.1:"):
                yield f"{name}: publishes {port}"
        for volume in service.get("volumes", []):
            if "docker.sock" in str(volume) or re.match(r"[./~].*(?<!:ro)$", str(volume)):
                yield f"{name}: has write access to {volume} of the host"
        text = yaml.safe_dump(service, width=1_000_000)
        for secret, knowing in SECRETS.items():
            is_known = any(found[1] == secret for found in VARIABLE.finditer(text))
            if is_known != (name in knowing):
                yield f"{name}: is given {secret}" if is_known else f"{name}: lacks {secret}"
        if set(service.get("networks") or []) != NETWORKS.get(name, {"data"}):
            yield f"{name}: is in networks {service.get('networks')}"
    for name in ("data", "watch"):
        if not ((compose.get("networks") or {}).get(name) or {}).get("internal"):
            yield f"networks: {name} is not internal"
    server = compose["services"]["server"]["environment"]
    if not server["DATABASE_URL"].startswith("postgres://bahay_server:"):
        yield "server: its login is not bahay_server, which owns no table"
    if "requirepass" not in str(compose["services"]["redis"].get("command")):
        yield "redis: requires no password"
    for found in VARIABLE.finditer(yaml.safe_dump(compose, width=1_000_000)):
        mark = "" if found[2].startswith(":?") else "#?"
        if not re.search(f"^{mark}{found[1]}=", sample, re.MULTILINE):
            yield f".env.sample: does not document {found[1]}"
    for secret in SECRETS:
        if not re.search(rf"\${{{secret}:\?", str(compose)):
            yield f"{secret}: is not required"
        if not re.search(f"^{secret}=$", sample, re.MULTILINE):
            yield f".env.sample: {secret} is not left empty"
    stages = {"scratch", *re.findall(r"^FROM \S+ AS (\S+)", dockerfile, re.MULTILINE)}
    given = dict(re.findall(r"^ARG (\w+)=(\S+)", dockerfile, re.MULTILINE))
    for image in re.findall(r"^FROM (\S+)", dockerfile, re.MULTILINE):
        image = VARIABLE.sub(lambda found: given.get(found[1], ""), image)
        if image not in stages and not PINNED.fullmatch(image):
            yield f"Dockerfile: image {image} has no version"
    if re.match(r"#\s*syntax", dockerfile):
        yield "Dockerfile: its syntax directive needs a download"
    users = re.findall(r"^USER (\S+)", dockerfile, re.MULTILINE)
    if not users or not re.fullmatch(r"[1-9]\d*:[1-9]\d*", users[-1]):
        yield f"Dockerfile: runs as {users[-1:] or 'root'}"


def break_rules(compose, dockerfile, sample):
    """Yields a description and the files of each violation that must be reported."""
    for name in compose["services"]:
        for guard in GUARDS:
            other = copy.deepcopy(compose)
            other["services"][name].pop(guard, None)
            yield f"{name} without {guard}", (other, dockerfile, sample)
        other = copy.deepcopy(compose)
        other["services"][name]["privileged"] = True
        yield f"{name} privileged", (other, dockerfile, sample)
        other = copy.deepcopy(compose)
        other["services"][name].pop("build", None)
        other["services"][name]["image"] = "postgres:latest"
        yield f"{name} without a version", (other, dockerfile, sample)
        other = copy.deepcopy(compose)
        other["services"][name]["ports"] = ["5432:5432"]
        yield f"{name} published", (other, dockerfile, sample)
        other = copy.deepcopy(compose)
        other["services"][name]["networks"] = ["data", "outside"]
        yield f"{name} in other networks", (other, dockerfile, sample)
    other = copy.deepcopy(compose)
    other["services"]["server"]["environment"]["DATABASE_URL"] = "postgres://bahay_owner:x@postgres"
    yield "the server as the owner", (other, dockerfile, sample)
    other = copy.deepcopy(compose)
    other["services"]["redis"]["command"] = ["redis-server"]
    yield "redis without a password", (other, dockerfile, sample)
    other = copy.deepcopy(compose)
    other["networks"]["data"] = None
    yield "a data network that is not internal", (other, dockerfile, sample)
    yield "an undocumented setting", (compose, dockerfile, sample.replace("RUST_LOG=", ""))
    yield "a secret that is filled in", (
        compose,
        dockerfile,
        sample.replace("REDIS_PASSWORD=\n", "REDIS_PASSWORD=hunter2\n"),
    )
    yield "an image as root", (compose, dockerfile.replace("USER ", "# "), sample)
    yield "a syntax directive", (compose, "# syntax=docker/dockerfile:1\n" + dockerfile, sample)
    any_version = re.sub(r"FROM rust:\S+", "FROM rust:1-slim", dockerfile)
    yield "a build image without a version", (compose, any_version, sample)
    elsewhere = dockerfile.replace("ARG SERVER=build", "ARG SERVER=bahay")
    yield "a server from an image without a version", (compose, elsewhere, sample)


def main():
    root = pathlib.Path(sys.argv[1])
    compose = yaml.safe_load((root / "docker-compose.yml").read_text())
    dockerfile = (root / "Dockerfile").read_text()
    sample = (root / ".env.sample").read_text()
    found = list(violations(compose, dockerfile, sample))
    for what, files in break_rules(compose, dockerfile, sample):
        if not any(violations(*files)):
            found.append(f"the checks do not report: {what}")
    for violation in found:
        print(violation)
    sys.exit(bool(found))


main()
