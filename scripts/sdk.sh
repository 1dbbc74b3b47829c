# shellcheck shell=bash disable=SC2034 # The other parts read the variables set here.
# Checks the clients on the client core (crates/client-ffi) in other languages. The native library is built; the
# bindings are generated from it and compared with the checked-in files; the Python client is tested with the tapes,
# certified, and plays at a server. sdk_kotlin.sh and sdk_csharp.sh do the same for their languages. The end-to-end
# tests contain the tests of the Python client, the drills the comparison, and `./dev sdk` everything. A client whose
# bindings are not those of its library fails at its start as well, because UniFFI compares checksums.
#
# `./dev sdk sizes` compares the size of the library, as phones receive it, with clients/sizes.json.

SDK=target/sdk
# The number of tapes of each game that are written, with the checked-in ones; `./dev e2e` plays fewer.
SDK_TAPES=${SDK_TAPES:-220}
# The games at which clients are certified.
SDK_GAMES=(
  tongits
  tongo_assets
)
SDK_SIZES=clients/sizes.json
# The processors of players' devices. The libraries of Android are linked alike, with the tools of its NDK.
SDK_TARGETS=(x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu)
# The permitted growth of the library, in hundredths.
SDK_GROWTH=2

# shellcheck source=scripts/sdk_kotlin.sh
. scripts/sdk_kotlin.sh
# shellcheck source=scripts/sdk_csharp.sh
. scripts/sdk_csharp.sh

# Runs the checks; with `write`, updates the checked-in bindings instead; with `sizes`, checks the library's size or
# updates it.
cmd_sdk() {
  case ${1:-}:${2:-} in
    : | write: | sizes: | sizes:write) ;;
    *) die "unknown argument $*: ./dev sdk [write | sizes [write]]" ;;
  esac
  case ${1:-} in
    sizes)
      check_sdk_sizes "${2:-}"
      return
      ;;
    write)
      build_sdk
      build_bindgen
      write_bindings
      return
      ;;
  esac
  enter_test_instance sdk memory
  choose_incremental
  build --features "$FEATURES"
  build_lab --features "$FEATURES"
  build_sdk
  start_services
  check_sdk
}

# Builds the library and sets SDK_LIBRARY.
build_sdk() {
  name_sdk
  # A run within another run uses what the outer one has built.
  if [ -n "${BAHAY_BUILT:-}" ] && [ -f "$SDK_LIBRARY" ]; then return 0; fi
  type -P cargo >/dev/null || die "cargo is missing: install Rust from https://rustup.rs"
  run_child cargo build --workspace --features "$FEATURES" --lib ||
    die "the library of clients does not compile: see above"
  keep_sdk
}

name_sdk() {
  local name=libbahay_client_ffi.so
  [ "$(uname -s)" != Darwin ] || name=libbahay_client_ffi.dylib
  SDK_LIBRARY=$ROOT/$SDK/lib/$name
}

