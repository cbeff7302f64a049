#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# pictures.sh: draws the pictures of the README and of the pages in docs/;
# builds in build/ as the demo does.
set -eu
export LC_ALL=C.UTF-8
docs=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$docs/../build
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$docs/../examples/demo.sh" /usr/share/sonic-pi/samples/loop_tabla.flac \
  "$work/demo" > /dev/null
cp "$work/demo.png" "$docs/demo.png"

# curve NAME WORD...: the table of one filter
curve() {
  local name=$1
  shift
  "$build/examples/tfx-response" rate=48000 points=6000 "$@" > "$work/$name.tsv"
}

for order in 2 4 8 16; do
  curve "low$order" tfxbutterworth cutoff=1000 order=$order
  curve "band$order" tfxbutterworth mode=band-pass lower-frequency=500 \
    upper-frequency=2000 order=$order
done
curve butter tfxbutterworth cutoff=1000 order=8
curve cheby1 tfxchebyshev cutoff=1000 order=8 ripple=0.5
curve cheby2 tfxchebyshev cutoff=1400 order=8 type=2 attenuation=60
# fir NAME TAPS WINDOW: the table of a kernel, which is the same in a chain
fir() {
  GST_PLUGIN_PATH=$build/gst "$build/gst/tools/gst-tfx" response --rate 48000 \
    --points 4000 "DesignableFIR(1000, $2, window=$3)" |
    tr , '\t' > "$work/$1.tsv"
}

for taps in 101 255 1023; do
  fir "fir$taps" $taps "'hamming'"
done
fir fir-rectangular 255 "'boxcar'"
fir fir-hamming 255 "'hamming'"
fir fir-blackman 255 "'blackman'"
fir fir-kaiser 255 "('kaiser', 8.6)"

# sweep NAME ELEMENT: the spectrogram of a cutoff under control
sweep() {
  GST_PLUGIN_PATH=$build/gst "$build/examples/tfx-automation" from=1000 to=2000 \
    seconds=1 element="$2" output="$work/$1.wav"
  "$docs/spectrogram.py" "$work/$1.wav" > "$work/$1.tsv"
}

sweep sweep-tfx "tfxbutterworth order=4"
sweep sweep-cheb "audiocheblimit mode=low-pass poles=4"

gnuplot -c "$docs/pictures.gp" "$docs" "$work"

GST_PLUGIN_PATH=$build/gst "$build/examples/tfx-sweep" seconds=2 \
  output="$work/sweep.wav" picture="$docs/tfxchain.png" > /dev/null
