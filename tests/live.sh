#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# live.sh: servers and live input with real clients, on the loopback address, as TAP.  Needs a
# finished build in build/ (or the folder that is given).  What is missing on the
# machine is skipped: libgstrtspserver-1.0-dev, ffmpeg, pulseaudio.
#
#   live.sh [--quick] [FOLDER]
#
# shellcheck disable=SC2317 # functions are called by name
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=tests/tap.sh
. "$root/tests/tap.sh"
export LC_ALL=C.UTF-8
quick=false
if [ "${1-}" = --quick ]; then quick=true && shift; fi
build=${1:-$root/build}
bin=$build/examples
compare=$root/tests/live/compare.py

top=$(mktemp -d)
export GST_PLUGIN_PATH=$build/gst GST_REGISTRY=$top/registry.bin
n_started=0
finish() {
  local pids
  mapfile -t pids < <(jobs -pr)
  if [ ${#pids[@]} -gt 0 ]; then
    disown -a
    kill -KILL "${pids[@]}"
  fi 2> /dev/null
  rm -rf "$top" "$tap_log"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
cd "$top" || exit 1

# shellcheck source=tests/live/serving.sh
. "$root/tests/live/serving.sh"

# ---- a server --------------------------------------------------------------------

# offline OUT FORMAT ELEMENT...: what the chain makes of the file.
offline() {
  local out=$1 format=$2
  shift 2
  gst-launch-1.0 -q filesrc location=noise.wav ! wavparse ! audioconvert ! "$@" ! \
    audioconvert ! "audio/x-raw,format=$format" ! audioconvert ! \
    audio/x-raw,format=S32LE ! filesink location="$out"
}

# all_exact STEPS FILE...
all_exact() {
  local steps=$1 file
  shift
  for file in "$@"; do
    "$compare" exact "$steps" "$file" filtered.raw || return 1
  done
}

chain='LoButterworth(2000, order=4) | Limiter(-1, lookahead=0.02)'

make_noise() {
  gst-launch-1.0 -q audiotestsrc wave=white-noise volume=0.3 num-buffers=25 \
    samplesperbuffer=4800 ! audio/x-raw,rate=48000,channels=2,format=S16LE ! \
    wavenc ! filesink location=noise.wav &&
    offline filtered.raw S24BE tfxchain chain="$chain" &&
    offline plain.raw S24BE identity
}

# To the bit, by three clients at once; what was not filtered is not taken for it.
check_exact() {
  serve exact source=noise.wav codec=L24 chain="$chain" || return 1
  local clients=()
  ffmpeg_hears tcp.raw s32le tcp & clients+=($!)
  ffmpeg_hears udp.raw s32le udp & clients+=($!)
  gst_hears gst.raw udp rtpL24depay & clients+=($!)
  all_end "${clients[@]}" && all_exact 0 tcp.raw udp.raw gst.raw &&
    ! "$compare" exact 0 tcp.raw plain.raw && stop_server exact
}

# refused WORDS ARGUMENT...
refused() {
  local words=$1 status=0
  shift
  timeout 30 "$bin/tfx-rtsp" port=0 "$@" < /dev/null > refused.txt 2>&1 || status=$?
  cat refused.txt
  [ $status -eq 1 ] && grep -q -F -- "$words" refused.txt
}

if why=$(lacks); then
  tap_skip "an RTSP server and its clients" "$why"
else
  tap_case "a sound, and what is to be heard of it" make_noise
  tap_case "RTSP, L24: ffmpeg and rtspsrc hear the filtered samples" check_exact
  tap_case "RTSP: a chain that cannot be read" \
    refused "did you mean 'LoButterworth'" chain='LoButterwort(9)'
  tap_case "RTSP: no such codec" refused 'codec must be opus, L16 or L24, not "mp3"' \
    codec=mp3
  tap_case "RTSP: no such element" refused 'no element "nosuchsrc"' source=nosuchsrc
  tap_case "RTSP: a file that is not there" \
    refused 'source is "absent.wav", which is no file' source=absent.wav
  tap_case "RTSP: no port" refused 'port must be 0 to 65535, not "70000"' port=70000
  tap_case "RTSP: no path" refused 'path must begin with /, not "sound"' path=sound
  tap_case "RTSP: no timeout" refused 'timeout must be 1 to 86400 s, not "soon"' \
    timeout=soon
  tap_case "RTSP: an address that is not this machine's" \
    refused "cannot listen at 192.0.2.1" address=192.0.2.1
fi
if $quick; then
  tap_end
  exit
fi

# ---- more of the server --------------------------------------------------------------

# Its dither is at most a step and a half of 16 bits.
check_l16() {
  serve l16 source=noise.wav codec=L16 chain="$chain" || return 1
  ffmpeg_hears l16.raw s32le udp && all_exact 131072 l16.raw &&
    ! "$compare" exact 131072 l16.raw plain.raw && stop_server l16
}

# coded OUT CHAIN: what an Opus decoder makes of it offline, beside OUT-before.
coded() {
  gst-launch-1.0 -q filesrc location=mono.wav ! wavparse ! audioconvert ! \
    tfxchain chain="$2" ! tee name=t ! queue ! audioconvert ! \
    audio/x-raw,format=F32LE ! filesink location="$1-before" t. ! queue ! \
    audioconvert ! opusenc bitrate=128000 ! opusdec ! audioconvert ! \
    audio/x-raw,format=F32LE ! filesink location="$1"
}

check_opus() {
  gst-launch-1.0 -q audiotestsrc wave=white-noise volume=0.3 num-buffers=25 \
    samplesperbuffer=4800 ! audio/x-raw,rate=48000,channels=1,format=S16LE ! \
    wavenc ! filesink location=mono.wav &&
    coded opus "LoButterworth(2000)" && coded plain "Gain(1)" &&
    serve opus source=mono.wav chain="LoButterworth(2000)" || return 1
  local clients=()
  ffmpeg_hears ffmpeg.raw f32le tcp -af "pan=mono|c0=c0" & clients+=($!)
  to_its_end gst.log gst-launch-1.0 rtspsrc location="$url" protocols=udp latency=200 ! \
    rtpopusdepay ! opusdec ! audioconvert ! audio/x-raw,format=F32LE,channels=1 ! \
    filesink location=gst.raw & clients+=($!)
  all_end "${clients[@]}" &&
    "$compare" codec ffmpeg.raw opus-before opus &&
    "$compare" codec gst.raw opus-before opus &&
    ! "$compare" codec plain opus-before opus && stop_server opus
}

check_latency() {
  local port
  port=$(free_port)
  serve latency codec=L24 chain="Limiter(-1, lookahead=0.5)" \
    source="udpsrc port=$port caps=audio/x-raw,format=S16BE,rate=48000,channels=1,layout=interleaved" &&
    "$root/tests/live/latency.py" "$port" "$url" 500 && cat latency.log &&
    grep -q '^latency 500.000 ms, of which the chain has 500.000 ms' latency.log &&
    stop_server latency
}

# Each from the beginning, and to the bit.
check_ten() {
  local i clients=() files=()
  serve ten source=noise.wav codec=L24 chain="$chain" || return 1
  for i in 0 1 2 3 4 5 6 7 8 9; do
    case $i in
      [0-3]) ffmpeg_hears "$i.raw" s32le tcp & ;;
      [4-7]) ffmpeg_hears "$i.raw" s32le udp & ;;
      *) gst_hears "$i.raw" udp rtpL24depay & ;;
    esac
    clients+=($!)
    files+=("$i.raw")
  done
  all_end "${clients[@]}" && all_exact 0 "${files[@]}" &&
    tap_wait 30 grep -q 'went, 0 there' ten.log && stop_server ten
}

