# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# build.sh: configures and compiles, beside apt-get too; sourced by examples/demo.sh, examples/reverb.sh
# and tests/run.sh (bash).

# build_is_ours FOLDER ROOT: a build folder that came along with a copied or
# moved tree still names the old place, and must not be used.
build_is_ours() {
  local info=$1/meson-info/meson-info.json
  [ -e "$1/build.ninja" ] &&
    grep -q -F "\"source\": \"$2\"" "$info" &&
    grep -q -F "\"build\": \"$1\"" "$info"
} 2> /dev/null

# 0 if what is configured is more than the filter core.
build_has_plugin() {
  grep -q '^build gst/libgsttfx.so' "$1/build.ninja"
}

# 0 if the example applications, of which the demo runs one, are configured.
build_has_examples() {
  grep -q '^build examples/tfx-stats' "$1/build.ninja"
}

# The best instruction set of this machine that there are kernels for: to compile
# those of all takes twice as long.
build_own_set() {
  local flags set wanted flag
  flags=" $(grep -m 1 '^flags' /proc/cpuinfo) "
  for set in avx512:avx512f,avx512dq,avx512vl avx2:avx2,fma; do
    wanted=${set#*:}
    for flag in ${wanted//,/ }; do
      case $flags in *" $flag "*) ;; *) continue 2 ;; esac
    done
    echo "${set%:*}"
    return
  done
  echo sse2
} 2> /dev/null

# What a folder has that is for more machines than this one.
# shellcheck disable=SC2034 # for run.sh
BUILD_FOR_ALL=("-Dinstruction-sets=sse2,avx2,avx512" -Dcuda=auto)

# build_setup FOLDER [OPTION...]: configures the tree around this script for
# FOLDER, an absolute path; a new one for this machine alone, if no option says more: its
# instruction set, and CUDA where it has a driver.  Options given are set in an old folder
# too, and one that has the filter core alone gets the rest.  (deps.sh has been sourced.)
build_setup() {
  local folder=$1 root headers setup=(meson setup)
  shift
  root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
  # Headers that deps_require_cuda has fetched.
  headers=$root/build-deps/cuda

  if build_is_ours "$folder" "$root"; then
    build_has_plugin "$folder" || set -- -Delements=true "$@"
    [ $# -gt 0 ] || return 0
    setup+=(--reconfigure)
  else
    rm -rf "$folder"
    case "$*" in
      *-Dinstruction-sets=*) ;;
      *) set -- "-Dinstruction-sets=$(build_own_set)" "$@" ;;
    esac
    case "$*" in
      *-Dcuda=*) ;;
      *) deps_has_driver || set -- -Dcuda=disabled "$@" ;;
    esac
  fi
  if [ -e "$headers" ]; then
    set -- "$@" "-Dpkg_config_path=$headers${PKG_CONFIG_PATH+,${PKG_CONFIG_PATH//:/,}}"
  fi
  "${setup[@]}" "$folder" "$root" "$@"
}

# build_targets FOLDER TARGET...: with the example applications.
build_targets() {
  local examples=()
  build_has_examples "$1" 2> /dev/null || examples=(-Dexamples=enabled)
  build_setup "$1" "${examples[@]}" && nice -n 19 ninja -C "$@"
}

# build_core_first FOLDER TARGET...: the filter core alone, which needs no GStreamer, in a
# new folder; the rest when build_go_on says that it can be.
build_core_first() {
  build_setup "$1" -Delements=false -Dtests=disabled && nice -n 19 ninja -C "$1" &&
    read -r && build_targets "$@"
}

# build_begin LOG COMMAND FOLDER TARGET...: runs one of these in the background, so that
# what it does not need can be installed beside it: apt-get takes one core, and goes before
# the compiler.  Its output goes to LOG.
build_begin() {
  build_log=$1
  shift
  echo "Building in $2"
  mkfifo "$build_log.go" && exec {build_go}<> "$build_log.go" || return
  # A process group of its own, for build_stop.
  set -m
  "$@" > "$build_log" 2>&1 < "$build_log.go" {build_go}>&- &
  set +m
  build_group=$!
}

build_go_on() {
  echo >&"$build_go"
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

# build_and_install WHY LOG FOLDER "TARGET..." PACKAGE...: installs what is missing of
# DEPS_BUILD and of the packages, which only running needs, and builds meanwhile what can be
# built.  Whoever calls it ends with build_stop.  (deps.sh has been sourced.)
build_and_install() {
  local why=$1 log=$2 folder=$3 targets require=deps_require
  read -r -a targets <<< "$4"
  shift 4

  # shellcheck disable=SC2086 # one word for each package
  {
    deps_check "$why" $DEPS_BUILD "$@" || return
    if deps_has_driver; then require=deps_require_cuda; fi
    if [ -n "$deps_lacking" ] && [ ! -e "$folder/build.ninja" ]; then
      deps_require "to build" $DEPS_CORE || return
      build_begin "$log" build_core_first "$folder" "${targets[@]}" || return
      "$require" "to build" $DEPS_BUILD || return
      build_go_on
    else
      "$require" "to build" $DEPS_BUILD || return
      build_begin "$log" build_targets "$folder" "${targets[@]}" || return
    fi
  }
  deps_require "$why" "$@" && build_end
}
