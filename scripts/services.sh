# shellcheck shell=bash disable=SC2034 # The other parts read the variables set here.
# Private PostgreSQL and Redis: starting, sharing and stopping them.
#
# INSTANCE is the folder of one pair of services: pg/ and redis/ (data), run/ (Unix sockets; no service listens on
# TCP), log/, users/ (the processes that use the services), keep (keeps them running without users). `./dev up` and
# similar commands share one instance; every test run has its own. The first user starts the services, the last one
# stops them; a killed user does not count.
#
# A service is identified by the pid that it wrote itself and by a command line that contains our folder, so no
# other process is ever stopped, and no service is left running after kill -9.

# PostgreSQL refuses to run as root. As root, both services run as user postgres, or as nobody.
SERVICE_USER=''

choose_service_user() {
  local name
  SERVICE_USER=''
  [ "$(id -u)" = 0 ] || return 0
  for name in postgres nobody; do
    if id "$name" >/dev/null 2>&1; then
      SERVICE_USER=$name
      return 0
    fi
  done
  die "PostgreSQL refuses to run as root and there is no user postgres: add one with useradd"
}

# Runs a command as the user of the services, from a folder that every user can enter.
as_service() (
  cd /
  if [ -z "$SERVICE_USER" ]; then
    exec "$@"
  elif type -P setpriv >/dev/null; then
    exec setpriv --reuid "$(id -u "$SERVICE_USER")" --regid "$(id -g "$SERVICE_USER")" \
      --clear-groups "$@"
  elif type -P runuser >/dev/null; then
    exec runuser -u "$SERVICE_USER" -- "$@"
  else
    # shellcheck disable=SC2016 # Expanded by the inner shell.
    exec su -s /bin/sh "$SERVICE_USER" -c '"$0" "$@"' -- "$@"
  fi
)

# Prints a number that identifies this checkout in names outside of it.
checkout_hash() { printf '%s' "$1" | cksum | cut -d ' ' -f 1; }

# Chooses the folder of the services. Sets SERVICES_HOME and PROGRAMS.
choose_home() {
  mkdir -p "$LOCAL"
  SERVICES_HOME=$LOCAL
  if [ "$(id -u)" = 0 ]; then
    choose_service_user
    chmod 711 "$LOCAL"
    if ! as_service test -x "$LOCAL"; then
      SERVICES_HOME=/var/tmp/bahay-$(checkout_hash "$LOCAL")
      mkdir -p "$SERVICES_HOME"
      if [ -L "$SERVICES_HOME" ] || [ ! -O "$SERVICES_HOME" ]; then
        die "$SERVICES_HOME belongs to another user: set BAHAY_LOCAL to a folder of your own"
      fi
      chmod 711 "$SERVICES_HOME"
      HOME_NOTICE="data in $SERVICES_HOME, because user $SERVICE_USER cannot enter $ROOT"
    fi
  else
    chmod 700 "$LOCAL"
  fi
  PROGRAMS=$SERVICES_HOME/programs
  MEMORY_HOME=/dev/shm/bahay-$(id -u)-$(checkout_hash "$LOCAL")
}
HOME_NOTICE=''

# Sets TESTS_HOME, the folder of the instances of test runs. Every test creates a database of some 600 files, which
# takes a seventh of the time in memory; so `memory` as $1 chooses memory where it has room, and `disk` the disk.
choose_tests_home() {
  TESTS_HOME=$SERVICES_HOME/test
  if [ "$1" = memory ] && memory_has_room && mkdir -p "$MEMORY_HOME" 2>/dev/null && owns_memory_home; then
    # The user of the services passes through it, where that is another one.
    if [ -n "$SERVICE_USER" ]; then chmod 711 "$MEMORY_HOME"; else chmod 700 "$MEMORY_HOME"; fi
    TESTS_HOME=$MEMORY_HOME
  fi
}

# Succeeds if the filesystem in memory has 4 GiB left, and the machine 8 GiB, or the container where its memory
# is limited.
memory_has_room() {
  local free limit
  [ -w /dev/shm ] && [ -r /proc/meminfo ] || return 1
  free=$(df -Pk /dev/shm | awk 'NR == 2 { print $4 }')
  [ "${free:-0}" -ge 4194304 ] || return 1
  free=$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)
  [ "${free:-0}" -ge 8388608 ] || return 1
  limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null || echo max)
  [ "$limit" = max ] || [ "$((limit / 1024))" -ge 8388608 ]
}

