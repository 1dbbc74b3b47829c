#!/usr/bin/env python3
"""Checks a release against docs/OPERATIONS.md: the checksums, the archive, the bill of materials, and the version in
all of them. Prints a line for each violation and exits with 1 if there is any. Usage:

  check.py FOLDER SOURCE [--units FILE] [--foreign TEXT]… [--spoil]

FOLDER contains an archive, its bill of materials, its profile and SHA256SUMS; SOURCE is the tree from which they were
built. FILE is cargo's output of the build: the compiled crates must be those of the bill, and the crate list embedded
in the binary must contain all of them. No TEXT may occur in the binary. --spoil makes one change after the other to the data of the
release, each of which must be reported.

With the packages of tests/release/requirements.lock, it also validates the bill against the schema of CycloneDX."""

import argparse
import copy
import functools
import gzip
import hashlib
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tarfile
import zlib

try:
    import cyclonedx.schema
    import jsonschema
    import referencing
except ImportError:
    jsonschema = None

# Files that every archive contains.
NEEDED = {
    ".env.sample", "BUILT.txt", "CHANGELOG.md", "Dockerfile", "LICENSE-APACHE", "LICENSE-MIT", "README.md",
    "SECURITY.md", "THIRD_PARTY.md", "THIRD_PARTY_CRATES.txt", "assets/swagger-ui/LICENSE", "asyncapi.yaml", "bahay",
    "bom.cdx.json", "containers/gather.sh", "containers/kubernetes/server/deployment.yaml", "containers/roles.sh",
    "containers/roles.sql", "containers/watch/alerts.yml", "docker-compose.yml", "docs/OPERATIONS.md",
    "docs/grafana.json", "docs/verify.py", "docs/verify_record.py", "openapi.yaml",
}
FIRST_RELEASE = "1.0.0"


class Release:
    """The data of a release."""

    def __init__(self, folder, source):
        self.foreign, self.compiled, self.embedded = [], None, None
        lines = (folder / "SHA256SUMS").read_text(encoding="ascii").splitlines()
        self.sums = {line[66:]: line[:64] for line in lines}
        paths = [path for path in folder.iterdir() if path.is_file() and path.name != "SHA256SUMS"]
        self.found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
        archive = next(path for path in paths if path.name.endswith(".tar.gz"))
        self.stem = archive.name.removesuffix(".tar.gz")
        self.entries, self.files = [], {}
        with tarfile.open(archive) as tar:
            for entry in tar:
                owner = entry.uid, entry.gid, entry.uname, entry.gname
                self.entries.append(
                    {"name": entry.name, "owner": owner, "mode": entry.mode, "time": entry.mtime, "file": entry.isreg()}
                )
                self.files[entry.name.partition("/")[2]] = tar.extractfile(entry).read() if entry.isreg() else b""
        self.bom = json.loads(self.files.get("bom.cdx.json", b"{}"))
        self.beside = json.loads((folder / f"{self.stem}.cdx.json").read_text(encoding="utf-8"))
        self.profile = gzip.decompress((folder / f"{self.stem}.profdata.gz").read_bytes())
        self.version = re.search(r'^version = "(.*)"', (source / "Cargo.toml").read_text(encoding="utf-8"), re.M)[1]
        self.locked = {}
        for block in (source / "Cargo.lock").read_text(encoding="utf-8").split("[[package]]\n")[1:]:
            name, version = re.match(r'name = "(.*)"\nversion = "(.*)"', block).groups()
            checksum = re.search(r'^checksum = "(.*)"', block, re.M)
            self.locked[name, version] = checksum and checksum[1]
        if not self.stem.startswith(f"bahay-{self.version}-"):
            sys.exit(f"check: {self.stem} is not an archive of {self.version}")
        self.target = self.stem.removeprefix(f"bahay-{self.version}-")
        self.tree = read_build_graph(source, self.target)

    def text(self, path):
        return self.files.get(path, b"").decode("utf-8", errors="replace")


def run(words, source):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, cwd=source).stdout


def read_build_graph(source, target):
    """Returns names and versions of the build graph without build, development and other targets' dependencies."""
    words = "cargo tree --locked --prefix none -p bahay --features events -e normal".split()
    lines = run([*words, "--target", target, "--format", "{p}"], source).splitlines()
    return {tuple(re.match(r"(\S+) v(\S+)", line).groups()) for line in lines if line}


