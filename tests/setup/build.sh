# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# build.sh: configures and compiles; sourced by examples/demo.sh, examples/reverb.sh
# and tests/run.sh (bash).

# build_is_ours FOLDER ROOT: a build folder that came along with a copied or
# moved tree still names the old place, and must not be used.
build_is_ours() {
  local info=$1/meson-info/meson-info.json
  [ -e "$1/build.ninja" ] &&
    grep -q -F "\"source\": \"$2\"" "$info" &&
    grep -q -F "\"build\": \"$1\"" "$info"
} 2> /dev/null

# build_setup FOLDER [OPTION...]: configures the tree around this script for
# FOLDER, an absolute path.  Options given are set in an old folder too.
build_setup() {
  local folder=$1 root headers
  shift
  root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
  # Headers that deps_require_cuda has fetched.
  headers=$root/build-deps/cuda

  if [ -e "$headers" ] && { [ $# -gt 0 ] || ! build_is_ours "$folder" "$root"; }; then
    set -- "$@" "-Dpkg_config_path=$headers${PKG_CONFIG_PATH+,${PKG_CONFIG_PATH//:/,}}"
  fi
  if ! build_is_ours "$folder" "$root"; then
    rm -rf "$folder"
    meson setup "$folder" "$root" "$@"
  elif [ $# -gt 0 ]; then
    meson setup --reconfigure "$folder" "$root" "$@"
  fi
}

# build_begin LOG FOLDER TARGET...: configures and compiles in the background, so that
# what only running needs can be installed beside it.  Its output goes to LOG.
build_begin() {
  build_log=$1
  shift
  echo "Building in $1"
  # A process group of its own, for build_stop.
  set -m
  build_targets "$@" > "$build_log" 2>&1 < /dev/null &
  set +m
  build_group=$!
}

build_targets() {
  build_setup "$1" && meson compile -C "$@"
}

# build_end: waits for it; what it said shows only if it failed.
build_end() {
  local status=0
  wait "$build_group" || status=$?
  build_group=''
  [ "$status" -ne 0 ] || return 0
  cat "$build_log" >&2
  echo "error: it cannot be built; the above says why" >&2
  return 1
}

# build_stop: ends it where it has not ended; ninja ends its compilers.
build_group=''
build_stop() {
  [ -n "$build_group" ] || return 0
  kill -TERM -- "-$build_group" 2> /dev/null || true
  wait "$build_group" 2> /dev/null || true
}
