# shellcheck shell=bash disable=SC2034 # The other parts read the variables set here.
# Checks both contracts against a running server. The TypeScript client, whose types are generated from
# openapi.yaml and asyncapi.yaml, plays a game over faulty networks (clients/typescript/test/contract.ts). Then
# schemathesis sends requests that openapi.yaml permits and requests that it does not, and checks every response.
#
# Packages are installed in the versions of clients.sh and of tests/contracts/requirements.lock, which goes to
# target/contracts. Node and Python come from the machine or from its distribution (see programs.sh).

CONTRACTS=target/contracts

# Runs all checks on a server of its own. Arguments go to schemathesis, as in `--phases coverage`.
cmd_contracts() {
  enter_test_instance contracts memory
  build
  start_services
  check_contracts "$@"
}

# Runs all checks in a running instance. Requires BINARY (see build).
check_contracts() {
  need_contract_programs
  make_environment
  prepare_clients
  prepare_schemathesis
  start_contract_server
  # A game is played first, so that generated requests can refer to it.
  say "playing a game with three TypeScript clients"
  run_typescript >"$INSTANCE/played.json" || die "the test of the TypeScript client failed: see above"
  run_schemathesis "$@" || die "the server does not conform to openapi.yaml: see above"
}

# Starts a server for this run alone. Sets BAHAY_URL.
start_contract_server() {
  local server
  choose_port 18480
  run_child "$BINARY" migrate || die "the migration failed: see above"
  spawn env RUST_LOG=warn "$BINARY" serve >"$INSTANCE/server.log" 2>&1
  server=$CHILD
  until port_answers "$LISTEN_HOST" "$LISTEN_PORT"; do
    process_start "$server" >/dev/null || die "the server ended: see $INSTANCE/server.log"
    sleep 0.1
  done
  release_port
}

run_typescript() { run_child "$NODE" "$CLIENTS/typescript/build/test/contract.js" "$BAHAY_URL"; }

prepare_schemathesis() {
  local venv=$CONTRACTS/venv lock=tests/contracts/requirements.lock
  mkdir -p "$CONTRACTS"
  if ! cmp -s "$lock" "$venv/lock"; then
    make_venv "$venv"
    pip_install "$venv" -r "$lock"
    cp "$lock" "$venv/lock"
  fi
}

# Runs schemathesis with the tokens of a player of the played game and of an operator, and the id of another
# player.
run_schemathesis() {
  local device operator
  BAHAY_GAME=$(read_played game)
  device=$(read_played device)
  BAHAY_OTHER_PLAYER=$(read_played other)
  BAHAY_PLAYER_TOKEN=$("$PYTHON" - "$BAHAY_URL" "$device" <<'SIGN_IN'
import json, sys, urllib.request
url, device = sys.argv[1:]
body = json.dumps({"device_id": device}).encode()
headers = {"content-type": "application/json"}
request = urllib.request.Request(f"{url}/v1/sign-in/guest", data=body, headers=headers)
print(json.load(urllib.request.urlopen(request))["access_token"])
SIGN_IN
  )
  BAHAY_OPERATOR_TOKEN=$(operator_token contract) || die "the operator could not be created: see above"
  export BAHAY_GAME BAHAY_OTHER_PLAYER BAHAY_PLAYER_TOKEN BAHAY_OPERATOR_TOKEN
  export SCHEMATHESIS_HOOKS=hooks PYTHONPATH=$ROOT/tests/contracts PYTHONDONTWRITEBYTECODE=1
  # The files that schemathesis keeps between runs stay out of the checkout.
  (
    cd "$CONTRACTS"
    run_child with_libraries venv/bin/schemathesis \
      --config-file "$ROOT/tests/contracts/schemathesis.toml" run "$ROOT/openapi.yaml" \
      --url "$BAHAY_URL" --checks all "$@"
  )
}

# Prints the API token of a new administrator, created in a session of the operator.
operator_token() {
  local code
  code=$("$BINARY" operator add "$1" --role admin) &&
    "$PYTHON" "$ROOT/scripts/enrol.py" "$BAHAY_URL" "$code"
}

# Prints a value from the played game: its id, the device of a player, or the id of another player.
read_played() {
  "$PYTHON" - "$INSTANCE/played.json" "$1" <<'PLAYED'
import json, sys
played = json.load(open(sys.argv[1]))
first, second = played["players"][:2]
print({"game": played["game"], "device": first["device"], "other": second["player"]}[sys.argv[2]])
PLAYED
}
