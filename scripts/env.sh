# shellcheck shell=bash disable=SC2034 # The other parts read the variables set here.
# Tests the Python package for learning programs in clients/python with its own tests and those of PettingZoo, and
# checks that its example learns; or measures steps per second.
#
# Packages are installed under target/env, in the versions of clients/python/requirements.lock, so that the
# checkout stays unchanged.

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
    build_lab
    check_env
  fi
}

# Requires LAB_BINARY (see build_lab).
check_env() {
  prepare_env
  say "testing the Python package with its own tests and PettingZoo's, and training the example"
  run_python -m unittest test_bahay_env || die "the tests of the Python package failed: see above"
}

# Measures a release build: in the process, and through the pipe.
bench_env() {
  prepare_env
  run_child cargo bench --quiet -p bahay-bots --bench env
  BAHAY_PROFILE=release build_lab
  run_python bench.py
}

run_python() {
  (
    export BAHAY_LAB=$LAB_BINARY PYTHONDONTWRITEBYTECODE=1
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
