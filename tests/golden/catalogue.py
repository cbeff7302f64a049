#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes catalogue.txt: what each class of the catalogue is to do.

    python3 catalogue.py > catalogue.txt

Needs SciPy, mpmath and bs2b (Debian: python3-scipy, python3-mpmath, libbs2b0,
3.1.0 here).  The output is
a pure function of this file and of their versions, which its header names.

Lines of catalogue.txt; numbers are decimal and round-trip to double:

  chain RATE CHANNELS TEXT
      starts a chain
  f FREQ RE IM
      its frequency response (of a chain that treats all channels alike)
  i FROM TO INDEX=VALUE...
      samples of its impulse response, from channel FROM to channel TO

The classes that SciPy has (butter, cheby1, cheby2, ellip, firwin, firwin2) are
SciPy's, put together here as docs/classes.md says.  The cookbook's are the analog
prototypes of R. Bristow-Johnson's Audio EQ Cookbook under the bilinear
transform, in 40 digits; not its formulas for digital coefficients.  Echoes are
sums of delayed impulses.  Align is the sinc and the Kaiser window of Bessel
functions, in 40 digits.  Crossfeed is the output of libbs2b.
"""
import ctypes

import mpmath
import numpy as np
import scipy
from mpmath import mp, mpf
from scipy import signal

mp.dps = 40

N_IMPULSE = 40
FREQS = [0.0, 10.0, 20.0, 55.5, 200.0, 700.0, 1000.0, 1234.5, 3000.0, 5000.0,
         9000.0, 15000.0, 19999.0]


def number(x):
    return repr(float(x))


def turn(f, rate, delay):
    """A delay at a frequency."""
    return mp.expjpi(-2 * mpf(f) / mpf(rate) * delay)


def write(text, rate, response, impulse, channels=1):
    """response: a function of the frequency in Hz, or None; impulse: a list of
    samples, or a dict of such lists by (from, to)."""
    print('chain', number(rate), channels, text)
    if response:
        for f in FREQS:
            if f < rate / 2:
                h = complex(response(f))
                print('f', number(f), number(h.real), number(h.imag))
    if not isinstance(impulse, dict):
        impulse = {(c, c): impulse for c in range(channels)}
    for (c, d), samples in sorted(impulse.items()):
        print('i', c, d, *('%d=%s' % (i, number(x))
                           for i, x in enumerate(samples)))


def write_sparse(text, rate, echoes, channels=1):
    """echoes: (delay, gain) in a dict by (from, to), or a list for all."""
    def response(f):
        return mp.fsum(g * turn(f, rate, d) for d, g in echoes)

    by_pair = echoes
    if not isinstance(echoes, dict):
        by_pair = {(c, c): echoes for c in range(channels)}
    print('chain', number(rate), channels, text)
    if by_pair is not echoes:
        for f in FREQS:
            if f < rate / 2:
                h = complex(response(f))
                print('f', number(f), number(h.real), number(h.imag))
    for (c, d), taps in sorted(by_pair.items()):
        values = {}
        for delay, gain in taps:
            values[delay] = values.get(delay, 0.0) + gain
            # and silence around it
            values.setdefault(delay + 1, 0.0)
            if delay:
                values.setdefault(delay - 1, 0.0)
        print('i', c, d, *('%d=%s' % (i, number(x))
                           for i, x in sorted(values.items())))


# ---- sections of SciPy ------------------------------------------------------

class Iir:
    """A design of SciPy: its zeros and poles, which say what it does better
    than its sections can, and its sections."""

    def __init__(self, family, order, edges, btype, rate, *ripples, **more):
        def design(output):
            return getattr(signal, family)(order, *ripples, edges, btype,
                                           output=output, fs=rate, **more)

        self.zpk = design('zpk')
        self.sos = design('sos')
        self.rate = rate

    def response(self, f):
        point = turn(f, self.rate, -1)
        z, p, k = self.zpk
        return (mpf(k) * mp.fprod(point - mp.mpmathify(complex(x)) for x in z)
                / mp.fprod(point - mp.mpmathify(complex(x)) for x in p))

    def run(self, x):
        return signal.sosfilt(self.sos, x)


def one():
    x = np.zeros(N_IMPULSE)
    x[0] = 1.0
    return x


def write_sos(text, rate, *cascade):
    x = one()
    for part in cascade:
        x = part.run(x)
    write(text, rate, lambda f: mp.fprod(part.response(f) for part in cascade),
          x)


def iir(family, order, edges, btype, rate, *ripples):
    return Iir(family, order, edges, btype, rate, *ripples)


def write_iir():
    butter = lambda n, f, t, r: iir('butter', n, f, t, r)
    cheby1 = lambda n, f, t, r, rp=0.1: iir('cheby1', n, f, t, r, rp)
    cheby2 = lambda n, f, t, r, rs=0.1: iir('cheby2', n, f, t, r, rs)
    bessel = lambda n, f, t, r, norm='phase': Iir('bessel', n, f, t, r,
                                                  norm=norm)
    ellip = lambda n, f, t, r, rp=0.1, rs=40.0: iir('ellip', n, f, t, r, rp,
                                                    rs)
    r = 48000.0
    write_sos("Butterworth('lowpass', 1000)", r, butter(4, 1000, 'lowpass', r))
    write_sos("Butterworth('highpass', 50.5, 7)", r,
              butter(7, 50.5, 'highpass', r))
    write_sos("Butterworth('bandpass', [300, 3400], order=3)", r,
              butter(3, [300, 3400], 'bandpass', r))
    write_sos("Butterworth('bandstop', (900, 1100), 24, 'db')", r,
              butter(4, [900, 1100], 'bandstop', r))
    for side, btype in (('Lo', 'lowpass'), ('Hi', 'highpass')):
        write_sos(side + 'Butterworth(1500)', r, butter(5, 1500, btype, r))
        write_sos(side + 'Butterworth(80, 1)', 44100.0,
                  butter(1, 80, btype, 44100.0))
        write_sos(side + "Butterworth(8000, order=48, order_scale='db')",
                  96000.0, butter(8, 8000, btype, 96000.0))
        write_sos(side + 'Chebyshev1(2000)', r, cheby1(4, 2000, btype, r))
        write_sos(side + 'Chebyshev1(700, order=5, ripple=1)', r,
                  cheby1(5, 700, btype, r, 1.0))
        write_sos(side + 'Chebyshev2(2000)', r, cheby2(4, 2000, btype, r))
        write_sos(side + 'Chebyshev2(700, order=6, ripple=40)', r,
                  cheby2(6, 700, btype, r, 40.0))
        write_sos(side + 'Elliptic(2000)', r, ellip(4, 2000, btype, r))
        write_sos(side + 'Elliptic(1000, order=5, passband_ripple=0.5, '
                  'stopband_attenuation=60)', r,
                  ellip(5, 1000, btype, r, 0.5, 60.0))
        half = butter(2, 2000, btype, r)
        write_sos(side + 'LinkwitzRiley(2000)', r, half, half)
        half = butter(4, 300, btype, r)
        write_sos(side + "LinkwitzRiley(300, 48, order_scale='db')", r, half,
                  half)
    write_sos("Chebyshev1('bp', [200, 2000], ripple=0.5)", r,
              cheby1(4, [200, 2000], 'bandpass', r, 0.5))
    write_sos("Chebyshev1('lowpass', 1000, 3)", r,
              cheby1(3, 1000, 'lowpass', r))
    write_sos("Chebyshev2('bandstop', [200, 2000], 3, 30)", r,
              cheby2(3, [200, 2000], 'bandstop', r, 30.0))
    write_sos("Chebyshev2('highpass', 1000)", r,
              cheby2(4, 1000, 'highpass', r))
    write_sos("Elliptic('bandpass', [500, 5000], 3, 1, 50)", r,
              ellip(3, [500, 5000], 'bandpass', r, 1.0, 50.0))
    write_sos("Elliptic('lowpass', 4000)", 44100.0,
              ellip(4, 4000, 'lowpass', 44100.0))
    write_sos("Bessel('lowpass', 1000)", r, bessel(4, 1000, 'lowpass', r))
    write_sos("Bessel('highpass', 300, 7, 'delay')", r,
              bessel(7, 300, 'highpass', r, 'delay'))
    write_sos("Bessel('bandpass', [500, 5000], order=3, norm='mag')", r,
              bessel(3, [500, 5000], 'bandpass', r, 'mag'))
    write_sos("Bessel('bandstop', [900, 1100], norm='magnitude')", r,
              bessel(4, [900, 1100], 'bandstop', r, 'mag'))
    write_sos('LoBessel(2000, 9)', 44100.0, bessel(9, 2000, 'lowpass', 44100.0))
    write_sos("HiBessel(100, norm='mag')", 44100.0,
              bessel(4, 100, 'highpass', 44100.0, 'mag'))
    half = butter(1, 1000, 'lowpass', r)
    write_sos("LinkwitzRiley('lowpass', 1000, order=2)", r, half, half)
    half = butter(2, [300, 3000], 'bandpass', r)
    write_sos("LinkwitzRiley('bandpass', [300, 3000])", r, half, half)


class AllPass:
    """The poles of a filter, and their inverses as zeros."""

    def __init__(self, half):
        self.half = half

    def response(self, f):
        z = turn(f, self.half.rate, -1)
        poles = [mp.mpmathify(complex(p)) for p in self.half.zpk[1]]
        return mp.fprod((1 - z * p) / (z - p) for p in poles)

    def run(self, x):
        for row in self.half.sos:
            den = np.trim_zeros(row[3:], 'b')
            x = signal.lfilter(den[::-1], den, x)
        return x


def write_bands(text, rate, crossovers, order, gains):
    """Linkwitz-Riley bands with gains."""
    sign = (-1) ** (order // 2)
    low, high = ([iir('butter', order // 2, f, btype, rate)
                  for f in crossovers] for btype in ('lowpass', 'highpass'))
    bands = [[h for h in high[:k] for _ in (1, 2)] + 2 * low[k:k + 1]
             + [AllPass(h) for h in low[k + 1:]]
             for k in range(len(gains))]
    impulses = []
    for k, (band, gain) in enumerate(zip(bands, gains)):
        x = gain * sign ** k * one()
        for part in band:
            x = part.run(x)
        impulses.append(x)

    def response(f):
        if set(gains) == {1}:  # an all-pass
            return mp.fprod(AllPass(h).response(f) for h in low)
        return mp.fsum(
            gain * sign ** k * mp.fprod(part.response(f) for part in band)
            for k, (band, gain) in enumerate(zip(bands, gains)))

    write(text, rate, response, sum(impulses))


def write_multibands():
    r = 48000.0
    write_bands('Multiband(1000, None, None)', r, [1000], 4, [1, 1])
    write_bands('Multiband(1000, None, Gain(-1))', r, [1000], 4, [1, -1])
    write_bands('Multiband([150, 1500, 6000], None, None, None, None)', r,
                [150, 1500, 6000], 4, [1, 1, 1, 1])
    write_bands('Multiband([150, 1500], Gain(2), Gain(0.5) | Gain(-3), '
                'Gain(0.25) + Gain(0.5))', 44100.0, [150, 1500], 4,
                [2, -1.5, 0.75])
    for order in 2, 6, 8:
        write_bands('Multiband([300, 2500], None, None, None, order=%d)'
                    % order, r, [300, 2500], order, [1, 1, 1])
        write_bands('Multiband([300, 2500], Gain(3), Gain(0), None, order=%d)'
                    % order, r, [300, 2500], order, [3, 0, 1])


# ---- sections of the cookbook ------------------------------------------------

def analog(kind, q, gain):
    """Numerator and denominator, s^2 first; gain as a factor."""
    q = mpf(q)
    a = mp.sqrt(gain)
    w = 1 / q
    r = mp.sqrt(a) / q
    den = [1, w, 1]
    return {
        'LPF': ([0, 0, 1], den), 'HPF': ([1, 0, 0], den),
        'BPF': ([0, w, 0], den), 'BPFPeak': ([0, 1, 0], den),
        'Notch': ([1, 0, 1], den), 'AllPass': ([1, -w, 1], den),
        'Peaking': ([1, a * w, 1], [1, w / a, 1]),
        'Lo': ([a, a * r, a * a], [a, r, 1]),
        'Hi': ([a * a, a * r, a], [1, r, a]),
    }[kind]


def tan_ratio(f, freq, rate):
    return (mp.tan(mp.pi * mpf(f) / mpf(rate))
            / mp.tan(mp.pi * mpf(freq) / mpf(rate)))


def evaluate(poly, s):
    return (poly[0] * s + poly[1]) * s + poly[2]


def cookbook_response(kind, freq, q, gain, rate):
    num, den = analog(kind, q, gain)

    def response(f):
        s = mp.mpc(0, tan_ratio(f, freq, rate))
        return evaluate(num, s) / evaluate(den, s)

    return response


def cookbook_impulse(kind, freq, q, gain, rate, n=N_IMPULSE):
    num, den = analog(kind, q, gain)
    k = 1 / mp.tan(mp.pi * mpf(freq) / mpf(rate))

    def digital(p):
        """(1 + 1/z)^2 p (s) with s = k (1 - 1/z) / (1 + 1/z)"""
        x, y, c = p[0] * k * k, p[1] * k, p[2]
        return [x + y + c, 2 * (c - x), x - y + c]

    b, a = digital(num), digital(den)
    out, s1, s2 = [], mpf(0), mpf(0)
    for i in range(n):
        x = mpf(i == 0)
        y = (b[0] * x + s1) / a[0]
        s1 = b[1] * x - a[1] * y + s2
        s2 = b[2] * x - a[2] * y
        out.append(y)
    return out


def write_section(text, rate, kind, freq, q, gain=1):
    write(text, rate, cookbook_response(kind, freq, q, gain, rate),
          cookbook_impulse(kind, freq, q, gain, rate))


def db(gain):
    return mpf(10) ** (mpf(gain) / 20)


def write_cookbook():
    r = 48000.0
    for kind in ('LPF', 'HPF', 'BPF', 'BPFPeak', 'Notch', 'AllPass'):
        write_section('Biquad%s(1000, 0.7)' % kind, r, kind, 1000, 0.7)
        write_section('Biquad%s(cutoff=30, q=12.5)' % kind, 384000.0, kind, 30,
                      12.5)
        write_section('Biquad%s(21000, 3)' % kind, r, kind, 21000, 3)
    for kind in ('Notch', 'AllPass'):
        write_section('%s(50, 30)' % kind, r, kind, 50, 30)
    for side in ('Lo', 'Hi'):
        name = side + 'Shelving'
        write_section(name + "(500, 0.707, 6, 'db')", r, side, 500, 0.707,
                      db(6))
        write_section(name + "(5000, 1.2, -9.5, gain_scale='db')", r, side,
                      5000, 1.2, db(-9.5))
        write_section(name + '(200, 0.5, 2)', 44100.0, side, 200, 0.5, 2)
        write_section(name + "(20, 0.7, 0.25, 'linear')", 192000.0, side, 20,
                      0.7, mpf(0.25))
    write_section('ParametricEQ(1000, q=2, gain=3)', r, 'Peaking', 1000, 2,
                  db(3))
    write_section('ParametricEQ(40, 0.3, -24)', 96000.0, 'Peaking', 40, 0.3,
                  db(-24))
    write_section("Peaking(3000, 4, 6, 'db')", r, 'Peaking', 3000, 4, db(6))
    write_section("Peaking(3000, 4, 0.5, 'linear')", r, 'Peaking', 3000, 4,
                  mpf(0.5))

    for n, args, low, high, q in ((4, '', 20.0, 20000.0, 1.414),
                                  (31, ', q=4.3', 20.0, 20000.0, 4.3),
                                  (2, ', f_min=100, f_max=1000', 100.0,
                                   1000.0, 1.414)):
        centres = [mpf(low) * (mpf(high) / mpf(low)) ** (mpf(k) / (n - 1))
                   for k in range(n)]
        responses = [cookbook_response('BPF', c, q, 1, r) for c in centres]
        impulses = [cookbook_impulse('BPF', c, q, 1, r) for c in centres]
        write('LogFilterBank(%d%s)' % (n, args), r,
              lambda f: mp.fsum(h(f) for h in responses),
              [mp.fsum(x) for x in zip(*impulses)])


# ---- sections by their coefficients, and rows of them ------------------------

class Sos:
    """Rows as SciPy's."""

    def __init__(self, rows, rate):
        self.rows = rows
        self.rate = rate

    def response(self, f):
        z = turn(f, self.rate, 1)
        return mp.fprod((b0 + (b1 + b2 * z) * z) / (a0 + (a1 + a2 * z) * z)
                        for b0, b1, b2, a0, a1, a2 in
                        (map(mpf, row) for row in self.rows))

    def run(self, x):
        for b0, b1, b2, a0, a1, a2 in self.rows:
            x = signal.lfilter([b0, b1, b2], [a0, a1, a2], x)
        return x


