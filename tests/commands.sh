#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# commands.sh: the demo and the example applications do what they say, as
# TAP.  Needs a finished build in build/.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=tests/tap.sh
. "$root/tests/tap.sh"
export LC_ALL=C.UTF-8
bin=$root/build/examples
# Nothing but the program itself is asked what files are.
tool=$root/build/gst/tools/gst-tfx
export GST_PLUGIN_PATH=$root/build/gst

# A folder that quoting has to cope with.
top=$(mktemp -d)
work="$top/it's a \"test\" (ünï)"
mkdir "$work"
trap 'rm -rf "$top" "$tap_log"' EXIT
cd "$work" || exit 1

# apt-get, if called, is a failure: everything is there.
mkdir "$top/bin"
for program in apt-get sudo; do
  printf '#!/bin/sh\necho "$0 was called" >> "%s"\nexit 100\n' \
    "$top/apt-was-called" > "$top/bin/$program"
  chmod +x "$top/bin/$program"
done
export PATH="$top/bin:$PATH"

# ---- the demo ----------------------------------------------------------------

# The same noise each time.
python3 -c '
import array, random, wave
noise = array.array("h", random.Random(1).randbytes(2 * 2 * 480000))
with wave.open("noise.wav", "wb") as file:
    file.setparams((2, 2, 48000, 0, "NONE", ""))
    file.writeframes(array.array("h", (x // 2 for x in noise)).tobytes())'

run_demo() {
  "$root/examples/demo.sh" noise.wav "out/filtered noise" > demo.txt &&
    cat demo.txt
}

# about FILE: rate, channels, frames and length
about() {
  "$tool" spectrum "$1" | sed -n 's/ peak.*//; s/^# file 1 //p'
}

check_wav() {
  about noise.wav
  about "out/filtered noise.wav"
  [ "$(about noise.wav)" = \
    "rate 48000 channels 2 frames 480000 seconds 10.000000" ] &&
    [ "$(about noise.wav)" = "$(about 'out/filtered noise.wav')" ]
}

# Signature, then width and height.
check_png() {
  local head
  head=$(head -c 24 "out/filtered noise.png" | od -An -tx1 | tr -d ' \n')
  echo "$head"
  [[ $head = 89504e470d0a1a0a0000000d49484452000004b0000003e8 ]]
}

# The measured ratio of the spectra is the designed response.
check_response() {
  "$tool" spectrum noise.wav "out/filtered noise.wav" |
    awk -F, '!/^[#f]/ && $1 > 19.9 { print $1, $3 - $2 }' | head -n 217 > measured
  "$tool" response --rate 48000 --from 20 --to 10240 --points 217 \
    'HiButterworth(300, order=4) | LoChebyshev1(3400, order=8, ripple=0.5)' |
    awk -F, '!/^f/ { print $1, $2 }' > designed
  paste -d' ' measured designed | awk '
    { if (($1 - $3) / $3 > 1e-4 || ($3 - $1) / $3 > 1e-4) bad = 1
      d = $2 - $4; if (d < 0) d = -d
      if ($1 >= 100 && $1 < 4000 && d > worst) { worst = d; at = $1 }
      n++ }
    END { print n " frequencies, worst " worst " dB at " at " Hz"
          exit bad || n != 217 || worst > 0.5 }'
}

# What the demo prints can be pasted, and does the same.
check_pasted() {
  sed -n '/^GST_PLUGIN_PATH=/,/filesink/p' demo.txt > pasted
  cat pasted
  mv "out/filtered noise.wav" first.wav
  sh pasted && cmp first.wav "out/filtered noise.wav"
}

check_figures() {
  grep -E '^10.0 s of sound took [0-9.]+ s, ' demo.txt &&
    grep -E '^[0-9.]+ times faster than real time' demo.txt &&
    grep -E 'two filters alone took [0-9.]+ ms ' demo.txt &&
    grep -E '\(kernel (c|sse2|avx2|avx512)\)' demo.txt
}

tap_case "demo: runs on a file and a folder with odd names" run_demo
tap_case "demo: as many frames as came in" check_wav
tap_case "demo: a picture" check_png
tap_case "demo: the spectrum shows the designed response" check_response
tap_case "demo: the printed pipeline can be pasted" check_pasted
tap_case "demo: tells times and kernel" check_figures

# refuses WORDS ARGUMENT...: the demo fails, quickly, and says the words.
refuses() {
  local words=$1 status=0
  shift
  "$root/examples/demo.sh" "$@" > refused.txt 2>&1 || status=$?
  cat refused.txt
  echo "exit status $status"
  [ $status -eq 1 ] && grep -q -F "$words" refused.txt
}

echo "no sound in this" > text.wav
mkdir -p folder.wav
tap_case "demo: a missing file" refuses "no such file: absent.wav" absent.wav
tap_case "demo: a folder for a file" refuses "not a file: folder.wav" folder.wav
tap_case "demo: no sound" refuses "no sound that GStreamer can decode" text.wav
tap_case "demo: a folder in OUTPUT's way" \
  refuses "a folder is in the way" noise.wav folder
tap_case "demo: OUTPUT in no folder" \
  refuses "cannot make the folder" noise.wav /dev/null/x
tap_case "demo: OUTPUT is INPUT" refuses "would overwrite" noise.wav noise.wav
tap_case "demo: too many arguments" refuses "too many" a b c

# ---- the reverb --------------------------------------------------------------

run_reverb() {
  "$root/examples/reverb.sh" noise.wav "out/in a room" > reverb.txt &&
    cat reverb.txt && about "out/in a room-room.wav" &&
    about "out/in a room.wav"
}

# All of the input and 2.52 s of reverberation, in buffers of 1024 frames.
check_tail() {
  local frames
  frames=$(about "out/in a room.wav" | cut -d' ' -f6)
  echo "$frames frames"
  [ "$frames" -ge $((480000 + 120960)) ] && [ "$frames" -le $((482048 + 120960)) ]
}

# A room that is given, and that is but one echo of half the level.
check_own_room() {
  gst-launch-1.0 -q audiotestsrc wave=silence num-buffers=1 \
    samplesperbuffer=4800 ! audio/x-raw,rate=48000,channels=1,format=F32LE ! \
    filesink location=silence.raw &&
    { head -c 9600 silence.raw && printf '\0\0\0\077' &&
      head -c 9600 silence.raw; } > echo.raw &&
    gst-launch-1.0 -q filesrc location=echo.raw blocksize=19204 ! \
      rawaudioparse sample-rate=48000 num-channels=1 pcm-format=f32le ! \
      wavenc ! filesink location="an echo.wav" &&
    "$root/examples/reverb.sh" noise.wav out/echoed "an echo.wav" &&
    "$tool" spectrum noise.wav out/echoed.wav | awk -F, '
      !/^[#f]/ && $1 > 50 { d = $3 - $2; if (!n++ || d > max) max = d
        if (n == 1 || d < min) min = d }
      # Half of half; the silence at the end makes the mean a little lower.
      END { print min, max; exit n == 0 || min < -12.5 || max > -12.0 }'
}

tap_case "reverb: makes a room, and puts a sound into it" run_reverb
tap_case "reverb: to the end of the reverberation" check_tail
tap_case "reverb: a room that is given" check_own_room

refuses_reverb() {
  local words=$1 status=0
  shift
  "$root/examples/reverb.sh" "$@" > refused.txt 2>&1 || status=$?
  cat refused.txt
  [ $status -eq 1 ] && grep -q -F "$words" refused.txt
}
tap_case "reverb: a missing file" \
  refuses_reverb "no such file: absent.wav" absent.wav
tap_case "reverb: a missing room" \
  refuses_reverb "no such file: absent.wav" noise.wav out/x absent.wav
tap_case "reverb: no sound in the room" \
  refuses_reverb "no sound that GStreamer can decode in" noise.wav out/x text.wav

# ---- packages ----------------------------------------------------------------

tap_case "nothing is installed where nothing is missing" \
  test ! -e "$top/apt-was-called"

check_missing() {
  local status=0
  bash -c '. "$1/tests/setup/deps.sh"; deps_require "for a test" gcc no-such-thing' \
    - "$root" > missing.txt 2>&1 || status=$?
  cat missing.txt
  [ $status -eq 1 ] && [ -e "$top/apt-was-called" ] &&
    grep -q 'Installing for a test: no-such-thing$' missing.txt &&
    grep -q 'could not install: no-such-thing$' missing.txt
}
tap_case "a package that cannot be had is named" check_missing

# fake_bin: an empty folder of programs, in front of others, in a folder to work in.
fake_bin() {
  rm -rf "$top/faked" && mkdir -p "$top/faked/bin" && cd "$top/faked" &&
    PATH=$PWD/bin:$PATH
}
# fake TEXT PROGRAM...
fake() {
  local program
  for program in "${@:2}"; do
    printf '#!/bin/bash\n%s\n' "$1" > "bin/$program" && chmod +x "bin/$program" || return
  done
}

# build_as TEXT [COMMAND]: builds behind COMMAND by a meson and a ninja of that text.
build_as() {
  fake_bin && fake "$1" meson ninja || return
  setsid --wait env --default-signal=INT bash -c '. "$1/tests/setup/deps.sh"; . "$1/tests/setup/build.sh"
    trap build_stop EXIT
    build_begin log build_targets "$PWD/built" target
    eval "$2"
    build_end' - "$root" "${2-}" > said 2>&1
  local status=$?
  cat said
  return "$status"
}
check_build_failure() (
  ! build_as 'echo "this is wrong"; exit 3' && grep -q '^this is wrong$' said &&
    grep -q '^error: it cannot be built' said &&
    build_as 'echo "${0##*/} $@ is said"' &&
    [ "$(cat said)" = "Building in $top/faked/built" ] &&
    grep -q '^meson setup .*built .*is said$' log &&
    grep -q '^ninja .*built target is said$' log
)
# An end by a signal, or by apt-get's failure, which comes while it compiles.
check_build_end() (
  local command n
  for command in 'kill -TERM $$' '(sleep 0.2 && kill -INT 0) & sleep 30' 'exit 1'; do
    ! build_as '[ "$1" = setup ] || { sleep 100 & echo $! > pid; wait; }' \
      "until [ -s pid ]; do sleep 0.05; done; $command" &&
      [ -s pid ] || return 1
    # (Nobody may be there to take its status.)
    for n in {1..600}; do
      grep '^State:.[^Z]' "/proc/$(cat pid)/status" || continue 2
      sleep 0.1
    done
    return 1
  done
)
tap_case "a build beside apt-get: why it failed" check_build_failure
tap_case "a build beside apt-get ends with the demo" check_build_end

# install_and_build: where nothing is installed, by programs that tell in `told` what
# they are to do.  Those of one step are done when both have begun.
install_and_build() {
  fake_bin && mkdir installed || return
  fake 'echo "${0##*/} $*" >> told
    # both THIS OTHER
    both() {
      touch "$1"
      for n in {1..200}; do [ ! -e "$2" ] || return 0; sleep 0.05; done
      echo "$1 without $2" >> told
      exit 1
    }
    case "${0##*/} $*" in
      "meson setup"*) mkdir -p built && echo "build gst/libgsttfx.so" > built/build.ninja ;;&
      "meson setup"*-Delements=false*) : > built/build.ninja ;;
      "ninja "*libgsttfx.so*) both plugin play ;;
      "ninja "*) both core headers ;;
      "apt-get "*" install "*libgstreamer1.0-dev*) both headers core ;;&
      "apt-get "*" install "*gstreamer1.0-tools*) both play plugin ;;&
      "apt-get "*" install "*)
        for word in "$@"; do touch "installed/$word" 2> /dev/null; done ;;
    esac' meson ninja apt-get
  fake 'shift 2
    cd installed && for word in "$@"; do [ ! -e "$word" ] || echo "$word=installed"; done' dpkg-query
  fake '"$@"' sudo
  bash -ec '. "$1/tests/setup/deps.sh"; . "$1/tests/setup/build.sh"
    trap build_stop EXIT
    deps_has() { false; }
    deps_has_driver() { false; }
    build_is_ours() { [ -e built/build.ninja ]; }
    build_and_install "for a test" log built "gst/libgsttfx.so" $DEPS_PLAY' \
    - "$root" > said 2>&1
  local status=$?
  cat said told
  return "$status"
}
check_install_beside() (
  install_and_build && [ "$(grep -c '^apt-get .* update$' told)" -eq 1 ] &&
    [ "$(grep -E -o '^(Installing [a-z ]*: *[^ ]+|Building in)' said)" = \
      "Installing to build: gcc
Building in
Installing to build: pkg-config
Installing for a test: gstreamer1.0-tools" ] || return
  # The rest in the same folder; nothing twice.
  [ "$(grep -E -o '^meson setup( --reconfigure)?|-Delements=[a-z]*|^ninja .*' told)" = \
    "meson setup
-Delements=false
ninja -C built
meson setup --reconfigure
-Delements=true
ninja -C built gst/libgsttfx.so" ]
)
tap_case "the filter core is compiled while GStreamer is installed" check_install_beside

# What was compiled before GStreamer came is used: same objects, same commands.
check_core_kept() (
  local which
  . "$root/tests/setup/deps.sh"
  . "$root/tests/setup/build.sh"
  deps_has_driver() { false; }
  fake_bin || return
  for which in core all; do
    build_setup "$PWD/built" $([ $which = all ] || echo -Delements=false -Dtests=disabled) > log ||
      { cat log && return 1; }
    build_has_plugin "$PWD/built" && echo "$which has the plugin"
    ninja -C built -t commands dsp/libtfxdsp.a | grep ' -o dsp/' | sort > $which
  done
  wc -l core && diff core all && [ -s core ] && build_has_plugin "$PWD/built" &&
    meson configure built | grep -E '^ *(cuda|elements|instruction-sets|tests) ' | tr -s ' ' | cut -d' ' -f2,3 |
    diff - <(printf 'cuda disabled\nelements true\ninstruction-sets [%s]\ntests disabled\n' "$(build_own_set)")
)
tap_case "what was compiled before GStreamer came is kept" check_core_kept

# The four turns of the slow tests are all of them, each once; and what the script refuses.
check_turns() (
  local part
  eval "$(sed -n '/^list_turn()/,/^}/p' "$root/tests/run.sh")"
  for part in 4 5 6 7; do list_turn "$root/build"; done | sort > turns
  meson test -C "$root/build" --no-rebuild --list --suite slow | sed -n 's/.* \/ //p' | sort > slow
  [ "$(wc -l < slow)" -gt 40 ] && diff slow turns || return
  ! "$root/tests/run.sh" --quick && ! "$root/tests/run.sh" --part x && ! "$root/tests/run.sh" --all 3
)
tap_case "run.sh: the slow tests take turns" check_turns

# ---- the applications --------------------------------------------------------

# refused WORDS PROGRAM ARGUMENT...
refused() {
  local words=$1 status=0
  shift
  "$@" > refused.txt 2>&1 || status=$?
  cat refused.txt
  [ $status -eq 1 ] && grep -q -F -- "$words" refused.txt
}
check_stats() {
  "$bin/tfx-stats" filesrc location=noise.wav ! wavparse ! audioconvert ! \
    tfxbutterworth name=first ! tfxchebyshev name=second ! fakesink > stats
  cat stats
  [ "$(cut -d' ' -f1 stats | tr '\n' ' ')" = "first second total " ] &&
    [ "$(grep -c 'frames=480000' stats)" -eq 2 ]
}
tap_case "tfx-stats: a line for each element" check_stats
# Of the kernels of all instruction sets these are taken here.
check_own_set() (
  . "$root/tests/setup/build.sh"
  case $(uname -m) in x86_64) ;; *) return 0 ;; esac
  build_own_set
  [ "$(sed -n 's/^second .* kernel=\([^ ]*\).*/\1/p' stats)" = "$(build_own_set)" ]
)
tap_case "the demo's kernels are the best of this machine" check_own_set
tap_case "tfx-room.py: a folder that is not there" \
  refused "cannot write no/such/x.wav" "$root/examples/tfx-room.py" no/such/x.wav
