# shellcheck shell=bash disable=SC2034,SC2154 # The other parts read the variables set here.
# Benchmarks. Without arguments, prints one table: the rules and the matcher, with instruction counts if valgrind
# is installed, then the live store and the ledger if PostgreSQL and Redis are. Benchmarks are built like a
# release; BAHAY_PROFILE=dev builds faster, and its figures say less.
#
# Wall-clock times vary with the other load of the machine; instruction counts do not. The counts are those of
# the measured rows alone, taken as the difference of two runs.

cmd_bench() {
  local what=${1:-all}
  [ $# -eq 0 ] || shift
  BENCH_PROFILE=${BAHAY_PROFILE:-release}
  choose_home
  case $what in
    all)
      bench_rules
      bench_services
      ;;
    rules) bench_rules "$@" ;;
    instructions)
      need_valgrind
      bench_rules "$@"
      ;;
    floor | ledger | live | sign-ins) "bench_$what" "$@" ;;
    desk) cmd_bench_desk "$@" ;;
    size) bench_size "$@" ;;
    compare) bench_compare "$@" ;;
    *)
      die "there is no bench '$what': rules, instructions, live, ledger, sign-ins, floor, desk, size, compare, or" \
        "nothing for one table"
      ;;
  esac
}

# Measures the rules and the matcher, which need no services.
bench_rules() {
  find_valgrind ||
    say "valgrind is missing: instructions are not counted; ./dev bench instructions installs it"
  BAHAY_VALGRIND=$VALGRIND run_child cargo bench --quiet --profile "$BENCH_PROFILE" -p bahay-engine -p bahay-bots "$@"
}

bench_services() {
  if [ -z "${TEST_DATABASE_URL:-}${TEST_REDIS_URL:-}" ] && ! { find_postgres && find_redis; }; then
    say "PostgreSQL or Redis is missing, so the live store and the ledger are left out: ./dev programs" \
      "installs both"
    return 0
  fi
  enter_test_instance bench
  start_services
  run_child cargo bench --quiet --profile "$BENCH_PROFILE" --bench live
  run_child cargo bench --quiet --profile "$BENCH_PROFILE" --bench ledger -- --alone
}

bench_live() {
  enter_test_instance bench
  # This benchmark does not use PostgreSQL.
  GIVEN_DATABASE_URL=none
  start_services
  run_child cargo bench --profile "$BENCH_PROFILE" --bench live -- "$@"
}

# Measures the minimum cost of a move on this machine, for any program.
bench_floor() {
  enter_test_instance bench
  GIVEN_DATABASE_URL=none
  start_services
  ulimit -n "$(ulimit -Hn)" 2>/dev/null || :
  run_child cargo bench --profile "$BENCH_PROFILE" --bench floor -- "$@"
}

bench_sign-ins() {
  enter_test_instance bench
  start_services
  run_child cargo bench --profile "$BENCH_PROFILE" --bench sign_ins -- "$@"
}

# Measures two commits or builds in turns; scripts/compare.py describes the report.
bench_compare() {
  find_python || need_contract_programs
  CALLED_FROM=$CALLED_FROM run_in_terminal "$PYTHON" scripts/compare.py "$@"
}

# Measures bytes per game in PostgreSQL with two numbers of games, which shows the growth.
bench_size() {
  local one=${1:-20000} two=${2:-60000} more=''
  say_step "building the server and the laboratory"
  BAHAY_PROFILE=$BENCH_PROFILE build
  BAHAY_PROFILE=$BENCH_PROFILE build_lab
  enter_test_instance bench
  GIVEN_REDIS_URL=none
  start_services
  run_child "$BINARY" migrate --archive-grace-days 0 || die "the migration failed: see above"
  mkdir -p "$INSTANCE/archive"
  export BAHAY_ARCHIVE=file://$INSTANCE/archive BAHAY_ARCHIVE_AFTER_DAYS=2
  for games in "$one" "$((two - one))"; do
    # shellcheck disable=SC2086 # The variable may be empty.
    generate_history --games "$games" --days 300 --players $((games / 5 + 30)) --seed "$games" $more
    more=--beside-others
    say "before archiving"
    run_child "${PG_BIN:+$PG_BIN/}psql" -Xq "$DATABASE_URL" -f scripts/size.sql
  done
  say_step "archiving"
  run_child "$BINARY" archive || die "archiving the records failed: see above"
  query_database 'vacuum full analyze game_records'
  say "with records in the archive"
  run_child "${PG_BIN:+$PG_BIN/}psql" -Xq "$DATABASE_URL" -f scripts/size.sql
}

# Measures the ledger on a PostgreSQL of its own, beside pgbench.
bench_ledger() {
  enter_test_instance bench
  # The ledger does not use Redis.
  GIVEN_REDIS_URL=none
  start_services
  PGBENCH=${PG_BIN:+$PG_BIN/}pgbench
  type -P "$PGBENCH" >/dev/null ||
    die "pgbench is missing: it comes with PostgreSQL's server (Debian) or its contributions"
  export PGBENCH
  run_child cargo bench --profile "$BENCH_PROFILE" --bench ledger -- "$@"
}
