#!/usr/bin/env python3
"""Prepares and checks the generated C# bindings in clients/csharp/src/Generated.

    csharp_bindings.py write GENERATED SWIFT OUTPUT   prepares what uniffi-bindgen-cs has generated
    csharp_bindings.py check BINDINGS SWIFT LIBRARY   compares the bindings with the library, without a C# compiler

The generator is no dependency of this repository, so the check does not run it. It compares the checksums of all
functions with those of the library, and the digest of the Swift bindings with that of the Swift bindings beside which
the C# ones were generated: those are regenerated and compared by ./dev sdk, and contain every type.
"""

import ctypes
import hashlib
import pathlib
import re
import sys

DIGEST_LABEL = "// The digest of the Swift bindings of the same interface: "
NAMESPACE = re.compile(r"^namespace ([\w.]+);$", re.MULTILINE)
EMPTY_LIST = re.compile(r"(public override (\S+)\[\]\s+Read\([^;]*;[^;]*)return \[\];")
METHOD_GROUP = re.compile(r"var (\w+) = (\w+\.INSTANCE)\.(\w+);(.*?\n    \})", re.DOTALL)
LIBRARY_NAME = '"bahay_client_ffi"'
CHECKSUM = re.compile(r"_UniFFILib\.(uniffi_\w+_checksum_\w+)\(\);\s+if \(checksum != (\d+)\)")
CONTRACT = re.compile(r"if \((\d+) != scaffolding_contract_version\)")
EXPORTED = re.compile(rb"\x00(uniffi_bahay_client_ffi_checksum_\w+)(?=\x00)")
COMMENT = re.compile(r"\s*(//|/\*|\*)")


def digest_of_swift(path: str) -> str:
    """Returns the digest of the code of the Swift bindings, without comments and blank lines."""
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    code = [line.strip() for line in lines if line.strip() and not COMMENT.match(line)]
    return hashlib.sha256("\n".join(code).encode()).hexdigest()


def write(generated: str, swift: str, output: str) -> None:
    """Rewrites the generated file in C# 9, as Unity compiles it, with the library's name of each platform."""
    text = pathlib.Path(generated).read_text(encoding="utf-8")
    text, namespaces = NAMESPACE.subn(r"namespace \1 {", text)
    if namespaces != 1:
        sys.exit(f"{generated} has {namespaces} namespaces of the form that the generator writes")
    text = EMPTY_LIST.sub(r"\1return Array.Empty<\2>();", text)
    while METHOD_GROUP.search(text):
        text = METHOD_GROUP.sub(call_by_converter, text)
    text = text.replace(LIBRARY_NAME, "NativeLibrary.Name")
    lines = [line.rstrip() for line in text.splitlines()]
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip()
    pathlib.Path(output).write_text(f"{DIGEST_LABEL}{digest_of_swift(swift)}\n{text}\n}}\n", encoding="utf-8")


def call_by_converter(match: re.Match[str]) -> str:
    """Keeps the converter in the variable instead of its method, whose type C# 9 does not infer."""
    variable, converter, method, rest = match.groups()
    return f"var {variable} = {converter};" + re.sub(rf"\b{variable}\(", f"{variable}.{method}(", rest)


def find_faults(bindings: str, swift: str, library: str) -> list[str]:
    """Returns the differences between the bindings and the interface."""
    text = pathlib.Path(bindings).read_text(encoding="utf-8")
    native = ctypes.CDLL(str(pathlib.Path(library).resolve()))
    faults = []
    expected = dict(CHECKSUM.findall(text))
    exported = {name.decode() for name in EXPORTED.findall(pathlib.Path(library).read_bytes())}
    for name in sorted(expected.keys() ^ exported):
        faults.append(f"{name} is only in the {'bindings' if name in expected else 'library'}")
    for name in sorted(expected.keys() & exported):
        function = getattr(native, name)
        function.restype = ctypes.c_uint16
        if function() != int(expected[name]):
            faults.append(f"{name} is {function()} in the library, and {expected[name]} in the bindings")
    contract = CONTRACT.search(text)
    version = native.ffi_bahay_client_ffi_uniffi_contract_version()
    if contract is None or int(contract.group(1)) != version:
        faults.append(f"the bindings are not of version {version} of UniFFI's contract")
    if not text.startswith(f"{DIGEST_LABEL}{digest_of_swift(swift)}\n"):
        faults.append("a type has changed: the Swift bindings have another digest")
    return faults


def main() -> None:
    match sys.argv[1:]:
        case ["write", generated, swift, output]:
            write(generated, swift, output)
        case ["check", bindings, swift, library]:
            faults = find_faults(bindings, swift, library)
            if faults:
                sys.exit("\n".join([*faults, f"{bindings} is outdated: regenerate it (clients/csharp/README.md)"]))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
