# shellcheck shell=bash disable=SC2034,SC2154 # What is set here is read by the other parts.
# A load test of this machine: a release build of the server with services and data of its own, all
# thrown away at the end, and the tester beside it. With two processors or more the server has one
# to itself and the tester the others, so that what is measured is the server's own.
#
# BAHAY_SERVER_CPU and BAHAY_TESTER_CPU name processors in the words of taskset; `none` leaves it to
# the kernel. Before `reads` the database is filled with BAHAY_HISTORY_GAMES games (20,000). Against a server that runs elsewhere use the binary: bahay loadtest --url URL.

cmd_loadtest() {
  local server=none tester=none pin=()
  case " $* " in
    *' --help '* | *' -h '*)
      BAHAY_PROFILE=release build
      attend_here "$BINARY" loadtest --help
      return
      ;;
  esac
  BAHAY_PROFILE=release build
  case " $* " in
    # Nothing is played.
    *' --merge '*)
      cd "$CALLED_FROM" || exit
      attend_here "$BINARY" loadtest "$@"
      return
      ;;
  esac
  enter_test_instance loadtest
  start_services
  make_environment
  export RUST_LOG=${BAHAY_LOG:-warn}
  # The tester has one address.
  export BAHAY_APART_BY_ADDRESS=${BAHAY_APART_BY_ADDRESS:-false}
  # Three sockets a table, at both ends.
  ulimit -n "$(ulimit -Hn)" 2>/dev/null || :
  if type -P taskset >/dev/null && [ "$(getconf _NPROCESSORS_ONLN)" -ge 2 ]; then
    server=0
    tester=1-$(($(getconf _NPROCESSORS_ONLN) - 1))
  fi
  server=${BAHAY_SERVER_CPU:-$server}
  tester=${BAHAY_TESTER_CPU:-$tester}
  [ "$server" = none ] || pin=(taskset -c "$server")
  attend "$BINARY" migrate || die "the migration failed: see above"
  # Reads are of a house that has been open for some time.
  case " $* " in
    *' reads '*)
      say "filling the database with ${BAHAY_HISTORY_GAMES:-20000} games"
      attend "$BINARY" generate-history --games "${BAHAY_HISTORY_GAMES:-20000}" >/dev/null ||
        die "no history was made: see above"
      ;;
  esac
  start_loaded_server ${pin[@]+"${pin[@]}"}
  pin=()
  [ "$tester" = none ] || pin=(taskset -c "$tester")
  cd "$CALLED_FROM" || exit
  attend_here ${pin[@]+"${pin[@]}"} "$BINARY" loadtest --pid "$SERVER" "$@"
}

# As start_server, beside one that may run already.
start_loaded_server() {
  unset BAHAY_LISTEN
  choose_port 28080
  spawn "$@" "$BINARY" serve >"$INSTANCE/server.log" 2>&1
  SERVER=$CHILD
  until port_answers "$LISTEN_HOST" "$LISTEN_PORT"; do
    process_start "$SERVER" >/dev/null || break
    sleep 0.1
  done
  release_port
  process_start "$SERVER" >/dev/null ||
    die "the server ended before it answered: $(tail -n 1 "$INSTANCE/server.log")"
}
