#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck disable=SC2317 # functions are called by name
# fresh.sh: the commands of the README on Debian systems with nothing on them.
set -u

usage="Usage: tests/fresh.sh [--all] [--keep FOLDER] [--only PART]... [bookworm] [trixie]

Makes minimal Debian systems with apt, git, sudo and ca-certificates, and without a
CUDA toolkit, in a temporary folder.  Copies the last commit into them, and runs the blocks of
README.md that are marked run-by=tests/fresh.sh, as they are written, each in a new system;
for wheels, of docs/python.md, and for packages, of docs/cookbook.md:

packages  builds, installs, uses and purges the Debian packages, as a user with sudo; boots
          systemd for the units of gst-tfx serve
source    builds, installs, uses and uninstalls from source, as a user with sudo
image     builds the container image with buildah, from the packages that were built, and
          filters a file in it
commands  the demo, once more without a network, and tests/run.sh
wheels    builds the wheels of the Python package once, and tests them without a compiler,
          on AArch64 in an emulator; then the package from source.  Only with --all or --only

By default trixie gets all of it, as a user with sudo.  bookworm gets packages, source and
the demo, the last as root: tests/run.sh and the image say nothing new there.
The packages come from this machine's mirror of Debian.  It takes root, and 5 GB of memory if 8 are free, or else on the disk.

--all          everything in both systems; the demo as root and as a user; packages with
               their tests and tfx-eq, and lintian; the image compiles its own
--keep FOLDER  keep the minimal systems and the downloaded packages in FOLDER, and use those
               that are there
--only PART    only this part; may be given more than once

What the commands print is kept in build-fresh/.  The last line is
\"N passed, N failed\"; the exit status is 0 only if none failed."

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs=$root/build-fresh
export LC_ALL=C.UTF-8
# shellcheck source=tests/setup/deps.sh
. "$root/tests/setup/deps.sh"
# shellcheck source=tests/setup/systems.sh
. "$root/tests/setup/systems.sh"

