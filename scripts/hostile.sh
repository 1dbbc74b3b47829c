# shellcheck shell=bash disable=SC2034,SC2154 # The other parts read the variables set here.
# Simulates an attacker with access to the API: 10,000 generated requests of each role against a server of its own,
# after a game has been played there. tests/contracts/hostile/attack.py documents the properties that it checks. Its
# arguments are --seed, --requests and --roles; the same seed generates the same requests, except for ids.

# The time limit of the run in seconds.
HOSTILE_MAX=3600

cmd_hostile() {
  enter_test_instance hostile memory
  build
  build_lab
  start_services
  need_contract_programs
  prepare_schemathesis
  make_environment
  # Trusting the proxy header gives each client an address of its own.
  export BAHAY_TRUSTED_PROXIES=127.0.0.1
  start_contract_server
  run_child "$LAB_BINARY" demo --url "$BAHAY_URL" >"$INSTANCE/demo.log" 2>&1 || die "the demo game failed"
  export BAHAY_BINARY=$BINARY BAHAY_PSQL=${PG_BIN:+$PG_BIN/}psql BAHAY_REDIS_CLI=$REDIS_CLI
  export BAHAY_REDIS_SOCKET=$REDIS_SOCKET PYTHONPATH=$ROOT/tests/contracts/hostile
  export PYTHONDONTWRITEBYTECODE=1
  # The files that schemathesis keeps between runs stay out of the checkout.
  (
    cd "$CONTRACTS"
    run_child with_libraries timeout "$HOSTILE_MAX" venv/bin/python \
      "$ROOT/tests/contracts/hostile/attack.py" "$ROOT/openapi.yaml" "$@"
  ) || die "a checked property does not hold: see above"
  ! grep -a -m 20 -E 'ERROR|panicked' "$INSTANCE/server.log" >&2 ||
    die "the server logged errors: see above"
}