tap_case "tfx-stats: no such element" \
  refused "no element" "$bin/tfx-stats" nosuchelement ! fakesink

# ---- chains that move ---------------------------------------------------------

export GST_PRESET_PATH=$root/gst/presets

# at HZ COLUMN FILE: a gain in a table, at the nearest frequency
at() {
  awk -v hz="$1" -v column="$2" 'NR > 1 {
    d = $1 > hz ? $1 / hz : hz / $1
    if (!n++ || d < best) { best = d; gain = $column } }
    END { print gain }' "$3"
}

near() {
  awk -v x="$1" -v y="$2" 'BEGIN { print x, y; exit x - y > 0.1 || y - x > 0.1 }'
}

# The action signals, from Python.
check_response() {
  /usr/bin/python3 << 'END'
import math
import gi
gi.require_version('Gst', '1.0')
from gi.repository import GLib, Gst

Gst.init([])
pipeline = Gst.parse_launch(
    'audiotestsrc num-buffers=9 ! audio/x-raw,rate=48000,channels=1 ! tfxchain '
    'name=c chain="eq=ParametricEQ(1000, 2, 6) | v=Compressor(-20, 4, knee=0)" '
    '! fakesink')
pipeline.set_state(Gst.State.PAUSED)
pipeline.get_state(10 * Gst.SECOND)
chain = pipeline.get_by_name('c')
for what in chain, chain.get_child_by_name('eq'):
    got = what.emit('response', GLib.Variant('ad', [0.0, 1000.0]), 0).unpack()
    gains = [20 * math.log10(abs(complex(*h)))
             for h in zip(got['real'], got['imaginary'])]
    print(got['rate'], gains)
    assert got['rate'] == 48000 and abs(gains[0]) < 1e-6
    assert abs(gains[1] - 6) < 1e-6
curve = chain.get_child_by_name('v').emit('gain-curve',
                                          GLib.Variant('ad', [-40.0, 0.0]))
assert [round(x, 9) for x in curve.unpack()] == [0.0, -15.0]
pipeline.set_state(Gst.State.NULL)
END
}
tap_case "response and gain-curve from Python" check_response

