# shellcheck shell=bash disable=SC2034,SC2154 # The other parts read the variables set here.
# Releases. `./dev release VERSION` sets the version everywhere (scripts/release.py), commits, builds the archive
# of that commit and tags it. `./dev release --build` builds the archive of the checked-out commit, with a profile
# that it measures (scripts/profile.sh) or that is given to it.
#
# The build is reproducible: it takes the files of git into a folder of its own, and removes the paths of this
# folder and of cargo's folders from the binary, as well as the time. `./dev release --twice` builds in two folders
# and compares the bytes. They are equal for equal profiles, compilers and linkers, which BUILT.txt in the archive
# names.
#
# cargo auditable embeds the list of crates in the binary. The compiler is given its bare name, since the full path
# would become part of the symbol names of our crates.

DIST=target/dist
AUDITABLE_VERSION=0.7.7

cmd_release() {
  case $#,${1:-} in
    1,* | 2,--build) ;;
    *) die "unknown arguments: ./dev release VERSION, or --build [PROFILE], or --twice" ;;
  esac
  type -P cargo >/dev/null || die "cargo is missing: install Rust from https://rustup.rs"
  git rev-parse --verify --quiet HEAD >/dev/null || die "a release is built from a commit, and this folder has none"
  [ -z "$(git status --porcelain)" ] || die "the tree has changes that are not committed: commit or stash them"
  need_contract_programs
  case $1 in
    --build) release_archive "${2:-}" ;;
    --twice) release_twice ;;
    -*) die "unknown argument $1: ./dev release VERSION, or --build [PROFILE], or --twice" ;;
    *) make_release "$1" ;;
  esac
}

make_release() {
  local version=$1 tags
  tags=$(git tag --list 'v*')
  # shellcheck disable=SC2086 # Word splitting is intended.
  if ! release_files set "$version" "$(date -u +%Y-%m-%d)" $tags || ! check_locks; then
    git reset --quiet --hard
    die "nothing was changed"
  fi
  git commit --quiet --all --message "Release $version" || {
    git reset --quiet --hard
    die "nothing was committed: see above"
  }
  say "$version is committed: $(git rev-parse HEAD)"
  # A tag exists only for a version that has been built.
  release_archive
  git tag --annotate --message "bahay $version" "v$version"
  say "v$version is tagged: push the commit with its tag, and publish the files in $DIST"
}

# Fails if the lock files do not contain the new version, which cargo rejects with --locked.
check_locks() {
  local manifest
  for manifest in Cargo.toml fuzz/Cargo.toml; do
    cargo metadata --locked --format-version 1 --manifest-path "$manifest" >/dev/null || return 1
  done
}

release_files() { run_child with_libraries "$PYTHON" scripts/release.py "$@"; }

# Checks archives, including the schemas of CycloneDX if their packages can be installed.
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

