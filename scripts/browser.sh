# shellcheck shell=bash disable=SC2034 # The other parts read the variables set here.
# Tests the desk in a browser, on a server of its own: tests/browser/desk.mjs, with the machine's Chromium or that
# of its distribution (see programs.sh). The test of the game follows (see play.sh).
#
# The browser driver is installed under target/browser, in the versions of tests/browser/package-lock.json. With
# DESK_PICTURES, a picture of every checked page of the desk in each size and colour is written to that folder.

BROWSER=target/browser

# Runs both browser tests, on services and a server of their own.
cmd_browser() {
  enter_test_instance browser memory
  build
  build_lab
  start_services
  check_browser
  check_play
}

# Tests the desk in a running instance. Requires BINARY and LAB_BINARY (see build).
check_browser() {
  local admin finance room sandbox=no-sandbox DATABASE_URL=$DATABASE_URL BAHAY_REDIS_PREFIX
  need_contract_programs
  need_chromium
  make_environment
  prepare_browser
  use_own_database desk
  # Three players who always met, so that pairs of them have points. The games of this seed were played two days ago,
  # so none of them is of today: the jobs of an operator are done with players of the demo.
  run_child "$BINARY" migrate || die "the migration failed: see above"
  run_child "$LAB_BINARY" generate-history --games 16 --players 3 --days 4 >"$INSTANCE/history.log" 2>&1 ||
    die "the history for the desk could not be generated: $(tail -n 1 "$INSTANCE/history.log")"
  BAHAY_LISTEN=''
  BAHAY_PROBE_LISTEN=''
  start_contract_server
  for room in newbie tongo-options-newbie tongo-assets-newbie; do
    run_child "$LAB_BINARY" demo --room "$room" >"$INSTANCE/demo.log" 2>&1 ||
      die "the games for the desk could not be played: $(tail -n 1 "$INSTANCE/demo.log")"
  done
  report_players || die "the reports for the desk could not be made"
  admin=$("$BINARY" operator add ate.luz --role admin)
  finance=$("$BINARY" operator add kuya.ben --role finance)
  # Chromium's sandbox needs user namespaces, which root cannot use and some machines do not offer.
  if [ "$(id -u)" != 0 ] && unshare -U true 2>/dev/null; then sandbox=sandbox; fi
  case $CHROMIUM in "$PROGRAMS"/*) export FONTCONFIG_FILE=$PROGRAMS/fonts.conf ;; esac
  say "testing the desk in $CHROMIUM"
  (
    cd "$BROWSER"
    run_child with_libraries "$NODE" desk.mjs "$BAHAY_URL" "$CHROMIUM" "$sandbox" "$admin" "$finance" \
      "$REDIS_CLI" "$REDIS_SOCKET" "$(service_pid redis)" "$(service_pid postgres)" "$BINARY" "${DESK_PICTURES:-}"
  ) || die "the browser test of the desk failed: see above"
}

# Enters four reports as players of the newest game of the demo would have made them in the middle of that game: the
# demo's players have left.
report_players() {
  query_database "
    insert into player_reports (reporter, reported, game, reason, words, created_at)
    select o.player, p.player, g.id, 'collusion', 'Report ' || row_number() over () || ' of the tests',
        date_trunc('milliseconds', g.opened_at + (g.finished_at - g.opened_at) / 2)
    from (
        select * from games where room = 'newbie' and state = 'settled' order by finished_at desc limit 1
    ) g
    join game_players o on o.game = g.id
    join game_players p on p.game = g.id and p.seat <> o.seat
    limit 4"
}

prepare_browser() {
  mkdir -p "$BROWSER"
  rm -rf "$BROWSER/play"
  cp -R tests/browser/. "$BROWSER"
  # The installed modules stay valid while the lock file is unchanged.
  if ! cmp -s "$BROWSER/package-lock.json" "$BROWSER/node_modules/.lock"; then
    (cd "$BROWSER" && run_child "$NPM" ci --no-audit --no-fund --ignore-scripts --loglevel=error) >&2 ||
      die "npm could not install what package-lock.json names: see above"
    cp "$BROWSER/package-lock.json" "$BROWSER/node_modules/.lock"
  fi
}
