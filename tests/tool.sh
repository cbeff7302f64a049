#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# tool.sh: the program gst-tfx does what its manual says, as TAP.  Needs a
# finished build in build/ (or the folder that is given).
# shellcheck disable=SC2317 # functions are called by name
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=tests/tap.sh
. "$root/tests/tap.sh"
export LC_ALL=C.UTF-8
build=${1:-$root/build}
export GST_PLUGIN_PATH=$build/gst
PATH=$build/gst/tools:$PATH

top=$(mktemp -d)
trap 'chmod -R u+w "$top"; rm -rf "$top" "$tap_log"' EXIT
# Names that quoting has to cope with.
mkdir "$top/it's a \"test\" (ünï)"
cd "$top/it's a \"test\" (ünï)" || exit 1

# make NAME FORMAT [SECONDS-OF-A-TENTH]: noise
make() {
  gst-launch-1.0 -q audiotestsrc wave=white-noise num-buffers="${3-10}" \
    samplesperbuffer=4800 ! \
    "audio/x-raw,rate=48000,channels=2,format=$2" ! wavenc ! \
    filesink location=made.wav && mv made.wav "$1"
}

# make_wav NAME FRAMES CHANNELS BITS MASK: noise, in a WAV that says in its mask where the
# channels are
make_wav() {
  python3 - "$@" << 'PY'
import random, struct, sys
name, n, channels, bits, mask = sys.argv[1], *(int(a, 0) for a in sys.argv[2:])
size = channels * bits // 8
data = random.Random(1).randbytes(n * size)
form = struct.pack("<HHIIHHHHIH", 0xfffe, channels, 48000, 48000 * size, size, bits, 22, bits, mask, 1)
form += bytes.fromhex("000000001000800000aa00389b71")
body = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(data)) + data
body += bytes(len(data) % 2)
open(name, "wb").write(b"RIFF" + struct.pack("<I", len(body)) + body)
PY
}

# sound_size FILE: bytes of sound in a WAV
sound_size() {
  python3 -c '
import sys
wav = open(sys.argv[1], "rb").read()
at = wav.index(b"data") + 4
print(int.from_bytes(wav[at:at + 4], "little"))' "$1"
}

# decode FILE: its samples, as F32, also two at a time.  (oggdemux loses some of them
# behind fdsrc.  On a busy machine decodebin hangs before the first sound of one in a
# hundred AIFF files.)
decode() {
  local name=to-decode.$BASHPID try
  ln -sfn -- "$1" "$name"
  for try in 1 2 3 4; do
    timeout $((10 * try)) gst-launch-1.0 -q filesrc location="$name" ! decodebin ! audioconvert ! \
      audio/x-raw,format=F32LE ! filesink location="$name.raw" > /dev/null
    [ $? -eq 124 ] || break
  done
  cat "$name.raw"
  rm -f "$name" "$name.raw"
}

# exits STATUS WORDS COMMAND...: ends so, and says so.
exits() {
  local wanted=$1 words=$2 status=0
  shift 2
  "$@" > said.txt 2>&1 || status=$?
  cat said.txt
  echo "exit status $status"
  [ $status -eq "$wanted" ] && grep -q -F -- "$words" said.txt
}

# nothing_left FOLDER: no file that is not whole.
nothing_left() {
  ! find "$1" -name '*.part' | grep .
}

make noise.wav S16LE
make "new
line.wav" F32LE
echo "no sound in this" > text.wav

# ---- one file -------------------------------------------------------------------

# are_half FILE OTHER: the other one's samples are those of a file of a second, halved.  (A
# factor of a power of two is exact in F32.)
are_half() {
  decode "$1" > a && decode "$2" > b && python3 - << 'PY'
import array
a, b = (array.array('f', open(n, 'rb').read()) for n in 'ab')
assert len(a) == 2 * 48000, len(a)
assert [x * 0.5 for x in a] == list(b)
PY
}
check_samples() {
  gst-tfx process "new
line.wav" half.wav 'Gain(0.5)' && are_half "new
line.wav" half.wav
}

# A file of filter settings is a chain, as it is to tfxchain's location.
check_settings() {
  printf 'Filter Settings file\n\nFilter 1: ON PK Fc 1000 Hz Gain 6.0 dB Q 2.00\n' > rew.txt
  gst-tfx process -f "new
line.wav" rew.wav --chain-file rew.txt && gst-tfx process -f "new
line.wav" chain.wav 'ParametricEQ(1000, 2, 6)' && cmp rew.wav chain.wav &&
    ! cmp -s rew.wav "new
line.wav" && printf 'Filter 1: ON PK Fc x Hz\n' > rew.txt &&
    exits 2 "line 1" gst-tfx process noise.wav no.wav --chain-file rew.txt
}