def write_first_order(text, rate, high, freq, gain):
    """(s + A) / (s + 1/A), or (A s + 1) / (s/A + 1)."""
    a = mp.sqrt(gain)
    num, den = ((a, 1), (1 / a, 1)) if high else ((1, a), (1, 1 / a))

    def response(f):
        s = mp.mpc(0, tan_ratio(f, freq, rate))
        return (num[0] * s + num[1]) / (den[0] * s + den[1])

    k = 1 / mp.tan(mp.pi * mpf(freq) / mpf(rate))
    row = [num[0] * k + num[1], num[1] - num[0] * k, 0,
           den[0] * k + den[1], den[1] - den[0] * k, 0]
    write(text, rate, response,
          Sos([[float(x) for x in row]], rate).run(one()))


def write_sections():
    r = 48000.0
    write_sos('Biquad(0.5, -0.25, 1.5, 2, -1.8, 0.9)', r,
              Sos([[0.5, -0.25, 1.5, 2.0, -1.8, 0.9]], r))
    write_sos('Biquad(b0=1, b1=2, b2=0, a0=-4, a1=2, a2=0)', r,
              Sos([[1.0, 2.0, 0.0, -4.0, 2.0, 0.0]], r))
    rows = [[1.0, 2.0, 1.0, 1.0, -0.5, 0.25], [0.5, 0.0, -0.5, 1.0, 0.0, 0.5],
            [3.0, 0.0, 0.0, 1.5, 0.75, 0.0]]
    write_sos('SOS([[1, 2, 1, 1, -0.5, 0.25], (0.5, 0, -0.5, 1, 0, 0.5), '
              '[3, 0, 0, 1.5, 0.75, 0]])', 44100.0, Sos(rows, 44100.0))
    for name, high in (('LoShelving1', False), ('HiShelving1', True)):
        write_first_order(name + "(500, 6, 'db')", r, high, 500, db(6))
        write_first_order(name + '(5000, 0.25)', 44100.0, high, 5000,
                          mpf(0.25))
    for args, freq, n, q in (('', 50, 8, 30), ('60, 3, q=5', 60, 3, 5),
                             # no room for more below half the rate
                             ('5000, harmonics=9', 5000, 4, 30)):
        responses = [cookbook_response('Notch', k * freq, k * q, 1, r)
                     for k in range(1, n + 1)]
        impulse = one()
        for k in range(1, n + 1):
            h = cookbook_impulse('Notch', k * freq, k * q, 1, r)
            impulse = np.convolve(impulse, [float(x) for x in h])[:N_IMPULSE]
        write('Hum(%s)' % args, r,
              lambda f: mp.fprod(h(f) for h in responses), impulse)


