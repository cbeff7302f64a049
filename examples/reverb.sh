#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# reverb.sh: puts a sound file into a room: a convolution reverb with tfxfir.
set -eu

usage="Usage: examples/reverb.sh [INPUT] [OUTPUT] [ROOM]

INPUT   a file with sound in it, of any kind that GStreamer decodes
        (default: a recording of tablas from the package sonic-pi-samples)
OUTPUT  where the sound goes, as OUTPUT.wav (default: out/NAME-reverb in the
        source tree)
ROOM    a sound file with the impulse response of a room, of one channel or of
        as many as INPUT has (default: one is made, of 2.5 seconds of noise that
        dies away, and left in OUTPUT-room.wav)

It installs what is missing (Debian packages, by apt-get), builds in build/,
and prints the pipeline."

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

absolute() {
  echo "$(cd "$(dirname "$1")" && pwd)/$(basename "$1")"
}

# A property=value for gst-launch, quoted for its parser and for the shell.
# Both read words; only a quote and a backslash need care.
gst_word() {
  local value=${2//\\/\\\\}
  value=$1=\"${value//\"/\\\"}\"
  printf "'%s'" "${value//\'/\'\\\'\'}"
}

# ---- what is asked ---------------------------------------------------------

case ${1-} in -h | --help)
  echo "$usage"
  exit 0
  ;;
esac
[ $# -le 3 ] || fail "too many arguments
$usage"

# shellcheck disable=SC2206 # one word for each package
needs=($DEPS_PLAY python3)
input=${1:-$recording}
if [ $# -eq 0 ]; then
  needs+=(sonic-pi-samples)
fi
for file in "${@:1:1}" "${@:3:1}"; do
  [ -f "$file" ] || fail "no such file: $file"
done

name=$(basename "$input")
output=${2:-$root/out/${name%.*}-reverb}
output=${output%.wav}
mkdir -p "$(dirname "$output")" 2> /dev/null ||
  fail "cannot make the folder $(dirname "$output")"
output=$(absolute "$output")
[ ! -d "$output.wav" ] || fail "a folder is in the way: $output.wav"

# ---- install and build -----------------------------------------------------

work=$(mktemp -d)
trap 'build_stop; rm -rf "$work"' EXIT
build_and_install "for the reverb" "$work/build.log" "$build" \
  "gst/libgsttfx.so gst/tools/gst-tfx" "${needs[@]}"
input=$(absolute "$input")
for file in "$output.wav" "$output-room.wav"; do
  [ ! "$file" -ef "$input" ] || fail "OUTPUT would overwrite INPUT: $file"
done
export GST_PLUGIN_PATH="$build/gst"
tool=$build/gst/tools/gst-tfx

# ---- the room --------------------------------------------------------------

"$tool" spectrum "$input" > "$work/input.csv" 2> "$work/error" ||
  fail "no sound that GStreamer can decode in $input"
read -r rate channels seconds <<< \
  "$(awk '$2 == "file" { print $5, $7, $11; exit }' "$work/input.csv")"
if [ $# -eq 3 ]; then
  room=$(absolute "$3")
else
  room=$output-room.wav
  "$root/examples/tfx-room.py" "$room" --rate="$rate" --channels="$channels" \
    --seconds=2.5 --predelay=0.02 --reverb=-6
fi
"$tool" spectrum "$room" > "$work/room.csv" 2> "$work/error" ||
  fail "no sound that GStreamer can decode in $room"
tail=$(awk '$2 == "file" { print $11; exit }' "$work/room.csv")

# ---- into it ----------------------------------------------------------------

# As many samples come out as go in.  So silence is mixed to the input that
# lasts as long as the reverberation does; all of it half as loud, as the room
# adds its sound to the rest.
buffers=$(awk -v s="$seconds" -v tail="$tail" -v rate="$rate" \
  'BEGIN { print int ((s + tail) * rate / 1024) + 1 }')
format=audio/x-raw,format=F32LE,rate=$rate,channels=$channels
pipeline="GST_PLUGIN_PATH='${GST_PLUGIN_PATH//\'/\'\\\'\'}' gst-launch-1.0 -q \\
  audiomixer name=mix ! $format ! \\
  tfxfir $(gst_word kernel-location "$room") ! \\
  volume volume=0.5 ! wavenc ! filesink $(gst_word location "$output.wav") \\
  filesrc $(gst_word location "$input") ! decodebin ! audioconvert ! \\
  audioresample ! $format ! queue ! mix. \\
  audiotestsrc wave=silence samplesperbuffer=1024 num-buffers=$buffers ! \\
  $format ! queue ! mix."

begin=${EPOCHREALTIME/[.,]/}
eval "$pipeline" < /dev/null 2> "$work/error" || fail "the pipeline failed:
$(cat "$work/error")"
wall_us=$((${EPOCHREALTIME/[.,]/} - begin))
cat "$work/error" >&2

echo
echo "The pipeline, to paste and to change:"
echo
echo "$pipeline"
echo
awk -v s="$seconds" -v tail="$tail" -v us="$wall_us" 'BEGIN {
  printf "%.1f s of sound and %.1f s of reverberation took %.2f s.\n",
         s, tail, us / 1e6 }'
echo
echo "Room:  $room"
echo "Sound: $output.wav"
