#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# nocuda.sh: a build without CUDA is configured, with the tests, and what it has
# in place of CUDA compiled.
#
#   nocuda.sh
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/tap.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder" "$tap_log"' EXIT

names_tests() {
  meson introspect --tests "$folder/build" > "$folder/tests.json" &&
    grep -q '"gst-cuda-absent-build"' "$folder/tests.json" &&
    ! grep -E '"(cuda_backend|gst-cuda-flight)"' "$folder/tests.json"
}

tap_case 'configured' meson setup "$folder/build" "$root" -Dcuda=disabled \
  -Dtests=enabled -Dexamples=enabled
tap_case 'what stands for CUDA is compiled' \
  ninja -C "$folder/build" gst/libgsttfxcuda.a
tap_case 'its tests are there, and none of CUDA' names_tests
tap_end