def find_compiled_crates(units, source, target):
    """Returns the compiled crates that the server reaches without build dependencies."""
    done = set()
    for line in units.read_text(encoding="utf-8").splitlines():
        unit = json.loads(line)
        if unit["reason"] == "compiler-artifact" and "custom-build" not in unit["target"]["kind"]:
            done.add(unit["package_id"])
    words = "cargo metadata --locked --features events --format-version 1 --filter-platform".split()
    graph = json.loads(run([*words, target], source))
    needs = {
        node["id"]: [need["pkg"] for need in node["deps"] if any(kind["kind"] is None for kind in need["dep_kinds"])]
        for node in graph["resolve"]["nodes"]
    }
    reached, waiting = set(), [graph["resolve"]["root"]]
    while waiting:
        crate = waiting.pop()
        if crate in done and crate not in reached:
            reached.add(crate)
            waiting += needs[crate]
    return {(package["name"], package["version"]) for package in graph["packages"] if package["id"] in reached}


def read_embedded_list(binary):
    """Returns the crate list that cargo auditable embedded in a section of a 64-bit ELF file."""
    if binary[:6] != b"\x7fELF\x02\x01":
        sys.exit("check: only 64-bit ELF binaries are supported")
    start = struct.unpack_from("<Q", binary, 40)[0]
    size, count, names = struct.unpack_from("<HHH", binary, 58)
    sections = [struct.unpack_from("<IIQQQQ", binary, start + size * number) for number in range(count)]
    for name, _, _, _, offset, length in sections:
        at = sections[names][4] + name
        if binary[at : binary.index(b"\0", at)] == b".dep-v0":
            return json.loads(zlib.decompress(binary[offset : offset + length]))["packages"]
    return []


def violations(release):
    """Yields all violations."""
    yield from check_files(release)
    yield from check_bom(release)
    yield from check_versions(release)
    binary = release.files.get("bahay", b"")
    for foreign in release.foreign:
        if foreign.encode() in binary:
            yield f"the binary contains {foreign}"
    if release.embedded is not None:
        listed = {(one["name"], one["version"]) for one in release.embedded if one.get("kind", "runtime") == "runtime"}
        # cargo auditable reads cargo's metadata, which contains some crates that are not compiled.
        for crate in sorted(required_crates(release.bom) - listed):
            yield f"the embedded crate list lacks {crate}"
        if not any(one.get("root") and one["name"] == "bahay" for one in release.embedded):
            yield "the embedded crate list does not have bahay as its root"
    if release.compiled is not None and all_crates(release.bom) != release.compiled:
        yield f"the bill of materials and the compiled crates differ by {sorted(all_crates(release.bom) ^ release.compiled)}"


@functools.cache
def sha256(content):
    return hashlib.sha256(content).hexdigest()


def check_files(release):
    if release.sums != release.found:
        yield f"SHA256SUMS does not match the files {sorted(release.found)}"
    if set(release.found) != {f"{release.stem}.{kind}" for kind in ["tar.gz", "cdx.json", "profdata.gz"]}:
        yield f"the folder must contain an archive, its bill of materials and its profile only: {sorted(release.found)}"
    names = [entry["name"] for entry in release.entries]
    if names != sorted(set(names)):
        yield "names in the archive are not sorted and unique"
    if any(not name.startswith(f"{release.stem}/") or ".." in name for name in names):
        yield f"a file of the archive is not under {release.stem}"
    for what in sorted(NEEDED - set(release.files)):
        yield f"{what} is not in the archive"
    if len({entry["time"] for entry in release.entries}) != 1:
        yield "files in the archive have different times"
    for entry in release.entries:
        if entry["owner"] != (0, 0, "", "") or entry["mode"] not in (0o644, 0o755) or not entry["file"]:
            yield f"{entry['name']} has an owner, other permissions, or is not a regular file: {entry}"
    for program in ["bahay", "containers/gather.sh"]:
        if not any(entry["name"] == f"{release.stem}/{program}" and entry["mode"] == 0o755 for entry in release.entries):
            yield f"{program} is not executable"
    if sha256(release.files.get("bahay", b"")) not in release.text("BUILT.txt"):
        yield "BUILT.txt has a different checksum of the binary"
    if sha256(release.profile) not in release.text("BUILT.txt"):
        yield "BUILT.txt has a different checksum of the profile"
    if "FROM scratch" not in release.text("Dockerfile") or "cargo" in release.text("Dockerfile"):
        yield "the Dockerfile of the archive builds the server, or does not end in an empty image"
    for license in ["MIT", "APACHE"]:
        if len(release.text(f"LICENSE-{license}")) < 1000:
            yield f"LICENSE-{license} is not a licence"
    for name, version in sorted(required_crates(release.bom)):
        if release.locked.get((name, version)) and f"\n{name} {version}: " not in release.text("THIRD_PARTY_CRATES.txt"):
            yield f"THIRD_PARTY_CRATES.txt does not name {name} {version}"


def components(bom):
    return [bom.get("metadata", {}).get("component", {}), *bom.get("components", [])]


def all_crates(bom):
    return {(one.get("name"), one.get("version")) for one in components(bom)}


def required_crates(bom):
    return {(one.get("name"), one.get("version")) for one in components(bom) if one.get("scope") == "required"}


