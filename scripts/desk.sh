# shellcheck shell=bash disable=SC2034,SC2154 # The other parts read the variables set here.
# Measures the desk with many games: generates a history, starts a release build of the server on it, and runs
# scripts/desk.py, which requests every page and prints its time and size.
#
# `./dev bench desk [GAMES]` creates all of it, by default with 1,000,000 games, and removes it at the end. With
# DATABASE_URL of a kept history no games are generated: operators, a guest and rows of the audit are added to
# the data, and the run takes some minutes.
#
# BAHAY_PROFILE names another build profile, as in dev; BAHAY_DESK_TIMES is the number of requests per page (20).

cmd_bench_desk() {
  local games=${1:-1000000} given=${DATABASE_URL:-} player failed=no
  type -P python3 >/dev/null || die "python3 is missing: it requests the pages"
  say_step "building the server and the laboratory"
  export BAHAY_PROFILE=${BAHAY_PROFILE:-release}
  build
  build_lab
  if [ -n "$given" ]; then
    use_instance "$SERVICES_HOME"
    join_instance bench
  else
    enter_test_instance bench
  fi
  start_services
  make_environment
  export RUST_LOG=${BAHAY_LOG:-warn}
  say_step "migrating, which takes minutes if many games have to be counted again"
  run_child "$BINARY" migrate || die "the migration failed: see above"
  if [ -z "$given" ]; then
    # Nine of ten games are spread over players with about a thousand games each, the rest over a few frequent
    # ones.
    generate_history --games $((games - games / 10)) --players 900
    generate_history --games $((games / 10)) --players 30 --seed 2 --beside-others
  fi
  say "the database takes $(query_database "select pg_size_pretty(pg_database_size(current_database()))")"
  say_step "filling the audit log"
  fill_audit
  say_step "starting the server"
  unset BAHAY_LISTEN BAHAY_PROBE_LISTEN
  start_loaded_server 0
  player=$(query_database "select s.player from player_statistics s order by s.games desc, s.player limit 1")
  [ -n "$player" ] || die "the database has no games: generate-history makes some"
  say_step "requesting each page ${BAHAY_DESK_TIMES:-20} times"
  run_desk_client pages "$player" "${BAHAY_DESK_TIMES:-20}" || failed=yes
  say_step "reading the CSV export of all settlements"
  run_desk_client csv "$player" csv "$SERVER" || failed=yes
  say_step "stopping the server"
  [ "$failed" = no ] || die "the desk misses its limits: see above"
}

# Prints the name of a step and the time at which it begins.
say_step() { say "$SECONDS s: $1"; }

# Runs scripts/desk.py as a new operator whose name begins with $1, with the remaining arguments.
run_desk_client() {
  local code
  code=$("$BINARY" operator add "$1.$$" --role admin) || die "the operator could not be created"
  shift
  run_child python3 scripts/desk.py "$BAHAY_URL" "$code" "$@"
}

generate_history() {
  say_step "generating a history ($*); $INSTANCE/history.log grows with it"
  run_child "$LAB_BINARY" generate-history "$@" 2>"$INSTANCE/history.log" ||
    die "the history could not be generated: $(tail -n 1 "$INSTANCE/history.log")"
}

query_database() { "${PG_BIN:+$PG_BIN/}psql" -XAtq "$DATABASE_URL" -c "$1"; }

# Adds 200,000 audit entries, as years of operation would.
fill_audit() {
  query_database "
    insert into audit_entries (id, at, action, subject, detail, channel)
    select (lpad(to_hex((extract(epoch from t.at) * 1000)::bigint), 12, '0') || '7000'
            || '8000' || lpad(to_hex(t.n), 12, '0'))::uuid,
        t.at, case when t.n % 5 = 0 then 'export' else 'replay_look' end,
        'game:' || gen_random_uuid(), '{}', 'api'
    from (
        select n, now() - n * interval '5 minutes' as at from generate_series(1, 200000) n
    ) t
    where not exists (select from audit_entries offset 100000)" || die "the audit log could not be filled"
  query_database "vacuum (analyze) audit_entries"
}
