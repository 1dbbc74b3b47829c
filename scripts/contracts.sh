# shellcheck shell=bash disable=SC2034 # What is set here is read by the other parts.
# The contracts against a running server: the TypeScript client, whose types are made from openapi.yaml
# and asyncapi.yaml, plays a game over networks that break (clients/typescript/test/contract.ts); then
# schemathesis sends what openapi.yaml allows, and what it does not, and checks every answer.
#
# What these need is installed in versions that the repository names: see clients.sh, and
# tests/contracts/requirements.lock, which goes to target/contracts. Node and Python themselves come
# from the machine, or from its distribution (see programs.sh).

CONTRACTS=target/contracts

# Everything, on a server of its own. Arguments go to schemathesis, as in `--phases coverage`.
cmd_contracts() {
  enter_test_instance contracts
  build
  start_services
  check_contracts "$@"
}

# The same in an instance that runs. BINARY is built.
check_contracts() {
  need_contract_programs
  make_environment
  prepare_clients
  prepare_schemathesis
  start_contract_server
  # A game is played first, so that the generated requests can ask for it.
  say "three TypeScript clients play a game"
  run_typescript >"$INSTANCE/played.json" || die "the TypeScript client fails: see above"
  run_schemathesis "$@" || die "openapi.yaml and the server disagree: see above"
}

# A server that nobody knows of but this run. Sets BAHAY_URL.
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

# A player of the game that was played, another one of it, and an operator.
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
  BAHAY_OPERATOR_TOKEN=$(operator_token contract) || die "no operator was made: see above"
  export BAHAY_GAME BAHAY_OTHER_PLAYER BAHAY_PLAYER_TOKEN BAHAY_OPERATOR_TOKEN
  export SCHEMATHESIS_HOOKS=hooks PYTHONPATH=$ROOT/tests/contracts PYTHONDONTWRITEBYTECODE=1
  # What it keeps between runs is not to lie in the checkout.
  (
    cd "$CONTRACTS"
    run_child with_libraries venv/bin/schemathesis \
      --config-file "$ROOT/tests/contracts/schemathesis.toml" run "$ROOT/openapi.yaml" \
      --url "$BAHAY_URL" --checks all "$@"
  )
}

# The API token of a new administrator, which it creates in a session of its own.
operator_token() {
  local code
  code=$("$BINARY" operator add "$1" --role admin) &&
    "$PYTHON" "$ROOT/scripts/enrol.py" "$BAHAY_URL" "$code"
}

# What the clients have left: the game, the device of one of its players, the id of another.
read_played() {
  "$PYTHON" - "$INSTANCE/played.json" "$1" <<'PLAYED'
import json, sys
played = json.load(open(sys.argv[1]))
first, second = played["players"][:2]
print({"game": played["game"], "device": first["device"], "other": second["player"]}[sys.argv[2]])
PLAYED
}