equaliser=$root/examples/tfx-equaliser.py

# Controllers lead the bands of the preset to where they are to go.
check_equaliser() {
  "$equaliser" --input=noise.wav --output=equalised.wav --seconds=5 \
    --table=bands.tsv --picture=bands.png f100::gain=6 f1000::gain=-4 \
    f31_5::gain=3 > bands.txt || return 1
  cut -c 1-300 bands.txt
  head -n 1 bands.tsv
  grep -q 'f100=ParametricEQ(100, q=4.318, gain=6) ' bands.txt &&
    [ "$(head -n 1 bands.tsv)" = "$(printf 'Hz\tbefore\tafter')" ] &&
    near 0 "$(at 100 2 bands.tsv)" && near 6 "$(at 100 3 bands.tsv)" &&
    near -4 "$(at 1000 3 bands.tsv)" && near 3 "$(at 31.5 3 bands.tsv)" &&
    [ "$(head -c 4 bands.png | tail -c 3)" = PNG ] &&
    [ "$(about noise.wav)" = "$(about equalised.wav)" ]
}
tap_case "tfx-equaliser.py: moves bands and draws the response" check_equaliser
tap_case "tfx-equaliser.py: a chain in place of a preset" \
  "$equaliser" --chain="low=LoButterworth(100)" --output=x.wav --seconds=0.1 \
  low::cutoff=200