@functools.cache
def check_schema(bom):
    """Returns violations of the CycloneDX schema, if it is installed."""
    found = load_schema().iter_errors(json.loads(bom)) if jsonschema else []
    return [f"schema of CycloneDX: {error.message[:200]}" for error in found]


@functools.cache
def load_schema():
    folder = pathlib.Path(cyclonedx.schema.__file__).parent / "_res"
    kept = [json.loads((folder / f"{name}.SNAPSHOT.schema.json").read_text()) for name in ["bom-1.6", "spdx", "jsf-0.82"]]
    resources = [(schema["$id"], referencing.Resource.from_contents(schema)) for schema in kept]
    registry = referencing.Registry().with_resources(resources)
    kind = jsonschema.Draft7Validator
    return kind(kept[0], registry=registry, format_checker=kind.FORMAT_CHECKER)


def check_bom(release):
    bom = release.bom
    yield from check_schema(json.dumps(bom))
    if bom != release.beside:
        yield "the bill of materials in the archive differs from the one beside it"
    if (bom.get("bomFormat"), bom.get("specVersion")) != ("CycloneDX", "1.6"):
        yield "the bill of materials is not CycloneDX 1.6"
    if not re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", bom.get("serialNumber", "")):
        yield "the bill of materials has no serial number"
    if all_crates(bom) != release.tree:
        yield f"the bill of materials and the build graph differ by {sorted(all_crates(bom) ^ release.tree)}"
    refs = [one.get("bom-ref") for one in components(bom)]
    if len(set(refs)) != len(refs):
        yield "the bill of materials lists a crate twice"
    for one in components(bom):
        crate = one.get("name"), one.get("version")
        if one.get("purl") != f"pkg:cargo/{crate[0]}@{crate[1]}":
            yield f"{crate} has a wrong purl: {one.get('purl')}"
        if not one.get("licenses"):
            yield f"{crate} has no licence"
        sums = [entry["content"] for entry in one.get("hashes", [])]
        checksum = release.locked.get(crate, "none")
        if sums != ([checksum] if checksum else []):
            yield f"{crate} has a different checksum from Cargo.lock"
    needs = {one.get("ref"): one.get("dependsOn", []) for one in bom.get("dependencies", [])}
    reached, waiting = set(), refs[:1]
    while waiting:
        ref = waiting.pop()
        if ref not in reached:
            reached.add(ref)
            waiting += needs.get(ref, [])
    if reached != set(refs) or set(needs) != set(refs):
        yield f"the dependency graph is incomplete: {sorted(map(str, (reached | set(needs)) ^ set(refs)))}"


def check_versions(release):
    carried = {
        "the archive's name": release.stem.removesuffix(f"-{release.target}").removeprefix("bahay-"),
        "the bill of materials": components(release.bom)[0].get("version"),
        "BUILT.txt": (re.findall(r"^version +(.*)$", release.text("BUILT.txt"), re.M) or [None])[0],
    }
    for name in ["openapi", "asyncapi"]:
        found = re.search(r"^info:\n(?:(?:  .*)?\n)*?  version: (.*)$", release.text(f"{name}.yaml"), re.M)
        carried[name] = found and found[1]
    sections = re.findall(r"^## \[(\d.*?)\] - \d{4}-\d\d-\d\d$", release.text("CHANGELOG.md"), re.M)
    if sections:
        carried["CHANGELOG.md"] = sections[0]
    elif release.version.split(".") >= FIRST_RELEASE.split(".") or "## [Unreleased]\n" not in release.text("CHANGELOG.md"):
        yield f"CHANGELOG.md has no section for {release.version}"
    for place, version in carried.items():
        if version != release.version:
            yield f"{place} has the version {version} instead of {release.version}"


def first(items):
    return next(iter(items))


def replace(path, old, new):
    def change(release):
        assert old in release.files[path], (path, old)
        release.files[path] = release.files[path].replace(old, new, 1)

    return change


def change_both_boms(change):
    """Applies a change to the bill of materials in the archive and to the one beside it."""

    def change_both(release):
        change(release.bom)
        change(release.beside)

    return change_both


