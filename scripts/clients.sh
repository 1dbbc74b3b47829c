# shellcheck shell=bash disable=SC2034 # The other parts read the variables set here.
# Checks the client package in clients/typescript: generated code is regenerated and compared with the checked-in
# files, everything is compiled in strict mode, and the package is tested with its unit tests, with the tapes of
# clients/tapes, and with a thousand more tapes that the laboratory writes.
#
# Packages are installed under target/clients, in the versions of package-lock.json, so that the checkout stays
# unchanged.

CLIENTS=target/clients
# The games whose rules the client implements completely.
TAPES_OF=(
  tongits
  tongo_assets
  tongo_options
)
TAPES_KEPT=20
TAPES_MADE=1000

# Runs the checks; with `write`, updates the checked-in types and tapes instead.
cmd_clients() {
  local write=no
  case ${1:-} in
    '') ;;
    write) write=yes ;;
    *) die "unknown argument $1: ./dev clients [write]" ;;
  esac
  enter_test_instance clients memory
  build_lab
  if [ "$write" = yes ]; then write_clients; else check_clients; fi
}

# Requires LAB_BINARY (see build_lab).
check_clients() {
  need_contract_programs
  prepare_clients
  diff -r clients/typescript/src/gen "$CLIENTS/gen" >&2 ||
    die "the client's types differ from the contracts: run ./dev clients write"
  make_tapes
  say "testing the TypeScript client, with $TAPES_MADE tapes of each game"
  (
    cd "$CLIENTS/typescript"
    export BAHAY_ROOT=$ROOT BAHAY_TAPES=$ROOT/$CLIENTS/tapes
    run_child "$NODE" --test build/test/*.test.js
  ) || die "the tests of the TypeScript client failed: see above"
  say "certifying the TypeScript client"
  run_child "$NODE" "$CLIENTS/typescript/build/test/certify.js" "$LAB_BINARY" >&2 ||
    die "the TypeScript client is not certified: see above"
}

write_clients() {
  need_contract_programs
  prepare_client_modules
  run_child "$NODE" "$CLIENTS/typescript/generate.mjs" openapi.yaml asyncapi.yaml \
    clients/typescript/src/gen >&2 || die "types could not be generated from the contracts: see above"
  rm -f clients/tapes/*.jsonl
  write_tapes clients/tapes "$TAPES_KEPT"
  say "types and tapes are up to date: commit them with the change"
}

# Compiles the client into target/clients/typescript/build.
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
  # The installed modules stay valid while the lock file is unchanged.
  if ! cmp -s "$folder/package-lock.json" "$folder/node_modules/.lock"; then
    (cd "$folder" && run_child "$NPM" ci --no-audit --no-fund --ignore-scripts --loglevel=error) >&2 ||
      die "npm could not install what package-lock.json names: see above"
    cp "$folder/package-lock.json" "$folder/node_modules/.lock"
  fi
}

# Writes $2 tapes of each game into folder $1. The first of a thousand are the checked-in ones.
write_tapes() {
  local game
  for game in "${TAPES_OF[@]}"; do
    run_child "$LAB_BINARY" tapes "$1" --game "$game" --count "$2" || die "the tapes could not be written: see above"
  done
}

make_tapes() {
  local tape
  rm -rf "$CLIENTS/tapes"
  write_tapes "$CLIENTS/tapes" "$TAPES_MADE"
  for tape in clients/tapes/*.jsonl; do
    cmp -s "$tape" "$CLIENTS/tapes/${tape##*/}" ||
      die "$tape differs from what the server sends today: run ./dev clients write"
  done
}