# ---- kernels and echoes --------------------------------------------------------

def write_kernel(text, rate, taps):
    taps = [float(x) for x in taps]

    def response(f):
        return mp.fsum(t * turn(f, rate, i) for i, t in enumerate(taps))

    write(text, rate, response, taps + [0.0] * 3)


def write_firs():
    r = 48000.0
    write_kernel('FIR([0.25, 0.5, 0.25])', r, [0.25, 0.5, 0.25])
    write_kernel("FIR(b=(1, -2.5e-3, 0, 1_0.5), conv_mode='direct')", r,
                 [1, -2.5e-3, 0, 10.5])
    write_kernel('FIR([3])', r, [3])
    write_phases(r)

    def fir(text, n, edges, rate=r, **kw):
        write_kernel('DesignableFIR(' + text + ')', rate,
                     signal.firwin(n, edges, fs=rate, **kw))

    fir('1000, 101', 101, 1000)
    fir('1000, 64', 64, 1000)
    fir('[1000, 5000], num_taps=31', 31, [1000, 5000])
    fir('[1000, 5000], num_taps=32, pass_zero=False', 32, [1000, 5000],
        pass_zero=False)
    fir("5000, 33, pass_zero='highpass'", 33, 5000, pass_zero='highpass')
    fir("(1000, 5000), 33, pass_zero='bandstop'", 33, [1000, 5000],
        pass_zero='bandstop')
    for window in ('hann', 'blackman', 'blackmanharris', 'nuttall', 'flattop',
                   'bartlett', 'boxcar', 'parzen', 'bohman', 'barthann'):
        for n in (20, 51):
            fir("3000, %d, window='%s'" % (n, window), n, 3000, window=window)
    fir("3000, 45, window=('kaiser', 8.6)", 45, 3000, window=('kaiser', 8.6))
    many = [500, 1500, 4000.5, 9000]
    fir('[500, 1500, 4000.5], 77', 77, many[:3])
    fir('[500, 1500, 4000.5], 78', 78, many[:3])
    fir('[500, 1500, 4000.5], 77, pass_zero=False', 77, many[:3],
        pass_zero=False)
    fir('[500, 1500, 4000.5, 9000], 77', 77, many)
    fir('[500, 1500, 4000.5, 9000], 78, pass_zero=False', 78, many,
        pass_zero=False)
    fir("5000, 33, pass_zero=False, window='parzen'", 33, 5000,
        pass_zero=False, window='parzen')
    fir("(500, 1500, 4000.5), 51, window='parzen'", 51, many[:3],
        window='parzen')


