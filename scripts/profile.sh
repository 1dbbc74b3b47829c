# shellcheck shell=bash disable=SC2034,SC2154 # The other parts read the variables set here.
# The profile of a release, for profile-guided optimization: a build with counters is loaded as by players, and the
# compiler then optimises the branches that the load takes.
#
# Counts differ from load to load. A profile is therefore an input of the build like the source, and is published
# beside the archive, with which others reproduce its bytes. It fits builds by the same compiler of the same source;
# functions that have changed since are compiled without it.

PROFILE_HOME=target/profile

# The loads, one a line, as arguments of `./dev loadtest`.
PROFILE_LOADS='fixed --tables 200 --seconds 40
fixed --tables 1000 --seconds 20
fixed --tables 60 --seconds 15 --form full
fixed --tables 60 --seconds 15 --room tongo-options-newbie
fixed --tables 60 --seconds 15 --room tongo-assets-newbie
storm --tables 200 --warm-up 5
reads --tables 20 --per-second 200 --seconds 20'

# Measures the commit COMMIT and stores its profile in file $1.
measure_profile() {
  local counts=$ROOT/$PROFILE_HOME/counts programs=$ROOT/$PROFILE_HOME/programs log=$ROOT/$PROFILE_HOME/log
  need_profdata
  build_lab
  rm -rf "$PROFILE_HOME"
  mkdir -p "$counts" "$programs"
  say "building with counters"
  compile_commit "$ROOT/$PROFILE_HOME/work" "-Cprofile-generate=$counts" ||
    die "the server with counters could not be built: see above"
  ln -s "$(release_binary "$ROOT/$PROFILE_HOME/work")" "$programs/bahay"
  ln -s "$LAB_BINARY" "$programs/bahay-lab"
  load_programs "$programs" "$log"
  run_child "$PROFDATA" merge -o "$1" "$counts" || die "the counts could not be merged: see above"
  rm -rf "$PROFILE_HOME"
}

# Loads the programs in folder $1, and appends the reports to file $2.
load_programs() {
  local load
  while read -r load; do
    say "counting: loadtest $load"
    # shellcheck disable=SC2086 # Word splitting is intended.
    BAHAY_BUILT=$1/bahay BAHAY_HISTORY_GAMES=2000 run_child "$ROOT/dev" loadtest $load >>"$2" 2>&1 || {
      tail -n 20 "$2" >&2
      die "the server with counters failed under load: see above"
    }
  done <<<"$PROFILE_LOADS"
}

# Finds the program that merges counts, which has to be of the compiler's own version, and sets PROFDATA.
need_profdata() {
  local host
  host=$(host_target)
  PROFDATA=$(rustc --print sysroot)/lib/rustlib/$host/bin/llvm-profdata
  [ ! -x "$PROFDATA" ] || return 0
  type -P rustup >/dev/null || die "llvm-profdata is missing: install Rust's component llvm-tools"
  say "installing Rust's component llvm-tools"
  run_child rustup component add llvm-tools || die "llvm-tools could not be installed: see above"
}

# Writes profile $1, which may be compressed, to file $2.
copy_profile() {
  case $1 in
    *.gz) gzip -cd -- "$1" >"$2" ;;
    *) cp -- "$1" "$2" ;;
  esac || die "the profile $1 cannot be read"
}

host_target() { rustc --version --verbose | sed -n 's/^host: //p'; }
