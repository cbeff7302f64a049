# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# build.sh: configures and compiles; sourced by examples/demo.sh and
# tests/run.sh (bash).

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

# build_quietly LOG COMMAND...: runs the command; its output goes to LOG and
# is shown only if it fails.
build_quietly() {
  local log=$1
  shift
  "$@" > "$log" 2>&1 < /dev/null && return 0
  cat "$log" >&2
  echo "error: $* failed; the above is in $log" >&2
  return 1
}
