#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# run.sh: every test.  The last line is "N passed, N failed"; the exit status
# is 0 only if none failed.
set -u

usage="Usage: tests/run.sh [--quick]

Installs what is missing (Debian packages, by apt-get), builds in build/ and
runs every test, the commands' too; has live streams heard by their clients; filters
an archive by GNU parallel and Slurm; makes a release and Debian packages of it;
builds the filter core for AArch64 in build-aarch64/ and runs its tests in an
emulator; builds in build-sanitize/ with the address and undefined behaviour
sanitizers and runs all again; then checks the look of the sources.

--quick  without the archive, the release, AArch64, the sanitizers and the slow tests, and
         of wide sweeps a part (TFX_TEST_PART, a number, says which); live streams only
         where there is already what they need"

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# English messages, numbers with a point.
export LC_ALL=C.UTF-8
. "$root/tests/setup/deps.sh"
. "$root/tests/setup/build.sh"

quick=false
case ${1-} in
  '') ;;
  --quick) quick=true ;;
  -h | --help) echo "$usage" && exit 0 ;;
  *) echo "error: unknown argument: $1" >&2 && echo "$usage" >&2 && exit 2 ;;
esac

if $quick; then export TFX_TEST_PART=${TFX_TEST_PART-0}; fi

# beside: a session of its own that runs beside.
passed=0 failed=0 skipped=0 failures='' beside=''

work=$(mktemp -d)
# shellcheck disable=SC2317 # called by trap
finish() {
  local status=$?
  trap - EXIT
  # It ends what it has begun, and what that has.
  if [ -n "$beside" ]; then kill -- "-$beside" && wait "$beside"; fi 2> /dev/null
  rm -rf "$work"
  # An end that nobody planned is a failure too.
  if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi
  exec 2>&1
  if [ -n "$failures" ]; then printf '\n%s' "$failures"; fi
  echo
  if [ "$skipped" -ne 0 ]; then echo "$skipped skipped"; fi
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ] || exit 1
  exit 0
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

title() {
  printf '\n== %s (%d s)\n' "$1" "$SECONDS"
}

# case_of NAME COMMAND...: one case; the command's output shows if it fails.
case_of() {
  local name=$1
  shift
  if "$@" > "$work/case.log" 2>&1 < /dev/null; then
    echo "ok      $name"
    passed=$((passed + 1))
  else
    echo "FAILED  $name"
    sed 's/^/        /' "$work/case.log"
    failures+="FAILED: $name"$'\n'
    failed=$((failed + 1))
  fi
}

# add_counts PREFIX LOG: adds the cases in a log of tests.
add_counts() {
  local counts
  if ! counts=$(python3 "$root/tests/count.py" "$2"); then
    failures+="FAILED: $1: no results in $2"$'\n'
    failed=$((failed + 1))
    return
  fi
  failures+=$(sed -n "s/^FAILED: /FAILED: $1/p" <<< "$counts")
  case $failures in '' | *$'\n') ;; *) failures+=$'\n' ;; esac
  # shellcheck disable=SC2046 # three numbers
  set -- $(tail -n 1 <<< "$counts")
  passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}

# run_tap PREFIX PROGRAM [ARGUMENT...]: one that prints TAP.
run_tap() {
  "${@:2}" < /dev/null > "$work/log.tap" 2>&1
  show_tap "$1" "$work/log.tap"
}

# begin_beside PROGRAM [ARGUMENT...]: one that prints TAP, beside what follows.
begin_beside() {
  setsid "$@" < /dev/null > "$work/beside.tap" 2>&1 &
  beside=$!
}

# end_beside PREFIX
end_beside() {
  wait "$beside"
  beside=''
  show_tap "$1" "$work/beside.tap"
}

show_tap() {
  cat "$2"
  add_counts "$1" "$2"
}

# build_and_test PREFIX FOLDER [SETUP OPTION...]; arguments for meson test are
# in the array test_args.
build_and_test() {
  local prefix=$1 folder=$2 before=$failed
  shift 2
  case_of "${prefix}meson setup" build_setup "$folder" "$@"
  [ "$failed" -eq "$before" ] || return 1
  case_of "${prefix}build" meson compile -C "$folder"
  [ "$failed" -eq "$before" ] || return 1

  rm -f "$folder/meson-logs/testlog.json"
  # A registry of its own: the plugins of this build, not of another.
  GST_REGISTRY="$folder/registry.bin" meson test -C "$folder" --no-rebuild \
    --print-errorlogs "${test_args[@]}" < /dev/null
  add_counts "$prefix" "$folder/meson-logs/testlog.json"
}

# ---- what is needed ---------------------------------------------------------

title "packages"
# g++: the kernels, for the host.
# shellcheck disable=SC2086 # one word for each package
deps_require_cuda "for the tests" $DEPS_BUILD $DEPS_PLAY $DEPS_PYTHON \
  g++ gnuplot-nox ${TFX_TEST_FORMAT:+clang-format-14} || exit 1
