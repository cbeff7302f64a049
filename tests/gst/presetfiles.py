#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""presetfiles.py: presets of Equalizer APO, EasyEffects and CamillaDSP sound as in
those programs, as TAP.

    presetfiles.py [SEED]

50 files, whose lines and numbers this program makes, go through `tfxchain
location=`, with noise in each channel, in double. The samples are compared with the
formulas of the programs, computed here: those of the Audio EQ Cookbook with Equalizer
APO's conventions, the analog cascades of lsp-plugins with the bilinear transform, and
those that CamillaDSP documents. Then static curves of dynamics, files that name
others, and texts that must be refused with their place.
"""
import array
import concurrent.futures
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import wave

RATE = 48000
N = 2048
TOLERANCE = 1e-9  # of the peaks of input and output


def db(gain):
    return 10 ** (gain / 20)


# ---- what a program does to channels ------------------------------------------------

def section(b, a):
    def run(x):
        out, x1, x2, y1, y2 = [], 0.0, 0.0, 0.0, 0.0
        b0, b1, b2, a1, a2 = [v / a[0] for v in (*b, *a[1:])]
        for s in x:
            y = b0 * s + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2
            x1, x2, y1, y2 = s, x1, y, y1
            out.append(y)
        return out
    return run


def gain(factor):
    return lambda x: [factor * s for s in x]


def delay(n):
    return lambda x: ([0.0] * n + x)[:len(x)]


def fir(taps):
    return lambda x: [sum(t * x[i - k] for k, t in enumerate(taps) if k <= i)
                      for i in range(len(x))]


def clip(limit):
    return lambda x: [max(-limit, min(limit, s)) for s in x]


def series(*runs):
    def run(x):
        for each in runs:
            x = each(x)
        return x
    return run


def on(channels, run):
    """A step for some channels; None: all."""
    return lambda all_channels: [
        run(x) if channels is None or i in channels else x
        for i, x in enumerate(all_channels)]


def matrix(rows):
    return lambda all_channels: [
        [sum(g * s for g, s in zip(row, frame)) for frame in zip(*all_channels)]
        for row in rows]


# ---- formulas ------------------------------------------------------------------------

def cookbook(kind, hz, gain_db=0.0, q=None, bw=None, s=None):
    """The Audio EQ Cookbook; the width is q, bw octaves or the slope s."""
    w = 2 * math.pi * hz / RATE
    sn, cs, a = math.sin(w), math.cos(w), 10 ** (gain_db / 40)
    if s is not None:
        alpha = sn / 2 * math.sqrt((a + 1 / a) * (1 / s - 1) + 2)
    elif bw is not None:
        alpha = sn * math.sinh(math.log(2) / 2 * bw * w / sn)
    else:
        alpha = sn / (2 * q)
    beta = 2 * math.sqrt(a) * alpha
    low, high = (a + 1) - (a - 1) * cs, (a + 1) + (a - 1) * cs
    plain = (1 + alpha, -2 * cs, 1 - alpha)
    return section(*{
        'LP': (((1 - cs) / 2, 1 - cs, (1 - cs) / 2), plain),
        'HP': (((1 + cs) / 2, -1 - cs, (1 + cs) / 2), plain),
        'BP': ((alpha, 0, -alpha), plain),
        'NO': ((1, -2 * cs, 1), plain),
        'AP': ((1 - alpha, -2 * cs, 1 + alpha), plain),
        'PK': ((1 + alpha * a, -2 * cs, 1 - alpha * a),
               (1 + alpha / a, -2 * cs, 1 - alpha / a)),
        'LS': ((a * (low + beta), 2 * a * ((a - 1) - (a + 1) * cs),
                a * (low - beta)),
               (high + beta, -2 * ((a - 1) + (a + 1) * cs), high - beta)),
        'HS': ((a * (high + beta), -2 * a * ((a - 1) + (a + 1) * cs),
                a * (high - beta)),
               (low + beta, 2 * ((a - 1) - (a + 1) * cs), low - beta)),
    }[kind])


def analog(hz, t, b):
    """(t0 + t1 s + t2 s^2) / (b0 + b1 s + b2 s^2), s = 1 at hz, bilinear."""
    k = 1 / math.tan(math.pi * hz / RATE)

    def change(c):
        return (c[0] + c[1] * k + c[2] * k * k, 2 * (c[0] - c[2] * k * k),
                c[0] - c[1] * k + c[2] * k * k)
    return section(change(t), change(b))


def butterworth(kind, hz, order):
    """Sections by the angles of the poles."""
    runs = []
    if order % 2:
        runs.append(analog(hz, (0, 1, 0) if kind == 'HP' else (1, 0, 0),
                           (1, 1, 0)))
    for n in range(order // 2):
        q = 1 / (2 * math.sin(math.pi / order * (n + 0.5)))
        runs.append(cookbook(kind, hz, q=q))
    return series(*runs)


def linkwitz(kind, hz, order):
    half = butterworth(kind, hz, order // 2)
    return series(half, half)


# ---- Equalizer APO ------------------------------------------------------------------

class Apo:
    suffix, channels = '.txt', 2

    def __init__(self, rng, number):
        self.rng, self.steps, self.selected = rng, [], None
        self.lines = ['# made by a test', 'Device: all', '']
        kinds = [self.filter] * 4 + [self.filter_width, self.shelf, self.channel,
                                     self.copy, self.delay, self.preamp,
                                     self.iir, self.off]
        for i in range(9):
            kinds[(5 * number + i) % len(kinds)]()
        self.text = '\n'.join(self.lines) + '\n'

    def hz(self):
        return round(math.exp(self.rng.uniform(math.log(25), math.log(18000))), 2)

    def db(self):
        return round(self.rng.uniform(-15, 15), 1)

    def add(self, line, run):
        self.lines.append(line)
        self.steps.append(on(self.selected, run))

    def filter(self):
        kind = self.rng.choice(('PK', 'PEQ', 'Modal', 'LP', 'LPQ', 'HP', 'HPQ',
                                'BP', 'NO', 'AP'))
        hz, gain_db, q = self.hz(), self.db(), round(self.rng.uniform(0.2, 9), 3)
        model = 'PK' if kind in ('PK', 'PEQ', 'Modal') else kind[:2]
        line = 'Filter %d: ON %s Fc %s Hz' % (len(self.lines), kind, hz)
        if model == 'PK':
            line += ' Gain %s dB' % gain_db
        if kind in ('LP', 'HP', 'BP', 'NO') and self.rng.random() < 0.5:
            q = 30 if kind == 'NO' else math.sqrt(0.5)
        else:
            line += ' Q %s' % q
        self.add(line, cookbook(model, hz, gain_db, q=q))

    def filter_width(self):
        kind = self.rng.choice(('PK', 'LPQ', 'HPQ', 'BP', 'NO', 'AP'))
        hz, gain_db, bw = self.hz(), self.db(), round(self.rng.uniform(.1, 2.5), 2)
        self.add('Filter: ON %s Fc %s Hz Gain %s dB BW Oct %s' % (
            kind, hz, gain_db, bw), cookbook(kind[:2], hz, gain_db, bw=bw))

    def shelf(self):
        kind = self.rng.choice(('LS', 'HS', 'LSC', 'HSC'))
        hz, gain_db = self.hz(), self.db()
        how = self.rng.choice(('slope', 'q', 'none'))
        a = 10 ** (gain_db / 40)
        s, width = 0.9, ''
        line = 'Filter: ON ' + kind
        if how == 'slope':
            slope = self.rng.choice((6, 12, 9.5))
            line, s = line + ' %sdB' % slope, slope / 12
        elif how == 'q':
            q = round(self.rng.uniform(0.4, 0.9), 2)
            s, width = 1 / ((1 / q ** 2 - 2) / (a + 1 / a) + 1), ' Q %s' % q
        centre = hz
        if how != 'none' and not kind.endswith('C'):
            factor = 10 ** (abs(gain_db) / 80 / s)
            centre = hz * factor if kind == 'LS' else hz / factor
        if centre > 20000:
            return
        self.add('%s Fc %s Hz Gain %s dB%s' % (line, hz, gain_db, width),
                 cookbook(kind[:2], centre, gain_db, s=s))

    def channel(self):
        name, self.selected = self.rng.choice((
            ('L', {0}), ('R', {1}), ('1', {0}), ('2', {1}), ('L R', {0, 1}),
            ('all', None)))
        self.lines.append('Channel: ' + name)

    def copy(self):
        line, rows = self.rng.choice((
            ('L=R R=L', [[0, 1], [1, 0]]),
            ('L=0.5*L+0.5*R R=-6dB*L+-0.25*R',
             [[0.5, 0.5], [db(-6), -0.25]]),
            ('R=L', [[1, 0], [1, 0]]),
            ('1=2+0.5*1', [[0.5, 1], [0, 1]]),
            ('R=0.0', [[1, 0], [0, 0]])))
        self.lines.append('Copy: ' + line)
        self.steps.append(matrix(rows))

    def delay(self):
        if self.rng.random() < 0.5:
            ms = round(self.rng.uniform(0, 20), 3)
            self.add('Delay: %s ms' % ms, delay(int(RATE * ms / 1000 + 0.5)))
        else:
            n = self.rng.randrange(1000)
            self.add('Delay: %d samples' % n, delay(n))

    def preamp(self):
        gain_db = self.db()
        self.add('  Preamp: %s dB' % gain_db, gain(db(gain_db)))

    def iir(self):
        if self.rng.random() < 0.5:
            self.add('Filter: ON IIR Order 1 Coefficients 1 0.5 2 -1.2',
                     section((1, 0.5, 0), (2, -1.2, 0)))
        else:
            self.add('Filter: ON IIR Order 2 Coefficients 1 0.5 -0.3 2 -1.2 0.5',
                     section((1, 0.5, -0.3), (2, -1.2, 0.5)))

    def off(self):
        self.lines += ['Filter: OFF PK Fc 100 Hz Gain 3 dB Q 1',
                       'Filter: ON None', 'Stage: post-mix']


# ---- EasyEffects --------------------------------------------------------------------

class EasyEffects:
    suffix, channels = '.json', 2
    modes = [('RLC (BT)', kind) for kind in (
        'Bell', 'Hi-pass', 'Hi-shelf', 'Lo-pass', 'Lo-shelf', 'Notch',
        'Resonance', 'Allpass')] + [('APO (DR)', kind) for kind in (
            'Bell', 'Hi-pass', 'Hi-shelf', 'Lo-pass', 'Lo-shelf', 'Notch',
            'Resonance', 'Allpass', 'Bandpass')] + [
                (mode, kind) for mode in ('BWC (BT)', 'LRX (BT)') for kind in (
                    'Hi-pass', 'Hi-shelf', 'Lo-pass', 'Lo-shelf', 'Notch',
                    'Resonance')] + [('BWC (BT)', 'Allpass')]

    def __init__(self, rng, number):
        self.rng, self.steps, self.number = rng, [], number
        is_split = number % 3 == 0
        bands = 8
        sides = [self.side(bands, 2 * number + k) for k in range(1 + is_split)]
        self.add_gain(-3.5)
        for k, (_, run) in enumerate(sides):
            self.steps.append(on({k} if is_split else None, run))
        self.add_gain(1.25)
        preset = {'output': {
            'blocklist': [],
            'plugins_order': ['autogain#0', 'equalizer#0', 'level_meter#0'],
            'autogain#0': {'bypass': True, 'target': -12.0},
            'level_meter#0': {'bypass': False},
            'equalizer#0': {
                'bypass': False, 'input-gain': -3.5, 'output-gain': 1.25,
                'mode': 'IIR', 'decramp': 'Off', 'split-channels': is_split,
                'balance': 0.0, 'pitch-left': 0.0, 'pitch-right': 0.0,
                'num-bands': bands, 'left': sides[0][0],
                'right': sides[-1][0]}}}
        del preset['output']['blocklist']
        self.text = json.dumps(preset, indent=4 if number % 2 else None)

    def add_gain(self, gain_db):
        self.steps.append(on(None, gain(db(gain_db))))

    def side(self, n, first):
        bands, runs = {}, []
        for i in range(n):
            mode, kind = self.modes[(first * n + i) % len(self.modes)]
            q = round(self.rng.uniform(0, 4), 3)
            if mode[:3] in ('BWC', 'LRX') and kind not in ('Notch', 'Resonance'):
                q = 0
            band = {
                'type': kind, 'mode': mode, 'slope': 'x%d' % self.rng.randint(1, 4),
                'solo': False, 'mute': i == 5,
                'gain': round(self.rng.uniform(-9, 9), 2), 'q': q,
                'frequency': round(math.exp(self.rng.uniform(4, 9.6)), 2),
                'width': 4.0}
            if i == 7:
                band['type'] = 'Off'
            bands['band%d' % i] = band
            if i not in (5, 7):
                runs.append(self.model(band))
        return bands, series(*runs)

    def model(self, band):
        """As lsp-plugins computes it, with slopes of x1 to x4."""
        kind, hz, q = band['type'], band['frequency'], band['q']
        n, g = int(band['slope'][1]), db(band['gain'])
        if band['mode'] == 'APO (DR)':
            name = {'Bell': 'PK', 'Resonance': 'PK', 'Hi-pass': 'HP',
                    'Hi-shelf': 'HS', 'Lo-pass': 'LP', 'Lo-shelf': 'LS',
                    'Notch': 'NO', 'Allpass': 'AP', 'Bandpass': 'BP'}[kind]
            return cookbook(name, hz, band['gain'], q=max(q, 0.1))
        if kind == 'Notch':
            return analog(hz, (1, 0, 1), (1, 2 / (1 + q), 1))
        if kind == 'Resonance':
            angle, k = math.atan(g ** (1 / n)), 2 / (1 + q)
            return series(*[analog(hz, (1, k * math.sin(angle), 1),
                                   (1, k * math.cos(angle), 1))] * n)
        if band['mode'] == 'BWC (BT)':
            return self.bwc(kind, hz, g, n)
        if band['mode'] == 'LRX (BT)':
            once = self.bwc(kind, hz, math.sqrt(g), 2 * n, 1)
            return series(once, once)
        k, runs = 2 / (1 + q), []
        for j in range(n):
            if kind == 'Bell':
                fg = g ** (1 / n)
                angle = math.atan(fg)
                kb = 2 * (1 / fg + fg) / (1 + 2 * q / n)
                t, b = (1, kb * math.sin(angle), 1), (1, kb * math.cos(angle), 1)
            elif kind == 'Allpass':
                t, b = (1, -k, 1), (1, k, 1)
            elif kind.endswith('pass'):
                t = (0, 0, 1) if kind == 'Hi-pass' else (1, 0, 0)
                b = (1, k, 1)
            else:
                fg = math.sqrt(g) ** (1 / (2 * n))
                t, b = (fg, k, 1 / fg), (1 / fg, k, fg)
                if kind == 'Hi-shelf':
                    t, b = b, t
                if j == 0:
                    t = [math.sqrt(g) * c for c in t]
            runs.append(analog(hz, t, b))
        return series(*runs)

    @staticmethod
    def bwc(kind, hz, g, n, per_slope=2):
        """With quality 0; passes have per_slope n poles."""
        runs = []
        if kind.endswith('pass'):
            n *= per_slope
            for j in range(0, n, 2):
                c = math.cos((j + 1) * math.pi / 2 / n)
                t = {'Hi-pass': (0, 0, 1), 'Lo-pass': (1, 0, 0),
                     'Allpass': (1, -2 * c, 1)}[kind]
                runs.append(analog(hz, t, (1, 2 * c, 1)))
            return series(*runs)
        fg = math.sqrt(g) ** (1 / (2 * n))
        for j in range(n):
            c = math.cos((2 * j + 1) * math.pi / 2 / (2 * n))
            t, b = (1 / fg, 2 * c, fg), (fg, 2 * c, 1 / fg)
            if kind == 'Lo-shelf':
                t, b = b, t
            if j == 0:
                t = [math.sqrt(g) * v for v in t]
            runs.append(analog(hz, t, b))
        return series(*runs)


# ---- CamillaDSP ---------------------------------------------------------------------

class Camilla:
    suffix, channels = '.yml', 2
    plain = (('Peaking', 'PK'), ('Notch', 'NO'), ('Bandpass', 'BP'),
             ('Allpass', 'AP'))

    def __init__(self, rng, number):
        self.rng, self.steps, self.filters = rng, [], []
        kinds = [self.simple, self.shelf, self.first, self.wide, self.free,
                 self.notch, self.linkwitz, self.combo, self.five, self.tilt,
                 self.graphic, self.gain, self.delay, self.values, self.limiter,
                 self.all_pass]
        pipeline, rows = '', [[0.5, -1, 0], [0, 0, 0], [0, db(-3), 0.25]]
        self.channels = 3
        for i in range(6):
            name = 'f%d' % i
            kind, parameters, run = kinds[(6 * number + i) % len(kinds)]()
            self.filters.append('  %s:\n    type: %s\n    parameters: {%s}\n' % (
                name if i else 'f_48000', kind, parameters))
            channels = rng.choice((None, [0], [1, 2], [0, 1, 2]))
            pipeline += '- type: Filter\n  names: [%s]\n%s' % (
                name if i else '"f_$samplerate$"',
                '' if channels is None else '  channels: %s\n' % channels)
            self.steps.append(on(channels, run))
        pipeline += '- {type: Mixer, name: m, bypassed: false}\n' \
            '- {type: Mixer, name: nowhere, bypassed: true}\n'
        self.steps.append(matrix(rows))
        self.text = (
            '---\ntitle: "a test"\ndevices:\n  samplerate: %d\n  chunksize: 1024\n'
            '  capture: {type: Stdin, channels: 3, format: F64_LE}\n'
            'mixers:\n  m:\n    channels: {in: 3, out: 3}\n    mapping:\n'
            '    - dest: 0\n      sources:\n'
            '      - {channel: 0, gain: 0.5, scale: linear}\n'
            '      - {channel: 1, inverted: true}\n'
            '    - dest: 2\n      mute: null\n      sources:\n'
            '      - {channel: 1, gain: -3}\n'
            '      - {channel: 0, gain: 1.0, mute: true}\n'
            '      - {channel: 2, gain: 0.25, scale: linear}\n'
            'filters:\n%spipeline:\n%s' % (RATE, ''.join(self.filters), pipeline))

    def hz(self):
        return round(math.exp(self.rng.uniform(3.5, 9.6)), 2)

    def db(self):
        return round(self.rng.uniform(-12, 12), 2)

    def simple(self):
        kinds = self.plain + (('Lowpass', 'LP'), ('Highpass', 'HP'))
        return self.biquad(kinds, 'q', 0.3, 8, 3)

    def wide(self):
        return self.biquad(self.plain, 'bandwidth', 0.2, 2, 2)

    def biquad(self, kinds, key, low, high, digits):
        kind, model = self.rng.choice(kinds)
        hz, width, gain_db = (self.hz(), round(self.rng.uniform(low, high), digits),
                              self.db())
        text = 'type: %s, freq: %s, %s: %s' % (kind, hz, key, width)
        if kind == 'Peaking':
            text += ', gain: %s' % gain_db
        return 'Biquad', text, cookbook(model, hz, gain_db, **{
            'bw' if key == 'bandwidth' else key: width})

    def shelf(self):
        kind, hz, gain_db = self.rng.choice(('Low', 'High')), self.hz(), self.db()
        if self.rng.random() < 0.5:
            width, how = 'q: 0.6', {'q': 0.6}
        else:
            width, how = 'slope: 7.5', {'s': 7.5 / 12}
        return ('Biquad', 'type: %sshelf, freq: %s, gain: %s, %s' % (
            kind, hz, gain_db, width),
            cookbook(kind[0] + 'S', hz, gain_db, **how))

    def first(self):
        kind, hz, gain_db = self.rng.choice((
            'LowpassFO', 'HighpassFO', 'LowshelfFO', 'HighshelfFO')), \
            self.hz(), self.db()
        t, a = math.tan(math.pi * hz / RATE), 10 ** (gain_db / 40)
        b, d = {
            'LowpassFO': ((t, t, 0), (1 + t, t - 1, 0)),
            'HighpassFO': ((1, -1, 0), (1 + t, t - 1, 0)),
            'LowshelfFO': ((a * a * t + a, a * a * t - a, 0),
                           (t + a, t - a, 0)),
            'HighshelfFO': ((a * t + a * a, a * t - a * a, 0),
                            (a * t + 1, a * t - 1, 0))}[kind]
        text = 'type: %s, freq: %s' % (kind, hz)
        if 'shelf' in kind:
            text += ', gain: %s' % gain_db
        return 'Biquad', text, section(b, d)

    def all_pass(self):
        hz = self.hz()
        alpha = math.tan(math.pi * hz / RATE)
        alpha = (alpha + 1) / (alpha - 1)
        return ('Biquad', 'type: AllpassFO, freq: %s' % hz,
                section((1, alpha, 0), (alpha, 1, 0)))

    def free(self):
        return ('Biquad', 'type: Free, b0: 0.5, b1: -0.25, b2: 1e-1, a1: -1.2, '
                'a2: 0.5', section((0.5, -0.25, 0.1), (1, -1.2, 0.5)))

    def notch(self):
        p, z, q = self.hz(), self.hz(), round(self.rng.uniform(0.5, 3), 2)
        normal = self.rng.random() < 0.5
        tp, tz = math.tan(math.pi * p / RATE), math.tan(math.pi * z / RATE)
        g = tp ** 2 / tz ** 2 if normal else 1
        return ('Biquad', 'type: GeneralNotch, freq_p: %s, freq_z: %s, q_p: %s, '
                'normalize_at_dc: %s' % (p, z, q, str(normal).lower()),
                section((g * (1 + tz ** 2), -2 * g * (1 - tz ** 2),
                         g * (1 + tz ** 2)),
                        (1 + tp / q + tp ** 2, -2 + 2 * tp ** 2,
                         1 - tp / q + tp ** 2)))

    def linkwitz(self):
        act, target = 70.5, 30.25
        d0, d1 = (2 * math.pi * act) ** 2, 2 * math.pi * act / 1.2
        c0, c1 = (2 * math.pi * target) ** 2, 2 * math.pi * target / 0.6
        fc = (act + target) / 2
        g = 2 * math.pi * fc / math.tan(math.pi * fc / RATE)
        return ('Biquad', 'type: LinkwitzTransform, freq_act: 70.5, q_act: 1.2, '
                'freq_target: 30.25, q_target: 0.6',
                section((d0 + g * d1 + g * g, 2 * (d0 - g * g),
                         d0 - g * d1 + g * g),
                        (c0 + g * c1 + g * g, 2 * (c0 - g * g),
                         c0 - g * c1 + g * g)))

    def combo(self):
        kind, hz = self.rng.choice(('Butterworth', 'LinkwitzRiley')), self.hz()
        side = self.rng.choice(('Low', 'High'))
        order = self.rng.choice((2, 4, 6, 8) if kind[0] == 'L'
                                else (1, 2, 3, 4, 5, 8))
        model = linkwitz if kind[0] == 'L' else butterworth
        return ('BiquadCombo', 'type: %s%spass, freq: %s, order: %d' % (
            kind, side, hz, order), model(side[0] + 'P', hz, order))

    def five(self):
        names, text, runs = ('ls', 'p1', 'p2', 'p3', 'hs'), [], []
        for name in names:
            hz, q, gain_db = self.hz(), round(self.rng.uniform(0.4, 3), 2), self.db()
            text.append('f%s: %s, q%s: %s, g%s: %s' % (
                name, hz, name, q, name, gain_db))
            runs.append(cookbook({'l': 'LS', 'p': 'PK', 'h': 'HS'}[name[0]], hz,
                                 gain_db, q=q))
        return ('BiquadCombo', 'type: FivePointPeq, ' + ', '.join(text),
                series(*runs))

    def tilt(self):
        gain_db = self.db()
        return ('BiquadCombo', 'type: Tilt, gain: %s' % gain_db, series(
            cookbook('LS', 110, -gain_db / 2, q=0.35),
            cookbook('HS', 3500, gain_db / 2, q=0.35)))

    def graphic(self):
        gains = [self.db() for _ in range(7)]
        gains[2] = 0.0
        bw = (math.log2(16000) - math.log2(40)) / 7
        return ('BiquadCombo', 'type: GraphicEqualizer, freq_min: 40, '
                'freq_max: 16000, gains: %s' % gains,
                series(*[cookbook('PK', 40 * 2 ** ((i + 0.5) * bw), g, bw=bw)
                         for i, g in enumerate(gains) if g]))

    def gain(self):
        kind, value = self.rng.choice(('dB', 'linear', 'mute')), self.db()
        if kind == 'mute':
            return 'Gain', 'gain: 1.0, mute: true', gain(0)
        return ('Gain', 'gain: %s, scale: %s, inverted: true' % (value, kind),
                gain(-db(value) if kind == 'dB' else -value))

    def delay(self):
        value = round(self.rng.uniform(1, 9), 3)
        unit, samples = self.rng.choice((
            ('ms', value / 1000 * RATE), ('us', value / 1e6 * RATE),
            ('mm', value / 1000 * RATE / 343), ('samples', value)))
        return ('Delay', 'delay: %s, unit: %s' % (value, unit),
                delay(math.floor(samples + 0.5)))

    def values(self):
        taps = [round(self.rng.uniform(-1, 1), 4) for _ in range(9)]
        return 'Conv', 'type: Values, values: %s' % taps, fir(taps)

    def limiter(self):
        return 'Limiter', 'clip_limit: -20.5', clip(db(-20.5))


# ---- running ------------------------------------------------------------------------

def launch(folder, name, channels, chain=None):
    """What comes out of tfxchain for each of the channels."""
    path = os.path.join(folder, name)
    frames = array.array('d', (s for frame in zip(*channels) for s in frame))
    with open(path + '.in', 'wb') as file:
        file.write(frames.tobytes())
    result = subprocess.run(
        ['gst-launch-1.0', '-q', 'filesrc', 'location=' + path + '.in',
         'blocksize=%d' % (8 * len(channels) * 500), '!', 'rawaudioparse',
         'use-sink-caps=false', 'format=pcm', 'pcm-format=f64le',
         'sample-rate=%d' % RATE, 'num-channels=%d' % len(channels), '!',
         'tfxchain', 'chain=' + chain if chain else 'location=' + path,
         'device=cpu', '!', 'filesink', 'location=' + path + '.out'],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120,
        check=False, encoding='utf-8')
    assert result.returncode == 0 and not result.stdout, result.stdout
    out = array.array('d')
    with open(path + '.out', 'rb') as file:
        out.frombytes(file.read())
    return [list(out[c::len(channels)]) for c in range(len(channels))]


def check(arguments):
    """gst-tfx check: the chain, or the fault."""
    result = subprocess.run(['gst-tfx', 'check', '--quiet'] + arguments,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            timeout=120, check=False, encoding='utf-8')
    return result.returncode, result.stdout.rstrip('\n'), result.stderr


def write(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    return path


def compare(folder, name, preset, rng):
    path = write(folder, name + preset.suffix, preset.text)
    noise = [[rng.uniform(-1, 1) for _ in range(N)]
             for _ in range(preset.channels)]
    code, chain, fault = check(['--chain-file', path,
                                '--channels', str(preset.channels)])
    assert code == 0, fault + preset.text
    assert check(['--channels', str(preset.channels), chain])[1] == chain, chain
    expected = noise
    for step in preset.steps:
        expected = step(expected)
    found = launch(folder, name + preset.suffix, noise)
    # Both sides round what comes in, also where little comes out.
    peak = max(1, max(max(map(abs, x)) for x in expected))
    for c, (x, y) in enumerate(zip(found, expected)):
        assert len(x) == len(y)
        apart = max(abs(a - b) for a, b in zip(x, y)) / peak
        assert apart <= TOLERANCE, 'channel %d: %.3g apart\n%s\n%s' % (
            c, apart, preset.text, chain)


# ---- dynamics -----------------------------------------------------------------------

def easy(plugin, parameters, extra=''):
    return json.dumps({'output': {
        'plugins_order': [plugin + '#0' + extra], plugin + '#0': parameters}})


SIDECHAIN = {'type': 'Feed-forward', 'mode': 'Peak', 'source': 'Max',
             'stereo-split-source': 'Left/Right', 'preamp': 0.0,
             'reactivity': 10.0, 'lookahead': 0.0}
COMPRESSOR = {'bypass': False, 'input-gain': 0.0, 'output-gain': 0.0,
              'dry': -80.01, 'wet': 0.0, 'mode': 'Downward', 'attack': 1.0,
              'release': 2.0, 'release-threshold': -80.01, 'threshold': -24.0,
              'ratio': 3.0, 'knee': -6.0, 'makeup': 2.0,
              'boost-threshold': -72.0, 'boost-amount': 6.0,
              'stereo-split': False, 'sidechain': SIDECHAIN, 'hpf-mode': 'Off',
              'hpf-frequency': 10.0, 'lpf-mode': 'Off',
              'lpf-frequency': 20000.0, 'input-to-sidechain': -80.01,
              'input-to-link': -80.01, 'sidechain-to-input': -80.01,
              'sidechain-to-link': -80.01, 'link-to-input': -80.01,
              'link-to-sidechain': -80.01}
GATE = {'attack': 1.0, 'release': 2.0, 'curve-threshold': -20.0,
        'curve-zone': 0.0, 'hysteresis': False, 'reduction': -24.0,
        'makeup': 0.0, 'dry': -80.01, 'wet': 0.0,
        'sidechain': dict(SIDECHAIN, type='Internal')}
LIMITER = {'mode': 'Herm Thin', 'oversampling': 'None', 'dithering': 'None',
           'sidechain-type': 'Internal', 'lookahead': 5.0, 'attack': 5.0,
           'release': 5.0, 'threshold': -12.0, 'stereo-link': 100.0,
           'alr': False, 'gain-boost': True}


def quadratic(x, x0, x1, tilt):
    """The knee of lsp-plugins: 0 with slope 0 at x0, slope tilt at x1."""
    return tilt * (x - x0) ** 2 / (2 * (x1 - x0))


def lsp_compressor(level):
    low, high, tilt = -30, -18, 1 / 3 - 1
    return (0 if level <= low else quadratic(level, low, high, tilt)
            if level < high else tilt * (level + 24)) + 2


def lsp_expander(level):
    low, high, tilt = -30, -18, 2.0
    return (0 if level >= high else quadratic(level, high, low, tilt)
            if level > low else tilt * (level + 24)) + 2


CAMILLA = ('devices: {samplerate: 48000, capture: {channels: 2}}\n'
           'processors:\n  p:\n    type: %s\n    parameters: {channels: 2, '
           'attack: 0.001, release: 0.002, threshold: -20, %s}\n'
           'pipeline:\n- {type: Processor, name: p}\n')
CURVES = [
    ('easyeffects-compressor.json', easy('compressor', COMPRESSOR),
     lsp_compressor),
    ('easyeffects-expander.json', easy('expander', dict(
        COMPRESSOR, sidechain=dict(SIDECHAIN, type='Internal'))), lsp_expander),
    ('easyeffects-gate.json', easy('gate', GATE),
     lambda level: 0 if level > -20 else -24),
    ('camilladsp-compressor.yml',
     CAMILLA % ('Compressor', 'factor: 4, makeup_gain: 3'),
     lambda level: 3 - max(0, level + 20) * 0.75),
    ('camilladsp-gate.yml', CAMILLA % ('NoiseGate', 'attenuation: 30'),
     lambda level: 0 if level > -20 else -30),
    ('easyeffects-limiter.json', easy('limiter', LIMITER),
     lambda level: min(0, -12 - level) + 12),
]


def check_curve(folder, name, text, curve):
    """The gain of levels that stay, after all times of attack and release."""
    write(folder, name, text)
    for level in (-40, -29, -23, -19, -12, -3):
        x = [db(level)] * 12000
        y = launch(folder, name, [x, x])[1][-1]
        told = 20 * math.log10(y) - level
        assert abs(told - curve(level)) < 1e-6, '%d dB: %.9f dB, not %.9f' % (
            level, told, curve(level))


# ---- files that name others ----------------------------------------------------------

def write_wav(path, kernels):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with wave.open(path, 'wb') as file:
        file.setparams((len(kernels), 2, RATE, 0, 'NONE', ''))
        file.writeframes(array.array('h', (
            round(32768 * s) for frame in zip(*kernels) for s in frame)).tobytes())


def check_files(folder):
    left, right = [0.5, 0.25, 0, -0.125], [0.25, 0, 0.5, 0]
    write_wav(os.path.join(folder, 'sub', 'room.wav'), [left, right])
    write_wav(os.path.join(folder, 'irs', 'room.irs'), [left, right])
    write(folder, 'sub/more.txt', 'Channel: R\nConvolution: room.wav\n'
          'Include: ../level.txt\n')
    write(folder, 'level.txt', 'Preamp: -6 dB\n')
    write(folder, 'top.txt', 'Include: sub\\more.txt\nPreamp: 3 dB\n'
          'Channel: L R\nConvolution: sub/room.wav\n')
    energy = -10 * math.log10(sum(s * s for s in right) if sum(
        s * s for s in right) > sum(s * s for s in left) else
        sum(s * s for s in left))
    write(folder, 'output/conv.json', easy('convolver', {
        'kernel-name': 'room', 'ir-width': 100, 'autogain': True, 'wet': -3.0,
        'dry': -9.0}))
    write(folder, 'conv.yml', 'filters:\n  a:\n    type: Conv\n    parameters: '
          '{type: Wav, filename: sub/room.wav, channel: 1}\n'
          'pipeline:\n- {type: Filter, channels: [0], names: [a]}\n')
    noise = [[random.Random(c).uniform(-1, 1) for _ in range(64)]
             for c in range(2)]
    wet, dry = db(energy - 3), db(-9)
    mixed = [lambda x, k=k: [wet * a + dry * b for a, b in zip(fir(k)(x), x)]
             for k in (left, right)]
    for name, runs in (
            ('top.txt', (series(gain(db(3)), fir(left)),
                         series(fir(left), gain(db(-6)), gain(db(3)),
                                fir(right)))),
            ('output/conv.json', mixed),
            ('conv.yml', (fir(right), gain(1)))):
        found = launch(folder, name, noise)
        for x, y, run in zip(found, noise, runs):
            apart = max(abs(a - b) for a, b in zip(x, run(y)))
            assert apart < 1e-9, '%s: %g apart' % (name, apart)
    # A preset may be a part of a chain; its files are relative to it.
    chain = "Gain(2) | FilterSettings('%s/top.txt')" % folder
    code, told, fault = check([chain])
    assert code == 0 and "sub/room.wav', channel=0)" in told, told + fault


def check_curve_of_points(folder):
    """GraphicEQ is the drawn curve, where it is smooth."""
    path = write(folder, 'graphic.txt',
                 'GraphicEQ: 100 -3; 8000 6.5; 1000 2\n')
    table = subprocess.run(
        ['gst-tfx', 'response', '--chain-file', path, '--from', '200', '--to',
         '6000', '--points', '9', '--output', os.path.join(folder, 'g.csv')],
        check=True, stdout=subprocess.PIPE, timeout=120)
    assert table.returncode == 0
    with open(os.path.join(folder, 'g.csv'), encoding='utf-8') as file:
        rows = [line.split(',')[:2] for line in file if line[0].isdigit()]
    assert len(rows) >= 9
    for hz, told in rows:
        part = math.log10(float(hz) / 1000)
        wanted = 2 + part * (5 if part < 0 else 4.5 / math.log10(8))
        assert abs(float(told) - wanted) < 0.05, (hz, told, wanted)


# ---- what must be refused -------------------------------------------------------------

def band(**values):
    return easy('equalizer', {'num-bands': 1, 'left': {'band0': dict(
        {'type': 'Bell', 'mode': 'RLC (BT)', 'slope': 'x1', 'gain': 1.0,
         'frequency': 100.0, 'q': 1.0}, **values)}})


def camilla(kind, parameters, more=''):
    return ('filters:\n  a:\n    type: %s\n    parameters: {%s}\n%s'
            'pipeline:\n- {type: Filter, channels: [0], names: [a]}\n' % (
                kind, parameters, more))


REFUSED = [
    ('txt', 'Preamp: 1 dB\nIf: 1\n', 'line 2', 'If: 1'),
    ('txt', 'Preamp: `2+1` dB\n', 'line 1', 'backticks'),
    ('txt', 'Preamp: 1 dB\nEval: a=1\n', 'line 2', 'no equal here'),
    ('txt', 'Preamp: 1 dB\nLoudness: 3\n', 'line 2', 'unknown command Loudness'),
    ('txt', 'Device: Speakers\nPreamp: 1 dB\n', 'line 1', 'Device: all'),
    ('txt', 'Stage: pre-mix\nPreamp: 1 dB\n', 'line 1', 'post-mix'),
    ('txt', 'Channel: X\nPreamp: 1 dB\n', 'line 1', 'unknown channel X'),
    ('txt', 'Copy: V=L\n', 'line 1', 'virtual channels'),
    ('txt', 'Copy: L=0.5\n', 'line 1', 'constant 0.5'),
    ('txt', 'Copy: L=1.0.0*R\n', 'line 1', '1.0.0 is not a factor'),
    ('txt', 'Copy: L=2\n', 'line 1', 'all be numbers or all be names'),
    ('txt', 'Copy: L = R\n', 'line 1', 'L is not an assignment'),
    ('txt', 'Delay: 5 m\n', 'line 1', 'unit ms or samples'),
    ('txt', 'Delay: -5 ms\n', 'line 1', 'below 0'),
    ('txt', 'GraphicEQ: 20 x\n', 'line 1', 'x is not a number'),
    ('txt', 'GraphicEQ: 20 1; 20 2\n', 'line 1', 'must be above the one before it'),
    ('txt', 'Convolution: none.wav\n', 'line 1', "none.wav' cannot be used"),
    ('txt', 'Include: ../apo-0.txt\n', 'line 1', 'not in the folder'),
    ('txt', 'Include: /etc/hostname\n', 'line 1', 'not in the folder'),
    ('txt', 'Include: refused.txt\n', 'more than 8 deep'),
    ('txt', 'Include: none.txt\n', 'line 1', 'cannot be read'),
    ('txt', 'Filter: ON PK Fc 10 Hz Gain 1 dB Q 1\nFilter: PK Fc 1 Hz\n',
     'line 2', 'neither ON nor OFF'),
    ('txt', 'Filter: ON IIR Order 3 Coefficients 1 0 0 0 1 0 0 0\n', 'order 3'),
    ('txt', 'Filter: ON IIR Order 2 Coefficients 1 0 0 1 0\n',
     'has 6 coefficients, not 5'),
    ('txt', 'Filter: ON IIR Order 1 Coefficients 1 0 1 -2\n', 'unstable'),
    ('txt', 'Filter: ON LSC Fc 10 Hz Gain 1 dB BW Oct 1\n', 'line 1',
     'a shelf does not have'),
    ('txt', 'Filter: ON PK 6dB Fc 10 Hz Gain 1 dB\n', 'line 1', 'slope in dB'),
    ('txt', 'Filter: ON LS 6 dB/oct Fc 10 Hz Gain 1 dB\n', "'/oct' cannot be read"),
    ('json', '{"a": 1}', 'a (line 1)', 'unknown parameter'),
    ('json', '{"output": {"plugins_order": ["reverb#0"],\n"reverb#0": {}}}',
     'output.reverb#0 (line 2)', 'no equal here'),
    ('json', '{"output": {"plugins_order": ["reverb#0"]}}', 'reverb#0 is missing'),
    ('json', '{"output": {\n', 'the preset: line 2'),
    ('json', '[]', 'no preset of EasyEffects'),
    ('json', band(mode='RLC (MT)'), 'band0 (line 1)',
     'type Bell in mode RLC (MT) has no equal here'),
    ('json', band(mode='BWC (BT)', type='Hi-pass'), 'q of 0 only, not 1'),
    ('json', band(type='Ladder-pass'), 'type Ladder-pass'),
    ('json', band(slope='x5'), "unknown slope 'x5'"),
    ('json', band(solo=True), 'solo'),
    ('json', band(news=1), 'band0.news', 'unknown parameter'),
    ('json', band(gain='1'), 'band0.gain', "a number, not '1'"),
    ('json', easy('gate', GATE) + '{}', 'line 1'),
    ('json', easy('equalizer', {'num-bands': 1.5}), 'num-bands is 1.5'),
    ('json', easy('equalizer', {'num-bands': 0, 'mode': 'FFT'}),
     "mode is 'FFT'"),
    ('json', easy('equalizer', {'num-bands': 0, 'balance': 3.0}),
     'balance is 3'),
    ('json', easy('compressor', dict(COMPRESSOR, mode='Upward')),
     "mode is 'Upward'"),
    ('json', easy('compressor', dict(COMPRESSOR, **{'hpf-mode': '12 dB/oct'})),
     'hpf-mode'),
    ('json', easy('compressor', dict(COMPRESSOR, sidechain=dict(
        SIDECHAIN, type='External'))), "type is 'External'"),
    ('json', easy('compressor', dict(COMPRESSOR, sidechain=dict(
        SIDECHAIN, lookahead=2.0))), 'lookahead is 2'),
    ('json', easy('gate', dict(GATE, **{'curve-zone': -6.0})),
     'curve-zone is -6'),
    ('json', easy('limiter', dict(LIMITER, alr=True)), 'alr'),
    ('json', easy('convolver', {'kernel-name': 'none'}), "kernel 'none'"),
    ('yml', 'x: 1\n', 'no preset'),
    ('yml', 'filters: {}\npipeline:\n- {type: Filter, names: [a]}\n',
     'pipeline[0].names[0] (line 3)', "no 'a' in filters"),
    ('yml', 'filters: {}\nextra: 1\n', 'extra (line 2)', 'unknown parameter'),
    ('yml', camilla('Dither', 'type: Flat, bits: 16'), 'filters.a (line 3)',
     "type 'Dither.Flat' has no equal here"),
    ('yml', camilla('Loudness', 'reference_level: 0'), "'Loudness'"),
    ('yml', camilla('Gain', 'gain: 3, gain: 4'), 'filters.a.parameters (line 4)',
     'gain is there twice'),
    ('yml', camilla('Biquad', 'type: Lowpass, freq: 1, q: 1, x: 2'),
     'filters.a.parameters.x (line 4)', 'unknown parameter'),
    ('yml', camilla('Biquad', 'type: Lowpass, freq: 1'), 'q is missing'),
    ('yml', camilla('Biquad', 'type: Lowpass, freq: "1", q: 1'),
     'parameters.freq', 'must be a number'),
    ('yml', camilla('Biquad', 'type: Odd'), "type 'Biquad.Odd' has no equal here"),
    ('yml', camilla('Biquad', 'type: Lowshelf, freq: 9, slope: 13, gain: 1'),
     'slope is 13, out of range'),
    ('yml', camilla('Biquad', 'type: GeneralNotch, freq_p: 9, freq_z: 9, '
                    'q_p: 1'), 'needs devices.samplerate'),
    ('yml', camilla('Delay', 'delay: 1, subsample: true'), 'subsample'),
    ('yml', camilla('Limiter', 'clip_limit: 0, soft_clip: true'), 'soft_clip'),
    ('yml', camilla('Conv', 'type: Raw, filename: a.raw, format: F32_LE'),
     'convert the file to WAV'),
    ('yml', camilla('Conv', 'type: Wav, filename: a.wav, channel: 0.5'),
     'channel', '0.5'),
    ('yml', camilla('Gain', 'gain: 3') + '---\nfilters: {}\n',
     'line 8: a second document'),
    ('yml', camilla('Gain', 'gain: 3') + '--- [\n', 'line 8'),
    ('yml', camilla('DiffEq', 'a: [1, 0, 0, 0.5]'), "'DiffEq'"),
    ('yml', camilla('Biquad', 'type: Free, b0: 1, b1: 0, b2: 0, a1: 0, a2: 2'),
     'unstable'),
    ('yml', 'mixers:\n  m: {channels: {in: 2, out: 1}, mapping: [{dest: 3, '
     'sources: []}]}\npipeline:\n- {type: Mixer, name: m}\n', 'dest is 3'),
    ('yml', 'processors:\n  r: {type: RACE, parameters: {}}\n'
     'pipeline:\n- {type: Processor, name: r}\n', "'RACE'"),
    ('yml', 'pipeline: &a\n- *a\n', 'deeper than'),
    ('yml', 'pipeline:\n\t- a\n', 'line 2'),
    ('yml', 'pipeline:\n' + '- &a 1\n' * 1001, 'more than 1000'),
    ('json', '{"a": ' * 1001, 'more than 1000'),
]


def check_refused(folder, suffix, text, *words):
    path = write(folder, 'refused.' + suffix, text)
    code, chain, fault = check(['--chain-file', path])
    assert code != 0, 'it is %s' % chain
    for word in words:
        assert word in fault, '%r is not in %s' % (word, fault)


# ---- all ----------------------------------------------------------------------------

def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 47
    cases, presets = [], ([(Apo, i) for i in range(20)] +
                          [(EasyEffects, i) for i in range(14)] +
                          [(Camilla, i) for i in range(16)])
    with tempfile.TemporaryDirectory() as folder:
        for made, i in presets:
            rng = random.Random('%d %s %d' % (seed, made.__name__, i))
            name = '%s-%d' % (made.__name__.lower(), i)
            cases.append((name, compare, (folder, name, made(rng, i), rng)))
        for name, text, curve in CURVES:
            cases.append((name, check_curve, (folder, name, text, curve)))
        cases.append(('files', check_files, (os.path.join(folder, 'files'),)))
        cases.append(('points', check_curve_of_points, (folder,)))
        for i, refused in enumerate(REFUSED):
            cases.append(('refuses: ' + refused[-1].replace('#', ''),
                          check_refused, (os.path.join(folder, 'r%d' % i),
                                          *refused)))
        print('1..%d\n# seed %d' % (len(cases), seed))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for i, (case, run) in enumerate([
                    (case, pool.submit(case[1], *case[2])) for case in cases], 1):
                fault = run.exception()
                print('%s %d - %s' % ('not ok' if fault else 'ok', i, case[0]))
                if fault:
                    print('#', str(fault).replace('\n', '\n# '))
                sys.stdout.flush()


if __name__ == '__main__':
    main()