def curve_taps(n, points, rate):
    """Curve, linear phase: the curve on a grid, as firwin2 takes it."""
    grid = np.linspace(0, rate / 2, 4097)
    hz, db = np.array(points, float).T
    gains = np.interp(np.log(np.maximum(grid, hz[0])), np.log(hz), db)
    return signal.firwin2(n, grid, 10 ** (gains / 20), nfreqs=len(grid),
                          window='parzen', fs=rate)


def minimum_phase(taps):
    """The zeros outside the unit circle moved to their reciprocals: no
    cepstrum.  The first tap is not 0."""
    taps = [mpf(float(t)) for t in taps]
    zeros = mp.polyroots(taps, maxsteps=400, extraprec=800)
    out = [mpf(1)]
    gain = abs(taps[0])
    for z in zeros:
        gain *= max(abs(z), 1)
        z = 1 / mp.conj(z) if abs(z) > 1 else z
        out = [a - z * b for a, b in zip(out + [0], [0] + out)]
    return [gain * mp.re(x) for x in out]


def linear_phase(taps):
    """The inverse transform of the magnitude, cut to 2 n - 1 taps."""
    n = len(taps)
    full = np.fft.irfft(abs(np.fft.rfft(taps, 1 << 16)))
    return np.roll(full, n - 1)[:2 * n - 1]


