# shellcheck shell=bash disable=SC2034,SC2154 # What is set here is read by the other parts.
# A backup drill: what docs/OPERATIONS.md tells of backups, done. A house of its own archives PostgreSQL's log by
# pgBackRest and is backed up while players play. Then PostgreSQL is killed, its data removed, and the house
# restored to a second between two games: the books have to be those of that second to the last entry, the
# chain of seals has to end as it did then, and players have to play on.

cmd_backups() {
  [ $# -eq 0 ] || die "unknown argument $1: ./dev backups"
  enter_test_instance backups
  build
  check_backups
}

# BINARY is built.
check_backups() {
  local data moment before after making database=${DATABASE_URL:-} redis=${REDIS_URL:-} started
  need_pgbackrest
  need_programs yes yes
  AT_EXIT="remove_services_beside $AT_EXIT"
  start_drill_services
  data=$(query_drill 'show data_directory')
  archive_continuously "$data"
  say "a house is backed up while it is played in, lost, and restored to a second ($(run_pgbackrest version))"
  make_environment
  run_child "$BINARY" migrate || die "the migration failed: see above"
  run_pgbackrest backup --type full
  spawn run_pgbackrest backup --type incr
  making=$CHILD
  play_a_game "$DATABASE_URL" "$INSTANCE/first.log"
  await_child "$making" || die "no backup was made while players played: see above"
  before=$(verify_books)
  sleep 1
  moment=$(query_drill 'select now()')
  sleep 1
  play_a_game "$DATABASE_URL" "$INSTANCE/second.log"
  [ "$before" != "$(verify_books)" ] || die "nothing was booked after the second that is restored"
  # It ends the segment that is being written, and waits until it is in the archive.
  run_pgbackrest check
  lose_postgres "$data"
  started=$SECONDS
  # Only the archive and the backups are left.
  run_pgbackrest restore --type time --target "$moment" --target-action promote
  services_beside start >/dev/null
  await_promotion
  say "restored in $((SECONDS - started)) s"
  after=$(verify_books)
  [ "$before" = "$after" ] || {
    diff <(echo "$before") <(echo "$after") >&2 || :
    die "the books are not those of $moment: see above"
  }
  # Redis knows a game that the books do not: another prefix leaves it behind.
  (export BAHAY_REDIS_PREFIX=restored && play_a_game "$DATABASE_URL" "$INSTANCE/third.log")
  [ "$before" != "$(verify_books)" ] || die "nothing was booked in the restored house"
  remove_services_beside
  export DATABASE_URL=$database REDIS_URL=$redis
}

start_drill_services() {
  services_beside start >"$INSTANCE/drill.env" || die "the services of the drill did not start: see above"
  # shellcheck source=/dev/null
  . "$INSTANCE/drill.env"
}

query_drill() { "$PG_BIN/psql" -XAtq -v ON_ERROR_STOP=1 "$DATABASE_URL" -c "$1"; }

# Beside the data, of the same user: settings of pgBackRest, the backups and the archive, which are sealed as
# they would be where others keep them.
archive_continuously() {
  local socket
  socket=$(query_drill 'show unix_socket_directories')
  BACKUPS=${1%/*}/backups
  mkdir -p "$BACKUPS"
  cat >"$BACKUPS/pgbackrest.conf" <<CONF
[global]
repo1-path=$BACKUPS/repository
repo1-cipher-type=aes-256-cbc
repo1-cipher-pass=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
repo1-retention-full=2
compress-type=zst
start-fast=y
log-path=$BACKUPS
log-level-console=warn
lock-path=$BACKUPS
[house]
pg1-path=$1
pg1-socket-path=$socket
pg1-user=bahay
pg1-database=bahay
CONF
  chmod 700 "$BACKUPS"
  give_to_service_user "$BACKUPS"
  query_drill "alter system set archive_mode = on"
  query_drill "alter system set archive_command = '$PGBACKREST --config=$BACKUPS/pgbackrest.conf --stanza=house archive-push %p'"
  services_beside stop >/dev/null
  services_beside start >/dev/null
  run_pgbackrest stanza-create
}

# pgBackRest, as the user whose data it is.
run_pgbackrest() {
  as_service "$PGBACKREST" --config "$BACKUPS/pgbackrest.conf" --stanza house "$@" >"$INSTANCE/backups.log" 2>&1 ||
    die "pgbackrest $1 failed: $(tail -n 2 "$INSTANCE/backups.log")"
  [ "$1" != version ] || cat "$INSTANCE/backups.log"
}

# As a machine that is gone: PostgreSQL has no time to write anything, and nothing of its data is left. The lock of
# # its socket stays, and names a process of the same user that runs, as it does where the number was given to another
# one since: here that of Redis.
lose_postgres() {
  local postmaster redis socket
  postmaster=$(head -n 1 "$1/postmaster.pid")
  redis=$(cat "${1%/*}/redis/redis.pid")
  socket=$(sed -n 5p "$1/postmaster.pid")/.s.PGSQL.5432
  end_process "$postmaster" KILL 20
  find "$1" -mindepth 1 -delete
  sed -i "1s/.*/$redis/" "$socket.lock"
}

# Until nothing more is read from the archive.
await_promotion() {
  local tries=0
  until [ "$(query_drill 'select pg_is_in_recovery()')" = f ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 300 ] || die "PostgreSQL has not come to the end of the archive"
    sleep 0.2
  done
}

# What the check of the ledger counts, and the seal at the chain's end. It dies where it finds differences.
verify_books() { run_child "$BINARY" verify ledger || die "the books have differences: see above"; }
