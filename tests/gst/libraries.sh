#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# libraries.sh: what the plugin brings into a process.  Counted as by ldd, and
# without what GStreamer's CUDA library brings, which a plugin built without CUDA
# does not have.
#
#   libraries.sh PLUGIN SYSTEM_PLUGINS
set -u
. "$(dirname "$0")/../tap.sh"
plugin=$1 system=$2

# The names of all libraries of a file, as ldd has them.
libraries_of() {
  ldd "$1" | awk '{ print $1 }'
}

# The plugin's own, each with all that it needs, but those of CUDA.
list() {
  echo linux-vdso ld-linux | tr ' ' '\n'
  readelf -d "$plugin" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
    grep -v -e libgstcuda -e libgstvideo |
    while read -r name; do
      echo "$name"
      libraries_of "$(ldd "$plugin" | awk -v n="$name" '$1 == n { print $3 }')" |
        grep -v -e linux-vdso -e ld-linux
    done
}

is_short() {
  list | sort -u | tee /dev/stderr | awk 'END { exit !(NR > 5 && NR <= 25) }'
}

needs_no() {
  ! list | grep -E "$1"
}

folder=$(mktemp -d)
trap 'rm -rf "$folder" "$tap_log"' EXIT

# No other plugins: looking at all of them takes long.
mkdir "$folder/plugins"
ln -s "$(realpath "$plugin")" "$system"/libgst{coreelements,audiotestsrc}.so \
  "$folder/plugins"

# A file that is no library hides the system's.  gst-launch-1.0 never ends after
# an error that comes before its main loop runs (seen with GStreamer's own
# elements): it is ended.
plays_without() {
  : > "$folder/$1"
  shift
  LD_LIBRARY_PATH=$folder GST_PLUGIN_PATH_1_0=$folder/plugins \
    GST_PLUGIN_SYSTEM_PATH_1_0='' GST_REGISTRY=$folder/registry \
    timeout 60 gst-launch-1.0 audiotestsrc num-buffers=1 ! "$@" ! fakesink async=false
}

# What it has of the core is not for a program that is linked with libtfx.
shows_no_core() {
  nm -D --defined-only "$plugin" | tee /dev/stderr | grep -q ' gst_plugin_tfx_get_desc$' &&
    ! nm -D --defined-only "$plugin" | grep ' tfx_'
}

says_what_is_missing() {
  : > "$folder/room.wav"
  ! plays_without libsndfile.so.1 tfxfir "kernel-location=$folder/room.wav" \
    > "$folder/said" 2>&1 && cat "$folder/said" &&
    grep 'libsndfile, which reads sound files, cannot be loaded' "$folder/said"
}

says_that_yaml_is_missing() {
  echo 'pipeline: []' > "$folder/preset.yml"
  ! plays_without libyaml-0.so.2 tfxchain "location=$folder/preset.yml" \
    > "$folder/said" 2>&1 && cat "$folder/said" &&
    grep 'libyaml, which reads YAML and JSON, ' "$folder/said"
}

says_that_mysofa_is_missing() {
  echo 1 > "$folder/head.sofa"
  ! plays_without libmysofa.so.1 tfxchain "chain=HRIR('$folder/head.sofa')" \
    > "$folder/said" 2>&1 && cat "$folder/said" &&
    grep 'libmysofa, which reads SOFA files, ' "$folder/said"
}

tap_case 'at most 25 libraries' is_short
tap_case 'it exports nothing of the core' shows_no_core
tap_case 'none for transforms' needs_no 'libavutil|libgstfft|libfftw'
tap_case 'the elements work without libsndfile' \
  plays_without libsndfile.so.1 tfxfir
tap_case 'a file that is to be read without it is an error that says so' \
  says_what_is_missing
tap_case 'and so is a preset without libyaml' says_that_yaml_is_missing
tap_case 'and a SOFA file without libmysofa' says_that_mysofa_is_missing
tap_end
