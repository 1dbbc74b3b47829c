# shellcheck shell=bash disable=SC2034 # The other parts read the variables set here.
# The test run: format, lints, tests and clients; the drills, among them the documentation and a short fault test;
# longer fault tests; and the query data with which SQL compiles without a database.
#
# Every run has services of its own, in memory where it has room, so concurrent runs and `./dev up` do not share any.
# DATABASE_URL and REDIS_URL of the environment are ignored here, because tests create and drop databases;
# TEST_DATABASE_URL and TEST_REDIS_URL name servers for tests.

# The features of all checks: the exporter of events. Other features would compile most packages again.
FEATURES=bahay/events

# Creates a temporary instance for command $1 and registers its removal at exit. Its data is on the disk, or in memory
# if $2 is `memory`, which is for tests and not for measurements.
enter_test_instance() {
  GIVEN_DATABASE_URL=${TEST_DATABASE_URL:-}
  GIVEN_REDIS_URL=${TEST_REDIS_URL:-}
  unset DATABASE_URL REDIS_URL
  sweep_tests
  choose_tests_home "${2:-disk}"
  mkdir -p "$TESTS_HOME/$$"
  print_identity $$ >"$TESTS_HOME/$$/owner"
  use_instance "$TESTS_HOME/$$"
  join_instance "$1"
  AT_EXIT="$AT_EXIT remove_test_instance"
}

remove_test_instance() {
  rm -rf "$INSTANCE"
  rmdir "$TESTS_HOME" 2>/dev/null || :
}

