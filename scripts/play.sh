# shellcheck shell=bash disable=SC2034 # What is set here is read by the other parts.
# The browser client at /play: building it, holding what is checked in against what is built, and
# Chromium playing it, on a server of its own.
#
# It is built under target/play, in the versions of packages that play/package-lock.json names, so that
# the checkout stays as it is; what drives the browser is where browser.sh has it.

PLAY=target/play

cmd_play() {
  case ${1:-} in
    build)
      need_contract_programs
      prepare_play
      run_child "$NODE" "$PLAY/play/build.mjs" --out "$ROOT/play/dist" ||
        die "the client does not build: see above"
      ;;
    '' | test)
      enter_test_instance play
      build
      start_services
      check_play
      ;;
    pictures)
      enter_test_instance play
      build
      start_services
      PLAY_PICTURES=$LOCAL/pictures check_play
      mkdir -p docs/pictures
      cp "$LOCAL/pictures/play.png" docs/pictures/play.png
      say "pictures of every state are in $LOCAL/pictures; the README has docs/pictures/play.png"
      ;;
    icons)
      need_contract_programs
      need_chromium
      prepare_browser
      run_child with_libraries "$NODE" "$BROWSER/play/icons.mjs" "$ROOT/play/src/icons" "$CHROMIUM" no-sandbox ||
        die "the icons were not drawn: see above"
      ;;
    *) die "unknown argument $1: ./dev play [build|test|pictures|icons]" ;;
  esac
}

# Copies what it is built from, with the client package beside it, installs packages, and asks whether
# the types hold.
prepare_play() {
  local folder=$PLAY/play
  mkdir -p "$folder" "$PLAY/clients/typescript"
  rm -rf "$folder/src" "$PLAY/clients/typescript/src"
  cp -R play/src play/build.mjs play/package.json play/package-lock.json play/tsconfig.json "$folder"
  cp -R clients/typescript/src "$PLAY/clients/typescript"
  # The folder of modules is of use as long as the lock file is the same.
  if ! cmp -s "$folder/package-lock.json" "$folder/node_modules/.lock"; then
    (cd "$folder" && run_child "$NPM" ci --no-audit --no-fund --ignore-scripts --loglevel=error) >&2 ||
      die "npm could not install what play/package-lock.json names: see above"
    cp "$folder/package-lock.json" "$folder/node_modules/.lock"
  fi
  (cd "$folder" && run_child "$NODE" node_modules/typescript/bin/tsc --noEmit) >&2 ||
    die "the types of the client do not hold: see above"
}

# The same in an instance that runs. BINARY is built.
check_play() {
  local operator sandbox=no-sandbox
  need_contract_programs
  need_chromium
  make_environment
  prepare_play
  run_child "$NODE" "$PLAY/play/build.mjs" --check --out "$ROOT/play/dist" >&2 || die "play/dist is not what is built: see above"
  prepare_browser
  "${PG_BIN:+$PG_BIN/}psql" -XAtq "$DATABASE_URL" -c "create database play_$$" ||
    die "could not create a database for the client"
  export DATABASE_URL=${DATABASE_URL%/*}/play_$$ BAHAY_REDIS_PREFIX=play$$
  export BAHAY_BOTS=12 BAHAY_BOTS_AFTER_S=0
  BAHAY_LISTEN=''
  BAHAY_PROBE_LISTEN=''
  unset BAHAY_INVITE_BASE
  start_contract_server
  operator=$(operator_token play) || die "no operator was made: see above"
  # Chromium shuts itself in by user namespaces, which root may not and some machines do not give.
  if [ "$(id -u)" != 0 ] && unshare -U true 2>/dev/null; then sandbox=sandbox; fi
  case $CHROMIUM in "$PROGRAMS"/*) export FONTCONFIG_FILE=$PROGRAMS/fonts.conf ;; esac
  say "games are played in $CHROMIUM"
  (
    cd "$BROWSER"
    run_child with_libraries "$NODE" play/main.mjs "$BAHAY_URL" "$CHROMIUM" "$sandbox" "$operator" \
      "$ROOT/play/dist" "${PLAY_PICTURES:-}"
  ) || die "the game fails in a browser: see above"
}
