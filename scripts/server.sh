# shellcheck shell=bash disable=SC2034 # The other parts read the variables set here.
# The server as a developer runs it: build, migration, start, and a demo.
#
# Two files describe the server of `./dev up`: server.pid (the process) and url (its address). The environment set
# here is the whole interface between ./dev and the binary.

# Builds the server and sets BINARY. Queries are checked against .sqlx, so no database is needed.
build() {
  build_program bahay "$@"
  BINARY=$BUILT
}

# Builds the laboratory and sets LAB_BINARY.
build_lab() {
  build_program bahay-lab "$@"
  LAB_BINARY=$BUILT
}

# Builds program $1 with the remaining arguments of cargo, and sets BUILT.
build_program() {
  type -P cargo >/dev/null || die "cargo is missing: install Rust from https://rustup.rs"
  local profile=${BAHAY_PROFILE:-dev} name=$1 folder
  shift
  # A run within another run uses the programs that the outer one has built.
  if [ -n "${BAHAY_BUILT:-}" ]; then
    BUILT=${BAHAY_BUILT%/*}/$name
    return 0
  fi
  # With --workspace, features are unified as for the tests, so that dependencies are not compiled twice.
  run_child cargo build --profile "$profile" --workspace --bin "$name" "$@" ||
    die "the build failed: fix what cargo says above"
  folder=$profile
  [ "$profile" != dev ] || folder=debug
  BUILT=$(built_program "$folder" "$name")
}

# Prints the absolute path of program $2 in folder $1 of cargo's target folder.
built_program() {
  local path=${CARGO_TARGET_DIR:-target}/$1/$2
  case $path in /*) ;; *) path=$ROOT/$path ;; esac
  printf '%s\n' "$path"
}

# Compiles without incremental state in a checkout that has none: a first build takes less time and half the disk.
# `./dev up` and cargo write this state, and later checks use it.
choose_incremental() {
  local state
  state=$(built_program debug incremental)
  [ -n "${CARGO_INCREMENTAL:-}" ] || [ -n "$(ls -A "$state" 2>/dev/null)" ] || export CARGO_INCREMENTAL=0
}

# Sets the binary's remaining environment; DATABASE_URL and REDIS_URL come from start_services.
make_environment() {
  if [ -z "${BAHAY_SIGNING_SECRET:-}" ]; then
    if [ ! -s "$LOCAL/secret" ]; then
      (umask 077 && od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$LOCAL/secret.$$")
      mv "$LOCAL/secret.$$" "$LOCAL/secret"
    fi
    BAHAY_SIGNING_SECRET=$(cat "$LOCAL/secret")
  fi
  export BAHAY_SIGNING_SECRET RUST_LOG="${RUST_LOG:-info}"
  # A production house needs keys of its own here.
  export BAHAY_SECOND_FACTOR_KEYS="${BAHAY_SECOND_FACTOR_KEYS:-$BAHAY_SIGNING_SECRET}"
  # All clients of a developer, load tests included, share one address.
  local many=100000:100000
  export BAHAY_CONNECTIONS_PER_ADDRESS="${BAHAY_CONNECTIONS_PER_ADDRESS:-100000}"
  export BAHAY_SOCKETS_PER_ADDRESS="${BAHAY_SOCKETS_PER_ADDRESS:-100000}"
  export BAHAY_UNAUTHENTICATED_SOCKETS_PER_ADDRESS="${BAHAY_UNAUTHENTICATED_SOCKETS_PER_ADDRESS:-100000}"
  export BAHAY_SOCKET_HANDSHAKES_PER_ACCOUNT="${BAHAY_SOCKET_HANDSHAKES_PER_ACCOUNT:-$many}"
  export BAHAY_REQUESTS_PER_ADDRESS="${BAHAY_REQUESTS_PER_ADDRESS:-$many}"
  export BAHAY_REQUESTS_PER_ACCOUNT="${BAHAY_REQUESTS_PER_ACCOUNT:-$many}"
  # All players of a developer share one address.
  export BAHAY_SEPARATE_SAME_NETWORK="${BAHAY_SEPARATE_SAME_NETWORK:-false}"
  export BAHAY_NOT_READY_WAITS_S="${BAHAY_NOT_READY_WAITS_S:-0}"
  export BAHAY_SIGN_INS_PER_ADDRESS="${BAHAY_SIGN_INS_PER_ADDRESS:-$many}"
  export BAHAY_WELCOMES_PER_NETWORK="${BAHAY_WELCOMES_PER_NETWORK:-0}"
  export BAHAY_RELIEFS_PER_NETWORK="${BAHAY_RELIEFS_PER_NETWORK:-0}"
}

# Succeeds if a process listens on TCP port $2 of host $1.
port_answers() { (exec 3<>"/dev/tcp/$1/$2") 2>/dev/null; }

# Sets BAHAY_LISTEN to the first free port from $1 on, unless the environment sets it. A lock prevents another
# ./dev from choosing the same port before the server has bound it.
PORT_LOCK=/tmp/bahay-port-$(id -u).lock
choose_port() {
  local port=$1 chosen=no
  if [ -z "${BAHAY_LISTEN:-}" ]; then
    AT_EXIT="release_port $AT_EXIT"
    lock "$PORT_LOCK"
    while port_answers 127.0.0.1 "$port"; do port=$((port + 1)); done
    [ "$port" = "$1" ] ||
      say "port $1 is taken: using $port (BAHAY_LISTEN=127.0.0.1:PORT chooses another)"
    BAHAY_LISTEN=127.0.0.1:$port
    chosen=yes
  fi
  export BAHAY_LISTEN
  LISTEN_PORT=${BAHAY_LISTEN##*:}
  LISTEN_HOST=${BAHAY_LISTEN%:*}
  case $LISTEN_HOST in 0.0.0.0 | '[::]' | '') LISTEN_HOST=127.0.0.1 ;; esac
  [ "${LISTEN_PORT:-0}" -gt 0 ] 2>/dev/null ||
    die "BAHAY_LISTEN=$BAHAY_LISTEN names no port: write it as 127.0.0.1:8080"
  BAHAY_URL=http://$LISTEN_HOST:$LISTEN_PORT
  # Without TLS, browsers return the desk's cookies only if the desk declares plain HTTP, which it may on a
  # loopback address alone.
  case $LISTEN_HOST in
    127.* | '[::1]')
      export BAHAY_DEVELOPMENT="${BAHAY_DEVELOPMENT:-true}"
      export BAHAY_DESK_PLAIN_HTTP="${BAHAY_DESK_PLAIN_HTTP:-true}"
      ;;
  esac
  LISTEN_HOST=${LISTEN_HOST#[}
  LISTEN_HOST=${LISTEN_HOST%]}
  export BAHAY_URL
  choose_probe_port 19180
  # Links to private tables point to the client that this server delivers.
  export BAHAY_INVITE_BASE="${BAHAY_INVITE_BASE:-$BAHAY_URL/play/join}"
  if [ "$chosen" = no ] && port_answers "$LISTEN_HOST" "$LISTEN_PORT"; then
    die "BAHAY_LISTEN=$BAHAY_LISTEN is taken: stop the process that listens there, or choose another port"
  fi
}

# Sets BAHAY_PROBE_LISTEN, the address for supervisors, to the first free port from $1 on, unless the
# environment sets it.
choose_probe_port() {
  local port=$1
  if [ -z "${BAHAY_PROBE_LISTEN:-}" ]; then
    while port_answers 127.0.0.1 "$port"; do port=$((port + 1)); done
    BAHAY_PROBE_LISTEN=127.0.0.1:$port
  fi
  BAHAY_PROBE_URL=http://$BAHAY_PROBE_LISTEN
  export BAHAY_PROBE_LISTEN BAHAY_PROBE_URL
}

release_port() { unlock "$PORT_LOCK"; }

# Migrates, starts the server on a port from $1 on, and waits until it accepts connections. With $2, its
# output goes to that file. Sets SERVER.
start_server() {
  choose_port "$1"
  run_child "$BINARY" migrate || die "the migration failed: see above; ./dev reset starts afresh"
  if [ -n "${2:-}" ]; then
    spawn "$BINARY" serve >"$2" 2>&1
  else
    spawn "$BINARY" serve
  fi
  SERVER=$CHILD
  print_identity "$SERVER" >"$LOCAL/server.pid" || :
  until port_answers "$LISTEN_HOST" "$LISTEN_PORT"; do
    process_start "$SERVER" >/dev/null || break
    sleep 0.1
  done
  release_port
  if ! process_start "$SERVER" >/dev/null; then
    forget_server
    die "the server ended before it answered: see ${2:-the lines above}"
  fi
  printf '%s\n' "$BAHAY_URL" >"$LOCAL/url"
  AT_EXIT="forget_server $AT_EXIT"
}

# Plays a game up to its POT on a temporary server with the database login of URL $1. Its output goes to file
# $2. The remaining arguments are a command prefix that is given the command of the game and runs it; BAHAY_SERVER
# is the process of the server, which it may stop. Requires LAB_BINARY (see build_lab).
play_a_game() {
  local given=${BAHAY_LISTEN:-} links=${BAHAY_INVITE_BASE:-} server log=$2
  unset BAHAY_LISTEN
  choose_port 18580
  spawn env RUST_LOG=warn DATABASE_URL="$1" "$BINARY" serve >"$log" 2>&1
  server=$CHILD
  shift 2
  until port_answers "$LISTEN_HOST" "$LISTEN_PORT"; do
    process_start "$server" >/dev/null || die "the server ended: $(tail -n 3 "$log")"
    sleep 0.1
  done
  release_port
  BAHAY_SERVER=$server run_child "$@" "$LAB_BINARY" demo --url "$BAHAY_URL" >"$INSTANCE/demo.log" 2>&1 ||
    die "the demo game, or the drill around it, failed: $(tail -n 1 "$INSTANCE/demo.log")"
  end_process "-$server" TERM 20
  # The next server that is started chooses an address of its own.
  unset BAHAY_LISTEN BAHAY_INVITE_BASE BAHAY_URL
  [ -z "$given" ] || export BAHAY_LISTEN=$given
  [ -z "$links" ] || export BAHAY_INVITE_BASE=$links
}

forget_server() { rm -f "$LOCAL/server.pid" "$LOCAL/url"; }

# Prints the address of the server that runs from this checkout, or fails.
running_url() {
  read_live_pid "$LOCAL/server.pid" >/dev/null && cat "$LOCAL/url" 2>/dev/null
}

# Stops a server whose ./dev was killed, so that it does not compete with the new one.
stop_orphaned_server() {
  local pid
  if pid=$(read_live_pid "$LOCAL/server.pid"); then
    say "stopping the server that an interrupted ./dev left behind (process $pid)"
    end_process "-$pid" TERM 20
  fi
  forget_server
}

cmd_up() {
  local status=0
  join_instance up
  stop_orphaned_server
  build
  start_services
  make_environment
  # A single developer plays with bots, without waiting for other players first.
  export BAHAY_BOTS=${BAHAY_BOTS:-12} BAHAY_BOTS_AFTER_S=${BAHAY_BOTS_AFTER_S:-0}
  start_server 8080
  [ -z "$HOME_NOTICE" ] || say "$HOME_NOTICE"
  cat <<READY

  play                              $BAHAY_URL/play

  bahay is up: $BAHAY_URL

    the API, to read and to try     $BAHAY_URL/docs
    watch a whole game              ./dev demo
    look behind the scenes          ./dev psql, ./dev redis
    sign in as a guest              curl $BAHAY_URL/v1/sign-in/guest \\
                                      -H 'content-type: application/json' \\
                                      -d '{"device_id": "a-device-of-mine", "name": "Ana"}'

  Ctrl-C stops everything; the data stays until ./dev reset.

READY
  await_child "$SERVER" || status=$?
  say "the server ended by itself with status $status"
  exit "$status"
}

# Runs the demo on the running server, or on one that is started for the demo.
cmd_demo() {
  if BAHAY_URL=$(running_url); then
    join_instance client
    export BAHAY_URL
    build_lab
    start_services
    make_environment
  else
    join_instance demo
    stop_orphaned_server
    build
    build_lab
    start_services
    make_environment
    # The server's log would disturb the picture.
    start_server 18080 "$LOCAL/server.log"
  fi
  run_in_terminal "$LAB_BINARY" demo "$@"
}

# Runs any subcommand of the server's binary in the environment of this checkout.
cmd_run() {
  [ $# -gt 0 ] || die "the subcommand is missing: ./dev run verify game.json, or ./dev run help"
  join_instance run
  # Development builds leave the exporter of events out.
  if [ "$1" = events ]; then build --features bahay/events; else build; fi
  run_subcommand "$BINARY" "$@"
}

# Runs any subcommand of the laboratory in the environment of this checkout.
cmd_lab() {
  [ $# -gt 0 ] || die "the subcommand is missing: ./dev lab simulate, or ./dev lab help"
  join_instance lab
  build_lab
  run_subcommand "$LAB_BINARY" "$@"
}

run_subcommand() {
  start_services
  make_environment
  if BAHAY_URL=$(running_url); then export BAHAY_URL; else unset BAHAY_URL; fi
  if [ "$2" = serve ]; then
    choose_port 8080
    release_port
  fi
  # Relative paths in the arguments refer to the caller's directory.
  cd "$CALLED_FROM" || exit
  run_in_terminal "$@"
}
