# shellcheck shell=bash disable=SC2034,SC2154 # What is set here is read by the other parts.
# An attacker with the API, by hand: 10,000 generated requests of each role against a server of its own,
# after a game was played there. tests/contracts/hostile/attack.py tells what must hold. Its arguments
# are --seed, --requests and --roles; the same seed makes the same requests, but for ids.

# As long as this at most, in seconds.
HOSTILE_MAX=3600

cmd_hostile() {
  enter_test_instance hostile
  build
  start_services
  need_contract_programs
  prepare_schemathesis
  make_environment
  # So that everybody has an address of their own.
  export BAHAY_TRUSTED_PROXIES=127.0.0.1
  start_contract_server
  run_child "$BINARY" demo --url "$BAHAY_URL" >"$INSTANCE/demo.log" 2>&1 || die "no game was played"
  export BAHAY_BINARY=$BINARY BAHAY_PSQL=${PG_BIN:+$PG_BIN/}psql BAHAY_REDIS_CLI=$REDIS_CLI
  export BAHAY_REDIS_SOCKET=$REDIS_SOCKET PYTHONPATH=$ROOT/tests/contracts/hostile
  export PYTHONDONTWRITEBYTECODE=1
  # What schemathesis keeps between runs is not to lie in the checkout.
  (
    cd "$CONTRACTS"
    run_child with_libraries timeout "$HOSTILE_MAX" venv/bin/python \
      "$ROOT/tests/contracts/hostile/attack.py" "$ROOT/openapi.yaml" "$@"
  ) || die "something does not hold: see above"
  ! grep -a -m 20 -E 'ERROR|panicked' "$INSTANCE/server.log" >&2 ||
    die "the server wrote errors: see above"
}
