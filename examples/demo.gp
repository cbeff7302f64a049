# SPDX-License-Identifier: LGPL-2.1-or-later
# demo.gp: draws the picture of demo.sh.
#
#   gnuplot -c demo.gp PNG RESPONSE SPECTRUM NYQUIST_HZ PEAK_DB TITLE LABEL1 LABEL2
#
# RESPONSE has the gains of two filters and of both in series; SPECTRUM is that of the
# file before and after, with the frequency in front in both.  PEAK_DB is the highest
# level in the latter.
png = ARG1
response = ARG2
spectrum = ARG3
nyquist = ARG4 + 0
peak = ARG5 + 0
title = ARG6
label1 = ARG7
label2 = ARG8

# Okabe and Ito's colours, which can be told apart with any colour vision.
blue = "#0072B2"
orange = "#D55E00"
black = "#202020"
grey = "#9A9A9A"
pale = "#D2D2D2"

set encoding utf8
set terminal pngcairo noenhanced size 1200,1000 font "DejaVu Sans,13" \
    background rgb "white"
set output png
set multiplot

set logscale x 10
set xrange [20:(nyquist < 20000 ? nyquist : 20000)]
set xtics nomirror ("20" 20, "50" 50, "100" 100, "200" 200, "500" 500, \
    "1k" 1000, "2k" 2000, "5k" 5000, "10k" 10000, "20k" 20000)
set for [k=3:9] xtics add ("" 10*k 1)
set for [k=3:9] xtics add ("" 100*k 1)
set for [k=3:9] xtics add ("" 1000*k 1)
set ytics nomirror
set border 3 lc rgb "#404040"
set tics scale 0.6 out
set grid xtics ytics lt 1 lw 1 lc rgb "#E4E4E4"
set lmargin at screen 0.085
set rmargin at screen 0.975
set datafile separator ","
set datafile missing "nan"

# The ratio of two spectra says nothing where there was no sound before.
measured(before, after) = \
    before > peak - 130 && before > -250 ? after - before : NaN

set tmargin at screen 0.920
set bmargin at screen 0.545
set label 1 title at screen 0.085,0.973 font ",17" tc rgb black
set label 2 "Gain of the filters" at screen 0.085,0.940 font ",14" tc rgb black
set ylabel "gain (dB)" offset 0.5,0
set yrange [-100:10]
set ytics 20
# Between the two slopes there is room.
set key at graph 0.5,0.36 center top Left reverse samplen 3 spacing 1.25
plot response u 1:4 w l lw 9 lc rgb pale t "both in series", \
    response u 1:2 w l lw 2.5 lc rgb blue t label1, \
    response u 1:3 w l lw 2.5 dt (12,6) lc rgb orange t label2, \
    spectrum u 1:(measured($2, $3)) every 3 w p pt 6 ps 1 lw 1.4 \
        lc rgb black t "measured: after / before"

unset label 1
set tmargin at screen 0.445
set bmargin at screen 0.075
set label 2 "Mean spectrum" at screen 0.085,0.472 font ",14" tc rgb black
set key at screen 0.975,0.472 right center horizontal Left reverse samplen 3 \
    width 2
set xlabel "frequency (Hz)"
set ylabel "power density (dBFS/Hz)" offset 0.5,0
top = 10 * ceil((peak + 3) / 10.0)
set yrange [top - 120:top]
set style fill solid 0.55 noborder
plot spectrum u 1:2:(top - 120) w filledcurves lc rgb pale t "before", \
    spectrum u 1:2 w l lw 1.5 lc rgb grey notitle, \
    spectrum u 1:3 w l lw 2.5 lc rgb blue t "after"
unset multiplot