tap_case "tfx-equaliser.py: no such preset" \
  refused "there is no preset 'Loud'; there are: Crossover" \
  "$equaliser" --preset=Loud --output=x.wav
tap_case "tfx-equaliser.py: no such stage" refused "no stage 'f99'" \
  "$equaliser" --output=x.wav f99::gain=3
tap_case "tfx-equaliser.py: a value out of range" \
  refused "f100::gain cannot be 1000, but must be from -120 to 120" \
  "$equaliser" --output=x.wav f100::gain=1000
tap_case "tfx-equaliser.py: a file that is not there" refused "absent.wav: Resource not" \
  "$equaliser" --input=absent.wav --output=x.wav
tap_case "tfx-equaliser.py: a property of the element" \
  refused "not of the form STAGE::PARAMETER=NUMBER: f100=3" \
  "$equaliser" --output=x.wav f100=3
tap_case "tfx-equaliser.py: a chain that cannot be read" \
  refused "this '(' is not closed" "$equaliser" "--chain=Gain(" --output=x.wav

# peak FILE
peak() {
  "$tool" spectrum "$1" | sed -n 's/^# file 1 .* peak \([0-9.e-]*\).*/\1/p'
}

# is BOOLEAN of awk
is() {
  awk "BEGIN { exit !($1) }"
}

