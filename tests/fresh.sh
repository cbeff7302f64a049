#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck disable=SC2317 # functions are called by name
# fresh.sh: the commands of the README on Debian systems with nothing on them.
set -u

usage="Usage: tests/fresh.sh [--full] [bookworm] [trixie]

Makes a minimal Debian system of each name (both if none is given) in a
temporary folder: apt, git, sudo and ca-certificates, and no CUDA toolkit.
Copies the last commit into it and runs the commands there as the README has
them, as root; the tests with --quick.  Then builds the Debian packages without a
network, installs, tries and purges them, by the commands of examples/Containerfile; that
itself is built by buildah from the system that it names.  In the first system runs the commands
once more as a user with sudo.  Packages come from this machine's own mirror of Debian.  It
takes root, some 9 minutes for a system, 3 more for the image, and 5 GB on the disk.

--full  all the tests, and neither as a user nor the packages

What the commands print is kept in build-fresh/.  The last line is
\"N passed, N failed\"; the exit status is 0 only if none failed."

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs=$root/build-fresh
export LC_ALL=C.UTF-8
# shellcheck source=tests/setup/deps.sh
. "$root/tests/setup/deps.sh"
# shellcheck source=tests/setup/systems.sh
. "$root/tests/setup/systems.sh"

quick=--quick suites=()
for argument in "$@"; do
  case $argument in
    --full) quick='' ;;
    -h | --help) echo "$usage" && exit 0 ;;
    -* | */* | '') echo "$usage" >&2 && exit 2 ;;
    *) suites+=("$argument") ;;
  esac
done
[ ${#suites[@]} -gt 0 ] || suites=(bookworm trixie)

passed=0 failed=0 skipped=0 failures='' running=''
work=$(mktemp -d)
# A user must get through to the system.
chmod 755 "$work"

# shellcheck disable=SC2317 # called by trap
finish() {
  local status=$?
  trap - EXIT
  # Processes and what is mounted go with their namespace.
  if [ -n "$running" ]; then kill -KILL "$running" && wait "$running"; fi 2> /dev/null
  rm -rf --one-file-system "$work"
  # An end that nobody planned is a failure too.
  if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi
  printf '\n%s' "$failures"
  if [ "$skipped" -ne 0 ]; then echo "$skipped skipped"; fi
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ] || exit 1
  exit 0
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# case_of NAME LOG COMMAND...: one case; what LOG says of failures, and its end,
# show if it fails.
case_of() {
  local name=$1 log=$2 begin=$SECONDS
  shift 2
  if "$@" > "$log" 2>&1 < /dev/null; then
    passed=$((passed + 1))
    echo "ok      $name ($((SECONDS - begin)) s$(downloads "$log"))"
    return 0
  fi
  failed=$((failed + 1))
  echo "FAILED  $name"
  {
    grep -a -E '^(FAILED|not ok|Bail out)|[0-9]+/[0-9]+ .* (FAIL|TIMEOUT|ERROR) |:E:' "$log" | head -n 40
    echo ...
    tail -n 30 "$log"
  } | sed 's/^/        /'
  failures+="FAILED: $name; see $log"$'\n'
  return 1
}

# What apt-get says that its packages are and take on the disk, all of them.
downloads() {
  awk 'function mb(n, unit) { gsub (/,/, "", n)
      return n * (unit == "GB" ? 1000 : unit == "MB" ? 1 : 0.001) }
    /^Need to get .* of archives/ { sub (/^Need to get (.*\/)?/, ""); get += mb($1, $2) }
    /^After this operation, .* of additional/ { disk += mb($4, $5) }
    END { if (get) printf ", %.0f MB to download, %.0f MB on the disk", get, disk }' "$1"
}

# ---- systems -----------------------------------------------------------------

# make_system SUITE FOLDER
make_system() {
  list_sources "$1" | tee "$work/$1.list" && list_options > "$work/options"
  mmdebstrap --mode=root --variant=apt --aptopt="$work/options" \
    --include=git,sudo,ca-certificates,passwd "$1" "$2" "$work/$1.list" &&
    cp -L /etc/ssl/certs/ca-certificates.crt "$2/etc/ssl/certs/" &&
    echo 'user ALL=(ALL) NOPASSWD: ALL' > "$2/etc/sudoers.d/user" &&
    chroot "$2" useradd -m -s /bin/bash user &&
    check_bare "$2"
}

# check_bare FOLDER: neither a toolkit nor a driver nor what the commands are to
# install.
check_bare() {
  local found
  found=$(find "$1" -xdev \( -name nvcc -o -name 'libcuda.so*' -o \
    -name 'libnvrtc.so*' -o -name 'libgst*' -o -name cc -o -name meson \) -print)
  echo "$found"
  [ -z "$found" ]
}

# copy_tree FOLDER OWNER: the last commit.
copy_tree() {
  local home=$1/root
  [ "$2" = root ] || home=$1/home/$2
  mkdir "$home/gst-tfx" &&
    git -c safe.directory='*' -C "$root" archive HEAD |
    tar -x -C "$home/gst-tfx" &&
    chroot "$1" chown -R "$2" "${home#"$1"}/gst-tfx"
}

# in_system FOLDER OWNER COMMAND: in the tree, in an environment of its own.
# In the background, since unshare does not listen to signals.  Options for it are
# in the array isolate.
isolate=()
in_system() {
  local folder=$1 owner=$2 command=$3 proxies=()
  mapfile -t proxies < <(env | grep -i -E '^(https?|no)_proxy=')
  # shellcheck disable=SC2016 # for the inner shell
  unshare --mount --pid --fork --kill-child "${isolate[@]}" sh -c '
    mount --rbind /dev "$0/dev" || exit 1
    mount -t proc proc "$0/proc" 2> /dev/null ||
      mount --rbind /proc "$0/proc" || exit 1
    owner=$1
    command=$2
    shift 2
    exec timeout 3600 chroot "$0" env -i TERM=dumb \
      PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@" \
      su -w http_proxy,https_proxy,no_proxy - "$owner" \
      -c "cd gst-tfx && $command"' \
    "$folder" "$owner" "$command" "${proxies[@]}" < /dev/null &
  running=$!
  wait "$running"
  local status=$?
  running=''
  return "$status"
}

# ---- the commands ------------------------------------------------------------

# The first words of what the README has in "Two commands".
list_commands() {
  awk '/^## / { here = $0 == "## Two commands" }
    here && /^```/ { code = !code; next }
    here && code { print $1 }' "$root/README.md"
}

# run_commands NAME FOLDER OWNER
run_commands() {
  local name=$1 folder=$2 owner=$3 command log n=0
  case_of "$name: the tree" "$logs/$name-tree.log" \
    copy_tree "$folder" "$owner" || return
  for command in $(list_commands); do
    log=$logs/$name-$(basename "$command" .sh).log
    n=$((n + 1))
    case $command in
      */demo.sh)
        case_of "$name: $command" "$log" run_demo "$folder" "$owner" "$command"
        isolate=(--net)
        case_of "$name: $command again, without a network" \
          "${log%.log}-again.log" run_demo "$folder" "$owner" "$command"
        isolate=()
        ;;
      */run.sh)
        case_of "$name: $command $quick" "$log" \
          run_tests "$folder" "$owner" "$command $quick"
        grep -E '^[0-9]+ (passed|skipped)' "$log" | sed 's/^/        /'
        ;;
    esac
  done
  case_of "$name: the README has two commands" "$logs/$name-readme.log" \
    test $n -eq 2
}

