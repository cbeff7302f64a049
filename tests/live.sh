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
running=()
n_started=0
finish() {
  if [ ${#running[@]} -gt 0 ]; then
    disown -a
    kill -KILL "${running[@]}"
  fi 2> /dev/null
  rm -rf "$top" "$tap_log"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
cd "$top" || exit 1

# within SECONDS COMMAND...: it becomes true.
within() {
  local i tenths=$(($1 * 10))
  shift
  for ((i = 0; i < tenths; i++)); do
    if "$@"; then return 0; fi
    sleep 0.1
  done
  echo "not within $((tenths / 10)) s: $*"
  return 1
}

lacks() {
  if [ ! -x "$bin/tfx-rtsp" ]; then
    echo "tfx-rtsp is not built: no libgstrtspserver-1.0-dev"
  elif ! command -v ffmpeg > /dev/null; then
    echo "no ffmpeg"
  elif ! gst-inspect-1.0 --exists rtspsrc; then
    echo "no rtspsrc: no gstreamer1.0-plugins-good"
  else
    return 1
  fi
}

# ---- a server --------------------------------------------------------------------

# serve NAME ARGUMENT...: at a free port; its address goes to $url, what it says to
# NAME.log, and what it is to be told to file descriptor 4.
serve() {
  local name=$1
  shift
  mkfifo "$name.typed"
  "$bin/tfx-rtsp" port=0 "$@" < "$name.typed" > "$name.log" 2>&1 &
  server=$!
  running+=("$server")
  exec 4> "$name.typed"
  within 30 grep -q ^rtsp "$name.log" || { cat "$name.log" && return 1; }
  url=$(grep ^rtsp "$name.log")
}

# It ends when it is told to, and has said no word of a warning.
stop_server() {
  local name=$1
  exec 4>&-
  kill -TERM "$server"
  wait "$server" && ! grep -i -E 'warning|critical' "$name.log"
}

# ffmpeg_hears OUT FORMAT TRANSPORT [OPTION...]
ffmpeg_hears() {
  local out=$1 format=$2 transport=$3
  shift 3
  timeout 120 ffmpeg -nostdin -loglevel fatal -y -rtsp_transport "$transport" \
    -i "$url" "$@" -f "$format" "$out"
}

# gst_hears OUT TRANSPORT DEPAYLOADER [ELEMENT...]
gst_hears() {
  local out=$1 transport=$2
  shift 2
  timeout 120 gst-launch-1.0 -q rtspsrc location="$url" protocols="$transport" \
    latency=200 ! "$@" ! audioconvert ! audio/x-raw,format=S32LE ! filesink location="$out"
}

# offline OUT FORMAT ELEMENT...: what the chain makes of the file.
offline() {
  local out=$1 format=$2
  shift 2
  gst-launch-1.0 -q filesrc location=noise.wav ! wavparse ! audioconvert ! "$@" ! \
    audioconvert ! "audio/x-raw,format=$format" ! audioconvert ! \
    audio/x-raw,format=S32LE ! filesink location="$out"
}

# all_end PID...: well.
all_end() {
  local pid ok=0
  for pid in "$@"; do wait "$pid" || ok=1; done
  return $ok
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
  gst-launch-1.0 -q audiotestsrc wave=white-noise volume=0.3 num-buffers=15 \
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
  timeout 60 gst-launch-1.0 -q rtspsrc location="$url" protocols=udp latency=200 ! \
    rtpopusdepay ! opusdec ! audioconvert ! audio/x-raw,format=F32LE,channels=1 ! \
    filesink location=gst.raw & clients+=($!)
  all_end "${clients[@]}" &&
    "$compare" codec ffmpeg.raw opus-before opus &&
    "$compare" codec gst.raw opus-before opus &&
    ! "$compare" codec plain opus-before opus && stop_server opus
}

# A free port for datagrams.
free_port() {
  python3 -c 'import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
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
    within 30 grep -q 'went, 0 there' ten.log && stop_server ten
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
    running+=("$client")
    within 30 test -s killed.raw && kill -KILL $client || return 1
    wait $client
    n=$((n + 1))
    within 60 ended killed $n && ffmpeg_hears back.raw s32le $transport -t 1.5 &&
      all_exact 0 back.raw || return 1
    n=$((n + 1))
    within 60 ended killed $n || return 1
  done
  cat killed.log
  stop_server killed
}

# ended NAME N: so many streams have.
ended() {
  [ "$(grep -c 'a stream has ended' "$1.log")" -eq "$2" ]
}

# A live source is shared: one goes, others hear on, and another one comes.  What is
# typed is heard.
check_shared() {
  local client clients=()
  local live='audiotestsrc is-live=true wave=saw freq=375 ! audio/x-raw,format=F64LE,rate=48000,channels=1'
  local low='LoButterworth(1000) | v=Gain(0.5)'
  gst-launch-1.0 -q ${live/is-live=true/num-buffers=50} ! tfxchain chain="$low" ! \
    tfxchain name=half chain="Gain(0.5)" ! audioconvert ! audio/x-raw,format=S32LE ! \
    filesink location=half.raw &&
    gst-launch-1.0 -q ${live/is-live=true/num-buffers=50} ! tfxchain chain="$low" ! \
      audioconvert ! audio/x-raw,format=S32LE ! filesink location=low.raw &&
    serve shared source="$live" codec=L24 chain="$low" timeout=2 || return 1
  ffmpeg -nostdin -loglevel fatal -rtsp_transport udp -i "$url" -f s32le gone.raw & client=$!
  running+=("$client")
  ffmpeg_hears stays.raw s32le udp -t 3 & clients+=($!)
  ffmpeg_hears short.raw s32le tcp -t 1 & clients+=($!)
  within 30 test -s gone.raw && kill -KILL $client && wait "${clients[1]}" || return 1
  ffmpeg_hears comes.raw s32le tcp -t 1 && wait "${clients[0]}" || return 1
  printf '%s\n' w::gain=1 v::gain=loud v::gain=0.25 last >&4
  within 10 grep -q 'not STAGE::PARAMETER=VALUE: last' shared.log &&
    grep -q 'the chain has no w::gain' shared.log &&
    grep -q 'v::gain cannot be loud' shared.log &&
    ffmpeg_hears half-heard.raw s32le udp -t 1 || return 1
  # The oscillator's phase is a sum of rounded steps.
  local file
  for file in stays short comes; do
    "$compare" exact 2048 $file.raw low.raw 128 || return 1
  done
  "$compare" exact 2048 half-heard.raw half.raw 128 &&
    ! "$compare" exact 2048 half-heard.raw low.raw 128 && stop_server shared
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
  running+=("$started")
}

# for_a_while SECONDS WORDS: its block, until it is interrupted.
for_a_while() {
  start "$2" && sleep "$1" && kill -INT "$started" && wait "$started"
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
  within 30 grep -q "^rtsp://127.0.0.1:$port/sound" started-$n_started.log &&
    line_of "rtspsrc location=" > gst.sh && line_of "ffmpeg -i rtsp" > ffmpeg.sh &&
    timeout 60 sh gst.sh && timeout 60 sh ffmpeg.sh && as_f32 heard.wav &&
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
  for_a_while 2 'do-lost=true ! rtpopusdepay ! opusdec' && "$compare" codec heard.raw saw-before saw &&
    ! "$compare" codec saw-plain saw-before saw &&
    for_a_while 2 drop-probability && "$compare" filled heard.raw saw-before &&
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
    > pulse.log 2>&1 & running+=($!)
  within 30 pactl info || { cat pulse.log && return 1; }
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

# passes_high NAME: NAME-20.raw is silent, NAME-1000.raw is not.  A busy machine may
# leave holes: it is the median of the peaks in 50 ms each.
passes_high() {
  python3 -c 'import array, sys
def level(hz):
    x = array.array("f", open("%s-%d.raw" % (sys.argv[1], hz), "rb").read())
    peaks = [max(map(abs, x[i:i + 2400])) for i in range(0, len(x) - 2400, 2400)]
    return sorted(peaks)[len(peaks) // 2]
low, high = level(20), level(1000)
print(low, high)
assert 0.45 < high < 0.55 and low < 0.05' "$1"
}

# From one null sink into another: what the chain lets through, and what not.
check_page_microphone() {
  local hz microphone
  port=0
  pactl load-module module-null-sink sink_name=out format=float32le rate=48000 &&
    pactl set-default-source null.monitor && pactl set-default-sink out &&
    start "HiButterworth(80) | Gate" || return 1
  microphone=$started
  for hz in 20 1000; do
    gst-launch-1.0 -q audiotestsrc freq=$hz volume=0.5 num-buffers=200 ! pulsesink device=null &
    sleep 1.5
    timeout 20 gst-launch-1.0 -q pulsesrc device=out.monitor num-buffers=100 ! audioconvert ! \
      audio/x-raw,format=F32LE,channels=1 ! filesink location=out-$hz.raw && wait $! || return 1
  done
  kill -INT "$microphone" && wait "$microphone"
  passes_high out
}

# The server of the page that has a microphone: a tone, and below 80 Hz nothing.
check_page_shared() {
  local hz player page_server
  port=$(free_port)
  start "source=pulsesrc" || return 1
  page_server=$started
  within 30 grep -q ^rtsp "started-$n_started.log" || return 1
  url=$(grep ^rtsp "started-$n_started.log")
  for hz in 20 1000; do
    gst-launch-1.0 -q audiotestsrc freq=$hz volume=0.5 ! pulsesink device=null & player=$!
    running+=("$player")
    sleep 0.5
    ffmpeg_hears served-$hz.raw f32le udp -t 1 || return 1
    kill -KILL $player
    wait $player
  done
  kill -TERM "$page_server" && wait "$page_server" && passes_high served
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
fi

tap_end