# A low-pass below the sine takes it away, one above it does not; a gain of 0 in
# every other second lets half of it through.
check_automation() {
  local name
  "$bin/tfx-automation" from=20 to=20 seconds=1 output=low.wav &&
    "$bin/tfx-automation" from=20 to=5000 seconds=1 output=line.wav &&
    "$bin/tfx-automation" curve=lfo from=1000 to=2000 frequency=8 seconds=1 \
      output=lfo.wav &&
    "$bin/tfx-automation" curve=steps element='tfxchain chain="g=Gain(0)"' \
      child=g property=gain from=0 to=1 frequency=4 seconds=1 \
      output=steps.wav || return 1
  for name in low line lfo steps; do
    echo "$name $(about $name.wav) peak $(peak $name.wav)"
    [ "$(about $name.wav)" = \
      "rate 48000 channels 1 frames 48128 seconds 1.002667" ] || return 1
  done
  is "$(peak low.wav) < 0.01" && is "$(peak line.wav) > 0.45" &&
    is "$(peak lfo.wav) > 0.45" && is "$(peak steps.wav) == 0.5"
}
tap_case "tfx-automation: lines, LFOs and triggers" check_automation
tap_case "tfx-automation: no such property" \
  refused "filter has no number 'mode' that can be controlled" \
  "$bin/tfx-automation" property=mode output=x.wav
