#!/usr/bin/env python3
"""File operations of ./dev release: sets the version in every file that contains it, closes the section of
CHANGELOG.md, and creates the bill of materials (CycloneDX) and the archive. Usage, from the root of a checkout:

  release.py version                    prints the version
  release.py set VERSION DATE [TAG…]    sets it everywhere, and the date in CHANGELOG.md; TAGs are those of earlier
                                        releases; exits with one line if the version is not permitted
  release.py pack BINARY SOURCE FOLDER  writes the archive and its accompanying files into FOLDER, with
                                        RELEASE_COMMIT, RELEASE_TARGET, RELEASE_PROFILE, RELEASE_LEVEL and
                                        SOURCE_DATE_EPOCH

The archive is reproducible from a binary, its profile and a commit: names are sorted, and owner, time and permissions
are fixed."""

import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import time
import uuid

# MAJOR.MINOR.PATCH with an optional pre-release suffix.
SEMVER = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?")
VERSION = r"[0-9A-Za-z.+-]+"

# Each occurrence of the version: a file, the text before it, and the minimum number. tests/tidy/versions.rs has the same list.
INFO = r"(?:^|\n)info:\n(?:(?:  [^\n]*)?\n)*?  version: "
TAG = r"newName: registry\.example/bahay\n\s*newTag: "
OURS = r'name = "bahay(?!-fuzz)[a-z-]*"\nversion = "'
PLACES = [
    ("Cargo.toml", r'\[workspace\.package\]\nversion = "', 1),
    ("Cargo.lock", OURS, 1),
    ("fuzz/Cargo.lock", OURS, 1),
    ("clients/typescript/package.json", r'"name": "bahay-client",\n\s*"version": "', 1),
    ("clients/typescript/package-lock.json", r'"name": "bahay-client",\n\s*"version": "', 2),
    ("openapi.yaml", INFO, 1),
    ("asyncapi.yaml", INFO, 1),
    ("containers/kubernetes/example/kustomization.yaml", TAG, 1),
    ("containers/kubernetes/example/migration/kustomization.yaml", TAG, 1),
]

# Files and folders of the repository that the archive contains besides generated files.
KEPT = [
    ".env.sample",
    "CHANGELOG.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "SECURITY.md",
    "THIRD_PARTY.md",
    "assets/swagger-ui/LICENSE",
    "assets/swagger-ui/NOTICE",
    "asyncapi.yaml",
    "containers",
    "docker-compose.yml",
    "docs",
    "openapi.yaml",
]

# The first stage of the archive's Dockerfile; the others are copied from ours.
STAGE = """# An image that contains only the server of this release: the binary beside this file and its shared
# libraries.
ARG SERVER=libraries

FROM debian:bookworm-slim AS libraries
COPY bahay THIRD_PARTY.md containers/gather.sh /release/
RUN /release/gather.sh /release/bahay /image \\
    && install -D -m 644 /release/THIRD_PARTY.md /image/usr/share/doc/bahay/THIRD_PARTY.md

"""


def refuse(text):
    sys.exit(f"release: {text}")


def read(path):
    return pathlib.Path(path).read_text(encoding="utf-8")


def version_at(path, before, count):
    """Returns all versions at one of the places."""
    found = re.findall(f"{before}({VERSION})", read(path))
    if len(found) < count:
        refuse(f"{path} contains the version {len(found)} times instead of {count}: fix PLACES in scripts/release.py")
    return set(found)


def version():
    return version_at(*PLACES[0]).pop()


def precedence(text):
    """Returns a sort key with the precedence rules of semver.org."""
    match = SEMVER.fullmatch(text)
    if not match:
        refuse(f"{text} is not a semantic version: write it as 1.2.3")
    *numbers, before = match.groups()
    parts = [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in before.split(".")] if before else []
    return [int(number) for number in numbers], not before, parts


def check_successor(new, present, tags):
    released = [tag.removeprefix("v") for tag in tags if SEMVER.fullmatch(tag.removeprefix("v"))]
    if new in released:
        refuse(f"{new} has already been released")
    # The first release may be the version that the files contain from the beginning.
    if precedence(new) < precedence(present) or (precedence(new) == precedence(present) and released):
        refuse(f"{new} does not come after {present}")