# Runs the tests selected by the arguments, or every check without arguments.
cmd_test() {
  type -P cargo >/dev/null || die "cargo is missing: install Rust from https://rustup.rs"
  enter_test_instance test memory
  choose_incremental
  if [ $# -ne 0 ]; then
    start_services
    run_tests "$@"
    return
  fi
  run_step format check_format
  run_step supply check_supply
  run_step build build_tests
  run_step lints check_lints
  start_services
  # Most tests wait more than they compute, so the rest runs beside them.
  start_beside end-to-end env BAHAY_BUILT="$(built_program debug bahay)" SDK_TAPES=40 "$ROOT/dev" e2e
  start_beside examples "${CARGO_WITH_LINTS[@]}" test --workspace --features "$FEATURES" --doc
  run_step tests run_tests
  run_step "end to end" await_beside end-to-end
  run_step examples await_beside examples
  say "everything passed:$STEPS"
}

# Runs the end-to-end tests: the clients in TypeScript and Python, learning programs and contracts against running
# servers, and the build of the browser client. The drills use the pages in a browser.
cmd_e2e() {
  [ $# -eq 0 ] || die "unknown argument $1: ./dev e2e"
  enter_test_instance e2e memory
  choose_incremental
  build --features "$FEATURES"
  build_lab --features "$FEATURES"
  build_sdk
  start_services
  run_step clients check_clients
  run_step env check_env
  run_step sdk check_sdk_python
  run_step together check_together
  run_step contracts check_contracts
  run_step play check_play_build
  say "end to end:$STEPS"
}

# The names of the checks that run beside the tests, in the order of their start. Each has its output in a file.
BESIDE=''

# Starts the command of the remaining arguments as the check named $1, in a process of its own. Its output is shown when it has ended.
start_beside() {
  local name=$1
  shift
  spawn "$@" >"$INSTANCE/$name.log" 2>&1
  printf '%s\n' "$CHILD" >"$INSTANCE/$name.pid"
  [ -n "$BESIDE" ] || AT_EXIT="show_all_beside $AT_EXIT"
  BESIDE="$BESIDE $name"
}

# Waits for the check named $1, shows its output, and fails if it has failed.
await_beside() {
  local status=0
  await_child "$(cat "$INSTANCE/$1.pid")" || status=$?
  show_beside "$1"
  [ "$status" = 0 ] || die "the check \"$1\" failed: see above"
}

# Shows the output of the check named $1, unless it has been shown.
show_beside() {
  [ ! -f "$INSTANCE/$1.log" ] || cat "$INSTANCE/$1.log" >&2
  rm -f "$INSTANCE/$1.log"
}

# Shows the outputs of a run that ends before its checks have been awaited.
show_all_beside() {
  local name
  for name in $BESIDE; do show_beside "$name"; done
}

STEPS=''

# Runs function $2 with the remaining arguments, and adds step $1 with its duration to STEPS.
run_step() {
  local name=$1 began=$SECONDS
  shift
  "$@"
  STEPS="$STEPS $name $((SECONDS - began)) s;"
}

# Prints the number of processors that this process may use, where that is known.
count_processors() { nproc 2>/dev/null || getconf _NPROCESSORS_ONLN; }

check_format() {
  run_child cargo fmt --all --check || die "the code is not formatted: run ./dev fmt"
}

# Cargo with clippy as the compiler of this workspace's packages: it adds lints and omits some optimizations, so the
# lints need no compilation of their own. Every command that compiles tests uses it, because cargo keeps its results
# apart from those of the plain compiler.
CARGO_WITH_LINTS=(env RUSTC_WORKSPACE_WRAPPER=clippy-driver cargo)
cargo_with_lints() { run_child "${CARGO_WITH_LINTS[@]}" "$@"; }

# Fails if compiling has caused warnings, which cargo repeats. Requires build_tests.
check_lints() {
  local warnings
  warnings=$(compile_tests --quiet --message-format short 2>&1 >/dev/null) || die "the build failed: see above"
  [ -z "$warnings" ] || die "clippy reports problems: fix them as described above:
$warnings"
}

# Checks the documentation of all packages. The drills do so, since rustdoc needs another compilation of everything.
cmd_documentation() {
  [ $# -eq 0 ] || die "unknown argument $1: ./dev documentation"
  choose_incremental
  RUSTDOCFLAGS=-Dwarnings run_child cargo doc --workspace --features "$FEATURES" --no-deps \
    --document-private-items || die "the documentation has errors: fix what cargo says above"
}

has_nextest() { cargo nextest --version >/dev/null 2>&1; }

# The list of what nextest has built.
BUILT_TESTS=''

# Compiles the tests, both programs, the library of clients, benchmarks and examples, with the arguments of cargo.
# Dependencies of tests select features as well, so a later build without tests would compile most packages again.
compile_tests() { cargo_with_lints test --workspace --features "$FEATURES" --all-targets --no-run "$@"; }

# Builds what the test run needs. Nextest keeps the list of its tests, because it would otherwise ask cargo, which is
# busy with the examples in the documentation.
build_tests() {
  compile_tests || die "the build failed: fix what cargo says above"
  if has_nextest; then
    BUILT_TESTS=$INSTANCE/built-tests.json
    cargo_with_lints nextest list --workspace --features "$FEATURES" --lib --bins --tests \
      --list-type binaries-only --message-format json >"$BUILT_TESTS" ||
      die "the tests could not be listed: see above"
  fi
  keep_sdk
}

# Runs the tests selected by the arguments, or all that build_tests has built. Nextest runs each test in a process of
# its own, in parallel; cargo's own runner is the fallback. Most tests wait for services and clocks, so there are more
# of them than processors; .config/nextest.toml bounds those that compute.
run_tests() {
  if ! has_nextest; then
    # Arguments may select targets. Without any, examples are not built.
    [ $# -ne 0 ] || set -- --lib --bins --tests
    cargo_with_lints test --workspace --features "$FEATURES" "$@"
    return
  fi
  export NEXTEST_TEST_THREADS=${NEXTEST_TEST_THREADS:-$(($(count_processors) * 3))}
  if [ $# -eq 0 ]; then
    # The end-to-end tests run one after the other beside these, and would end long after them at equal priority.
    run_child nice -n 5 cargo nextest run --binaries-metadata "$BUILT_TESTS" --no-fail-fast
  else
    cargo_with_lints nextest run --workspace --features "$FEATURES" --no-fail-fast "$@"
  fi
}

# Runs the drills, which take minutes: the release archive, the desk and the browser client in Chromium, monitoring, a
# house in containers, backups, the archive, fuzzing, the documentation of the code, the bindings and the size of the
# clients' library, and faults.
cmd_drills() {
  [ $# -eq 0 ] || die "unknown argument $1: ./dev drills"
  enter_test_instance drills
  choose_incremental
  build --features "$FEATURES"
  build_lab --features "$FEATURES"
  start_services
  check_release
  BAHAY_BUILT=$BINARY run_child "$ROOT/dev" browser || die "a test in a browser failed: see above"
  check_monitoring
  check_house_quickly
  check_backups
  check_archive
  check_fuzz
  cmd_documentation
  check_bindings
  check_sdk_sizes
  # Applies each fault once, and forged evidence that the checks must detect.
  cmd_chaos --short --seed 20 --nodes 2 --tables 4 --canaries
}

# Runs a house in containers where images can be built, which needs root and namespaces; checks the container
# files alone elsewhere. The house runs in a process of its own, which also stops its services.
check_house_quickly() {
  local lacking
  lacking=$(missing_for_images)
  if [ -z "$lacking" ]; then
    BAHAY_BUILT=$BINARY run_child "$ROOT/dev" containers --quick ||
      die "the test of a house in containers failed: see above"
    return 0
  fi
  check_containers files
  say "NOT CHECKED: a house in containers: $lacking"
}

# Runs real nodes under faults, on services that it starts itself, because it kills them. --optimised, as the
# first word, builds the clients and this version for release, for many tables.
cmd_chaos() {
  local compile=(cargo_with_lints test)
  type -P cargo >/dev/null || die "cargo is missing: install Rust from https://rustup.rs"
  choose_incremental
  if [ "${1:-}" = --optimised ]; then
    compile=(run_child cargo test --release)
    shift
  fi
  # Each client uses three sockets, since the proxy in front of the node runs in this process as well, and a
  # file.
  ulimit -n "$(ulimit -Hn)" 2>/dev/null || :
  # With --workspace, features are unified as for the tests, so nothing is compiled twice.
  unset DATABASE_URL REDIS_URL
  "${compile[@]}" --quiet --workspace --features "$FEATURES" --test chaos -- run "$@" ||
    die "a check failed under faults: see above, and docs/CHAOS.md"
}

# Asks a freshly migrated database to describe every query, and stores the answers in .sqlx. Migrations are
# applied with psql, because the binary does not compile before this is done.
cmd_prepare() {
  local check=no file single answers
  case ${1:-} in
    '') ;;
    --check) check=yes ;;
    *) die "unknown argument $1: ./dev prepare [--check]" ;;
  esac
  enter_test_instance prepare memory
  answers=$LOCAL/sqlx.$$
  ANSWERS=$answers
  AT_EXIT="remove_answers $AT_EXIT"
  rm -rf "$answers"
  mkdir -p "$answers"
  start_services
  for file in migrations/*.sql; do
    [ -f "$file" ] || continue
    case $file in *.down.sql) continue ;; esac
    # sqlx runs each file in a transaction, unless its first line says otherwise.
    single=--single-transaction
    case $(head -n 1 "$file") in '-- no-transaction'*) single='' ;; esac
    # shellcheck disable=SC2086 # The variable may be empty.
    PGOPTIONS='-c client_min_messages=warning' "${PG_BIN:+$PG_BIN/}psql" -Xq \
      -v ON_ERROR_STOP=1 $single -f "$file" "$DATABASE_URL" >/dev/null ||
      die "$file does not apply: fix what psql says above"
  done
  # The macros run only if their file is compiled, so every file with a query is marked as changed.
  find src tests crates -name '*.rs' -exec grep -lE 'query(_[a-z_]+)?!' {} + |
    while read -r file; do touch "$file"; done || :
  SQLX_OFFLINE=false SQLX_OFFLINE_DIR=$answers run_child cargo check --workspace --all-targets ||
    die "a query does not fit the migrations: fix what cargo says above"
  if [ "$check" = yes ]; then
    mkdir -p .sqlx
    diff -rq .sqlx "$answers" >&2 || die ".sqlx is out of date: run ./dev prepare and commit .sqlx"
    say ".sqlx is up to date ($(count_files .sqlx) queries)"
  else
    rm -rf .sqlx
    mv "$answers" .sqlx
    say ".sqlx holds $(count_files .sqlx) queries: commit it with the change"
  fi
}

remove_answers() { rm -rf "$ANSWERS"; }
count_files() { find "$1" -type f | wc -l | tr -d ' '; }

# Runs the simulator, which models all services and needs none.
cmd_simulate-house() { run_child cargo run --quiet -p bahay-shell --features simulation --example house -- "$@"; }

cmd_fmt() { cargo fmt --all "$@"; }
