# shellcheck shell=bash disable=SC2034,SC2154 # The other parts read the variables set here.
# Runs each fuzz target (fuzz/) for a number of seconds, guided by code coverage. The targets are compiled like
# cargo fuzz does without a sanitizer, which the stable toolchain supports; besides cargo they need a C++ compiler.
# `cargo fuzz run NAME` works on the same files.
#
# Failing inputs are stored in target/fuzz/found, and a message names the command that reproduces them. Inputs that
# reach new code are stored in target/fuzz/corpus; fuzz/corpus holds a few seeds.

FUZZ_TARGETS='tongits tongo_options tongo_assets records journals commands messages documents client'
FUZZ=target/fuzz

cmd_fuzz() {
  case ${1:-60} in
    *[!0-9]* | 0*) die "SECONDS is the run time of each target, a positive integer, not '$1': ./dev fuzz [SECONDS]" ;;
  esac
  has_cpp || die "a C++ compiler is missing: install g++ or clang"
  run_fuzz "${1:-60}"
}

# Runs the targets within ./dev drills, if a C++ compiler is installed.
check_fuzz() {
  if has_cpp; then
    run_fuzz 5
  else
    say "NOT RUN: fuzz targets, since there is no C++ compiler"
  fi
}

has_cpp() { type -P "${CXX:-c++}" >/dev/null; }

run_fuzz() {
  local host name flags
  host=$(rustc --version --verbose | sed -n 's/^host: //p')
  flags='-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-pc-table'
  flags="$flags -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-trace-compares"
  # With --target, build scripts and macros are compiled without these flags.
  RUSTFLAGS="$flags --cfg fuzzing" run_child cargo build --quiet --release --locked --manifest-path fuzz/Cargo.toml \
    --target "$host" --target-dir "$FUZZ" || die "the fuzz targets do not compile: see above"
  mkdir -p "$FUZZ/found"
  for name in $FUZZ_TARGETS; do
    mkdir -p "$FUZZ/corpus/$name"
    run_child "$FUZZ/$host/release/$name" "$FUZZ/corpus/$name" "fuzz/corpus/$name" "-max_total_time=$1" -max_len=512 \
      -timeout=20 "-artifact_prefix=$FUZZ/found/$name-" >"$FUZZ/$name.log" 2>&1 || {
      grep -a -A 2 'panicked at\|ERROR: libFuzzer' "$FUZZ/$name.log" | cut -c 1-400 >&2 || :
      die "$name found a failure, which this command reproduces: $FUZZ/$host/release/$name $(find "$FUZZ/found" -name "$name-*" | tail -n 1)"
    }
    say "$name: $(sed -n 's/^Done \([0-9]*\) runs.*/\1 inputs/p' "$FUZZ/$name.log"), no failure"
  done
}