def close_changelog_section(new, date):
    """Turns the section of unreleased changes into that of the new version."""
    text = read("CHANGELOG.md")
    match = re.search(r"^## \[Unreleased\]\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    if not match or not re.search(r"^- ", match[1], re.M):
        refuse(f"CHANGELOG.md has no entries under [Unreleased]: add the changes of {new}")
    text = text.replace(match[0], f"## [Unreleased]\n\n## [{new}] - {date}\n{match[1]}", 1)
    pathlib.Path("CHANGELOG.md").write_text(text, encoding="utf-8")


def set_version(new, date, *tags):
    check_successor(new, version(), tags)
    for place in PLACES:
        version_at(*place)
    close_changelog_section(new, date)
    for path, before, count in PLACES:
        text = re.sub(f"({before}){VERSION}", lambda match: match[1] + new, read(path))
        pathlib.Path(path).write_text(text, encoding="utf-8")
        if version_at(path, before, count) != {new}:
            refuse(f"{path} does not contain {new} afterwards")
    record_migrations()


def record_migrations():
    """Records the hashes of released migrations, which tests/it/operations/migrations.rs keeps from being edited."""
    path = pathlib.Path("tests/it/operations/released_migrations.txt")
    head, *released = read(path).splitlines()
    lines = []
    for file in sorted(pathlib.Path("migrations").glob("[0-9]*.sql")):
        number = int(file.name.split("_")[0])
        lines.append(f"{number} {hashlib.sha384(file.read_bytes()).hexdigest()}")
    if lines[: len(released)] != released:
        refuse("a released migration was edited: restore it, and add another one")
    path.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")


def run(*words, cwd=None):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, cwd=cwd).stdout


class Crates:
    """The crates of the server: the crates that cargo tree lists for it, with their data from Cargo.lock and the
    manifests. Macros and their dependencies run at build time only and are in no binary."""

    def __init__(self, source, target):
        metadata = json.loads(
            run(*"cargo metadata --locked --features events --format-version 1 --filter-platform".split(), target, cwd=source)
        )
        self.all = self.tree(source, target, "normal")
        self.linked = self.tree(source, target, "normal,no-proc-macro")
        self.packages = {}
        ids = {}
        for package in metadata["packages"]:
            key = package["name"], package["version"]
            if key in self.all:
                self.packages[key] = package
                ids[package["id"]] = key
        missing = self.all - set(self.packages)
        if missing:
            refuse(f"cargo metadata does not know {sorted(missing)}")
        self.needs = {key: set() for key in self.packages}
        for node in metadata["resolve"]["nodes"]:
            if node["id"] in ids:
                self.needs[ids[node["id"]]] = {
                    ids[need["pkg"]]
                    for need in node["deps"]
                    if need["pkg"] in ids and any(kind["kind"] is None for kind in need["dep_kinds"])
                }
        self.sums = {}
        for block in read(pathlib.Path(source, "Cargo.lock")).split("[[package]]"):
            fields = dict(re.findall(r'^(\w+) = "(.*)"$', block, re.M))
            if "checksum" in fields:
                self.sums[fields["name"], fields["version"]] = fields["checksum"]

    @staticmethod
    def tree(source, target, edges):
        words = "cargo tree --locked --package bahay --features events --prefix none --format {p} --no-dedupe".split()
        lines = run(*words, "--edges", edges, "--target", target, cwd=source).splitlines()
        return {(line.split()[0], line.split()[1].removeprefix("v")) for line in lines if line}


def spdx_licence(package):
    """Returns a crate's licence as an SPDX expression; older manifests write a slash for `OR`."""
    text = package["license"]
    if not text:
        refuse(f"{package['name']} {package['version']} names no licence")
    return re.sub(r"\s*/\s*", " OR ", text)


def make_bom(crates, epoch):
    """Returns the bill of materials in CycloneDX 1.6. Its serial number is derived from its content."""
    root = next(key for key in crates.packages if key[0] == "bahay")

    def name(key):
        return f"pkg:cargo/{key[0]}@{key[1]}"

    def component(key):
        package = crates.packages[key]
        fields = {
            "type": "application" if key == root else "library",
            "bom-ref": name(key),
            "name": key[0],
            "version": key[1],
            "description": " ".join((package["description"] or "").split()) or None,
            "scope": "required" if key in crates.linked else "excluded",
            "hashes": [{"alg": "SHA-256", "content": crates.sums[key]}] if key in crates.sums else None,
            "licenses": [{"expression": spdx_licence(package)}],
            "purl": name(key),
        }
        if (package["repository"] or "").startswith("https://"):
            fields["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
        return {field: value for field, value in fields.items() if value is not None}

    text = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)),
            "component": component(root),
        },
        "components": [component(key) for key in sorted(crates.packages) if key != root],
        "dependencies": [
            {"ref": name(key), "dependsOn": [name(need) for need in sorted(crates.needs[key])]}
            for key in sorted(crates.packages)
        ],
    }
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(text, sort_keys=True))
    return json.dumps({**text, "serialNumber": f"urn:uuid:{number}"}, indent=1, ensure_ascii=False) + "\n"


