# shellcheck shell=bash disable=SC2154 # The other parts set the variables read here.
# Tests monitoring: promtool checks the settings of Prometheus and the alerts of containers/watch, and tests each alert
# with series of a healthy house and of the fault (tests/monitoring/alerts.yml). Prometheus then scrapes a server that
# plays, and one that has stopped (tests/monitoring/drill.py). Takes less than a minute.

cmd_monitoring() {
  [ $# -eq 0 ] || die "unknown argument $1: ./dev monitoring"
  enter_test_instance monitoring
  build
  build_lab
  start_services
  check_monitoring
}

# Checks monitoring in a running instance. Requires BINARY and LAB_BINARY (see build).
check_monitoring() {
  local DATABASE_URL=$DATABASE_URL BAHAY_REDIS_PREFIX
  find_python || need_contract_programs
  need_prometheus
  say "testing alerts, and running Prometheus beside a server ($("$PROMETHEUS" --version 2>&1 | sed -n '1s/ (.*//p'))"
  check_alerts
  make_environment
  use_own_database monitoring
  run_child "$BINARY" migrate || die "the migration failed: see above"
  play_a_game "$DATABASE_URL" "$INSTANCE/monitored.log" \
    with_libraries "$PYTHON" tests/monitoring/drill.py "$ROOT" "$PROMETHEUS" "$INSTANCE/monitoring"
  say "$(tail -n 1 "$INSTANCE/demo.log")"
}

check_alerts() {
  {
    run_child "$PROMTOOL" check config --syntax-only containers/watch/prometheus.yml &&
      run_child "$PROMTOOL" check rules containers/watch/alerts.yml &&
      run_child "$PROMTOOL" test rules tests/monitoring/alerts.yml
  } >"$INSTANCE/promtool.log" 2>&1 || {
    cat "$INSTANCE/promtool.log" >&2
    die "the alerts do not pass tests/monitoring/alerts.yml: see above"
  }
}