# A text of a million lines, or with a number of a million digits, takes no longer than others.
check_settings_long() {
  python3 -c '
n = 1000000
for name, text in ("lines", "\n" * n + "Gain(2)"), ("settings", "Filter 1: ON PK Fc 1000 Hz Gain 6 dB Q 2" + "\n" * n), (
        "digits", "Filter 1: ON PK Fc " + "1 " * (n // 2) + "Hz Gain 6 dB Q 2"):
    open(f"long-{name}.txt", "w").write(text)'
  exits 0 "Gain(2)" timeout 20 gst-tfx check -C long-lines.txt &&
    exits 0 "ParametricEQ(1000, q=2, gain=6)" timeout 20 gst-tfx check -C long-settings.txt &&
    exits 2 "line 1 of the filter settings: the filter has a frequency (Fc) with too many digits" \
      timeout 20 gst-tfx check -C long-digits.txt && rm long-*.txt
}
# What a chain's file names lies beside it; in a chain of the command line, where the
# program runs.
check_files() {
  mkdir -p "the rooms" && printf '0.5\n' > "the rooms/half.txt" &&
    printf "FIR('half.txt')\n" > "the rooms/chain.txt" &&
    gst-tfx process -f noise.wav beside.wav --chain-file "the rooms/chain.txt" &&
    gst-tfx process -f noise.wav here.wav "Convolve('the rooms/half.txt')" &&
    gst-tfx process -f noise.wav gain.wav 'Gain(0.5)' &&
    cmp beside.wav gain.wav && cmp here.wav gain.wav &&
    exits 2 "column 5: b of FIR: the impulse response in 'half.txt' cannot be used" \
      gst-tfx process noise.wav no.wav "FIR('half.txt')"
}

# Rate, channels and format are kept; a lossless file has them all.
check_formats() {
  local format
  for format in S16LE S24LE S32LE F32LE F64LE; do
    make in.wav $format 2 && gst-tfx process -f in.wav out.wav 'Gain(0.5)' &&
      [ "$(sound_size in.wav)" -eq "$(sound_size out.wav)" ] || return 1
    gst-tfx process --json -f out.wav again.wav 'Gain(1)' | tee -a formats |
      grep -q "\"format\": \"$format\", \"rate\": 48000, \"channels\": 2" ||
      return 1
  done
}

# Where the same samples have another name, their depth is kept; 8 bits are none fewer.
check_depths() {
  local format depth file
  for depth in U8/S8 S16LE/S16LE S24LE/S24_32LE; do
    format=${depth%/*}
    make in.wav "$format" 2 && gst-tfx process -f in.wav depth.flac 'Gain(0.5)' &&
      gst-tfx process -f depth.flac depth.mka 'Gain(1)' || return 1
    for file in depth.flac depth.mka; do
      gst-tfx process --json -f "$file" out.wav 'Gain(1)' &&
        gst-tfx process --json -f out.wav again.wav 'Gain(1)' || return 1
    done > depth.txt
    cat depth.txt
    [ "$(grep -c "\"output\": \"out.wav\".*\"format\": \"${depth#*/}\"" depth.txt)" -eq 2 ] &&
      [ "$(grep -c "\"output\": \"again.wav\".*\"format\": \"$format\"" depth.txt)" -eq 2 ] || return 1
  done
}

check_tags() {
  gst-launch-1.0 -q audiotestsrc num-buffers=5 ! audioconvert ! \
    taginject tags='"title=(string)\"A small tune\", artist=(string)nobody"' ! flacenc ! \
    filesink location=tagged.flac &&
    gst-tfx process tagged.flac still.flac 'Gain(0.5)' &&
    gst-launch-1.0 -t filesrc location=still.flac ! decodebin ! fakesink |
    tee tags && grep -q "title: A small tune" tags && grep -q nobody tags
}

check_kinds() {
  local kind
  for kind in flac ogg opus mp3 mka; do
    gst-tfx process noise.wav "kind.$kind" 'LoButterworth(1000)' &&
      [ "$(decode "kind.$kind" | wc -c)" -ge $((47000 * 8)) ] || return 1
  done
  head -c 4 kind.flac | grep -q fLaC && head -c 4 kind.ogg | grep -q OggS
}

check_wv() {
  gst-tfx process noise.wav kind.wv 'Gain(0.5)' && head -c 4 kind.wv | grep -q wvpk &&
    are_half noise.wav kind.wv
}
# One channel that has a place, and two that are neither left nor right.  (Of such wavpackenc of
# GStreamer 1.22 wrote noise, and avenc_aac does not take them.)
check_places() {
  local places
  for places in 1/0x4 2/0x30 2/0x5; do
    make_wav placed.wav 4800 "${places%/*}" 24 "${places#*/}" &&
      exits 0 "" gst-tfx process -f placed.wav placed.wv 'Gain(1)' &&
      [ "$(grep -c 'has no name for this layout of 2' said.txt)" -eq $((${places%/*} - 1)) ] &&
      cmp <(decode placed.wav) <(decode placed.wv) || return 1
    if gst-inspect-1.0 --exists avenc_aac; then
      gst-tfx process -f placed.wav placed.m4a 'Gain(1)' || return 1
    fi
  done
}
# A .flac has the order of channels that others read, and is read in that: of RFC 9639.
check_flac_order() {
  local layout kind
  for layout in 6/0x3f 7/0x70f 8/0x63f; do
    make_wav many.wav 4800 "${layout%/*}" 24 "${layout#*/}" || return 1
    for kind in flac mka; do
      exits 0 "" gst-tfx process -f many.wav "order.$kind" 'Gain(1)' && ! grep warning said.txt &&
        exits 0 "" gst-tfx process -f "order.$kind" back.wav 'Gain(1)' && ! grep warning said.txt &&
        cmp <(tail -c $((4800 * 3 * ${layout%/*})) many.wav) \
          <(tail -c $((4800 * 3 * ${layout%/*})) back.wav) || return 1
    done
  done
}
check_m4a() {
  gst-tfx process noise.wav kind.m4a 'LoButterworth(1000)' &&
    [ "$(head -c 8 kind.m4a | tail -c 4)" = ftyp ] &&
    [ "$(decode kind.m4a | wc -c)" -ge $((47000 * 8)) ]
}
# if_there ELEMENT NAME COMMAND...: a case of what that element encodes.
if_there() {
  if gst-inspect-1.0 --exists "$1"; then
    tap_case "${@:2}"
  else
    tap_skip "$2" "GStreamer has no $1 here"
  fi
}

tap_case "filter settings exported by REW" check_settings
tap_case "filter settings, and chains, of a million lines" check_settings_long
tap_case "process: the samples, of a name with a newline" check_samples
tap_case "process: files in a chain" check_files
tap_case "process: the format is kept" check_formats
tap_case "process: the depth is kept from kind to kind" check_depths
tap_case "process: tags are kept" check_tags
tap_case "process: the output's kind by its name" check_kinds
if_there wavpackenc "process: a .wv" check_wv
if_there wavpackenc "process: channels at odd places" check_places
tap_case "process: a .flac of eight channels" check_flac_order
if_there avenc_aac "process: a .m4a" check_m4a
tap_case "process: does not overwrite" exits 1 "error: half.wav exists" \
  gst-tfx process noise.wav half.wav 'Gain(1)'
tap_case "process: unless told" \
  gst-tfx process --force noise.wav half.wav 'Gain(1)'
tap_case "process: no sound" exits 1 "text.wav: " \
  gst-tfx process text.wav x.wav 'Gain(1)'
tap_case "process: a missing file" exits 1 "error: absent.wav: cannot be read: No such file" \
  gst-tfx process absent.wav x.wav 'Gain(1)'
tap_case "process: a folder as one file" exits 1 "is a folder, not a file (--out takes folders)" \
  gst-tfx process . x.wav 'Gain(1)'
# The sound files in a folder and in its folders; not hidden ones, nor earlier outputs.
check_folder() {
  mkdir -p folder/a/b folder/out folder/.hidden && cp noise.wav folder/1.wav && cp noise.wav folder/a/b/2.WAV &&
    cp noise.wav folder/.hidden/3.wav && cp noise.wav folder/a/.4.wav && cp text.wav folder/notes.txt &&
    exits 0 "2 done, 0 failed" gst-tfx process --out folder/out -c 'Gain(0.5)' folder &&
    grep -q '^skipped 1 file without the extension' said.txt &&
    [ "$(cd folder/out && find . -type f ! -name '.*' | sort | tr '\n' ' ')" = "./1.wav ./a/b/2.WAV " ] &&
    exits 0 "0 done, 0 failed, 2 done before" gst-tfx process --out folder/out -c 'Gain(0.5)' folder &&
    printf 'folder/a\0' | gst-tfx process -q --out folder-2 -0 -T - -c 'Gain(0.5)' &&
    [ "$(find folder-2 -type f ! -name '.*')" = folder-2/b/2.WAV ] &&
    gst-tfx process -q --out folder-3 --base folder -c 'Gain(0.5)' folder/a && [ -e folder-3/a/b/2.WAV ]
}
tap_case "process: a folder with folders" check_folder
# To the sample, whatever is written at the end of a file.
check_standard_streams() {
  local kind
  gst-tfx process -f --dither none noise.wav half.wav 'Gain(0.5)' &&
    gst-tfx process --dither none - - 'Gain(0.5)' < noise.wav > redirected.wav && cmp redirected.wav half.wav &&
    gst-tfx process --dither none - - 'Gain(0.5)' < noise.wav | cat > piped.wav &&
    [ "$(wc -c < piped.wav)" -eq $((44 + 48000 * 4)) ] && cmp <(decode piped.wav) <(decode half.wav) &&
    printf 'x' > appended.wav &&
    gst-tfx process --dither none noise.wav - 'Gain(0.5)' >> appended.wav &&
    cmp <(tail -c +2 appended.wav) piped.wav || return 1
  for kind in flac ogg mka mp3; do
    gst-tfx process -q --dither none --extension $kind - - 'Gain(1)' < piped.wav | cat > "piped.$kind" &&
      [ "$(decode "piped.$kind" | wc -c)" -ge $((47000 * 8)) ] || return 1
  done
  cmp <(decode piped.flac) <(decode half.wav) &&
    cat < noise.wav | gst-tfx process -f --dither none - from-pipe.flac 'Gain(0.5)' && cmp <(decode from-pipe.flac) <(decode half.wav) &&
    exits 1 "standard input: it is not a file, so it cannot be read twice" gst-tfx process -l -23 - x.wav &&
    exits 1 "standard input: it has no audio" gst-tfx process - x.wav 'Gain(1)' < text.wav &&
    exits 2 "standard output is a terminal" script -qec "gst-tfx process noise.wav - 'Gain(1)'" script.txt &&
    exits 2 "an .m4a cannot be written to standard output" gst-tfx process -e m4a noise.wav - 'Gain(1)' &&
    exits 2 "--json and the sound cannot both" gst-tfx process --json noise.wav - 'Gain(1)' && [ ! -e x.wav ] && [ ! -e ./- ]
}
tap_case "process: standard input and output" check_standard_streams
# Two takes that the impulse response delays by 43 ms, or that are aligned by it; the end stays.
check_delay() {
  python3 -c '
import random, struct, wave
def write(name, x):
    w = wave.open(name, "wb")
    w.setparams((1, 2, 48000, 0, "NONE", ""))
    w.writeframes(struct.pack(f"<{len(x)}h", *x))
noise = random.Random(1)
write("dry.wav", [2 * noise.randrange(-8000, 8000) for _ in range(9600)])
write("late.wav", [0] * 2048 + [16384] + [0] * 999)' &&
    exits 0 "note: stage 'convolve0' delays the sound by 42.7 ms" \
      gst-tfx process -f --dither none dry.wav late-1.wav "Convolve('late.wav')" &&
    exits 0 "" gst-tfx process -f --dither none dry.wav late-2.wav "Convolve('late.wav', delay='peak')" &&
    ! grep note said.txt &&
    gst-tfx process -f --dither none dry.wav late-3.wav "FIR('late.wav', delay=2048)" && cmp late-2.wav late-3.wav &&
    gst-tfx process -f --dither none dry.wav late-4.wav 'Gain(0.5)' &&
    decode late-2.wav > a && decode late-4.wav > b && cmp a b && [ "$(wc -c < a)" -eq $((4 * 9600)) ] &&
    decode late-1.wav > a && cmp <(tail -c +$((4 * 2048 + 1)) a) <(head -c $((4 * 7552)) b) &&
    gst-tfx process -f --dither none dry.wav late-2.wav "Convolve('late.wav', mix=0.5, delay='peak') + FIR([0, 0.25], delay=1)" &&
    decode late-2.wav > a && cmp a <(decode dry.wav)
}
tap_case "process: the delay of an impulse response" check_delay

# make_key: music and a shorter voice, each alone and as the channels of one file; and a
# longer sine at another rate
make_key() {
  python3 -c '
import array, math, random, wave
def write(name, rate, *channels):
    with wave.open(name, "wb") as file:
        file.setparams((len(channels), 2, rate, 0, "NONE", ""))
        file.writeframes(array.array("h", (x for frame in zip(*channels) for x in frame)).tobytes())
noise = random.Random(1)
left, right, voice = ([noise.randrange(-9000, 9000) for i in range(48000)] for c in range(3))
write("music.wav", 48000, left, right)
write("voice.wav", 48000, voice[:30000])
write("together.wav", 48000, left, right, voice[:30000] + [0] * 18000)
write("silence.wav", 48000, [0] * 48000)
write("sine.wav", 44100, [round(16384 * math.sin(2 * math.pi * 100 * i / 44100)) for i in range(60000)])'
}

# The same as one file with the voice in its third channel, to the bit; another rate is
# converted.
check_key() {
  local added='HiButterworth(100) | Mix([[1, 0, 0.5], [0, 1, 0.25], [0, 0, 1]])'
  make_key && gst-tfx process -f --bits float --key voice.wav music.wav keyed.wav "$added" &&
    gst-tfx process -f --bits float together.wav one.wav "$added" &&
    gst-tfx process -f --bits float --key sine.wav silence.wav resampled.wav 'Mix([[1, 0.5], [0, 1]])' &&
    gst-tfx process -f --bits float --key voice.wav --extension wav --out keyed --chain "$added" music.wav &&
    python3 -c '
import array, math
def read(name):
    wav = open(name, "rb").read()
    at = wav.index(b"data") + 8
    return array.array("f", wav[at:at + len(wav[at:]) // 4 * 4])
one, keyed = read("one.wav"), read("keyed.wav")
assert len(keyed) == 96000 and keyed == read("keyed/music.wav")
assert one[::3] == keyed[::2] and one[1::3] == keyed[1::2]
sine = read("resampled.wav")
assert len(sine) == 48000
assert max(abs(sine[i] - 0.25 * math.sin(2 * math.pi * 100 * i / 48000)) for i in range(2000, 46000)) < 1e-4'
}
tap_case "process: a key" check_key
check_key_refused() {
  exits 1 "the key none.wav cannot be read" gst-tfx process -f -k none.wav music.wav no.wav 'Gain(1)' &&
    printf 'no sound\n' > text.wav &&
    exits 1 "the key text.wav: " gst-tfx process -f -k text.wav music.wav no.wav 'Gain(1)' &&
    exits 1 "the key voice.wav would be overwritten" gst-tfx process -f -k voice.wav music.wav voice.wav 'Gain(1)' &&
    exits 1 "key of stage 'compressor0' (Compressor) is channel 2, out of range: its input has 2 channels, counted from 0; give the key with --key FILE" \
      gst-tfx process -f music.wav no.wav 'Compressor(-40, key=[2])' && [ ! -e no.wav ] &&
    exits 0 "" gst-tfx process -f together.wav three.wav 'Compressor(-40, key=[2])' &&
    exits 1 "ch[3] is out of range" gst-tfx process -f -k voice.wav music.wav no.wav 'ch[3]: Gain(1)' &&
    exits 2 "cannot record" gst-tfx process -f -k voice.wav --manifest m.jsonl music.wav no.wav 'Gain(1)' &&
    head -c 40000 voice.wav > cut.wav &&
    exits 1 "the key cut.wav: " gst-tfx process -f -k cut.wav music.wav no.wav 'Gain(1)' && [ ! -e no.wav ]
}
tap_case "process: a key that cannot be one" check_key_refused
tap_case "process: a delay longer than the taps" exits 0 "delay of stage 'fir0' (FIR) is 5, but must be less" \
  gst-tfx check 'FIR([1, 2], delay=5)'
# What a pipeline needs is nothing to a user of the program.
check_no_advice() {
  exits 0 "" gst-tfx process -f noise.wav three.wav 'Mix([[0.5, 0], [0, 0.5], [0.5, 0.5]])' && ! grep warning said.txt && rm three.wav
}
tap_case "process: no advice about pipelines" check_no_advice
# Floats in, floats out: each frame is where it was, whatever the number of channels becomes.
check_other_channels() {
  local from to
  for from in 1 2 3 4 6; do
    python3 -c '
import random, struct, sys
n = int(sys.argv[1])
noise = random.Random(n)
data = struct.pack(f"<{4800 * n}f", *(noise.randrange(-9000, 9000) / 16384 for i in range(4800 * n)))
form = struct.pack("<HHIIHH", 3, n, 48000, 192000 * n, 4 * n, 32)
body = b"WAVEfmt " + struct.pack("<I", 16) + form + b"data" + struct.pack("<I", len(data)) + data
open("floats.wav", "wb").write(b"RIFF" + struct.pack("<I", len(body)) + body)' "$from" || return 1
    for to in 1 2 3 4 6; do
      gst-tfx process -f -q floats.wav others.wav "$(python3 -c '
import sys
n, m = map(int, sys.argv[1:])
print("Mix(%s)" % [[int(i == k % n) for i in range(n)] for k in range(m)])' "$from" "$to")" || return 1
      python3 -c '
import array, sys
n, m = map(int, sys.argv[1:])
def read(name):
    wav = open(name, "rb").read()
    at = wav.index(b"data") + 8
    return array.array("f", wav[at:at + len(wav[at:]) // 4 * 4])
a, b = read("floats.wav"), read("others.wav")
assert len(a) // n == len(b) // m == 4800
assert all(b[k::m] == a[k % n::n] for k in range(m))' "$from" "$to" || return 1
    done
  done
}
tap_case "process: other numbers of channels, frame by frame" check_other_channels
tap_case "process: a name that says nothing" exits 1 'error: cannot write .xyz files; it can write .wav' \
  gst-tfx process noise.wav x.xyz 'Gain(1)'
tap_case "process: a name that has no ending" exits 1 \
  "error: the name of the output has no extension; it can be .wav, .flac" \
  gst-tfx process noise.wav outname 'Gain(1)'
tap_case "process: a hidden name that has no ending" exits 1 \
  "error: the name of the output has no extension; it can be .wav, .flac" \
  gst-tfx process noise.wav ./.flac 'Gain(1)'
# Pictures without sound, and an input that has nothing in it.
check_soundless() {
  gst-launch-1.0 -q videotestsrc num-buffers=2 ! videoconvert ! jpegenc ! \
    matroskamux ! filesink location=silent.mkv && : > empty.wav &&
    exits 1 "silent.mkv: it has no audio" gst-tfx process silent.mkv x.wav 'Gain(1)' &&
    exits 1 "silent.mkv: it has no audio" gst-tfx spectrum silent.mkv &&
    exits 1 "error: absent.wav: cannot be read: No such file" gst-tfx spectrum absent.wav &&
    exits 1 "empty.wav: " gst-tfx process empty.wav x.wav 'Gain(1)' && [ ! -e x.wav ] &&
    nothing_left .
}
# What decodebin loses before its first sound is there when it is started anew.
check_stalling() {
  gst-launch-1.0 -q audiotestsrc wave=white-noise num-buffers=9 ! \
    audio/x-raw,format=F32LE,rate=48000,channels=1 ! filesink location=floats &&
    { printf TFXS && cat floats; } > stalling && mkdir stalls &&
    ln -s "$build/tests/gst/libtfxstalling.so" stalls || return 1
  local -x GST_PLUGIN_PATH=$GST_PLUGIN_PATH:$PWD/stalls GST_REGISTRY=$PWD/stalls/registry
  gst-tfx process stalling anew.wav 'Gain(1)' && cmp floats <(decode anew.wav) &&
    gst-tfx spectrum -o anew.csv anew.wav && gst-tfx spectrum -o stalling.csv stalling &&
    cmp anew.csv stalling.csv
}
# (aiffparse of GStreamer 1.22 has a fault where it is asked for its length in frames.)
check_aiff() {
  gst-launch-1.0 -q audiotestsrc num-buffers=9 ! audio/x-raw,rate=48000,channels=2,format=S16BE ! \
    aiffmux ! filesink location=in.aiff &&
    exits 0 '"format": "S16BE", "rate": 48000, "channels": 2, "seconds": 0.192' \
      gst-tfx process --json --dither none in.aiff aiff.flac 'Gain(1)' && ! grep CRITICAL said.txt &&
    cmp <(decode in.aiff) <(decode aiff.flac)
}
# A video's sound is taken.  Mono of 8 bits stays that, and so do five channels and one.
check_odd() {
  gst-launch-1.0 -q matroskamux name=m ! filesink location=video.mkv \
    videotestsrc num-buffers=3 ! jpegenc ! m. \
    audiotestsrc num-buffers=3 samplesperbuffer=4410 ! audio/x-raw,rate=44100 ! m. &&
    gst-launch-1.0 -q audiotestsrc num-buffers=3 ! audio/x-raw,rate=8000,channels=1,format=U8 ! \
      wavenc ! filesink location=mono8.wav &&
    gst-launch-1.0 -q audiotestsrc num-buffers=3 ! \
      'audio/x-raw,rate=48000,channels=6,format=S24LE,channel-mask=(bitmask)0x3f' ! \
      wavenc ! filesink location=surround.wav || return 1
  gst-tfx process --json video.mkv video.wav 'Gain(1)' | tee odd.txt
  gst-tfx process --json mono8.wav mono8-out.wav 'Gain(1)' | tee -a odd.txt
  gst-tfx process --json surround.wav surround-out.wav 'Gain(1)' | tee -a odd.txt
  grep -q '"rate": 44100, "channels": 1, "seconds": 0.300000' odd.txt &&
    grep -q '"format": "U8", "rate": 8000, "channels": 1' odd.txt &&
    grep -q '"format": "S24LE", "rate": 48000, "channels": 6' odd.txt &&
    [ "$(sound_size mono8.wav)" -eq "$(sound_size mono8-out.wav)" ] &&
    [ "$(sound_size surround.wav)" -eq "$(sound_size surround-out.wav)" ]
}
# An .mp3 has two channels at most; .flac has all.
check_mixed_down() {
  exits 0 "warning: surround.wav: 6 channels are mixed down to 2, all that a .mp3 takes" \
    gst-tfx process surround.wav surround.mp3 'Gain(1)' &&
    [ "$(grep -c 'mixed down' said.txt)" -eq 1 ] &&
    exits 0 "mixed down" gst-tfx process -f -l -23 surround.wav surround.mp3 &&
    [ "$(grep -c 'mixed down' said.txt)" -eq 1 ] &&
    exits 0 "" gst-tfx process surround.wav surround.flac 'Gain(1)' && ! grep mixed said.txt &&
    exits 0 "" gst-tfx process -f surround.wav surround.mp3 'Mix([[0.5, 0, 0, 0, 0, 0], [0, 0.5, 0, 0, 0, 0]])' &&
    ! grep mixed said.txt
}
# Those of 5.1 may be at the sides; no layout of as many channels loses one of them.
check_layouts() {
  make_wav sides.wav 4800 6 24 0x60f && make_wav odd.wav 4800 3 24 0xb &&
    make_wav many.wav 4800 32 24 0 && make_wav quad.wav 4800 4 24 0x33 || return 1
  local kind warning=''
  # Later opusenc takes more layouts.
  if pkg-config --max-version=1.22.99 gstreamer-1.0; then
    warning='warning: rear.wav: a .opus has no name for this layout of 7 channels'
  fi
  for kind in flac mka opus ogg; do
    exits 0 "" gst-tfx process -f sides.wav "sides.$kind" 'Gain(1)' && ! grep warning said.txt &&
      exits 0 '"channels": 6' gst-tfx process --json -f "sides.$kind" x.wav 'Gain(1)' || return 1
  done
  cmp <(decode sides.wav) <(decode sides.flac) &&
    exits 0 "warning: odd.wav: a .flac has no name for this layout of 3 channels" \
      gst-tfx process odd.wav odd.flac 'Gain(1)' && cmp <(decode odd.wav) <(decode odd.flac) &&
    make_wav rear.wav 4800 7 24 0x13f &&
    exits 0 "$warning" gst-tfx process rear.wav rear.opus 'Gain(1)' &&
    exits 1 "many.wav: it would have 32 channels, but a .flac takes no more than 8" \
      gst-tfx process many.wav many.flac 'Gain(1)' && [ ! -e many.flac ] &&
    exits 1 "many.wav: it would have 32 channels, but a .mp3 takes no more than 2" \
      gst-tfx process many.wav many.mp3 'Gain(1)' && [ ! -e many.mp3 ] &&
    exits 0 "" gst-tfx process many.wav many-8.flac "Mix([[$(printf '0, %.0s' {1..31})1]])" &&
    exits 0 "" gst-tfx process many.wav many.ogg 'Gain(1)' && rm x.wav && nothing_left .
}
# What an output does not take is told of, once.
check_told() {
  gst-launch-1.0 -q audiotestsrc num-buffers=50 ! audio/x-raw,rate=384000,channels=2 ! wavenc ! \
    filesink location=fast.wav &&
    gst-launch-1.0 -q matroskamux name=m ! filesink location=tracks.mka \
      audiotestsrc num-buffers=50 ! audio/x-raw,rate=8000,channels=2 ! m. \
      audiotestsrc num-buffers=50 ! audio/x-raw,rate=48000,channels=1 ! m. || return 1
  exits 0 "warning: fast.wav: resampled from 384000 to 48000 Hz: a .mp3 does not support the rate" \
    gst-tfx process -l -23 fast.wav fast.mp3 && [ "$(grep -c Hz said.txt)" -eq 1 ] &&
    exits 0 "warning: fast.wav: resampled from 384000 to 200000 Hz" gst-tfx process fast.wav fast.ogg 'Gain(1)' &&
    exits 0 "" gst-tfx process fast.wav fast.flac 'Gain(1)' && ! grep warning said.txt &&
    exits 0 "warning: tracks.mka: it has 2 audio tracks; the first is used" \
      gst-tfx process --json -l -23 tracks.mka x.wav && [ "$(grep -c tracks said.txt)" -eq 2 ] &&
    grep -q '"rate": 8000, "channels": 2' said.txt && rm x.wav
}
# A square of half of full scale, 12 dB louder; floats can have that.  The peak is that of all
# buffers.
check_clipped() {
  local format
  for format in S16LE S32LE F32LE; do
    gst-launch-1.0 -q audiotestsrc wave=square volume=0.5 num-buffers=10 samplesperbuffer=480 ! \
      "audio/x-raw,rate=48000,channels=2,format=$format" ! wavenc ! filesink location=square.wav
    exits 0 '"status": "done"' gst-tfx process --json -f square.wav x.wav "Gain(12, 'db')" || return 1
    if [ $format = F32LE ]; then
      grep -q '"clipped": 0, "peak": null' said.txt && ! grep warning said.txt || return 1
    else
      grep -q '"clipped": 9600, "peak": 5.98' said.txt && [ "$(grep -c warning said.txt)" -eq 1 ] &&
        grep -q "warning: square.wav: 9600 samples above full scale clipped, peak +5.98 dBFS" said.txt || return 1
    fi
  done
  exits 0 '"clipped": 0, "peak": -6.0' gst-tfx process --json -f square.wav x.flac 'Gain(1)' &&
    ! grep warning said.txt && python3 -c '
import wave
w = wave.open("click.wav", "wb")
w.setparams((1, 2, 48000, 0, "NONE", ""))
w.writeframes(bytes(20000) + b"\0\x40" + bytes(60000))' &&
    exits 0 '"clipped": 0, "peak": -6.02' gst-tfx process --json -f click.wav x.flac 'Gain(1)' &&
    exits 0 '"clipped": 1, ' gst-tfx process --json -f click.wav x.flac 'Gain(4)' &&
    [ "$(grep -c warning said.txt)" -eq 1 ] && grep -q 'click.wav: 1 sample above full scale clipped' said.txt &&
    rm x.wav x.flac
}
# (wavenc of GStreamer 1.22 has places for few layouts.)  Those above the head are not told, nor
# any others with them.  What is behind the sound begins at an even byte.
check_wav_mask() {
  local layout mask
  for layout in 4/0x33 6/0x3f 6/0x60f 8/0x63f 3/0xb 4/0x5003; do
    mask=${layout#*/}
    make_wav mask.wav 4801 "${layout%/*}" 24 "$mask" &&
      gst-tfx process -f mask.wav x.wav 'Gain(1)' &&
      python3 - "$mask" "${layout%/*}" << 'PY' || return 1
import sys
n, sounds = 3 * 4801 * int(sys.argv[2]), []
for name in "mask.wav", "x.wav":
    wav = open(name, "rb").read()
    sounds.append(wav[wav.index(b"data") + 8:][:n])
    mask = int.from_bytes(wav[40:44], "little")
    wanted = int(sys.argv[1], 0) if name == "mask.wav" or sys.argv[1] != "0x5003" else 0
    assert wav[20:22] == b"\xfe\xff" and mask == wanted, (name, hex(mask))
assert sounds[0] == sounds[1] and len(sounds[0]) == n, "other samples"
PY
  done
  make_wav odd-size.wav 4801 1 24 0x4 && gst-tfx process -f odd-size.wav x.wav 'Gain(1)' &&
    python3 -c '
wav = open("x.wav", "rb").read()
size = int.from_bytes(wav[4:8], "little")
at = 36
assert wav[at:at + 8] == b"data" + (3 * 4801).to_bytes(4, "little"), wav[:50]
at += 8 + 3 * 4801
assert len(wav) == size + 8 and wav[at:at + 5] in (b"", b"\0LIST"), (len(wav), size, wav[at:])' &&
    rm x.wav
}
# A WAV of any number of channels that does not say where they are, and one that says so of
# another number.
check_no_places() {
  local n
  for n in 2 3 5 7 9; do
    python3 - $n << 'PY' && exits 0 "\"channels\": $n" gst-tfx process --json -f plain.wav x.wav 'Gain(1)' &&
import random, struct, sys
n = int(sys.argv[1])
data = random.Random(1).randbytes(4800 * n * 3)
form = struct.pack("<HHIIHH", 1, n, 48000, 48000 * 3 * n, 3 * n, 24)
body = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(data)) + data
open("plain.wav", "wb").write(b"RIFF" + struct.pack("<I", len(body)) + body)
open("sound", "wb").write(data)
PY
      python3 -c 'assert open("sound", "rb").read() in open("x.wav", "rb").read()' &&
      gst-tfx spectrum -o plain.csv plain.wav && gst-tfx play -o fakesink plain.wav 'Gain(1)' < /dev/null &&
      make_wav few.wav 4800 "$n" 24 0x1 &&
      exits 0 "\"channels\": $n" gst-tfx process --json -f few.wav x.wav 'Gain(1)' && ! grep WARN said.txt &&
      cmp -n $((4800 * 3 * n)) <(tail -c +69 few.wav) <(python3 -c '
import sys
wav = open("x.wav", "rb").read()
sys.stdout.buffer.write(wav[wav.index(b"data") + 8:])') || return 1
  done
  rm x.wav
}
# What a Broadcast Wave says of itself, in front of its sound or behind it, but for its loudness,
# which is another one, and which version 1 has not.  RIFF, or RF64 with the size of its sound
# elsewhere.
check_broadcast() {
  local kind
  for kind in RIFF RF64; do
    make_wav plain.wav 4801 1 24 0x4 && python3 - "$kind" << 'PY' &&
import struct, sys
is_long = sys.argv[1] == "RF64"
wav = open("plain.wav", "rb").read()
data = wav.index(b"data")
bext = b"Interview 7".ljust(256, b"\0") + b"Radio".ljust(64, b"\0") + b"2026-11-2612:00:00"
bext += struct.pack("<QH", 5529600000, 1 if is_long else 2) + bytes(64) + struct.pack("<5h", -2300, 500, -100, -1800, -2000)
bext += bytes(180) + b"A=PCM,F=48000\r\n"
ixml = b"<BWFXML>seven</BWFXML>\n"
chunk = lambda name, text: name + struct.pack("<I", len(text)) + text + bytes(len(text) % 2)
sound = wav[data:]
body = b"WAVE"
if is_long:
    body += chunk(b"ds64", struct.pack("<QQQI", len(wav) + 1000, 3 * 4801, 4801, 0))
    sound = b"data" + b"\xff" * 4 + sound[8:]
body += chunk(b"bext", bext) + wav[12:data] + sound + chunk(b"iXML", ixml)
size = b"\xff" * 4 if is_long else struct.pack("<I", len(body))
open("broadcast.wav", "wb").write(sys.argv[1].encode() + size + body)
open("bext", "wb").write(bext)
PY
      exits 0 "" gst-tfx process -f broadcast.wav x.wav 'Gain(1)' && python3 - << 'PY' || return 1
wav, bext = open("x.wav", "rb").read(), bytearray(open("bext", "rb").read())
if bext[346] == 2:
    bext[412:422] = b"\xff\x7f" * 5
chunks, at = {}, 12
while at < len(wav):
    size = int.from_bytes(wav[at + 4:at + 8], "little")
    chunks[wav[at:at + 4]] = wav[at + 8:at + 8 + size]
    at += 8 + size + size % 2
assert at == len(wav) == 8 + int.from_bytes(wav[4:8], "little"), (at, len(wav))
assert chunks[b"bext"] == bext and chunks[b"iXML"] == b"<BWFXML>seven</BWFXML>\n", chunks.keys()
plain = open("plain.wav", "rb").read()
assert chunks[b"data"] == plain[plain.index(b"data") + 8:][:3 * 4801], "other samples"
PY
  done
  rm x.wav
}
# (wavpackenc of GStreamer 1.22 aborted the program.)
check_wv_channels() {
  exits 1 "quad.wav: it would have 4 channels, but a .wv takes no more than 2" \
    gst-tfx process quad.wav quad.wv 'Gain(1)' && [ ! -e quad.wv ] && nothing_left . &&
    exits 1 "1 done, 1 failed" gst-tfx process -o wv -e wv -c 'Gain(1)' quad.wav noise.wav
}
# claim_hours FILE CHANNELS HOURS: it says that it has so many.
claim_hours() {
  gst-launch-1.0 -q audiotestsrc num-buffers=3 ! \
    "audio/x-raw,rate=48000,channels=$2,format=S16LE" ! flacenc ! filesink location="$1" &&
    python3 - "$1" "$3" << 'PY'
import sys
flac = bytearray(open(sys.argv[1], "rb").read())
n = 48000 * 3600 * int(sys.argv[2])
flac[21] = flac[21] & 0xf0 | n >> 32
flac[22:26] = (n & 0xffffffff).to_bytes(4, "big")
open(sys.argv[1], "wb").write(flac)
PY
}
check_long_wav() {
  claim_hours hours.flac 8 10 &&
    exits 1 "the output would have 25.7 GiB, but a .wav has at most 4" \
      gst-tfx process hours.flac hours.wav 'Gain(0.5)' && [ ! -e hours.wav ] && nothing_left . &&
    gst-tfx process --allow-cut hours.flac hours.mka 'Gain(0.5)'
}
# Less comes than the header says, of a file that has tags in front, too; one whose
# header leaves its length open is whole.
check_cut() {
  python3 -c '
flac = open("kind.flac", "rb").read()
tag = b"ID3\4\0\0\0\0\0\n" + bytes(10)
for name, data in ("cut", flac[:-30000]), ("tag", tag + flac[:-30000]), ("tagged", tag + flac), (
        "open", flac[:21] + bytes([flac[21] & 0xf0, 0, 0, 0, 0]) + flac[26:]):
    open(f"part-{name}.flac", "wb").write(data)'
  exits 1 "part-cut.flac: it is cut off or damaged: it has 0." gst-tfx process part-cut.flac x.wav 'Gain(1)' &&
    exits 1 "of the 1.000 s given in its header" gst-tfx process part-tag.flac x.wav 'Gain(1)' &&
    exits 1 "part-cut.flac: it is cut off" gst-tfx process -l -23 part-cut.flac x.wav &&
    [ ! -e x.wav ] && nothing_left . &&
    gst-tfx process -q -f part-tagged.flac x.wav 'Gain(1)' &&
    gst-tfx process -q -f part-open.flac x.wav 'Gain(1)' || return 1
  exits 1 "1 done, 1 failed" gst-tfx process -o parts -c 'Gain(1)' kind.flac part-cut.flac &&
    grep -q '^done.*kind' parts/.gst-tfx-journal && ! grep '^done.*part-cut' parts/.gst-tfx-journal &&
    exits 0 "warning: part-cut.flac: it is cut off" \
      gst-tfx process --allow-cut -o parts -c 'Gain(1)' part-cut.flac && [ -e parts/part-cut.flac ]
}
# Half of a file, and all of it, of kinds that say how long they are.
check_cut_others() {
  local kind
  make noise3.wav S16LE 30
  for kind in wav ogg opus mka wv; do
    gst-tfx process -f noise3.wav "three.$kind" 'Gain(1)' &&
      exits 0 '"status": "done"' gst-tfx process --json -f "three.$kind" x.wav 'Gain(1)' &&
      ! grep cut said.txt &&
      head -c $(($(wc -c < "three.$kind") / 2)) "three.$kind" > "half.$kind" &&
      exits 1 "half.$kind: it is cut off" gst-tfx process -f "half.$kind" y.wav 'Gain(1)' &&
      [ ! -e y.wav ] &&
      exits 0 "warning: half.$kind: it is cut off" \
        gst-tfx process --allow-cut --json -f "half.$kind" x.wav 'Gain(1)' &&
      grep -q '"seconds": 1\.' said.txt && [ "$(grep -c 'cut off' said.txt)" -eq 1 ] || return 1
  done
}
# It is written into while it is read; nothing is left of it.
grown() {
  [ "$(cat changing/.*.part 2> /dev/null | wc -c)" -gt 65536 ]
}
check_changing() {
  local n status process
  for n in 600 2400 9600; do
    make changing.wav S16LE $n && rm -rf changing && mkdir changing || return 1
    gst-tfx process changing.wav changing/x.wav 'Reverb() | Reverb() | Reverb() | Reverb()' > said.txt 2>&1 &
    process=$!
    tap_wait 20 grown && kill -STOP $process || true
    # (It may have ended before.)
    if [ ! -e changing/x.wav ]; then
      status=0
      printf x >> changing.wav && kill -CONT $process
      wait $process || status=$?
      cat said.txt
      [ $status -eq 1 ] && grep -q -F "changing.wav: it has changed while it was read" said.txt &&
        [ ! -e changing/x.wav ] && nothing_left changing
      return
    fi
    wait $process
  done
  return 1
}
# Chunks of an odd size have a byte more, which may be the file's last one.  (wavparse of
# GStreamer 1.22 took its end for that of the sound.)
check_odd_size() {
  local bits
  for bits in 8 24; do
    make_wav odd-size.wav 4801 1 $bits 0x4 &&
      exits 0 '"seconds": 0.100021' gst-tfx process --json --dither none -f odd-size.wav x.wav 'Gain(1)' &&
      ! grep -i warning said.txt && cmp -n $((4801 * bits / 8)) -i 44:68 x.wav odd-size.wav &&
      exits 0 '"seconds": 0.100021' gst-tfx process --json -f -l -23 odd-size.wav x.wav &&
      gst-tfx spectrum -o odd-size.csv odd-size.wav || return 1
  done
  rm x.wav
  head -c 68 odd-size.wav > head.wav &&
    exits 1 "head.wav: it is cut off before its sound begins" \
      gst-tfx process --allow-cut head.wav x.wav 'Gain(1)' && [ ! -e x.wav ] && nothing_left .
}
check_odd_size_play() {
  local sound
  make_wav odd-size.wav 4801 1 8 0x4 || return 1
  for sound in odd-size.wav "$(python3 -c 'import pathlib; print(pathlib.Path("odd-size.wav").resolve().as_uri())')"; do
    gst-tfx play -o "capsfilter caps=audio/x-raw,format=U8 ! filesink location=heard.raw" "$sound" 'Gain(1)' &&
      [ "$(wc -c < heard.raw)" -eq 4801 ] || return 1
  done
}
# Less than one block of FLAC.
check_short() {
  gst-launch-1.0 -q audiotestsrc num-buffers=1 samplesperbuffer=1000 ! \
    audio/x-raw,format=S16LE,rate=48000,channels=2 ! wavenc ! filesink location=short.wav &&
    gst-tfx process -q -f short.wav short.flac 'Gain(1)' > said.txt 2>&1 &&
    gst-tfx process -q -f short.flac short.mka 'Gain(1)' >> said.txt 2>&1 && ! grep . said.txt
}
# More than 2 GiB of sound, a text behind it and no sample but the last one.  (wavparse of
# GStreamer 1.22 takes 2 GiB of it, and the rest for chunks.)
check_long_sound() {
  local kind
  for kind in RIFF RF64; do
    python3 - "$kind" << 'PY' &&
import struct, sys
kind, channels, n = sys.argv[1].encode(), 32, (1 << 31) // 256 + 1000
size, text = 256 * n, b"LIST" + struct.pack("<I", 16) + b"INFOISFT" + struct.pack("<I", 4) + b"tfx\0"
form = b"fmt " + struct.pack("<IHHIIHH", 16, 3, channels, 48000, 48000 * 256, 256, 64)
long = b"ds64" + struct.pack("<IQQQI", 28, size + 96, size, n, 0) if kind == b"RF64" else b""
sizes = [0xffffffff] * 2 if long else [4 + len(form) + 8 + size + len(text), size]
with open("long-sound.wav", "wb") as file:
    file.write(kind + struct.pack("<I", sizes[0]) + b"WAVE" + long + form + b"data" + struct.pack("<I", sizes[1]))
    file.seek(size - 256, 1)
    file.write(struct.pack("<32d", *[1 / 64] * 32) + text)
PY
      exits 0 '"seconds": 174.783500' gst-tfx process --json -f long-sound.wav x.flac \
        "Mix([[$(printf '1, %.0s' {1..31})1]])" && ! grep -i warning said.txt &&
      decode x.flac | python3 -c '
import array, sys
x = array.array("f", sys.stdin.buffer.read())
assert len(x) == (1 << 23) + 1000 and abs(x[-1] - 0.5) < 1e-6 and not any(x[:-1]), (len(x), x[-3:])' &&
      { [ $kind = RF64 ] ||
        gst-tfx play -o "capsfilter caps=audio/x-raw,format=U8 ! filesink location=heard.raw" long-sound.wav \
          "Mix([[$(printf '1, %.0s' {1..31})1]])" < /dev/null && [ "$(wc -c < heard.raw)" -eq 8389608 ]; } ||
      return 1
  done
  rm x.flac heard.raw long-sound.wav
}
# (audioconvert of GStreamer 1.22 ended the program.)
check_many_channels() {
  make_wav wide.wav 480 64 16 0 && rm -rf wide &&
    exits 1 "wide.wav: there are 64 channels, but GStreamer converts no more than 63" \
      gst-tfx process -o wide -c 'Gain(1)' wide.wav noise.wav && ! grep -i warning said.txt &&
    grep -q '1 done, 1 failed' said.txt && [ ! -e wide/wide.wav ] && nothing_left wide &&
    exits 1 "wide.wav: there are 64 channels" gst-tfx spectrum wide.wav &&
    exits 1 "there are 64 channels" gst-tfx record wide/x.wav 'Gain(1)' --source \
      "audiotestsrc num-buffers=9 ! capsfilter caps=audio/x-raw,channels=64,channel-mask=(bitmask)0" &&
    exits 1 "noise.wav: it would have 64 channels, but a .wav takes no more than 63" \
      gst-tfx process noise.wav wide/x.wav "Mix([$(printf '[1, 0], %.0s' {1..63})[0, 1]])" &&
    exits 1 "noise.wav: there are 64 channels" \
      gst-tfx play -o fakesink noise.wav "Mix([$(printf '[1, 0], %.0s' {1..63})[0, 1]])" < /dev/null &&
    exits 1 "wide.wav: there are 64 channels" gst-tfx play -o fakesink wide.wav 'Gain(1)' < /dev/null &&
    [ ! -e wide/x.wav ] && nothing_left wide && make_wav wide.wav 480 63 16 0 &&
    exits 0 '"channels": 63' gst-tfx process --json wide.wav wide/x.wav 'Gain(1)'
}
# One whose length nobody knows, and a recording.  (wavenc of GStreamer 1.22 went on, and wrote what is left of
# the size in 32 bits.)
check_full_wav() {
  local ways
  ways="Mix([$(printf '[1], %.0s' {1..62})[1]])"
  gst-launch-1.0 -q audiotestsrc wave=silence num-buffers=720 samplesperbuffer=48000 ! \
    audio/x-raw,format=S16LE,rate=48000,channels=1 ! flacenc ! filesink location=full.flac &&
    python3 -c '
flac = bytearray(open("full.flac", "rb").read())
flac[21:26] = bytes([flac[21] & 0xf0, 0, 0, 0, 0])
open("full.flac", "wb").write(flac)' &&
    exits 1 "full.flac: the output exceeds the 4 GiB of a .wav" \
      gst-tfx process full.flac full.wav "$ways" && [ ! -e full.wav ] && nothing_left . &&
    exits 0 "warning: full.wav: the recording ends at the 4 GiB of a .wav" \
      gst-tfx record full.wav "$ways" --source "audiotestsrc wave=silence samplesperbuffer=48000 ! \
        capsfilter caps=audio/x-raw,format=F64LE,rate=48000,channels=1" && python3 -c '
import os
size, head = os.path.getsize("full.wav"), open("full.wav", "rb").read(200)
at = head.index(b"data") + 4
assert size > 0xff000000 and int.from_bytes(head[4:8], "little") == size - 8, (size, head[:8])
assert 0 <= size - at - 4 - int.from_bytes(head[at:at + 4], "little") < 100, head' && rm full.wav full.flac
}
# Its last page, or byte, or one of the tags behind it; a WAV with more behind its sound, one whose writer did not know
# its length, an RF64; an MP3 with a head that tells its bytes, and one without.
check_cut_ends() {
  local file
  gst-tfx process -f three.wav three.mp3 'Gain(1)' && python3 -c '
def put(name, data):
    open(name, "wb").write(data)
wav, ogg, mp3, mka = (open("three." + kind, "rb").read() for kind in ("wav", "ogg", "mp3", "mka"))
mp3 = mp3[mp3.index(b"LAME3") + 36:]
mp3 = mp3[mp3.index(b"\xff\xfb"):]
at = wav.index(b"data") + 4
end = at + 4 + int.from_bytes(wav[at:at + 4], "little")
long = b"ds64" + (28).to_bytes(4, "little") + bytes(8) + (end - at - 4).to_bytes(8, "little") + bytes(12)
rf64 = b"RF64" + b"\xff" * 4 + b"WAVE" + long + wav[12:at] + b"\xff" * 4 + wav[at + 4:]
head = mp3[:4] + bytes(17 if mp3[3] >> 6 == 3 else 32) + b"Info" + (2).to_bytes(4, "big")
frame = 144 * 1000 * [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320][mp3[2] >> 4] // 48000
xing = (head + (frame + len(mp3)).to_bytes(4, "big")).ljust(frame, b"\0") + mp3
put("whole-tags.wav", wav + b"LIST" + (4).to_bytes(4, "little") + b"INFO")
put("whole-none.wav", wav[:at] + bytes(4) + wav[at + 4:])
put("whole-most.wav", wav[:at] + b"\xff" * 4 + wav[at + 4:])
put("whole-long.wav", rf64)
put("whole-xing.mp3", xing)
put("whole-cut.mp3", mp3[:-9000])
put("part-byte.wav", wav[:end - 1])
put("part-tags.wav", wav[:-1])
put("part-long.wav", rf64[:end])
put("part-page.ogg", ogg[:ogg.rindex(b"OggS")])
put("part-byte.ogg", ogg[:-1])
put("part-byte.mka", mka[:-1])
put("part-xing.mp3", xing[:-9000])' || return 1
  for file in whole-*.wav whole-*.mp3; do
    echo "$file"
    exits 0 "" gst-tfx process -f "$file" x.wav 'Gain(1)' && ! grep cut said.txt || return 1
  done
  for file in part-byte.* part-tags.wav part-long.wav part-page.ogg part-xing.mp3; do
    exits 1 "$file: it is cut off" gst-tfx process "$file" y.wav 'Gain(1)' && [ ! -e y.wav ] || return 1
  done
  rm x.wav
}
# What comes out of the chain counts: a quarter of the channels, or eight times as many.
check_long_wav_mixed() {
  claim_hours wide.flac 8 5 && claim_hours narrow.flac 1 10 &&
    gst-tfx process --allow-cut wide.flac wide.wav 'Mix([[1,0,0,0,0,0,0,0],[0,1,0,0,0,0,0,0]])' &&
    exits 1 "the output would have 25.7 GiB, but a .wav has at most 4" gst-tfx process --allow-cut \
      narrow.flac narrow.wav 'Mix([[1],[1],[1],[1],[1],[1],[1],[1]])' && [ ! -e narrow.wav ]
}
tap_case "process: more than a .wav holds" check_long_wav
tap_case "process: more than a .wav holds, with other channels" check_long_wav_mixed
tap_case "process: a FLAC that is cut off" check_cut
tap_case "process: a file that changes while it is read" check_changing
tap_case "process: a WAV of an odd size" check_odd_size
tap_case "process: a sound shorter than a block of FLAC" check_short
tap_case "play: a WAV of an odd size, and by its address" check_odd_size_play
tap_case "process, play: a WAV of more than 2 GiB" check_long_sound
tap_case "process, play: more channels than GStreamer converts" check_many_channels
# Four gigabytes are written, twice.
if [ -n "${TFX_TEST_PART-}" ]; then
  tap_skip "a .wav that is full" "it is slow"
elif [ "$(df --output=avail -B 1G . | tail -1)" -lt 6 ]; then
  tap_skip "a .wav that is full" "the disk has too little room"
else
  tap_case "a .wav that is full" check_full_wav
fi
tap_case "process: a WAV that does not say where its channels are" check_no_places
tap_case "process: a Broadcast Wave" check_broadcast
tap_case "process: other kinds that are cut off" check_cut_others
tap_case "process: kinds that are cut off at their end, or not" check_cut_ends
# Its headers alone, or not all of them.  Once in seven times decodebin does not pass on
# the demultiplexer's error where both share a processor.
check_cut_early() {
  local n i cpu
  cpu=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')
  for n in 3000 4500; do
    head -c $n kind.ogg > early.ogg
    for i in $(seq 9); do
      exits 1 "early.ogg: " timeout 60 taskset -c "$cpu" gst-tfx process early.ogg x.wav 'Gain(1)' &&
        ! grep CRITICAL said.txt || return 1
    done
  done
  [ ! -e x.wav ] && nothing_left .
}
tap_case "process: an Ogg that is cut off before its sound" check_cut_early
tap_case "process, spectrum: no sound in it" check_soundless
tap_case "process, spectrum: a file whose first sound decodebin loses" check_stalling
if_there aiffmux "process: an AIFF" check_aiff
tap_case "process: a video, 8 bits, 5.1 channels" check_odd
# Where no thread can be made a file fails, soon and with the reason; with one it is done.
check_threads() {
  cat > nothread.c << 'C'
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
int pthread_create (pthread_t *thread, const pthread_attr_t *attributes, void *(*run) (void *), void *data)
{
  return EAGAIN;
}
C
  cp noise.wav beside.wav && cc -shared -fPIC -o "$top/nothread.so" nothread.c || return 1
  exits 1 'error: noise.wav: Error creating thread: Resource temporarily unavailable' \
    timeout 20 env LD_PRELOAD="$top/nothread.so" gst-tfx process -f noise.wav thread.wav 'Gain(1)' && [ ! -e thread.wav ] &&
    exits 1 '0 done, 2 failed' timeout 20 env LD_PRELOAD="$top/nothread.so" \
      gst-tfx process -o threads -c 'Gain(1)' noise.wav beside.wav &&
    exits 0 '2 done, 0 failed' gst-tfx process -j 1024 -o threads -c 'Gain(1)' --manifest threads.jsonl noise.wav beside.wav &&
    exits 0 '2 ok, 0 differ' gst-tfx verify -j 1024 threads.jsonl &&
    exits 1 'error: Error creating thread: Resource temporarily unavailable' \
      timeout 20 env LD_PRELOAD="$top/nothread.so" gst-tfx verify threads.jsonl
}
tap_case "process, verify: no threads" check_threads
# In a folder each extension that the manual lists is a sound file's, and others are not.
check_extensions() {
  local extension list
  list=$(sed -n '/^The extensions are/,/in any case/p' "$root/docs/gst-tfx.md" | grep -o '`\.[a-z0-9]*`' | tr -d '`')
  [ "$(wc -w <<< "$list")" -ge 40 ] && rm -rf kinds && mkdir kinds || return 1
  for extension in $list .txt .jpg .M2ts; do echo text > "kinds/${extension#.}$extension"; done
  exits 1 "0 done, $(($(wc -w <<< "$list") + 1)) failed" gst-tfx process -e wav -o kinds-out -c 'Gain(1)' kinds &&
    grep 'skipped 2 files without the extension of a sound file' said.txt
}
tap_case "process: the extensions of sound files" check_extensions
tap_case "process: more channels than the output takes" check_mixed_down
tap_case "process: other layouts of channels than the output's" check_layouts
tap_case "process: another rate, and several tracks" check_told
tap_case "process: samples above full scale" check_clipped
tap_case "process: a WAV says where its channels are" check_wav_mask
if_there wavpackenc "process: more channels than a .wv takes" check_wv_channels
tap_case "process: no files at all" exits 2 "--out takes files or folders to process" \
  gst-tfx process -o out -c 'Gain(1)'
# The fields that docs/gst-tfx.md names, and no others.
check_json_fields() {
  gst-tfx process --json -f -l -23 noise.wav json.wav > fields.txt && python3 -c '
import json
line = json.load(open("fields.txt"))
assert set(line["loudness"]) == set("input true_peak gain output limited".split()), line
assert set(line) == set("input output status format rate channels loudness seconds took "
    "clipped peak error".split()), line'
}
tap_case "process: the fields of --json" check_json_fields
tap_case "process: a loudness above full scale" exits 2 "must be from -70 to 0 LUFS" \
  gst-tfx process -l 1 noise.wav x.wav
tap_case "process: an extension that nothing writes" exits 2 "cannot write .doc files; it can write .wav, .flac, " \
  gst-tfx process -e doc -o out -c 'Gain(1)' noise.wav
tap_case "process: no jobs" exits 2 "jobs is 0, but must be from 1 to 1024" \
  gst-tfx process -j 0 -o out -c 'Gain(1)' noise.wav
tap_case "process: a wrong chain" exits 2 "did you mean 'LoButterworth'" \
  gst-tfx process noise.wav x.wav 'LoButterwort(1000)'
tap_case "process: a chain that does not fit the file" \
  exits 0 "warning: noise.wav: " \
  gst-tfx process noise.wav clamped.wav 'LoButterworth(30000)'
tap_case "process: two chains" exits 2 "only one of --chain" \
  gst-tfx process -o out -c 'Gain(1)' -p 'Rumble filter' noise.wav
tap_case "process: no such option" exits 2 "Unknown option --nonsense" \
  gst-tfx process --nonsense
# No chain, as of a variable that is not set, and filter settings that have no filter.
check_empty_chain() {
  printf 'Filter Settings file\n\nFilter 1: ON None\nFilter 2: OFF PK Fc 1000 Hz Gain 6.0 dB Q 2.00\n' > none.txt &&
    exits 2 "none.txt: the file is empty, or no filter in it is ON" gst-tfx process -C none.txt noise.wav no.wav &&
    exits 2 "no filter in it is ON" gst-tfx check -C none.txt && [ ! -e no.wav ] &&
    exits 0 "warning: the chain is empty" gst-tfx process -f noise.wav empty-chain.wav '' && rm empty-chain.wav
}
tap_case "process: a chain without a filter" check_empty_chain
# The chain is not the last of three.
check_order() {
  exits 2 "the chain comes last: gst-tfx process noise.wav order.wav 'Hum(50)'" \
    gst-tfx process 'Hum(50)' noise.wav order.wav &&
    exits 2 'the chain comes last: gst-tfx process noise.wav order.wav "Gain(-6, gain_type='"'db'"')"' \
      gst-tfx process noise.wav "Gain(-6, gain_type='db')" order.wav &&
    exits 2 "the chain comes last: gst-tfx play noise.wav 'Hum(50)'" \
      gst-tfx play 'Hum(50)' noise.wav && [ ! -e order.wav ]
}
tap_case "process: arguments in another order" check_order
# The output is missing, or the chain is where a name is wanted.
check_misplaced_chain() {
  mkdir -p misplaced && exits 2 "there is no output: gst-tfx process noise.wav OUT 'Hum(50)'" gst-tfx process noise.wav 'Hum(50)' &&
    exits 2 "there is no output: gst-tfx process noise.wav OUT 'Hum(50)'" gst-tfx process 'Hum(50)' noise.wav &&
    exits 2 "with --out, give the chain by --chain 'Hum(50)'" gst-tfx process --out filtered2 misplaced 'Hum(50)' &&
    exits 2 "with --out, give the chain by --chain \"Gain(2, 'db')\"" gst-tfx process --out filtered2 noise.wav "Gain(2, 'db')" &&
    exits 2 "record takes OUT CHAIN" gst-tfx record 'Hum(50)' && [ ! -e filtered2 ]
}
tap_case "process: a chain where a name is wanted" check_misplaced_chain
# A file where a chain is wanted.
check_file_as_chain() {
  printf 'Filter 1: ON PK Fc 1000 Hz Gain 6.0 dB Q 2.00\n' > left.txt && printf 'Gain(2)\n' > gain.chain || return 1
  local command
  for command in check response bench "process noise.wav no.wav" "record no.wav" "play -o fakesink noise.wav"; do
    # shellcheck disable=SC2086 # words
    exits 2 "error: left.txt is a file: use --chain-file left.txt" gst-tfx $command left.txt &&
      exits 2 "error: gain.chain is a file: use --chain-file gain.chain" gst-tfx $command gain.chain &&
      exits 2 "error: noise.wav is a file without a chain: give the chain in quotes, or by --chain-file" gst-tfx $command noise.wav ||
      return 1
  done
  [ ! -e no.wav ]
}
tap_case "a file where a chain is wanted" check_file_as_chain
tap_case "process: too few arguments" exits 2 "process takes IN OUT CHAIN" \
  gst-tfx process noise.wav

# ---- loudness ---------------------------------------------------------------------

# lufs FILE: the loudness of even noise at 48 kHz, by ITU-R BS.1770-4's own
# sections, with no gate; and its largest sample.
lufs() {
  decode "$1" | python3 -c '
import array, math, sys
a = array.array("f", sys.stdin.buffer.read())
sections = ((1.53512485958697, -2.69169618940638, 1.19839281085285, -1.69065929318241, 0.73248077421585),
    (1.0, -2.0, 1.0, -1.99004745483398, 0.99007225036621))
power = 0.0
for channel in (a[0::2], a[1::2]):
    y = channel
    for b0, b1, b2, a1, a2 in sections:
        s1 = s2 = 0.0
        x, y = y, []
        for v in x:
            w = b0 * v + s1
            s1 = b1 * v - a1 * w + s2
            s2 = b2 * v - a2 * w
            y.append(w)
    power += sum(v * v for v in y) / len(y)
print(-0.691 + 10 * math.log10(power), max(map(abs, a)))'
}

# within LUFS FILE MAXIMUM: to 0.1 LU, as the EBU asks of meters.
within() {
  lufs "$2" | tee measured.txt
  awk -v l="$1" -v m="$3" '{ exit !($1 > l - 0.1 && $1 < l + 0.1 && $2 < m) }' measured.txt
}

check_loudness() {
  make even.wav S16LE 30
  gst-tfx process --json --loudness -23 even.wav level.wav 'HiButterworth(80)' | tee level.txt &&
    grep -q '"output": -23.00, "limited": false' level.txt && within -23 level.wav 1 &&
    gst-tfx process --json -l -31.5 even.wav soft.wav > /dev/null && within -31.5 soft.wav 1
}

# integrated FILE: in LUFS
integrated() {
  gst-tfx loudness --json "$1" | sed -n -E 's/.*"integrated": ([-0-9.]+),.*/\1/p'
}

# Channels of even noise weigh by their positions, not by their numbers: 2.1, 4.0, 6.1, 7.1
# wide.
check_loudness_of_layouts() {
  local layout mask n one
  make_wav one.wav 48000 1 24 0x4 && one=$(integrated one.wav) || return 1
  for layout in 0xb/3/2 0x107/4/4 0x70f/7/6.82 0xff/8/7.82; do
    IFS=/ read -r mask n layout <<< "$layout"
    make_wav layout.wav 48000 "$n" 24 "$mask" && integrated layout.wav | tee level.txt &&
      awk -v one="$one" -v sum="$layout" '{ d = $1 - one - 10 * log(sum) / log(10); exit !(d > -0.1 && d < 0.1) }' level.txt ||
      return 1
  done
  make_wav layout.wav 48000 3 24 0xb && gst-tfx process -f layout.wav no-lfe.wav 'ch[FR]: Gain(0); ch[LFE]: Gain(1)' &&
    integrated no-lfe.wav | awk -v one="$one" '{ exit !($1 > one - 0.1 && $1 < one + 0.1) }' &&
    exits 1 "ch[SL] is missing: the channels are FL, FR, LFE" gst-tfx process -f layout.wav no.wav 'ch[SL]: Gain(2)'
}

# In two passes, of which one tells.
check_warned_once() {
  exits 0 "warning: noise.wav: " gst-tfx process -l -23 noise.wav once.wav 'LoButterworth(30000)' &&
    [ "$(grep -c warning said.txt)" -eq 1 ]
}

# What would pass -1 dBTP does not, and it is told how loud it is then.
check_limited() {
  exits 0 "limited to -1 dBTP, the output has" \
    gst-tfx process --json -l 0 even.wav loud.wav || return 1
  local reached
  reached=$(sed -n -E 's/.*"output": ([-0-9.]+), "limited": true.*/\1/p' said.txt)
  [ -n "$reached" ] && within "$reached" loud.wav 0.8912509
}

check_true_peak() {
  exits 0 "limited to -6 dBTP, the output has" \
    gst-tfx process --json -f -l -3 --true-peak -6 even.wav loud.wav || return 1
  gst-tfx loudness loud.wav | tee peaks.txt | awk '$6 == "loud.wav" { good = $5 > -7 && $5 <= -6 } END { exit !good }'
}

# Another loudness, or dither, is another output, to the journal.
check_loudness_again() {
  gst-tfx process -l -23 -o leveled even.wav && [ -e leveled/even.wav ] &&
    exits 0 '1 done before' gst-tfx process -l -23 -o leveled even.wav &&
    exits 0 '1 done, 0 failed' gst-tfx process -f -l -20 -o leveled even.wav &&
    exits 0 '1 done, 0 failed' gst-tfx process -f -l -20 --dither none -o leveled even.wav &&
    exits 0 '1 done, 0 failed' gst-tfx process -f -l -20 --dither rpdf -o leveled even.wav
}

# Gains in tags are of the level that was.
check_gains() {
  gst-launch-1.0 -q audiotestsrc num-buffers=50 ! audioconvert ! \
    taginject tags='title=(string)Loud, replaygain-track-gain=(double)-7.5, replaygain-album-peak=(double)0.5, extended-comment=(string)"R128_TRACK_GAIN\=-256"' ! \
    flacenc ! filesink location=gains.flac &&
    gst-tfx process gains.flac kept-gains.flac '' &&
    grep -a 'REPLAYGAIN_TRACK_GAIN=-7.50 dB' kept-gains.flac && grep -a R128_TRACK kept-gains.flac || return 1
  local arguments
  for arguments in '-l -23' '-c Gain(0.5)' '-c Loudness(-23)'; do
    # shellcheck disable=SC2086 # two words
    gst-tfx process -f $arguments gains.flac no-gains.flac && grep -a Loud no-gains.flac &&
      ! grep -a -i -E 'replaygain|r128' no-gains.flac || return 1
  done
}

check_silence() {
  gst-launch-1.0 -q audiotestsrc wave=silence num-buffers=20 ! audio/x-raw,format=F32LE ! \
    wavenc ! filesink location=silence.wav
  exits 0 "silence.wav: it is silent (below -70 LUFS): its level is unchanged" \
    gst-tfx process --json -l -23 silence.wav still.wav &&
    grep -q '"input": null' said.txt && cmp <(decode silence.wav) <(decode still.wav) &&
    make_wav none.wav 0 2 16 3 && exits 0 "none.wav: it is too short to have a loudness" \
    gst-tfx process --json -l -23 none.wav still-none.wav && grep -q '"seconds": 0.000000' said.txt
}

# Loud, but shorter than a block: that is no silence.
check_too_short() {
  make_wav short.wav 19199 2 16 3 && make_wav block.wav 19200 2 16 3 &&
    exits 0 "short.wav: it is too short to have a loudness, which is measured in blocks of 400 ms: its level is unchanged" \
      gst-tfx process -l -23 short.wav still-short.wav && ! grep silent said.txt &&
    exits 0 "" gst-tfx process -l -23 block.wav louder.wav && ! grep -E 'silent|short' said.txt &&
    exits 0 "short.wav: it is too short to have a loudness" gst-tfx loudness short.wav block.wav &&
    [ "$(grep -c 'too short' said.txt)" = 1 ]
}

# Nobody looks into a pipe before it is read.
check_pipe() {
  mkfifo pipe.wav
  cat noise.wav > pipe.wav &
  timeout 60 gst-tfx process -f pipe.wav piped.wav 'Gain(0.5)' && gst-tfx process -f noise.wav half.wav 'Gain(0.5)' &&
    cmp <(decode piped.wav) <(decode half.wav) || return 1
  exits 1 "pipe.wav: it is not a file, so it cannot be read twice" gst-tfx process -l -23 pipe.wav x.wav &&
    [ ! -e x.wav ] && nothing_left .
}

tap_case "process: a loudness" check_loudness
tap_case "process: a loudness, and one warning" check_warned_once
tap_case "loudness, process: channels by their positions" check_loudness_of_layouts
tap_case "process: a loudness with peaks above the limit" check_limited
tap_case "process: peaks below --true-peak" check_true_peak
tap_case "process: --true-peak alone" exits 2 "--true-peak needs --loudness" \
  gst-tfx process --true-peak -2 noise.wav x.wav 'Gain(1)'
tap_case "process: another loudness is done again" check_loudness_again
tap_case "process: another level has no gain in its tags" check_gains
tap_case "process: silence has no loudness" check_silence
tap_case "process, loudness: what is too short is not silent" check_too_short
tap_case "process: a pipe, and no loudness of one" check_pipe
tap_case "process: a loudness that is none" exits 2 \
  "loudness is '-23dB', but must be from -70 to 0 LUFS" \
  gst-tfx process -l -23dB noise.wav x.wav

# By libebur128, which is asked each 100 ms; noise at three levels, below the frequencies at which
# the two filters for true peaks differ.
check_measured() {
  python3 - << 'PY'
import array, random, wave
noise = random.Random(1)
levels = [0.5] * 8 + [0.05] * 8 + [0.2] * 4
x = array.array("h", (int(32767 * level * noise.uniform(-1, 1) ** 3) for level in levels for _ in range(2 * 48000)))
w = wave.open("noisy.wav", "wb")
w.setparams((2, 2, 48000, 0, "NONE", ""))
w.writeframes(x.tobytes())
PY
  gst-tfx process -f noisy.wav levels.wav 'LoButterworth(6000, order=8)' &&
    gst-tfx loudness --json levels.wav | tee loudness.json && python3 - << 'PY' || return 1
import array, ctypes, json, math, wave
ebur128 = ctypes.CDLL("libebur128.so.1")
ebur128.ebur128_init.restype = ctypes.c_void_p
state = ctypes.c_void_p(ebur128.ebur128_init(2, ctypes.c_ulong(48000), 63))
samples = wave.open("levels.wav").readframes(1 << 30)
value = ctypes.c_double()
def ask(name, *more):
    assert getattr(ebur128, "ebur128_" + name)(state, *more, ctypes.byref(value)) == 0, name
    return value.value
most = {"loudness_momentary": -math.inf, "loudness_shortterm": -math.inf}
for at in range(0, len(samples), 4 * 4800):
    piece = samples[at:at + 4 * 4800]
    ebur128.ebur128_add_frames_short(state, piece, ctypes.c_size_t(len(piece) // 4))
    for name in most:
        most[name] = max(most[name], ask(name))
line = json.load(open("loudness.json"))
assert set(line) == set("input integrated range momentary_max short_term_max true_peak seconds error".split()), line
peak = 20 * math.log10(max(ask("true_peak", c) for c in (0, 1)))
for name, wanted, bound in (("integrated", ask("loudness_global"), 0.02), ("range", ask("loudness_range"), 0.1),
        ("momentary_max", most["loudness_momentary"], 0.02), ("short_term_max", most["loudness_shortterm"], 0.02),
        ("true_peak", peak, 0.05)):
    print(name, line[name], wanted)
    assert abs(line[name] - wanted) < bound, name
PY
  gst-tfx loudness -c "Gain(-6, 'db')" levels.wav > loudness.txt && python3 -c '
import json
numbers = list(map(float, open("loudness.txt").read().splitlines()[2].split()[:5]))
line = json.load(open("loudness.json"))
for got, name, change in zip(numbers, ("integrated", "range", "momentary_max", "short_term_max", "true_peak"), (6, 0, 6, 6, 6)):
    assert abs(got - line[name] + change) < 0.11, (name, got, line)'
}
# Silence has none, and a file that fails does not stop the others.
check_measured_many() {
  exits 1 "error: absent.wav: cannot be read: No such file" gst-tfx loudness absent.wav silence.wav noise.wav &&
    grep -q -E '^ +-inf +0.0 +-inf +-inf +-inf  silence.wav$' said.txt && grep -q '  noise.wav$' said.txt &&
    exits 1 '"input": "text.wav", "integrated": null' gst-tfx loudness --json text.wav &&
    exits 0 "  folder/a/b/2.WAV" gst-tfx loudness folder/a && [ "$(grep -c '  folder/' said.txt)" -eq 1 ]
}
# ebur128 SAMPLES...: integrated loudness and true peak of stereo F32 at 48 kHz, one file behind the
# other, by libebur128
ebur128() {
  cat "$@" | python3 -c '
import ctypes, math, sys
ebur128 = ctypes.CDLL("libebur128.so.1")
ebur128.ebur128_init.restype = ctypes.c_void_p
state = ctypes.c_void_p(ebur128.ebur128_init(2, ctypes.c_ulong(48000), 63))
samples = sys.stdin.buffer.read()
ebur128.ebur128_add_frames_float(state, samples, ctypes.c_size_t(len(samples) // 8))
lufs, peaks = ctypes.c_double(), [ctypes.c_double(), ctypes.c_double()]
ebur128.ebur128_loudness_global(state, ctypes.byref(lufs))
for c in (0, 1):
    ebur128.ebur128_true_peak(state, c, ctypes.byref(peaks[c]))
print(lufs.value, 20 * math.log10(max(p.value for p in peaks)))'
}

# make_album: noise of three levels and lengths, the loudest last, below the frequencies at which
# filters for true peaks differ
make_album() {
  local name
  rm -rf album && mkdir album && python3 - << 'PY' && for name in a b c; do
import array, random, wave
for name, level, seconds in (("a", 0.03, 8), ("b", 0.2, 8), ("c", 0.5, 16)):
    noise = random.Random(name)
    x = array.array("h", (int(32767 * level * noise.uniform(-1, 1) ** 3) for _ in range(seconds * 2 * 48000)))
    w = wave.open(f"noisy-{name}.wav", "wb")
    w.setparams((2, 2, 48000, 0, "NONE", ""))
    w.writeframes(x.tobytes())
PY
    gst-launch-1.0 -q filesrc location=noisy-$name.wav ! wavparse ! audioconvert ! \
      tfxchain chain='LoButterworth(6000, order=8)' ! audio/x-raw,format=F32LE ! wavenc ! \
      filesink location=album/$name.wav || return 1
  done
}

# album_gain FOLDER: the gain of each file against album/, in dB
album_gain() {
  local name
  for name in a b c; do
    decode album/$name.wav > before.raw && decode "$1/$name.wav" > after.raw && python3 -c '
import array, math
powers = [sum(v * v for v in array.array("f", open(n, "rb").read())) for n in ("before.raw", "after.raw")]
print(10 * math.log10(powers[1] / powers[0]))' || return 1
  done
}

# One gain for all, found before the first is written, so that all together have the loudness.
# Files that fail, and silent ones, leave it alone.
check_album() {
  local name
  make_album && gst-tfx process --json -j 1 --album -l -20 -o album-out album | tee album.txt &&
    [ "$(grep -o '"gain": [-0-9.]*' album.txt | sort -u | wc -l)" -eq 1 ] &&
    album_gain album-out | tee gains.txt && awk 'NR == 1 { one = $1 } { d = $1 - one; if (d > 0.01 || d < -0.01) exit 1 }' gains.txt &&
    for name in a b c; do decode album-out/$name.wav > album-$name.raw; done &&
    ebur128 album-[abc].raw | tee level.txt && awk '{ exit !($1 > -20.1 && $1 < -19.9) }' level.txt || return 1
  cp text.wav album/d.wav && gst-tfx process -f silence.wav album/e.wav 'Gain(1)' &&
    exits 1 "album/d.wav" gst-tfx process --json --album -l -20 -o album-failing album &&
    grep -q '4 done, 1 failed' said.txt && rm album/[de].wav &&
    cmp album-out/b.wav album-failing/b.wav && nothing_left album-failing &&
    exits 1 "text.wav" gst-tfx process --album -l -20 text.wav no.wav && ! grep 'the album' said.txt
}

# No true peak of any file is above the limit, and the gain is still one.
check_album_peaks() {
  exits 0 "warning: the album: at -8.0 LUFS the true peaks would reach" \
    gst-tfx process --album -l -8 --true-peak -2 -o album-loud album &&
    album_gain album-loud | tee gains.txt && awk 'NR == 1 { one = $1 } { d = $1 - one; if (d > 0.01 || d < -0.01) exit 1 }' gains.txt &&
    decode album-loud/c.wav > album-c.raw && ebur128 album-c.raw | tee level.txt && awk '{ exit !($2 > -2.05 && $2 < -1.99) }' level.txt
}

# What is done stays while the album does: another file in it is another gain.
check_album_again() {
  exits 0 '3 done before' gst-tfx process --album -l -20 -o album-out album && rm album-out/b.wav &&
    exits 0 '1 done, 0 failed, 2 done before' gst-tfx process --album -l -20 -o album-out album &&
    exits 1 'album-out/b.wav exists' gst-tfx process --album -l -20 -o album-out album/a.wav album/b.wav &&
    exits 0 '2 done, 0 failed' gst-tfx process -f --album -l -20 -o album-out album/a.wav album/b.wav &&
    exits 0 '2 done, 0 failed' gst-tfx process -f --album --replaygain -l -20 -o album-out album/a.wav album/b.wav
}

# tag NAME FILE: the number in a Vorbis comment
tag() {
  grep -a -o -E "$1=[-0-9.]+" "$2" | cut -d = -f 2
}

# has_gain WHAT FILE LUFS PEAK: FILE has the gain and the peak of TRACK or ALBUM.  (Of an album the
# blocks across two files are none.)
has_gain() {
  echo "$1 $2 $(tag "REPLAYGAIN_$1_GAIN" "$2") $(tag "REPLAYGAIN_$1_PEAK" "$2") $3 $4" | tee gains.txt |
    awk '{ gain = $3 - (-18 - $5); peak = 20 * log($4) / log(10) - $6; bound = $1 == "TRACK" ? 0.03 : 0.1
      exit !(NF == 6 && gain > -bound && gain < bound && peak > -0.05 && peak < 0.05) }'
}

# The gains of what is written, not of what was read; the samples stay without a chain.
check_replaygain() {
  local name level all
  gst-tfx process -f --replaygain noise.wav gained.flac && cmp <(decode noise.wav) <(decode gained.flac) &&
    gst-tfx process -q --album --replaygain -e flac -o gained album || return 1
  for name in a b c; do
    decode gained/$name.flac > gained-$name.raw || return 1
  done
  # shellcheck disable=SC2046,SC2086 # two words
  all=$(ebur128 gained-[abc].raw) && for name in a b c; do
    level=$(ebur128 gained-$name.raw) && has_gain TRACK gained/$name.flac $level && has_gain ALBUM gained/$name.flac $all || return 1
  done
  gst-tfx process -f --replaygain -l -3 gained/b.flac limited.flac "Gain(-6, 'db')" && decode limited.flac > limited.raw &&
    has_gain TRACK limited.flac $(ebur128 limited.raw) && ! grep -a REPLAYGAIN_ALBUM limited.flac || return 1
  # Of Opus in steps of 1/256 dB to -23 LUFS.
  gst-tfx process -q --album --replaygain -e opus -o gained album &&
    echo "$(tag R128_TRACK_GAIN gained/b.opus) $(tag R128_ALBUM_GAIN gained/b.opus) $(ebur128 gained-b.raw) $all" | tee gains.txt |
    awk '{ t = $1 / 256 - (-23 - $3); a = $2 / 256 - (-23 - $5); exit !(t > -0.03 && t < 0.03 && a > -0.1 && a < 0.1) }' &&
    ! grep -a REPLAYGAIN gained/b.opus
}
if python3 -c 'import ctypes; ctypes.CDLL("libebur128.so.1")' 2> /dev/null; then
  tap_case "loudness: as libebur128 measures" check_measured
  tap_case "process: an album" check_album
  tap_case "process: an album with peaks above the limit" check_album_peaks
  tap_case "process: an album that is done, and one with other files" check_album_again
  tap_case "process: ReplayGain, as libebur128 measures" check_replaygain
else
  for name in "loudness: as libebur128 measures" "process: an album" "process: an album with peaks above the limit" \
    "process: an album that is done, and one with other files" "process: ReplayGain, as libebur128 measures"; do
    tap_skip "$name" "there is no libebur128 here"
  done
fi
tap_case "process: --album alone" exits 2 "--album needs --loudness or --replaygain" \
  gst-tfx process --album noise.wav x.wav 'Gain(1)'
tap_case "watch: no --album" exits 2 "Unknown option --album" gst-tfx watch --album -l -23 -o x .
# Every kind has the gains, or says that it has not.
check_replaygain_kinds() {
  local kind
  for kind in flac/flacenc ogg/vorbisenc oga/vorbisenc mka/flacenc mp3/lamemp3enc wv/wavpackenc m4a/avenc_aac; do
    gst-inspect-1.0 --exists "${kind#*/}" || continue
    gst-tfx process -f --replaygain gains.flac "gained.${kind%/*}" && grep -a -q REPLAYGAIN_TRACK_GAIN "gained.${kind%/*}" &&
      grep -a -q REPLAYGAIN_TRACK_PEAK "gained.${kind%/*}" && ! grep -a -E -- '-7.50 dB|REPLAYGAIN_ALBUM|R128_' "gained.${kind%/*}" ||
      return 1
  done
  exits 0 "a .wav has no place for REPLAYGAIN_TRACK_GAIN, REPLAYGAIN_TRACK_PEAK" gst-tfx process -f --replaygain noise.wav gained.wav &&
    exits 0 "silence.wav: it is silent (below -70 LUFS): it gets no ReplayGain" gst-tfx process -f --replaygain silence.wav gained.flac &&
    ! grep -a REPLAYGAIN gained.flac && exits 2 "--replaygain: a .wav on standard output has no tags" gst-tfx process --replaygain noise.wav - &&
    gst-tfx process -e flac --replaygain noise.wav - > gained.flac && grep -a -q REPLAYGAIN_TRACK_GAIN gained.flac
}
tap_case "process: ReplayGain of each kind" check_replaygain_kinds
tap_case "loudness: several files" check_measured_many
check_slow_rate() {
  gst-launch-1.0 -q audiotestsrc num-buffers=20 ! audio/x-raw,rate=4000 ! wavenc ! filesink location=slow.wav &&
    exits 1 "slow.wav: its loudness cannot be measured at 4000 Hz" gst-tfx loudness slow.wav
}
tap_case "loudness: a rate that it does not measure" check_slow_rate
tap_case "loudness: no file" exits 2 "loudness takes one or more files" gst-tfx loudness

# ---- the tail ----------------------------------------------------------------------

# A tail is what the chain makes of as much silence: to the sample, in each kind, with its loudness
# and its length; also where a stage looks ahead.
check_tail() {
  local ringing="Reverb() | Delay(delay_samples=20000, feedback=0.4, mix=0.5) | Limiter(-1)" kind
  cp "new
line.wav" float.wav && decode float.wav > padded.raw && head -c $((2 * 48000 * 8)) /dev/zero >> padded.raw && python3 - << 'PY' || return 1
import struct
data = open("padded.raw", "rb").read()
form = b"fmt " + struct.pack("<IHHIIHH", 16, 3, 2, 48000, 8 * 48000, 8, 32)
open("padded.wav", "wb").write(b"RIFF" + struct.pack("<I", 20 + len(form) + len(data)) + b"WAVE" + form + b"data" + struct.pack("<I", len(data)) + data)
PY
  for kind in wav flac ogg mka; do
    gst-tfx process -f padded.wav "padded-out.$kind" "$ringing" && gst-tfx process -f --tail 2s float.wav "tail.$kind" "$ringing" && cmp <(decode "padded-out.$kind") <(decode "tail.$kind") || return 1
  done
  [ "$(decode tail.wav | wc -c)" -eq $((3 * 48000 * 8)) ] && gst-tfx process --json -f -l -23 --tail 2000ms float.wav tail.wav "$ringing" | tee tail.txt && grep -q '"seconds": 3.000000' tail.txt && gst-tfx process -f -l -23 padded.wav padded-out.wav "$ringing" &&
    cmp <(decode padded-out.wav) <(decode tail.wav) && gst-tfx process -f --tail 0.5 noise.wav tail.wav 'Gain(1)' &&
    [ "$(sound_size tail.wav)" -eq $(((48000 + 24000) * 4)) ] &&
    gst-tfx process -e flac --tail 2 float.wav - "$ringing" > piped.flac && cmp <(decode piped.flac) <(decode tail.flac)
}

# It ends where nothing above -120 dBFS follows, and a chain that rings for ever after a minute.
check_tail_auto() {
  local ringing="Delay(delay_samples=150000, feedback=0.3, mix=0.5) | Reverb() | Limiter(-1)"
  gst-tfx process -f --tail auto float.wav auto.wav "$ringing" && gst-tfx process -f --tail 60s float.wav long.wav "$ringing" && decode auto.wav > auto.raw && decode long.wav > long.raw && python3 - << 'PY' || return 1
import array
auto, long = (array.array("f", open(n + ".raw", "rb").read()) for n in ("auto", "long"))
last = max(i for i, v in enumerate(long) if abs(v) > 1e-6)
print(len(auto), len(long), last)
assert len(long) == 61 * 2 * 48000 and 9 * 2 * 48000 < last < 30 * 2 * 48000
assert auto == long[:2 * (last // 2 + 1)]
PY
  gst-tfx process --json -f --tail auto noise.wav auto.wav 'Gain(0.5) | Limiter(-1)' | grep '"seconds": 1.000000' &&
    gst-tfx process --json -f --tail auto noise.wav auto.wav 'Biquad(1, 0, 0, 1, -1.99, 0.99999999)' | grep '"seconds": 61.000000' &&
    gst-tfx process --json -f -l -23 --tail auto noise.wav auto.wav "$ringing" | tee tail.txt && grep -q '"output": -23.00' tail.txt
}

# A file that is cut off still is, and another tail is another output.
check_tail_whole() {
  head -c 100000 noise.wav > cut-tail.wav && exits 1 "cut-tail.wav: " gst-tfx process --tail 2s cut-tail.wav no.wav 'Gain(1)' && [ ! -e no.wav ] &&
    gst-tfx process -f noise.wav whole.flac 'Gain(1)' && head -c 100000 whole.flac > cut-tail.flac &&
    exits 1 "cut-tail.flac: it is cut off" gst-tfx process --tail 2s cut-tail.flac no.wav 'Gain(1)' && [ ! -e no.wav ] &&
    gst-tfx process --tail 1s -c 'Gain(1)' -o tailed noise.wav &&
    exits 0 '1 done before' gst-tfx process --tail 1s -c 'Gain(1)' -o tailed noise.wav &&
    exits 0 '1 done, 0 failed' gst-tfx process -f --tail 2s -c 'Gain(1)' -o tailed noise.wav || return 1
  local tail
  for tail in -1s 3601 5m nan '' s; do
    exits 2 "tail is '$tail', but must be auto, or from 0 to 3600 s" gst-tfx process "--tail=$tail" noise.wav no.wav 'Gain(1)' || return 1
  done
}
tap_case "process: a tail is that of the input with silence behind it" check_tail
tap_case "process: a tail that ends by itself" check_tail_auto
tap_case "process: a tail of a file that is cut off, or done before, or no time" check_tail_whole

# ---- dither ------------------------------------------------------------------------

# A sine of 1.5 steps of 16 bits.  Rounded, it has harmonics; dithered, it has noise
# that does not depend on it, of (1/6 + 1/12) steps squared with a triangular
# density.  In steps: harmonics, and all but the sine.
distortion() {
  gst-tfx process -q -f "$@" sine.wav quiet.wav 'Gain(0.00005722045898)' &&
    decode quiet.wav | python3 -c '
import array, cmath, math, sys
a = [32768 * x for x in array.array("f", sys.stdin.buffer.read())]
turns = [cmath.exp(-2j * math.pi * i / 48) for i in range(48)]
h = [2 / len(a) * abs(sum(x * turns[i * k % 48] for i, x in enumerate(a))) for k in (1, 3, 5, 7)]
print(max(h[1:]), math.sqrt(sum(x * x for x in a) / len(a) - h[0] ** 2 / 2), h[0])'
}

# A harmonic of the noise alone is 2 * 0.5 / sqrt (48000) = 0.0046 steps on average.
check_dither() {
  gst-launch-1.0 -q audiotestsrc wave=sine freq=1000 volume=0.8 num-buffers=10 \
    samplesperbuffer=4800 ! audio/x-raw,rate=48000,channels=1,format=S16LE ! wavenc ! \
    filesink location=sine.wav
  distortion | tee dither.txt &&
    awk '{ exit !($1 < 0.02 && $2 > 0.49 && $2 < 0.51 && $3 > 1.48 && $3 < 1.52) }' dither.txt &&
    distortion --dither tpdf | cmp - dither.txt &&
    distortion --dither none | tee dither.txt &&
    awk '{ exit !($1 > 0.05 && $2 < 0.4) }' dither.txt
}
tap_case "process: dither, noise in place of distortion" check_dither
tap_case "process: a dither that is none" exits 2 "must be none, rpdf, tpdf or tpdf-hf" \
  gst-tfx process --dither triangle noise.wav x.wav 'Gain(1)'

# Shaped noise has more power in all, and the sine stays.
check_noise_shaping() {
  distortion > dither.txt && distortion --noise-shaping none | cmp - dither.txt &&
    distortion --noise-shaping high | tee shaped.txt &&
    awk '{ exit !($2 > 0.6 && $3 > 1.4 && $3 < 1.6) }' shaped.txt
}
tap_case "process: noise shaping" check_noise_shaping
tap_case "process: a noise shaping that is none" exits 2 "must be none, error-feedback, simple, medium or high" \
  gst-tfx process --noise-shaping low noise.wav x.wav 'Gain(1)'

# ---- bits and rate -----------------------------------------------------------------

cat > wavs.py << 'PY'
import array, math, struct, subprocess
# FILE with floats of one channel.
def write(name, rate, x):
    data = array.array("f", x).tobytes()
    open(name, "wb").write(b"RIFF" + struct.pack("<I", len(data) + 36) + b"WAVEfmt " +
        struct.pack("<IHHIIHH", 16, 3, 1, rate, 4 * rate, 4, 32) + b"data" + struct.pack("<I", len(data)) + data)
# Its chunks.
def chunks(name):
    wav, at, found = open(name, "rb").read(), 12, {}
    while at + 8 <= len(wav):
        size = int.from_bytes(wav[at + 4:at + 8], "little")
        found[wav[at:at + 4]] = wav[at + 8:at + 8 + size]
        at += 8 + size + size % 2
    return found
# Its rate and bits ("float"), and its samples as they are.
def read(name):
    found = chunks(name)
    kind, _, rate, _, _, bits = struct.unpack("<HHIIHH", found[b"fmt "][:16])
    if kind == 0xfffe:
        kind = int.from_bytes(found[b"fmt "][24:26], "little")
    data = found[b"data"]
    if kind == 3:
        return rate, "float", array.array("f", data)
    return rate, bits, [int.from_bytes(data[i:i + bits // 8], "little", signed=True) for i in range(0, len(data), bits // 8)]
def sine(rate, n, hz):
    return [0.5 * math.sin(2 * math.pi * hz * i / rate + 0.3) for i in range(n)]
# Samples of a .wav that the program makes of these, at another rate, without a chain.
def resample(rate, x, to):
    write("wavs-in.wav", rate, x)
    subprocess.run(["gst-tfx", "process", "-q", "-f", "--bits", "32", "--rate", str(to), "wavs-in.wav", "wavs-out.wav"], check=True)
    found, bits, y = read("wavs-out.wav")
    assert (found, bits) == (to, 32), (found, bits)
    return [v / 2 ** 31 for v in y]
def round_ratio(n, to, rate):
    return (2 * n * to + rate) // (2 * rate)
PY

# The products in double precision, rounded once; dither has two steps at most.  (GStreamer cuts
# off what 32 bits do not hold, then rounds these.)
check_bits() {
  local bits
  make floats.wav F32LE 3
  for bits in 16 24 32 float; do
    gst-tfx process -q -f --dither none --bits $bits floats.wav "bits-$bits.wav" 'Gain(0.3)' || return 1
  done
  gst-tfx process -q -f --bits 16 floats.wav dithered.wav 'Gain(0.3)' && python3 - << 'PY'
import wavs
wanted = [0.3 * x for x in wavs.read("floats.wav")[2]]
assert len(wanted) == 2 * 14400, len(wanted)
bounds = {16: 0.5 + 2 ** -8, 24: 0.5 + 2 ** -8, 32: 1.0}
for bits, bound in bounds.items():
    rate, found, y = wavs.read(f"bits-{bits}.wav")
    assert (rate, found, len(y)) == (48000, bits, len(wanted)), (rate, found, len(y))
    error = max(abs(v - w * 2 ** (bits - 1)) for v, w in zip(y, wanted))
    print(bits, error)
    assert error <= bound, (bits, error)
rate, found, y = wavs.read("bits-float.wav")
assert found == "float" and len(y) == len(wanted)
assert max(abs(v - w) for v, w in zip(y, wanted)) < 2 ** -25
rate, found, y = wavs.read("dithered.wav")
errors = [v - w * 2 ** 15 for v, w in zip(y, wanted)]
assert 1 < max(map(abs, errors)) <= 1.5 + 2 ** -8, max(map(abs, errors))
PY
}

# What a kind cannot hold fails, for that file alone, and nothing is left of it.
check_bits_refused() {
  gst-tfx process -q -f noise.wav in.flac 'Gain(1)' && rm -rf refused || return 1
  exits 1 "error: noise.wav: bits is 32, but flac in a .flac must have 16 or 24" gst-tfx process --bits 32 noise.wav refused.flac &&
    exits 1 "error: in.flac: bits is float, but flac in a .flac must have 16 or 24" gst-tfx process --bits float in.flac refused.flac &&
    exits 1 "bits is 24, but wavpack in a .wv must have 32" gst-tfx process --bits 24 noise.wav refused.wv || return 1
  local kind
  for kind in mp3/mp3 opus/opus vorbis/ogg opus/mka; do
    exits 1 "bits is 16, but ${kind%/*} in a .${kind#*/} is lossy, and has no number of bits" \
      gst-tfx process --bits 16 --codec "${kind%/*}" noise.wav "refused.${kind#*/}" || return 1
  done
  exits 1 "1 done, 1 failed" gst-tfx process --bits 32 -o refused noise.wav in.flac && [ -e refused/noise.wav ] &&
    [ ! -e refused/in.flac ] && ! ls refused.* && nothing_left . &&
    exits 1 "error: noise.wav: bits is 32" gst-tfx process --bits 32 -l -23 noise.wav refused.flac
}

# A sine is the ideal one at the new rate, but for both ends, and one above half of it is gone.
check_rate() {
  python3 - << 'PY'
import math, wavs
def db(x):
    return 20 * math.log10(max(x, 1e-12) / 0.5)
for rate, to, hz, bound in ((44100, 48000, 15000, -125), (48000, 44100, 997, -125), (96000, 44100, 15000, -125),
        (44100, 192000, 15000, -125), (48000, 8000, 3000, -125), (192000, 48000, 18000, -125), (44100, 44101, 15000, -100)):
    y = wavs.resample(rate, wavs.sine(rate, 6007, hz), to)
    ideal = wavs.sine(to, len(y), hz)
    edge = 50 + 160 * max(to, rate) // rate
    error = db(max(abs(a - b) for a, b in list(zip(y, ideal))[edge:-edge]))
    print(rate, to, len(y), round(error, 1))
    assert len(y) > 3 * edge and error < bound, (rate, to, error)
y = wavs.resample(96000, wavs.sine(96000, 6007, 30000), 44100)
error = db(max(map(abs, y[200:-200])))
assert error < -125, error
PY
}

# A rate that the encoder does not have becomes the next one as well as with --rate, before samples are rounded: a sine
# starts where it did, and there is as much of it.
check_rate_of_encoder() {
  python3 - << 'PY'
import math, subprocess, wavs
for rate, to, name in (384000, 192000, "kind.wv"), (700000, 655350, "kind.flac"), (44100, 48000, "kind.opus"), \
        (32000, 48000, "kind.opus"), (22050, 24000, "kind.opus"):
    n = 60007
    wavs.write("kind.wav", rate, wavs.sine(rate, n, 997))
    subprocess.run(["gst-tfx", "process", "-q", "-f", "kind.wav", name, "Gain(1)"], check=True)
    if to == 24000:
        head = open(name, "rb").read(200)
        at = head.index(b"OpusHead")
        assert int.from_bytes(head[at + 12:at + 16], "little") == to, head
        continue
    # (A copy without loss, by the program itself, reads it.)
    subprocess.run(["gst-tfx", "process", "-q", "-f", "--bits", "float", name, "kind-out.wav"], check=True)
    found, _, y = wavs.read("kind-out.wav")
    assert (found, len(y)) == (to, wavs.round_ratio(n, to, rate)), (name, found, len(y))
    if name == "kind.opus":
        continue
    ideal, edge = wavs.sine(to, len(y), 997), 1000
    error = 20 * math.log10(max(abs(a - b) for a, b in list(zip(y, ideal))[edge:-edge]) / 0.5)
    print(rate, to, name, round(error, 1))
    assert error < (-125 if name == "kind.wv" else -80), (name, error)
PY
}

check_rate_frames() {
  python3 - << 'PY'
import wavs
for rate, to in (44100, 48000), (48000, 44100), (96000, 8000), (8000, 96000), (11025, 44101), (192000, 500):
    for n in 0, 1, 7, 4096, 10007:
        y = wavs.resample(rate, [0.25] * n, to)
        assert len(y) == wavs.round_ratio(n, to, rate), (rate, to, n, len(y))
        # The level stays up to the end, where nothing follows.
        assert len(y) < 1000 or abs(y[len(y) // 2] - 0.25) < 1e-6, y[len(y) // 2]
PY
}

# The chain runs at the rate of the input, and no chain is needed.
check_rate_after() {
  make_wav format-wide.wav 4801 2 24 3 &&
    exits 0 "" gst-tfx process -f --rate 8000 format-wide.wav format-low.wav 'LoButterworth(20000)' && ! grep warning said.txt &&
    gst-tfx process -q -f --bits float format-wide.wav format-filtered.wav 'HiButterworth(5000)' &&
    gst-tfx process -q -f --bits 24 --rate 32000 format-filtered.wav format-twice.wav &&
    gst-tfx process -q -f --bits 24 --rate 32000 format-wide.wav format-once.wav 'HiButterworth(5000)' && python3 -c '
import wavs
a, b = (wavs.read(name) for name in ("format-once.wav", "format-twice.wav"))
assert a[:2] == b[:2] == (32000, 24) and len(a[2]) == len(b[2]) == 2 * wavs.round_ratio(4801, 32000, 48000)
error = max(abs(x - y) for x, y in zip(a[2], b[2]))
assert error <= 3, error' &&
    gst-tfx process -q --rate 32000 --bits 24 - - 'HiButterworth(5000)' < format-wide.wav | cat > format-piped.wav &&
    python3 -c '
data = [open(name, "rb").read() for name in ("format-once.wav", "format-piped.wav")]
assert len({wav[wav.index(b"data") + 8:] for wav in data}) == 1'
}

check_rate_loudness() {
  local rate
  make format-even.wav S16LE 30
  for rate in 8000 96000; do
    gst-tfx process --json -f -l -20 --rate $rate format-even.wav format-level.wav | tee level.txt && grep -q '"output": -20.00, "limited": false' level.txt &&
      integrated format-level.wav | awk '{ exit !($1 > -20.05 && $1 < -19.95) }' &&
      exits 0 "limited to -6 dBTP" gst-tfx process -f -l -3 --true-peak -6 --rate $rate format-even.wav format-loud.wav &&
      gst-tfx loudness format-loud.wav | tee peaks.txt | awk '$6 == "format-loud.wav" { good = $5 > -7 && $5 <= -6 } END { exit !good }' || return 1
  done
}

check_rate_refused() {
  exits 1 "error: noise.wav: rate is 22050 Hz, but opus in a .opus must have 8000, 12000, 16000, 24000 or 48000 Hz" \
    gst-tfx process --rate 22050 noise.wav refused.opus &&
    exits 1 "rate is 96000 Hz, but mp3 in a .mp3 must have 8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100 or 48000 Hz" \
      gst-tfx process --rate 96000 noise.wav refused.mp3 &&
    exits 1 "rate is 500 Hz, but wavpack in a .wv must have from 6000 to 192000 Hz" gst-tfx process --rate 500 noise.wav refused.wv &&
    python3 -c 'import wavs; wavs.write("fast.wav", 1000000000, [0.0] * 10); wavs.write("slow.wav", 1, [0.0] * 10)' &&
    exits 1 "error: fast.wav: its rate is 1000000000 Hz, but must be from 1 to 1000000 Hz for an output of 1000 Hz" \
      gst-tfx process --rate 1000 fast.wav refused.wav &&
    exits 1 "error: slow.wav: its rate is 1 Hz, but must be from 10 to 10000000 Hz for an output of 10000 Hz" \
      gst-tfx process --rate 10000 slow.wav refused.wav &&
    ! ls refused.* && nothing_left .
}

# Another format is another output, to the journal.
check_format_again() {
  local format
  rm -rf formats
  gst-tfx process -q -c 'Gain(1)' -o formats noise.wav || return 1
  for format in '--bits 24' '--bits float' '--rate 8000' '--rate 8000 --bits 24'; do
    # shellcheck disable=SC2086 # words
    exits 0 '1 done, 0 failed' gst-tfx process -f -c 'Gain(1)' -o formats $format noise.wav &&
      exits 0 '1 done before' gst-tfx process -f -c 'Gain(1)' -o formats $format noise.wav || return 1
  done
}

# A start that is counted in frames is the same time.
check_rate_start() {
  make_wav format-plain.wav 4800 1 24 0x4 && python3 -c '
import struct
wav = open("format-plain.wav", "rb").read()
chunk = lambda name, text: name + struct.pack("<I", len(text)) + text + bytes(len(text) % 2)
bext = bytes(338) + struct.pack("<QH", 5529600001, 1) + bytes(254)
ixml = b"<BWFXML><SPEED><FILE_SAMPLE_RATE>48000</FILE_SAMPLE_RATE><AUDIO_BIT_DEPTH>24</AUDIO_BIT_DEPTH></SPEED><BEXT>"
ixml += b"<BWF_TIME_REFERENCE_LOW>1234632705</BWF_TIME_REFERENCE_LOW><BWF_TIME_REFERENCE_HIGH>1</BWF_TIME_REFERENCE_HIGH></BEXT></BWFXML>"
cue = struct.pack("<III4sIII", 1, 1, 2400, b"data", 0, 0, 2400)
body = wav[8:] + chunk(b"cue ", cue) + chunk(b"bext", bext) + chunk(b"iXML", ixml)
open("format-start.wav", "wb").write(b"RIFF" + struct.pack("<I", len(body)) + body)' &&
    gst-tfx process -q -f --bits 16 --rate 96000 format-start.wav format-start2.wav "Gain(0.5)" && python3 -c '
import wavs
found = wavs.chunks("format-start2.wav")
assert int.from_bytes(found[b"bext"][338:346], "little") == 2 * 5529600001
assert int.from_bytes(found[b"cue "][8:12], "little") == 4800, found[b"cue "]
low, high = 2 * 5529600001 % 2 ** 32, 2 * 5529600001 >> 32
for name, value in ("FILE_SAMPLE_RATE", 96000), ("AUDIO_BIT_DEPTH", 16), ("BWF_TIME_REFERENCE_LOW", low), ("BWF_TIME_REFERENCE_HIGH", high):
    assert b"<%s>%d</%s>" % (name.encode(), value, name.encode()) in found[b"iXML"], found[b"iXML"]'
}

# Cues and their names stay, at any place in the file, behind chunks and sound of odd sizes too.
check_cues() {
  local name
  python3 - << 'PY' || return 1
import random, struct
def chunk(name, data):
    return name + struct.pack("<I", len(data)) + data + bytes(len(data) % 2)
def write(name, n, before, after):
    sound = chunk(b"data", random.Random(1).randbytes(3 * n))
    body = b"WAVE" + chunk(b"fmt ", struct.pack("<HHIIHH", 1, 1, 48000, 144000, 3, 24)) + before + sound + after
    open(name, "wb").write(b"RIFF" + struct.pack("<I", len(body)) + body)
cue = struct.pack("<I", 2) + b"".join(struct.pack("<II4sIII", i, 1200 * i, b"data", 0, 0, 1200 * i) for i in (1, 2))
names = b"adtl" + chunk(b"labl", struct.pack("<I", 1) + b"one\0") + chunk(b"ltxt", struct.pack("<II4sIHHH", 2, 600, b"rgn ", 0, 0, 0, 0)[:20])
cues, odd, bext = chunk(b"cue ", cue) + chunk(b"LIST", names), chunk(b"abcd", b"xyz"), chunk(b"bext", bytes(602))
for name, n, before, after in (("sound", 4801, b"", cues), ("before", 4800, odd + cues, b""), ("after", 4801, b"", odd + bext + cues),
        ("bext", 4800, bext + cues, b""), ("far", 4801, odd + bext, cues)):
    write(f"cues-{name}.wav", n, before, after)
PY
  for name in sound before after bext far; do
    gst-tfx process -q -f "cues-$name.wav" cued.wav 'Gain(0.5)' &&
      gst-tfx process -q -f --rate 96000 "cues-$name.wav" cued-twice.wav && python3 - << 'PY' || return 1
import struct, wavs
for name, ratio in ("cued.wav", 1), ("cued-twice.wav", 2):
    found = wavs.chunks(name)
    cue = [struct.unpack("<II4sIII", found[b"cue "][i:i + 24]) for i in (4, 28)]
    assert cue == [(i, 1200 * i * ratio, b"data", 0, 0, 1200 * i * ratio) for i in (1, 2)], (name, cue)
    names = found[b"LIST"]
    assert names[:4] == b"adtl" and b"one" in names, names
    at = names.index(b"ltxt")
    assert struct.unpack("<II", names[at + 8:at + 16]) == (2, 600 * ratio), (name, names)
    assert open(name, "rb").read().count(b"cue ") == 1
PY
  done
}

check_record_format() {
  gst-tfx record -q -f --bits 24 --rate 8000 -s 'audiotestsrc num-buffers=10 samplesperbuffer=4410 ! capsfilter caps=audio/x-raw,rate=44100,channels=1' \
    format-recorded.wav 'Gain(0.5)' && python3 -c '
import wavs
rate, bits, x = wavs.read("format-recorded.wav")
assert (rate, bits, len(x)) == (8000, 24, 8000), (rate, bits, len(x))' &&
    exits 2 "bits is '8', but must be 16, 24, 32 or float" gst-tfx record --bits 8 no.wav 'Gain(1)'
}

tap_case "process: bits" check_bits
tap_case "process: bits that a kind does not have" check_bits_refused
tap_case "process: bits that are none" exits 2 "bits is '20', but must be 16, 24, 32 or float" \
  gst-tfx process --bits 20 noise.wav x.wav
tap_case "process: a rate" check_rate
tap_case "process: cues of a WAV" check_cues
tap_case "process: a rate that the encoder does not have" check_rate_of_encoder
tap_case "process: a rate, and the number of frames" check_rate_frames
tap_case "process: a rate after the chain" check_rate_after
tap_case "process: a rate and a loudness" check_rate_loudness
tap_case "process: a rate that a kind does not have" check_rate_refused
tap_case "process: a rate that is none" exits 2 "rate is '48k', but must be a whole number from 100 to 10000000 Hz" \
  gst-tfx process --rate 48k noise.wav x.wav
tap_case "process: bits and a rate are done again" check_format_again
tap_case "process: a rate, and starts that are counted in frames" check_rate_start
tap_case "record: bits and a rate" check_record_format

# ---- no output is half of one ------------------------------------------------------

check_full_disk() {
  # A file may have no more than 100 blocks: a disk that is full for it.
  (
    ulimit -f 100
    trap '' XFSZ
    exits 1 "error: noise.wav: " gst-tfx process noise.wav full.wav 'Gain(1)'
  ) && [ ! -e full.wav ] && nothing_left .
}
tap_case "process: a full disk" check_full_disk

# A file system that has no locks, as far as the program sees.
check_no_locks() {
  printf '#include <errno.h>\nint flock (int f, int o) { errno = ENOLCK; return -1; }\n' |
    cc -shared -fPIC -x c -o nolocks.so - || return 1
  exits 1 "cannot write unlocked.wav: No locks available" env LD_PRELOAD=./nolocks.so \
    gst-tfx process noise.wav unlocked.wav 'Gain(1)' && [ ! -e unlocked.wav ] && nothing_left .
}
tap_case "process: a disk that has no locks" check_no_locks

# on_disk OPTIONS COMMAND...: with a file system of its own in disk/.
on_disk() {
  local options=$1
  shift
  # shellcheck disable=SC2016 # for the inner shell
  unshare --map-root-user --mount bash -c '
    mount -t tmpfs -o "$0" none disk && . "$1" && shift && "$@"' \
    "$options" "$top/functions" "$@"
}
mkdir disk

# noise.wav has 192 kB.  What is whole stays, what is not leaves no trace.
check_small_disk() {
  exits 1 "No space left" gst-tfx process noise.wav disk/x.wav 'Gain(1)' &&
    [ -z "$(ls -A disk)" ] && gst-tfx process -q short.wav disk/short.wav 'Gain(1)' &&
    exits 1 "0 done, 2 failed" gst-tfx process -o disk/out -c 'Gain(1)' noise.wav "new
line.wav" && nothing_left disk && [ -z "$(find disk -name '*e.wav')" ] &&
    [ -s disk/short.wav ] && grep -q '^begun' disk/out/.gst-tfx-journal &&
    ! grep -q '^done' disk/out/.gst-tfx-journal
}
check_read_only() {
  exits 1 "disk/x.wav: Read-only file system" gst-tfx process noise.wav disk/x.wav 'Gain(1)' &&
    exits 2 "disk/out: Read-only file system" gst-tfx process -o disk/out -c 'Gain(1)' noise.wav &&
    exits 1 "disk/x.svg" gst-tfx response -o disk/x.svg 'Gain(2)' &&
    exits 1 "disk/x.wav: Read-only file system" gst-tfx record -s 'audiotestsrc num-buffers=3' disk/x.wav 'Gain(1)' &&
    [ -z "$(ls -A disk)" ]
}
declare -f exits nothing_left check_small_disk check_read_only > "$top/functions"
if on_disk size=64k true; then
  make short.wav S16LE 1
  tap_case "process: a disk that is full" on_disk size=64k check_small_disk
  tap_case "a disk that is not for writing" on_disk ro check_read_only
else
  tap_skip "process: a disk that is full" "no file system can be mounted here"
  tap_skip "a disk that is not for writing" "no file system can be mounted here"
fi

# Killed at many moments, in one pass or in two: what has the name is whole.
check_killed() {
  local i n=0 passes
  make long.wav S16LE 300
  rm -f whole.wav
  gst-tfx process -q long.wav whole.wav 'Gain(0.5)' || return 1
  for i in $(seq 1 35); do
    rm -f killed.wav
    passes=()
    if [ $((i % 3)) -eq 0 ]; then passes=(-l -23); fi
    timeout -s KILL "0.0$((RANDOM % 90 + 10))" \
      gst-tfx process -q "${passes[@]}" long.wav killed.wav 'Gain(0.5)'
    if [ -e killed.wav ]; then
      [ "$(wc -c < killed.wav)" -eq "$(wc -c < whole.wav)" ] || return 1
      n=$((n + 1))
    fi
  done
  rm -f .killed.wav.*.part
  echo "$n of 35 came to their end"
}
tap_case "process: killed at any moment, no broken file has the name" check_killed

find_part() { compgen -G "$1.*.part"; }
# A chain of so many filters of order 64.
slow() { printf 'Gain(2)' && printf ' | LoButterworth(9000, order=64)%.0s' $(seq "$1"); }

# In the middle of what would take it ten seconds.
check_interrupted() {
  local worker status=0
  gst-tfx process -q long.wav interrupted.wav "DesignableFIR(1000, 100001) | $(slow 400)" &
  worker=$!
  tap_wait 120 find_part .interrupted.wav && kill -INT $worker
  wait $worker || status=$?
  echo "exit status $status"
  [ $status -eq 130 ] && [ ! -e interrupted.wav ] && nothing_left .
}
# As by "| head -1".
check_unread() {
  local status
  rm -rf unread && cp long.wav long-2.wav && cp long.wav long-3.wav || return 1
  gst-tfx process -j 2 -o unread -c "$(slow 40)" noise.wav long.wav long-2.wav long-3.wav 2> said.txt | true
  status=${PIPESTATUS[0]}
  cat said.txt
  [ "$status" -eq 130 ] && grep -q "Broken pipe" said.txt && grep -q "1 done, .* left" said.txt &&
    nothing_left unread && [ -e unread/noise.wav ] && [ ! -e unread/long-3.wav ]
}
tap_case "process: interrupted, and nothing is left" check_interrupted
tap_case "process: nobody reads what it says" check_unread

# ---- many files ---------------------------------------------------------------------

check_many() {
  local i status=0
  mkdir many
  for i in $(seq 1 20); do cp noise.wav "many/$i.wav"; done
  cp text.wav many/text.wav
  gst-tfx process -o out -c 'LoButterworth(1000)' many/*.wav > many.txt 2>&1 ||
    status=$?
  cat many.txt
  [ $status -eq 1 ] && [ "$(find out -name '*.wav' | wc -l)" -eq 20 ] &&
    grep -q '^error: many/text.wav: ' many.txt &&
    grep -q '^20 done, 1 failed$' many.txt && nothing_left out
}

# Of a file in a batch, as of one in two passes, the decoder once started before the
# converters did, and its first sound was lost: in one of ten .mp3.
check_first_sound() {
  local i
  make long-noise.wav S16LE 40 && gst-tfx process -q -f long-noise.wav first.mp3 'Gain(1)' &&
    mkdir first || return 1
  for i in $(seq 1 60); do ln first.mp3 "first/$i.mp3"; done
  gst-tfx process -q -o first-out -e wav -c 'Gain(0.5)' first &&
    md5sum first-out/*.wav | cut -d ' ' -f 1 | sort | uniq -c | tee first.txt &&
    [ "$(wc -l < first.txt)" -eq 1 ]
}

# Only what is new or different is done again.
check_again() {
  rm many/text.wav out/7.wav
  touch many/9.wav
  gst-tfx process -f -o out -c 'LoButterworth(1000)' many/*.wav > again.txt 2>&1 ||
    return 1
  cat again.txt
  grep -q '^2 done, 0 failed, 18 done before$' again.txt || return 1
  gst-tfx process -f -o out -c 'LoButterworth(2000)' many/*.wav 2>&1 |
    grep -q '^20 done, 0 failed$'
}

check_names() {
  mkdir -p "od
d"
  cp noise.wav "od
d/a b.wav"
  find od* -name '*.wav' -print0 |
    gst-tfx process -o named -c 'Gain(1)' -0 -T - -e flac &&
    [ -e "named/a b.flac" ]
}

check_base() {
  mkdir -p tree/a tree/b && cp noise.wav tree/a/same.wav && cp noise.wav tree/b/same.wav
  gst-tfx process -o kept -b tree --journal kept.journal -c 'Gain(1)' tree/*/*.wav &&
    cmp kept/a/same.wav kept/b/same.wav && [ ! -e kept/.gst-tfx-journal ] &&
    gst-tfx process -o kept -b tree --journal kept.journal -c 'Gain(1)' tree/*/*.wav 2>&1 |
    grep -q '2 done before'
}
check_base_root() {
  gst-tfx process -o rooted -b / -c 'Gain(1)' noise.wav && [ -e "rooted$PWD/noise.wav" ]
}

# Killed at many moments, started again: all are there, none was in the way.
check_killed_batch() {
  local i status=0
  for i in $(seq 1 40); do cp noise.wav "many/k$i.wav"; done
  for i in $(seq 1 15); do
    timeout -s KILL "0.$((RANDOM % 3))$((RANDOM % 10))" gst-tfx process -q -j 2 \
      -o batch -c 'LoButterworth(500)' many/k*.wav
    find batch -name '*.wav' -size -"$(sound_size noise.wav)"c | grep . && return 1
  done
  gst-tfx process -o batch -c 'LoButterworth(500)' many/k*.wav > batch.txt 2>&1 || return 1
  cat batch.txt
  for i in $(seq 1 40); do cmp batch/k1.wav "batch/k$i.wav" || return 1; done
  [ "$(grep -c '^done' batch/.gst-tfx-journal)" -eq 40 ] && nothing_left batch
}

# What was begun and is there was made by a run that was killed before it told: it is done again.
# What nothing tells of is another's.
check_begun() {
  gst-tfx process -o begun -c 'Gain(0.5)' noise.wav && sed -i '/^done/d' begun/.gst-tfx-journal &&
    exits 0 '1 done, 0 failed' gst-tfx process -o begun -c 'Gain(0.5)' noise.wav &&
    : > begun/.gst-tfx-journal &&
    exits 1 'begun/noise.wav exists' gst-tfx process -o begun -c 'Gain(0.5)' noise.wav &&
    exits 1 'begun/noise.wav exists' gst-tfx process -o begun -c 'Gain(0.5)' noise.wav
}

# Power failed: zeros are where the end of a line was to be, and other lines are behind them.
check_zeros() {
  gst-tfx process -o zeros -c 'Gain(0.5)' noise.wav && cp zeros/.gst-tfx-journal whole.journal &&
    { printf 'done\t1234' && head -c 100 /dev/zero && cat whole.journal; } > zeros/.gst-tfx-journal &&
    exits 0 '1 done before' gst-tfx process -o zeros -c 'Gain(0.5)' noise.wav &&
    { head -c -1 whole.journal && printf '\0\n'; } > zeros/.gst-tfx-journal &&
    exits 0 '1 done, 0 failed' gst-tfx process -o zeros -c 'Gain(0.5)' noise.wav &&
    head -c -1 whole.journal > zeros/.gst-tfx-journal &&
    exits 0 '1 done, 0 failed' gst-tfx process -o zeros -c 'Gain(0.5)' noise.wav
}

# A part of a line still fits.
check_journal_limit() {
  truncate -s $((65536 - 60)) limit.journal && (
    trap '' XFSZ
    ulimit -f 64
    exits 1 'the journal limit.journal: File too large' \
      gst-tfx process -o limit --journal limit.journal -c 'Gain(0.5)' noise.wav
  )
}

# Another impulse response makes another output; the same one under a new time does not.
check_file_changed() {
  printf '0.5\n' > response.txt
  gst-tfx process -o rooms -c "FIR('response.txt')" noise.wav && touch -d 2001-01-01 response.txt &&
    exits 0 '1 done before' gst-tfx process -o rooms -c "FIR('response.txt')" noise.wav &&
    printf '0.25\n' > response.txt &&
    exits 0 '1 done, 0 failed' gst-tfx process -f -o rooms -c "FIR('response.txt')" noise.wav &&
    gst-tfx process noise.wav quarter.wav 'Gain(0.25)' && cmp quarter.wav rooms/noise.wav
}

# What is done is the file as it was when it began, not as it is when that ends.  (The
# journal is a pipe, so that the file changes in between; with --allow-cut that is a warning.)
check_input_changed() {
  local begun ended
  cp noise.wav changing.wav && mkfifo journal.pipe
  timeout 60 gst-tfx process --allow-cut -o changed --journal journal.pipe -c "$(slow 50)" changing.wav &
  {
    read -r -t 60 && read -r -t 60 begun && touch -d 2001-01-01 changing.wav &&
      read -r -t 60 && read -r -t 60 ended
  } <> journal.pipe
  wait $! && echo "$begun, $ended" && [ "${begun#begun}" = "${ended#done}" ]
}

# Two names as long as can be that differ in their ends alone, at once.
check_long_names() {
  local name
  name=$(printf 'n%.0s' {1..245})
  cp noise.wav "$name-1.wav" && cp noise.wav "$name-2.wav" &&
    exits 0 '2 done, 0 failed' gst-tfx process -j 2 -o long -c 'Gain(0.5)' "$name"-?.wav
}

check_twice() {
  exits 0 '1 done, 0 failed' gst-tfx process -o twice -c 'Gain(0.5)' noise.wav noise.wav
}

# Filtered again by the next run, if that one is killed.
check_in_place() {
  mkdir own && cp noise.wav own/a.wav &&
    exits 2 "own/a.wav would be overwritten by its own output" \
      gst-tfx process -f -o ./own -c 'Gain(0.5)' own/a.wav && cmp own/a.wav noise.wav &&
    exits 1 "own/a.wav: it would be overwritten by its own output" \
      gst-tfx process -f own/a.wav ./own/../own/a.wav 'Gain(0.5)' && cmp own/a.wav noise.wav &&
    nothing_left own
}
# So is one that is a link to it, in both directions.
check_in_place_linked() {
  mkdir -p linked-in linked-out && cp noise.wav linked-out/a.wav && ln -s ../linked-out/a.wav linked-in/a.wav &&
    exits 1 "linked-in/a.wav: it would be overwritten by its own output" \
      gst-tfx process -f linked-in/a.wav linked-out/a.wav 'Gain(0.5)' &&
    exits 2 "linked-in/a.wav would be overwritten by its own output" \
      gst-tfx process -f -o linked-out -c 'Gain(0.5)' linked-in/a.wav && cmp linked-out/a.wav noise.wav &&
    exits 1 "linked-out/a.wav: it would be overwritten by its own output" \
      gst-tfx process -f linked-out/a.wav linked-in/a.wav 'Gain(0.5)' && cmp linked-out/a.wav noise.wav
}
# --force writes what a link leads to, and the mode of a file stays; a link of another user's is
# replaced.
check_forced() {
  mkdir forced && gst-tfx process noise.wav forced/half.wav 'Gain(0.5)' && cp noise.wav forced/there.wav &&
    chmod 640 forced/there.wav && ln -s there.wav forced/link.wav &&
    exits 1 "forced/link.wav exists" gst-tfx process noise.wav forced/link.wav 'Gain(0.5)' &&
    gst-tfx process -f noise.wav forced/link.wav 'Gain(0.5)' && [ -L forced/link.wav ] &&
    cmp forced/there.wav forced/half.wav && [ "$(stat -c %a forced/there.wav)" = 640 ] &&
    nothing_left forced || return 1
  if [ "$(id -u)" -eq 0 ]; then
    ln -s ../noise.wav forced/foreign.wav && chown -h 1 forced/foreign.wav &&
      cp noise.wav forced.copy && gst-tfx process -f tagged.flac forced/foreign.wav 'Gain(0.5)' &&
      [ ! -L forced/foreign.wav ] && cmp noise.wav forced.copy
  fi
}

# Closed streams give their places to no file.
check_closed_streams() {
  gst-tfx process -o closed -c 'Gain(0.5)' noise.wav absent.wav >&- 2>&-
  [ $? -eq 1 ] && ! grep -v -E '^(|(begun|done)[[:blank:]].*)$' closed/.gst-tfx-journal &&
    [ "$(sound_size closed/noise.wav)" -eq "$(sound_size noise.wav)" ] || return 1
  exits 2 "cannot read -: Bad file descriptor" \
    gst-tfx process -o closed -c 'Gain(0.5)' -T - <&- &&
    exits 2 "cannot read many: Is a directory" gst-tfx process -o closed -c 'Gain(0.5)' -T many
}

# What nobody can read is not "done".
check_full_output() {
  gst-tfx response 'Gain(2)' 2> full.txt > /dev/full
  [ $? -eq 1 ] && grep "cannot write to standard output: No space left" full.txt
}

# Names are bytes, also where the locale has no such letters.
check_locale() {
  printf '0.5\n' > ünï.txt && cp noise.wav ünï.wav &&
    LC_ALL=C gst-tfx process --json -f -c "FIR('ünï.txt')" ünï.wav ö.wav | tee locale.txt &&
    grep -q '"input": "ünï.wav", "output": "ö.wav", "status": "done"' locale.txt &&
    [ "$(wc -l < locale.txt)" -eq 1 ]
}

check_dashes() {
  cp noise.wav ./-dash.wav &&
    exits 0 "2 done, 0 failed" gst-tfx process -o dashes -c 'Gain(0.5)' noise.wav -- -dash.wav &&
    gst-tfx process noise.wav -- -out.wav 'Gain(0.5)' && [ -e ./-out.wav ]
}

check_nohup() {
  (
    trap '' HUP
    exec gst-tfx process noise.wav hung-up.wav "$(slow 50)"
  ) &
  local worker=$!
  while kill -0 $worker && ! find_part .hung-up.wav; do sleep 0.01; done
  kill -HUP $worker
  wait $worker && [ -e hung-up.wav ]
}

# Of a terminal of 20 columns no line is too long.
check_narrow() {
  python3 - << 'PY'
import fcntl, os, pty, re, struct, termios
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 20, 0, 0))
    os.execlp("sh", "sh", "-c", "exec gst-tfx process -o narrow -c 'Gain(0.5)' many/*.wav > /dev/null")
text = b""
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    if not piece:
        break
    text += piece
assert os.waitpid(pid, 0)[1] == 0
lines = re.findall(r"\r\x1b\[K([^\r\n]*%[^\r\n]*)", text.decode())
print(lines)
assert lines and max(map(len, lines)) == 19, lines
PY
}

# A process that was killed between the two names of its output leaves both.
check_killed_linking() {
  gst-tfx process noise.wav linked.wav 'Gain(0.5)' && cp linked.wav linked.copy &&
    ln linked.wav ".linked.wav.$(uname -n).part" && ln linked.wav ".linked.wav.$(uname -n).0123abcd.part" &&
    exits 1 "text.wav: " gst-tfx process -f text.wav linked.wav 'Gain(0.25)' &&
    cmp linked.wav linked.copy && nothing_left .
}

# In a folder that others write to: links under the names of what is written are not
# followed, and no name becomes a command.
check_links() {
  mkdir shared && echo precious > precious.txt && cp precious.txt precious.copy || return 1
  ln -s ../precious.txt "shared/.out.wav.$(uname -n).part"
  exits 1 ".out.wav.$(uname -n).part in its folder is a link, or belongs to another user" \
    gst-tfx process noise.wav shared/out.wav 'Gain(0.5)' || return 1
  rm shared/.out.wav.*
  ln -s ../precious.txt shared/out.wav
  exits 1 "shared/out.wav exists" gst-tfx process noise.wav shared/out.wav 'Gain(0.5)' && rm shared/out.wav || return 1
  ln -s ../precious.txt shared/.gst-tfx-journal
  exits 2 "the journal shared/.gst-tfx-journal: it is a link" \
    gst-tfx process -o shared -c 'Gain(0.5)' noise.wav && cmp precious.txt precious.copy &&
    rm shared/.gst-tfx-journal && cp noise.wav 'shared/a;touch run;b$(touch run).wav' || return 1
  for i in 0 1; do gst-tfx process -o names -c 'Gain(0.5)' shared/a*.wav 2> names.txt || return 1; done
  grep 'done before' names.txt && ! grep '[;$(]' names/.gst-tfx-journal && nothing_left shared
}

# Bytes that are not UTF-8: escaped on a terminal, found again from JSON and the journal.
check_bytes() {
  local name=$'m\xfcsik.wav' i
  cp noise.wav "$name" || return 1
  gst-tfx process "$name" out-"$name" 'Gain(0.5)' | grep -F 'out-m\xfcsik.wav' && [ -s "out-$name" ] &&
    exits 1 'no-m\xfcsik.wav' gst-tfx process "no-$name" none.wav 'Gain(0.5)' &&
    gst-tfx spectrum -o bytes.svg "$name" && grep -F 'm\xfcsik.wav' bytes.svg &&
    gst-tfx process --json -o bytes -c 'Gain(0.5)' "$name" > bytes.json || return 1
  gst-tfx process -o bytes -c 'Gain(0.5)' "$name" 2>&1 | grep 'done before' || return 1
  python3 -c '
import json, os
line = json.load(open("bytes.json", encoding="utf-8"))
assert os.path.exists(os.fsencode(line["output"])), line'
}

# Many at once: each is refused or whole, and the last one stays.
check_crowd() {
  local i
  for i in $(seq 40); do gst-tfx process -q -f noise.wav crowd.wav 'Gain(0.5)' & done > crowd.txt 2>&1
  wait
  sort crowd.txt | uniq -c
  ! grep -v "another gst-tfx is writing crowd.wav" crowd.txt &&
    gst-tfx process -f noise.wav alone.wav 'Gain(0.5)' && cmp crowd.wav alone.wav && nothing_left .
}

tap_case "process: many files, one of them no sound" check_many
tap_case "process: many .mp3, with their first sound" check_first_sound
tap_case "process: goes on where it was" check_again
tap_case "process: names from standard input, another kind" check_names
tap_case "process: folders are kept, a journal elsewhere" check_base
tap_case "process: --base is the root" check_base_root
tap_case "process: an input beside --base" exits 2 "is not below the folder" \
  gst-tfx process -o kept -b tree -c 'Gain(1)' noise.wav
tap_case "process: an input beside --base, whose name begins like it" exits 2 "is not below the folder" \
  gst-tfx process -o kept -b many/1 -c 'Gain(1)' many/10.wav
tap_case "process: killed and started again" check_killed_batch
tap_case "process: 40 files at once" exits 0 "done, 0 failed" \
  gst-tfx process -j 50 -o fifty -c 'Gain(0.5)' many/k*.wav
tap_case "process: begun, and killed before that was told" check_begun
tap_case "process: a journal with zeros in it" check_zeros
tap_case "process: a journal that part of a line fits in" check_journal_limit
tap_case "process: a file in the chain has changed" check_file_changed
tap_case "process: an input that changes meanwhile" check_input_changed
tap_case "process: long names" check_long_names
tap_case "process: a file that is named twice" check_twice
tap_case "process: an output that is its input" check_in_place
tap_case "process: an input that is a link to its output" check_in_place_linked
tap_case "process: --force, a link and a mode" check_forced
tap_case "process: names behind --" check_dashes
tap_case "process: a terminal that is narrow" check_narrow
tap_case "process: hung up under nohup" check_nohup
tap_case "process: killed while the output gets its name" check_killed_linking
tap_case "process: 40 processes and one output" check_crowd
tap_case "process: links in a shared folder" check_links
tap_case "process: names that are not UTF-8" check_bytes
tap_case "process: a journal that is a device" exits 1 "the journal /dev/full: No space left" \
  gst-tfx process -o device --journal /dev/full -c 'Gain(0.5)' noise.wav
tap_case "streams that are closed" check_closed_streams
tap_case "standard output that is full" check_full_output
tap_case "a locale without letters" check_locale
tap_case "process: two files of one name" exits 2 "would both become" \
  gst-tfx process -o two -c 'Gain(1)' many/1.wav out/1.wav

# ---- manifests ------------------------------------------------------------------------

# manifest_value FILE OUTPUT KEY: as the manifest has it
manifest_value() {
  python3 -c '
import json, sys
with open(sys.argv[1]) as f:
    print(*(e[sys.argv[3]] for e in map(json.loads, f) if e.get("output") == sys.argv[2]))' "$@"
}
# change_sample FILE: the lowest bit of a sample of a WAV
change_sample() {
  python3 - "$1" << 'PY'
import sys
wav = bytearray(open(sys.argv[1], "rb").read())
wav[wav.index(b"data") + 8 + 4000] ^= 1
open(sys.argv[1], "wb").write(wav)
PY
}

# An entry for each output, in the order of the inputs, whatever the number of jobs.
check_manifest() {
  local kind name=$'it\'s [odd]\n\xff\xc3\xbc "\\u0041".wav'
  mkdir record && cp noise.wav record/a.wav && cp noise.wav "record/$name" || return 1
  for kind in flac wv mp3 ogg; do gst-tfx process -q noise.wav record/b.$kind 'Gain(0.5)' || return 1; done
  gst-tfx process -q -j 1 -o recorded --manifest made.jsonl -c 'HiButterworth(80) | Limiter(-6)' record &&
    mv recorded recorded-1 && mv made.jsonl made-1.jsonl &&
    gst-tfx process -q -j 4 -o recorded --manifest made.jsonl -c 'HiButterworth(80) | Limiter(-6)' record &&
    cat made.jsonl && cmp made.jsonl made-1.jsonl && [ "$(wc -l < made.jsonl)" -eq 7 ] &&
    exits 0 "6 ok, 0 differ" gst-tfx verify made.jsonl && [ -z "$(gst-tfx verify -q -j 1 made.jsonl 2>&1)" ] ||
    return 1
  # What the manifest says, by other programs.
  [ "$(manifest_value made.jsonl recorded/a.wav input_sha256)" = "$(decode record/a.wav | sha256sum | cut -d ' ' -f 1)" ] &&
    [ "$(manifest_value made.jsonl recorded/b.flac output_sha256)" = "$(decode recorded/b.flac | sha256sum | cut -d ' ' -f 1)" ] &&
    [ "$(manifest_value made.jsonl recorded/b.mp3 output_frames)" -eq 48000 ] &&
    [ "$(manifest_value made.jsonl recorded/b.flac output_channels)" -eq 2 ] &&
    gst-tfx loudness --json recorded/a.wav |
    grep -q "\"integrated\": $(manifest_value made.jsonl recorded/a.wav output_lufs)0*, .*\"true_peak\": $(manifest_value made.jsonl recorded/a.wav output_true_peak)0*,"
}
tap_case "manifest: of all kinds, in any number of jobs" check_manifest

# An entry is that of the last run; the journal's "done" without one is not enough.
check_manifest_again() {
  local chain='HiButterworth(80) | Limiter(-6)'
  cp made.jsonl before.jsonl
  exits 0 "0 done, 0 failed, 6 done before" gst-tfx process -o recorded --manifest made.jsonl -c "$chain" record &&
    cmp made.jsonl before.jsonl && sed -i -e '1s/6}/5}/' -e '3d' made.jsonl &&
    exits 0 "1 done, 0 failed, 5 done before" gst-tfx process -o recorded --manifest made.jsonl -c "$chain" record &&
    exits 0 "6 ok" gst-tfx verify made.jsonl && [ "$(wc -l < made.jsonl)" -eq 7 ] &&
    exits 0 "1 done" gst-tfx process -f -o recorded --manifest made.jsonl -c 'Gain(0.5)' record/a.wav &&
    exits 0 "6 ok" gst-tfx verify made.jsonl && [ "$(wc -l < made.jsonl)" -eq 7 ] &&
    [ "$(manifest_value made.jsonl recorded/a.wav chain)" = 'Gain(0.5)' ] && nothing_left . &&
    cp made-1.jsonl made.jsonl && rm -rf recorded && mv recorded-1 recorded
}
tap_case "manifest: a second run" check_manifest_again
check_manifest_tail() {
  gst-tfx process -q -o tailed --manifest tailed.jsonl --tail 1s -l -23 -c 'Reverb()' record/a.wav record/b.flac &&
    gst-tfx verify tailed.jsonl && sed -i 's/"tail": "1s"/"tail": "2s"/' tailed.jsonl && ! gst-tfx verify tailed.jsonl &&
    exits 2 "--manifest cannot record --album, --replaygain or --key" gst-tfx process --manifest no.jsonl --replaygain noise.wav no.flac
}
tap_case "manifest: a tail" check_manifest_tail

# Each difference is named, and no other file differs.
check_verify() {
  cp record/a.wav a.kept && cp recorded/a.wav out.kept && change_sample record/a.wav &&
    exits 1 "recorded/a.wav: differs: the input has changed: other samples" gst-tfx verify made.jsonl &&
    grep -qx "5 ok, 1 differ" said.txt && cp a.kept record/a.wav && change_sample recorded/a.wav &&
    exits 1 "recorded/a.wav: differs: the output has changed: other samples" gst-tfx verify made.jsonl &&
    grep -qx "5 ok, 1 differ" said.txt && rm recorded/a.wav record/b.flac &&
    exits 1 "recorded/a.wav: differs: the output is missing" gst-tfx verify made.jsonl &&
    grep -qx "recorded/b.flac: differs: the input record/b.flac is missing" said.txt &&
    cp out.kept recorded/a.wav && cp recorded/b.flac record/b.flac &&
    exits 1 "recorded/b.flac: differs: the input has changed: other samples" gst-tfx verify made.jsonl &&
    cp noise.wav recorded/b.mp3 && gst-tfx process -q -f noise.wav recorded/b.wv 'Gain(1)' &&
    exits 1 "recorded/b.wv: differs: the output has changed: other samples" gst-tfx verify made.jsonl &&
    grep -q "recorded/b.mp3: differs: the output has changed" said.txt
}
tap_case "verify: a changed or missing file" check_verify

# sed EXPRESSION: of the line of recorded/a.wav
changed() { sed "/\"recorded.a.wav\"/$1" made-1.jsonl > changed.jsonl; }
check_verify_result() {
  changed 's/Limiter(-6)/Limiter(-7)/' &&
    exits 1 "recorded/a.wav: differs: the chain, a file that it names or an option is not the recorded one" \
      gst-tfx verify changed.jsonl && changed 's/Limiter(-6)/Limitr(-6)/' &&
    exits 1 "recorded/a.wav: differs: its options are not valid" gst-tfx verify changed.jsonl &&
    changed 's/"result_sha256": "./"result_sha256": "x/' &&
    exits 1 "recorded/a.wav: differs: the chain gives another result" gst-tfx verify changed.jsonl &&
    changed 's/"input_rate": 48000/"input_rate": 44100/' &&
    exits 1 "the input has changed: rate 48000, recorded 44100" gst-tfx verify changed.jsonl &&
    changed 's/"gst_tfx": "[^"]*", /"gst_tfx": "0.0.1", /; s/"result_sha256": "./"result_sha256": "x/' &&
    exits 1 "another result (recorded by gst-tfx 0.0.1 with GStreamer" gst-tfx verify changed.jsonl &&
    changed 's/"kernel": "[^"]*"/"kernel": "cpu mmx"/' &&
    exits 1 "recorded/a.wav: differs: the result cannot be compared on this machine: the kernel was cpu mmx" \
      gst-tfx verify changed.jsonl
}
tap_case "verify: a changed manifest" check_verify_result
check_verify_damaged() {
  head -c -20 made-1.jsonl > damaged.jsonl &&
    exits 2 "damaged.jsonl, line 7: it is not a whole JSON object" gst-tfx verify damaged.jsonl &&
    head -n 4 made-1.jsonl > damaged.jsonl &&
    exits 2 "damaged.jsonl, line 5: it ends before the 6 files of line 1" gst-tfx verify damaged.jsonl &&
    cat made-1.jsonl made-1.jsonl > damaged.jsonl &&
    exits 2 "damaged.jsonl, line 8: it has more or fewer than the 6 files of line 1" gst-tfx verify damaged.jsonl &&
    sed '3s/"kernel": "[^"]*", //' made-1.jsonl > damaged.jsonl &&
    exits 2 'damaged.jsonl, line 3: it has no "kernel"' gst-tfx verify damaged.jsonl &&
    exits 2 "text.wav, line 1: it does not begin as a manifest does" gst-tfx verify text.wav &&
    exits 2 "no-such.jsonl" gst-tfx verify no-such.jsonl &&
    exits 2 "rew.txt, line 1" gst-tfx process --manifest rew.txt noise.wav never.wav 'Gain(1)' &&
    exits 2 "the manifest no-such/x.jsonl cannot be written" \
      gst-tfx process --manifest no-such/x.jsonl noise.wav never.wav 'Gain(1)' &&
    exits 2 "has the name of a sound file" gst-tfx process --manifest never.wav noise.wav never.flac 'Gain(1)' &&
    exits 2 "--manifest needs files" gst-tfx process --manifest x.jsonl noise.wav - 'Gain(1)' &&
    [ ! -e never.wav ] && [ ! -e x.jsonl ]
}
tap_case "verify: a damaged manifest" check_verify_damaged

# What a chain names, and the other options that change samples.
check_verify_options() {
  printf '0.5\n0.25\n' > taps.txt && rm -f options.jsonl &&
    gst-tfx process -q -f --manifest options.jsonl -l -20 --true-peak -3 --dither rpdf --noise-shaping simple \
      --bits 24 --rate 44100 noise.wav options.wav -c "FIR('taps.txt') | Gain(4)" &&
    exits 0 "1 ok" gst-tfx verify options.jsonl && cat options.jsonl &&
    [ "$(manifest_value options.jsonl options.wav true_peak)" = -3 ] && printf '0.5\n0.26\n' > taps.txt &&
    exits 1 "a file that it names or an option is not" gst-tfx verify options.jsonl
}
tap_case "verify: options and files of a chain" check_verify_options

# Each kernel has a process of its own.
check_verify_kernels() {
  rm -f kernels.jsonl && gst-tfx process -q -f --manifest kernels.jsonl noise.wav k1.wav 'LoButterworth(1000, order=8)' &&
    TFX_CPU=c gst-tfx process -q -f --manifest kernels.jsonl noise.wav k2.wav 'LoButterworth(1000, order=8)' &&
    [ "$(manifest_value kernels.jsonl k2.wav kernel)" = "cpu c" ] && exits 0 "k1.wav: ok" gst-tfx verify kernels.jsonl &&
    [ "$(grep -cx "k2.wav: ok" said.txt)" -eq 1 ] && change_sample k2.wav && exits 1 "k1.wav: ok" gst-tfx verify kernels.jsonl &&
    grep -q "^k2.wav: differs: the output has changed" said.txt
}
tap_case "verify: several kernels" check_verify_kernels

# The samples of one sound come from .wav, .flac and .mka in other buffers.
check_manifest_buffers() {
  local kind
  gst-tfx process -q -f --dither none noise.wav cut.flac 'Gain(1)' &&
    gst-tfx process -q -f --dither none noise.wav cut.mka 'Gain(1)' && cp noise.wav cut.wav && rm -f cut.jsonl || return 1
  for kind in wav flac mka; do
    gst-tfx process -q -f --manifest cut.jsonl cut.$kind cut-$kind.wav 'HiButterworth(80) | Compressor() | Reverb()' || return 1
  done
  for kind in wav flac mka; do
    echo "$(manifest_value cut.jsonl cut-$kind.wav input_sha256) $(manifest_value cut.jsonl cut-$kind.wav result_sha256)"
  done | sort | uniq -c | tee cut.txt && [ "$(awk 'NF == 3' cut.txt | wc -l)" -eq 1 ]
}
tap_case "manifest: buffers of other sizes" check_manifest_buffers

# ---- a folder that is watched -------------------------------------------------------

same() {
  local name
  for name in "${@:2}"; do cmp "$1" "$name" || return 1; done
}

# One file is there, one is written slowly, one comes under its name at once; one changes later.
check_watch() {
  local watcher status=0
  mkdir drop
  cp noise.wav drop/first.wav && cp noise.wav drop/.hidden.wav
  gst-tfx process noise.wav x.wav 'Gain(0.5)' && gst-tfx process -f x.wav quarter.wav 'Gain(0.5)' && rm x.wav || return 1
  gst-tfx watch -o dropped -c 'Gain(0.5)' drop > watch.txt 2>&1 &
  watcher=$!
  { head -c 20000 noise.wav && sleep 0.8 && tail -c +20001 noise.wav; } > drop/slow.wav
  cp noise.wav drop/.hidden && mv drop/.hidden drop/last.wav
  tap_wait 120 same dropped/first.wav dropped/slow.wav dropped/last.wav
  cp dropped/first.wav drop/slow.wav && tap_wait 120 same quarter.wav dropped/slow.wav
  kill -INT $watcher
  wait $watcher || status=$?
  cat watch.txt
  [ $status -eq 0 ] && same dropped/first.wav dropped/last.wav && same quarter.wav dropped/slow.wav &&
    nothing_left dropped && [ ! -e dropped/.hidden ] && [ ! -e dropped/.hidden.wav ]
}
# A copy that keeps size and time, in place of a file that an earlier watch has done: one
# under the same name, and one in the same file.
check_watch_copies() {
  local watcher status=0
  mkdir alike && make_wav one.wav 48000 2 16 3 && python3 - << 'PY'
data = open("one.wav", "rb").read()
open("two.wav", "wb").write(data[:-400] + bytes(400))
PY
  touch -d 2020-01-01 one.wav two.wav
  gst-tfx process two.wav want-two.wav 'Gain(0.5)' || return 1
  cp -p one.wav alike/a.wav && cp -p one.wav alike/b.wav &&
    gst-tfx process -o likened -c 'Gain(0.5)' alike/a.wav alike/b.wav || return 1
  gst-tfx watch -o likened -c 'Gain(0.5)' alike > watch.txt 2>&1 &
  watcher=$!
  sleep 3
  cp -p two.wav alike/.new && mv alike/.new alike/a.wav && cp -p two.wav alike/b.wav
  tap_wait 60 same want-two.wav likened/a.wav likened/b.wav || status=1
  kill -INT $watcher
  wait $watcher || status=$?
  cat watch.txt
  [ $status -eq 0 ] && grep -q '2 done, 0 failed, 2 done before' watch.txt
}
# What is done is not counted again: of one file that comes there is no "of 2 files".
check_watch_progress() {
  mkdir slowly && make ten.wav S16LE 100 && cp ten.wav slowly/1.wav && python3 - "$(slow 400)" << 'PY'
import os, pty, re, shutil, signal, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execlp("gst-tfx", "gst-tfx", "watch", "-o", "slowed", "-c", sys.argv[1], "slowly")
text = b""
def read_until(pattern):
    global text
    while not re.search(pattern, text):
        text += os.read(terminal, 4096)
read_until(rb"slowed/1\.wav")
shutil.copy("ten.wav", "slowly/2.wav")
text = b""
read_until(rb"slowed/2\.wav")
os.kill(pid, signal.SIGINT)
assert os.waitpid(pid, 0)[1] == 0
print(text)
assert b" %" in text and b"files" not in text
PY
}
tap_case "watch: each file, as it is in the end" check_watch
tap_case "watch: a copy with the same size and time" check_watch_copies
tap_case "watch: how far it has come" check_watch_progress
tap_case "watch: not its own outputs" exits 2 "cannot be the folder of the outputs" \
  gst-tfx watch -o drop -c 'Gain(1)' drop
tap_case "watch: a folder that is none" exits 1 "absent" \
  gst-tfx watch -o dropped -c 'Gain(1)' absent

# ---- a microphone --------------------------------------------------------------------

# A source that has an end, and one that is interrupted.
check_record() {
  local recorder status=0 size
  gst-tfx record -s 'audiotestsrc wave=square num-buffers=10 volume=0.5 ! capsfilter caps=audio/x-raw,rate=48000,channels=1' \
    recorded.wav 'Gain(0.5)' | tee record.txt && grep -q '(0.2 s of sound)' record.txt ||
    return 1
  decode recorded.wav | python3 -c '
import array, sys
a = array.array("f", sys.stdin.buffer.read())
assert len(a) == 10240 and abs(max(a) - 0.25) < 1e-3, (len(a), max(a))' || return 1
  gst-tfx record -s 'audiotestsrc is-live=true' live.flac 'Gain(0.5)' &
  recorder=$!
  tap_wait 120 grows live.flac || return 1
  kill -INT $recorder
  wait $recorder || status=$?
  size=$(decode live.flac | wc -c)
  echo "exit status $status, $size bytes"
  [ $status -eq 0 ] && [ "$size" -gt 4000 ] && nothing_left .
}
# The second one comes before the first one has done its work.
check_record_twice() {
  local recorder status=0
  gst-tfx record -s 'audiotestsrc is-live=true' twice.wav 'Gain(0.5)' > said.txt 2>&1 &
  recorder=$!
  tap_wait 120 grows twice.wav || return 1
  kill -INT $recorder && sleep 0.02 && kill -INT $recorder
  wait $recorder || status=$?
  cat said.txt
  [ $status -eq 0 ] && grep -q '^twice.wav (.* of sound)$' said.txt && nothing_left . &&
    exits 0 '"status": "done"' gst-tfx process --json -f twice.wav x.wav 'Gain(1)' && rm x.wav
}
# A source that takes five seconds to end is not waited for; what there is is kept.
check_record_stuck() {
  local recorder status=0
  gst-tfx record -s 'audiotestsrc samplesperbuffer=44100 ! identity sleep-time=5000000' stuck.wav 'Gain(0.5)' > said.txt 2>&1 &
  recorder=$!
  tap_wait 120 grows stuck.wav || return 1
  kill -INT $recorder && sleep 2.2 && kill -INT $recorder
  wait $recorder || status=$?
  cat said.txt
  [ $status -eq 130 ] && grep -q 'stuck.wav holds what was recorded so far' said.txt && nothing_left . &&
    [ "$(decode stuck.wav | wc -c)" -ge $((4 * 44100)) ]
}
# It is named once.
check_record_exists() {
  exits 1 "error: noise.wav exists (--force overwrites it)" gst-tfx record -s 'audiotestsrc num-buffers=3' noise.wav 'Gain(1)'
}
check_record_nobody() {
  exits 1 "error: GStreamer finds no microphone here" env ALSA_CONFIG_PATH=/dev/null PULSE_SERVER=unix:/absent \
    XDG_RUNTIME_DIR=/absent PIPEWIRE_REMOTE=absent JACK_NO_START_SERVER=1 timeout 20 gst-tfx record nobody.wav 'Gain(1)' &&
    [ ! -e nobody.wav ] && nothing_left .
}
# grows FILE: what is being written has something in it.
grows() {
  find . -maxdepth 1 -name ".$1.*.part" -size +4k | grep .
}
check_two_writers() {
  local first
  gst-tfx record -s 'audiotestsrc is-live=true' both.wav 'Gain(0.5)' &
  first=$!
  tap_wait 120 grows both.wav || return 1
  exits 1 "another gst-tfx is writing both.wav" gst-tfx process noise.wav both.wav 'Gain(1)'
  local status=$?
  kill -INT $first
  wait $first && [ $status -eq 0 ]
}
# Of a source whose messages leave no pause.
check_busy_source() {
  local recorder
  gst-tfx record -s 'audiotestsrc is-live=true samplesperbuffer=441 ! level interval=10000000' \
    busy.wav 'Gain(0.5)' &
  recorder=$!
  tap_wait 120 grows busy.wav && kill -INT $recorder && tap_wait 60 ends $recorder && wait $recorder
  local status=$?
  kill -KILL $recorder 2> /dev/null
  return $status
}
# ends PROCESS
ends() { ! kill -0 "$1"; }
tap_case "process: another one writes the same" check_two_writers
tap_case "record: a source that says much is interrupted" check_busy_source
tap_case "record: until the end, until interrupted" check_record
tap_case "record: two interrupts" check_record_twice
tap_case "record: two interrupts, and a source that does not end" check_record_stuck
tap_case "record: no microphone" check_record_nobody
tap_case "record: an output that exists" check_record_exists
tap_case "record: a source that is none" exits 1 "the source 'nosuchsrc': no element" \
  gst-tfx record -s nosuchsrc x.wav 'Gain(1)'
tap_case "record: no chain" exits 2 "there is no chain: give it in quotes, or by --chain" gst-tfx record x.wav

# ---- to the loudspeakers ---------------------------------------------------------------

# A sink that writes what would be heard; keys come from a pipe.
to_file="capsfilter caps=audio/x-raw,format=F32LE,rate=48000,channels=2 ! filesink location=heard.raw sync=true"
check_play() {
  make steady.wav F32LE 5
  gst-tfx play -o "$to_file" steady.wav 'Gain(0.5)' < /dev/null || return 1
  decode steady.wav > a
  python3 -c '
import array
a, b = (array.array("f", open(n, "rb").read()) for n in ("a", "heard.raw"))
assert len(a) == len(b), (len(a), len(b))
assert [0.5 * x for x in a] == list(b)'
}
# Turned up by 12 semitones, a factor of 2, once it is heard, and ended when that is.
check_play_keys() {
  rm -f heard.raw
  { tap_wait 120 has_level 0.4; printf '++++++++++++'; tap_wait 120 has_level 0.8; printf 'lq'; sleep 1; } |
    gst-tfx play -o "$to_file" -s 'audiotestsrc is-live=true wave=square volume=0.8' - \
      'Gain(0.5)' > play.txt 2>&1 || return 1
  cat play.txt
  grep -q '> gain0::gain = 1$' play.txt && [ "$(tail -n 1 play.txt)" = 'Gain(1)' ] && has_level 0.8
}
# Whole numbers go by one, decibels by a half, others by a semitone, or from 0; in front of the first
# one is the last one.  Without the chain, and with it again, they are the same; so they are where
# it ends without the chain.
check_play_knobs() {
  local keys
  for keys in 'n+n-n+n+ppppp-bblq' 'n+n-n+n+ppppp-lbq'; do
    printf %s "$keys" | timeout 50 gst-tfx play -o fakesink -s 'audiotestsrc is-live=true' - \
      'LoButterworth(1000, order=2) | Compressor(-20, attack=0)' 2>&1 | tee play.txt
    cmp play.txt - << 'END' || return 1
  lobutterworth0::cutoff = 1000
  lobutterworth0::order = 3
  compressor0::threshold = -20.5
  compressor0::ratio = 4.23785
  compressor0::attack = 0.01
  compressor0::release = 0.05
  compressor0::knee = 6
> compressor0::makeup-gain = -0.5
LoButterworth(1000, order=3) | Compressor(threshold=-20.5, ratio=4.23785, attack=0.01, makeup_gain=-0.5)
END
  done
  gst-tfx check "$(tail -n 1 play.txt)"
}
check_play_help() {
  printf '?q' | timeout 50 gst-tfx play -o fakesink -s 'audiotestsrc is-live=true' - 'Gain(1)' 2>&1 | tee play.txt
  grep -q '^  b  *bypass the chain' play.txt && grep -q '^  q  *quit' play.txt && ! grep Gain play.txt
}
# It ends by a key long before the sound does.
check_play_quits() {
  make minute.wav S16LE 600
  { sleep 0.3; printf 'b'; sleep 0.2; printf 'b q'; sleep 1; } |
    timeout 50 gst-tfx play -o "fakesink sync=true" minute.wav 'LoButterworth(1000)'
}
check_play_follows() {
  echo 'Gain(0.5)' > live.chain
  gst-tfx play -C live.chain -o "$to_file" -s 'audiotestsrc is-live=true wave=square volume=0.8' - < /dev/null &
  local player=$!
  tap_wait 120 has_level 0.4 && echo 'Gain(0.25)  # softer' > live.chain && tap_wait 120 has_level 0.2
  local status=$?
  kill -INT $player
  wait $player
  [ $? -eq 130 ] && [ $status -eq 0 ]
}
# A chain that looks ahead comes and goes; one that is in a file is its file's again, with
# the files that it names, and the values that were turned.
check_play_bypass() {
  make_wav steps.wav 960000 2 16 3
  { sleep 1; printf b; sleep 1; printf b; sleep 1; printf q; sleep 1; } |
    timeout 50 gst-tfx play -o "fakesink sync=true" steps.wav 'Limiter(-10, lookahead=0.2)' \
      > play.txt 2>&1 || return 1
  mkdir -p chains && echo 1 > chains/one.txt && echo "FIR('one.txt') | Gain(0.5)" > chains/live.chain
  rm -f heard.raw
  { tap_wait 120 has_level 0.4; printf 'p++++++++++++'; tap_wait 120 has_level 0.8; printf b
    sleep 1; printf b; sleep 1; tap_wait 120 has_level 0.8
    echo "FIR('one.txt') | Gain(0.25)" > chains/live.chain; tap_wait 120 has_level 0.2; printf lq; sleep 1; } |
    timeout 90 gst-tfx play -C chains/live.chain -o "$to_file" \
      -s 'audiotestsrc is-live=true wave=square volume=0.8' - >> play.txt 2>&1 || return 1
  cat play.txt
  ! grep warning play.txt && has_level 0.2 && gst-tfx check "$(tail -n 1 play.txt)" | grep -q "chains/one.txt.*Gain(0.25)"
}
# A live sound waits for as long as the chain looks ahead, also when that changes.
check_play_latency() {
  echo 'l=Limiter(0, lookahead=0.001)' > late.chain
  { sleep 1; echo 'l=Limiter(0, lookahead=0.5)' > late.chain; sleep 3; printf q; sleep 1; } |
    GST_DEBUG=basesink:5 GST_DEBUG_FILE=sink.log timeout 50 gst-tfx play -C late.chain \
      -o "fakesink name=end sync=true" -s 'audiotestsrc is-live=true' - || return 1
  grep -o 'latency set to 0:00:00.5[0-9]*' sink.log
}
# What is heard last has this peak.
has_level() {
  tail -c 8000 heard.raw | python3 -c '
import array, sys
a = array.array("f", sys.stdin.buffer.read()[:7680])
sys.exit(not a or abs(max(a) - float(sys.argv[1])) > 1e-3)' "$1"
}
tap_case "play: a file to its end" check_play
tap_case "play: keys change a parameter" check_play_keys
tap_case "play: keys go from parameter to parameter" check_play_knobs
tap_case "play: the keys are shown" check_play_help
tap_case "play: a key ends it" check_play_quits
tap_case "play: the chain's file is followed" check_play_follows
tap_case "play: without the chain and with it again" check_play_bypass
tap_case "play: a look-ahead that grows is waited for" check_play_latency
# Nothing that ALSA and the servers of sound have can be opened.
tap_case "play: no loudspeakers" exits 1 "GStreamer finds no loudspeakers here" env \
  ALSA_CONFIG_PATH=/dev/null PULSE_SERVER=unix:/absent XDG_RUNTIME_DIR=/absent \
  PIPEWIRE_REMOTE=absent JACK_NO_START_SERVER=1 gst-tfx play noise.wav 'Gain(1)'
check_play_colon() {
  cp noise.wav 'take:1 100%.wav' && timeout 50 gst-tfx play -o fakesink 'take:1 100%.wav' 'Gain(1)' < /dev/null
}
tap_case "play: a file whose name looks like an address" check_play_colon
tap_case "play: a file that is none" exits 1 "error: absent.wav: cannot be read: No such file" \
  gst-tfx play -o fakesink absent.wav 'Gain(1)'

# ---- presets ---------------------------------------------------------------------

tap_case "process: a preset" env GST_PRESET_PATH="$root/gst/presets" \
  gst-tfx process -p 'Rumble filter' noise.wav preset.wav
tap_case "process: a preset that is none" env GST_PRESET_PATH="$root/gst/presets" bash -c '
  ! gst-tfx process -p Rumbel noise.wav preset2.wav 2> presets.txt &&
    grep -q "no preset .Rumbel.; the presets are .Crossover, high half., .Crossover, low half., " presets.txt'

tap_case "list: presets" env GST_PRESET_PATH="$root/gst/presets" bash -c '
  gst-tfx list presets | tee presets.txt && grep -q -x "Telephone band" presets.txt &&
    while read -r name; do gst-tfx check --preset "$name" > /dev/null || exit 1; done < presets.txt'

# ---- a chain of one's own, measured ----------------------------------------------------

check_bench() {
  gst-tfx bench -s 0 --channels 1,3 -n 64,100 -d cpu 'LoButterworth(1000) | Gain(2)' | tee bench.csv
  [ "$(grep -c -E '^[13],(64|100),cpu,cpu,[a-z0-9]+,[0-9.]+,[0-9.]+$' bench.csv)" -eq 4 ]
}
# A line of the picture for each number of channels on each device, over the lengths.
check_bench_picture() {
  gst-tfx bench -s 0 --channels 1,2 -n 64,128,256 -d auto,cpu -o bench.svg 'Gain(2)' > bench.csv &&
    [ "$(wc -l < bench.csv)" -eq 13 ] && python3 -c '
import xml.etree.ElementTree as e
t = e.parse("bench.svg").getroot()
n = "{http://www.w3.org/2000/svg}"
d = [p.get("d") for p in t.iter(n + "path") if p.get("class") == "curve"]
texts = [p.text for p in t.iter(n + "text")]
assert len(d) == 4 and all(c.count("L") == 2 for c in d), d
assert {"Gain(2)", "64", "128", "256", "1 channel, auto", "2 channels, cpu"} <= set(texts), texts
' && gst-tfx bench -s 0 --channels 1 -n 64 -o bench2.csv 'Gain(2)' | cmp - /dev/null &&
    [ "$(wc -l < bench2.csv)" -eq 2 ]
}
# A number of channels that the chain does not take costs the others nothing.
check_bench_leaves_out() {
  exits 0 "skipped: the chain does not run with 1 channel at 48000 Hz: " \
    gst-tfx bench -s 0 --channels 1,2,3 -n 64,128 -d cpu -o some.svg 'Mix([[1, 1]])' || return 1
  [ "$(grep -c '^2,' said.txt)" -eq 2 ] && [ "$(grep -c '^skipped' said.txt)" -eq 2 ] &&
    [ "$(grep -c "class='curve'" some.svg)" -eq 1 ] &&
    exits 1 "with 3 channels" gst-tfx bench -s 0 --channels 3 -n 64 -o none.svg 'Mix([[1, 1]])' &&
    [ ! -e none.svg ]
}
tap_case "bench: a line for each shape" check_bench
tap_case "bench: channels that the chain does not take" check_bench_leaves_out
tap_case "bench: a picture" check_bench_picture
tap_case "bench: a number that is none" exits 2 "channels is '1,zwei', but must be" \
  gst-tfx bench --channels 1,zwei 'Gain(2)'
tap_case "bench: no number at all" exits 2 "channels is '', but must be" gst-tfx bench --channels '' 'Gain(2)'
tap_case "bench: no device at all" exits 2 "a device is '', but must be" gst-tfx bench -d '' 'Gain(2)'
tap_case "bench: a time below 0" exits 2 "seconds is -1, but must be 0 or more" \
  gst-tfx bench -s -1 'Gain(2)'
tap_case "bench: no rate" exits 2 "rate is 0 Hz, but must be above 0" gst-tfx bench -r 0 'Gain(2)'
tap_case "response: no rate" exits 2 "rate is 0 Hz, but must be above 0" \
  gst-tfx response -r 0 'Gain(2)'
tap_case "bench: a device that is none" exits 2 "must be auto, cpu or cuda" \
  gst-tfx bench -d abacus 'Gain(2)'

# ---- devices -----------------------------------------------------------------------

# Without a driver, and on the stand-in for one, where the build has that.
check_devices() {
  local standin=$build/tests/cuda
  # With what stands in for the compiler, where nvcc was not there.
  local -x XDG_CACHE_HOME=$PWD/cache
  CUDA_VISIBLE_DEVICES='' exits 0 "cpu   runs it (kernel" gst-tfx devices \
    'HiButterworth(80) | Gain(2)' || return 1
  grep -q '^cuda  ' said.txt && [ "$(grep -c -E '^ +[0-9]+ +[0-9]+  (cpu|cuda) ' said.txt)" -eq 7 ] || return 1
  [ -e "$standin/libcuda.so.1" ] || return 0
  local -x LD_LIBRARY_PATH=$standin:$standin/nvrtc
  exits 0 "cuda  runs it (kernel" gst-tfx devices 'HiButterworth(80)' &&
    exits 0 \
    "cuda  does not run it: a stage of the chain has no kernel for it" gst-tfx devices 'Loudness(None)'
}
tap_case "devices: where a chain runs, and why not elsewhere" check_devices
tap_case "devices: a chain that changes nothing" exits 0 "cpu   has nothing to run" \
  gst-tfx devices 'Gain(1)'
tap_case "devices: a chain that does not fit" exits 1 "rows of 3 numbers, but its input has 2" \
  gst-tfx devices 'Mix([[1, 1, 1]])'
tap_case "devices: two chains" exits 2 "devices takes one chain" \
  gst-tfx devices -c 'Gain(2)' 'Gain(3)'

# ---- the response -----------------------------------------------------------------------

# A Butterworth filter's at its cutoff: half the power, and 45 degrees for each order.
check_response_csv() {
  gst-tfx response --from 1000 --to 2000 -n 2 'LoButterworth(1000, order=2)' | tee response.csv
  # Its phase falls by sqrt (2) / (2 pi 1000 Hz) there, prewarped.
  [ "$(sed -n 2p response.csv | cut -d, -f1-3)" = "1000,-3.01029996,-90.000000" ] &&
    sed -n 2p response.csv | awk -F, '{ exit !($4 > 0.225 && $4 < 0.2264) }'
}
# Up to half the rate, of any channel.
check_response_options() {
  gst-tfx response --rate 8000 --from 100 -n 3 --channel 3 'ch[3]: LoButterworth(100, order=2)' | tee response.csv
  [ "$(sed -n 2p response.csv | cut -d, -f1-3)" = "100,-3.01029996,-90.000000" ] &&
    [ "$(cut -d, -f1 response.csv | tr '\n' ' ')" = "frequency_hz 100 632.45553 4000 " ] &&
    sed -n 2p response.csv | awk -F, '{ exit !($4 > 2.24 && $4 < 2.26) }' &&
    exits 2 "points is 1, but must be from 2" gst-tfx response -n 1 'Gain(2)'
}
check_response_svg() {
  gst-tfx response -o curve.svg 'HiButterworth(80) | Echo(0.1, 0.3) & 1' && return 1
  gst-tfx response -o curve.svg 'HiButterworth(80) | ParametricEQ(3000, 1, 6)' &&
    python3 -c '
import sys, xml.etree.ElementTree as e
t = e.parse("curve.svg").getroot()
n = "{http://www.w3.org/2000/svg}"
d = [p.get("d") for p in t.iter(n + "path") if p.get("class") == "curve"]
ys = [float(w.split()[1]) for w in d[0][1:].split("L")]
assert len(d) == 1 and len(ys) >= 400
assert ys[0] > ys[200] > min(ys)  # the bass is lower than the middle, that than the peak
'
}
# has_labels FILE LEAST: as many below its axis, none on another one, no word beyond the edge by
# the widths of DejaVu Sans, and nothing that XML has not.
has_labels() {
  python3 - "$@" << 'PY'
import sys, xml.etree.ElementTree as e
svg = e.parse(sys.argv[1]).getroot()
texts = [t for t in svg.iter("{http://www.w3.org/2000/svg}text") if t.get("x") != "16.0"]  # which is upright
width = lambda text: sum(12.5 if c in "MWmw" or c > "\u2fff" else 4.5 if c in " .,|()il" else 8 for c in text)
places = []
for t in texts:
    x, n, anchor = float(t.get("x")), width(t.text), t.get("text-anchor")
    left = x - {"start": 0, "middle": n / 2, "end": n}[anchor]
    assert left >= 0 and left + n <= 800, t.text
    if t.get("y") == "368.0":
        places.append((left, left + n))
places.sort()
print(places)
assert len(places) >= int(sys.argv[2]) and all(a[1] < b[0] for a, b in zip(places, places[1:]))
PY
}
check_labels() {
  local wide
  wide=$(printf 'MMMMWWWW%d=Gain(2) | ' $(seq 20))
  gst-tfx response -o labels.svg --from 1000 --to 1900 "$wide Gain(1) # $(printf '\1')" && has_labels labels.svg 4 &&
    gst-tfx response -o labels.svg --from 0.00001 --rate 1000000 --to 500000 'Gain(2)' && has_labels labels.svg 10 &&
    gst-tfx response -o labels.svg --from 20 --to 20000 'Gain(2)' && has_labels labels.svg 10 || return 1
  cp noise.wav WWWWWWWWWWWWWWWWWWWWWWWW.wav && cp noise.wav 録音録音録音録音録音録音録音録音.wav &&
    cp noise.wav "$(printf 'a\1&\n<.wav')" &&
    gst-tfx spectrum -o labels.svg WWW*.wav 録音*.wav a?'&'*.wav && has_labels labels.svg 10 &&
    gst-tfx bench -s 0 --channels 1,2 -n 1024,64,65,66,1000 -d cpu -o labels.svg 'Gain(2)' && has_labels labels.svg 2
}
# is_png FILE WIDTH HEIGHT
is_png() {
  [ "$(head -c 24 "$1" | od -An -tx1 | tr -d ' \n')" = \
    "89504e470d0a1a0a0000000d49484452$(printf '%08x%08x' "$2" "$3")" ]
}
# Where librsvg is for GStreamer, and where it is not.
check_response_png() {
  mkdir -p empty
  exits 1 "element rsvgdec (Debian: gstreamer1.0-plugins-bad); .svg needs none" env \
    GST_REGISTRY="$PWD/empty/registry" GST_PLUGIN_SYSTEM_PATH_1_0="$PWD/empty" \
    gst-tfx response -o curve.png 'LoButterworth(1000)' && [ ! -e curve.png ] || return 1
  gst-inspect-1.0 --exists rsvgdec || { echo "no rsvgdec here" && return 0; }
  gst-tfx response -o curve.png 'LoButterworth(1000)' && is_png curve.png 800 400
}
# Not on any grid: all notches are as deep, in a table and in a picture of any grid.
check_response_notches() {
  local n
  gst-tfx response 'Hum(50)' > hum.csv
  [ "$(awk -F, '$2 < -100 { print $1, $2 }' hum.csv | tr '\n' ';')" = \
    "50 -400;100 -400;150 -400;200 -400;250 -400;300 -400;350 -400;400 -400;" ] || return 1
  # Zeros that are no section's.
  gst-tfx response 'FIR([1, 0, 0, 0, 1])' | awk -F, '$2 < -100 { n++; if ($2 != -400) bad = 1 }
    END { exit n != 2 || bad }' || return 1
  for n in 2 10 123; do
    gst-tfx response -n "$n" -o hum.svg 'Hum(50)' && python3 -c '
import math, re
path = re.search("class=.curve.*? d=.M([^/\x27]*).", open("hum.svg").read()).group(1)
low = [x for x, y in (map(float, p.split()) for p in path.split("L")) if y > 400]
wanted = [66 + 714 * math.log(f / 20) / math.log(1000) for f in range(50, 450, 50)]
assert len(low) == 8 and all(abs(a - b) < 0.02 for a, b in zip(low, wanted)), (low, wanted)
' || return 1
  done
}
# Between any two points of a grid: 0.1 % of the range wide.
check_response_peak() {
  gst-tfx response "Peaking(1234.5, 2000, 20, 'db')" | awk -F, '
    NR > 1 && $2 > most { most = $2; at = $1 } END { print most, at; exit most < 19.99 || at != 1234.5 }'
}
# A grid that is asked for is all that there is in a table.
check_response_grid() {
  gst-tfx response --from 100 --to 1600 -n 5 'Hum(50)' | cut -d, -f1 | tr '\n' ' ' | tee grid.txt
  [ "$(cat grid.txt)" = "frequency_hz 100 200 400 800 1600 " ] &&
    [ "$(gst-tfx response -n 217 'Hum(50)' | wc -l)" -eq 218 ] &&
    [ "$(gst-tfx response 'Hum(50)' | wc -l)" -gt 500 ]
}
# From any channel to any other one; which there are.
check_response_mix() {
  local mix='Mix([[0.5, 0.25], [0, 2], [1, 0]])'
  [ "$(gst-tfx response -n 2 --channel 1:0 "$mix" | sed -n 2p)" = "20,-12.0411998,0.000000,0.000000" ] &&
    [ "$(gst-tfx response -n 2 --channel 0:2 "$mix" | sed -n 2p)" = "20,0,0.000000,0.000000" ] &&
    [ "$(gst-tfx response -n 2 "$mix" | sed -n 1p)" = "frequency_hz,$(
      for pair in '0 to 0' '0 to 2' '1 to 0' '1 to 1'; do
        printf 'gain_db %s,phase_degrees %s,group_delay_ms %s,' "$pair" "$pair" "$pair"
      done | sed 's/,$//')" ] || return 1
  exits 2 "channel 7: the chain takes 2 channels (0-1)" gst-tfx response --channel 7 "$mix" &&
    exits 2 "channel 7: the chain has 2 channels (0-1)" gst-tfx response --channel 7 'Mix([[1, 0], [0, 1]])' &&
    exits 2 "channel 1:3: the chain puts out 3 channels (0-2)" gst-tfx response --channel 1:3 "$mix" &&
    exits 2 "channel is '64', but must be from 0 to 63, or IN:OUT" gst-tfx response --channel 64 "$mix" &&
    exits 2 "channel is '1:', but must be" gst-tfx response --channel 1: "$mix" &&
    exits 0 "nothing goes from channel 0 to channel 0; these do: --channel 1:0" \
      gst-tfx response -n 2 --channel 0 'Mix([[0, 1], [1, 0]])'
}
# texts FILE: what a picture says, a line each; curves FILE: how many curves it has
texts() { sed -n 's/.*<text[^>]*>\(.*\)<\/text>.*/\1/p' "$1"; }
curves() { grep -c "class='curve'" "$1"; }
# The lowest and the highest level of the scale of a picture, which stand left of it.
levels() {
  sed -n "s/.*<text x='60.0' .*>\(.*\)<\/text>.*/\1/p" "$1" | sort -g | sed -n '1p;$p' | tr '\n' ' '
}
# A curve for all channels that are the same, with a word for each.
check_response_channels() {
  gst-tfx response -o channels.svg \
    'ch[0, 1, 2]: LoButterworth(2000); ch[3]: HiButterworth(80); ch[5]: Gain(2)' &&
    [ "$(curves channels.svg)" -eq 4 ] && texts channels.svg > texts.txt &&
    grep -q -x 'channels 0-2' texts.txt && grep -q -x 'channel 5' texts.txt &&
    gst-tfx response -o channels.svg 'HiButterworth(80)' && [ "$(curves channels.svg)" -eq 1 ] &&
    ! texts channels.svg | grep channel || return 1
  # More than there is room for.
  gst-tfx response -o channels.svg "$(seq 0 18 | sed 's/.*/ch[&]: Gain(2&)/' | paste -sd ';')" &&
    texts channels.svg | grep -x 'and 5 more'
}
# A scale that fits, or the one that is asked for.
check_response_range() {
  gst-tfx response -o room.svg 'ParametricEQ(63, q=4, gain=-6) | ParametricEQ(3000, q=1, gain=5)' &&
    [ "$(levels room.svg)" = "-8 6 " ] &&
    gst-tfx response -o room.svg 'LoButterworth(1000, order=32)' && [ "$(levels room.svg)" = "-70 10 " ] &&
    gst-tfx response -o room.svg 'LoElliptic(3000, order=9, stopband_attenuation=70)' &&
    [ "$(levels room.svg)" = "-100 20 " ] &&
    gst-tfx response -o room.svg 'Gain(2)' && [ "$(levels room.svg)" = "2 10 " ] || { levels room.svg && return 1; }
  gst-tfx response -o room.svg --range -30:12 'Gain(2)' && [ "$(levels room.svg)" = "-30 10 " ] &&
    gst-tfx response -o room.svg --range=−30:10 'Gain(2)' && [ "$(levels room.svg)" = "-30 10 " ] &&
    gst-tfx spectrum -o room.svg --range -150:-30 noise.wav && [ "$(levels room.svg)" = "-140 -40 " ] || return 1
  for range in 12 12:-30 a:b 1:2: -30:12dB; do
    exits 2 "range is '$range', but must be the lowest and the highest level" \
      gst-tfx response --range "$range" 'Gain(2)' || return 1
  done
}
# Below the gain, with the same axis.
check_response_parts() {
  gst-tfx response --phase --delay -o parts.svg 'AllPass(1000, q=50)' && [ "$(curves parts.svg)" -eq 3 ] &&
    texts parts.svg > texts.txt && grep -q "height='800'" parts.svg &&
    grep -q -x 'Gain (dB)' texts.txt && grep -q -x 'Phase (degrees)' texts.txt &&
    grep -q -x 'Group delay (ms)' texts.txt && [ "$(grep -c -x 1k texts.txt)" -eq 1 ] &&
    gst-tfx response 'AllPass(1000, q=50)' | awk -F, '
      NR > 1 && $4 > most { most = $4 } END { exit most < 31.9 || most > 31.93 }'
}
# A zero has no minus.
check_response_zero() {
  gst-tfx response 'Gain(2)' > zero.csv && ! grep -E -e '-0(\.0*)?(,|$)' zero.csv
}
tap_case "response: a table" check_response_csv
tap_case "response: notches between the points of a grid" check_response_notches
tap_case "response: a peak between the points of a grid" check_response_peak
tap_case "response: a grid that is asked for" check_response_grid
tap_case "response: from one channel to another" check_response_mix
tap_case "response: all channels" check_response_channels
tap_case "response, spectrum: the scale" check_response_range
tap_case "response: phase and delay" check_response_parts
tap_case "response: no zero has a minus" check_response_zero
tap_case "response: what the rate does not allow" exits 0 "warning: cutoff of stage 'lobutterworth0'" \
  gst-tfx response -n 2 'LoButterworth(30000)'
tap_case "response: another rate and channel" check_response_options
check_no_minus_zero() {
  gst-tfx response 'Gain(2)' > response.csv && [ "$(wc -l < response.csv)" -gt 100 ] &&
    ! grep -E ',-0\.0*(,|$)' response.csv
}
tap_case "response: no -0" check_no_minus_zero
# Also with files that the chain names, from its own folder on.
check_response_file() {
  mkdir -p rooms && printf '0.5\n' > rooms/half.txt &&
    echo "FIR('half.txt')  # half" > rooms/half.chain &&
    gst-tfx response -C rooms/half.chain > file.csv && gst-tfx response 'Gain(0.5)' > text.csv &&
    cmp file.csv text.csv &&
    gst-tfx response -C rooms/half.chain -o file.svg && ! grep -q '# half' file.svg &&
    gst-tfx bench --channels 1 -n 64 -s 0.01 --chain-file rooms/half.chain | grep -q '^1,64,' &&
    exits 2 "response takes one chain, in quotes, or in a file" gst-tfx response -C rooms/half.chain 'Gain(2)' &&
    exits 2 "give the output by --output: gst-tfx response --output hum.svg 'Hum(50)'" gst-tfx response 'Hum(50)' hum.svg &&
    exits 2 "bench takes one chain" gst-tfx bench &&
    exits 2 "No such file" gst-tfx response --chain-file rooms/none.chain
}
tap_case "response, bench: a chain in a file" check_response_file
tap_case "response: a picture" check_response_svg
tap_case "pictures: labels that can be read" check_labels
tap_case "response: a picture in PNG, and what that needs" check_response_png
tap_case "response: no such folder" exits 1 "none/x.svg cannot be written: " \
  gst-tfx response 'Gain(0.5)' --output none/x.svg
tap_case "response: a picture of no kind" exits 2 "its name must end in .svg, .png or .csv" \
  gst-tfx response -o curve.gif 'Gain(2)'
tap_case "response: frequencies that are none" exits 2 "must rise from above 0" \
  gst-tfx response --from 100 --to 30000 'Gain(2)'

# ---- the spectrum -----------------------------------------------------------------------

# A sine at full scale has a power of 0 dB, and there is nothing an octave
# away from it.
check_sine() {
  gst-launch-1.0 -q audiotestsrc freq=1000 volume=1 num-buffers=100 ! \
    audio/x-raw,rate=48000,format=F32LE ! wavenc ! filesink location=full.wav
  gst-tfx spectrum full.wav | tee spectrum.csv | awk -F, '
    /^# file 1 rate 48000 channels 1 frames 102400 seconds 2.133333 peak 1.0/ { told = 1 }
    !/^[#f]/ && $1 > 950 && $1 < 1050 {
      # Each line is a mean over 1/24 octave.
      power += 10 ^ ($2 / 10) * $1 * (2 ^ (1 / 48) - 2 ^ (-1 / 48)) }
    !/^[#f]/ && ($1 < 500 || $1 > 2000) && $2 > far { far = $2 }
    BEGIN { far = -400 }
    END { db = 10 * log (power) / log (10)
          print db " dB, far away " far " dB"
          exit !told || db < -0.5 || db > 0.5 || far > -120 }'
}
# Windows of 65536 frames overlap by half, so that what comes behind the first one is seen.  Where
# bins are further apart than lines, these lie between them.
check_windows() {
  gst-launch-1.0 -q audiotestsrc wave=silence num-buffers=64 samplesperbuffer=1024 ! \
    audio/x-raw,rate=48000,format=F32LE ! concat name=c ! wavenc ! filesink location=late.wav \
    audiotestsrc freq=1000 num-buffers=32 samplesperbuffer=1024 ! audio/x-raw,rate=48000,format=F32LE ! c. &&
    gst-tfx spectrum late.wav | tee spectrum.csv | awk -F, '
      !/^[#f]/ && $2 > most { most = $2 }
      BEGIN { most = -400 }
      END { exit most < -60 }' &&
    gst-tfx spectrum noise.wav | tee spectrum.csv | awk -F, '
      # (Of random noise two may be the same to a thousandth of a dB by chance.)
      !/^[#f]/ && $1 < 20 { n++; n_same += $2 == before; before = $2 }
      END { exit n != 24 || n_same > 3 }'
}
# One sample in the middle of a window, the lowest that there is, has one level at all lines, up to
# half the rate: 10 Hz by ten octaves.  Above that it has none beside a file of a higher rate.
check_level() {
  python3 -c '
import wave
w = wave.open("one.wav", "wb")
w.setparams((1, 2, 20480, 0, "NONE", ""))
w.writeframes(bytes(2 * 16384) + b"\0\x80" + bytes(2 * 16383))' &&
    gst-tfx spectrum one.wav | tee spectrum.csv | python3 -c '
import sys
told, _, *lines = sys.stdin
levels = [float(line.split(",")[1]) for line in lines]
assert "frames 32768 " in told and "peak 1.000000" in told, told
assert len(levels) == 241 and all(abs(a - levels[120]) < 0.02 for a in levels), levels' &&
    gst-tfx spectrum noise.wav one.wav | tail -n 1 | grep '^2[0-9.]*,-[0-9.]*,nan$'
}
# The spectrum of noise is its profile: it falls by the reduction, within the rounding of the table.
check_profile() {
  gst-launch-1.0 -q audiotestsrc wave=white-noise volume=0.1 num-buffers=200 ! \
    audio/x-raw,rate=48000,format=F32LE ! wavenc ! filesink location=hiss.wav &&
    gst-tfx spectrum -o hiss.csv hiss.wav && gst-tfx process hiss.wav less.wav "Denoise(12, profile='hiss.csv')" &&
    gst-tfx spectrum --from 1000 hiss.wav less.wav | tee spectrum.csv | awk -F, '
      !/^[#f]/ { n++; fall = $2 - $3; n_off += fall < 11.8 || fall > 12.2 }
      END { exit n < 100 || n_off > 0 }'
}
# Two curves, with their files' names; no more than eight.
check_spectra() {
  gst-tfx spectrum -o both.svg full.wav noise.wav && grep -q '>full.wav</text>' both.svg &&
    grep -q '>noise.wav</text>' both.svg && [ "$(grep -c "class='curve'" both.svg)" -eq 2 ] || return 1
  local eight=(noise.wav noise.wav noise.wav noise.wav noise.wav noise.wav noise.wav noise.wav)
  gst-tfx spectrum -o eight.csv "${eight[@]}" &&
    exits 2 "spectrum takes from 1 to 8 files" gst-tfx spectrum full.wav "${eight[@]}"
}
# A part of the spectra, and the scale that the levels there need: about -47 dBFS/Hz of noise, and 65 dB
# less.  It is never less than 60 dB, nor more than 120 dB.
check_spectrum_view() {
  gst-tfx spectrum --from 40 --to 60 noise.wav > part.csv && [ "$(grep -c '^[4-6][0-9]*[.,]' part.csv)" -eq 15 ] &&
    [ "$(wc -l < part.csv)" -eq 17 ] && gst-tfx spectrum -o part.svg --from 40 --to 60 noise.wav &&
    texts part.svg | grep -qx 40 && texts part.svg | grep -qx 60 && ! texts part.svg | grep -qx 100 &&
    gst-tfx spectrum -o part.svg --to 15 noise.wav && texts part.svg | grep -qx 10 &&
    gst-tfx spectrum -o part.svg --from 21000 noise.wav && texts part.svg | grep -qx 23k &&
    gst-tfx process -f "new
line.wav" soft.wav "Gain(-65, 'db')" && gst-tfx spectrum -o part.svg --from 1000 noise.wav &&
    [ "$(levels part.svg)" = "-100 -40 " ] && gst-tfx spectrum -o part.svg --from 1000 noise.wav soft.wav &&
    [ "$(levels part.svg)" = "-120 -40 " ] && gst-tfx spectrum -o part.svg full.wav && [ "$(levels part.svg)" = "-120 -20 " ] ||
    { levels part.svg && return 1; }
  local range
  for range in "--from 5" "--from 60 --to 40" "--from 60 --to 61" "--from 40000" "--to -1"; do
    # shellcheck disable=SC2086 # words
    exits 2 "they must rise from 10 Hz or more" gst-tfx spectrum $range noise.wav || return 1
  done
}
# A file may say of itself what it wants: this one 2 GHz.
check_spectrum_rate() {
  make rate.wav U8 1 && python3 -c '
wav = bytearray(open("rate.wav", "rb").read())
wav[22:32] = bytes([1, 0]) + 2 * (2000000000).to_bytes(4, "little")
wav[32:34] = bytes([1, 0])
open("rate.wav", "wb").write(wav)' &&
    exits 1 "rate.wav: its rate is 2000000000 Hz, but must be from 1 to 10000000 Hz" \
      timeout -s KILL 60 gst-tfx spectrum rate.wav
}
tap_case "spectrum: a sine at full scale" check_sine
tap_case "spectrum: windows that overlap, lines between bins" check_windows
tap_case "spectrum: one sample, which is level up to half the rate" check_level
tap_case "spectrum: a profile for Denoise" check_profile
tap_case "spectrum: a rate that is none" check_spectrum_rate
tap_case "spectrum: a picture of two files" check_spectra
tap_case "spectrum: a part of it, and the scale" check_spectrum_view
tap_case "spectrum: no sound" exits 1 "text.wav: " gst-tfx spectrum text.wav

# ---- the manual and the completion --------------------------------------------------

# Every command of --help is in the manual, and each option in its section, in that of the
# command whose options it takes too, or among those that name a chain.
check_manual() {
  local command option sections page=$root/gst/tools/gst-tfx.1
  : > man.txt
  if command -v man > /dev/null; then
    man -l --warnings=all "$page" > /dev/null 2> man.txt
    cat man.txt
  fi
  for command in $(gst-tfx --help | sed -n -E 's/^  ([a-z]+) +[a-z].*/\1/p'); do
    grep -q "^\.SS $command\$" "$page" || { echo "no $command" && return 1; }
    case $command in
      watch) sections='watch|process' ;;
      play) sections='play|record' ;;
      *) sections=$command ;;
    esac
    for option in $(gst-tfx "$command" --help | grep -o -E '^  (-., )?--[a-z-]+' |
      grep -o -E -- '--[a-z-]+' | grep -v -e --help); do
      awk -v sections="^($sections|DESCRIPTION)\$" '/^\.S[SH] / { here = $2 ~ sections } here' "$page" |
        sed 's/\\-/-/g' | grep -q -E -e "$option( |=|,|\\\\|\$)" ||
        { echo "no $option of $command" && return 1; }
    done
  done
  [ ! -s man.txt ]
}

# completes WORDS... = what the last word may become, in one line.
completes() {
  (
    . "$root/gst/tools/gst-tfx.bash"
    COMP_WORDS=(gst-tfx "${@:1:$#-1}")
    COMP_CWORD=$(($# - 1))
    _gst_tfx
    echo "${COMPREPLY[*]}" | tr '\n' ' '
  ) | tee completed.txt | grep -q -F -- "${!#}" || { cat completed.txt && return 1; }
}

# The server is a program of its own, in the folder of gst-tfx, with its arguments and status.
check_server() {
  local tool
  tool=$(command -v gst-tfx) && ldd "$tool" | tee linked && ! grep soup linked &&
    mkdir bin && cp "$tool" bin &&
    exits 2 "/bin/gst-tfx-serve: No such file or directory (Debian: install gst-tfx-serve" \
      bin/gst-tfx serve 'Gain(1)' &&
    printf '#!/bin/sh\necho "$#: $1, $2"\nexit 7\n' > bin/gst-tfx-serve &&
    exits 2 "/bin/gst-tfx-serve: Permission denied" bin/gst-tfx serve &&
    chmod +x bin/gst-tfx-serve && exits 7 "2: -q, Gain(1)" bin/gst-tfx serve -q 'Gain(1)'
}
tap_case "serve: a program of its own, which links libsoup" check_server
tap_case "the manual has all commands and options" check_manual
tap_case "completion: commands" completes proc process
tap_case "completion: options" completes process --fo --force
tap_case "completion: classes" completes check "'HiBu" 'HiButterworth('
tap_case "completion: classes behind a bar" completes check \
  "'Gain(2) | LoChebyshev1" 'Gain(2) | LoChebyshev1('
tap_case "completion: parameters" completes check "'HiButterworth(80, or" \
  'HiButterworth(80, order='
with_presets() { GST_PRESET_PATH=$root/gst/presets "$@"; }
tap_case "completion: presets" with_presets completes process --preset Tele 'Telephone band'
tap_case "completion: the kinds of dither" completes process --dither tpdf- tpdf-hf
tap_case "completion: the kinds of noise shaping" completes process --noise-shaping med medium
tap_case "completion: bits" completes process --bits fl float
tap_case "completion: a chain to be run somewhere" completes devices "'HiBu" 'HiButterworth('
tap_case "completion: files" completes process nois noise.wav
tap_case "completion: a file with a chain" completes response --chain-file nois noise.wav

# ---- the language ----------------------------------------------------------------------

tap_case "check: a good chain" exits 0 "Hum(60, harmonics=3)" \
  gst-tfx check 'Hum( 60,3 )'
tap_case "check: a broken one" exits 2 "line 1, column 5" gst-tfx check 'Gain'
tap_case "check: a stage that does not fit the stream" exits 2 \
  "line 1, column 12: ch[2] is out of range: there are 2 channels" \
  gst-tfx check --channels 2 'Gain(2) | (ch[2]: Gain(3))'
tap_case "check: too many channels" exits 2 "channels is 1025, but must be from 1 to 1024" \
  gst-tfx check --channels 1025 'Gain(2)'
tap_case "check: no channels" exits 2 "channels is 0, but must be from 1 to 1024" \
  gst-tfx check --channels 0 'Gain(2)'
tap_case "check: no rate" exits 2 "rate is 0 Hz, but must be above 0" gst-tfx check -r 0 'Gain(2)'
tap_case "check: as many channels as the chain is for" exits 0 'ch[2]: Gain(3)' \
  gst-tfx check 'ch[2]: Gain(3)'
tap_case "check: positions that the chain names" exits 0 'At 48000 Hz, 3 channels (FL, FR, LFE):' \
  gst-tfx check 'ch[LFE]: Gain(3)'
tap_case "check: positions of the stream" exits 0 '"channels": 2, "channels_out": 2, "positions": "FC, LFE"' \
  gst-tfx check --json --channels FC,LFE 'ch[LFE]: Gain(3)'
tap_case "check: a position that is not there" exits 2 "line 1, column 1: ch[LFE] is missing: the channels are FL, FR" \
  gst-tfx check --channels 2 'ch[LFE]: Gain(3)'
tap_case "check: no position" exits 2 "channels is FL,XX, but must be from 1 to 1024, or positions, such as FL,FR,LFE" \
  gst-tfx check --channels FL,XX 'Gain(3)'
# The commands that run a chain print the notes once, before the first file; --quiet prints none.
check_notes_elsewhere() {
  local chain='Compressor(attack=5)'
  gst-tfx check -q "$chain" 2> notes.txt > /dev/null && grep '^note: ' notes.txt > note.txt && cat note.txt || return 1
  rm -rf noted && mkdir noted && cp noise.wav noted/a.wav && cp noise.wav noted/b.wav &&
    gst-tfx process -f noise.wav noted.wav "$chain" 2> said.txt && [ "$(head -n 1 said.txt)" = "$(cat note.txt)" ] &&
    gst-tfx process -o noted-out -c "$chain" noted 2> said.txt && [ "$(grep -c '^note: ' said.txt)" -eq 1 ] &&
    gst-tfx process --json -f noise.wav noted.wav "$chain" > said.json 2> /dev/null && python3 -m json.tool < said.json &&
    gst-tfx process -q -f noise.wav noted.wav "$chain" 2> said.txt && [ ! -s said.txt ] &&
    gst-tfx record -f -s 'audiotestsrc num-buffers=3' noted.wav "$chain" 2> said.txt && cmp said.txt note.txt &&
    gst-tfx record -q -f -s 'audiotestsrc num-buffers=3' noted.wav "$chain" 2> said.txt && [ ! -s said.txt ] &&
    gst-tfx play -o fakesink noise.wav "$chain" < /dev/null 2> said.txt && cmp said.txt note.txt || return 1
  timeout -s INT 3 gst-tfx watch -o noted-seen -c "$chain" noted > said.txt 2>&1
  cat said.txt && [ "$(grep -c '^note: ' said.txt)" -eq 1 ]
}
# With the name of what it names, and where it is wrong; or filter settings, or a preset.
check_check_file() {
  mkdir -p "the rooms" && printf '0.5\n' > "the rooms/half.txt" &&
    printf "Gain(2) |\nFIR('half.txt')\n" > "the rooms/check.txt" &&
    printf 'Gain(2) |\nGain(x)\n' > broken.txt &&
    printf 'Filter Settings file\n\nFilter 1: ON PK Fc 1000 Hz Gain 6.0 dB Q 2.00\n' > check-rew.txt &&
    exits 0 "the rooms/half.txt" gst-tfx check --chain-file "the rooms/check.txt" &&
    exits 2 "line 2, column 6" gst-tfx check -C broken.txt &&
    exits 0 "ParametricEQ(1000, q=2, gain=6)" gst-tfx check -C check-rew.txt &&
    GST_PRESET_PATH=$root/gst/presets exits 0 "HiButterworth" gst-tfx check --preset "Rumble filter" &&
    exits 2 "absent.txt" gst-tfx check -C absent.txt &&
    exits 2 "check takes one chain" gst-tfx check -C broken.txt 'Gain(2)'
}
# How a file was read that leaves it open: once, in the file's own lines; in every way to
# name the file.
check_settings_notes() {
  printf 'Filter 1: ON PK Fc 50,0 Hz Gain -10,0 dB Q 2,50\nFilter 2: ON LP Fc 8.000 Hz\nFilter 3: ON NO Fc 1.250 Hz\n' > commas.txt
  printf 'Filter 1: ON LS Fc 105 Hz Gain 6.4 dB Q 0.7\nFilter 2: ON LSC Fc 105 Hz Gain 6.4 dB Q 0.7\n' > apo.txt
  printf 'Filter Settings file\nFilter 1: ON LS Q Fc 500 Hz Gain 3 dB Q 0.7\n' > rew-shelf.txt
  local comma='line 2 of the filter settings: Fc 8.000 is 8000 Hz, as other numbers of the file have decimal commas'
  local corner='line 1 of the filter settings: Fc 105 Hz is the corner of the LS filter with Q, as in Equalizer APO; its midpoint is 126.683 Hz'
  local middle='line 2 of the filter settings: Fc 500 Hz is the midpoint of the LS filter with Q, as in REW'
  for pair in "commas.txt|$comma" "apo.txt|$corner" "rew-shelf.txt|$middle"; do
    local file=${pair%%|*} note=${pair#*|}
    says_notes "FilterSettings('$file')" "$note" &&
      exits 0 "note: $note" gst-tfx check -C "$file" && [ "$(grep -c '^note: ' said.txt)" -eq 1 ] &&
      gst-tfx check --json -C "$file" | python3 -c 'import json, sys; assert sys.argv[1] in json.load(sys.stdin)["notes"][0]' "$note" &&
      gst-tfx process -f noise.wav noted.wav -C "$file" 2> said.txt && grep -F "note: $note" said.txt &&
      gst-tfx process -f noise.wav noted.wav "FilterSettings('$file')" 2> said.txt && [ "$(grep -c '^note: ' said.txt)" -eq 1 ] &&
      gst-tfx process -q -f noise.wav noted.wav -C "$file" 2> said.txt && ! grep note: said.txt || return 1
  done
}
# says_notes CHAIN WORDS...: check says as many notes, each with its words.
says_notes() {
  local chain=$1 n
  shift
  gst-tfx check "$chain" 2> notes.txt > /dev/null && cat notes.txt || return 1
  [ "$(grep -c '^note: ' notes.txt)" -eq $# ] || return 1
  for n in "$@"; do
    grep -q -F -e "$n" notes.txt || { echo "no '$n'" && return 1; }
  done
}
check_check_notes() {
  says_notes 'Gain(-6)' "Gain(-6): a gain of -6 is a factor, +15.6 dB and inverted; did you mean Gain(-6, gain_type='db')?" &&
    says_notes 'Gain(0)' "a factor, silence; did you mean Gain(0, gain_type='db')?" &&
    says_notes 'Gain(12)' "a gain of 12 is a factor, +21.6 dB; did you mean" &&
    says_notes 'HiShelving(8000, 0.7, 3) | ParametricEQ(8000, 0.7, 3)' \
      "a gain of 3 is a factor, +9.5 dB; did you mean HiShelving(8000, q=0.7, gain=3, gain_scale='db')?" &&
    says_notes 'LoShelving1(80, 1)' "a gain of 1 is a factor, 0.0 dB" &&
    says_notes 'Compressor(attack=5, release=60)' "attack is in seconds, 5 s; did you mean attack=0.005 (5 ms)?" \
      "release is in seconds, 60 s; did you mean release=0.06 (60 ms)?" &&
    says_notes 'Gate(attack=1) | Expander(release=50)' "attack=0.001 (1 ms)" "release=0.05 (50 ms)" &&
    says_notes 'Limiter(lookahead=5)' "lookahead=0.005 (5 ms)" &&
    says_notes 'Limiter(0.9) | Compressor(20)' "threshold is in dB, 0.9 dB is above full scale; did you mean threshold=-0.9?" \
      "did you mean threshold=-20?" &&
    says_notes 'Normalize(3)' "peak is a factor, 3 is +9.5 dB above full scale" &&
    says_notes 'Echo(300) | Delay(250)' "6.25 ms at 48000 Hz; for 300 ms write delay=14400" "write delay_samples=12000" &&
    says_notes 'LoChebyshev2(1000)' "ripple is the attenuation of its stop band, 0.1 dB" &&
    says_notes "LoButterworth(8) | HiButterworth(8)" "cutoff is in Hz, 8 Hz is below what is audible; did you mean cutoff=8000?"
}
# Chains of the pages have none, nor has what is a factor.
check_check_no_notes() {
  says_notes "Gain(-1) | Gain(2) | Gain(-6, 'db') | Gain(4, 'power') | HiShelving(8000, 0.7, 0.5)" &&
    says_notes "HiShelving(8000, 0.7, 3, 'db') | Peaking(1000, 1, 3, 'linear') | Compressor() | Limiter(-1)" &&
    says_notes "Expander() | Gate() | Normalize() | Loudness() | Echo() | Delay(bpm=120) | HiButterworth(5)" &&
    says_notes "Hum(50) | HiChebyshev2(1000, ripple=40) | LoElliptic(1000) | Compressor(attack=0.1, release=1)"
}
# What each stage is and does, in units.
check_check_explains() {
  gst-tfx check 'HiButterworth(80) | Gain(-6) | Compressor(attack=0.01) | Limiter(-1, lookahead=0.01)' \
    2> /dev/null > explained.txt && cat explained.txt
  [ "$(sed -n 1p explained.txt)" = \
    'HiButterworth(80) | Gain(-6) | Compressor(attack=0.01) | Limiter(lookahead=0.01)' ] &&
    grep -q 'At 48000 Hz, 2 channels:' explained.txt && grep -q 'values   cutoff 80 Hz; order 5$' explained.txt &&
    grep -q 'gain     -60.2 dB at 20 Hz to 0.0 dB at 20 kHz$' explained.txt &&
    grep -q 'gain     +15.6 dB, inverted$' explained.txt && grep -q 'attack 0.01 s (10 ms)' explained.txt &&
    grep -q 'gain     follows the level: -15.0 dB at 0 dBFS, 0.0 dB at -40 dBFS$' explained.txt &&
    [ "$(grep -c 'latency  480 frames (10 ms)$' explained.txt)" -eq 2 ] &&
    grep -q 'process removes it: output and input are aligned' explained.txt || return 1
  exits 0 'gain     0.0 dB at 20 kHz; 50 Hz and 7 more are removed' gst-tfx check 'Hum(50)' &&
    exits 0 'gain     0.0 dB at 20 kHz; 50 Hz and 29 more are removed' gst-tfx check 'Hum(50, 30)' &&
    exits 0 'gain     at most 0.0 dB, at 20 Hz' gst-tfx check 'LoButterworth(100, order=24)' &&
    exits 0 'gain     at most 0.0 dB, at 20 Hz' gst-tfx check 'DesignableFIR(1000, 255)' &&
    exits 0 'gain     0 to 0: -6.0 dB; 1 to 0: -6.0 dB, inverted' gst-tfx check 'Mix([[0.5, -0.5]])' &&
    exits 0 '2 channels in, 1 out:' gst-tfx check 'Mix([[0.5, -0.5]])' &&
    exits 0 'latency  none' gst-tfx check 'Gain(2)' &&
    exits 0 'delay    50 frames (1.042 ms) to its largest tap, which process leaves in the output' gst-tfx check 'DesignableFIR(1000, 101)' &&
    exits 0 'latency  1 frame (0.02083 ms)' gst-tfx check "Limiter(-1, lookahead=$(python3 -c 'print(1 / 48000)'))" &&
    [ "$(gst-tfx check -q 'Gain(2)|Hum(60)')" = 'Gain(2) | Hum(60)' ]
}
check_check_json() {
  gst-tfx check --json "Gain(-6) | Limiter(-1) | FIR('rooms/half.txt')" > check.json 2> notes.txt &&
    [ ! -s notes.txt ] && python3 -c '
import json
c = json.load(open("check.json"))
assert c["latency"] == 240 and c["latency_ms"] == 5 and c["rate"] == 48000, c
assert [s["name"] for s in c["stages"]] == ["gain0", "limiter0", "fir0"], c
assert c["stages"][0]["gain"] == "+15.6 dB, inverted" and c["stages"][1]["latency"] == 240, c
assert len(c["notes"]) == 1 and "did you mean Gain(-6, gain_type=" in c["notes"][0], c
'
}
tap_case "check: a chain in a file" check_check_file
tap_case "check: what each stage does" check_check_explains
tap_case "check: slips" check_check_notes
printf 'Preamp: -6 dB\nFilter 1: ON PK Fc 63 Hz Gain 500 dB Q 1\n' > loud.txt
printf 'Filter 1: ON LP Fc 8.000 Hz\n' > thousands.txt
tap_case "process, play, record, watch: slips" check_notes_elsewhere
tap_case "check, process: how filter settings were read" check_settings_notes
tap_case "check: a value of filter settings out of range" exits 2 \
  "line 2 of the filter settings: gain of ParametricEQ is 500 dB" gst-tfx check -C loud.txt
tap_case "check: a frequency that may be thousands" exits 2 "may be thousands or decimals" \
  gst-tfx check -C thousands.txt
tap_case "check: no slips" check_check_no_notes
tap_case "check: JSON" check_check_json
tap_case "check: a time in milliseconds" exits 2 "200 s, out of its range: 0 to 100 s; write 200 ms as 0.2" \
  gst-tfx check 'Compressor(release=200)'
# The syntax of other programs, and AutoEq's GraphicEQ.txt.
check_check_foreign() {
  printf 'GraphicEQ: 20 -3.5; 21 -3.4; 22 0\n' > graphic.txt &&
    exits 2 "the same chain here is HiButterworth(80, order=2)" gst-tfx check 'highpass=f=80' &&
    exits 2 "for example ParametricEQ(1000, q=1, gain=3)" gst-tfx check 'ParametricEQ' &&
    exits 0 "Curve([[20, -3.5], [21, -3.4], [22, 0]], phase='minimum')" gst-tfx check --chain-file graphic.txt
}
tap_case "check: what was written for another program" check_check_foreign
# The values are those that are used.
check_check_clamped() {
  exits 0 "warning: cutoff" gst-tfx check --rate 8000 'LoButterworth(5000)' &&
    exits 0 "values   cutoff 3999.992 Hz; order 5" gst-tfx check --rate 8000 'LoButterworth(5000)' &&
    exits 0 "values   cutoff 300, 3999.992 Hz; num_taps 101" \
      gst-tfx check --rate 8000 "DesignableFIR([300, 5000], 101, pass_zero='bandpass')"
}
tap_case "check: what the rate does not allow" check_check_clamped
# Stages of a split have their channels before them.
check_check_channels() {
  gst-tfx check 'Gain(2) | (ch[0]: Hum(50) | Gain(0.5); ch[1, 2]: (Gain(0.5) + Gain(0.25))) | Gain(1.5)' > explained.txt &&
    cat explained.txt && [ "$(grep -c '^  ch\[' explained.txt)" -eq 4 ] && grep -qx '  ch\[0\]: Hum()' explained.txt &&
    grep -qx '  ch\[0\]: Gain(0.5)' explained.txt && grep -qx '  ch\[1, 2\]: Gain(0.25)' explained.txt &&
    grep -qx '  Gain(2)' explained.txt && grep -qx '  Gain(1.5)' explained.txt
}
tap_case "check: channels of a stage" check_check_channels
tap_case "list: a class" exits 0 "order of the analog prototype" \
  gst-tfx list LoButterworth
tap_case "list: an example of a class" exits 0 "Example: ParametricEQ(1000, q=1, gain=3)" \
  gst-tfx list ParametricEQ
tap_case "list: what must be given has no default" exits 0 "LoButterworth(cutoff, order=" \
  gst-tfx list LoButterworth
tap_case "list: a class that is none" exits 2 "did you mean 'Butterworth'" \
  gst-tfx list Buterworth
check_list() {
  [ "$(gst-tfx list | grep -c '^[A-Z]')" -gt 40 ]
}
tap_case "list: all of them" check_list
# A letter stands for one option: -c is the chain, wherever there is one.
check_short() {
  local command
  for command in process watch play record loudness check response bench devices; do
    gst-tfx "$command" --help | tee help.txt | grep -q -E '^  -c, --chain=CHAIN ' || return 1
    [ "$(grep -c -E '^  -c, ' help.txt)" -eq 1 ] || return 1
  done
}
tap_case "help: -c is the chain" check_short
tap_case "help of a command" exits 0 "--files-from=FILE" gst-tfx help process
tap_case "help" exits 0 "gst-tfx COMMAND --help" gst-tfx --help
tap_case "no command" exits 2 "Usage: gst-tfx COMMAND" gst-tfx
tap_case "a command that is none" exits 2 "there is no command 'proces'" \
  gst-tfx proces

tap_end
