#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws the pictures of docs/classes.md, as SVG, with the program and the plugin.

    classes.py FOLDER [NAME...]

gst-tfx and the plugin are found by PATH and GST_PLUGIN_PATH (see pictures.sh).
It needs python3-gi and gir1.2-gstreamer-1.0.
"""
import array
import csv
import math
import os
import random
import subprocess
import sys
import tempfile

import gi
gi.require_version('Gst', '1.0')
from gi.repository import GLib, Gst  # noqa: E402

RATE = 48000
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        '..', '..', 'examples')

# ---- measurements -----------------------------------------------------------


def respond(chain, column='gain_db', low=20, high=20000, channel=None):
    """(Hz, value) of the frequency response."""
    text = subprocess.run(
        ['gst-tfx', 'response', '--rate', str(RATE), '--from', str(low),
         '--to', str(high), chain] + (['--channel', channel] if channel else []),
        check=True, capture_output=True, text=True).stdout
    rows = list(csv.reader(text.splitlines()))
    at = next(i for i, name in enumerate(rows[0]) if name.startswith(column))
    return [(float(row[0]), float(row[at])) for row in rows[1:]]


def process(chain, channels):
    """The output channels of a chain for lists of input samples, in float."""
    n = len(channels[0])
    frames = array.array('f', (x for frame in zip(*channels) for x in frame))
    with tempfile.TemporaryDirectory() as folder:
        source, sink = os.path.join(folder, 'in.wav'), os.path.join(folder, 'out.wav')
        with open(source, 'wb') as file:
            file.write(make_header(len(channels), 4 * len(frames)))
            file.write(frames.tobytes())
        subprocess.run(['gst-tfx', 'process', source, sink, chain], check=True,
                       capture_output=True, cwd=os.environ.get('FILES'))
        with open(sink, 'rb') as file:
            data = file.read()
    n_out = int.from_bytes(data[22:24], 'little')
    data = data[data.index(b'data') + 8:]
    out = array.array('f', data[:4 * n * n_out])
    return [out[i::n_out] for i in range(n_out)]


def make_header(n_channels, n_bytes):
    def number(value, size=4):
        return value.to_bytes(size, 'little')
    return (b'RIFF' + number(36 + n_bytes) + b'WAVEfmt ' + number(16) + number(3, 2)
            + number(n_channels, 2) + number(RATE) + number(4 * n_channels * RATE)
            + number(4 * n_channels, 2) + number(32, 2) + b'data' + number(n_bytes))


def measure_static(chain, levels):
    """(input dB, output dB) of a stage in the steady state."""
    element = Gst.parse_launch('tfxchain')
    element.props.chain = 'stage=' + chain
    stage = element.get_child_by_name('stage')
    gains = stage.emit('gain-curve', GLib.Variant('ad', levels)).unpack()
    return [(level, level + gain) for level, gain in zip(levels, gains)]


def to_db(x):
    return 20 * math.log10(max(abs(x), 1e-9))


def hold(steps):
    """A constant for each (seconds, dB)."""
    return [10 ** (db / 20) for seconds, db in steps
            for _ in range(round(seconds * RATE))]


def tone(steps, hz=1000):
    """A sine, whose peak is the level."""
    return [x * math.sin(2 * math.pi * hz * i / RATE)
            for i, x in enumerate(hold(steps))]


def measure_gain(chain, steps):
    """(ms, gain in dB) where a constant level changes in steps."""
    start = RATE  # the first level has been there for a second
    x = hold([(1, steps[0][1])] + steps)
    y = process(chain, [x])[0]
    return [(1e3 * (i - start) / RATE, to_db(y[i] / x[i]))
            for i in range(start, len(x), 4)]


def measure_level(samples, seconds, step_s):
    """(s, dB) of the largest sample of each step."""
    n = round(step_s * RATE)
    return [((i + n / 2) / RATE, to_db(max(map(abs, samples[i:i + n]))))
            for i in range(0, round(seconds * RATE), n)]


def pulse(seconds, at=0.0):
    x = [0.0] * round(seconds * RATE)
    x[round(at * RATE)] = 1.0
    return x


def measure_tail(chain, seconds, step_s=0.01):
    return measure_level(process(chain, [pulse(seconds)])[0], seconds, step_s)


def measure_echoes(chain, seconds, n_channels=1):
    """For each channel (s, amplitude) of what follows a pulse in the first."""
    silence = [0.0] * round(seconds * RATE)
    out = process(chain, [pulse(seconds)] + [silence] * (n_channels - 1))
    return [[(i / RATE, x) for i, x in enumerate(y) if abs(x) > 1e-6] for y in out]


# ---- drawing ----------------------------------------------------------------

COLOURS = ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#202020']
DASHES = ['', '9 4', '3 3', '9 3 2 3', '2 2']
WIDTH, PLOT_HEIGHT, LINE = 680, 220, 18
LEFT, RIGHT, TOP, BOTTOM, GAP = 58, 14, 12, 44, 70
HZ = [20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000]
STYLE = ('text{font:12px sans-serif;fill:#333}.l{font:12px monospace}'
         '.g{stroke:#ddd;fill:none}.c{stroke-width:2;fill:none;'
         'stroke-linejoin:round;stroke-linecap:round}')


class Panel:
    """Axes, and curves as (points, number of the colour, is it stems)."""

    def __init__(self, x_name, y_name, x, y, y_step, x_ticks, is_log=False):
        self.x_name, self.y_name, self.x, self.y = x_name, y_name, x, y
        self.y_ticks = [k * y_step for k in range(math.ceil(y[0] / y_step),
                                                  math.floor(y[1] / y_step) + 1)]
        self.x_ticks, self.is_log, self.curves = x_ticks, is_log, []

    def add(self, points, colour, is_stems=False):
        self.curves.append((points, colour, is_stems))
        return self

    def place(self, left, width, top):
        self.left, self.width, self.top = left, width, top

    def x_of(self, x):
        low, high = self.x
        if self.is_log:
            x, low, high = math.log(max(x, 1e-9)), math.log(low), math.log(high)
        return self.left + self.width * (x - low) / (high - low)

    def y_of(self, y):
        low, high = self.y
        return self.top + PLOT_HEIGHT * (high - y) / (high - low)

    def draw(self, out, clip):
        bottom, right = self.top + PLOT_HEIGHT, self.left + self.width
        out.append(f"<clipPath id='{clip}'><rect x='{self.left:.0f}' y='{self.top - 1}' "
                   f"width='{self.width:.0f}' height='{PLOT_HEIGHT + 2}'/></clipPath>")
        for tick in self.x_ticks:
            x = self.x_of(tick)
            out.append(f"<path class='g' d='M{x:.1f} {self.top}V{bottom}'/>")
            out.append(make_text(x, bottom + 16, 'middle', name_tick(tick, self.is_log)))
        for tick in self.y_ticks:
            y = self.y_of(tick)
            out.append(f"<path class='g' d='M{self.left:.1f} {y:.1f}H{right:.1f}'/>")
            out.append(make_text(self.left - 6, y + 4, 'end', name_tick(tick)))
        out.append(make_text((self.left + right) / 2, bottom + 34, 'middle', self.x_name))
        x, y = self.left - 44, self.top + PLOT_HEIGHT / 2
        out.append(f"<g transform='rotate(-90 {x:.0f} {y:.0f})'>"
                   + make_text(x, y, 'middle', self.y_name) + '</g>')
        for points, colour, is_stems in self.curves:
            out.append(f"<path class='c' clip-path='url(#{clip})' {make_stroke(colour)} "
                       f"d='{self.trace(points, is_stems)}'/>")

    def trace(self, points, is_stems):
        if is_stems:
            return ''.join(f'M{self.x_of(x):.1f} {self.y_of(0):.1f}V{self.y_of(y):.1f}'
                           for x, y in points)
        # A little more than what is seen, for the edges.
        span = self.y[1] - self.y[0]
        low, high = self.y[0] - span / 4, self.y[1] + span / 4
        at = [(self.x_of(x), self.y_of(min(max(y, low), high))) for x, y in points
              if math.isfinite(y)]
        return 'M' + 'L'.join(f'{x:.1f} {y:.1f}' for x, y in thin(at))


def thin(points, tolerance=0.12):
    """Leaves out points that a straight line between others passes, in pixels."""
    keep, stack = {0, len(points) - 1}, [(0, len(points) - 1)]
    while stack:
        first, last = stack.pop()
        (x0, y0), (x1, y1) = points[first], points[last]
        length = math.hypot(x1 - x0, y1 - y0) or 1.0
        worst, index = tolerance, None
        for i in range(first + 1, last):
            x, y = points[i]
            off = abs((x1 - x0) * (y0 - y) - (x0 - x) * (y1 - y0)) / length
            if off > worst:
                worst, index = off, i
        if index is not None:
            keep.add(index)
            stack += [(first, index), (index, last)]
    return [points[i] for i in sorted(keep)]


def name_tick(value, is_log=False):
    if is_log and value >= 1000:
        return f'{value / 1000:g}k'
    return f'{value:g}'.replace('-', '−')


def make_text(x, y, anchor, text, kind=''):
    text = text.replace('&', '&amp;').replace('<', '&lt;')
    return f"<text{kind} x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}'>{text}</text>"


def make_stroke(colour):
    dash = DASHES[colour % len(DASHES)]
    return (f"stroke='{COLOURS[colour % len(COLOURS)]}'"
            + (f" stroke-dasharray='{dash}'" if dash else ''))


def draw(path, legend, panels):
    """legend: a text for each colour, in their order."""
    top = TOP + LINE * len(legend) + (8 if legend else 0)
    width = (WIDTH - LEFT - RIGHT - GAP * (len(panels) - 1)) / len(panels)
    height = top + PLOT_HEIGHT + BOTTOM
    out = [f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{height}' "
           f"viewBox='0 0 {WIDTH} {height}'>", f'<style>{STYLE}</style>',
           f"<rect width='{WIDTH}' height='{height}' fill='#fff'/>"]
    for i, text in enumerate(legend):
        y = TOP + LINE * i + 8
        out.append(f"<path class='c' {make_stroke(i)} d='M{LEFT} {y}h34'/>")
        out.append(make_text(LEFT + 44, y + 4, 'start', text, " class='l'"))
    for i, panel in enumerate(panels):
        panel.place(LEFT + i * (width + GAP), width, top)
        panel.draw(out, f'p{i}')
    with open(path, 'w', encoding='utf-8') as file:
        file.write('\n'.join(out) + '\n</svg>\n')


# ---- the pictures -----------------------------------------------------------


def hz_panel(y, y_step, y_name='gain (dB)', low=20, high=20000):
    return Panel('frequency (Hz)', y_name, (low, high), y, y_step,
                 [hz for hz in HZ if low <= hz <= high], True)


def gains(y, y_step, *chains, low=20, high=20000):
    panel = hz_panel(y, y_step, low=low, high=high)
    for i, chain in enumerate(chains):
        panel.add(respond(chain, 'gain_db', low, high), i)
    return list(chains), [panel]


def draw_bessel():
    chains = ["LoBessel(1000, order=5, norm='mag')", 'LoButterworth(1000, order=5)']
    delay = hz_panel((0, 1), 0.2, 'group delay (ms)', 100, 10000)
    gain = hz_panel((-80, 6), 20, low=100, high=10000)
    for i, chain in enumerate(chains):
        gain.add(respond(chain, 'gain_db', 100, 10000), i)
        delay.add(respond(chain, 'group_delay_ms', 100, 10000), i)
    return chains, [gain, delay]


def draw_allpass():
    chains = ['AllPass(1000, q=0.7)', 'AllPass(1000, q=3)']
    phase = hz_panel((-360, 0), 90, 'phase (degrees)', 100, 10000)
    delay = hz_panel((0, 2), 0.5, 'group delay (ms)', 100, 10000)
    for i, chain in enumerate(chains):
        degrees = respond(chain, 'phase', 100, 10000)
        phase.add([(hz, d - 360 if d > 1e-6 else d) for hz, d in degrees], i)
        delay.add(respond(chain, 'group_delay_ms', 100, 10000), i)
    return chains, [phase, delay]


def draw_gain():
    chains = ['Gain(2)', 'Gain(2, clamp=True)', "Gain(-6, gain_type='db')", 'Gain(-1)']
    x = [i / 200 for i in range(-200, 201)]
    panel = Panel('input', 'output', (-1, 1), (-2, 2), 1, [-1, -0.5, 0, 0.5, 1])
    for i, chain in enumerate(chains):
        panel.add(list(zip(x, process(chain, [x])[0])), i)
    return chains, [panel]


def draw_stereo(chain):
    """Two sines, and what a chain makes of them."""
    n = RATE // 50
    left = [math.sin(2 * math.pi * 100 * i / RATE) for i in range(n)]
    right = [0.8 * math.sin(2 * math.pi * 300 * i / RATE) for i in range(n)]
    panels = []
    for name, channels in (('input', [left, right]),
                           ('output', process(chain, [left, right]))):
        panel = Panel('time (ms)', name, (0, 20), (-1, 1), 0.5, range(0, 21, 5))
        for i, samples in enumerate(channels):
            panel.add([(1e3 * k / RATE, x) for k, x in enumerate(samples)], i)
        panels.append(panel)
    return ['channel 0', 'channel 1'], panels


def draw_crossfeed():
    names, panel = [], hz_panel((-24, 3), 6)
    for chain in 'Crossfeed()', 'Crossfeed(650, 9.5)':
        for to, side in enumerate(('left', 'right')):
            panel.add(respond(chain, channel='0:%d' % to), len(names))
            names.append('%s, left to %s' % (chain, side))
    return names, [panel]


def tails(chains, seconds, x_ticks):
    panel = Panel('time (s)', 'level (dB)', (0, seconds), (-80, 6), 20, x_ticks)
    for i, chain in enumerate(chains):
        panel.add(measure_tail(chain, seconds), i)
    return chains, [panel]


def draw_convolve():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.path.join(EXAMPLES, 'tfx-room.py'), '--seconds', '1.5',
                        '--channels', '1', os.path.join(folder, 'room.wav')], check=True)
        os.environ['FILES'] = folder
        drawn = tails(["Convolve('room.wav')", "Convolve('room.wav', mix=0.3)"], 1.2,
                      [0, 0.2, 0.4, 0.6, 0.8, 1, 1.2])
        del os.environ['FILES']
    return drawn


def draw_hrir():
    """The ears of an artificial head, in milliseconds."""
    os.environ['FILES'] = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                       '..', '..', 'tests', 'golden')
    panel = Panel('time (ms)', 'amplitude', (0, 1), (-0.5, 0.8), 0.25,
                  [0, 0.2, 0.4, 0.6, 0.8, 1])
    for i, y in enumerate(measure_echoes("HRIR('head.sofa', azimuth=[60])", 0.001)):
        panel.add([(1000 * t, x) for t, x in y], i, True)
    del os.environ['FILES']
    return ['left ear', 'right ear'], [panel]


def draw_echo():
    chains = ['Echo()', 'Echo(delay=12000, decay=0.8)']
    panel = Panel('time (s)', 'amplitude', (-0.02, 0.6), (0, 1), 0.25,
                  [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    for i, chain in enumerate(chains):
        panel.add(measure_echoes(chain, 0.6)[0], i, True)
    return chains, [panel]


def draw_delay():
    chain = "Delay(bpm=120, delay_time='1/8', feedback=0.6, mix=0.5, taps=5%s)"
    names = ['', ", strategy='ping-pong'"]
    panels = []
    for name, title in zip(names, ('strategy=\'mono\'', 'strategy=\'ping-pong\'')):
        panel = Panel('time (s)', 'amplitude', (-0.05, 1.5), (0, 0.6), 0.2,
                      [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5])
        panel.x_name += f', {title}'
        for i, points in enumerate(measure_echoes(chain % name, 1.5, 2)):
            panel.add(points, i, True)
        panels.append(panel)
    return ['channel 0', 'channel 1'], panels


def draw_align():
    chains = ["Align(5, unit='samples')", "Align(8.5, unit='samples')",
              "Align(1, unit='ft')"]
    at, n = 10, 100
    panel = Panel('time (ms)', 'amplitude', (-0.1, 1.1), (-0.25, 1), 0.25,
                  [0, 0.2, 0.4, 0.6, 0.8, 1])
    for i, chain in enumerate(chains):
        y = process(chain, [pulse(n / RATE, at / RATE)])[0]
        panel.add([(1e3 * (k - at) / RATE, x) for k, x in enumerate(y)], i)
    return chains, [panel]


def dynamics(chains, levels, steps, gain_range, gain_step):
    low, high = levels
    static = Panel('input level (dB)', 'output level (dB)', levels, levels, 20,
                   range(low, high + 1, 20))
    seconds = sum(s for s, _ in steps)
    time = Panel('time (ms)', 'gain (dB)', (0, 1e3 * seconds), gain_range, gain_step,
                 range(0, round(1e3 * seconds) + 1, 100))
    for i, chain in enumerate(chains):
        static.add(measure_static(chain, [low + 0.25 * k
                                          for k in range(4 * (high - low) + 1)]), i)
        time.add(measure_gain(chain, steps), i)
    return chains, [static, time]


def band_dynamics(chains, hz, steps):
    """A tone in the band: its output by its level, and over time."""
    static = Panel('input level (dB)', 'output level (dB)', (-60, 0), (-60, 0), 20,
                   range(-60, 1, 20))
    seconds = sum(s for s, _ in steps)
    time = Panel('time (ms)', 'peak level (dB)', (0, 1e3 * seconds), (-50, 0), 10,
                 range(0, round(1e3 * seconds) + 1, 100))
    x = tone(steps, hz)
    for i, chain in enumerate(chains):
        static.add(measure_static(chain, [k / 4 for k in range(-240, 1)]), i)
        time.add([(1e3 * s, db) for s, db in measure_level(
            process(chain, [x])[0], seconds, 0.002)], i)
    return chains, [static, time]


def draw_keys():
    """Levels and gains at a voice of two words."""
    steps = [(0.3, -80), (0.4, -12), (0.3, -80), (0.4, -18), (0.6, -80)]
    seconds = sum(s for s, _ in steps)
    voice, music = tone(steps), hold([(seconds, -20)])
    level = Panel('time (s)', 'level of the voice (dB)', (0, seconds), (-60, 0), 20,
                  [0, 0.5, 1, 1.5, 2])
    gain = Panel('time (s)', 'gain of the music (dB)', (0, seconds), (-24, 1), 6,
                 [0, 0.5, 1, 1.5, 2])
    level.add(measure_level(voice, seconds, 0.005), len(COLOURS) - 1)
    chains = [f'Compressor(-40, attack=0.02, release={release}, key=[2])'
              for release in (0.1, 0.5)]
    for i, chain in enumerate(chains):
        y = process(chain, [music, music, voice])[0]
        gain.add([(k / RATE, to_db(y[k] / music[k]))
                  for k in range(0, len(y), 96)], i)
    return chains, [level, gain]


def draw_limiter():
    chains = ['Limiter(-6)', 'Limiter(-6, release=0.2)']
    steps = [(0.02, -18), (0.01, 0), (0.07, -18)]
    panel = Panel('time (ms)', 'gain (dB)', (0, 100), (-8, 1), 2, range(0, 101, 10))
    for i, chain in enumerate(chains):
        panel.add(measure_gain(chain, steps), i)
    return chains, [panel]


def draw_denoise():
    names = ['input', 'Denoise(12)', 'Denoise(24, learn=0.5)']
    random.seed(1)
    steps = [(0.6, -200)] + 5 * [(0.4, -20), (0.3, -200)] + [(0.1, -200)]
    x = [y + random.gauss(0, 0.003) for y in tone(steps)]
    panel = Panel('time (s)', 'peak level (dB)', (0, 4), (-70, -10), 20, range(5))
    for i, samples in enumerate([x] + [process(chain, [x])[0] for chain in names[1:]]):
        panel.add(measure_level(samples, 4, 0.02), i)
    return names, [panel]


def levels_over_time(chains, names, steps, y, y_step):
    """The input, and what the chains make of it."""
    seconds = sum(s for s, _ in steps)
    x = tone(steps)
    panel = Panel('time (s)', 'peak level (dB)', (0, seconds), y, y_step,
                  range(0, round(seconds) + 1, 2))
    for i, samples in enumerate([x] + [process(chain, [x])[0] for chain in chains]):
        panel.add(measure_level(samples, seconds, 0.05), i)
    return names, [panel]


PICTURES = {
    'butterworth': lambda: gains(
        (-80, 6), 20, 'LoButterworth(1000, order=2)', 'LoButterworth(1000)',
        'HiButterworth(100, order=4)', "Butterworth('bandpass', [300, 3400])"),
    'chebyshev1': lambda: gains(
        (-80, 6), 20, 'LoChebyshev1(1000, order=4, ripple=1)',
        'LoChebyshev1(1000, order=8, ripple=1)', 'HiChebyshev1(100, ripple=1)'),
    'chebyshev2': lambda: gains(
        (-80, 6), 20, 'LoChebyshev2(1000, ripple=40)',
        'LoChebyshev2(1000, order=8, ripple=60)', 'HiChebyshev2(100, ripple=40)'),
    'elliptic': lambda: gains(
        (-80, 6), 20, 'LoElliptic(1000, stopband_attenuation=60)',
        'LoElliptic(1000, order=8, stopband_attenuation=60)', 'HiElliptic(100)'),
    'bessel': draw_bessel,
    'linkwitz-riley': lambda: gains(
        (-60, 6), 20, 'LoLinkwitzRiley(2000)', 'HiLinkwitzRiley(2000)',
        'LoLinkwitzRiley(2000) + HiLinkwitzRiley(2000)'),
    'parametric-eq': lambda: gains(
        (-12, 12), 6, 'ParametricEQ(1000, q=1, gain=6)',
        'ParametricEQ(1000, q=4, gain=6)', 'ParametricEQ(1000, q=1, gain=-9)'),
    'shelving': lambda: gains(
        (-12, 12), 6, "LoShelving(200, q=0.7, gain=6, gain_scale='db')",
        "HiShelving(4000, q=0.7, gain=6, gain_scale='db')",
        "HiShelving(4000, q=1.5, gain=-9, gain_scale='db')"),
    'shelving1': lambda: gains(
        (-12, 12), 6, "LoShelving1(200, gain=6, gain_scale='db')",
        "HiShelving1(4000, gain=-9, gain_scale='db')",
        "HiShelving(4000, q=0.7, gain=-9, gain_scale='db')"),
    'graphic-eq': lambda: gains(
        (-12, 12), 6, 'GraphicEQ([6, 4, 2, 0, -2, -3, 0, 2, 4, 4])'),
    'log-filter-bank': lambda: gains(
        (-30, 10), 10, 'LogFilterBank(10, f_min=50, f_max=10000)',
        'LogFilterBank(4, f_min=50, f_max=10000, q=8)'),
    'multiband': lambda: gains(
        (-60, 6), 20, 'Multiband([200, 2000], None, Gain(0), Gain(0))',
        'Multiband([200, 2000], Gain(0), None, Gain(0))',
        'Multiband([200, 2000], Gain(0), Gain(0), None)',
        'Multiband([200, 2000], None, None, None)'),
    'notch': lambda: gains(
        (-40, 3), 10, 'Notch(1000, q=2)', 'Notch(1000, q=30)', low=200, high=5000),
    'hum': lambda: gains(
        (-40, 3), 10, 'Hum(50)', 'Hum(50, harmonics=4, q=8)', low=20, high=1000),
    'biquad-low-high': lambda: gains(
        (-60, 20), 20, 'BiquadLPF(1000, q=0.7071)', 'BiquadLPF(1000, q=5)',
        'BiquadHPF(100, q=0.7071)'),
    'biquad-band': lambda: gains(
        (-40, 20), 20, 'BiquadBPF(1000, q=1)', 'BiquadBPF(1000, q=5)',
        'BiquadBPFPeak(1000, q=5)'),
    'all-pass': draw_allpass,
    'biquad': lambda: gains(
        (-60, 6), 20, 'Biquad(1, -2, 1, 1, -1.98, 0.9801)',
        'SOS([[1, -2, 1, 1, -1.98, 0.9801], [0.07, 0.07, 0, 1, -0.86, 0]])'),
    'riaa': lambda: gains((-20, 20), 10, 'RIAA()', "RIAA('recording')"),
    'weighting': lambda: gains(
        (-60, 20), 20, "Weighting('A')", "Weighting('C')", "Weighting('K')"),
    'fir': lambda: gains(
        (-40, 3), 10, 'FIR([0.25, 0.5, 0.25])',
        'FIR([0.5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5])'),
    'convolve': draw_convolve,
    'hrir': draw_hrir,
    'designable-fir': lambda: gains(
        (-120, 6), 20, 'DesignableFIR(1000, 101)', 'DesignableFIR(1000, 255)',
        "DesignableFIR(1000, 255, window=('kaiser', 8.6))", low=200, high=5000),
    'curve': lambda: gains(
        (-12, 12), 6, 'Curve([[20, -3], [100, 2], [20000, 0]])',
        'Curve([[50, 0], [63, -8], [80, 0], [2000, 0], [3000, 6], [4000, 0]])',
        'Curve([[50, 0], [63, -8], [80, 0], [2000, 0], [3000, 6], [4000, 0]], '
        'taps=1001)'),
    'linear-phase': lambda: gains(
        (-60, 6), 20, 'LinearPhase(HiButterworth(80, order=4))',
        'LinearPhase(HiButterworth(80, order=4), taps=1001)',
        'LinearPhase(HiButterworth(80, order=4), taps=255)'),
    'loudness-contour': lambda: gains(
        (-6, 24), 6, 'LoudnessContour(70)', 'LoudnessContour(60)',
        'LoudnessContour(40)'),
    'gain': draw_gain,
    'mix': lambda: draw_stereo('Mix([[0.5, 0.5], [0.5, -0.5]])'),
    'crossfeed': draw_crossfeed,
    'width': lambda: draw_stereo('Width(0.4)'),
    'reverb': lambda: tails(
        ['Reverb(room_size=0.2, mix=1)', 'Reverb(mix=1)',
         'Reverb(room_size=0.9, mix=1)'], 2, [0, 0.5, 1, 1.5, 2]),
    'echo': draw_echo,
    'delay': draw_delay,
    'align': draw_align,
    'compressor': lambda: dynamics(
        ['Compressor(-20)', 'Compressor(-20, ratio=2, release=0.1)'], (-60, 0),
        [(0.1, -40), (0.2, -8), (0.4, -40)], (-12, 1), 3),
    'expander': lambda: dynamics(
        ['Expander(-40)', 'Expander(-40, ratio=4, floor=-30)'], (-80, 0),
        [(0.1, -20), (0.3, -50), (0.3, -20)], (-40, 3), 10),
    'gate': lambda: dynamics(
        ['Gate(-50)', 'Gate(-40, release=0.1, floor=-40)'], (-80, 0),
        [(0.1, -80), (0.2, -20), (0.4, -80)], (-80, 6), 20),
    'dynamic-eq': lambda: band_dynamics(
        ['DynamicEQ(3000, q=2)', 'DynamicEQ(3000, q=2, ratio=2, release=0.1)',
         'DynamicEQ(3000, q=2, range=6)'], 3000,
        [(0.1, -40), (0.2, -12), (0.3, -40)]),
    'de-ess': lambda: band_dynamics(
        ['DeEss()', 'DeEss(ratio=inf, range=-20)'], 12000,
        [(0.1, -40), (0.2, -12), (0.3, -40)]),
    'keys': draw_keys,
    'limiter': draw_limiter,
    'denoise': draw_denoise,
    'normalize': lambda: levels_over_time(
        ['Normalize()', 'Normalize(0.5, window=1)'],
        ['input', 'Normalize()', 'Normalize(0.5, window=1)'],
        [(6, -24), (6, -8), (6, -18)], (-30, 3), 10),
    'loudness': lambda: levels_over_time(
        ['Loudness()', 'Loudness(-16, speed=1)'],
        ['input', 'Loudness()', 'Loudness(-16, speed=1)'],
        [(6, -34), (6, -20), (12, -28)], (-40, 3), 10),
}


def main():
    Gst.init(None)
    folder, names = sys.argv[1], sys.argv[2:] or list(PICTURES)
    for name in names:
        draw(os.path.join(folder, name + '.svg'), *PICTURES[name]())


if __name__ == '__main__':
    main()