def licence_texts(crates):
    """Returns the licence texts of the crates in the binary, each once."""
    texts, sources = {}, {}
    lines = ["Crates that are linked into the server, their licences, and the licence texts in their packages.", ""]
    for key in sorted(crates.linked):
        package = crates.packages[key]
        folder = pathlib.Path(package["manifest_path"]).parent
        numbers = []
        for path in sorted(folder.iterdir()):
            if re.match(r"(?i)(licen[cs]e|copying|notice|copyright|unlicense)", path.name) and path.is_file():
                text = path.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n").strip()
                number = texts.setdefault(text, len(texts) + 1)
                sources.setdefault(number, f"{path.name} of {key[0]} {key[1]}")
                numbers.append(str(number))
        if key in crates.sums:
            where = f"texts {', '.join(numbers)}" if numbers else "no text in its package"
            lines.append(f"{key[0]} {key[1]}: {spdx_licence(package)} ({where})")
    for text, number in texts.items():
        lines += ["", f"---- {number}: {sources[number]}", "", text]
    return "\n".join(lines) + "\n"


def describe_build(binary, profile, commit, target, epoch):
    """Returns the build environment, with which the same bytes can be reproduced."""
    needs = sorted({tuple(map(int, found)) for found in re.findall(rb"GLIBC_(\d+)\.(\d+)", binary)})
    lines = [
        f"version   {version()}",
        f"commit    {commit}",
        f"time      {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(epoch))}",
        f"target    {target}",
        f"compiler  {run('rustc', '--version').strip()}",
        f"linker    {run(os.environ.get('CC', 'cc'), '--version').splitlines()[0]}",
        *([f"needs     glibc {needs[-1][0]}.{needs[-1][1]} or newer"] if needs else []),
        f"profile   {hashlib.sha256(profile).hexdigest()}",
        f"sha256    {hashlib.sha256(binary).hexdigest()}  bahay",
    ]
    return "\n".join(lines) + "\n"


def make_dockerfile():
    ours = read("Dockerfile")
    at = ours.find("FROM ${SERVER} AS server")
    if at < 0:
        refuse("the Dockerfile has no stage named server: fix scripts/release.py")
    return STAGE + ours[at:]


def pack(binary, source, folder):
    source, folder, epoch = pathlib.Path(source), pathlib.Path(folder), int(os.environ["SOURCE_DATE_EPOCH"])
    target = os.environ["RELEASE_TARGET"]
    level = int(os.environ.get("RELEASE_LEVEL", "9"))
    server = pathlib.Path(binary).read_bytes()
    profile = pathlib.Path(os.environ["RELEASE_PROFILE"]).read_bytes()
    os.chdir(source)
    crates = Crates(source, target)
    name = f"bahay-{version()}-{target}"
    bom = make_bom(crates, epoch)
    files = {
        "bahay": (server, 0o755),
        "BUILT.txt": (describe_build(server, profile, os.environ["RELEASE_COMMIT"], target, epoch).encode(), 0o644),
        "Dockerfile": (make_dockerfile().encode(), 0o644),
        "THIRD_PARTY_CRATES.txt": (licence_texts(crates).encode(), 0o644),
        "bom.cdx.json": (bom.encode(), 0o644),
    }
    for kept in KEPT:
        path = source / kept
        found = [path] if path.is_file() else [inner for inner in path.rglob("*") if inner.is_file()]
        if not found:
            refuse(f"{kept} is missing")
        for inner in found:
            if "__pycache__" not in inner.parts:
                rights = 0o755 if inner.stat().st_mode & 0o100 else 0o644
                files[inner.relative_to(source).as_posix()] = inner.read_bytes(), rights
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"{name}.tar.gz"
    with archive.open("wb") as out:
        with gzip.GzipFile("", "wb", level, out, mtime=epoch) as packed:
            with tarfile.open(mode="w", fileobj=packed, format=tarfile.USTAR_FORMAT) as tar:
                for path in sorted(files):
                    content, rights = files[path]
                    entry = tarfile.TarInfo(f"{name}/{path}")
                    entry.size, entry.mode, entry.mtime = len(content), rights, epoch
                    tar.addfile(entry, io.BytesIO(content))
    beside = folder / f"{name}.cdx.json"
    beside.write_text(bom, encoding="utf-8")
    counts = folder / f"{name}.profdata.gz"
    with counts.open("wb") as out, gzip.GzipFile("", "wb", level, out, mtime=epoch) as packed:
        packed.write(profile)
    with (folder / "SHA256SUMS").open("w", encoding="ascii") as sums:
        for path in sorted([archive, beside, counts]):
            sums.write(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n")
    print(archive.name)


def main(command="", *words):
    if command == "version" and not words:
        print(version())
    elif command == "set" and len(words) >= 2:
        set_version(*words)
    elif command == "pack" and len(words) == 3:
        pack(*(str(pathlib.Path(word).resolve()) for word in words))
    else:
        sys.exit(__doc__)


main(*sys.argv[1:])