def write_phases(rate):
    """FIR with another phase.  Zeros on the unit circle are in test_curves.c;
    one kernel is symmetric."""
    for taps in ([0.1, -0.3, 1.0, 0.5, -0.2, 0.0, 0.7], [-1.0, 0.5, 2.0],
                 [0.5, 0.1, 0.0, 0.0, 0.0, -0.75]):
        write_kernel("FIR(%s, phase='minimum')" % taps, rate,
                     minimum_phase(taps))
    # The responses of chains exclude their latency.
    taps = [1.0, 0.003, -0.001]
    write("FIR(%s, phase='linear')" % taps, rate, None,
          list(linear_phase(taps)) + [0.0] * 3)
    taps = [1.0, -2.5, 1.0]
    write("FIR(%s, phase='linear')" % taps, rate, None, taps + [0.0] * 3)


def write_curves():
    for n, rate, args, points in (
            (101, 48000.0, '', [[20, -3], [100, 2], [20000, 0]]),
            (41, 44100.0, ", conv_mode='direct'",
             [[500, 6], [1000, -20], [3000.5, 0], [30000, -60]]),
            (3, 8000.0, '', [[1000, -6]])):
        text = 'Curve(%s, %%staps=%d%s)' % (points, n, args)
        taps = curve_taps(n, points, rate)
        # The response of the chain excludes the latency, that of the taps
        # does not.
        write(text % "phase='linear', ", rate, None, list(taps) + [0.0] * 3)
        write_kernel(text % "'minimum', ", rate, minimum_phase(taps))
        # Half of the dB with each phase, in n taps together.
        half = [[hz, db / 2] for hz, db in points]
        n_first = (n - 1) // 2 | 1
        taps = np.convolve(curve_taps(n_first, half, rate), [
            float(x) for x in minimum_phase(
                curve_taps(n + 1 - n_first, half, rate))])
        write(text % "'mixed', ", rate, None, list(taps) + [0.0] * 3)