tap_case "tfx-automation: no such option" \
  refused "no such option: second=1; there are element=, child=, " \
  "$bin/tfx-automation" second=1
tap_case "tfx-automation: a time that is none" \
  refused "seconds is -1, but must be above 0 and at most 3600" \
  "$bin/tfx-automation" seconds=-1 output=x.wav
tap_case "tfx-automation: a frequency that is none" \
  refused "frequency is 0 Hz, but must be above 0 and at most 1000" \
  "$bin/tfx-automation" curve=steps frequency=0 output=x.wav
tap_case "tfx-automation: no such curve" refused 'curve is none of line' \
  "$bin/tfx-automation" curve=square output=x.wav

check_automation_py() {
  "$root/examples/tfx-automation.py" wah.wav 1 || return 1
  echo "$(about wah.wav) peak $(peak wah.wav)"
  [ "$(about wah.wav)" = \
    "rate 48000 channels 2 frames 48000 seconds 1.000000" ] &&
    is "$(peak wah.wav) > 0.2"
}
tap_case "tfx-automation.py: an LFO and a line" check_automation_py
tap_case "tfx-automation.py: a time that is none" \
  refused "SECONDS is '-1', but must be from 0.01 to 3600" \
  "$root/examples/tfx-automation.py" x.wav -1
tap_case "tfx-automation.py: an option" refused "tfx-automation.py OUTPUT.wav" \
  "$root/examples/tfx-automation.py" --help

# ---- installing --------------------------------------------------------------

# Without this, gst-inspect-1.0 would see the build folder's plugin anyway.
unset GST_PLUGIN_PATH GST_PRESET_PATH

# Presets that are saved, and folders for them, are not for this user.
export XDG_DATA_HOME=$top/data

check_install() {
  local plugin presets element
  DESTDIR=$top/dest meson install -C "$root/build" --no-rebuild &&
    find "$top/dest" -type f
  plugin=$(find "$top/dest" -path '*/gstreamer-1.0/libgsttfx.so')
  presets=$(find "$top/dest" -path '*/share/gstreamer-1.0/presets/*' -printf '%f ')
  for element in Butterworth Chain Chebyshev Fir; do
    [[ $presets = *"GstTfx$element.prs "* ]] || return 1
  done
  [ -n "$plugin" ] &&
    GST_REGISTRY=$top/registry GST_PLUGIN_PATH=$(dirname "$plugin") \
      gst-inspect-1.0 tfxchebyshev | grep "Filename.*$top/dest"
}
tap_case "meson install: into a folder gstreamer-1.0, and it loads" check_install
check_uninstall() {
  ninja -C "$root/build" uninstall && ! find "$top/dest" -type f | grep .
}
tap_case "ninja uninstall: nothing is left" check_uninstall

check_install_links() {
  DESTDIR=$top/dest meson install -C "$root/build" --no-rebuild > /dev/null &&
    python3 "$root/tests/pages.py" --links "$(find "$top/dest" -path '*/share/doc/gst-tfx')"
}
tap_case "meson install: links on installed pages lead to installed files" check_install_links

