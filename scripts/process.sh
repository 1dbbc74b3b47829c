# shellcheck shell=bash disable=SC2034 # The other parts read the variables set here.
# Messages, processes and locks, used by every other part of ./dev.
#
# A process is identified as "PID START", where START is the time at which the kernel started it, so that a reused
# process id is never mistaken for ours. Long commands run as children in process groups of their own: Ctrl-C
# reaches ./dev alone, which stops them in the right order. All functions work with the bash 3.2 of macOS and
# without procps.

say() { printf 'dev: %s\n' "$*" >&2; }

# Prints one line that names the problem and the remedy, and exits.
die() {
  say "$*"
  exit 1
}

# Prints the start time of process $1. Fails if it does not exist or is a zombie.
process_start() {
  local line
  if [ -r /proc/self/stat ]; then
    { read -r line <"/proc/$1/stat"; } 2>/dev/null || return 1
    # The second field is a name in parentheses that may contain spaces; the fields after it are counted.
    line=${line##*) }
    # shellcheck disable=SC2086 # Word splitting is intended: these are the kernel's fields.
    set -- $line
    [ "$1" != Z ] || return 1
    printf '%s\n' "${20}"
  else
    line=$(LC_ALL=C ps -o stat=,lstart= -p "$1" 2>/dev/null | tr -s ' ' _) || return 1
    case $line in '' | Z* | _Z*) return 1 ;; esac
    printf '%s\n' "${line#*_}"
  fi
}

# Prints the command line of process $1, or nothing.
process_command() {
  if [ -r /proc/self/cmdline ]; then
    { tr '\0' ' ' <"/proc/$1/cmdline"; } 2>/dev/null || :
  else
    ps -ww -o args= -p "$1" 2>/dev/null || :
  fi
}

# Prints "PID START" of process $1.
print_identity() {
  local start
  start=$(process_start "$1") || return 1
  printf '%s %s\n' "$1" "$start"
}

# Prints the pid at the beginning of file $1 if that process is still alive.
read_live_pid() {
  local pid start _rest
  { read -r pid start _rest <"$1"; } 2>/dev/null || return 1
  [ -n "$pid" ] && [ "$(process_start "$pid")" = "$start" ] || return 1
  printf '%s\n' "$pid"
}

# Waits at most $2 tenths of a second for the end of process $1.
await_exit() {
  local tenths=$2
  while process_start "$1" >/dev/null; do
    [ "$tenths" -gt 0 ] || return 1
    tenths=$((tenths - 1))
    sleep 0.1
  done
}

# Sends signal $2 to process $1 (negative: its group), and kills it if it has not ended after $3 seconds.
end_process() {
  local target=$1 signal=$2 seconds=$3
  kill "-$signal" -- "$target" 2>/dev/null || return 0
  if ! await_exit "${target#-}" $((seconds * 10)); then
    say "process ${target#-} did not end within $seconds s: killing it"
    kill -KILL -- "$target" 2>/dev/null || :
    await_exit "${target#-}" 50 || :
  fi
}

# Child processes. CHILDREN holds the pids of the running ones, newest first.

CHILDREN=''

# Starts a command in a process group of its own, without the terminal's input. Sets CHILD.
spawn() {
  set -m
  "$@" </dev/null &
  CHILD=$!
  set +m
  CHILDREN="$CHILD $CHILDREN"
}

# Starts a command in the terminal's process group, with its input. Sets CHILD.
spawn_in_terminal() {
  "$@" <&0 &
  CHILD=$!
  CHILDREN="$CHILD $CHILDREN"
}

# Waits for child $1 and returns its status. A signal to ./dev interrupts this wait, unlike a foreground
# command.
await_child() {
  local status=0 child others=''
  wait "$1" 2>/dev/null || status=$?
  for child in $CHILDREN; do
    [ "$child" = "$1" ] || others="$others$child "
  done
  CHILDREN=$others
  return "$status"
}

# Runs a long command that needs no input.
run_child() {
  spawn "$@"
  await_child "$CHILD"
}

# Runs a long interactive command.
run_in_terminal() {
  spawn_in_terminal "$@"
  await_child "$CHILD"
}

# Stops the children, newest first, each with its process group, or alone if it shares ours.
end_children() {
  local child
  for child in $CHILDREN; do
    if kill -0 -- "-$child" 2>/dev/null; then
      end_process "-$child" TERM 20
    else
      end_process "$child" TERM 20
    fi
    wait "$child" 2>/dev/null || :
  done
  CHILDREN=''
}

# Cleanup at exit, for any cause. AT_EXIT is a list of function names, called in order after the children have
# ended.

AT_EXIT=''

clean_up() {
  local status=$? step
  trap '' INT TERM HUP
  trap - EXIT
  set +e
  end_children
  for step in $AT_EXIT; do "$step"; done
  exit "$status"
}

trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# Locks. A lock is a symbolic link whose target names its holder. Creating one is atomic, and the lock of a
# killed holder is detected and removed.

lock() {
  local holder pid tries=0
  until ln -s "$(print_identity $$ | tr ' ' :)" "$1" 2>/dev/null; do
    holder=$(readlink "$1" || :)
    pid=${holder%%:*}
    if [ -n "$pid" ] && [ "$(process_start "$pid" || :)" != "${holder#*:}" ]; then
      if mv "$1" "$1.left.$$" 2>/dev/null && rm -f "$1.left.$$"; then continue; fi
    fi
    tries=$((tries + 1))
    [ "$tries" -lt 1200 ] || die "process $pid has held $1 for two minutes: end it and try again"
    sleep 0.1
  done
}

# Releases lock $1 if this process holds it.
unlock() {
  case $(readlink "$1" || :) in "$$:"*) rm -f "$1" ;; esac
}
