# shellcheck shell=bash disable=SC2034,SC2154 # What is set here is read by the other parts.
# Releases: `./dev release VERSION` writes the version everywhere (scripts/release.py), commits, builds the archive of
# that commit and tags it. `./dev release --build` makes the archive of the present commit alone.
#
# The archive can be made again: it is built out of what git has, in a folder of its own, whose name and those of
# cargo's folders are taken out of the binary, as is the time. `./dev release --twice` does it in two folders and
# compares the bytes. They are the same where compiler and linker are (BUILT.txt in the archive names these).
#
# cargo auditable puts the list of crates into the binary. It is told to the compiler by its bare name, as the whole
# path would be part of the names of our crates.

DIST=target/dist
AUDITABLE_VERSION=0.7.7

cmd_release() {
  [ $# -eq 1 ] || die "say which version: ./dev release VERSION, or --build, or --twice"
  type -P cargo >/dev/null || die "cargo is missing: install Rust from https://rustup.rs"
  git rev-parse --verify --quiet HEAD >/dev/null || die "a release is made of a commit, and there is none here"
  [ -z "$(git status --porcelain)" ] || die "the tree has changes that are not committed: commit or stash them"
  need_contract_programs
  case $1 in
    --build) release_archive ;;
    --twice) release_twice ;;
    -*) die "unknown argument $1: ./dev release VERSION, or --build, or --twice" ;;
    *) make_release "$1" ;;
  esac
}

make_release() {
  local version=$1 tags
  tags=$(git tag --list 'v*')
  # shellcheck disable=SC2086 # A list of words.
  if ! release_files set "$version" "$(date -u +%Y-%m-%d)" $tags || ! check_locks; then
    git reset --quiet --hard
    die "nothing was changed"
  fi
  git commit --quiet --all --message "Release $version" || {
    git reset --quiet --hard
    die "nothing was committed: see above"
  }
  say "the commit of $version is made: $(git rev-parse HEAD)"
  # Whoever finds a tag finds a version that was built.
  release_archive
  git tag --annotate --message "bahay $version" "v$version"
  say "v$version is tagged: push the commit with its tag, and put up what is in $DIST"
}

# Cargo refuses its lock files where these do not carry the version.
check_locks() {
  local manifest
  for manifest in Cargo.toml fuzz/Cargo.toml; do
    cargo metadata --locked --format-version 1 --manifest-path "$manifest" >/dev/null || return 1
  done
}

release_files() { run_child with_libraries "$PYTHON" scripts/release.py "$@"; }

# With the schemas of CycloneDX, where these can be had.
check_archives() {
  local venv=$SUPPLY/release lock=tests/release/requirements.lock python
  mkdir -p "$SUPPLY"
  python=$venv/bin/python
  if ! cmp -s "$lock" "$venv/lock"; then
    make_venv "$venv"
    if (pip_install "$venv" --require-hashes --only-binary :all: --no-deps -r "$lock"); then
      cp "$lock" "$venv/lock"
    else
      python=$PYTHON
    fi
  fi
  run_child with_libraries "$python" tests/release/check.py "$@"
}

# The archive of this commit, in target/dist.
release_archive() {
  need_auditable
  rm -rf "$DIST"
  mkdir -p "$DIST"
  build_archive "$ROOT/$DIST/work" "$ROOT/$DIST"
  rm -rf "$DIST/work"
  (cd "$DIST" && cat SHA256SUMS)
}

# In two folders of which the second is elsewhere.
release_twice() {
  local other=''
  need_auditable
  other=$(mktemp -d "${TMPDIR:-/tmp}/another place.XXXXXX")
  RELEASE_ELSEWHERE=$other
  AT_EXIT="remove_elsewhere $AT_EXIT"
  rm -rf "$DIST"
  build_archive "$ROOT/$DIST/work" "$ROOT/$DIST"
  rm -rf "$DIST/work"
  build_archive "$other/of builds" "$other/result"
  diff -r "$DIST" "$other/result" >&2 || {
    mkdir "$DIST/other"
    cp -R "$other/result/." "$DIST/other"
    die "the same commit made other bytes the second time: compare $DIST with $DIST/other"
  }
  say "the same commit made the same bytes twice, in two folders:"
  (cd "$DIST" && cat SHA256SUMS)
}

remove_elsewhere() { rm -rf "$RELEASE_ELSEWHERE"; }

