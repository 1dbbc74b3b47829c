# shellcheck shell=bash disable=SC2034,SC2154 # The other parts read the variables set here.
# A load test on this machine: a release build of the server with temporary services and data, and the load
# generator beside it. With two processors or more, the server has one of its own and the load generator has the
# others, so that the measured cost is the server's alone.
#
# BAHAY_SERVER_CPU and BAHAY_TESTER_CPU are processor lists as taskset takes them; `none` leaves the choice to the
# kernel. --nodes N (or BAHAY_NODES) starts N servers on the same services. Each has a processor of its own if one
# remains for the load generator, otherwise all share one; BAHAY_SERVER_CPU may list one for each, separated by
# spaces. PostgreSQL runs at the lower priority BAHAY_POSTGRES_NICE (10), because no move waits for it. Before
# `reads`, the database is filled with BAHAY_HISTORY_GAMES games (20,000). For `max`, the limit of commands is raised
# (BAHAY_COMMANDS_PER_SOCKET). For servers that run elsewhere, use the binary: bahay-lab loadtest --url URL.

cmd_loadtest() {
  local tester=none pin=() nodes=${BAHAY_NODES:-1} node processors
  local servers=(none) urls='' probes='' pids=''
  # The arguments of the binary.
  local arguments=()
  while [ $# -gt 0 ]; do
    case $1 in
      --nodes)
        nodes=${2:-}
        shift
        ;;
      --nodes=*) nodes=${1#--nodes=} ;;
      *) arguments+=("$1") ;;
    esac
    [ $# -eq 0 ] || shift
  done
  case $nodes in
    '' | *[!0-9]* | 0*) die "--nodes takes a positive number of servers, not '$nodes'" ;;
  esac
  set -- ${arguments[@]+"${arguments[@]}"}
  case " $* " in
    *' --help '* | *' -h '*)
      BAHAY_PROFILE=release build_lab
      run_in_terminal "$LAB_BINARY" loadtest --help
      return
      ;;
  esac
  BAHAY_PROFILE=release build_lab
  case " $* " in
    # Merging reports needs no server.
    *' --merge '*)
      cd "$CALLED_FROM" || exit
      run_in_terminal "$LAB_BINARY" loadtest "$@"
      return
      ;;
  esac
  BAHAY_PROFILE=release build
  enter_test_instance loadtest
  BAHAY_POSTGRES_NICE=${BAHAY_POSTGRES_NICE:-10}
  start_services
  make_environment
  export RUST_LOG=${BAHAY_LOG:-warn}
  # All connections of the load generator come from one address.
  export BAHAY_SEPARATE_SAME_NETWORK=${BAHAY_SEPARATE_SAME_NETWORK:-false}
  export BAHAY_NOT_READY_WAITS_S=${BAHAY_NOT_READY_WAITS_S:-0}
  case " $* " in
    *' max '*) export BAHAY_COMMANDS_PER_SOCKET=${BAHAY_COMMANDS_PER_SOCKET:-100000:100000} ;;
  esac
  # Each table uses three sockets, at both ends.
  ulimit -n "$(ulimit -Hn)" 2>/dev/null || :
  processors=$(getconf _NPROCESSORS_ONLN)
  if type -P taskset >/dev/null && [ "$processors" -ge 2 ]; then
    servers=(0)
    if [ "$processors" -gt "$nodes" ]; then
      for ((node = 1; node < nodes; node++)); do servers+=("$node"); done
    fi
    tester=${#servers[@]}-$((processors - 1))
  fi
  # shellcheck disable=SC2206 # Word splitting is intended.
  [ -z "${BAHAY_SERVER_CPU:-}" ] || servers=($BAHAY_SERVER_CPU)
  tester=${BAHAY_TESTER_CPU:-$tester}
  if [ "$nodes" -gt 1 ] && [ ${#servers[@]} -lt "$nodes" ]; then
    say "$nodes servers on processors ${servers[*]}: some share one, so only µs per move are comparable"
  fi
  run_child "$BINARY" migrate || die "the migration failed: see above"
  # Reads are measured on a house that has been open for some time.
  case " $* " in
    *' reads '*)
      say "filling the database with ${BAHAY_HISTORY_GAMES:-20000} games"
      run_child "$LAB_BINARY" generate-history --games "${BAHAY_HISTORY_GAMES:-20000}" >/dev/null ||
        die "the history could not be generated: see above"
      ;;
  esac
  for ((node = 0; node < nodes; node++)); do
    pin=()
    [ "${servers[node % ${#servers[@]}]}" = none ] ||
      pin=(taskset -c "${servers[node % ${#servers[@]}]}")
    start_loaded_server "$node" ${pin[@]+"${pin[@]}"}
    urls=${urls:+$urls,}$BAHAY_URL
    probes=${probes:+$probes,}$BAHAY_PROBE_URL
    pids=${pids:+$pids,}$SERVER
  done
  export BAHAY_URL=$urls BAHAY_PROBE_URL=$probes
  pin=()
  [ "$tester" = none ] || pin=(taskset -c "$tester")
  cd "$CALLED_FROM" || exit
  run_in_terminal ${pin[@]+"${pin[@]}"} "$LAB_BINARY" loadtest --pid "$pids" "$@"
}

# Like start_server, beside servers that may already run. $1 is the number of the server; the remaining
# arguments are a command prefix.
start_loaded_server() {
  local log=$INSTANCE/server.$1.log
  shift
  unset BAHAY_LISTEN BAHAY_PROBE_LISTEN
  choose_port 28080
  spawn "$@" "$BINARY" serve >"$log" 2>&1
  SERVER=$CHILD
  until port_answers "$LISTEN_HOST" "$LISTEN_PORT"; do
    process_start "$SERVER" >/dev/null || break
    sleep 0.1
  done
  release_port
  process_start "$SERVER" >/dev/null ||
    die "the server ended before it answered: $(tail -n 1 "$log")"
}
