# shellcheck shell=bash disable=SC2034,SC2154 # What is set here is read by the other parts.
# A load test of this machine: a release build of the server with services and data of its own, all
# thrown away at the end, and the tester beside it. With two processors or more the server has one
# to itself and the tester the others, so that what is measured is the server's own.
#
# BAHAY_SERVER_CPU and BAHAY_TESTER_CPU name processors in the words of taskset; `none` leaves it to
# the kernel. --nodes N (or BAHAY_NODES) starts N servers on the same services. Each has a processor of
# its own where that leaves one to the tester, else all share one; BAHAY_SERVER_CPU may name one for
# each, with spaces between them. PostgreSQL comes after the others where processors are short, by
# BAHAY_POSTGRES_NICE (10): nobody waits for it in mid-game. Before `reads` the database is filled with
# BAHAY_HISTORY_GAMES games (20,000). Against servers that run elsewhere use the binary: bahay loadtest --url URL.

cmd_loadtest() {
  local tester=none pin=() nodes=${BAHAY_NODES:-1} node processors
  local servers=(none) urls='' probes='' pids=''
  # What is said to the binary.
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
    '' | *[!0-9]* | 0*) die "--nodes takes a number of servers from 1 on, not '$nodes'" ;;
  esac
  set -- ${arguments[@]+"${arguments[@]}"}
  case " $* " in
    *' --help '* | *' -h '*)
      BAHAY_PROFILE=release build
      run_in_terminal "$BINARY" loadtest --help
      return
      ;;
  esac
  BAHAY_PROFILE=release build
  case " $* " in
    # Nothing is played.
    *' --merge '*)
      cd "$CALLED_FROM" || exit
      run_in_terminal "$BINARY" loadtest "$@"
      return
      ;;
  esac
  enter_test_instance loadtest
  BAHAY_POSTGRES_NICE=${BAHAY_POSTGRES_NICE:-10}
  start_services
  make_environment
  export RUST_LOG=${BAHAY_LOG:-warn}
  # The tester has one address.
  export BAHAY_SEPARATE_SAME_NETWORK=${BAHAY_SEPARATE_SAME_NETWORK:-false}
  export BAHAY_NOT_READY_WAITS_S=${BAHAY_NOT_READY_WAITS_S:-0}
  # Three sockets a table, at both ends.
  ulimit -n "$(ulimit -Hn)" 2>/dev/null || :
  processors=$(getconf _NPROCESSORS_ONLN)
  if type -P taskset >/dev/null && [ "$processors" -ge 2 ]; then
    servers=(0)
    if [ "$processors" -gt "$nodes" ]; then
      for ((node = 1; node < nodes; node++)); do servers+=("$node"); done
    fi
    tester=${#servers[@]}-$((processors - 1))
  fi
  # shellcheck disable=SC2206 # Words are what is wanted.
  [ -z "${BAHAY_SERVER_CPU:-}" ] || servers=($BAHAY_SERVER_CPU)
  tester=${BAHAY_TESTER_CPU:-$tester}
  if [ "$nodes" -gt 1 ] && [ ${#servers[@]} -lt "$nodes" ]; then
    say "$nodes servers on processors ${servers[*]}: some share one, so only µs a move can be compared"
  fi
  run_child "$BINARY" migrate || die "the migration failed: see above"
  # Reads are of a house that has been open for some time.
  case " $* " in
    *' reads '*)
      say "filling the database with ${BAHAY_HISTORY_GAMES:-20000} games"
      run_child "$BINARY" generate-history --games "${BAHAY_HISTORY_GAMES:-20000}" >/dev/null ||
        die "no history was made: see above"
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
  run_in_terminal ${pin[@]+"${pin[@]}"} "$BINARY" loadtest --pid "$pids" "$@"
}

# As start_server, beside others that may run already: server number $1, started with the words after.
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