# build_archive WORK RESULT: builds this commit in folder WORK.
build_archive() {
  local work=$1 started=$SECONDS home=${CARGO_HOME:-$HOME/.cargo} commit epoch host sysroot flags
  commit=$(git rev-parse HEAD)
  epoch=$(git log -1 --format=%ct)
  host=$(rustc --version --verbose | sed -n 's/^host: //p')
  sysroot=$(rustc --print sysroot)
  rm -rf "$work"
  mkdir -p "$work/source"
  git archive "$commit" | tar -xf - -C "$work/source"
  # Parted by a character that is in no name.
  flags=$(printf -- '--remap-path-prefix=%s\037' "$work/source=/bahay" "$work/target=/target" "$home=/cargo" \
    "$sysroot=/rust")
  # Functions that were compiled to the same are there once, as in the Dockerfile, where the linker is Rust's own.
  [ "$host" != x86_64-unknown-linux-gnu ] || flags=$flags$(printf -- '-Clink-arg=-Wl,--icf=all\037')
  say "building $(release_files version) of commit $commit in $work"
  SOURCE_DATE_EPOCH=$epoch run_child compile_release "$work" "${flags%$'\037'}" "$home" >"$work/units.json" ||
    die "the release cannot be built: see above"
  say "it was built in $((SECONDS - started)) s"
  SOURCE_DATE_EPOCH=$epoch RELEASE_COMMIT=$commit RELEASE_TARGET=$host \
    release_files pack "$work/target/release/bahay" "$work/source" "$2" >"$work/name" ||
    die "the archive cannot be made: see above"
  check_archives "$2" "$work/source" --units "$work/units.json" --foreign "$work" --foreign "$home" \
    --foreign "$sysroot" --foreign "$ROOT" || die "the archive is not as it should be: see above"
}

# In a process of its own.
compile_release() {
  local name
  cd "$1/source" || exit
  # What somebody has set for their own builds is not part of this one.
  for name in $(compgen -e | grep -E '^(CARGO_(PROFILE|BUILD|TARGET|INCREMENTAL|UNSTABLE)|RUSTFLAGS|RUSTC_)'); do
    unset "$name"
  done
  export LC_ALL=C TZ=UTC PATH="$ROOT/$SUPPLY/bin:$PATH" CARGO_INCREMENTAL=0 SQLX_OFFLINE=true
  export RUSTC_WORKSPACE_WRAPPER=cargo-auditable
  export CARGO_AUDITABLE_ORIG_ARGS='{"offline":false,"locked":true,"frozen":false,"config":[]}'
  # As in the Dockerfile.
  export CARGO_ENCODED_RUSTFLAGS=$2 CARGO_PROFILE_RELEASE_STRIP=symbols
  # Parts in C.
  export CFLAGS="-ffile-prefix-map=$3=/cargo"
  exec cargo build --release --locked --bin bahay --target-dir "$1/target" \
    --message-format json-render-diagnostics
}

# In the test run, with the server that was built already: in seconds, and without its crates' list.
check_release() {
  local host round
  need_contract_programs
  host=$(rustc --version --verbose | sed -n 's/^host: //p')
  say "an archive of the server that is there is made twice, and looked at"
  for round in one two; do
    SOURCE_DATE_EPOCH=1000000000 RELEASE_COMMIT=none RELEASE_TARGET=$host RELEASE_LEVEL=1 \
      release_files pack "$BINARY" "$ROOT" "$INSTANCE/release/$round" >"$INSTANCE/release.log" ||
      die "the archive cannot be made: see above"
  done
  diff -r "$INSTANCE/release/one" "$INSTANCE/release/two" >&2 || die "two archives of the same have other bytes"
  rm -rf "$INSTANCE/release/two"
  check_archives "$INSTANCE/release/one" "$ROOT" --spoil || die "the archive is not as it should be: see above"
  rm -rf "$INSTANCE/release"
}

# cargo-auditable as cargo finds it, if it is of our version; else it is compiled, which takes half a minute.
need_auditable() {
  local found=$SUPPLY/bin/cargo-auditable
  mkdir -p "$SUPPLY/bin"
  if [ -x "$found" ] && has_auditable "$SUPPLY"; then return 0; fi
  say "compiling cargo-auditable"
  run_child cargo install cargo-auditable --locked --quiet --version "$AUDITABLE_VERSION" --root "$SUPPLY" ||
    die "cargo-auditable cannot be installed: see above"
}

# It does not say its version; cargo knows.
has_auditable() { cargo install --list --root "$1" | grep -qx "cargo-auditable v$AUDITABLE_VERSION:"; }
