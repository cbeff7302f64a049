# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# serving.sh: the example server and who listens to it, for live.sh, which sources it.
# $bin has the examples.

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

# serve NAME ARGUMENT...: at a free port; its address goes to $url, what it says to
# NAME.log, and what it is to be told to file descriptor 4.
serve() {
  local name=$1
  shift
  mkfifo "$name.typed"
  "$bin/tfx-rtsp" port=0 "$@" < "$name.typed" > "$name.log" 2>&1 &
  server=$! server_log=$name.log
  exec 4> "$name.typed"
  tap_wait 30 grep -q ^rtsp "$name.log" || { cat "$name.log" && return 1; }
  url=$(grep ^rtsp "$name.log")
}

# It ends when it is told to, and has said no word of a warning.
stop_server() {
  local name=$1
  exec 4>&-
  kill -TERM "$server"
  wait "$server" && ! grep -q -i -E 'warning|critical' "$name.log" && return 0
  cat "$name.log"
  return 1
}

# ffmpeg_hears OUT FORMAT TRANSPORT [OPTION...]
ffmpeg_hears() {
  local out=$1 format=$2 transport=$3
  shift 3
  timeout 120 ffmpeg -nostdin -loglevel fatal -y -rtsp_transport "$transport" \
    -i "$url" "$@" -f "$format" "$out"
}

# to_its_end LOG COMMAND...: gst-launch-1.0 hears the end of the stream.  What it says
# then is not asked: rtspsrc 1.22 calls it an error when it takes back its own PAUSE.
to_its_end() {
  local log=$1 status=0
  shift
  timeout 120 "$@" > "$log" 2>&1 || status=$?
  [ $status -ne 124 ] && grep -q '^Got EOS' "$log" && return 0
  cat "$log"
  return 1
}

# gst_hears OUT TRANSPORT DEPAYLOADER [ELEMENT...]
gst_hears() {
  local out=$1 transport=$2
  shift 2
  to_its_end "$out.log" gst-launch-1.0 rtspsrc location="$url" protocols="$transport" \
    latency=200 ! "$@" ! audioconvert ! audio/x-raw,format=S32LE ! filesink location="$out"
}

# ended NAME N: so many streams have.
ended() {
  [ "$(grep -c 'a stream has ended' "$1.log")" -eq "$2" ]
}

# all_end PID...: well; if not, the server may tell why.
all_end() {
  local pid ok=0
  for pid in "$@"; do wait "$pid" || ok=1; done
  [ $ok -eq 0 ] || cat "$server_log"
  return $ok
}

# A free port for datagrams.
free_port() {
  python3 -c 'import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}
