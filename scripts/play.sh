# shellcheck shell=bash disable=SC2034 # The other parts read the variables set here.
# The browser client at /play: builds it, compares the checked-in build with a fresh one, and plays it in Chromium
# on a server of its own.
#
# The build runs under target/play, in the versions of play/package-lock.json, so that the checkout stays
# unchanged. The browser driver is the one of browser.sh.

PLAY=target/play

cmd_play() {
  case ${1:-} in
    build)
      need_contract_programs
      prepare_play
      run_child "$NODE" "$PLAY/play/build.mjs" --out "$ROOT/play/dist" ||
        die "the client could not be built: see above"
      ;;
    '' | test)
      enter_test_instance play memory
      build
      start_services
      check_play
      ;;
    pictures)
      enter_test_instance play memory
      build
      start_services
      PLAY_PICTURES=$LOCAL/pictures check_play
      mkdir -p docs/pictures
      cp "$LOCAL/pictures/play.png" docs/pictures/play.png
      say "pictures of every state are in $LOCAL/pictures; the README shows docs/pictures/play.png"
      ;;
    icons)
      need_contract_programs
      need_chromium
      prepare_browser
      run_child with_libraries "$NODE" "$BROWSER/play/icons.mjs" "$ROOT/play/src/icons" "$CHROMIUM" no-sandbox ||
        die "the icons could not be drawn: see above"
      ;;
    *) die "unknown argument $1: ./dev play [build|test|pictures|icons]" ;;
  esac
}

# Copies the sources with the client package and the texts of refusals, installs packages and checks the types.
prepare_play() {
  local folder=$PLAY/play
  mkdir -p "$folder" "$PLAY/clients/typescript"
  rm -rf "$folder/src" "$PLAY/clients/typescript/src" "$PLAY/clients/refusals"
  cp -R play/src play/build.mjs play/package.json play/package-lock.json play/tsconfig.json "$folder"
  cp -R clients/typescript/src "$PLAY/clients/typescript"
  cp -R clients/refusals "$PLAY/clients"
  # The installed modules stay valid while the lock file is unchanged.
  if ! cmp -s "$folder/package-lock.json" "$folder/node_modules/.lock"; then
    (cd "$folder" && run_child "$NPM" ci --no-audit --no-fund --ignore-scripts --loglevel=error) >&2 ||
      die "npm could not install what play/package-lock.json names: see above"
    cp "$folder/package-lock.json" "$folder/node_modules/.lock"
  fi
  (cd "$folder" && run_child "$NODE" node_modules/typescript/bin/tsc --noEmit) >&2 ||
    die "the client does not pass the type check: see above"
}

# Checks the types of the client and compares the checked-in build with a fresh one.
check_play_build() {
  need_contract_programs
  prepare_play
  run_child "$NODE" "$PLAY/play/build.mjs" --check --out "$ROOT/play/dist" >&2 || die "play/dist differs from a fresh build: see above"
}

# Plays the client in a running instance. Requires BINARY (see build).
check_play() {
  local operator sandbox=no-sandbox DATABASE_URL=$DATABASE_URL BAHAY_REDIS_PREFIX
  check_play_build
  need_chromium
  make_environment
  prepare_browser
  use_own_database play
  export BAHAY_BOTS=12 BAHAY_BOTS_AFTER_S=0
  BAHAY_LISTEN=''
  BAHAY_PROBE_LISTEN=''
  unset BAHAY_INVITE_BASE
  start_contract_server
  operator=$(operator_token play) || die "the operator could not be created: see above"
  # Chromium's sandbox needs user namespaces, which root cannot use and some machines do not offer.
  if [ "$(id -u)" != 0 ] && unshare -U true 2>/dev/null; then sandbox=sandbox; fi
  case $CHROMIUM in "$PROGRAMS"/*) export FONTCONFIG_FILE=$PROGRAMS/fonts.conf ;; esac
  say "playing games in $CHROMIUM"
  (
    cd "$BROWSER"
    run_child with_libraries "$NODE" play/main.mjs "$BAHAY_URL" "$CHROMIUM" "$sandbox" "$operator" \
      "$ROOT/play/dist" "${PLAY_PICTURES:-}"
  ) || die "the browser test of the game failed: see above"
}
