# shellcheck shell=bash disable=SC2034,SC2154 # The other parts read the variables set here.
# A backup drill that follows the chapter on backups in docs/OPERATIONS.md. A house on services of its own
# archives PostgreSQL's write-ahead log with pgBackRest and is backed up while games are played. PostgreSQL is
# then killed, its data deleted, and the house restored to a point in time between two games. The ledger must be
# that of this point to the last entry, the chain of seals must end there, and new games must be playable.

cmd_backups() {
  [ $# -eq 0 ] || die "unknown argument $1: ./dev backups"
  enter_test_instance backups
  build
  build_lab
  check_backups
}

# Runs the drill. Requires BINARY and LAB_BINARY (see build).
check_backups() {
  local data moment before after making database=${DATABASE_URL:-} redis=${REDIS_URL:-} started
  need_pgbackrest
  need_programs yes yes
  AT_EXIT="remove_services_beside $AT_EXIT"
  start_drill_services
  data=$(query_drill 'show data_directory')
  archive_continuously "$data"
  say "backing a house up during games, destroying it and restoring it to a point in time ($(run_pgbackrest version))"
  make_environment
  run_child "$BINARY" migrate || die "the migration failed: see above"
  run_pgbackrest backup --type full
  spawn run_pgbackrest backup --type incr
  making=$CHILD
  play_a_game "$DATABASE_URL" "$INSTANCE/first.log"
  await_child "$making" || die "the backup during a game failed: see above"
  before=$(verify_books)
  sleep 1
  moment=$(query_drill 'select now()')
  sleep 1
  play_a_game "$DATABASE_URL" "$INSTANCE/second.log"
  [ "$before" != "$(verify_books)" ] || die "nothing was booked after the point in time of the restore"
  # Ends the current WAL segment and waits until it has been archived.
  run_pgbackrest check
  lose_postgres "$data"
  started=$SECONDS
  # Only the archive and the backups are left now.
  run_pgbackrest restore --type time --target "$moment" --target-action promote
  services_beside start >/dev/null
  await_promotion
  say "restored in $((SECONDS - started)) s"
  after=$(verify_books)
  [ "$before" = "$after" ] || {
    diff <(echo "$before") <(echo "$after") >&2 || :
    die "the ledger differs from that of $moment: see above"
  }
  # Redis still has a game that the restored ledger lacks: another key prefix hides it.
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

# Creates the settings of pgBackRest, the backup repository and the archive beside the data, owned by the same
# user. Both are encrypted, as a remote repository would be.
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

# Runs pgBackRest as the owner of the data.
run_pgbackrest() {
  as_service "$PGBACKREST" --config "$BACKUPS/pgbackrest.conf" --stanza house "$@" >"$INSTANCE/backups.log" 2>&1 ||
    die "pgbackrest $1 failed: $(tail -n 2 "$INSTANCE/backups.log")"
  [ "$1" != version ] || cat "$INSTANCE/backups.log"
}

# Simulates the loss of the machine: PostgreSQL is killed without a chance to write, and its data is deleted.
# The lock file of its socket stays and names a live process of the same user, as it does if the process id
# has been reused since: here the process id of Redis.
lose_postgres() {
  local postmaster redis socket
  postmaster=$(head -n 1 "$1/postmaster.pid")
  redis=$(cat "${1%/*}/redis/redis.pid")
  socket=$(sed -n 5p "$1/postmaster.pid")/.s.PGSQL.5432
  end_process "$postmaster" KILL 20
  find "$1" -mindepth 1 -delete
  sed -i "1s/.*/$redis/" "$socket.lock"
}

# Waits until recovery from the archive has ended.
await_promotion() {
  local tries=0
  until [ "$(query_drill 'select pg_is_in_recovery()')" = f ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 300 ] || die "PostgreSQL has not come to the end of the archive"
    sleep 0.2
  done
}

# Prints the counts of the ledger's verification and the last seal of the chain. Ends the run on a difference.
verify_books() { run_child "$BINARY" verify ledger || die "the ledger has differences: see above"; }
