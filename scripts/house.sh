# shellcheck shell=bash disable=SC2034,SC2154 # The other parts read the variables set here.
# Runs a house in containers as described by docker-compose.yml, which is given unchanged to docker-compose on top
# of podman instead of Docker. A second server and a reverse proxy are added (tests/containers/second_server.py). Games are
# played through the proxy while a server is killed, and during a rolling upgrade of both servers to another image;
# then everything is shut down in order and the ledger is verified.
#
# podman differs from Docker in three points: a container with a read-only root also has memory file systems on /tmp,
# /var/tmp and /run; this script runs the health checks of the containers, as systemd does not run here; and names are
# read from files of hosts, because podman's name server loses queries for seconds whenever a container is replaced.

# The compose services that run a server.
SERVERS='server server-two'

compose() {
  env -i PATH="$PATH" HOME="$HOME" CONTAINERS_CONF="$IMAGES/containers.conf" \
    DOCKER_HOST="unix://$IMAGES/podman.sock" COMPOSE_PROJECT_NAME=house \
    docker-compose --project-directory "$ROOT" --env-file "$IMAGES/env" \
    --file docker-compose.yml --file "$IMAGES/second_server.json" "$@"
}

run_compose() {
  run_child compose "$@" >"$IMAGES/compose.log" 2>&1 && return 0
  tail -n 20 "$IMAGES/compose.log" >&2
  print_logs
  die "docker-compose $* failed: see above"
}

# Prints the last lines of each container's log, and stores all of it in a file.
print_logs() {
  local name
  for name in $(with_storage podman ps --all --format '{{.Names}}'); do
    with_storage podman logs "$name" >"$IMAGES/$name.log" 2>&1 || :
    say "$name: $(tail -n 12 "$IMAGES/$name.log")"
  done
}

# Runs the house. Requires the server's image $1.
check_house() {
  local name ids=''
  make_stand_ins
  write_house_settings "$1"
  AT_EXIT="remove_house $AT_EXIT"
  remove_house
  spawn with_storage podman system service --time 0 "unix://$IMAGES/podman.sock" 2>"$IMAGES/service.log"
  spawn run_health_checks
  say "starting the house of docker-compose.yml: $(print_versions)"
  run_compose --profile watch config --quiet
  run_compose up --detach --no-build
  for name in $SERVERS; do await_health "$name"; done
  for name in redis postgres $SERVERS; do ids="$ids $(container_id "$name")"; done
  # shellcheck disable=SC2086 # Word splitting is intended.
  with_storage podman inspect $ids | "$CONTRACTS/venv/bin/python" tests/containers/container_limits.py "$ROOT" ||
    die "a container lacks a limit of docker-compose.yml: see above"
  await_proxied 2
  say "playing through a reverse proxy, then while a server is killed"
  play_through_proxy
  kill_server_during_game
  say "upgrading both servers to another image, one after the other, during games"
  upgrade_servers "$1"
  run_compose exec -T server bahay verify ledger
  stop_in_order
  remove_house
}

make_stand_ins() {
  make_base
  make_stand_in postgres "docker.io/library/$(image_name postgres)"
  make_stand_in redis "docker.io/library/$(image_name redis)"
  make_stand_in haproxy docker.io/library/haproxy:debian
}

print_versions() {
  local name said
  for name in postgres:postgres redis:redis-server; do
    said=$(with_storage podman run --rm --network none --entrypoint "${name##*:}" \
      "docker.io/library/$(image_name "${name%%:*}")" --version 2>/dev/null)
    printf '%s is here %s; ' "$(image_name "${name%%:*}")" \
      "$(printf '%s' "$said" | sed 's/ (Debian.*//; s/ sha=.*//')"
  done
}

# Writes the settings of the house: a random value for each secret that .env.sample leaves empty, and the
# exceptions of a test on one machine, where all players come from one address.
write_house_settings() {
  local name
  sed -n 's/^\([A-Z_]*\)=$/\1/p' .env.sample | while read -r name; do
    printf '%s=%s\n' "$name" "$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')"
  done >"$IMAGES/env"
  BAHAY_LISTEN=''
  choose_port 18680
  release_port
  printf '%s\n' "BAHAY_PORT=$LISTEN_PORT" BAHAY_SEPARATE_SAME_NETWORK=false BAHAY_NOT_READY_WAITS_S=0 BAHAY_TRUSTED_PROXIES=10.0.0.0/8 \
    >>"$IMAGES/env"
  unset BAHAY_LISTEN BAHAY_PROBE_LISTEN BAHAY_INVITE_BASE BAHAY_URL
  "$CONTRACTS/venv/bin/python" tests/containers/second_server.py "$ROOT" docker.io/library/haproxy:debian \
    >"$IMAGES/second_server.json"
}

container_id() { with_storage podman ps --all --quiet --filter "label=com.docker.compose.service=$1"; }

print_health() { with_storage podman inspect --format '{{.State.Health.Status}}' "$(container_id "$1")" 2>/dev/null; }

# Runs the health check of each container in a loop, as systemd's timers do on other machines.
run_health_checks() {
  local id
  while sleep 1; do
    for id in $(with_storage podman ps --quiet 2>/dev/null); do
      with_storage podman healthcheck run "$id" >/dev/null 2>&1 || :
    done
  done
}