# Succeeds if MEMORY_HOME is a folder of this user, since everybody may create names in its parent.
owns_memory_home() { [ -d "$MEMORY_HOME" ] && [ ! -L "$MEMORY_HOME" ] && [ -O "$MEMORY_HOME" ]; }

# Prints the folders of all test instances of this checkout.
test_instances() {
  local folder
  for folder in "$SERVICES_HOME"/test/* "$MEMORY_HOME"/*; do
    case $folder in "$MEMORY_HOME"/*) owns_memory_home || continue ;; esac
    [ ! -d "$folder" ] || printf '%s\n' "$folder"
  done
}

# Makes $1 the current instance, to which the functions below refer.
use_instance() {
  INSTANCE=$1
  SOCKETS=$INSTANCE/run
  # A socket address holds 107 bytes, 103 on macOS, and the name of PostgreSQL's socket takes 15.
  if [ "$(printf '%s' "$SOCKETS" | wc -c)" -gt 88 ]; then
    SOCKETS=/tmp/bahay-$(id -u)-$(checkout_hash "$INSTANCE")
  fi
  REDIS_SOCKET=$SOCKETS/redis.sock
}

# Creates the folders of the instance, owned by the user of the services and closed to others.
make_folders() {
  local folder
  mkdir -p "$INSTANCE/users"
  [ -z "$SERVICE_USER" ] || chmod 711 "$INSTANCE"
  for folder in "$INSTANCE/redis" "$INSTANCE/log"; do
    mkdir -p "$folder"
    chmod 700 "$folder"
    give_to_service_user "$folder"
  done
  if [ "$SOCKETS" = "$INSTANCE/run" ]; then
    mkdir -p "$SOCKETS"
    chmod 700 "$SOCKETS"
    give_to_service_user "$SOCKETS"
  else
    # shellcheck disable=SC2174 # Its parent is /tmp.
    as_service mkdir -p -m 700 "$SOCKETS"
  fi
  # In /tmp another user may have created the folder before.
  # shellcheck disable=SC2016 # Expanded by the inner shell.
  as_service sh -c '[ ! -L "$1" ] && [ -O "$1" ]' sh "$SOCKETS" ||
    die "$SOCKETS belongs to another user: set BAHAY_LOCAL to a folder with a shorter path"
}

# Changes the owner of $1 recursively, since the services may have run as another user before.
give_to_service_user() { [ -z "$SERVICE_USER" ] || chown -R "$SERVICE_USER" "$1"; }

# Prints the pid of the running service $1 (postgres or redis), or fails.
service_pid() {
  local pid mark
  case $1 in
    postgres) pid=$(head -n 1 "$INSTANCE/pg/postmaster.pid" 2>/dev/null) mark=$INSTANCE/pg ;;
    redis) pid=$(cat "$INSTANCE/redis/redis.pid" 2>/dev/null) mark=$INSTANCE/redis/redis.pid ;;
  esac
  [ -n "${pid:-}" ] || return 1
  case $(process_command "$pid") in
    *"$mark"*) printf '%s\n' "$pid" ;;
    *) return 1 ;;
  esac
}

start_postgres() {
  local log=$INSTANCE/log/postgres.log tries=0
  ! service_pid postgres >/dev/null || return 0
  if [ ! -f "$INSTANCE/pg/PG_VERSION" ]; then
    # initdb writes to a temporary folder, which is renamed, so that an interrupted initdb never leaves
    # partial data.
    rm -rf "$INSTANCE/pg" "$INSTANCE/pg.new"
    mkdir -m 700 "$INSTANCE/pg.new"
    give_to_service_user "$INSTANCE/pg.new"
    as_service env LC_ALL=C "$PG_BIN/initdb" --pgdata "$INSTANCE/pg.new" --username bahay \
      --auth trust --locale C --encoding UTF8 --no-instructions >"$INSTANCE/initdb.log" 2>&1 ||
      die "initdb failed: $(tail -n 1 "$INSTANCE/initdb.log") (see $INSTANCE/initdb.log)"
    mv "$INSTANCE/pg.new" "$INSTANCE/pg"
  fi
  give_to_service_user "$INSTANCE/pg"
  cat >"$INSTANCE/pg/postgresql.conf" <<CONF
# Written by ./dev at every start.
listen_addresses = ''
port = 5432
unix_socket_directories = '${SOCKETS//\'/\'\'}'
unix_socket_permissions = 0700
max_connections = 200
jit = off
timezone = 'GMT'
log_timezone = 'GMT'
CONF
  # A killed server leaves the lock file of its socket, whose process id may have been reused. The folder
  # belongs to this instance alone, and no server runs on its data.
  rm -f "$SOCKETS/.s.PGSQL.5432" "$SOCKETS/.s.PGSQL.5432.lock"
  until as_service nice -n "${BAHAY_POSTGRES_NICE:-0}" env LC_ALL=C "$PG_BIN/pg_ctl" start \
    --silent --wait --timeout 60 \
    --pgdata "$INSTANCE/pg" --log "$log" \
    >"$INSTANCE/start.log" 2>&1 </dev/null; do
    # A killed server blocks a new one for a moment: its children hold the shared memory, and its process id
    # exists until its parent has collected its status.
    tries=$((tries + 1))
    if [ "$tries" -ge 100 ] || ! tail -n 3 "$log" |
      grep -qE 'pre-existing shared memory block|"postmaster.pid" already exists'; then
      die "PostgreSQL did not start: $(grep -s FATAL "$log" | tail -n 1) (see $log)"
    fi
    sleep 0.1
  done
  create_database bahay
}

# Creates database $1 if it does not exist.
create_database() {
  local url found
  url=$(postgres_url postgres)
  found=$("$PG_BIN/psql" -XAtq "$url" -c "select 1 from pg_database where datname = '$1'")
  if [ "$found" != 1 ]; then
    "$PG_BIN/psql" -XAtq "$url" -c "create database $1" ||
      die "could not create the database $1"
  fi
}

# Creates a database for check $1 in the running services and exports its URL with a key prefix, so that the check does
# not see data of other checks and servers of this instance. The caller makes DATABASE_URL and BAHAY_REDIS_PREFIX local.
use_own_database() {
  "${PG_BIN:+$PG_BIN/}psql" -XAtq "$DATABASE_URL" -c "create database $1_$$" || die "could not create a database for $1"
  export DATABASE_URL=${DATABASE_URL%/*}/$1_$$ BAHAY_REDIS_PREFIX=$1$$
}

start_redis() {
  local tries=0
  ! service_pid redis >/dev/null || return 0
  as_service env LC_ALL=C "$REDIS_SERVER" --port 0 --unixsocket "$REDIS_SOCKET" \
    --unixsocketperm 700 --dir "$INSTANCE/redis" --appendonly yes --save '' --daemonize yes \
    --set-proc-title no --pidfile "$INSTANCE/redis/redis.pid" --logfile "$INSTANCE/log/redis.log" \
    >"$INSTANCE/start.log" 2>&1 </dev/null ||
    die "Redis did not start: $(tail -n 1 "$INSTANCE/start.log") (see $INSTANCE/log/redis.log)"
  until [ "$("$REDIS_CLI" -s "$REDIS_SOCKET" ping 2>/dev/null)" = PONG ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 600 ] || die "Redis did not answer for 30 s: see $INSTANCE/log/redis.log"
    sleep 0.05
  done
}

# Stops PostgreSQL by a fast shutdown (INT) and Redis by its ordinary one (TERM). The data stays.
stop_services() {
  local pid
  if pid=$(service_pid redis); then end_process "$pid" TERM 20; fi
  if pid=$(service_pid postgres); then end_process "$pid" INT 30; fi
  if [ "$SOCKETS" != "$INSTANCE/run" ]; then rm -rf "$SOCKETS"; fi
}

# Percent-encodes a path as the host of a URL: all characters except letters, digits and ._- become %XX.
percent_encode() {
  local LC_ALL=C text=$1 out='' char i
  for ((i = 0; i < ${#text}; i++)); do
    char=${text:i:1}
    case $char in
      [a-zA-Z0-9._-]) out=$out$char ;;
      *) out=$out$(printf '%%%02X' "'$char" | sed 's/FFFFFFFFFFFFFF//') ;;
    esac
  done
  printf '%s\n' "$out"
}

# Both sqlx and libpq accept the socket's folder as a percent-encoded host.
postgres_url() { printf 'postgres://bahay@%s/%s\n' "$(percent_encode "$SOCKETS")" "$1"; }
redis_url() { printf 'redis+unix://%s\n' "$(percent_encode "$REDIS_SOCKET" | sed 's/%2F/\//g')"; }

# Users of the instance: users/PID contains "PID START COMMAND".

# Prints "PID COMMAND" of every other live user, and removes the entries of dead ones.
other_users() {
  local file pid
  for file in "$INSTANCE"/users/*; do
    [ -f "$file" ] || continue
    if ! pid=$(read_live_pid "$file"); then
      rm -f "$file"
    elif [ "$pid" != $$ ]; then
      printf '%s %s\n' "$pid" "$(cut -d ' ' -f 3- "$file")"
    fi
  done
}

# Registers ./dev $1 as a user of the instance. Only one command that runs a server (up, demo) is permitted.
join_instance() {
  local rival
  choose_service_user
  mkdir -p "$INSTANCE/users"
  lock "$INSTANCE/lock"
  AT_EXIT="$AT_EXIT leave_instance"
  case $1 in
    up | demo)
      rival=$(other_users | grep -E ' (up|demo)$' || :)
      [ -z "$rival" ] ||
        die "./dev ${rival#* } runs here already (process ${rival%% *}): use it, or ./dev down"
      ;;
  esac
  printf '%s %s\n' "$(print_identity $$)" "$1" >"$INSTANCE/users/$$"
  unlock "$INSTANCE/lock"
}

# Stops the services if no other user needs them.
leave_instance() {
  # An interrupt may have come while this process held the lock.
  unlock "$INSTANCE/lock"
  lock "$INSTANCE/lock"
  rm -f "$INSTANCE/users/$$"
  if [ ! -f "$INSTANCE/keep" ] && [ -z "$(other_users)" ]; then stop_services; fi
  unlock "$INSTANCE/lock"
}

# Starts the services that do not run, except those for which the environment provides a URL.
start_services() {
  local want_pg=yes want_redis=yes
  [ -z "$GIVEN_DATABASE_URL" ] || want_pg=no
  [ -z "$GIVEN_REDIS_URL" ] || want_redis=no
  if [ "$want_pg$want_redis" != nono ]; then
    need_programs "$want_pg" "$want_redis"
    # The installation may have created user postgres.
    choose_service_user
    lock "$INSTANCE/lock"
    make_folders
    if [ "$want_pg" = yes ]; then start_postgres; fi
    if [ "$want_redis" = yes ]; then start_redis; fi
    unlock "$INSTANCE/lock"
  fi
  DATABASE_URL=${GIVEN_DATABASE_URL:-$(postgres_url bahay)}
  REDIS_URL=${GIVEN_REDIS_URL:-$(redis_url)}
  export DATABASE_URL REDIS_URL
}

# Stops and removes the instances of killed test runs.
sweep_tests() {
  local folder
  test_instances | while read -r folder; do
    ! read_live_pid "$folder/owner" >/dev/null || continue
    (use_instance "$folder" && stop_services) </dev/null
    # See services_beside.
    [ ! -d "$folder/installation" ] || (use_instance "$folder/installation" && stop_services) </dev/null
    rm -rf "$folder"
  done
}

# Runs services beside those of the instance, regardless of URLs in the environment: `start` prints the lines
# to export, `stop` stops them. They share the installed programs.
services_beside() {
  mkdir -p "$INSTANCE/installation" "$PROGRAMS"
  [ -e "$INSTANCE/installation/programs" ] || ln -s "$PROGRAMS" "$INSTANCE/installation/programs"
  run_child env -u DATABASE_URL -u REDIS_URL BAHAY_LOCAL="$INSTANCE/installation" ./dev services "$1"
}

# Stops the additional services and deletes their data.
remove_services_beside() {
  services_beside stop >/dev/null 2>&1 || :
  rm -rf "$INSTANCE/installation"
}
