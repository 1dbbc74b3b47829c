# shellcheck shell=bash disable=SC2034 # What is set here is read by the other parts.
# Games for programs that learn: the Python package in clients/python is held to its tests and to those
# of PettingZoo, and the example must learn; or steps a second are measured.
#
# What these need is installed under target/env, in the versions that clients/python/requirements.lock
# names, so that the checkout stays as it is.

ENV_HOME=target/env

cmd_env() {
  local bench=no
  case ${1:-} in
    '') ;;
    bench) bench=yes ;;
    *) die "unknown argument $1: ./dev env [bench]" ;;
  esac
  if [ "$bench" = yes ]; then
    bench_env
  else
    build
    check_env
  fi
}

# BINARY is built.
check_env() {
  prepare_env
  say "the Python package is held to its tests and to PettingZoo's, and the example learns"
  run_python -m unittest || die "the Python package fails: see above"
}

# Of a build as it is shipped: in the process by itself, and through the pipe.
bench_env() {
  prepare_env
  run_child cargo bench --quiet -p bahay-engine --bench env
  run_child cargo build --release --quiet --bin bahay
  BINARY=${CARGO_TARGET_DIR:-target}/release/bahay
  case $BINARY in /*) ;; *) BINARY=$ROOT/$BINARY ;; esac
  run_python bench.py
}

run_python() {
  (
    export BAHAY=$BINARY PYTHONDONTWRITEBYTECODE=1
    venv=$ROOT/$ENV_HOME/venv
    cd clients/python
    run_child with_libraries "$venv/bin/python" "$@"
  )
}

prepare_env() {
  local venv=$ENV_HOME/venv lock=clients/python/requirements.lock
  find_python || need_contract_programs
  mkdir -p "$ENV_HOME"
  if ! cmp -s "$lock" "$venv/lock"; then
    make_venv "$venv"
    pip_install "$venv" -r "$lock"
    cp "$lock" "$venv/lock"
  fi
}
