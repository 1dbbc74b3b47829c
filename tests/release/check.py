#!/usr/bin/env python3
"""Holds a release to what docs/OPERATIONS.md says of it: the sums, the archive, the list of what the server is made
of, and the version in all of them. Ends with 1 and a line for each thing that is not so. Usage:

  check.py FOLDER SOURCE [--units FILE] [--foreign TEXT]… [--spoil]

FOLDER has an archive, its list and SHA256SUMS; SOURCE is what they were made of. FILE is what cargo said while it
built: what it compiled has to be what the list names, and the binary must have a list of its own that names all of
this. No TEXT may be in the binary. --spoil changes one thing after the other in what was read, each of which has to
be complained about.

Run by a Python that has what tests/release/requirements.lock names, it also holds the list to the schema of
CycloneDX."""

import argparse
import copy
import functools
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

# What nobody can do without.
NEEDED = {
    ".env.sample", "BUILT.txt", "CHANGELOG.md", "Dockerfile", "LICENSE-APACHE", "LICENSE-MIT", "README.md",
    "SECURITY.md", "THIRD_PARTY.md", "THIRD_PARTY_CRATES.txt", "assets/swagger-ui/LICENSE", "asyncapi.yaml", "bahay",
    "bom.cdx.json", "containers/gather.sh", "containers/kubernetes/server/deployment.yaml", "containers/roles.sh",
    "containers/roles.sql", "containers/watch/alerts.yml", "docker-compose.yml", "docs/OPERATIONS.md",
    "docs/grafana.json", "docs/verify.py", "docs/verify_record.py", "openapi.yaml",
}
FIRST_RELEASE = "1.0.0"


class Release:
    """What was read of a release."""

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
        self.version = re.search(r'^version = "(.*)"', (source / "Cargo.toml").read_text(encoding="utf-8"), re.M)[1]
        self.locked = {}
        for block in (source / "Cargo.lock").read_text(encoding="utf-8").split("[[package]]\n")[1:]:
            name, version = re.match(r'name = "(.*)"\nversion = "(.*)"', block).groups()
            checksum = re.search(r'^checksum = "(.*)"', block, re.M)
            self.locked[name, version] = checksum and checksum[1]
        if not self.stem.startswith(f"bahay-{self.version}-"):
            sys.exit(f"check: {self.stem} is no archive of {self.version}")
        self.target = self.stem.removeprefix(f"bahay-{self.version}-")
        self.tree = tree(source, self.target)

    def text(self, path):
        return self.files.get(path, b"").decode("utf-8", errors="replace")


def told(words, source):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, cwd=source).stdout


def tree(source, target):
    """Names and versions of the build graph without what builds, tests and other systems need."""
    words = "cargo tree --locked --prefix none -p bahay -e normal".split()
    lines = told([*words, "--target", target, "--format", "{p}"], source).splitlines()
    return {tuple(re.match(r"(\S+) v(\S+)", line).groups()) for line in lines if line}


