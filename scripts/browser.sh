# shellcheck shell=bash disable=SC2034 # What is set here is read by the other parts.
# The desk in a real browser, on a server of its own: tests/browser/desk.mjs, by the machine's
# Chromium, or that of its distribution (see programs.sh). Then the game (see play.sh).
#
# What drives the browser is installed under target/browser, in the versions that
# tests/browser/package-lock.json names.

BROWSER=target/browser

# Everything, on services and a server of its own.
cmd_browser() {
  enter_test_instance browser
  build
  start_services
  check_browser
  check_play
}

# The same in an instance that runs. BINARY is built. What another server of this instance was made
# to do is not to be seen, so this one has a database and keys of its own.
check_browser() {
  local admin finance room sandbox=no-sandbox
  need_contract_programs
  need_chromium
  make_environment
  prepare_browser
  "${PG_BIN:+$PG_BIN/}psql" -XAtq "$DATABASE_URL" -c "create database desk_$$" ||
    die "could not create a database for the desk"
  export DATABASE_URL=${DATABASE_URL%/*}/desk_$$ BAHAY_REDIS_PREFIX=desk$$
  BAHAY_LISTEN=''
  BAHAY_PROBE_LISTEN=''
  start_contract_server
  for room in newbie tongo-options-newbie tongo-assets-newbie; do
    run_child "$BINARY" demo --room "$room" >"$INSTANCE/demo.log" 2>&1 ||
      die "no games were played to look at: $(tail -n 1 "$INSTANCE/demo.log")"
  done
  admin=$("$BINARY" operator add ate.luz --role admin)
  finance=$("$BINARY" operator add kuya.ben --role finance)
  # Chromium shuts itself in by user namespaces, which root may not and some machines do not give.
  if [ "$(id -u)" != 0 ] && unshare -U true 2>/dev/null; then sandbox=sandbox; fi
  case $CHROMIUM in "$PROGRAMS"/*) export FONTCONFIG_FILE=$PROGRAMS/fonts.conf ;; esac
  say "operators use the desk in $CHROMIUM"
  (
    cd "$BROWSER"
    run_child with_libraries "$NODE" desk.mjs "$BAHAY_URL" "$CHROMIUM" "$sandbox" "$admin" "$finance"
  ) || die "the desk fails in a browser: see above"
}

prepare_browser() {
  mkdir -p "$BROWSER"
  rm -rf "$BROWSER/play"
  cp -R tests/browser/. "$BROWSER"
  # The folder of modules is of use as long as the lock file is the same.
  if ! cmp -s "$BROWSER/package-lock.json" "$BROWSER/node_modules/.lock"; then
    (cd "$BROWSER" && run_child "$NPM" ci --no-audit --no-fund --ignore-scripts --loglevel=error) >&2 ||
      die "npm could not install what package-lock.json names: see above"
    cp "$BROWSER/package-lock.json" "$BROWSER/node_modules/.lock"
  fi
}