arguments=("$@")
all=false keep='' parts='' suites=()
while [ $# -gt 0 ]; do
  case $1 in
    --all) all=true ;;
    --keep) keep=${2-} && shift ;;
    --only) parts+=" ${2-}" && shift ;;
    -h | --help) echo "$usage" && exit 0 ;;
    -* | */* | '') echo "$usage" >&2 && exit 2 ;;
    *) suites+=("$1") ;;
  esac
  shift
done
[ ${#suites[@]} -gt 0 ] || suites=(trixie bookworm)
if [ -z "$parts" ]; then
  parts='packages source image commands'
  if $all; then parts+=' wheels'; fi
fi

# is_wanted PART
is_wanted() {
  [[ " $parts " = *" $1 "* ]]
}

passed=0 failed=0 skipped=0 failures='' running=''
# Mounts end with this process.
[ "$(id -u)" -eq 0 ] || { echo "error: it takes root" >&2 && exit 1; }
if [ -z "${FRESH_MOUNTS-}" ]; then
  FRESH_MOUNTS=own exec unshare --mount bash "$root/tests/fresh.sh" "${arguments[@]}"
fi
work=$(mktemp -d)
# Unpacking takes half the time in memory.
if [ "$(awk '/^MemAvailable:/ { print int ($2 / 1e6) }' /proc/meminfo)" -ge 8 ]; then
  mount -t tmpfs -o size=6G fresh "$work"
fi
# A user must get through to the system.
chmod 755 "$work"
keep=${keep:-$work}

# shellcheck disable=SC2317 # called by trap
finish() {
  local status=$?
  trap - EXIT
  # Processes and what is mounted go with their namespace.
  if [ -n "$running" ]; then kill -KILL "$running" && wait "$running"; fi 2> /dev/null
  rm -rf --one-file-system "$work" 2> /dev/null
  if mountpoint -q "$work"; then umount -l "$work" && rmdir "$work"; fi
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

# What apt-get or apt says that its packages are and take on the disk, all of them.
downloads() {
  awk 'function mb(n, unit) { gsub (/,/, "", n)
      return n * (unit == "GB" ? 1000 : unit == "MB" ? 1 : 0.001) }
    /^Need to get .* of archives/ { sub (/^Need to get (.*\/)?/, ""); get += mb($1, $2) }
    /^After this operation, .* of additional/ { disk += mb($4, $5) }
    # apt 3: to download, of all that is needed; needed on the disk, of what is free
    /^ *Download size: / { sub (/^.*(: |\/ )/, ""); get += mb($1, $2) }
    /^ *Space needed: / { disk += mb($3, $4) }
    END { if (get) printf ", %.0f MB to download, %.0f MB on the disk", get, disk }' "$1"
}

# ---- systems -----------------------------------------------------------------

# make_base SUITE: a minimal system, as an archive.
make_base() {
  local base=$keep/$1.tar
  mkdir -p "$keep/$1-archives"
  [ ! -e "$base" ] || return 0
  # apt-get and apt do not ask, and keep what they have downloaded for the next system.
  # shellcheck disable=SC2016 # mmdebstrap's own
  list_sources "$1" | tee "$work/$1.list" && list_options > "$work/options" &&
    printf '%s\n' 'APT::Get::Assume-Yes "true";' \
      'Binary::apt::APT::Keep-Downloaded-Packages "true";' \
      >> "$work/options" &&
    mmdebstrap --mode=root --variant=apt --aptopt="$work/options" \
      --dpkgopt=force-unsafe-io \
      --include=git,sudo,ca-certificates,passwd \
      --customize-hook='cp -L /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/"' \
      --customize-hook='echo "user ALL=(ALL) NOPASSWD: ALL" > "$1/etc/sudoers.d/user"' \
      --customize-hook='chroot "$1" useradd -m -s /bin/bash user' \
      "$1" "${base%.tar}.new.tar" "$work/$1.list" && mv "${base%.tar}.new.tar" "$base"
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

# new_system SUITE OWNER: in the place of the last one, with the last commit in the owner's
# gst-tfx.
new_system() {
  suite=$1 owner=$2 system=$work/$1 home=/root
  [ "$owner" = root ] || home=/home/$owner
  rm -rf --one-file-system "$system"
  mkdir "$system" && tar -x -f "$keep/$suite.tar" -C "$system" && check_bare "$system" &&
    mkdir "$system$home/gst-tfx" && copy_tree "$system$home/gst-tfx" &&
    chroot "$system" chown -R "$owner" "$home/gst-tfx"
}

copy_tree() {
  git -c safe.directory='*' -C "$root" archive HEAD | tar -x -C "$1"
}

# in_system COMMANDS: in the tree, in an environment of its own.
# In the background, since unshare does not listen to signals.  Options for it are
# in the array isolate.
isolate=()
in_system() {
  local proxies=()
  mapfile -t proxies < <(env | grep -i -E '^(https?|no)_proxy=')
  # shellcheck disable=SC2016 # for the inner shell
  unshare --mount --pid --fork --kill-child "${isolate[@]}" sh -c '
    mount --rbind /dev "$0/dev" || exit 1
    mount -t proc proc "$0/proc" 2> /dev/null ||
      mount --rbind /proc "$0/proc" || exit 1
    mount --bind "$1" "$0/var/cache/apt/archives" || exit 1
    owner=$2
    command=$3
    shift 3
    exec timeout 3600 chroot "$0" env -i TERM=dumb \
      PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@" \
      su -w http_proxy,https_proxy,no_proxy - "$owner" -c "cd gst-tfx && set -e
$command"' \
    "$system" "$keep/$suite-archives" "$owner" "$1" "${proxies[@]}" < /dev/null &
  running=$!
  wait "$running"
  local status=$?
  running=''
  return "$status"
}

# ---- the README's blocks -------------------------------------------------------

# block_of WORDS: the block of code for this script, on $page, that has these words in it.
page=README.md
block_of() {
  awk -v words="$1" '
    /^```/ { if (code && index (block, words)) { printf "%s", block; found = 1; exit }
             code = !code && /run-by=tests\/fresh\.sh/; block = ""; next }
    code { block = block $0 "\n" }
    END { exit !found }' "$root/$page"
}

# command_of WORDS: the first line of that block that has them, without arguments that a
# reader may leave out.
command_of() {
  local block
  block=$(block_of "$1") && grep -m 1 -F "$1" <<< "$block" | sed 's/ *[[#].*//'
}

