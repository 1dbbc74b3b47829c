# shellcheck shell=bash disable=SC2034,SC2154 # What is set here is read by the other parts.
# Fuzz targets (fuzz/), each for so many seconds: input that is drawn towards what the code has not done yet.
# They are compiled as cargo fuzz does without a sanitizer, which the stable toolchain can; what they need
# beside cargo is a compiler of C++. `cargo fuzz run NAME` does with the same files.
#
# What is found lies in target/fuzz/found, and a line says how it is tried again. Input that leads somewhere new
# is kept in target/fuzz/corpus; fuzz/corpus has a little of it to begin with.

FUZZ_TARGETS='tongits tongo_options tongo_assets records journals commands messages documents'
FUZZ=target/fuzz

cmd_fuzz() {
  case ${1:-60} in
    *[!0-9]* | 0*) die "./dev fuzz [SECONDS]: for how many seconds each target runs, not '$1'" ;;
  esac
  has_cpp || die "a compiler of C++ is missing: install g++ or clang"
  run_fuzz "${1:-60}"
}

# In the test run: where it can be done.
check_fuzz() {
  if has_cpp; then
    run_fuzz 5
  else
    say "NOT RUN: fuzz targets, since there is no compiler of C++"
  fi
}

has_cpp() { type -P "${CXX:-c++}" >/dev/null; }

run_fuzz() {
  local host name flags
  host=$(rustc --version --verbose | sed -n 's/^host: //p')
  flags='-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-pc-table'
  flags="$flags -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-trace-compares"
  # With a target named, what runs while building is compiled without these.
  RUSTFLAGS="$flags --cfg fuzzing" run_child cargo build --quiet --release --locked --manifest-path fuzz/Cargo.toml \
    --target "$host" --target-dir "$FUZZ" || die "the fuzz targets do not compile: see above"
  mkdir -p "$FUZZ/found"
  for name in $FUZZ_TARGETS; do
    mkdir -p "$FUZZ/corpus/$name"
    run_child "$FUZZ/$host/release/$name" "$FUZZ/corpus/$name" "fuzz/corpus/$name" "-max_total_time=$1" -max_len=512 \
      -timeout=20 "-artifact_prefix=$FUZZ/found/$name-" >"$FUZZ/$name.log" 2>&1 || {
      grep -a -A 2 'panicked at\|ERROR: libFuzzer' "$FUZZ/$name.log" | cut -c 1-400 >&2 || :
      die "$name has found something: $FUZZ/$host/release/$name $(find "$FUZZ/found" -name "$name-*" | tail -n 1)"
    }
    say "$name: $(sed -n 's/^Done \([0-9]*\) runs.*/\1 inputs/p' "$FUZZ/$name.log"), nothing found"
  done
}
