# shellcheck shell=bash disable=SC2034,SC2154 # The other parts read the variables set here.
# Builds images without a registry: the server's from our Dockerfile with buildah, and stand-ins under the names
# that Dockerfile and docker-compose.yml use, for the images that these would pull. A stand-in is Debian from
# debootstrap with Debian's packages (tests/containers/images), so its version may differ from its name; the actual
# version is printed.
#
# All storage is in target/containers, none in the machine's own. Building needs root with the right to create
# namespaces.
#
# The machine's toolchain, certificates and cargo configuration are mounted while the first stage is built. They
# are not part of any image.
# stage is built. They are in no image.

IMAGES=target/containers
CONTAINER_PROGRAMS='buildah podman runc debootstrap docker-compose'

# Prints the reason if images cannot be built or run here, or nothing.
missing_for_images() {
  if [ "$(uname -s)" != Linux ]; then
    echo "containers need Linux"
  elif [ "$(id -u)" != 0 ]; then
    echo "building and running images needs root, and this is user $(id -un)"
  elif ! unshare --mount --net --pid --fork true 2>/dev/null; then
    echo "the kernel does not permit new namespaces here"
  elif ! has_container_programs && ! type -P apt-get >/dev/null; then
    echo "some of these are missing: $CONTAINER_PROGRAMS netavark aardvark-dns iptables"
  fi
}

has_container_programs() {
  local name
  for name in $CONTAINER_PROGRAMS iptables; do type -P "$name" >/dev/null || return 1; done
  [ -x /usr/lib/podman/netavark ] && [ -x /usr/lib/podman/aardvark-dns ]
}

# Prepares storage, network and configuration. Concurrent runs would use the same addresses, so they wait for
# a lock.
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
  # All state is in our folder, and the limits on files and processes are those of this user.
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

# Unmounts layers, which would prevent the removal of the folder.
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

# Creates a minimal Debian image from the mirror that this machine's apt uses.
make_base() {
  local root=$IMAGES/base mirror container
  ! with_storage buildah inspect --type image localhost/base >/dev/null 2>&1 || return 0
  say "making a base image by debootstrap"
  mirror=$(apt-get indextargets --format '$(SITE) $(CODENAME) $(LABEL)' 'Created-By: Packages' |
    sed -n 's/ bookworm Debian$//p' | head -n 1)
  rm -rf "$root"
  # Without a mirror, debootstrap uses Debian's own.
  # shellcheck disable=SC2086 # The variable may be empty.
  run_child debootstrap --variant=minbase bookworm "$root" $mirror >"$IMAGES/debootstrap.log" 2>&1 ||
    die "debootstrap failed: $(tail -n 1 "$IMAGES/debootstrap.log")"
  rm -rf "$root"/var/cache/apt/archives/*.deb
  container=$(with_storage buildah from scratch)
  in_storage buildah add --quiet "$container" "$root" / >/dev/null
  in_storage buildah commit --quiet --rm "$container" localhost/base >/dev/null
  rm -rf "$root"
}

# make_stand_in NAME IMAGE builds tests/containers/images/NAME under the name IMAGE. Existing layers are
# reused.
make_stand_in() {
  build_image --file "tests/containers/images/$1" --tag "$2" tests/containers/images
}

# Prints the full name of image $1 in docker-compose.yml or the Dockerfile.
image_name() {
  sed -n "s/^ *\(image:\|FROM\) \($1:[^ ]*\).*/\2/p" docker-compose.yml Dockerfile | head -n 1
}

# Builds the release image of the server from the whole Dockerfile, which takes a release build.
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
  # buildah does not notice that a stage is used through a build argument.
  build_image "${mounts[@]}" --skip-unused-stages=false --tag "$1" .
  say "built in $((SECONDS - started)) s, with $(image_megabytes "$1") MB"
}

# Builds the image from the last stages of the Dockerfile alone, with an already built server.
build_quick_image() {
  local container
  container=$(make_program_container "$BINARY" /image)
  in_storage buildah commit --quiet --rm "$container" localhost/given >/dev/null
  build_image --build-arg SERVER=localhost/given --tag "$1" .
}

# Builds the image of the players, with the already built laboratory.
build_players_image() {
  local container
  container=$(make_program_container "$LAB_BINARY" /)
  in_storage buildah config --entrypoint '["/usr/local/bin/bahay-lab"]' "$container" >/dev/null
  in_storage buildah commit --quiet --rm "$container" "$1" >/dev/null
}

# Creates a container with program $1 and its libraries under folder $2, and prints its name.
make_program_container() {
  local folder=$IMAGES/given container
  rm -rf "$folder"
  containers/gather.sh "$1" "$folder" || die "the libraries of $1 could not be gathered"
  container=$(with_storage buildah from scratch)
  in_storage buildah add --quiet "$container" "$folder" "$2" >/dev/null
  rm -rf "$folder"
  printf '%s\n' "$container"
}

# Checks that the image contains no files besides those that gather.sh adds, since they would help an
# intruder.
check_image_contents() {
  local container folder extra
  container=$(with_storage buildah from --pull-never "$1")
  folder=$(with_storage buildah mount "$container")
  extra=$(cd "$folder" && find . -type f | grep -vE \
    '^\./(usr/local/bin/bahay|usr/share/doc/bahay/THIRD_PARTY\.md|(usr/)?lib(32|64)?/[^ ]*\.so[.0-9]*)$' || :)
  [ -x "$folder/usr/local/bin/bahay" ] || die "the image contains no server"
  with_storage buildah rm "$container" >/dev/null
  [ -z "$extra" ] || die "the image contains files that the server does not need: $extra"
}

image_megabytes() {
  echo $(($(with_storage podman image inspect --format '{{.Size}}' "$1") / 1000000))
}
