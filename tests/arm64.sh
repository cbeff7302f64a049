#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# arm64.sh: the plugin for AArch64, with Debian's libraries for it, in an emulator, as
# TAP: it loads, and what it makes of a file is what this machine's makes of it.  Needs
# a finished build in build/ (or the folder that is given).
# shellcheck disable=SC2317 # functions are called by name
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=tests/tap.sh
. "$root/tests/tap.sh"
# shellcheck source=tests/setup/systems.sh
. "$root/tests/setup/systems.sh"
export LC_ALL=C.UTF-8
build=${1:-$root/build}
work=$root/build-arm64
system=$work/system
libraries=/usr/lib/aarch64-linux-gnu

# Nothing of it runs but GStreamer's own tools.
make_system() {
  local suite
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME") &&
    unpack_system "$suite" arm64 "$system" libgstreamer-plugins-base1.0-dev \
      gstreamer1.0-tools gstreamer1.0-plugins-base libsndfile1-dev
}

build_plugin() {
  cat > "$work/system.ini" << INI &&
[binaries]
pkgconfig = 'pkg-config'
[properties]
sys_root = '$system'
pkg_config_libdir = ['$system$libraries/pkgconfig', '$system/usr/share/pkgconfig']
[built-in options]
c_args = ['--sysroot=$system']
c_link_args = ['--sysroot=$system']
INI
    meson setup "$work/build" "$root" --cross-file "$root/tests/aarch64.ini" \
      --cross-file "$work/system.ini" -Dtests=disabled -Dexamples=disabled \
      -Dnvcc=disabled && ninja -C "$work/build" gst/libgsttfx.so
}

# on_arm64 TOOL ARGUMENT...: one of GStreamer's.
on_arm64() {
  GST_REGISTRY=$work/registry.bin GST_REGISTRY_FORK=no GST_PLUGIN_SYSTEM_PATH_1_0='' \
    GST_PLUGIN_PATH=$work/build/gst:$system$libraries/gstreamer-1.0 \
    qemu-aarch64 -L "$system" "$system/usr/bin/$1" "${@:2}"
}

# By kernels with the same transforms and so the same rounding: AVX-512 has others.
on_this_machine() {
  GST_REGISTRY=$work/own.bin GST_PLUGIN_PATH=$build/gst TFX_CPU=avx2 "$@"
}

check_inspect() {
  local element
  for element in tfxbutterworth tfxchebyshev tfxfir tfxchain; do
    on_arm64 gst-inspect-1.0 "$element" | grep 'Filter/Effect/Audio' || return 1
  done
}

# filter ON OUT ELEMENT...: the noise, in floats.
filter() {
  "$1" gst-launch-1.0 -q filesrc location="$work/in" ! \
    rawaudioparse format=pcm pcm-format=f32le sample-rate=44100 num-channels=2 ! \
    "${@:3}" ! filesink location="$2"
}

# check_file DB ELEMENT...: what differs is that far below the sound.
check_file() {
  filter on_arm64 "$work/there" "${@:2}" &&
    filter on_this_machine "$work/here" "${@:2}" &&
    python3 - "$1" "$work/here" "$work/there" << 'PY'
import array, math, sys
here, there = (array.array("f", open(path, "rb").read()) for path in sys.argv[2:])
power = sum(x * x for x in here)
error = sum((x - y) ** 2 for x, y in zip(here, there))
db = 10 * math.log10(error / power + 1e-30)
print(f"{len(here)} and {len(there)} samples, {db:.1f} dB")
sys.exit(len(here) != len(there) or not len(here) or not db <= float(sys.argv[1]))
PY
}

if ! command -v mmdebstrap qemu-aarch64 aarch64-linux-gnu-gcc > "$tap_log"; then
  echo "1..0 # SKIP mmdebstrap, qemu-user or gcc-aarch64-linux-gnu is not installed"
  exit 0
fi
rm -rf "$work"
mkdir -p "$work" || exit 1
if ! make_system > "$work/system.log" 2>&1; then
  echo "1..0 # SKIP Debian's packages for arm64 cannot be had; see $work/system.log"
  exit 0
fi
python3 -c 'import array, random, sys
random.seed (1)
sys.stdout.buffer.write (array.array ("f", (random.uniform (-1, 1) for _ in range (200000))))' > "$work/in"

tap_case "the plugin is built" build_plugin
tap_case "it loads" check_inspect
# Two filters of float streams, each rounded to -151 dB.
tap_case "a file through recursive filters" check_file -145 tfxbutterworth cutoff=5000 ! \
  tfxchebyshev mode=high-pass cutoff=80 order=6 ! tfxchain chain="ParametricEQ(1000, q=2, gain=3)"
# Each lies at -135 dB, with nearly the same rounding.
tap_case "a file through a FIR" check_file -139 tfxfir cutoff=3000 taps=511
tap_case "a file through effects" check_file -139 \
  tfxchain chain="Delay(300, feedback=0.4, mix=0.3) | Compressor(-20) | Reverb(0.5)"
[ "$tap_failed" -gt 0 ] || rm -rf "$system"
tap_end