await_health() {
  local tries=0
  until [ "$(print_health "$1")" = healthy ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 120 ] || { print_logs && die "$1 has not become healthy in two minutes"; }
    sleep 1
  done
}

# Waits until the proxy sends players to $1 servers.
await_proxied() {
  local tries=0
  until [ "$(count_proxied)" = "$1" ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 120 ] || { print_logs && die "the proxy has not found $1 servers in two minutes"; }
    sleep 1
  done
}

count_proxied() { print_proxy_status | awk '$2 == "UP"' | wc -l | tr -d ' '; }

# Prints the number of times that the proxy has lost server $1.
count_losses() { print_proxy_status | awk -v name="$1" '$1 == name { print $3 }'; }

# Prints a line for each server: its name in the proxy, its state, and the number of times it was lost.
print_proxy_status() {
  # shellcheck disable=SC2016 # Expanded in the container, and by awk.
  with_storage podman exec "$(container_id proxy)" bash -c \
    'exec 3<>/dev/tcp/127.0.0.1/8404 && printf "GET /;csv HTTP/1.0\r\n\r\n" >&3 && cat <&3' |
    awk -F, '
      /^# pxname/ { for (i = 1; i <= NF; i++) column[$i] = i }
      $1 == "servers" && $2 != "BACKEND" { print $2, $column["status"], $column["chkdown"] }'
}

# Waits until the proxy has lost server $1 more than $2 times. Before that, the proxy may still take the old
# server for the new one.
await_lost() {
  local tries=0
  until [ "$(count_losses "$1")" -gt "$2" ] 2>/dev/null; do
    tries=$((tries + 1))
    [ "$tries" -lt 60 ] || { print_logs && die "the proxy has not noticed the replacement of server $1"; }
    sleep 1
  done
}

play_through_proxy() {
  run_child compose run --rm player >"$IMAGES/demo.log" 2>&1 && return 0
  print_logs
  die "the game through the proxy failed: $(tail -n 5 "$IMAGES/demo.log")"
}

# Kills the process instead of stopping the container, so the restart policy restarts the container.
kill_server_during_game() {
  local player pid before tries=0
  before=$(with_storage podman inspect --format '{{.State.Pid}}' "$(container_id server)")
  spawn compose run --rm player >"$IMAGES/demo.log" 2>&1
  player=$CHILD
  until grep -q '^Game 1,' "$IMAGES/demo.log"; do
    process_start "$player" >/dev/null || die "no game began: $(tail -n 1 "$IMAGES/demo.log")"
    sleep 0.1
  done
  kill -KILL "$before"
  await_child "$player" || die "the players did not survive a killed server: $(tail -n 5 "$IMAGES/demo.log")"
  while pid=$(with_storage podman inspect --format '{{.State.Pid}}' "$(container_id server)") &&
    [ "$pid" = "$before" ] || [ "$pid" = 0 ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 60 ] || die "the killed server was not restarted"
    sleep 1
  done
  await_health server
  await_proxied 2
}

# Upgrades both servers to an image with the same server under another name, which tests the replacement and
# not a change of version. Games are played one after the other meanwhile.
upgrade_servers() {
  local name image players before
  build_image --build-arg "BEFORE=$1" --tag "$1-next" --file tests/containers/images/next \
    tests/containers/images
  in_storage podman tag "$1-next" "$1"
  image=$(with_storage podman image inspect --format '{{.Id}}' "$1")
  run_compose run --rm migrate
  rm -f "$IMAGES/exchanged"
  spawn play_during_upgrade
  players=$CHILD
  for name in two one; do
    before=$(count_losses "$name")
    run_compose up --detach --no-build --no-deps "$(compose_service_of "$name")"
    await_health "$(compose_service_of "$name")"
    # Stopping the next server before the proxy has found this one would leave the players without a server.
    await_lost "$name" "$before"
    await_proxied 2
    [ "$(with_storage podman inspect --format '{{.Image}}' "$(container_id "$(compose_service_of "$name")")")" = "$image" ] ||
      die "$(compose_service_of "$name") does not run the new image"
  done
  : >"$IMAGES/exchanged"
  await_child "$players" || { print_logs && die "the players did not survive the upgrade: $(tail -n 5 "$IMAGES/meanwhile.log")"; }
  play_through_proxy
}

# Prints the compose service of the server that the proxy calls $1.
compose_service_of() { case $1 in one) echo server ;; two) echo server-two ;; esac; }

# Plays at least one game to its end, and further games until the upgrade is complete.
play_during_upgrade() {
  while :; do
    compose run --rm player >"$IMAGES/meanwhile.log" 2>&1 || return 1
    [ ! -f "$IMAGES/exchanged" ] || return 0
  done
}

# Stops the house. A status other than zero means that a process was killed instead of shutting down in order.
stop_in_order() {
  local name status
  run_compose stop
  for name in $SERVERS redis postgres; do
    status=$(with_storage podman inspect --format '{{.State.ExitCode}}' "$(container_id "$name")")
    [ "$status" = 0 ] || { print_logs && die "$name ended with status $status"; }
  done
  say "servers, Redis and PostgreSQL shut down in order"
}

# Removes all containers, volumes and networks, including those of a killed ./dev.
remove_house() {
  with_storage podman rm --all --force --volumes --time 0 >/dev/null 2>&1 || :
  with_storage podman volume rm --all --force >/dev/null 2>&1 || :
  with_storage podman network prune --force >/dev/null 2>&1 || :
}
