"""Holds the processes of running containers to docker-compose.yml, as the kernel tells of them: user,
capabilities, no new privileges, a root that is only read, memory, processors, processes, and no way out of
the network of the data. Prints a line for each thing that is not so, and ends with 1.

Usage: podman inspect CONTAINER… | held.py REPOSITORY"""

import json
import os
import pathlib
import re
import sys

import yaml

UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def bytes_of(text):
    number, unit = re.fullmatch(r"(\d+)([kmg])", text).groups()
    return int(number) * UNITS[unit]


def limits(pid):
    """Memory, processes and processors of the control groups of a process, of either version."""
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


def privileges(pid):
    """What a process may do, and whether it may write to its root."""
    proc = pathlib.Path(f"/proc/{pid}")
    status = dict(line.split(":", 1) for line in (proc / "status").read_text().splitlines())
    mounts = [line.split() for line in (proc / "mountinfo").read_text().splitlines()]
    return {
        "user": ":".join([status["Uid"].split()[0], status["Gid"].split()[0]]),
        "capabilities": int(status["CapEff"], 16) | int(status["CapBnd"], 16),
        "no_new_privs": status["NoNewPrivs"].strip(),
        "root": next(mount[5].split(",")[0] for mount in mounts if mount[4] == "/"),
    }


def ways_out(pid):
    routes = pathlib.Path(f"/proc/{pid}/net/route").read_text().splitlines()[1:]
    return [line.split()[0] for line in routes if line.split()[1] == "00000000"]


def wanted(service):
    bounds = {
        "user": service["user"],
        "capabilities": 0,
        "no_new_privs": "1",
        "root": "ro",
        "mem_limit": str(bytes_of(service["mem_limit"])),
        "pids_limit": str(service["pids_limit"]),
        "cpus": float(service["cpus"]),
    }
    return bounds | ({"ways out": []} if service["networks"] == ["data"] else {})


def main():
    compose = yaml.safe_load((pathlib.Path(sys.argv[1]) / "docker-compose.yml").read_text())
    services = compose["services"]
    services["server-two"] = services["server"]
    found_wrong = []
    # This process is bounded in nothing, so a check that finds nothing here would find nothing ever.
    unbounded = privileges(os.getpid())
    for container in json.load(sys.stdin):
        name = container["Config"]["Labels"]["com.docker.compose.service"]
        pid = container["State"]["Pid"]
        found = privileges(pid) | limits(pid) | {"ways out": ways_out(pid)}
        for key, value in wanted(services[name]).items():
            if found[key] != value:
                found_wrong.append(f"{name}: {key} is {found[key]!r} and not {value!r}")
            if unbounded.get(key) == value:
                found_wrong.append(f"{name}: the check does not see {key} where nothing is bounded")
    print(*found_wrong, sep="\n", end="\n" if found_wrong else "")
    sys.exit(bool(found_wrong))


main()
