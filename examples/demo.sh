#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# demo.sh: filters a sound file with both elements and draws what they did.
# shellcheck disable=SC2086 # $filter1 and $filter2 are several words each
set -eu

usage="Usage: examples/demo.sh [INPUT] [OUTPUT]

INPUT   a file with sound in it, of any kind that GStreamer decodes
        (default: a recording of tablas from the package sonic-pi-samples)
OUTPUT  where the filtered sound goes, as OUTPUT.wav, and the picture, as
        OUTPUT.png (default: out/NAME-filtered in the source tree)

It installs what is missing (Debian packages, by apt-get), builds in build/,
keeps the telephone's band of INPUT, 300 to 3400 Hz, and prints the pipeline
that did it."

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build
recording=/usr/share/sonic-pi/samples/loop_tabla.flac
# Numbers with a point, file names in UTF-8.
export LC_ALL=C.UTF-8
. "$root/tests/setup/deps.sh"
. "$root/tests/setup/build.sh"

fail() {
  echo "error: $*" >&2
  exit 1
}

# An absolute path for a file in a folder that exists.
absolute() {
  echo "$(cd "$(dirname "$1")" && pwd)/$(basename "$1")"
}

# A value of a property for gst-launch, quoted for its parser if need be.
gst_value() {
  local value=$1
  if [[ $value =~ [^A-Za-z0-9/._+,:@=-] ]]; then
    value=${value//\\/\\\\}
    value=\"${value//\"/\\\"}\"
  fi
  printf '%s' "$value"
}

# A word quoted for a shell if need be.
shell_word() {
  if [[ $1 =~ [^A-Za-z0-9/._+,:@=-] ]]; then
    printf "'%s'" "${1//\'/\'\\\'\'}"
  else
    printf '%s' "$1"
  fi
}

# ---- what is asked ---------------------------------------------------------

case ${1-} in -h | --help)
  echo "$usage"
  exit 0
  ;;