# Without it some checks are skipped.
deps_require "to hold loudness against" "$DEPS_LOUDNESS" || true
# shellcheck disable=SC2086 # one word for each package
$quick || deps_require "for the equaliser's window" $DEPS_WINDOW || true
if ! $quick; then
  # shellcheck disable=SC2086 # one word for each package
  deps_require "for live streams" $DEPS_LIVE || true
fi
echo "nothing is missing"

# ---- the tests --------------------------------------------------------------

title "build and test"
# On a busy machine the longest program takes its time.
test_args=(--timeout-multiplier 3)
if $quick; then test_args+=(--no-suite slow); fi
build_and_test '' "$root/build" "$BUILD_ALL_SETS" -Dtests=enabled -Dexamples=enabled && built=true || built=false

# One half beside the other: each waits for processes that begin and end.
if $built; then
  title "the commands, and the program beside them"
  begin_beside "$root/tests/tool.sh"
  run_tap 'commands: ' "$root/tests/commands.sh"
  run_tap 'pages: ' "$root/tests/pages.py"
  run_tap 'bundle: ' "$root/tests/cuda/test_bundle.sh"
  title "the program"
  end_beside 'program: '
fi

# Live streams wait for the time to pass, an archive for processes: packages are compiled
# meanwhile, and give way to them.
if $built && ! $quick; then
  # shellcheck disable=SC2086 # one word for each package
  deps_require "for an archive" $DEPS_ARCHIVE || true
  # shellcheck disable=SC2086 # one word for each package
  deps_require "for packages" $DEPS_PACKAGES || true
  begin_beside nice -n 19 "$root/tests/packages.sh"
fi
if $built; then
  title "live streams and their clients"
  if $quick; then
    run_tap 'live: ' "$root/tests/live.sh" --quick
  else
    run_tap 'live: ' "$root/tests/live.sh"
  fi
fi
if $built && ! $quick; then
  title "an archive, by GNU parallel and by Slurm"
  run_tap 'archive: ' "$root/tests/archive.sh"
  title "a release, and packages of it"
  end_beside 'packages: '
fi

# ---- the filter core on AArch64 ---------------------------------------------

if $built && ! $quick; then
  title "the filter core on AArch64, in an emulator"
  # shellcheck disable=SC2086 # one word for each package
  if deps_require "for the tests on AArch64" $DEPS_AARCH64; then
    # What takes 113-bit numbers, or minutes, says nothing of a processor.
    test_args=(--timeout-multiplier 10
      example faults filter filter_alloc filter_change fir_alloc fir_convolver
      kernels lang lang_stages plan queue row samples unit_moves update)
    build_and_test 'aarch64: ' "$root/build-aarch64" \
      --cross-file "$root/tests/aarch64.ini" -Delements=false -Dtests=enabled
    run_tap 'arm64: ' "$root/tests/arm64.sh"
  else
    echo "not tested on AArch64"
    skipped=$((skipped + 1))
  fi
fi

# ---- the same with sanitizers -----------------------------------------------

# Some containers forbid the tracing that the leak check needs.
leaks_can_be_found() {
  echo 'int main (void) { return 0; }' > "$work/leak.c"
  cc -fsanitize=address -o "$work/leak" "$work/leak.c" &&
    ASAN_OPTIONS=detect_leaks=1 "$work/leak"
}

if $built && ! $quick; then
  title "build and test with sanitizers"
  leaks=1
  if ! leaks_can_be_found > /dev/null 2>&1; then
    leaks=0
    echo "leaks cannot be looked for on this machine"
    skipped=$((skipped + 1))
  fi
  # The leak check stumbles over the thread-local data of libraries that are
  # loaded late.
  export ASAN_OPTIONS=detect_leaks=$leaks:detect_stack_use_after_return=1:intercept_tls_get_addr=0
  export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
  # The scanner is a program without the sanitizers: it cannot load the plugin.
  export GST_REGISTRY_FORK=no
  # GLib's slices would hide overruns and leaks from the sanitizer.
  export G_SLICE=always-malloc
  test_args=(--timeout-multiplier 5)
  # With -O2 the checks of a file of kernels take the compiler minutes, and to follow
  # variables for a debugger a third more.  Reports need lines alone.
  build_and_test 'sanitizers: ' "$root/build-sanitize" \
    "$BUILD_ALL_SETS" -Dtests=enabled -Dnvcc=disabled -Db_sanitize=address,undefined -Db_lundef=false \
    -Dbuildtype=debug -Doptimization=1 -Dc_args=-g1
fi

# ---- the sources ------------------------------------------------------------

title "sources"
run_tap 'sources: ' "$root/tests/sources.sh"

exit 0