# One that goes without a word is given up, and may come back.
check_killed() {
  local client transport n=0
  python3 -c 'import wave
with wave.open("noise.wav") as short, wave.open("long.wav", "wb") as long:
    long.setparams(short.getparams())
    long.writeframes(short.readframes(10 ** 6) * 40)' &&
    serve killed source=long.wav codec=L24 chain="$chain" timeout=2 || return 1
  for transport in udp tcp; do
    rm -f killed.raw
    ffmpeg -nostdin -loglevel fatal -rtsp_transport $transport -i "$url" \
      -f s32le killed.raw & client=$!
    tap_wait 30 test -s killed.raw && kill -KILL $client || return 1
    wait $client
    n=$((n + 1))
    tap_wait 60 ended killed $n && ffmpeg_hears back.raw s32le $transport -t 2 &&
      all_exact 0 back.raw || return 1
    n=$((n + 1))
    tap_wait 60 ended killed $n || return 1
  done
  cat killed.log
  stop_server killed
}

# A live source is shared: one goes, others hear on, and another one comes.  What is
# typed is heard.
check_shared() {
  local gone stays short
  local live='audiotestsrc is-live=true wave=saw freq=375 ! audio/x-raw,format=F64LE,rate=48000,channels=1'
  local low='LoButterworth(1000) | v=Gain(0.5)'
  gst-launch-1.0 -q ${live/is-live=true/num-buffers=50} ! tfxchain chain="$low" ! \
    tfxchain name=half chain="Gain(0.5)" ! audioconvert ! audio/x-raw,format=S32LE ! \
    filesink location=half.raw &&
    gst-launch-1.0 -q ${live/is-live=true/num-buffers=50} ! tfxchain chain="$low" ! \
      audioconvert ! audio/x-raw,format=S32LE ! filesink location=low.raw &&
    serve shared source="$live" codec=L24 chain="$low" timeout=2 || return 1
  ffmpeg -nostdin -loglevel fatal -rtsp_transport udp -i "$url" -f s32le gone.raw & gone=$!
  tap_wait 30 test -s gone.raw || return 1
  ffmpeg -nostdin -loglevel fatal -rtsp_transport udp -i "$url" -f s32le stays.raw & stays=$!
  tap_wait 30 test -s stays.raw || return 1
  ffmpeg_hears short.raw s32le tcp -t 1 & short=$!
  kill -KILL $gone && wait $short && ffmpeg_hears comes.raw s32le tcp -t 1 || return 1
  kill -INT $stays && wait $stays
  printf '%s\n' w::gain=1 v::gain=loud v::gain=0.25 last >&4
  tap_wait 10 grep -q 'not STAGE::PARAMETER=VALUE: last' shared.log &&
    grep -q 'the chain has no w::gain' shared.log &&
    grep -q 'v::gain cannot be loud' shared.log &&
    ffmpeg_hears half-heard.raw s32le udp -t 1 || return 1
  # The oscillator's phase is a sum of rounded steps.
  local file
  for file in stays short comes; do
    "$compare" exact 2048 $file.raw low.raw 128 || return 1
  done
  "$compare" exact 2048 half-heard.raw half.raw 128 later &&
    ! "$compare" exact 2048 half-heard.raw low.raw 128 later && stop_server shared
}

