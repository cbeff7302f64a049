#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# run.sh: every test.  The last line is "N passed, N failed"; the exit status
# is 0 only if none failed.
set -u

usage="Usage: tests/run.sh [--part [NUMBER] | --all]

Installs what is missing (Debian packages, by apt-get), builds in build/, runs the tests,
the commands' too, and checks the look of the sources.  Of wide sweeps it runs a part
(TFX_TEST_PART, a number, says which), and no slow tests; live streams only where there is
already what they need.

--all   everything, and all of it: the slow tests; live streams, heard by their clients; an
        archive filtered by GNU parallel and Slurm; a release and Debian packages of it; the
        filter core for AArch64, built in build-aarch64/ and tested in an emulator; a build
        by Clang in build-clang/, with the tests that are not slow again; a build in
        build-sanitize/ with the address and undefined behaviour sanitizers, with all tests
        again
--part  what .ci/run needs: some of each of these, but for the packages, and every fourth of
        the slow tests.  NUMBER says which; without it the last commit's hash does"

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# English messages, numbers with a point.
export LC_ALL=C.UTF-8
. "$root/tests/setup/deps.sh"
. "$root/tests/setup/build.sh"

# How much: part is its number with --part.
extent=quick part=''
case ${1-} in
  '') ;;
  --all) extent=all ;;
  --part)
    extent=part
    part=${2-$((16#$(git -c safe.directory='*' -C "$root" rev-parse --short=7 HEAD 2> /dev/null || date +%d)))}
    case $part in '' | *[!0-9]*) echo "error: no number: $part" >&2 && exit 2 ;; esac
    shift $(($# > 1))
    ;;
  -h | --help) echo "$usage" && exit 0 ;;
  *) echo "error: unknown argument: $1" >&2 && echo "$usage" >&2 && exit 2 ;;
esac
[ $# -le 1 ] || { echo "$usage" >&2 && exit 2; }

is_all() {
  [ $extent = all ]
}

is_quick() {
  [ $extent = quick ]
}

# turn N I: whether this run does number I of N things that take turns.
turn() {
  is_all || { [ $extent = part ] && [ $((part % $1)) -eq "$2" ]; }
}

if is_quick; then export TFX_TEST_PART=${TFX_TEST_PART-0}; fi

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

# test_in PREFIX FOLDER [ARGUMENT...]: meson test, with test_args too.
test_in() {
  local prefix=$1 folder=$2
  shift 2
  rm -f "$folder/meson-logs/testlog.json"
  # A registry of its own: the plugins of this build, not of another.
  GST_REGISTRY="$folder/registry.bin" meson test -C "$folder" --no-rebuild \
    --print-errorlogs "${test_args[@]}" "$@" < /dev/null
  add_counts "$prefix" "$folder/meson-logs/testlog.json"
}

# Every fourth of a folder's slow tests, by their names: of each program for eight cards,
# two.
list_turn() {
  meson test -C "$1" --no-rebuild --list --suite slow 2> /dev/null | sed -n 's/.* \/ //p' |
    sort | awk -v part="$part" 'NR % 4 == part % 4'
}

# build_and_test PREFIX FOLDER [SETUP OPTION...]; arguments for meson test are in the array
# test_args; `names` there are all that are run.
build_and_test() {
  local prefix=$1 folder=$2 before=$failed turns
  shift 2
  case_of "${prefix}meson setup" build_setup "$folder" "$@"
  [ "$failed" -eq "$before" ] || return 1
  case_of "${prefix}build" meson compile -C "$folder"
  [ "$failed" -eq "$before" ] || return 1

  if [ ${#names[@]} -gt 0 ]; then
    test_in "$prefix" "$folder" "${names[@]}"
  elif is_all; then
    test_in "$prefix" "$folder"
  elif is_quick; then
    test_in "$prefix" "$folder" --no-suite slow
  else
    TFX_TEST_PART=$part test_in "$prefix" "$folder" --no-suite slow
    mapfile -t turns < <(list_turn "$folder")
    # Without a name it would run all.
    case_of "${prefix}slow tests take turns" test ${#turns[@]} -gt 0 &&
      test_in "$prefix" "$folder" "${turns[@]}"
  fi
}

# meson_default OPTION: its default, a list, as an option for meson setup.
meson_default() {
  python3 - "$root/meson_options.txt" "$1" << 'PY'
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
value = re.search(rf"option\('{sys.argv[2]}'.*?value *: *\[(.*?)\]", text, re.S)[1]
print(f"-D{sys.argv[2]}=" + ",".join(re.findall(r"'([^']*)'", value)))
PY
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
deps_require "to make and read sound files" $DEPS_FILES || true
if ! is_quick; then
  # shellcheck disable=SC2086 # one word for each package
  deps_require "for the equaliser's window" $DEPS_WINDOW || true
  # shellcheck disable=SC2086 # one word for each package
  deps_require "for the server's page" $DEPS_BROWSER || true
  # shellcheck disable=SC2086 # one word for each package
  deps_require "for live streams" $DEPS_LIVE || true
  # shellcheck disable=SC2086 # one word for each package
  deps_require "for the Python package" $DEPS_NUMPY || true
fi
echo "nothing is missing"

# ---- the tests --------------------------------------------------------------

title "build and test"
# On a busy machine the longest program takes its time.
test_args=(--timeout-multiplier 3) names=()
setup=("${BUILD_FOR_ALL[@]}" -Dtests=enabled -Dexamples=enabled -Dpython=auto)
# The GPU's machine code, which nothing here can run, takes nvcc longer than the compiler
# all the rest: none, one generation's beside the PTX in turn, or all.
generations=(75 80 86 90 100 120)
case $extent in
  all)
    setup+=(-Dnvcc=auto "$(meson_default cuda-archs)")
    ;;
  part)
    echo "part $part; again: tests/run.sh --part $part"
    setup+=(-Dnvcc=auto "-Dcuda-archs=compute_75,sm_${generations[part % ${#generations[@]}]}")
    ;;
  quick)
    build_is_ours "$root/build" "$root" || setup+=(-Dnvcc=disabled)
    ;;
esac
build_and_test '' "$root/build" "${setup[@]}" && built=true || built=false

# One half beside the other: each waits for processes that begin and end.
if $built; then
  title "the commands, and the program beside them"
  begin_beside "$root/tests/tool.sh"
  run_tap 'commands: ' "$root/tests/commands.sh"
  run_tap 'pages: ' "$root/tests/pages.py"
  run_tap 'files: ' "$root/tests/files/matrix.py"
  run_tap 'files: ' "$root/tests/files/damage.py"
  run_tap 'bundle: ' "$root/tests/cuda/test_bundle.sh"
  title "the program"
  end_beside 'program: '
fi

# Live streams wait for the time to pass, an archive for processes: packages are compiled
# meanwhile, and give way to them.
if $built && is_all; then
  # shellcheck disable=SC2086 # one word for each package
  deps_require "for packages" $DEPS_PACKAGES || true
  begin_beside nice -n 19 "$root/tests/packages.sh"
fi
if $built; then
  title "live streams and their clients"
  if turn 2 0; then
    run_tap 'live: ' "$root/tests/live.sh"
  else
    run_tap 'live: ' "$root/tests/live.sh" --quick
  fi
fi
if $built && turn 2 1; then
  title "an archive, by GNU parallel and by Slurm"
  # shellcheck disable=SC2086 # one word for each package
  deps_require "for an archive" $DEPS_ARCHIVE || true
  run_tap 'archive: ' "$root/tests/archive.sh"
fi
if $built && is_all; then
  title "a release, and packages of it"
  end_beside 'packages: '
fi

# ---- the filter core on AArch64 ---------------------------------------------

if $built && ! is_quick; then
  title "AArch64, in an emulator"
  # shellcheck disable=SC2086 # one word for each package
  if deps_require "for the tests on AArch64" $DEPS_AARCH64; then
    # What takes 113-bit numbers, or minutes, says nothing of a processor.
    test_args=(--timeout-multiplier 10)
    names=(example faults filter filter_alloc filter_change fir_alloc fir_convolver
      kernels lang lang_stages plan queue row samples unit_moves update)
    if turn 2 0; then
      build_and_test 'aarch64: ' "$root/build-aarch64" \
        --cross-file "$root/tests/aarch64.ini" -Delements=false -Dtests=enabled -Dnvcc=disabled
    fi
    if turn 2 1; then run_tap 'arm64: ' "$root/tests/arm64.sh"; fi
  else
    echo "not tested on AArch64"
    skipped=$((skipped + 1))
  fi
fi

# ---- the same by Clang ------------------------------------------------------

if $built && is_all; then
  title "build and test by Clang"
  # shellcheck disable=SC2086 # one word for each package
  if deps_require "for a build by Clang" $DEPS_CLANG; then
    # The slow tests repeat in width what the others check.  The plugin uses the shared libtfx.
    test_args=(--timeout-multiplier 3 --no-suite slow) names=()
    CC=clang build_and_test 'clang: ' "$root/build-clang" \
      "${BUILD_FOR_ALL[@]}" -Dtests=enabled -Dnvcc=disabled -Dwerror=true -Dlink-libtfx=true
  else
    echo "not built by Clang"
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

if $built && ! is_quick; then
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
  test_args=(--timeout-multiplier 5) names=()
  # The kernels of all sets take the compiler as long as everything else.
  sets=(sse2 avx2 avx512) sanitizers=(address undefined)
  setup=("${BUILD_FOR_ALL[@]}" "-Db_sanitize=address,undefined")
  if [ $extent = part ]; then
    setup=(-Dcuda=auto "-Dinstruction-sets=${sets[part % 3]}"
      "-Db_sanitize=${sanitizers[part / 4 % 2]}")
    export TFX_TEST_PART=$part
  fi
  # Not among GCC's "undefined": a number that its integer does not hold.
  casts=-fsanitize=float-cast-overflow
  # With -O2 the checks of a file of kernels take the compiler minutes, and to follow
  # variables for a debugger a third more.  Reports need lines alone.
  build_and_test 'sanitizers: ' "$root/build-sanitize" \
    "${setup[@]}" -Dtests=enabled -Dnvcc=disabled -Db_lundef=false \
    -Dbuildtype=debug -Doptimization=1 "-Dc_args=-g1 $casts" "-Dcpp_args=$casts" \
    "-Dc_link_args=$casts" "-Dcpp_link_args=$casts"
fi

# ---- the sources ------------------------------------------------------------

title "sources"
run_tap 'sources: ' "$root/tests/sources.sh"

exit 0
