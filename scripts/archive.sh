# shellcheck shell=bash disable=SC2154 # The other parts set the variables read here.
# Tests the archive in object storage that speaks S3, against moto, which is installed in target/archive in the
# versions of tests/archive/requirements.lock. A process that is killed repeatedly moves the records of a
# generated history to the archive. Everything is verified as it is read back, and the verification must report
# an unreachable archive once moto has stopped.

cmd_archive() {
  [ $# -eq 0 ] || die "unknown argument $1: ./dev archive"
  enter_test_instance archive
  build
  build_lab
  start_services
  check_archive
}

# Checks the archive in a running instance. Requires BINARY and LAB_BINARY (see build).
check_archive() {
  local server port url games DATABASE_URL=$DATABASE_URL BAHAY_REDIS_PREFIX
  need_contract_programs
  make_environment
  use_own_database archive
  prepare_moto
  say "moving records of old games to object storage and reading them back"
  run_child "$BINARY" migrate --archive-grace-days 0 || die "the migration failed: see above"
  run_child "$LAB_BINARY" generate-history --games 1500 --players 30 >/dev/null 2>"$INSTANCE/history.log" ||
    die "the history could not be generated: $(tail -n 1 "$INSTANCE/history.log")"
  games=$(archive_sql 'select count(*) from game_records')

  port=$(free_port)
  spawn target/archive/venv/bin/moto_server -H 127.0.0.1 -p "$port" >"$INSTANCE/moto.log" 2>&1
  server=$CHILD
  url=http://127.0.0.1:$port
  export AWS_ENDPOINT_URL=$url AWS_REGION=us-east-1 AWS_ALLOW_HTTP=true
  export AWS_ACCESS_KEY_ID=somebody AWS_SECRET_ACCESS_KEY=something
  until port_answers 127.0.0.1 "$port"; do
    process_start "$server" >/dev/null || die "moto ended: see $INSTANCE/moto.log"
    sleep 0.1
  done
  curl --silent --show-error --fail --max-time 20 -X PUT "$url/house" >/dev/null || die "the bucket could not be created"

  export BAHAY_ARCHIVE=s3://house/of/records BAHAY_ARCHIVE_AFTER_DAYS=2
  archive_and_kill
  run_child "$BINARY" archive --batch 150 || die "the remaining records were not archived: see above"
  [ "$(archive_sql 'select coalesce(sum(records), 0) from archive_objects')" = \
    "$(archive_sql 'select count(*) from game_records where record is null')" ] ||
    die "the database and the objects differ in the number of archived records"
  # Games of the last two days stay in PostgreSQL.
  [ "$(archive_sql 'select count(*) from game_records where record is not null')" -lt "$games" ] ||
    die "no record was archived"
  run_child "$BINARY" archive --check --remove-left-over || die "the archive differs from the records written to it: see above"
  run_child "$BINARY" archive --check >"$INSTANCE/check" || die "the archive differs from the records written to it"
  ! grep left "$INSTANCE/check" || die "left-over objects remain after their removal"
  run_child "$BINARY" verify ledger >"$INSTANCE/books" || die "the books have differences: $(cat "$INSTANCE/books")"
  run_child "$BINARY" verify standings || die "the standings have differences: see above"

  end_process "$server" TERM 10
  if run_child "$BINARY" verify ledger >/dev/null 2>"$INSTANCE/away"; then
    die "the ledger was verified without the archive"
  fi
  grep -q 'the archive cannot be reached' "$INSTANCE/away" || die "the unreachable archive is not reported: $(cat "$INSTANCE/away")"
  say "$games games: archived by a process that was killed three times, without loss or duplicates"
}

# Runs the archive command and kills it each time another object has been recorded, at any point of its work.
archive_and_kill() {
  local process noted round
  for round in 1 2 3; do
    noted=$(archive_sql 'select count(*) from archive_objects')
    spawn "$BINARY" archive --batch 150 >/dev/null
    process=$CHILD
    until [ "$(archive_sql 'select count(*) from archive_objects')" != "$noted" ]; do
      process_start "$process" >/dev/null || die "nothing was archived in round $round: see above"
      sleep 0.05
    done
    end_process "$process" KILL 10
    # PostgreSQL releases the advisory lock once it has noticed the end of the process.
    until [ "$(archive_sql "select count(*) from pg_locks where locktype = 'advisory'")" = 0 ]; do sleep 0.05; done
  done
}

prepare_moto() {
  local venv=target/archive/venv lock=tests/archive/requirements.lock
  mkdir -p target/archive
  cmp -s "$lock" "$venv/lock" && return 0
  make_venv "$venv"
  pip_install "$venv" -r "$lock"
  cp "$lock" "$venv/lock"
}

free_port() {
  "$PYTHON" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

archive_sql() { "${PG_BIN:+$PG_BIN/}psql" -XAtq "$DATABASE_URL" -c "$1"; }