def compiled(units, source, target):
    """What of the crates that cargo has compiled is reached from the server without what building takes."""
    done = set()
    for line in units.read_text(encoding="utf-8").splitlines():
        unit = json.loads(line)
        if unit["reason"] == "compiler-artifact" and "custom-build" not in unit["target"]["kind"]:
            done.add(unit["package_id"])
    graph = json.loads(told(["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target], source))
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


def embedded(binary):
    """The list that cargo auditable has put into a section of a 64-bit ELF file."""
    if binary[:6] != b"\x7fELF\x02\x01":
        sys.exit("check: only programs of 64-bit Linux are read here")
    start = struct.unpack_from("<Q", binary, 40)[0]
    size, count, names = struct.unpack_from("<HHH", binary, 58)
    sections = [struct.unpack_from("<IIQQQQ", binary, start + size * number) for number in range(count)]
    for name, _, _, _, offset, length in sections:
        at = sections[names][4] + name
        if binary[at : binary.index(b"\0", at)] == b".dep-v0":
            return json.loads(zlib.decompress(binary[offset : offset + length]))["packages"]
    return []


def complaints(release):
    """Everything that is not as it should be."""
    yield from about_files(release)
    yield from about_bom(release)
    yield from about_versions(release)
    binary = release.files.get("bahay", b"")
    for foreign in release.foreign:
        if foreign.encode() in binary:
            yield f"the binary has {foreign} in it"
    if release.embedded is not None:
        listed = {(one["name"], one["version"]) for one in release.embedded if one.get("kind", "runtime") == "runtime"}
        # Cargo's metadata, which it goes by, has some crates that are not compiled.
        for crate in sorted(required(release.bom) - listed):
            yield f"the list in the binary lacks {crate}"
        if not any(one.get("root") and one["name"] == "bahay" for one in release.embedded):
            yield "the list in the binary does not begin with bahay"
    if release.compiled is not None and named(release.bom) != release.compiled:
        yield f"the list and what was compiled differ by {sorted(named(release.bom) ^ release.compiled)}"


@functools.cache
def digest(content):
    return hashlib.sha256(content).hexdigest()


def about_files(release):
    if release.sums != release.found:
        yield f"SHA256SUMS has other sums, or names something else than {sorted(release.found)}"
    if set(release.found) != {f"{release.stem}.tar.gz", f"{release.stem}.cdx.json"}:
        yield f"there is something else than an archive and its list: {sorted(release.found)}"
    names = [entry["name"] for entry in release.entries]
    if names != sorted(set(names)):
        yield "names in the archive are not sorted, or one is there twice"
    if any(not name.startswith(f"{release.stem}/") or ".." in name for name in names):
        yield f"something in the archive is not under {release.stem}"
    for what in sorted(NEEDED - set(release.files)):
        yield f"{what} is not in the archive"
    if len({entry["time"] for entry in release.entries}) != 1:
        yield "files in the archive have several times"
    for entry in release.entries:
        if entry["owner"] != (0, 0, "", "") or entry["mode"] not in (0o644, 0o755) or not entry["file"]:
            yield f"{entry['name']} has an owner or rights, or is no file: {entry}"
    for program in ["bahay", "containers/gather.sh"]:
        if not any(entry["name"] == f"{release.stem}/{program}" and entry["mode"] == 0o755 for entry in release.entries):
            yield f"{program} cannot be run"
    if digest(release.files.get("bahay", b"")) not in release.text("BUILT.txt"):
        yield "BUILT.txt has another sum of the binary"
    if "FROM scratch" not in release.text("Dockerfile") or "cargo" in release.text("Dockerfile"):
        yield "the Dockerfile of the archive does not begin with the binary, or does not end with nothing else"
    for license in ["MIT", "APACHE"]:
        if len(release.text(f"LICENSE-{license}")) < 1000:
            yield f"LICENSE-{license} is no licence"
    for name, version in sorted(required(release.bom)):
        if release.locked.get((name, version)) and f"\n{name} {version}: " not in release.text("THIRD_PARTY_CRATES.txt"):
            yield f"THIRD_PARTY_CRATES.txt does not name {name} {version}"


def components(bom):
    return [bom.get("metadata", {}).get("component", {}), *bom.get("components", [])]


def named(bom):
    return {(one.get("name"), one.get("version")) for one in components(bom)}


def required(bom):
    return {(one.get("name"), one.get("version")) for one in components(bom) if one.get("scope") == "required"}


@functools.cache
def by_schema(bom):
    """What the schema of CycloneDX forbids in a list, where there is the schema."""
    found = schema().iter_errors(json.loads(bom)) if jsonschema else []
    return [f"by the schema of CycloneDX: {error.message[:200]}" for error in found]


@functools.cache
def schema():
    folder = pathlib.Path(cyclonedx.schema.__file__).parent / "_res"
    kept = [json.loads((folder / f"{name}.SNAPSHOT.schema.json").read_text()) for name in ["bom-1.6", "spdx", "jsf-0.82"]]
    resources = [(schema["$id"], referencing.Resource.from_contents(schema)) for schema in kept]
    registry = referencing.Registry().with_resources(resources)
    kind = jsonschema.Draft7Validator
    return kind(kept[0], registry=registry, format_checker=kind.FORMAT_CHECKER)


def about_bom(release):
    bom = release.bom
    yield from by_schema(json.dumps(bom))
    if bom != release.beside:
        yield "the list in the archive is not that beside it"
    if (bom.get("bomFormat"), bom.get("specVersion")) != ("CycloneDX", "1.6"):
        yield "the list is not of CycloneDX 1.6"
    if not re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", bom.get("serialNumber", "")):
        yield "the list has no number"
    if named(bom) != release.tree:
        yield f"the list and the build graph differ by {sorted(named(bom) ^ release.tree)}"
    refs = [one.get("bom-ref") for one in components(bom)]
    if len(set(refs)) != len(refs):
        yield "a crate is in the list twice"
    for one in components(bom):
        crate = one.get("name"), one.get("version")
        if one.get("purl") != f"pkg:cargo/{crate[0]}@{crate[1]}":
            yield f"{crate} has no purl of its own: {one.get('purl')}"
        if not one.get("licenses"):
            yield f"{crate} has no licence"
        sums = [told["content"] for told in one.get("hashes", [])]
        checksum = release.locked.get(crate, "none")
        if sums != ([checksum] if checksum else []):
            yield f"{crate} has another sum than in Cargo.lock"
    needs = {one.get("ref"): one.get("dependsOn", []) for one in bom.get("dependencies", [])}
    reached, waiting = set(), refs[:1]
    while waiting:
        ref = waiting.pop()
        if ref not in reached:
            reached.add(ref)
            waiting += needs.get(ref, [])
    if reached != set(refs) or set(needs) != set(refs):
        yield f"what needs what does not hold together: {sorted(map(str, (reached | set(needs)) ^ set(refs)))}"


def about_versions(release):
    carried = {
        "the archive's name": release.stem.removesuffix(f"-{release.target}").removeprefix("bahay-"),
        "the list": components(release.bom)[0].get("version"),
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


def both(change):
    """Of the list in the archive and of that beside it."""

    def change_both(release):
        change(release.bom)
        change(release.beside)

    return change_both


def spoils(release):
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
        "a server that is no program": lambda release: [
            entry.update(mode=0o644) for entry in release.entries if entry["name"].endswith("/bahay")
        ],
        "another server": lambda release: release.files.update(bahay=b"another"),
        "a foreign path": lambda release: release.foreign.append("ELF"),
        "a licence": lambda release: release.files.update({"LICENSE-MIT": b"ours"}),
        "the texts of crates": lambda release: release.files.update({"THIRD_PARTY_CRATES.txt": b""}),
        "the version of a contract": replace("openapi.yaml", b"version: " + version, b"version: 9.9.9"),
        "the version of the other one": replace("asyncapi.yaml", b"version: " + version, b"version: 9.9.9"),
        "what was built": replace("BUILT.txt", version, b"9.9.9"),
        "the version itself": lambda release: setattr(release, "version", "9.9.9"),
        "changes": lambda release: release.files.update({"CHANGELOG.md": b"## [9.9.9] - 2001-01-01\n"}),
        "no changes": lambda release: release.files.update({"CHANGELOG.md": b"# Changes\n"}),
        "two lists": lambda release: release.bom.update(version=2),
        "its kind": both(lambda bom: bom.update(specVersion="1.2")),
        "its number": both(lambda bom: bom.pop("serialNumber")),
        "a crate that is missing": both(lambda bom: bom["components"].pop(crate)),
        "a crate of another version": both(lambda bom: bom["components"][crate].update(version="0.0.0")),
        "a crate too many": lambda release: release.tree.pop(),
        "a crate twice": both(lambda bom: bom["components"].append(bom["components"][crate])),
        "a licence of a crate": both(lambda bom: bom["components"][crate].pop("licenses")),
        "a purl": both(lambda bom: bom["components"][crate].update(purl="pkg:cargo/x@1")),
        "a sum of a crate": both(lambda bom: bom["components"][crate].pop("hashes")),
        "a need of nothing": both(lambda bom: bom["dependencies"][0]["dependsOn"].append("pkg:cargo/x@1")),
        "a crate that nothing needs": both(lambda bom: [one.update(dependsOn=[]) for one in bom["dependencies"]]),
        "no list in the binary": lambda release: setattr(release, "embedded", []),
        "a shorter list in the binary": lambda release: setattr(
            release, "embedded", [{"name": "bahay", "version": release.version, "root": True}]
        ),
        "something else compiled": lambda release: setattr(release, "compiled", {("x", "1.0.0")}),
    }
    if jsonschema:
        # Nobody but the schema looks at these.
        wrong["a word that it does not have"] = both(lambda bom: bom["components"][crate].update(what="this"))
        wrong["a time that is none"] = both(lambda bom: bom["metadata"].update(timestamp=5))
    for what in sorted(NEEDED):
        wrong[f"no {what}"] = lambda release, what=what: release.files.pop(what)
    return wrong


def spoil(release):
    for what, change in spoils(release).items():
        spoiled = copy.copy(release)
        for field in ["sums", "found", "entries", "bom", "beside", "tree", "foreign"]:
            setattr(spoiled, field, copy.deepcopy(getattr(release, field)))
        spoiled.files = dict(release.files)
        change(spoiled)
        if not list(complaints(spoiled)):
            yield f"nobody complains about {what}"
    print(f"release: {len(spoils(release))} things were changed, and each was found", file=sys.stderr)


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
        release.compiled = compiled(given.units, given.source, release.target)
        release.embedded = embedded(release.files["bahay"])
        release.foreign = [os.path.abspath(text) for text in given.foreign]
        print(f"release: the binary names {len(release.embedded)} crates", file=sys.stderr)
    found = list(complaints(release)) or (list(spoil(release)) if given.spoil else [])
    for complaint in found:
        print(f"release: {complaint}", file=sys.stderr)
    crates = len(named(release.bom)), len(required(release.bom))
    if not jsonschema:
        print("release: NOT CHECKED: the list against the schema of CycloneDX, which is not to be had here", file=sys.stderr)
    print(f"release: {len(release.entries)} files, {crates[0]} crates, {crates[1]} of them in the server", file=sys.stderr)
    sys.exit(1 if found else 0)


main()
