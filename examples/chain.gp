# SPDX-License-Identifier: LGPL-2.1-or-later
# chain.gp: draws the responses that tfx-equaliser.py measures.
#
#   gnuplot -c chain.gp PNG TABLE TITLE
#
# TABLE has columns separated by tabs, with a line of names first: the frequency
# in Hz, then a gain in dB for each setting.
png = ARG1
table = ARG2
title = ARG3

set encoding utf8
set terminal pngcairo noenhanced size 1000,560 font "DejaVu Sans,12" \
    background rgb "white"
set output png
set datafile separator "\t"
stats table every ::1 u 1 nooutput
n = STATS_columns
from = STATS_min
to = STATS_max

# Okabe and Ito's colours, which can be told apart with any colour vision, and a
# dash for each.
set linetype 1 lc rgb "#0072B2" lw 2.5
set linetype 2 lc rgb "#D55E00" lw 2.5 dt (12,5)
set linetype 3 lc rgb "#009E73" lw 2.5 dt (4,4)
set linetype 4 lc rgb "#CC79A7" lw 2.5 dt (12,4,3,4)
set linetype 5 lc rgb "#202020" lw 2.5 dt (2,3)
set linetype cycle 5

set logscale x 10
set xrange [from:to]
set xtics nomirror ("20" 20, "50" 50, "100" 100, "200" 200, "500" 500, \
    "1k" 1000, "2k" 2000, "5k" 5000, "10k" 10000, "20k" 20000)
set ytics nomirror
set border 3 lc rgb "#404040"
set tics scale 0.6 out
set grid xtics ytics lt 1 lw 1 lc rgb "#E4E4E4"
set xlabel "frequency (Hz)"
set ylabel "gain (dB)" offset 0.5,0
# A long chain is cut.
shown = strlen(title) > 110 ? title[1:107]."..." : title
set label 1 shown at screen 0.08,0.955 font ",12"
set lmargin at screen 0.08
set rmargin at screen 0.78
set tmargin at screen 0.91
set bmargin at screen 0.12
set key at screen 0.80,0.88 left top Left reverse samplen 2.5 spacing 1.4
# What is far below all that can be heard would flatten the rest.
top = -300
bottom = 300
do for [i = 2:n] {
  stats table every ::1 u i nooutput
  top = STATS_max > top ? STATS_max : top
  bottom = STATS_min < bottom ? STATS_min : bottom
}
top = 6 * ceil((top + 1) / 6.0)
bottom = 6 * floor((bottom - 1) / 6.0)
set yrange [(bottom < top - 60 ? top - 60 : bottom):top]
set ytics 6

plot for [i = 2:n] table u 1:i w l lt i-1 t columnheader(i)