esac
[ $# -le 2 ] || fail "too many arguments
$usage"

# What building does not need.
# shellcheck disable=SC2206 # one word for each package
needs=($DEPS_PLAY gnuplot-nox)
if [ $# -ge 1 ]; then
  [ -e "$1" ] || fail "no such file: $1"
  [ -f "$1" ] || fail "not a file: $1"
  [ -r "$1" ] || fail "not readable: $1"
  input=$(absolute "$1")
else
  input=$recording
  needs+=(sonic-pi-samples)
fi

name=$(basename "$input")
output=${2:-$root/out/${name%.*}-filtered}
output=${output%.wav}
case $output in */ | '') fail "OUTPUT is a folder, not a file: $2" ;; esac
mkdir -p "$(dirname "$output")" 2> /dev/null ||
  fail "cannot make the folder $(dirname "$output")"
output=$(absolute "$output")
for file in "$output.wav" "$output.png"; do
  [ ! -d "$file" ] || fail "a folder is in the way: $file"
  if [ -e "$file" ]; then
    [ -w "$file" ] || fail "cannot write to $file"
  else
    [ -w "$(dirname "$file")" ] ||
      fail "cannot write into the folder $(dirname "$file")"
  fi
  [ ! "$file" -ef "$input" ] || fail "OUTPUT would overwrite INPUT: $file"
done

# ---- install and build -----------------------------------------------------

work=$(mktemp -d)
trap 'build_stop; rm -rf "$work"' EXIT
build_and_install "for the demo" "$work/build.log" "$build" \
  "gst/libgsttfx.so gst/tools/gst-tfx examples/tfx-stats" "${needs[@]}"
export GST_PLUGIN_PATH="$build/gst"
tool=$build/gst/tools/gst-tfx

# The first start of GStreamer reads every plugin that is there; that is not
# the filters' time.
for element in tfxbutterworth tfxchebyshev; do
  gst-inspect-1.0 $element > /dev/null 2>&1 || fail "GStreamer has no $element
try: GST_PLUGIN_PATH=$(shell_word "$build/gst") gst-inspect-1.0 $element"
done

# ---- filter ----------------------------------------------------------------

if ! "$tool" spectrum "$input" > "$work/before.csv" 2> "$work/error"; then
  sed 's/^error: /  /' "$work/error" >&2
  fail "no sound that GStreamer can decode in $input"
fi
read -r rate seconds <<< \
  "$(awk '$2 == "file" { print $5, $11; exit }' "$work/before.csv")"

# At rates below 7556 Hz the upper edge gives way.
upper=$(awk -v rate="$rate" 'BEGIN {
  hz = 0.45 * rate; print hz < 3400 ? int (hz) : 3400 }')
filter1="tfxbutterworth mode=high-pass cutoff=300 order=4"
filter2="tfxchebyshev mode=low-pass cutoff=$upper order=8 ripple=0.5"
# The same in the language of chains.
chain1="HiButterworth(300, order=4)"
chain2="LoChebyshev1($upper, order=8, ripple=0.5)"

pipeline="GST_PLUGIN_PATH=$(shell_word "$build/gst") gst-launch-1.0 -q \\
  filesrc $(shell_word "location=$(gst_value "$input")") ! decodebin ! \\
  audioconvert ! audio/x-raw,format=F32LE ! \\
  $filter1 ! \\
  $filter2 ! \\
  wavenc ! filesink $(shell_word "location=$(gst_value "$output.wav")")"

begin=${EPOCHREALTIME/[.,]/}
eval "$pipeline" < /dev/null 2> "$work/error" ||
  fail "the pipeline failed:
$(cat "$work/error")"
wall_us=$((${EPOCHREALTIME/[.,]/} - begin))
cat "$work/error" >&2
[ "$(stat -c %s "$output.wav")" -lt 4294967296 ] ||
  echo "warning: a WAV file cannot tell its length beyond 4 GiB" >&2

# The same once more without a file at the end, for the filters' own time.
"$build/examples/tfx-stats" filesrc "location=$(gst_value "$input")" ! \
  decodebin ! audioconvert ! audio/x-raw,format=F32LE ! \
  $filter1 ! $filter2 ! fakesink > "$work/stats"

# ---- draw ------------------------------------------------------------------

# Columns, without what stands above them.
columns() {
  grep -v '^[#f]' "$2" | cut -d, -f"$1"
}

for n in 1 2 3; do
  chain=("$chain1" "$chain2" "$chain1 | $chain2")
  "$tool" response --rate "$rate" --points 2000 "${chain[n - 1]}" > "$work/response$n.csv"
done
paste -d, <(columns 1,2 "$work/response1.csv") <(columns 2 "$work/response2.csv") \
  <(columns 2 "$work/response3.csv") > "$work/response.csv"
"$tool" spectrum "$output.wav" > "$work/after.csv"
paste -d, <(columns 1,2 "$work/before.csv") <(columns 2 "$work/after.csv") \
  > "$work/spectrum.csv"
peak=$(awk -F, '!n++ || $2 > max { max = $2 } END { print max }' "$work/spectrum.csv")
gnuplot -c "$root/examples/demo.gp" "$output.png" "$work/response.csv" \
  "$work/spectrum.csv" "$((rate / 2))" "$peak" "$name" "$filter1" "$filter2"

# ---- tell ------------------------------------------------------------------

# Where neighbours run as one, the first of them runs nothing: "none".
kernel=$(sed -n 's/.* kernel=\([^ ]*\).*/\1/p' "$work/stats" |
  grep -v '^none$' | sort -u)
filter_ns=$(sed -n 's/^total process-time=//p' "$work/stats")
echo
echo "The pipeline, to paste and to change:"
echo
echo "$pipeline"
echo
awk -v s="$seconds" -v us="$wall_us" -v ns="$filter_ns" -v kernel="$kernel" '
  function times(x) { return sprintf (x < 10 ? "%.2g" : "%.0f", x) }
  BEGIN {
    printf "%.1f s of sound took %.3f s, with program start, decoding and " \
           "writing in it:\n%s times faster than real time.\n",
           s, us / 1e6, times(s / (us / 1e6))
    if (ns > 0)
      printf "The two filters alone took %.2f ms (kernel %s): %s times.\n",
             ns / 1e6, kernel, times(s / (ns / 1e9))
  }'
echo
echo "Sound:   $output.wav"
echo "Picture: $output.png"
