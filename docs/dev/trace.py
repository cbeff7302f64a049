#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws a part of a trace (see tracing.md) by gnuplot: from one run of the first
row to the next.

    trace.py TRACE.json PICTURE.png [SKIPPED-RUNS]
"""
import json
import subprocess
import sys

COLORS = {'element': '#D5DDE8', 'row': '#0072B2', 'launch': '#D55E00',
          'copy': '#009E73', 'wait': '#999999'}
ROW, GAP = 1.0, 0.9  # heights: of a slice, and between threads


def part_of(events, skip):
    """What lies between two beginnings of the outermost slice with the first row."""
    slices = [e for e in events if e['ph'] == 'X']
    row = [e for e in slices if e['cat'] == 'row'][skip]
    outer = min((e for e in slices if e['tid'] == row['tid'] and
                 e['ts'] <= row['ts'] <= e['ts'] + e['dur']), key=lambda e: e['ts'])
    begin = outer['ts']
    end = min(e['ts'] for e in slices if e['ts'] > begin and
              (e['name'], e['cat'], e['tid']) == (outer['name'], 'element', outer['tid']))
    inside = [e for e in events if 'ts' in e and begin <= e['ts'] < end]
    last = max(e['ts'] + e.get('dur', 0) for e in inside)
    return begin, 1.02 * (min(last, end) - begin), inside


def lanes_of(slices):
    """A depth for each slice of a thread."""
    stack = []
    for e in sorted(slices, key=lambda e: (e['ts'], -e['dur'])):
        while stack and stack[-1]['ts'] + stack[-1]['dur'] <= e['ts']:
            stack.pop()
        e['depth'] = len(stack)
        stack.append(e)
    return 1 + max(e['depth'] for e in slices)


def main():
    with open(sys.argv[1]) as file:
        events = json.load(file)
    begin, length, inside = part_of(events, int((sys.argv[3:] or ['20'])[0]))
    names = {e['tid']: e['args']['name'] for e in events if e['ph'] == 'M'}
    gp, y, place = [], 0.0, {}
    threads = []
    for e in inside:
        if e['ph'] == 'X' and e['tid'] not in threads:
            threads.append(e['tid'])
    for tid in sorted(threads, key=list(names).index):
        slices = [e for e in inside if e['ph'] == 'X' and e['tid'] == tid]
        depth = lanes_of(slices)
        gp.append('set label "thread %s" at graph 0, first %g offset 0.3,0 font ",11"'
                  % (names[tid].replace('_', ' '), y - 0.45))
        for e in slices:
            x0 = e['ts'] - begin
            x1, top = min(x0 + e['dur'], length), y - GAP - ROW * e['depth']
            gp.append('set object rect from %.3f,%g to %.3f,%g fc rgb "%s" fs solid '
                      'border rgb "white" behind' % (
                          x0, top, x1, top - ROW * 0.92, COLORS[e['cat']]))
            dark = e['cat'] != 'element'
            if (x1 - x0) / length > 0.01 * len(e['name']):
                gp.append('set label "%s" at %.3f,%g left offset 0.5,0 tc rgb "%s" front'
                          % (e['name'], x0, top - ROW * 0.46,
                             'white' if dark else '#202020'))
            place[id(e)] = top
        y -= GAP + ROW * depth + 0.3
    for at, kind, what in ((0.55, 'element', 'an element has a buffer'),
                           (0.8, 'row', 'a fused row runs')):
        gp.append('set object rect from graph %g, screen 0.93 to graph %g, screen 0.96 '
                  'fc rgb "%s" fs solid noborder' % (at - 0.03, at - 0.01, COLORS[kind]))
        gp.append('set label "%s" at graph %g, screen 0.945' % (what, at))
    starts = {e['id']: e for e in inside if e['ph'] == 's'}
    for f in (e for e in inside if e['ph'] == 'f' and e['id'] in starts):
        ends = []
        for e in (starts[f['id']], f):
            within = [s for s in inside if s['ph'] == 'X' and s['tid'] == e['tid'] and
                      s['ts'] <= e['ts'] <= s['ts'] + s['dur']]
            ends += [e['ts'] - begin, place[id(max(within, key=lambda s: s['ts']))]]
        ends[1] -= 0.92 * ROW
        gp.append('set arrow from %.3f,%g to %.3f,%g lc rgb "#D55E00" lw 1.6 '
                  'size screen 0.008,20 filled front' % tuple(ends))
    script = '''set terminal pngcairo noenhanced size 1000,%d font "DejaVu Sans,11" background rgb "white"
set output "%s"
set xrange [0:%g]
set yrange [%g:0.1]
unset ytics
unset key
set border 1 lc rgb "#404040"
set xtics nomirror out
set xlabel "time (µs)"
set encoding utf8
set lmargin 2
set rmargin 3
set tmargin 2
%s
plot NaN
''' % (110 + int(-32 * y), sys.argv[2], length, y, '\n'.join(gp))
    subprocess.run(['gnuplot'], input=script, text=True, check=True)


main()