if why=$(lacks); then
  tap_skip "an RTSP server and its clients, for longer" "$why"
else
  tap_case "RTSP, L16: the filtered samples, with dither" check_l16
  tap_case "RTSP, Opus: the filtered sound, as exact as the codec is" check_opus
  tap_case "RTSP: the latency that is told is that of the stamps, and of the sound" \
    check_latency
  tap_case "RTSP: ten at once" check_ten
  tap_case "RTSP: a client is killed and comes back" check_killed
  tap_case "RTSP: a live source is shared, and a parameter is set" check_shared
fi

# ---- the page ---------------------------------------------------------------------------

# line_of WORDS: the block of the page that has them, with our sound and ports, a
# file for the loudspeaker, and our folder for /tmp.
line_of() {
  awk -v words="$1" '
    /^```/ { inside = !inside; if (!inside && index (text, words)) printf "%s", text
      text = ""; next }
    inside { text = text $0 "\n" }' "$root/docs/live.md" > block.txt
  [ -s block.txt ] || { echo "the page has no $1" >&2 && return 1; }
  sed "s|/usr/share/sonic-pi/samples/loop_tabla.flac|mono.wav|; s|/tmp/||g
    s|:8554/|:$port/|; s|port=5004|port=$port|; s|audio 5004|audio $port|
    s|autoaudiosink|audio/x-raw,format=F32LE,channels=1 ! filesink location=heard.raw|
    s|^build/examples/tfx-rtsp|exec \"$bin/tfx-rtsp\" port=$port|
    s|^ffmpeg |ffmpeg -y -nostdin -loglevel fatal |" block.txt
}

# start WORDS: its block, in the background; its process is $started.
start() {
  n_started=$((n_started + 1))
  line_of "$1" > block.sh || return 1
  sed 's/^gst-launch/exec &/' block.sh > "started-$n_started.sh"
  cat "started-$n_started.sh"
  sh "started-$n_started.sh" > "started-$n_started.log" 2>&1 & started=$!
}

# for_a_while WORDS: its block, until it has heard some two seconds.
for_a_while() {
  rm -f heard.raw
  start "$1" && tap_wait 60 has_heard && kill -INT "$started" && wait "$started"
}

has_heard() {
  [ -e heard.raw ] && [ "$(stat -c %s heard.raw)" -gt 350000 ]
}

# as_f32 FILE: heard-f32.raw, its left channel
as_f32() {
  gst-launch-1.0 -q filesrc location="$1" ! wavparse ! audioconvert ! deinterleave name=d d.src_0 ! \
    audioconvert ! audio/x-raw,format=F32LE ! filesink location=heard-f32.raw
}

# A file out of the server of the page, for both clients of the page.
check_page_server() {
  local page_server
  port=$(free_port)
  coded page "HiButterworth(80) | ParametricEQ(3000, q=1, gain=2)" &&
    start "tfx-rtsp source=/usr" || return 1
  page_server=$started
  tap_wait 30 grep -q "^rtsp://127.0.0.1:$port/sound" started-$n_started.log &&
    line_of "rtspsrc location=" > gst.sh && line_of "ffmpeg -i rtsp" > ffmpeg.sh &&
    to_its_end gst.log sh gst.sh && timeout 60 sh ffmpeg.sh && as_f32 heard.wav &&
    "$compare" codec heard.raw page-before page &&
    "$compare" codec heard-f32.raw page-before page &&
    kill -TERM "$page_server" && wait "$page_server"
}

# GStreamer hears it, with all of the packets and with some, and ffmpeg.
check_page_rtp() {
  local saw='audiotestsrc num-buffers=100 wave=saw freq=375' sender
  port=$(free_port)
  # shellcheck disable=SC2086 # several words
  gst-launch-1.0 -q $saw ! audio/x-raw,rate=48000,channels=1 ! audioconvert ! \
    tfxchain chain="LoButterworth(600, order=8) | Limiter(-1)" ! tee name=t ! queue ! audioconvert ! \
    audio/x-raw,format=F32LE ! filesink location=saw-before t. ! queue ! audioconvert ! \
    opusenc bitrate=128000 ! opusdec ! audioconvert ! audio/x-raw,format=F32LE ! \
    filesink location=saw &&
    gst-launch-1.0 -q $saw ! audio/x-raw,format=F32LE,rate=48000,channels=1 ! \
      filesink location=saw-plain && start 'chain="LoButterworth(600' || return 1
  sender=$started
  for_a_while 'do-lost=true ! rtpopusdepay ! opusdec' && "$compare" codec heard.raw saw-before saw &&
    ! "$compare" codec saw-plain saw-before saw &&
    for_a_while drop-probability && "$compare" filled heard.raw saw-before &&
    line_of m=audio > sound.sdp && line_of "-i /tmp/sound.sdp" | sed 's/-t 10/-t 2/' > ffmpeg.sh &&
    timeout 60 sh ffmpeg.sh && as_f32 heard.wav &&
    "$compare" codec heard-f32.raw saw-before saw && kill -INT "$sender" && wait "$sender"
}

if why=$(lacks); then
  tap_skip "live.md: the server and its clients" "$why"
  tap_skip "live.md: Opus over RTP" "$why"
else
  tap_case "live.md: the server and its clients" check_page_server
  tap_case "live.md: Opus over RTP, also with packets lost" check_page_rtp
fi

# ---- PulseAudio ---------------------------------------------------------------------------

lacks_pulse() {
  if ! command -v pulseaudio > /dev/null || ! command -v pactl > /dev/null; then
    echo "no pulseaudio"
  elif ! gst-inspect-1.0 --exists pulsesrc; then
    echo "no pulsesrc: no gstreamer1.0-pulseaudio"
  elif ! /usr/bin/python3 -c 'import gi; gi.require_version("Gst", "1.0")'; then
    echo "no python3-gi"
  else
    return 1
  fi 2> /dev/null
}

# A server of our own, with a sink that nobody hears.
start_pulse() {
  mkdir -m 700 pulse
  export PULSE_RUNTIME_PATH=$top/pulse XDG_RUNTIME_DIR=$top/pulse \
    XDG_CONFIG_HOME=$top/pulse HOME=$top/pulse PULSE_SERVER=unix:$top/pulse/native
  pulseaudio -n --daemonize=no --exit-idle-time=-1 --use-pid-file=no \
    -L "module-native-protocol-unix socket=$top/pulse/native auth-anonymous=1" \
    -L "module-null-sink sink_name=null format=float32le rate=48000 channels=2" \
    > pulse.log 2>&1 &
  tap_wait 30 pactl info || { cat pulse.log && return 1; }
}

# Ten minutes by hand: TFX_TEST_LIVE_SECONDS=600
check_capture() {
  "$root/tests/live/capture.py" null "${TFX_TEST_LIVE_SECONDS:-10}"
}

check_capture_loses() {
  if "$root/tests/live/capture.py" null 3 lose > lost.txt; then return 1; fi
  cat lost.txt
  grep -q '^wrong: jumps of the count' lost.txt
}

# level FILE LOW HIGH: it lies between.  A busy machine may leave holes: it is the
# median of the peaks in 50 ms each.
level() {
  python3 -c 'import array, sys
x = array.array("f", open(sys.argv[1], "rb").read())
peaks = [max(map(abs, x[i:i + 2400])) for i in range(0, len(x) - 2400, 2400)]
found = sorted(peaks)[len(peaks) // 2]
print(found)
sys.exit(not float(sys.argv[2]) <= found <= float(sys.argv[3]))' "$@"
}

# sink_has NAME LOW HIGH: what is played into it has that level.
sink_has() {
  timeout 20 gst-launch-1.0 -q pulsesrc device="$1.monitor" num-buffers=50 ! audioconvert ! \
    audio/x-raw,format=F32LE,channels=1 ! filesink location=sink.raw && level sink.raw "$2" "$3"
}

# passes_high COMMAND...: it finds the level, LOW HIGH, of a tone of 1 kHz, and nothing of one
# of 20 Hz.
passes_high() {
  local hz player range ok=0
  for hz in 1000 20; do
    gst-launch-1.0 -q audiotestsrc freq=$hz volume=0.5 ! pulsesink device=null & player=$!
    range='0.45 0.55'
    # shellcheck disable=SC2086 # two words
    tap_wait 30 sink_has null $range || ok=1
    if [ $hz = 20 ]; then range='0 0.05'; fi
    # shellcheck disable=SC2086 # two words
    tap_wait 30 "$@" $range || ok=1
    kill -KILL $player
    wait $player
  done
  return $ok
}

# From one null sink into another.
check_page_microphone() {
  local microphone
  port=0
  pactl load-module module-null-sink sink_name=out format=float32le rate=48000 &&
    pactl set-default-source null.monitor && pactl set-default-sink out &&
    start "HiButterworth(80) | Gate" || return 1
  microphone=$started
  passes_high sink_has out && kill -INT "$microphone" && wait "$microphone"
}

# served_has LOW HIGH
served_has() {
  ffmpeg_hears served.raw f32le udp -t 0.5 && level served.raw "$1" "$2"
}

# The server of the page that has a microphone.
check_page_shared() {
  local page_server
  port=$(free_port)
  start "source=pulsesrc" || return 1
  page_server=$started
  tap_wait 30 grep -q ^rtsp "started-$n_started.log" || return 1
  url=$(grep ^rtsp "started-$n_started.log")
  passes_high served_has && kill -TERM "$page_server" && wait "$page_server"
}

is_recorded() {
  pactl list short source-outputs | grep .
}

check_lost_device() {
  local status=0
  "$build/gst/tools/gst-tfx" play --source pulsesrc --sink fakesink - 'Gain(1)' > lost.txt 2>&1 &
  tap_wait 30 is_recorded && pactl exit || return 1
  wait $! || status=$?
  cat lost.txt
  [ $status -eq 1 ] && grep '^error: .*pulsesrc' lost.txt
}

if why=$(lacks_pulse); then
  tap_skip "live input" "$why"
else
  tap_case "PulseAudio, with a null sink" start_pulse
  tap_case "live input: nothing is lost while parameters move" check_capture
  tap_case "live input: what is lost is seen" check_capture_loses
  tap_case "live.md: a microphone" check_page_microphone
  if why=$(lacks); then
    tap_skip "live.md: a microphone that is served" "$why"
  else
    tap_case "live.md: a microphone that is served" check_page_shared
  fi
  tap_case "a device that is lost: gst-tfx play ends, and names it" check_lost_device
fi

tap_end