run_demo() {
  in_system "$@" && in_system "$1" "$2" "rm out/loop_tabla-filtered.{wav,png}"
}

run_tests() {
  in_system "$@" > "$work/tests" 2>&1
  local status=$?
  cat "$work/tests"
  [ "$status" -eq 0 ] &&
    tail -n 1 "$work/tests" | grep -q -E '^[1-9][0-9]* passed, 0 failed$'
}

# ---- the packages ------------------------------------------------------------

# The commands of examples/Containerfile's stage N, 1 or 2, one a line.
container_commands() {
  awk -v n="$1" '/^FROM / { stage++ } stage == n && sub (/^RUN /, "")' \
    "$root/examples/Containerfile"
}

# Without CUDA, whose headers alone would be 200 MB to download.
profile=$(sed -n 's/^ARG PROFILES=//p' "$root/examples/Containerfile")

# What the packages have put somewhere, or left.
find_installed='find / -xdev \( -path /root -o -path /home -o -path /proc -o -path /tmp \) \
  -prune -o -name "*tfx*" -print'

# What is no apt-get runs without a network.
build_packages() {
  local command n=0
  while IFS= read -r command; do
    n=$((n + 1))
    case $command in apt-get*) ;; *) isolate=(--net) ;; esac
    in_system "$1" root "export PROFILES='$profile'; $command"
    local status=$?
    isolate=()
    [ "$status" -eq 0 ] || return 1
  done < <(container_commands 1)
  [ "$n" -eq 3 ] && in_system "$1" root \
    'apt-get -q -y install lintian &&
    lintian --allow-root --fail-on error ../gst-tfx_*.changes'
}