# run_block WORDS
run_block() {
  local block
  block=$(block_of "$1") || { echo "README.md has no block with $1" && return 1; }
  echo "$block"
  in_system "$block"
}

# ---- what is installed ---------------------------------------------------------

# The program and the element filter a file as the chain says: 20 dB at 440 Hz, and more.
# shellcheck disable=SC2016 # for the system's shell
use_program='
cd /tmp
gst-launch-1.0 -q audiotestsrc num-buffers=200 ! audio/x-raw,rate=48000 ! wavenc ! filesink location=tone.wav
gst-tfx process tone.wav program.flac "LoButterworth(100, order=4) | Gain(0.5)"
gst-launch-1.0 -q filesrc location=tone.wav ! decodebin ! audioconvert ! \
  tfxchain chain="LoButterworth(100, order=4) | Gain(0.5)" ! audioconvert ! \
  audio/x-raw,format=S16LE ! flacenc ! filesink location=element.flac
gst-tfx spectrum tone.wav program.flac element.flac | sed -n "/^#/p" | tee peaks
awk "{ peak[NR] = \$NF; frames[NR] = \$9 }
  END { exit NR != 3 || frames[2] != frames[1] || frames[3] != frames[1] || peak[1] < 0.7 ||
    peak[2] > 0.1 || peak[3] > 0.1 || peak[2] < 1e-3 || peak[3] < 1e-3 }" peaks
gst-launch-1.0 -q audiotestsrc num-buffers=1 ! tfxchain @preset="Rumble filter" ! fakesink
rm tone.wav program.flac element.flac peaks'

# The manual, the completion and the pages are where they belong.
# shellcheck disable=SC2016 # for the system's shell
use_documentation='
man=$(ls /usr/share/man/man1/gst-tfx.1*)
case $man in *.gz) zcat "$man" ;; *) cat "$man" ;; esac > /tmp/manual
grep "gst-tfx process" /tmp/manual
for page in $(grep -o "/usr/share/doc/[A-Za-z0-9_./-]*[a-z]" /tmp/manual); do ls "$page"; done
rm /tmp/manual
bash -c ". /usr/share/bash-completion/completions/gst-tfx && complete -p gst-tfx"'

# A program that pkg-config compiles filters samples in the same way, with either library.
# shellcheck disable=SC2016 # for the system's shell
use_library='
cd /tmp
cc ~/gst-tfx/examples/tfx-filter.c -o tfx-filter $(pkg-config --cflags --libs tfx)
cc ~/gst-tfx/examples/tfx-filter.c -o tfx-static $(pkg-config --cflags tfx) \
  $(pkg-config --static --libs tfx | sed s/-ltfx/-l:libtfx.a/)
gst-launch-1.0 -q audiotestsrc num-buffers=200 ! audio/x-raw,format=F32LE,rate=48000,channels=1 ! \
  filesink location=tone.raw
./tfx-filter 48000 1 "LoButterworth(100, order=4) | Gain(0.5)" < tone.raw > low.raw
./tfx-static 48000 1 "LoButterworth(100, order=4) | Gain(0.5)" < tone.raw | cmp - low.raw
if ldd tfx-static | grep libtfx; then exit 1; fi
for file in tone.raw low.raw; do
  od -A n -v -t f4 -w4 $file | awk "NR > 4800 && \$1 > peak { peak = \$1 } END { print NR, peak }"
done | tee peaks
awk "{ frames[NR] = \$1; peak[NR] = \$2 }
  END { exit frames[2] != frames[1] || peak[1] < 0.7 || peak[2] > 0.01 || peak[2] < 1e-4 }" peaks
rm tfx-filter tfx-static tone.raw low.raw peaks'

check_links() {
  python3 "$root/tests/pages.py" --links "$system/usr/share/doc/gst-tfx"
}