def list_changes(release):
    crate = next(number for number, one in enumerate(release.bom["components"]) if "hashes" in one)
    version = release.version.encode()
    wrong = {
        "a sum": lambda release: release.sums.update({first(release.sums): "0" * 64}),
        "a file without a sum": lambda release: release.found.update({"more": "0" * 64}),
        "an order": lambda release: release.entries.reverse(),
        "a name twice": lambda release: release.entries.insert(0, dict(release.entries[0])),
        "a place": lambda release: release.entries[0].update(name="elsewhere"),
        "an owner": lambda release: release.entries[0].update(owner=(1000, 0, "", "")),
        "rights": lambda release: release.entries[0].update(mode=0o664),
        "a time": lambda release: release.entries[0].update(time=1),
        "a link": lambda release: release.entries[0].update(file=False),
        "a server that is not executable": lambda release: [
            entry.update(mode=0o644) for entry in release.entries if entry["name"].endswith("/bahay")
        ],
        "another server": lambda release: release.files.update(bahay=b"another"),
        "another profile": lambda release: setattr(release, "profile", b"another"),
        "a foreign path": lambda release: release.foreign.append("ELF"),
        "a licence": lambda release: release.files.update({"LICENSE-MIT": b"ours"}),
        "the texts of crates": lambda release: release.files.update({"THIRD_PARTY_CRATES.txt": b""}),
        "the version of a contract": replace("openapi.yaml", b"version: " + version, b"version: 9.9.9"),
        "the version of the socket's contract": replace("asyncapi.yaml", b"version: " + version, b"version: 9.9.9"),
        "what was built": replace("BUILT.txt", version, b"9.9.9"),
        "the version itself": lambda release: setattr(release, "version", "9.9.9"),
        "changes": lambda release: release.files.update({"CHANGELOG.md": b"## [9.9.9] - 2001-01-01\n"}),
        "no changes": lambda release: release.files.update({"CHANGELOG.md": b"# Changes\n"}),
        "two different bills of materials": lambda release: release.bom.update(version=2),
        "its format": change_both_boms(lambda bom: bom.update(specVersion="1.2")),
        "its serial number": change_both_boms(lambda bom: bom.pop("serialNumber")),
        "a crate that is missing": change_both_boms(lambda bom: bom["components"].pop(crate)),
        "a crate of another version": change_both_boms(lambda bom: bom["components"][crate].update(version="0.0.0")),
        "an additional crate": lambda release: release.tree.pop(),
        "a crate twice": change_both_boms(lambda bom: bom["components"].append(bom["components"][crate])),
        "a licence of a crate": change_both_boms(lambda bom: bom["components"][crate].pop("licenses")),
        "a purl": change_both_boms(lambda bom: bom["components"][crate].update(purl="pkg:cargo/x@1")),
        "a sum of a crate": change_both_boms(lambda bom: bom["components"][crate].pop("hashes")),
        "a dependency on an unknown crate": change_both_boms(lambda bom: bom["dependencies"][0]["dependsOn"].append("pkg:cargo/x@1")),
        "a crate without dependents": change_both_boms(lambda bom: [one.update(dependsOn=[]) for one in bom["dependencies"]]),
        "no embedded crate list": lambda release: setattr(release, "embedded", []),
        "an incomplete embedded crate list": lambda release: setattr(
            release, "embedded", [{"name": "bahay", "version": release.version, "root": True}]
        ),
        "other compiled crates": lambda release: setattr(release, "compiled", {("x", "1.0.0")}),
    }
    if jsonschema:
        # Only the schema covers these.
        wrong["an unknown field"] = change_both_boms(lambda bom: bom["components"][crate].update(what="this"))
        wrong["an invalid time"] = change_both_boms(lambda bom: bom["metadata"].update(timestamp=5))
    for what in sorted(NEEDED):
        wrong[f"no {what}"] = lambda release, what=what: release.files.pop(what)
    return wrong


def check_checks(release):
    for what, change in list_changes(release).items():
        spoiled = copy.copy(release)
        for field in ["sums", "found", "entries", "bom", "beside", "tree", "foreign"]:
            setattr(spoiled, field, copy.deepcopy(getattr(release, field)))
        spoiled.files = dict(release.files)
        change(spoiled)
        if not list(violations(spoiled)):
            yield f"the checks do not report: {what}"
    print(f"release: {len(list_changes(release))} changes were made, and each was reported", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=lambda word: pathlib.Path(word).resolve())
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--units", type=pathlib.Path)
    parser.add_argument("--foreign", action="append", default=[])
    parser.add_argument("--spoil", action="store_true")
    given = parser.parse_args()
    release = Release(given.folder, given.source)
    if given.units:
        release.compiled = find_compiled_crates(given.units, given.source, release.target)
        release.embedded = read_embedded_list(release.files["bahay"])
        release.foreign = [os.path.abspath(text) for text in given.foreign]
        print(f"release: the embedded crate list has {len(release.embedded)} crates", file=sys.stderr)
    found = list(violations(release)) or (list(check_checks(release)) if given.spoil else [])
    for violation in found:
        print(f"release: {violation}", file=sys.stderr)
    crates = len(all_crates(release.bom)), len(required_crates(release.bom))
    if not jsonschema:
        print("release: NOT CHECKED: the bill of materials against the schema of CycloneDX, which is not installed", file=sys.stderr)
    print(f"release: {len(release.entries)} files, {crates[0]} crates, {crates[1]} of them in the server", file=sys.stderr)
    sys.exit(1 if found else 0)


main()