# Pages whose links are wrong, a line each.
check_links_finds() (
  mkdir -p "$top/links/sub" && cd "$top/links" || return
  printf '# Here and There\n' > sub/other.md
  while read -r link; do
    echo "[x]($link)" > page.md
    ! python3 "$root/tests/pages.py" --links . || { echo "not found: $link" && return 1; }
  done << 'END'
none.md
../commands.sh
sub/other.md#here
#none
END
  printf '# Top\n[x](sub/other.md#here-and-there) [y](#top) [z](https://none.example/)\n' > page.md
  python3 "$root/tests/pages.py" --links .
)
tap_case "pages.py finds links that lead nowhere" check_links_finds

# setup_at OPTION...: configures a new folder, as where dpkg-dev is not installed: Meson
# has another libdir there.
setup_at() {
  fake_bin && fake 'exit 1' dpkg-architecture &&
    meson setup "$top/faked/at" "$root" -Dcuda=disabled "$@" | tee "$top/faked/setup.txt" &&
    meson introspect "$top/faked/at" --installed > "$top/faked/installed.txt"
}
plugins=$(pkg-config --variable=pluginsdir gstreamer-1.0)
gstreamer=$(pkg-config --variable=prefix gstreamer-1.0)

check_prefix() (
  setup_at --prefix="$gstreamer" && cat installed.txt &&
    grep -q "\"$plugins/libgsttfx.so\"" installed.txt &&
    grep -q "\"$(dirname "$plugins")/libtfx\.so" installed.txt && ! grep WARNING setup.txt
)
tap_case "meson setup: plugin and library go where they are found, without dpkg-dev too" check_prefix

check_other_prefix() (
  local folder=/opt/x${plugins#"$gstreamer"}
  setup_at --prefix=/opt/x && cat installed.txt && grep -q "\"$folder/libgsttfx.so\"" installed.txt &&
    grep "WARNING: GStreamer looks for plugins in $plugins" setup.txt > warning.txt &&
    grep -q "GST_PLUGIN_PATH=$folder " warning.txt &&
    grep -q "GST_PRESET_PATH=/opt/x/share/gstreamer-1.0/presets" warning.txt
)
tap_case "meson setup: another prefix, and what to set for it" check_other_prefix

check_plugins_dir() (
  setup_at --prefix=/usr -Dplugins-dir=lib/plugins && cat installed.txt &&
    grep -q '"/usr/lib/plugins/libgsttfx.so"' installed.txt
)
tap_case "meson setup: a folder for the plugin" check_plugins_dir

# Who installs it compiles neither tests nor examples.
check_defaults() (
  setup_at && ninja -C at -t targets all | grep -E '^(tests|examples)/' | head
  [ "${PIPESTATUS[1]}" -eq 1 ] && ninja -C at -t targets all | grep '^gst/libgsttfx.so:'
)
tap_case "meson setup: neither tests nor examples unless asked for" check_defaults

# fresh.sh runs the README's.
check_install_page() {
  python3 - "$root" << 'END'
import re
import sys

readme, page = (open(f'{sys.argv[1]}/{name}').read() for name in ('README.md', 'docs/install.md'))
blocks = re.findall(r'(?ms)^```sh run-by=tests/fresh.sh\n(.*?)^```', readme.split('## Install')[1])
assert len(blocks) == 3, blocks
for block in blocks:
    assert block in page, f'docs/install.md does not have\n{block}'
END
}
tap_case "docs/install.md has the README's commands" check_install_page

check_devenv() {
  GST_REGISTRY=$top/registry meson devenv -C "$root/build" \
    gst-inspect-1.0 tfxbutterworth | grep -F "$root/build/gst/libgsttfx.so"
}
tap_case "meson devenv: finds the plugin" check_devenv

check_devenv_presets() {
  GST_REGISTRY=$top/registry meson devenv -C "$root/build" \
    gst-launch-1.0 -q audiotestsrc num-buffers=1 ! \
    tfxchain @preset="Rumble filter" rumble::cutoff=18 ! fakesink
}
tap_case "meson devenv: finds the presets" check_devenv_presets

export GST_PLUGIN_PATH=$root/build/gst GST_PRESET_PATH=$root/gst/presets

tap_end
