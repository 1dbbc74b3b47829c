# shellcheck shell=bash disable=SC2034 # What is set here is read by the other parts.
# The client package in clients/typescript: what is made from the contracts is made anew and compared
# with what is checked in, everything is compiled strictly, and it is held to its tests, to the tapes
# of clients/tapes, and to a thousand more that the binary makes.
#
# What these need is installed under target/clients, in the versions that package-lock.json names, so
# that the checkout stays as it is.

CLIENTS=target/clients
# The games that the client knows whole.
TAPES_OF=(
  tongits
  tongo_assets
  tongo_options
)
TAPES_KEPT=20
TAPES_MADE=1000

# `write` brings what is checked in up to date instead: types and tapes.
cmd_clients() {
  local write=no
  case ${1:-} in
    '') ;;
    write) write=yes ;;
    *) die "unknown argument $1: ./dev clients [write]" ;;
  esac
  enter_test_instance clients
  build
  if [ "$write" = yes ]; then write_clients; else check_clients; fi
}

# BINARY is built.
check_clients() {
  need_contract_programs
  prepare_clients
  diff -r clients/typescript/src/gen "$CLIENTS/gen" >&2 ||
    die "the client's types are not those of the contracts: run ./dev clients write"
  make_tapes
  say "the TypeScript client is held to its tests and to $TAPES_MADE tapes of each game"
  (
    cd "$CLIENTS/typescript"
    export BAHAY_ROOT=$ROOT BAHAY_TAPES=$ROOT/$CLIENTS/tapes
    run_child "$NODE" --test build/test/*.test.js
  ) || die "the TypeScript client fails: see above"
}

write_clients() {
  need_contract_programs
  prepare_client_modules
  run_child "$NODE" "$CLIENTS/typescript/generate.mjs" openapi.yaml asyncapi.yaml \
    clients/typescript/src/gen >&2 || die "the contracts do not make types: see above"
  rm -f clients/tapes/*.jsonl
  write_tapes clients/tapes "$TAPES_KEPT"
  say "types and tapes are up to date: commit them with the change"
}

# Leaves a compiled client in target/clients/typescript/build.
prepare_clients() {
  local folder=$CLIENTS/typescript
  prepare_client_modules
  rm -rf "$CLIENTS/gen"
  (
    cd "$folder"
    run_child "$NODE" generate.mjs "$ROOT/openapi.yaml" "$ROOT/asyncapi.yaml" ../gen >&2 &&
      run_child "$NODE" node_modules/typescript/bin/tsc -p tsconfig.test.json >&2
  ) || die "the TypeScript client does not compile: see above"
}

prepare_client_modules() {
  local folder=$CLIENTS/typescript part
  mkdir -p "$folder"
  rm -rf "$folder/src" "$folder/test" "$folder/build"
  for part in src test generate.mjs package.json package-lock.json tsconfig.json \
    tsconfig.test.json; do
    cp -R "clients/typescript/$part" "$folder"
  done
  # The folder of modules is of use as long as the lock file is the same.
  if ! cmp -s "$folder/package-lock.json" "$folder/node_modules/.lock"; then
    (cd "$folder" && run_child "$NPM" ci --no-audit --no-fund --ignore-scripts --loglevel=error) >&2 ||
      die "npm could not install what package-lock.json names: see above"
    cp "$folder/package-lock.json" "$folder/node_modules/.lock"
  fi
}

# A thousand tapes, of which the first are those that are checked in.
# So many of each game into a folder.
write_tapes() {
  local game
  for game in "${TAPES_OF[@]}"; do
    run_child "$BINARY" tapes "$1" --game "$game" --count "$2" || die "no tapes: see above"
  done
}

make_tapes() {
  local tape
  rm -rf "$CLIENTS/tapes"
  write_tapes "$CLIENTS/tapes" "$TAPES_MADE"
  for tape in clients/tapes/*.jsonl; do
    cmp -s "$tape" "$CLIENTS/tapes/${tape##*/}" ||
      die "$tape is not what the server says today: run ./dev clients write"
  done
}
