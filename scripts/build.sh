# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# build.sh: configures and compiles; sourced by examples/demo.sh and
# tests/run.sh (bash).

# build_setup FOLDER [OPTION...]: configures the tree around this script for
# FOLDER, once.  A build folder that came along with a copied or moved tree
# still names the old place; it is configured afresh.
build_setup() {
  local folder=$1 root
  shift
  root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

  if [ -e "$folder/build.ninja" ]; then
    if grep -q -F "\"source\": \"$root\"" \
      "$folder/meson-info/meson-info.json" 2> /dev/null &&
      grep -q -F "\"build\": \"$(cd "$folder" && pwd)\"" \
        "$folder/meson-info/meson-info.json"; then
      return 0
    fi
    rm -rf "$folder"
  fi
  meson setup "$folder" "$root" "$@"
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
