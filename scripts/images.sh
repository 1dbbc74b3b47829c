# shellcheck shell=bash disable=SC2034,SC2154 # What is set here is read by the other parts.
# Images without a registry: that of the server, built from our Dockerfile by buildah, and stand-ins, under
# the names that Dockerfile and docker-compose.yml use, for those which these would fetch. A stand-in is
# Debian by debootstrap with Debian's packages (tests/containers/images), so its version may be another one
# than its name says; what runs in it is said.
#
# Everything lies in target/containers and in no storage of the machine. It takes root, who may make
# namespaces; who is not root is told so.
#
# The toolchain of the machine, its certificates and what its cargo is told are mounted while the first
# stage is built. They are in no image.

IMAGES=target/containers
CONTAINER_PROGRAMS='buildah podman runc debootstrap docker-compose'

# Prints why no image can be built or run here, or nothing.
missing_for_images() {
  if [ "$(uname -s)" != Linux ]; then
    echo "containers are run on Linux alone"
  elif [ "$(id -u)" != 0 ]; then
    echo "building and running images takes root, and this is user $(id -un)"
  elif ! unshare --mount --net --pid --fork true 2>/dev/null; then
    echo "the kernel gives no namespaces here"
  elif ! has_container_programs && ! type -P apt-get >/dev/null; then
    echo "these are missing: $CONTAINER_PROGRAMS netavark aardvark-dns iptables"
  fi
}

has_container_programs() {
  local name
  for name in $CONTAINER_PROGRAMS iptables; do type -P "$name" >/dev/null || return 1; done
  [ -x /usr/lib/podman/netavark ] && [ -x /usr/lib/podman/aardvark-dns ]
}

# Everything that the functions below need. Two runs would use the same addresses, so one waits.
prepare_images() {
  if ! has_container_programs; then
    mkdir -p "$PROGRAMS"
    lock "$PROGRAMS/lock"
    install_programs containers
    unlock "$PROGRAMS/lock"
    has_container_programs || die "some of these are missing: $CONTAINER_PROGRAMS netavark aardvark-dns iptables"
  fi
  AT_EXIT="unlock_images $AT_EXIT"
  lock /tmp/bahay-containers.lock
  mkdir -p "$IMAGES/run"
  IMAGES=$(cd "$IMAGES" && pwd -P)
  # Everything of ours, and no more files and processes than this user may have.
  cat >"$IMAGES/containers.conf" <<CONF
[containers]
default_ulimits = ["nofile=$(ulimit -Hn):$(ulimit -Hn)", "nproc=4096:4096"]
log_driver = "k8s-file"
[network]
network_backend = "netavark"
network_config_dir = "$IMAGES/networks"
[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
events_logger = "file"
tmp_dir = "$IMAGES/run/libpod"
CONF
}

# Layers that are still mounted would keep the folder from being removed.
unlock_images() {
  local place
  while read -r _ place _; do
    case $place in "$IMAGES"/*) umount "$place" 2>/dev/null || : ;; esac
  done < <(tac /proc/mounts)
  unlock /tmp/bahay-containers.lock
}

with_storage() {
  local program=$1
  shift
  CONTAINERS_CONF=$IMAGES/containers.conf "$program" --root "$IMAGES/root" --runroot "$IMAGES/run" "$@"
}

in_storage() { run_child with_storage "$@"; }

build_image() {
  in_storage buildah build --isolation chroot --format docker --layers --quiet "$@" \
    >"$IMAGES/build.id" 2>"$IMAGES/build.log" && return 0
  tail -n 20 "$IMAGES/build.log" >&2
  die "an image could not be built: see above, and $IMAGES/build.log"
}

# Debian by itself, from where apt of this machine takes it.
make_base() {
  local root=$IMAGES/base mirror container
  ! with_storage buildah inspect --type image localhost/base >/dev/null 2>&1 || return 0
  say "making a base image by debootstrap"
  mirror=$(apt-get indextargets --format '$(SITE) $(CODENAME) $(LABEL)' 'Created-By: Packages' |
    sed -n 's/ bookworm Debian$//p' | head -n 1)
  rm -rf "$root"
  # Without a mirror it knows Debian's own.
  # shellcheck disable=SC2086 # Possibly no word at all.
  run_child debootstrap --variant=minbase bookworm "$root" $mirror >"$IMAGES/debootstrap.log" 2>&1 ||
    die "debootstrap failed: $(tail -n 1 "$IMAGES/debootstrap.log")"
  rm -rf "$root"/var/cache/apt/archives/*.deb
  container=$(with_storage buildah from scratch)
  in_storage buildah add --quiet "$container" "$root" / >/dev/null
  in_storage buildah commit --quiet --rm "$container" localhost/base >/dev/null
  rm -rf "$root"
}

# make_stand_in NAME IMAGE: tests/containers/images/NAME under the name that others use. Layers that are
# there already are used again.
make_stand_in() {
  build_image --file "tests/containers/images/$1" --tag "$2" tests/containers/images
}

# The name that docker-compose.yml or the Dockerfile has for an image of $1.
image_name() {
  sed -n "s/^ *\(image:\|FROM\) \($1:[^ ]*\).*/\2/p" docker-compose.yml Dockerfile | head -n 1
}

# The image of the server as a release has it: all of our Dockerfile. It takes a release build.
build_whole_image() {
  local certificates=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt} cargo started=$SECONDS
  local mounts=()
  make_stand_in rust "docker.io/library/$(image_name rust)"
  mounts+=(--volume "$(rustc --print sysroot):/usr/local/rust:ro")
  [ ! -f "$certificates" ] ||
    mounts+=(--volume "$certificates:/etc/ssl/certs/ca-certificates.crt:ro")
  for cargo in "${CARGO_HOME:-$HOME/.cargo}"/config{,.toml}; do
    [ ! -f "$cargo" ] || mounts+=(--volume "$cargo:/usr/local/cargo/${cargo##*/}:ro")
  done
  say "building the image of our Dockerfile, with $(rustc --version), as $(image_name rust)"
  # buildah does not see that a stage is used which an argument names.
  build_image "${mounts[@]}" --skip-unused-stages=false --tag "$1" .
  say "it took $((SECONDS - started)) s, and has $(image_megabytes "$1") MB"
}

# The same from its last stages alone, with a server that was built already.
build_quick_image() {
  local folder=$IMAGES/given container
  rm -rf "$folder"
  containers/gather.sh "$BINARY" "$folder" || die "the server's libraries could not be gathered"
  container=$(with_storage buildah from scratch)
  in_storage buildah add --quiet "$container" "$folder" /image >/dev/null
  in_storage buildah commit --quiet --rm "$container" localhost/given >/dev/null
  rm -rf "$folder"
  build_image --build-arg SERVER=localhost/given --tag "$1" .
}

# What is in the image beside what gather.sh puts there would be there for whoever breaks in.
check_image_contents() {
  local container folder extra
  container=$(with_storage buildah from --pull-never "$1")
  folder=$(with_storage buildah mount "$container")
  extra=$(cd "$folder" && find . -type f | grep -vE \
    '^\./(usr/local/bin/bahay|usr/share/doc/bahay/THIRD_PARTY\.md|(usr/)?lib(32|64)?/[^ ]*\.so[.0-9]*)$' || :)
  [ -x "$folder/usr/local/bin/bahay" ] || die "there is no server in the image"
  with_storage buildah rm "$container" >/dev/null
  [ -z "$extra" ] || die "the image holds what the server does not need: $extra"
}

image_megabytes() {
  echo $(($(with_storage podman image inspect --format '{{.Size}}' "$1") / 1000000))
}