def write_linear(chain, rate, response, n, args=''):
    """LinearPhase: the inverse transform of |H|, cut to n taps."""
    m = 8192
    h = response(np.arange(m // 2 + 1) * rate / m)
    full = np.fft.irfft(abs(h))
    # The response of the chain excludes the latency.
    taps = list(np.roll(full, n // 2)[:n]) + [0.0] * 3
    write('LinearPhase(%s, taps=%d%s)' % (chain, n, args), rate, None, taps)


def write_linears():
    def sos(order, edges, btype, rate):
        filt = signal.butter(order, edges, btype, fs=rate, output='sos')
        return lambda f: signal.sosfreqz(filt, worN=f, fs=rate)[1]

    r = 48000.0
    low, high = sos(3, 5000, 'lowpass', r), sos(4, 2000, 'highpass', r)
    write_linear('LoButterworth(5000, 3)', r, low, 101)
    write_linear('LoButterworth(5000, 3) | g=Gain(-2) | HiButterworth(2000, 4)',
                 r, lambda f: -2 * low(f) * high(f), 75)
    write_linear('LoButterworth(5000, 3) + (HiButterworth(2000, 4) | Gain(0.5))',
                 r, lambda f: low(f) + high(f) / 2, 77)
    # Multiband, of which the lower band alone.
    part = sos(2, 3000, 'lowpass', r)
    write_linear('Multiband(3000, None, Gain(0))', r, lambda f: part(f) ** 2,
                 63)
    write_linear('None', r, lambda f: np.ones(len(f)), 3)
    # A corner at 0 Hz.
    write_linear('HiButterworth(500, 1)', 44100.0,
                 sos(1, 500, 'highpass', 44100.0), 41, ", conv_mode='direct'")


# ISO 226:2023, table 1: frequency, alpha_f, L_U, T_f.
TONES = (
    (20, 0.635, -31.5, 78.1), (25, 0.602, -27.2, 68.7),
    (31.5, 0.569, -23.1, 59.5), (40, 0.537, -19.3, 51.1),
    (50, 0.509, -16.1, 44.0), (63, 0.482, -13.1, 37.5),
    (80, 0.456, -10.4, 31.5), (100, 0.433, -8.2, 26.5),
    (125, 0.412, -6.3, 22.1), (160, 0.391, -4.6, 17.9),
    (200, 0.373, -3.2, 14.4), (250, 0.357, -2.1, 11.4),
    (315, 0.343, -1.2, 8.6), (400, 0.330, -0.5, 6.2), (500, 0.320, 0.0, 4.4),
    (630, 0.311, 0.4, 3.0), (800, 0.303, 0.5, 2.2), (1000, 0.300, 0.0, 2.4),
    (1250, 0.295, -2.7, 3.5), (1600, 0.292, -4.2, 1.7),
    (2000, 0.290, -1.2, -1.3), (2500, 0.290, 1.4, -4.2),
    (3150, 0.289, 2.3, -6.0), (4000, 0.289, 1.0, -5.4),
    (5000, 0.289, -2.3, -1.5), (6300, 0.293, -7.2, 6.0),
    (8000, 0.303, -11.2, 12.6), (10000, 0.323, -10.9, 13.9),
    (12500, 0.354, -3.5, 12.3))


def contour(phon):
    """Formula (1): the SPL of tones that are as loud as 1 kHz at phon."""
    def spl(alpha, lu, t):
        return 10 / alpha * np.log10(
            4e-10 ** (0.3 - alpha) * (10 ** (0.03 * phon) - 10 ** 0.072)
            + 10 ** (alpha * (t + lu) / 10)) - lu
    return np.array([spl(*tone[1:]) for tone in TONES])


def write_contours():
    for text, phon, reference, n, rate in (
            ('60, taps=101', 60, 80, 101, 48000.0),
            ('40', 40, 80, 101, 500.0),
            ('20, reference=90', 20, 90, 81, 400.0),
            ('90, 70, taps=41', 90, 70, 41, 44100.0)):
        db = (contour(phon) - phon) - (contour(reference) - reference)
        points = [[tone[0], gain] for tone, gain in zip(TONES, db)]
        taps = curve_taps(n, points, rate)
        write_kernel('LoudnessContour(%s)' % text, rate, minimum_phase(taps))
    write("LoudnessContour(90, 70, 'linear', taps=41)", 44100.0, None,
          list(taps) + [0.0] * 3)


def echoes(delay, feedback, mix, taps):
    return ([(0, 1 - mix)]
            + [(k * delay, mix * feedback ** (k - 1))
               for k in range(1, taps + 1)])


def write_effects():
    r = 48000.0
    for text, gain in (('2', 2.0), ('-0.5', -0.5), ("-6, gain_type='db'",
                       10 ** (-6 / 20)), ("4, 'power'", 2.0),
                       ("0, gain_type='power'", 0.0), ('0', 0.0),
                       ("0, 'db'", 1.0), ('3, clamp=False', 3.0)):
        write_sparse('Gain(%s)' % text, r, [(0, gain)], 2)
    write_sparse('Echo()', r, [(0, 1.0), (4410, 0.25)])
    write_sparse('Echo(100, 0.8, mix=0.3)', r, [(0, 1.0), (100, 0.8 * 0.3)])
    write_sparse('Delay(2205)', r, echoes(2205, 0.3, 0.2, 3))
    write_sparse('Delay(delay_samples=10, feedback=0.9, mix=1, taps=7)', r,
                 echoes(10, 0.9, 1.0, 7), 3)
    for text, rate, delay in (
            # a beat is a quarter of a whole note
            ('bpm=120', 48000.0, 12000), ('bpm=128', 44100.0, 10335),
            ("bpm=90, delay_time='1/4'", 44100.0, 29400),
            ("bpm=120, delay_time='1/8d'", 48000.0, 18000),
            # three triplets in the time of two eighths
            ("bpm=120, delay_time='1/8t'", 48000.0, 8000),
            ("bpm=100, delay_time='3/16'", 8000.0, 3600)):
        write_sparse('Delay(%s)' % text, rate, echoes(delay, 0.3, 0.2, 3))
    # Odd echoes go from left to right, even ones from right to left.
    ping_pong = {(0, 0): [(0, 0.6)], (1, 1): [(0, 0.6)],
                 (0, 1): [(50, 0.4), (150, 0.4 * 0.25), (250, 0.4 * 0.5 ** 4)],
                 (1, 0): [(100, 0.4 * 0.5), (200, 0.4 * 0.125)]}
    for word in ("'ping-pong'", 'PingPongDelayStrategy()',
                 'fx.effect.PingPongDelayStrategy()'):
        write_sparse('Delay(50, feedback=0.5, mix=0.4, taps=5, strategy=%s)'
                     % word, r, ping_pong, 2)
    # No pair: as mono.
    for channels in (1, 3):
        write_sparse("Delay(50, feedback=0.5, mix=0.4, taps=5, "
                     "strategy='ping-pong')", r, echoes(50, 0.5, 0.4, 5),
                     channels)


def write_align(text, rate, delay, late, channels=1):
    """A sinc under a Kaiser window of 80 samples, in 40 digits."""
    taps = []
    for i in range(int(delay) + late + 41):
        t = i - late - mpf(delay)
        v = 1 - (t / 40) ** 2
        taps.append(mp.sincpi(t) * mp.besseli(0, 12 * mp.sqrt(v))
                    / mp.besseli(0, 12) if v >= 0 else mpf(0))
    if late:
        write(text, rate, None, taps + [0.0], channels)
    else:
        write_kernel(text, rate, taps)


def write_aligns():
    r = 48000.0
    write_sparse('Align(2.5)', r, [(120, 1.0)], 2)
    write_sparse("Align(7, unit='samples')", r, [(7, 1.0)], 3)
    write_sparse("Align(0, 'samples')", r, [(0, 1.0)])
    write_align("Align(7.25, 'samples')", r, mpf(7.25), 40)
    write_align("Align(100.5, 'samples')", r, mpf(100.5), 0)
    write_align("Align(1.234, 'ms')", 44100.0, mpf('1.234') * 44100 / 1000, 0)
    write_align("Align(0.01, unit='m')", 96000.0, mpf('0.01') * 96000 / 343, 40)
    write_align("Align(2, 'ft')", r, mpf('0.6096') * 48000 / 343, 0)
    # whole, and short
    write_align("Align(0.25, 'ms')", r, mpf(12), 40)
    write_align("Align(0, 'm')", r, mpf(0), 40, 2)


def write_widths():
    for text, rate, w in (('0', 48000.0, 0.0), ('1', 48000.0, 1.0),
                          ('amount=2.5', 44100.0, 2.5)):
        middle, side = 0.5, 0.5 * w
        write('Width(%s)' % text, rate, None,
              {(0, 0): [middle + side, 0.0], (0, 1): [middle - side, 0.0],
               (1, 0): [middle - side, 0.0], (1, 1): [middle + side, 0.0]}, 2)
        write('Width(%s)' % text, rate, None, [1.0, 0.0])


def bs2b(frequency, level, rate, frames):
    """Bauer stereophonic-to-binaural, by its library."""
    lib = ctypes.CDLL('libbs2b.so.0')
    lib.bs2b_open.restype = ctypes.c_void_p
    for name in ('bs2b_set_srate', 'bs2b_set_level'):
        getattr(lib, name).argtypes = [ctypes.c_void_p, ctypes.c_uint32]
    lib.bs2b_cross_feed_d.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
    filter = lib.bs2b_open()
    lib.bs2b_set_srate(filter, rate)
    lib.bs2b_set_level(filter, frequency | round(10 * level) << 16)
    out = np.array(frames, float)
    lib.bs2b_cross_feed_d(filter, out.ctypes.data, len(out))
    return out


def write_crossfeeds():
    for text, rate, frequency, level in (
            ('', 48000, 700, 4.5), ('700, 6', 44100, 700, 6.0),
            ('650, level=9.5', 96000, 650, 9.5), ('300, 1', 48000, 300, 1.0),
            ('2000, 15', 8000, 2000, 15.0)):
        impulses = {}
        for c in range(2):
            frames = np.zeros((N_IMPULSE, 2))
            frames[0, c] = 1.0
            out = bs2b(frequency, level, rate, frames)
            impulses[c, 0], impulses[c, 1] = out[:, 0], out[:, 1]
        write('Crossfeed(%s)' % text, rate, None, impulses, 2)
        # One channel is both.
        write('Crossfeed(%s)' % text, rate, None,
              bs2b(frequency, level, rate,
                   np.outer(one(), [1.0, 1.0]))[:, 0])


COMBS = (1116, 1188, 1277, 1356, 1422, 1491, 1557, 1617)
ALL_PASSES = (556, 441, 341, 225)


def write_reverb(text, rate, room_size, damping, mix):
    """Freeverb, its recursions one by one."""
    f, d = 0.7 + 0.28 * room_size, 0.4 * damping
    combs = [round(n * rate / 44100) for n in COMBS]
    all_passes = [round(n * rate / 44100) for n in ALL_PASSES]

    def response(freq):
        p = turn(freq, rate, 1)
        low = (1 - d) / (1 - d * p)
        h = mp.fsum(0.015 * p ** n / (1 - f * p ** n * low) for n in combs)
        for n in all_passes:
            h *= (1.5 * p ** n - 1) / (1 - 0.5 * p ** n)
        return (1 - mix) + mix * h

    x, y = one(), np.zeros(N_IMPULSE)
    for n in combs:
        line, pole = [0.0] * n, 0.0
        for i in range(N_IMPULSE):
            y[i] += line[0]
            pole = (1 - d) * line[0] + d * pole
            line = line[1:] + [0.015 * x[i] + f * pole]
    for n in all_passes:
        line = [0.0] * n
        for i in range(N_IMPULSE):
            out, s = line[0], y[i]
            y[i] = out - s
            line = line[1:] + [s + 0.5 * out]
    write(text, rate, response, (1 - mix) * x + mix * y, 2)


def write_reverbs():
    write_reverb('Reverb()', 441.0, 0.5, 0.5, 0.3)
    write_reverb('Reverb(0.9, 0.1, mix=1)', 220.5, 0.9, 0.1, 1.0)
    write_reverb('Reverb(room_size=0.2, damping=1)', 330.0, 0.2, 1.0, 0.3)


def write_compositions():
    r = 48000.0
    low = iir('butter', 2, 1000, 'lowpass', r)
    high = iir('butter', 2, 1000, 'highpass', r)
    a, b = low.run(one()), high.run(one())
    lo, hi = 'LoButterworth(1000, 2)', 'HiButterworth(1000, 2)'
    write('%s | %s' % (lo, hi), r, lambda f: low.response(f) * high.response(f), high.run(a))
    write('%s + %s' % (lo, hi), r, lambda f: low.response(f) + high.response(f), a + b)
    # '+' binds tighter than '|'.
    write('%s | %s + %s' % (lo, lo, hi), r,
          lambda f: low.response(f) * (low.response(f) + high.response(f)),
          low.run(a + b))
    write('(%s | %s) + %s' % (lo, lo, hi), r,
          lambda f: low.response(f) ** 2 + high.response(f), low.run(a) + b)
    write('(%s + (%s | Gain(-2))) | Gain(0.5)' % (lo, hi), r,
          lambda f: low.response(f) / 2 - high.response(f), 0.5 * a - b)
    write('Gain(1) + Gain(1) + (Gain(2) | Gain(3))', r, lambda f: 8.0, [8.0])


def main():
    print('# Written by catalogue.py, which says what the lines mean.')
    print('# SciPy %s, NumPy %s, mpmath %s with %d digits' % (
        scipy.__version__, np.__version__, mpmath.__version__, mp.dps))
    write_iir()
    write_multibands()
    write_cookbook()
    write_sections()
    write_firs()
    write_curves()
    write_linears()
    write_contours()
    write_effects()
    write_aligns()
    write_widths()
    write_crossfeeds()
    write_reverbs()
    write_compositions()


if __name__ == '__main__':
    main()