# Fails if anything of gst-tfx is installed, or was left.
find_installed='! sudo find / -xdev \( -path /root -o -path /home -o -path /proc -o -path /tmp \
  -o -path /var/cache \) -prune -o -name "*tfx*" -print | grep .'

# ---- packages --------------------------------------------------------------------

use_packages() {
  in_system "gst-inspect-1.0 tfxchain | grep 'Debian'
    $use_program
    $use_library
    $use_documentation" &&
    mkdir -p "$work/debs" && rm -rf "$work/debs/$suite" &&
    cp -r "$system$home/gst-tfx/debs" "$work/debs/$suite"
}

# No runtime package beyond what they depend on, and nothing from a build.
use_minimal() {
  new_system "$suite" user && cp -r "$work/debs/$suite" "$system$home/gst-tfx/debs" &&
    in_system "sudo apt-get update
      sudo apt-get install --no-install-recommends ./debs/gstreamer1.0-tfx_*.deb gstreamer1.0-tools
      gst-launch-1.0 -q audiotestsrc num-buffers=9 ! audioconvert ! tfxchain chain='Hum(50)' ! \
        audioconvert ! fakesink
      sudo apt-get install --no-install-recommends ./debs/gst-tfx_*.deb
      $use_program"
}

# All that debian/ has, with the tests and without a warning that matters.
check_all_packages() {
  in_system "debian/build.sh --check --eq --out ~/all
    sudo apt-get install lintian
    lintian --fail-on error ~/all/*.deb
    sudo apt-get install --no-install-recommends ~/all/tfx-eq_*.deb
    tfx-eq --help"
}

# The unit of the system plays, saves a preset and says nothing.  A chain that is wrong when the
# configuration is saved is reported, and ends a start without another try.  The unit of a user
# equalises what another program plays, as the cookbook has it.
# shellcheck disable=SC2016 # for the system's shell
use_units='
config() {
  printf "%s\n" "[serve]" port=8700 "source=audiotestsrc is-live=true" "sink=fakesink sync=true" \
    presets=/var/lib/gst-tfx/presets "chain=$1" > /etc/gst-tfx/serve.conf
}
ask() {
  curl --no-progress-meter --retry 9 --retry-connrefused "http://127.0.0.1:$1/api/v1/$2" "${@:3}" |
    tee --append /dev/stderr
}
warnings() { journalctl --boot --quiet --priority warning --unit gst-tfx-serve; }
mkdir /etc/gst-tfx
config "Gain(0.5)"
systemctl enable --now gst-tfx-serve
ask 8700 state | grep "\"playing\":true"
ask 8700 save-preset --data "{\"name\": \"half\"}" | grep "\"names\":\[\"half\"\]"
if warnings | grep .; then exit 1; fi
config "Gian(0.5)"
until warnings | grep "there is no class .Gian"; do sleep 0.1; done
ask 8700 chain | grep "Gain(0.5)"
systemctl restart gst-tfx-serve
until systemctl is-failed gst-tfx-serve; do sleep 0.1; done
systemctl show gst-tfx-serve | grep -c -x -e NRestarts=0 -e ExecMainStatus=2 | grep 2
systemctl disable gst-tfx-serve
systemctl reset-failed gst-tfx-serve
systemctl clean --what=all gst-tfx-serve
rm -r /etc/gst-tfx
runtime=/run/user/$(id -u user)
as_user() { su - user -c "set -e; export XDG_RUNTIME_DIR=$runtime; $1"; }
# The peak of half a second of a sink; nothing: it is silent.
peak() {
  as_user "parec --device $1.monitor --format s16le --channels 1 | head -c 44100" |
    od -A n -v -t d2 -w2 | awk "{ if (\$1 > peak) peak = \$1 } END { print peak }"
}
loginctl enable-linger user
until as_user "pactl get-default-sink" | grep speakers; do sleep 0.1; done
as_user "$(cat /root/recipe)"
as_user "gst-launch-1.0 -q audiotestsrc freq=2000 volume=0.1 ! pulsesink" &
until [ -e /home/user/.config/gst-tfx/token ]; do sleep 0.1; done
token="Authorization: Bearer $(cat /home/user/.config/gst-tfx/token)"
# at_gain DB: the peak.  It is measured again where PipeWire was late, on a busy machine.
at_gain() {
  ask 8390 set --header "$token" --data "{\"stage\": \"voice\", \"parameter\": \"gain\", \"value\": $1}" >> /dev/stderr
  sleep 1
  peak speakers
}
until echo "$(at_gain 0) $(at_gain 6)" | tee --append /dev/stderr |
  awk "{ exit !(\$1 > 100 && \$2 > 1.9 * \$1 && \$2 < 2.1 * \$1) }"; do sleep 0.1; done
# Without loudspeakers the server does not hear itself.
id=$(as_user "pw-cli list-objects Node" | awk "/^\tid/ { id = \$2 } /\"speakers\"/ { print id + 0; exit }")
as_user "pw-cli destroy $id"
sleep 2
pkill gst-launch
until [ -z "$(peak equaliser)" ]; do sleep 0.1; done'

check_units() {
  local page=docs/cookbook.md conf=$system$home/.config/pipewire/pipewire.conf.d
  in_system "sudo apt-get install --no-install-recommends ./debs/gst-tfx-serve_*.deb curl \
      systemd dbus dbus-user-session libpam-systemd \
      pipewire pipewire-pulse wireplumber pulseaudio-utils gstreamer1.0-pulseaudio
    mkdir -p ~/.config/pipewire/pipewire.conf.d" &&
    block_of gst-tfx-serve > "$system/root/recipe" &&
    sed -n 's/equaliser/speakers/; s/, monitor.*= true//; /link-group/d; /^context/,/^}/p' "$system/root/recipe" > "$conf/speakers.conf" &&
    timeout 400 "$root/tests/setup/boot.sh" "$system" "$use_units"
}

run_packages() {
  local name="$suite: packages" log=$logs/$suite-packages
  case_of "$name: the system" "$log-system.log" new_system "$suite" user &&
    case_of "$name: README's block" "$log.log" run_block debian/build.sh &&
    case_of "$name: filter a file" "$log-use.log" use_packages || return
  case_of "$name: links on installed pages" "$log-links.log" check_links
  if unshare --mount --cgroup mount -t cgroup2 cgroup2 /mnt; then
    case_of "$name: the units, under systemd" "$log-units.log" check_units
  else
    echo "skipped $name: the units: this machine has no cgroup2"
    skipped=$((skipped + 1))
  fi
  if $all; then
    case_of "$name: with tests and tfx-eq, lintian" "$log-all.log" check_all_packages
  fi
  case_of "$name: are purged" "$log-purge.log" in_system \
    "sudo apt-get purge '?name(tfx)' && $find_installed"
  if $is_full; then
    case_of "$name: alone, without recommended packages" "$log-minimal.log" use_minimal
  fi
}

# ---- from source -------------------------------------------------------------------

use_source() {
  in_system "$use_program
    $use_library
    $use_documentation"
}

run_source() {
  local name="$suite: source" log=$logs/$suite-source
  case_of "$name: the system" "$log-system.log" new_system "$suite" user &&
    case_of "$name: README's block" "$log.log" run_block 'meson setup' &&
    case_of "$name: filters a file" "$log-use.log" use_source || return
  case_of "$name: links on installed pages" "$log-links.log" check_links
  case_of "$name: is uninstalled" "$log-uninstall.log" in_system \
    "sudo ninja -C build-usr uninstall && $find_installed"
}

# ---- the image -----------------------------------------------------------------------

# What examples/Containerfile starts from.
base=$(sed -n 's/^FROM \([^ ]*\)$/\1/p' "$root/examples/Containerfile")

# buildah, which takes neither a daemon nor a registry, with files of its own.
engine() {
  buildah --storage-driver vfs --root "$work/image/root" --runroot "$work/image/run" "$@"
}

# podman: what the README asks of it, by buildah, which can be run in a container.
podman() {
  local container options=() command=$1
  shift
  case $command in
    build)
      # shellcheck disable=SC2086 # several words
      engine build --isolation chroot --pull-never --layers=false $image_options "$@"
      ;;
    run)
      while [[ $1 = -* ]]; do
        case $1 in
          --rm) ;;
          -v) options+=(-v "$2") && shift ;;
          *) echo "podman $command $1: not known here" && return 1 ;;
        esac
        shift
      done
      container=$(engine from --pull-never "$1") &&
        engine inspect --type image --format '{{index .OCIv1.Config.Entrypoint 0}}' "$1" \
          > "$work/image/entry" &&
        engine run --isolation chroot "${options[@]}" "$container" \
          "$(cat "$work/image/entry")" "${@:2}" && engine rm "$container"
      ;;
    *) echo "podman $command: not known here" && return 1 ;;
  esac
}

# The base image is the minimal system.
make_image_base() {
  local container
  mkdir -p "$work/image/tree" && copy_tree "$work/image/tree" &&
    container=$(engine from scratch) && engine add -q "$container" "$keep/$suite.tar" / &&
    engine commit -q --rm "$container" "$base" &&
    gst-launch-1.0 -q audiotestsrc num-buffers=200 ! wavenc ! \
      filesink location="$work/image/tree/voice.wav" || return
  [ -z "$image_options" ] || cp -r "$work/debs/$suite" "$work/image/tree/debs"
}

# In a shell of its own, which ends with the first command that fails.
use_image() {
  local block
  block=$(block_of 'podman build') || return
  echo "$block"
  export work image_options
  export -f podman engine
  bash -e -c "cd '$work/image/tree'
$block" && [ -s "$work/image/tree/clean.flac" ]
}

run_image() {
  local name="$suite: image" log=$logs/$suite-image
  image_options=''
  # Where the packages have been built, they need not be compiled again.
  if ! $all && [ -e "$work/debs/$suite" ]; then image_options='--build-arg DEBS=debs'; fi
  # shellcheck disable=SC2086 # one word for each package
  if ! deps_require "for an image" buildah $DEPS_PLAY > "$log-buildah.log" 2>&1; then
    echo "skipped $name: buildah cannot be installed"
    skipped=$((skipped + 1))
    return
  fi
  case_of "$name: the base" "$log-base.log" make_image_base &&
    case_of "$name: README's block" "$log.log" use_image
  rm -rf --one-file-system "$work/image"
}

# ---- the two commands ------------------------------------------------------------------

run_demo() {
  in_system "$1
    rm out/loop_tabla-filtered.wav out/loop_tabla-filtered.png"
}

run_tests() {
  in_system "$1" > "$work/tests" 2>&1
  local status=$?
  cat "$work/tests"
  [ "$status" -eq 0 ] &&
    tail -n 1 "$work/tests" | grep -q -E '^[1-9][0-9]* passed, 0 failed$'
}

# run_commands OWNER
run_commands() {
  local name="$suite: commands, as $1" log=$logs/$suite-commands-$1 demo tests
  demo=$(command_of ./examples/demo.sh)
  tests=$(command_of ./tests/run.sh)
  case_of "$name: README has both" "$log-readme.log" test -n "$demo" -a -n "$tests" &&
    case_of "$name: the system" "$log-system.log" new_system "$suite" "$1" &&
    case_of "$name: $demo" "$log-demo.log" run_demo "$demo" || return
  isolate=(--net)
  case_of "$name: $demo again, without a network" "$log-again.log" run_demo "$demo"
  isolate=()
  [ "$1" = user ] || return
  case_of "$name: $tests" "$log-run.log" run_tests "$tests"
  grep -E '^[0-9]+ (passed|skipped)' "$log-run.log" | sed 's/^/        /'
}

# ---- wheels ----------------------------------------------------------------------------

make_wheels() {
  [ ! -e "$work/tree/wheels" ] || return 0
  mkdir -p "$work/tree" && copy_tree "$work/tree" && (cd "$work/tree" && bash -e -c "$1")
}

# check_wheel ARCHITECTURE KERNELS...: its tag, type stubs, and the kernels of each
# instruction set.
check_wheel() {
  local wheel kernel
  wheel=$(echo "$work"/tree/wheels/gst_tfx-*-cp311-abi3-manylinux_2_35_"$1".whl) &&
    python3 -m zipfile -e "$wheel" "$work/unpacked-$1" &&
    ls "$work/unpacked-$1"/gst_tfx/{py.typed,_core.pyi,classes.pyi} &&
    readelf -s -W "$work/unpacked-$1/gst_tfx/_core.abi3.so" > "$work/symbols" || return
  for kernel in "${@:2}"; do grep -w "tfx_kernels_$kernel" "$work/symbols" || return; done
}

test_python='-m pytest -q -p no:cacheprovider --rootdir . tests/python'

# In a new environment, with NumPy from PyPI.
use_wheel() {
  cp -r "$work/tree/wheels" "$system$home/gst-tfx/wheels" &&
    in_system "sudo apt-get update
      sudo apt-get install --no-install-recommends python3-venv
      python3 -m venv ~/wheel
      . ~/wheel/bin/activate
      pip install numpy scipy pytest
      $1
      if command -v cc gcc clang; then exit 1; fi
      python $test_python"
}

# By a pip that runs in the emulator, and so picks the wheel.  What takes minutes there says
# nothing of a processor.
use_wheel_on_arm64() (
  local arm64=$work/arm64 python=$work/arm64/usr/bin/python
  # shellcheck disable=SC2016,SC2086 # a script's own; several words
  deps_require "for wheels on AArch64" qemu-user &&
    unpack_system bookworm arm64 "$arm64" python3-pip libstdc++6 &&
    printf '#!/bin/sh\nexec qemu-aarch64 -0 "$0" -L %s %s "$@"\n' "$arm64" "${python}3" > "$python" &&
    chmod +x "$python" && cd "$work/tree" && /usr/bin/python3 -m venv "$work/venv" &&
    "$work/venv/bin/pip" install --only-binary=:all: --python-version 3.11 --platform manylinux_2_28_aarch64 \
      --platform manylinux2014_aarch64 --target "$arm64/packages" numpy scipy pytest &&
    "$python" -m $1 --no-deps --target "$arm64/packages" &&
    PYTHONPATH=$arm64/packages "$python" $test_python -k 'not interpreter_is_free and not no_leak'
)

use_python_source() {
  in_system "sudo apt-get install --no-install-recommends gcc libc6-dev python3-dev
    python3 -m venv ~/source
    . ~/source/bin/activate
    $(block_of 'pip install .')
    pip install scipy pytest
    python $test_python"
}

run_wheels() {
  local name="$suite: wheels" log=$logs/$suite-wheels page=docs/python.md make use
  make=$(command_of tests/python/wheels.sh) use=$(command_of 'pip install --no-index')
  case_of "$name: $make" "$log.log" make_wheels "$make" &&
    case_of "$name: the system" "$log-system.log" new_system "$suite" user &&
    case_of "$name: $use" "$log-use.log" use_wheel "$use" || return
  case_of "$name: from source" "$log-source.log" use_python_source
  [ "$suite" = bookworm ] || return
  case_of "$name: kernels for x86-64" "$log-x86_64.log" check_wheel x86_64 c sse2 avx2 avx512
  case_of "$name: kernels for AArch64" "$log-aarch64.log" check_wheel aarch64 c neon
  case_of "$name: on AArch64" "$log-arm64.log" use_wheel_on_arm64 "$use"
}

# ---- all of it -----------------------------------------------------------------------------

deps_require "for systems to try" mmdebstrap || exit 1
mkdir -p "$logs" || exit 1

for suite in "${suites[@]}"; do
  is_full=$all
  rm -f "$logs/$suite"-*
  if [ "$suite" = "${base##*:}" ]; then is_full=true; fi
  case_of "$suite: a minimal system" "$logs/$suite-base.log" make_base "$suite" || continue
  if is_wanted packages; then run_packages; fi
  if is_wanted source; then run_source; fi
  if is_wanted image && [ "$suite" = "${base##*:}" ]; then run_image; fi
  if is_wanted commands; then
    if $is_full; then run_commands user; else run_commands root; fi
    if $all; then run_commands root; fi
  fi
  if is_wanted wheels; then run_wheels; fi
  rm -rf --one-file-system "${work:?}/$suite"
done
exit 0
