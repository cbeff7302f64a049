#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# pictures.sh: draws the pictures of the README and of the pages in docs/;
# builds in build/ as the demo does.
#
#   pictures.sh            all
#   pictures.sh classes    those of docs/classes.md, with what is built in build/
set -eu
export LC_ALL=C.UTF-8
docs=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$docs/../build
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

draw_classes() {
  mkdir -p "$docs/classes"
  GST_PLUGIN_PATH=$build/gst PATH=$build/gst/tools:$PATH \
    "$docs/dev/classes.py" "$docs/classes"
}

if [ "${1:-}" = classes ]; then
  draw_classes
  exit
fi

"$docs/../examples/demo.sh" /usr/share/sonic-pi/samples/loop_tabla.flac \
  "$work/demo" > /dev/null
cp "$work/demo.png" "$docs/demo.png"
draw_classes

# curve NAME CHAIN: the table of one chain
curve() {
  GST_PLUGIN_PATH=$build/gst "$build/gst/tools/gst-tfx" response --rate 48000 \
    --points 4000 "$2" | sed 1d | tr , '\t' > "$work/$1.tsv"
}

for order in 2 4 8 16; do
  curve "low$order" "LoButterworth(1000, order=$order)"
  curve "band$order" "Butterworth('bandpass', [500, 2000], order=$order)"
done
curve butter "LoButterworth(1000, order=8)"
curve cheby1 "LoChebyshev1(1000, order=8, ripple=0.5)"
curve cheby2 "LoChebyshev2(1400, order=8, ripple=60)"
for taps in 101 255 1023; do
  curve "fir$taps" "DesignableFIR(1000, $taps, window='hamming')"
done
curve fir-rectangular "DesignableFIR(1000, 255, window='boxcar')"
curve fir-hamming "DesignableFIR(1000, 255, window='hamming')"
curve fir-blackman "DesignableFIR(1000, 255, window='blackman')"
curve fir-kaiser "DesignableFIR(1000, 255, window=('kaiser', 8.6))"

# sweep NAME ELEMENT: the spectrogram of a cutoff under control
sweep() {
  GST_PLUGIN_PATH=$build/gst "$build/examples/tfx-automation" from=1000 to=2000 \
    seconds=1 element="$2" output="$work/$1.wav"
  "$docs/dev/spectrogram.py" "$work/$1.wav" > "$work/$1.tsv"
}

sweep sweep-tfx "tfxbutterworth order=4"
sweep sweep-cheb "audiocheblimit mode=low-pass poles=4"

gnuplot -c "$docs/dev/pictures.gp" "$docs" "$work"

# A bell that rises, in a chain.
printf 'Hz' > "$work/names"
for gain in -12 -6 0 6 12; do
  printf '\teq::gain=%s' "$gain" >> "$work/names"
  curve "bell$gain" "HiButterworth(80, order=4) | eq=ParametricEQ(1000, q=1, gain=$gain) | LoChebyshev1(12000)"
  cut -f1 "$work/bell$gain.tsv" > "$work/hz"
  cut -f2 "$work/bell$gain.tsv" > "$work/bell$gain.db"
done
{
  cat "$work/names" && echo
  paste "$work/hz" "$work"/bell{-12,-6,0,6,12}.db
} > "$work/bell.tsv"
gnuplot -c "$docs/../examples/chain.gp" "$docs/tfxchain.png" "$work/bell.tsv" \
  "HiButterworth(80, order=4) | eq=ParametricEQ(1000, q=1, gain=0) | LoChebyshev1(12000)"

# The equaliser's window: points dragged where they are to be, and the picture of
# the screen (xvfb, xdotool, imagemagick).
window() {
  local from to
  "$build/examples/tfx-eq" --output="$work/eq.wav" &
  sleep 3
  for from in 539,245:520,172 228,245:190,285 711,245:740,275 823,245:700,205; do
    to=${from#*:} from=${from%:*}
    xdotool mousemove "${from%,*}" "${from#*,}" sleep .2 mousedown 1 sleep .1 \
      mousemove "${from%,*}" 230 sleep .1 mousemove "${to%,*}" "${to#*,}" sleep .1 \
      mouseup 1 sleep .1
  done
  xdotool mousemove 520 172 sleep 2
  import -window root -crop 1060x640+0+0 +repage -depth 8 -strip "$docs/tfx-eq.png"
  kill %1
  wait
}
export build work docs
GDK_BACKEND=x11 GSK_RENDERER=cairo GST_PLUGIN_PATH=$build/gst \
  xvfb-run -s '-screen 0 1060x640x24' bash -c "$(declare -f window); window"

# The page of gst-tfx serve (chromium, chromium-driver, python3-selenium).
GST_PLUGIN_PATH=$build/gst "$docs/../tests/serve/browser.py" "$build/gst/tools/gst-tfx" "$work"
cp "$work/wide.png" "$docs/serve.png"

# A trace: two fused rows, on both sides of a queue.
GST_PLUGIN_PATH=$build/gst GST_TRACERS="tfx(file=$work/trace.json)" \
  gst-launch-1.0 -q audiotestsrc name=source num-buffers=100 samplesperbuffer=16384 ! \
  tfxbutterworth name=rumble mode=high-pass cutoff=30 ! tfxchebyshev name=hiss cutoff=12000 ! \
  tfxfir name=room taps=2001 align=false ! queue name=queue ! \
  tfxchain name=eq chain="ParametricEQ(1000, 1, 3)" ! \
  tfxbutterworth name=low cutoff=15000 order=16 ! fakesink name=end
"$docs/dev/trace.py" "$work/trace.json" "$docs/dev/trace.png" 60