# Copies the built library, because other builds replace it by one with other features. A build of tests leaves it
# among the dependencies only.
keep_sdk() {
  name_sdk
  mkdir -p "$SDK/lib"
  cp "$(built_program debug/deps "${SDK_LIBRARY##*/}")" "$SDK_LIBRARY.new"
  mv "$SDK_LIBRARY.new" "$SDK_LIBRARY"
}

# Builds the generator of bindings and sets SDK_BINDGEN. Its libraries take a minute to compile, so it is a feature that
# other builds omit.
build_bindgen() {
  cargo_with_lints build --workspace --features "$FEATURES,bahay-client-ffi/bindgen" --bin bahay-bindgen ||
    die "the generator of bindings does not compile: see above"
  SDK_BINDGEN=$(built_program debug bahay-bindgen)
}

# Checks every client. Requires SDK_LIBRARY (see build_sdk), BINARY, LAB_BINARY and running services.
check_sdk() {
  local compiled=()
  compare_bindings
  check_sdk_python
  certify_sdk_python
  check_sdk_kotlin
  [ ${#KOTLIN[@]} -eq 0 ] || compiled+=(kotlin)
  check_sdk_csharp
  [ ! -f "$SDK_CSHARP/bin/Player.dll" ] || compiled+=(csharp)
  # A table of Tong-its has three seats.
  [ ${#compiled[@]} -gt 1 ] || compiled+=(rust)
  [ ${#compiled[@]} -gt 1 ] || { say "NOT CHECKED: a game of three languages"; return; }
  play_together python "${compiled[@]}"
}

# Prints the languages of the repository with the folder of their bindings, one a line.
list_bindings() {
  if [ -d clients/python/bahay_client ]; then echo python clients/python/bahay_client/gen; fi
  if [ -d clients/kotlin ]; then echo kotlin clients/kotlin/src/gen/kotlin; fi
  if [ -d clients/swift/Sources/BahayClient/Generated ]; then echo swift clients/swift/Sources/BahayClient/Generated; fi
}

# Generates the bindings for language $1 into folder $2.
generate_bindings() {
  run_child "$SDK_BINDGEN" generate --library "$SDK_LIBRARY" --language "$1" --out-dir "$2" --no-format >/dev/null ||
    die "the bindings for $1 could not be generated: see above"
}

# Builds the library and compares the checked-in bindings with it.
check_bindings() {
  build_sdk
  compare_bindings
}

# Compares the checked-in bindings with the library. Requires SDK_LIBRARY.
compare_bindings() {
  local language folder file
  build_bindgen
  rm -rf "$SDK/gen"
  while read -r language folder; do
    generate_bindings "$language" "$SDK/gen/$language"
    while read -r file; do
      cmp -s "$SDK/gen/$language/$file" "$folder/$file" ||
        die "$folder/$file differs from the library: run ./dev sdk write"
    done <<<"$(cd "$SDK/gen/$language" && find . -type f)"
  done <<<"$(list_bindings)"
}

write_bindings() {
  local language folder
  while read -r language folder; do generate_bindings "$language" "$folder"; done <<<"$(list_bindings)"
  say "the bindings are up to date: commit them with the change"
}

# Tests the Python client with tapes and at a server.
check_sdk_python() {
  prepare_env
  prepare_sdk_python
  rm -rf "$SDK/tapes"
  write_tapes "$SDK/tapes" "$SDK_TAPES"
  say "testing the Python client, with $SDK_TAPES tapes of each game"
  run_child run_sdk_python test_client.py >&2 || die "the Python client fails a test: see above"
  run_child run_sdk_python test_tapes.py >&2 || die "the Python client deviates from a tape: see above"
  say "playing with the Python client"
  at_house run_child run_sdk_python test_house.py >&2 || die "the Python client does not play as it must: see above"
}

# Runs a command while a server runs, whose address is BAHAY_URL.
at_house() {
  local server status=0
  make_environment
  start_contract_server
  server=$CHILD
  "$@" || status=$?
  end_process "-$server" TERM 20
  # The next server that is started chooses an address of its own.
  unset BAHAY_LISTEN BAHAY_URL
  return "$status"
}

# Plays with the clients that the end-to-end tests have prepared.
check_together() { play_together rust typescript python; }

# Plays games at one table with the clients of three languages, and compares their settlements. Each has a function
# that writes its player by write_player.
play_together() {
  local language players=()
  say "playing at one table with the clients of: $*"
  mkdir -p "$SDK/players"
  for language; do
    "write_player_$language"
    players+=("$ROOT/$SDK/players/$language")
  done
  at_house run_together "${players[@]}" >&2 || die "clients of several languages do not play together: see above"
}

run_together() {
  run_child with_libraries env NO_PROXY=127.0.0.1 no_proxy=127.0.0.1 \
    "$PYTHON" scripts/together.py "$BAHAY_URL" newbie 2 "$@"
}

# Writes a program that runs the further arguments, and its own ones, as the player of language $1.
write_player() {
  local player=$SDK/players/$1
  shift
  printf '#!/bin/sh\nexec %s"$@"\n' "$(printf '%q ' "$@")" >"$player"
  chmod +x "$player"
}

write_player_rust() { write_player rust "$LAB_BINARY" play; }

# Requires prepare_clients.
write_player_typescript() {
  write_player typescript "$NODE" "$ROOT/$CLIENTS/typescript/build/test/player.js"
}

# Requires prepare_env and prepare_sdk_python.
write_player_python() {
  write_player python env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$ROOT/$SDK/python" \
    "$ROOT/$ENV_HOME/venv/bin/python" "$ROOT/clients/python/tests/player.py"
}

# Certifies the Python client, on a machine with nothing else to do: a certification takes the lateness of a client
# that is not given the processor for its fault.
certify_sdk_python() {
  say "certifying the Python client"
  run_child run_sdk_python certify.py "$LAB_BINARY" "${SDK_GAMES[@]}" >&2 ||
    die "the Python client is not certified: see above"
}

# Copies the package with its library to target/sdk/python.
prepare_sdk_python() {
  rm -rf "$SDK/python"
  mkdir -p "$SDK/python"
  cp -R clients/python/bahay_client "$SDK/python"
  cp "$SDK_LIBRARY" "$SDK/python/bahay_client/gen"
}

run_sdk_python() {
  export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$ROOT/$SDK/python BAHAY_TAPES=$ROOT/$SDK/tapes
  # The servers are on this machine, whatever proxy the environment names.
  export NO_PROXY=127.0.0.1 no_proxy=127.0.0.1
  cd "$ROOT/clients/python/tests"
  with_libraries "$ROOT/$ENV_HOME/venv/bin/python" "$@"
}

# Compares the size of the library for each processor with the noted one; with `write`, notes it instead.
check_sdk_sizes() {
  local host target
  host=$(rustc -vV | sed -n 's/^host: //p')
  for target in "${SDK_TARGETS[@]}"; do
    if [ "$target" = "$host" ] || has_cross_tools "$target"; then
      check_sdk_size "$target" "${1:-}"
    else
      say "NOT CHECKED: the size of the library for $target: rustup target add $target, and install its gcc"
    fi
  done
}

# Succeeds if the library can be built for another target.
has_cross_tools() {
  type -P "$(name_cross_gcc "$1")" >/dev/null && [ -d "$(rustc --print sysroot)/lib/rustlib/$1/lib" ]
}

# Prints the name of the compiler whose parts link a library for this target, as Debian has it.
name_cross_gcc() {
  printf '%s\n' "${1/-unknown-/-}-gcc"
}

# Builds the library for a target as phones receive it, and checks or notes its size. As one of several crate types it
# would not be optimised as a whole. The linker, which comes with Rust, merges functions of the same code.
check_sdk_size() {
  local target=$1 noted size linker flags
  noted=$(sed -n "s/^ *\"$target\": *\([0-9]*\).*/\1/p" "$SDK_SIZES")
  if [ -z "$noted" ]; then
    say "NOT CHECKED: the size of the library: $SDK_SIZES has none for $target"
    return 0
  fi
  linker=$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin/gcc-ld
  flags=(-C "link-arg=-B$linker" -C link-arg=-fuse-ld=lld -C link-arg=-Wl,--icf=all)
  has_cross_tools "$target" && flags+=(-C "linker=$(name_cross_gcc "$target")")
  run_child cargo rustc --profile mobile --target "$target" -p bahay-client-ffi --lib --crate-type cdylib -- \
    "${flags[@]}" || die "the library of clients does not compile for $target: see above"
  size=$(wc -c <"$(built_program "$target/mobile" libbahay_client_ffi.so)" | tr -d ' ')
  if [ "${2:-}" = write ]; then
    sed -i.old "s/^\( *\"$target\": *\)[0-9]*/\1$size/" "$SDK_SIZES"
    rm -f "$SDK_SIZES.old"
    say "the library has $size bytes for $target: commit $SDK_SIZES with the change"
    return 0
  fi
  [ $((size * 100)) -le $((noted * (100 + SDK_GROWTH))) ] ||
    die "the library has $size bytes instead of $noted for $target: reduce it, or run ./dev sdk sizes write"
  say "the library has $size bytes for $target, $noted noted"
}
