# shellcheck shell=bash disable=SC2034,SC2154 # What is set here is read by the other parts.
# How the desk does with many games: a history of its own, a release build of the server on it, and
# scripts/desk.py, which asks for every page and prints how long each took and how large it is.
#
# `./dev bench desk [GAMES]` makes all of it and throws it away at the end; 1,000,000 games are the
# default. With DATABASE_URL, of a history that is kept, it makes no games: it adds operators, a guest
# and rows of the audit to what is there, and takes some minutes.
#
# BAHAY_PROFILE names another build, as in dev; BAHAY_DESK_TIMES says how often each page is asked
# for (20).

cmd_bench_desk() {
  local games=${1:-1000000} given=${DATABASE_URL:-} player failed=no
  type -P python3 >/dev/null || die "python3 is missing: it asks for the pages"
  say_step "building the server"
  BAHAY_PROFILE=${BAHAY_PROFILE:-release} build
  if [ -n "$given" ]; then
    use_instance "$SERVICES_HOME"
    join_instance bench
  else
    enter_test_instance bench
  fi
  start_services
  make_environment
  export RUST_LOG=${BAHAY_LOG:-warn}
  say_step "migrating, which takes minutes where many games are counted anew"
  run_child "$BINARY" migrate || die "the migration failed: see above"
  if [ -z "$given" ]; then
    # Nine of ten games are of players of whom each has some thousand, the rest of a few who play a lot.
    generate_history --games $((games - games / 10)) --players 900
    generate_history --games $((games / 10)) --players 30 --seed 2 --beside-others
  fi
  say "the database takes $(query_database "select pg_size_pretty(pg_database_size(current_database()))")"
  say_step "filling the audit"
  fill_audit
  say_step "starting the server"
  unset BAHAY_LISTEN BAHAY_PROBE_LISTEN
  start_loaded_server 0
  player=$(query_database "select s.player from player_statistics s order by s.games desc, s.player limit 1")
  [ -n "$player" ] || die "the database has no games: generate-history makes some"
  say_step "asking for each page ${BAHAY_DESK_TIMES:-20} times"
  run_desk_client pages "$player" "${BAHAY_DESK_TIMES:-20}" || failed=yes
  say_step "reading the file of all settlements"
  run_desk_client csv "$player" csv "$SERVER" || failed=yes
  say_step "ending the server"
  [ "$failed" = no ] || die "the desk does not do as it should: see above"
}

# Says what begins, and when.
say_step() { say "$SECONDS s: $1"; }

# scripts/desk.py as an operator of its own, called after $1, with the arguments behind.
run_desk_client() {
  local code
  code=$("$BINARY" operator add "$1.$$" --role admin) || die "no operator was made"
  shift
  run_child python3 scripts/desk.py "$BAHAY_URL" "$code" "$@"
}

generate_history() {
  say_step "generating a history ($*); $INSTANCE/history.log grows with it"
  run_child "$BINARY" generate-history "$@" 2>"$INSTANCE/history.log" ||
    die "the history broke off: $(tail -n 1 "$INSTANCE/history.log")"
}

query_database() { "${PG_BIN:+$PG_BIN/}psql" -XAtq "$DATABASE_URL" -c "$1"; }

# Operators who have looked and changed a lot: 200,000 rows, as years of a house would make.
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
    where not exists (select from audit_entries offset 100000)" || die "the audit could not be filled"
  query_database "vacuum (analyze) audit_entries"
}
