"""Compares the processes of running containers with docker-compose.yml, as reported by the kernel: user, capabilities,
no new privileges, a read-only root, memory, processors, number of processes, and no route out of the data network.
Prints a line for each difference and exits with 1 if there is any.

Usage: podman inspect CONTAINER… | container_limits.py REPOSITORY"""

import json
import os
import pathlib
import re
import sys

import yaml

UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def parse_bytes(text):
    number, unit = re.fullmatch(r"(\d+)([kmg])", text).groups()
    return int(number) * UNITS[unit]


def read_limits(pid):
    """Returns the limits on memory, processes and processors of a process, from control groups of version 1 or 2."""
    groups = {}
    for line in pathlib.Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        groups.update(dict.fromkeys(names.split(","), path))

    def read(controller, *names):
        folder = f"/sys/fs/cgroup/{controller}" if controller in groups else "/sys/fs/cgroup"
        path = groups.get(controller, groups.get(""))
        return [(pathlib.Path(folder + path) / name).read_text().split() for name in names]

    if "memory" not in groups:
        ((memory,), (processes,), (quota, period)) = (
            read("memory", "memory.max")[0],
            read("pids", "pids.max")[0],
            read("cpu", "cpu.max")[0],
        )
    else:
        (memory,) = read("memory", "memory.limit_in_bytes")[0]
        (processes,) = read("pids", "pids.max")[0]
        (quota,), (period,) = read("cpu", "cpu.cfs_quota_us", "cpu.cfs_period_us")
    return {"mem_limit": memory, "pids_limit": processes, "cpus": int(quota) / int(period)}


def read_privileges(pid):
    """Returns the privileges of a process and the access mode of its root."""
    proc = pathlib.Path(f"/proc/{pid}")
    status = dict(line.split(":", 1) for line in (proc / "status").read_text().splitlines())
    mounts = [line.split() for line in (proc / "mountinfo").read_text().splitlines()]
    return {
        "user": ":".join([status["Uid"].split()[0], status["Gid"].split()[0]]),
        "capabilities": int(status["CapEff"], 16) | int(status["CapBnd"], 16),
        "no_new_privs": status["NoNewPrivs"].strip(),
        "root": next(mount[5].split(",")[0] for mount in mounts if mount[4] == "/"),
    }


def default_routes(pid):
    routes = pathlib.Path(f"/proc/{pid}/net/route").read_text().splitlines()[1:]
    return [line.split()[0] for line in routes if line.split()[1] == "00000000"]


def expected_limits(service):
    bounds = {
        "user": service["user"],
        "capabilities": 0,
        "no_new_privs": "1",
        "root": "ro",
        "mem_limit": str(parse_bytes(service["mem_limit"])),
        "pids_limit": str(service["pids_limit"]),
        "cpus": float(service["cpus"]),
    }
    return bounds | ({"default routes": []} if service["networks"] == ["data"] else {})


def main():
    compose = yaml.safe_load((pathlib.Path(sys.argv[1]) / "docker-compose.yml").read_text())
    services = compose["services"]
    services["server-two"] = services["server"]
    found_wrong = []
    # This process is unrestricted, so a limit that it seems to have shows a broken check.
    unbounded = read_privileges(os.getpid())
    for container in json.load(sys.stdin):
        name = container["Config"]["Labels"]["com.docker.compose.service"]
        pid = container["State"]["Pid"]
        found = read_privileges(pid) | read_limits(pid) | {"default routes": default_routes(pid)}
        for key, value in expected_limits(services[name]).items():
            if found[key] != value:
                found_wrong.append(f"{name}: {key} is {found[key]!r} instead of {value!r}")
            if unbounded.get(key) == value:
                found_wrong.append(f"{name}: the check reports {key} for an unrestricted process")
    print(*found_wrong, sep="\n", end="\n" if found_wrong else "")
    sys.exit(bool(found_wrong))


main()
