#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# run.sh: runs what bundle.sh has packed beside it.  Needs a shell and the
# common tools, nothing else.
set -u

usage="Usage: run.sh [--standin] [--quick] [--full] [--keep FOLDER] [NAME...]

Runs the tests on the NVIDIA driver of this machine, then pipelines, then the
benchmark, whose tables go to the terminal.  The last line counts; the exit status
is 0 only if nothing failed.

--standin      on a stand-in for the driver; timings mean nothing then
--quick        without the slow tests
--full         more and longer rounds of the benchmark
--sanitizer    the kernels' tests under compute-sanitizer as well, which must be
               in PATH
--keep FOLDER  where logs are kept, otherwise in a temporary folder
NAME...        only these, as shell patterns: names of tests.txt, \"pipelines\",
               \"benchmark\""

here=$(cd "$(dirname "$0")" && pwd)
standin=false quick=false full=false sanitizer=false keep=''
while [ $# -gt 0 ]; do
  case $1 in
    --standin) standin=true ;;
    --quick) quick=true ;;
    --full) full=true ;;
    --sanitizer) sanitizer=true ;;
    --keep)
      [ $# -gt 1 ] || { echo "$usage" >&2; exit 2; }
      keep=$2
      shift
      ;;
    -h | --help) echo "$usage" && exit 0 ;;
    -*) echo "error: unknown option: $1" >&2 && echo "$usage" >&2 && exit 2 ;;
    *) break ;;
  esac
  shift
done
# One to a line.
wanted=''
for name in "$@"; do
  wanted="$wanted$name
"
done

if [ -n "$keep" ]; then
  mkdir -p "$keep" && work=$(cd "$keep" && pwd) || exit 1
else
  work=$(mktemp -d) || exit 1
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
fi

export LC_ALL=C
export GST_PLUGIN_SYSTEM_PATH_1_0=''
export GST_PLUGIN_PATH_1_0="$here/plugins"
export GST_REGISTRY_FORK=no
export GST_PRESET_PATH="$here/presets"
export TFX_TEST_DATA="$here/data"
export TFX_TEST_PLUGINS="$here/gstreamer"
export XDG_CACHE_HOME="$work/cache"
# For what is not of this bundle.
export TFX_LD_LIBRARY_PATH="${LD_LIBRARY_PATH-}"
# The machine's own folders stay in it: the driver may be in one of them.
LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
if $standin; then LD_LIBRARY_PATH="$here/standin:$LD_LIBRARY_PATH"; fi
export LD_LIBRARY_PATH
mkdir -p "$work/cache"

passed=0 failed=0 skipped=0

is_wanted() {
  [ -n "$wanted" ] || return 0
  while read -r pattern; do
    # shellcheck disable=SC2254 # a pattern
    case $1 in
      $pattern) return 0 ;;
    esac
  done << END
$wanted
END
  return 1
}

# run NAME PROGRAM [ARGUMENT...]: its output is in $work/NAME.log.
run() {
  name=$1
  shift
  GST_REGISTRY="$work/registry-$name.bin" "$@" > "$work/$name.log" 2>&1 < /dev/null
  status=$?
  rm -f "$work/registry-$name.bin"
  # Cases in a log of TAP.
  cases=$(grep -c '^ok ' "$work/$name.log")
  skips=$(grep -c -i '^ok .*# skip\|^1\.\.0 # skip' "$work/$name.log")
  if [ $status -eq 77 ]; then status=0 skips=1; fi
  if [ $status -ne 0 ] || grep -q '^not ok' "$work/$name.log"; then
    failed=$((failed + 1))
    echo "FAILED   $name (status $status)"
    sed 's/^/         /' "$work/$name.log"
  elif [ "$skips" -gt 0 ] && [ "$cases" -le "$skips" ]; then
    skipped=$((skipped + 1))
    echo "skipped  $name"
  else
    passed=$((passed + 1))
    echo "ok       $name"
  fi
}

# ---- the driver --------------------------------------------------------------------

if $standin; then
  echo "On the stand-in for the driver: no GPU is used."
elif [ -x "$here/bin/bench_cuda" ] && ! "$here/bin/bench_cuda" --device; then
  echo "error: there is no GPU to test on; --standin goes without" >&2
  exit 1
fi

# ---- tests -------------------------------------------------------------------------

while IFS='|' read -r name suites program variables arguments <&3; do
  is_wanted "$name" || continue
  case " $suites " in
    *' standin '*) $standin || continue ;;
  esac
  case " $suites " in
    *' slow '*) ! $quick || continue ;;
  esac
  # Tests of the CPU do not see a driver.
  case " $suites " in
    *' hidden '*) path="$here/hidden:$LD_LIBRARY_PATH" ;;
    *) path=$LD_LIBRARY_PATH ;;
  esac
  # shellcheck disable=SC2086 # words
  run "$name" env $variables "LD_LIBRARY_PATH=$path" "$here/tests/$program" \
    $arguments
done 3< "$here/tests.txt"

if $sanitizer; then
  for tool in memcheck racecheck; do
    run "$tool-kernels" compute-sanitizer --tool $tool --error-exitcode 1 \
      "$here/tests/cuda/test_cuda_kernels" channels depths odd-sections
    run "$tool-fft" compute-sanitizer --tool $tool --error-exitcode 1 \
      "$here/tests/cuda/test_cuda_fft" sizes parts
    run "$tool-fir" compute-sanitizer --tool $tool --error-exitcode 1 \
      "$here/tests/cuda/test_cuda_fir" firs
  done
fi

# ---- pipelines ----------------------------------------------------------------------

# play NAME ELEMENTS: noise through the elements; as many bytes come out as go
# in.
play() {
  n_bytes=$((50 * 1024 * 4 * 4))
  echo "gst-launch-1.0 ... ! $2" > "$work/pipeline-$1.log"
  # shellcheck disable=SC2086 # words
  "$here/bin/gst-launch-1.0" -q --gst-plugin-path="$here/gstreamer" \
    audiotestsrc wave=white-noise num-buffers=50 samplesperbuffer=1024 ! \
    audio/x-raw,format=F32LE,rate=48000,channels=4 ! $2 ! \
    filesink location="$work/played" || return 1
  [ "$(wc -c < "$work/played")" -eq $n_bytes ]
}

if is_wanted pipelines; then
  six="tfxchebyshev mode=high-pass cutoff=20 ! tfxchebyshev mode=high-pass
    cutoff=60 ! tfxchebyshev mode=high-pass cutoff=65 ! tfxbutterworth
    cutoff=5000 ! tfxbutterworth cutoff=4900 ! tfxbutterworth cutoff=4850"
  for device in cpu cuda auto; do
    run "pipeline-one-$device" play one "tfxbutterworth device=$device"
    run "pipeline-six-$device" play six "$(echo "$six" |
      sed "s/tfx[a-z]*/& device=$device/g")"
    run "pipeline-queue-$device" play queue \
      "tfxbutterworth device=$device ! queue ! tfxchebyshev device=$device"
    run "pipeline-fir-$device" play fir "tfxfir device=$device taps=511"
  done
fi

# ---- the benchmark --------------------------------------------------------------------

if is_wanted benchmark && [ -x "$here/bin/bench_cuda" ]; then
  options="--peer=$here/bin/torchfx_peer.py"
  if $full; then options="$options --full"; fi
  # shellcheck disable=SC2086 # words
  if "$here/bin/bench_cuda" $options "--csv=$work/bench_cuda.csv"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED   benchmark"
  fi
fi

[ -z "$keep" ] || echo "logs: $work"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