use_packages() {
  local command n=0
  in_system "$1" root "cp ../gst-tfx_*.deb ../gstreamer1.0-tfx_*.deb /opt" || return
  while IFS= read -r command; do
    n=$((n + 1))
    in_system "$1" root "$command" || return
  done < <(container_commands 2)
  [ "$n" -eq 2 ] && in_system "$1" root "set -e
    cd /tmp
    gst-inspect-1.0 tfxchain | grep 'Debian'
    gst-tfx process /usr/share/sonic-pi/samples/loop_tabla.flac room.flac \
      'HiButterworth(80) | Gain(0.5)'
    [ -s room.flac ] && rm room.flac
    zcat /usr/share/man/man1/gst-tfx.1.gz | grep 'gst-tfx process'
    . /usr/share/bash-completion/completions/gst-tfx
    complete -p gst-tfx"
}

purge_packages() {
  in_system "$1" root "apt-get -q -y purge gst-tfx gstreamer1.0-tfx &&
    ! $find_installed | grep ."
}

# run_packages NAME FOLDER
run_packages() {
  local name=$1 folder=$2 log=$logs/$1-package
  case_of "$name: packages are built" "$log-build.log" build_packages "$folder" &&
    case_of "$name: packages are installed and used" "$log-use.log" \
      use_packages "$folder" &&
    case_of "$name: packages are purged" "$log-purge.log" purge_packages "$folder"
}

# ---- the image -----------------------------------------------------------------

# What examples/Containerfile starts from.
base=$(sed -n 's/^FROM \([^ ]*\)$/\1/p' "$root/examples/Containerfile")

# buildah, which takes neither a daemon nor a registry, with files of its own.
engine() {
  buildah --storage-driver vfs --root "$work/image/root" --runroot "$work/image/run" "$@"
}

# The system as it came, in a file.
keep_system() {
  mkdir -p "$work/image/tree" && tar -C "$1" -c . > "$work/image/base.tar"
}

# The tests have run where the packages were made.
build_image() {
  local container
  container=$(engine from scratch) &&
    engine add -q "$container" "$work/image/base.tar" / &&
    engine commit -q --rm "$container" "$base" && rm "$work/image/base.tar" &&
    git -c safe.directory='*' -C "$root" archive HEAD | tar -x -C "$work/image/tree" &&
    engine build --isolation chroot --pull-never --layers=false \
      --build-arg PROFILES="$profile,nocheck" -f examples/Containerfile \
      -t gst-tfx "$work/image/tree"
}

# use_image SOUND
use_image() {
  local sounds=$work/image/sounds container
  mkdir "$sounds" && cp "$1" "$sounds/voice.flac" &&
    engine inspect --type image --format '{{.OCIv1.Config.Entrypoint}}' gst-tfx |
    grep -x '\[gst-tfx\]' && container=$(engine from --pull-never gst-tfx) &&
    engine run --isolation chroot "$container" gst-tfx --version &&
    engine run --isolation chroot -v "$sounds:/sounds" "$container" \
      gst-tfx process voice.flac clean.flac 'HiButterworth(80)' &&
    [ -s "$sounds/clean.flac" ] && engine rm "$container"
}

# run_image NAME FOLDER: a system that has the sound.
run_image() {
  if ! deps_require "for an image" buildah > "$logs/$1-buildah.log" 2>&1; then
    echo "skipped $1: an image: buildah cannot be installed"
    skipped=$((skipped + 1))
    return
  fi
  case_of "$1: an image is built by buildah" "$logs/$1-image.log" build_image &&
    case_of "$1: the image filters a file" "$logs/$1-image-use.log" \
      use_image "$2/usr/share/sonic-pi/samples/loop_tabla.flac"
  rm -rf --one-file-system "$work/image"
}

# ---- all of it -----------------------------------------------------------------

[ "$(id -u)" -eq 0 ] || { echo "error: it takes root" >&2 && exit 1; }
deps_require "for systems to try" mmdebstrap || exit 1
rm -rf "$logs"
mkdir -p "$logs" || exit 1

for suite in "${suites[@]}"; do
  system=$work/$suite
  case_of "$suite: a minimal system" "$logs/$suite-system.log" \
    make_system "$suite" "$system" || continue
  as_user=false
  if [ "$suite" = "${suites[0]}" ] && [ -n "$quick" ]; then
    as_user=true
    cp -a "$system" "$work/user"
  fi
  with_image=false
  if [ "$suite" = "${base##*:}" ] && [ -n "$quick" ]; then
    with_image=true
    keep_system "$system"
  fi
  run_commands "$suite" "$system" root
  [ -z "$quick" ] || run_packages "$suite" "$system"
  if $with_image; then run_image "$suite" "$system"; fi
  if $as_user; then
    # Packages that are here need not be fetched.
    mv "$system"/var/cache/apt/archives/*.deb "$work/user/var/cache/apt/archives/"
    rm -rf --one-file-system "$system"
    run_commands "$suite-user" "$work/user" user
    system=$work/user
  fi
  rm -rf --one-file-system "$system"
done
exit 0
