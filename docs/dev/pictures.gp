# SPDX-License-Identifier: LGPL-2.1-or-later
# pictures.gp: draws the pictures of the pages in docs/; see pictures.sh.
#
#   gnuplot -c pictures.gp OUTPUT_FOLDER TABLES_FOLDER
docs = ARG1
tables = ARG2

set encoding utf8
set terminal pngcairo noenhanced size 1000,420 font "DejaVu Sans,11" \
    background rgb "white"

# Okabe and Ito's colours, and a dash for each.
set linetype 1 lc rgb "#0072B2" lw 2.5
set linetype 2 lc rgb "#D55E00" lw 2.5 dt (12,5)
set linetype 3 lc rgb "#009E73" lw 2.5 dt (4,4)
set linetype 4 lc rgb "#202020" lw 2.5 dt (12,4,3,4)
set linetype cycle 4

set logscale x 10
set xtics nomirror ("20" 20, "50" 50, "100" 100, "200" 200, "500" 500, \
    "1k" 1000, "2k" 2000, "5k" 5000, "10k" 10000, "20k" 20000)
set ytics nomirror
set border 3 lc rgb "#404040"
set tics scale 0.5 out
set grid xtics ytics lt -1 lw 1 lc rgb "#E4E4E4"
set xlabel "frequency (Hz)"
set key Left reverse samplen 3.5 spacing 1.2
table(name) = sprintf("%s/%s.tsv", tables, name)
set bmargin at screen 0.16
set tmargin at screen 0.90

set output docs."/tfxbutterworth.png"
set multiplot
set lmargin at screen 0.075
set rmargin at screen 0.485
set title "low-pass, cutoff 1000 Hz"
set ylabel "gain (dB)" offset 1,0
set xrange [99.99:10001]
set yrange [-100:10]
set key left bottom
plot for [i=1:4] table(sprintf("low%d", 2**i)) u 1:2 w l lt i \
    t sprintf("order %d", 2**i)
set lmargin at screen 0.575
set rmargin at screen 0.985
set title "band-pass, 500 to 2000 Hz"
unset ylabel
set xrange [99.99:10001]
set key center bottom
plot for [i=1:4] table(sprintf("band%d", 2**i)) u 1:2 w l lt i \
    t sprintf("order %d", 2**i)
unset multiplot

set output docs."/tfxchebyshev.png"
set multiplot
set lmargin at screen 0.075
set rmargin at screen 0.485
set title "gain, order 8"
set ylabel "gain (dB)" offset 1,0
set xrange [99.99:10001]
set yrange [-100:10]
names = "cheby1 cheby2 butter"
labels = '"type=1 ripple=0.5 cutoff=1000" "type=2 attenuation=60 cutoff=1400" "tfxbutterworth cutoff=1000"'
plot for [i=1:3] table(word(names, i)) u 1:2 w l lt i notitle
set lmargin at screen 0.575
set rmargin at screen 0.985
set title "the pass band, enlarged"
set xrange [49.99:2001]
set yrange [-3.5:0.5]
unset ylabel
set key left bottom samplen 2.5 font ",10"
plot for [i=1:3] table(word(names, i)) u 1:2 w l lt i t word(labels, i)
unset multiplot

set output docs."/tfxfir.png"
set multiplot
set lmargin at screen 0.075
set rmargin at screen 0.485
set title "window=hamming, cutoff 1000 Hz"
set ylabel "gain (dB)" offset 1,0
set xrange [399.99:4001]
set yrange [-120:10]
set key left bottom samplen 3 font ",11"
plot for [taps in "101 255 1023"] table("fir".taps) u 1:2 w l \
    lt (taps eq "101" ? 1 : taps eq "255" ? 2 : 3) t "taps=".taps
set lmargin at screen 0.575
set rmargin at screen 0.985
set title "taps=255, by window"
unset ylabel
windows = "rectangular hamming blackman kaiser"
plot for [i=1:4] table("fir-".word(windows, i)) u 1:2 w l lt i \
    t word(windows, i)
unset multiplot

# A sine of 440 Hz while the cutoff of a low-pass goes from 1000 to 2000 Hz.
reset
set encoding utf8
set terminal pngcairo noenhanced size 1000,420 font "DejaVu Sans,11" \
    background rgb "white"
set output docs."/automation.png"
set multiplot
set bmargin at screen 0.16
set tmargin at screen 0.88
set xrange [0:0.94]
set yrange [0:10]
set cbrange [-140:0]
set palette defined (0 "#000004", 1 "#3b0f70", 2 "#8c2981", 3 "#de4968", \
    4 "#fe9f6d", 5 "#fcfdbf")
set tics out nomirror
set xlabel "time (s)"
unset key
set lmargin at screen 0.065
set rmargin at screen 0.455
set title "tfxbutterworth order=4"
set ylabel "frequency (kHz)"
unset colorbox
plot tables."/sweep-tfx.tsv" matrix using ($1*0.01):($2*0.02):3 with image
set lmargin at screen 0.515
set rmargin at screen 0.905
set title "audiocheblimit poles=4"
unset ylabel
set colorbox
set cblabel "dB" offset -0.5,0
plot tables."/sweep-cheb.tsv" matrix using ($1*0.01):($2*0.02):3 with image
unset multiplot