# Builds the archive of the checked-out commit in target/dist, with profile $1 or one that it measures.
release_archive() {
  local given=${1:-}
  case $given in '' | /*) ;; *) given=$CALLED_FROM/$given ;; esac
  [ -z "$given" ] || [ -f "$given" ] || die "there is no profile $given"
  COMMIT=$(git rev-parse HEAD)
  need_auditable
  prepare_profile "$given"
  rm -rf "$DIST"
  mkdir -p "$DIST"
  build_archive "$ROOT/$DIST/work" "$ROOT/$DIST"
  rm -rf "$DIST/work" "$PROFILE"
  (cd "$DIST" && cat SHA256SUMS)
}

# Builds the archive in two folders, the second outside of the checkout, with one profile, and compares them.
release_twice() {
  local other=''
  COMMIT=$(git rev-parse HEAD)
  need_auditable
  prepare_profile ''
  other=$(mktemp -d "${TMPDIR:-/tmp}/another place.XXXXXX")
  RELEASE_ELSEWHERE=$other
  AT_EXIT="remove_elsewhere $AT_EXIT"
  rm -rf "$DIST"
  build_archive "$ROOT/$DIST/work" "$ROOT/$DIST"
  rm -rf "$DIST/work"
  build_archive "$other/of builds" "$other/result"
  rm -f "$PROFILE"
  diff -r "$DIST" "$other/result" >&2 || {
    mkdir "$DIST/other"
    cp -R "$other/result/." "$DIST/other"
    die "the second build of the same commit differs: compare $DIST with $DIST/other"
  }
  say "two builds of the same commit in two folders are identical:"
  (cd "$DIST" && cat SHA256SUMS)
}

remove_elsewhere() { rm -rf "$RELEASE_ELSEWHERE"; }

# Sets PROFILE to a file with the profile $1, or with one that it measures if $1 is empty.
prepare_profile() {
  PROFILE=$ROOT/target/release.profdata
  if [ -n "$1" ]; then copy_profile "$1" "$PROFILE"; else measure_profile "$PROFILE"; fi
}

# build_archive WORK RESULT builds the commit COMMIT in folder WORK, with the profile in file PROFILE.
build_archive() {
  local work=$1 started=$SECONDS foreign
  say "building $(release_files version) of commit $COMMIT in $work"
  compile_commit "$work" "-Cprofile-use=$PROFILE" || die "the release could not be built: see above"
  say "built in $((SECONDS - started)) s"
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct "$COMMIT") RELEASE_COMMIT=$COMMIT RELEASE_TARGET=$(host_target) \
    RELEASE_PROFILE=$PROFILE release_files pack "$(release_binary "$work")" "$work/source" "$2" >"$work/name" ||
    die "the archive could not be created: see above"
  foreign=(--foreign "$work" --foreign "${CARGO_HOME:-$HOME/.cargo}" --foreign "$(rustc --print sysroot)"
    --foreign "$ROOT")
  check_archives "$2" "$work/source" --units "$work/units.json" "${foreign[@]}" ||
    die "the archive does not pass its checks: see above"
}

# compile_commit WORK FLAG compiles the commit COMMIT in folder WORK, with FLAG for the compiler. units.json in
# that folder receives cargo's messages, which name the compiled crates.
compile_commit() {
  local work=$1 home=${CARGO_HOME:-$HOME/.cargo} host epoch flags
  epoch=$(git log -1 --format=%ct "$COMMIT")
  host=$(host_target)
  rm -rf "$work"
  mkdir -p "$work/source"
  git archive "$COMMIT" | tar -xf - -C "$work/source"
  # The flags are separated by a character that occurs in no path.
  flags=$(printf -- '--remap-path-prefix=%s\037' "$work/source=/bahay" "$work/target=/target" "$home=/cargo" \
    "$(rustc --print sysroot)=/rust")$2
  # Identical functions are merged, as in the Dockerfile, where the linker is Rust's own.
  [ "$host" != x86_64-unknown-linux-gnu ] || flags=$flags$(printf -- '\037-Clink-arg=-Wl,--icf=all')
  SOURCE_DATE_EPOCH=$epoch run_child compile_release "$work" "$flags" "$home" "$host" >"$work/units.json"
}

# Prints the path of the server that compile_commit has built in folder $1.
release_binary() { printf '%s\n' "$1/target/$(host_target)/release/bahay"; }

# Compiles the release. Runs in a process of its own, whose environment it changes.
compile_release() {
  local name
  cd "$1/source" || exit
  # Settings for the developer's own builds must not affect this one.
  for name in $(compgen -e | grep -E '^(CARGO_(PROFILE|BUILD|TARGET|INCREMENTAL|UNSTABLE)|RUSTFLAGS|RUSTC_)'); do
    unset "$name"
  done
  export LC_ALL=C TZ=UTC PATH="$ROOT/$SUPPLY/bin:$PATH" CARGO_INCREMENTAL=0 SQLX_OFFLINE=true
  export RUSTC_WORKSPACE_WRAPPER=cargo-auditable
  export CARGO_AUDITABLE_ORIG_ARGS='{"offline":false,"locked":true,"frozen":false,"config":[]}'
  # These flags are the same as in the Dockerfile.
  export CARGO_ENCODED_RUSTFLAGS=$2 CARGO_PROFILE_RELEASE_STRIP=symbols
  # These flags apply to crates with C code.
  export CFLAGS="-ffile-prefix-map=$3=/cargo"
  # With a target, the flags do not apply to the programs that run during the build, which would count as well.
  exec cargo build --release --locked --bin bahay --features events --target "$4" --target-dir "$1/target" \
    --message-format json-render-diagnostics
}

# Checks the archive in ./dev drills with the already built server: takes seconds, and omits the embedded crate
# list.
check_release() {
  local round
  need_contract_programs
  printf 'a profile' >"$INSTANCE/profile"
  say "creating an archive of the built server twice, and checking it"
  for round in one two; do
    SOURCE_DATE_EPOCH=1000000000 RELEASE_COMMIT=none RELEASE_TARGET=$(host_target) RELEASE_LEVEL=1 \
      RELEASE_PROFILE=$INSTANCE/profile \
      release_files pack "$BINARY" "$ROOT" "$INSTANCE/release/$round" >"$INSTANCE/release.log" ||
      die "the archive could not be created: see above"
  done
  diff -r "$INSTANCE/release/one" "$INSTANCE/release/two" >&2 || die "two archives of the same server differ"
  rm -rf "$INSTANCE/release/two"
  check_archives "$INSTANCE/release/one" "$ROOT" --spoil || die "the archive does not pass its checks: see above"
  rm -rf "$INSTANCE/release" "$INSTANCE/profile"
}

# Finds cargo-auditable of our version; otherwise compiles it, which takes half a minute.
need_auditable() {
  local found=$SUPPLY/bin/cargo-auditable
  mkdir -p "$SUPPLY/bin"
  if [ -x "$found" ] && has_auditable "$SUPPLY"; then return 0; fi
  say "compiling cargo-auditable"
  run_child cargo install cargo-auditable --locked --quiet --version "$AUDITABLE_VERSION" --root "$SUPPLY" ||
    die "cargo-auditable could not be installed: see above"
}

# cargo-auditable does not print its version; cargo's list of installed programs has it.
has_auditable() { cargo install --list --root "$1" | grep -qx "cargo-auditable v$AUDITABLE_VERSION:"; }
