#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes firwin.txt: the golden values of the FIR designs.

    python3 firwin.py > firwin.txt

Needs SciPy and mpmath (Debian: python3-scipy, python3-mpmath).  The output is
a pure function of this file and of SciPy's version, which its header names.

Lines of firwin.txt; numbers are decimal and round-trip to double:

  fir WINDOW BETA MODE TAPS RATE LOWER UPPER
      starts a design: scipy.signal.firwin (TAPS, [LOWER, UPPER],
      window=WINDOW, pass_zero=MODE, scale=True, fs=RATE).  BETA is for kaiser
      alone, UPPER for the band modes; what does not apply is 0.
  t TAP...       of a short design: the first half of its taps, the middle one
                 included
  i INDEX=TAP... of a long design: some of its taps
  s SUM ABS SQUARES
      of a long design: the sums of its taps, of their magnitudes and of their
      squares, each exactly rounded (math.fsum)
  x DISTANCE     of a design where SciPy's taps are more than 1e-13 from the
                 exact ones, by this much: the lines t and i hold exact values
                 (40 digits, rounded to double), and there is no line s
  no             instead of taps: SciPy refuses the design
"""
import math
import sys

import mpmath
import numpy as np
import scipy
from mpmath import mp, mpf
from scipy import signal

mp.dps = 40

WINDOWS = [('hamming', 0), ('hann', 0), ('blackman', 0),
           ('blackmanharris', 0), ('nuttall', 0), ('flattop', 0),
           ('bartlett', 0), ('boxcar', 0), ('kaiser', 0.0), ('kaiser', 3.5),
           ('kaiser', 8.6), ('kaiser', 14.0), ('kaiser', 60.0)]
MODES = ['lowpass', 'highpass', 'bandpass', 'bandstop']
LENGTHS = [3, 4, 5, 8, 16, 21, 33, 64, 101, 102, 255, 511, 1024, 2047, 4096,
           4097]
# (rate, lower, upper)
CUTOFFS = [(48000.0, 1000.0, 5000.0), (44100.0, 20.0, 20000.0),
           (96000.0, 11025.5, 11800.25), (8000.0, 3900.0, 3990.0),
           (192000.0, 30.0, 60.0)]
MAX_SHORT = 33
N_PICKED = 8


COSINE_SUMS = {
    'hamming': [0.54, 1 - 0.54],
    'hann': [0.5, 0.5],
    'blackman': [0.42, 0.50, 0.08],
    'blackmanharris': [0.35875, 0.48829, 0.14128, 0.01168],
    'nuttall': [0.3635819, 0.4891775, 0.1365995, 0.0106411],
    'flattop': [0.21557895, 0.41663158, 0.277263158, 0.083578947,
                0.006947368],
}


def exact_window(name, beta, x):
    if name == 'bartlett':
        return 1 - abs(x)
    if name == 'boxcar':
        return mpf(1)
    if name == 'kaiser':
        return (mpmath.besseli(0, beta * mpmath.sqrt(1 - x * x))
                / mpmath.besseli(0, beta))
    return sum(a * mpmath.cospi(k * x)
               for k, a in enumerate(COSINE_SUMS[name]))


def exact(name, beta, mode, n, rate, lower, upper):
    """firwin in 40 digits, for the double values of the parameters."""
    a, b = (mpf(f) / (mpf(rate) / 2) for f in (lower, upper))
    bands = {'lowpass': [(0, a)], 'highpass': [(a, 1)],
             'bandpass': [(a, b)], 'bandstop': [(0, a), (b, 1)]}[mode]
    left, right = bands[0]
    scale = 0 if left == 0 else 1 if right == 1 else (left + right) / 2
    ms = [mpf(2 * i - (n - 1)) / 2 for i in range((n + 1) // 2)]
    taps = [exact_window(name, mpf(beta), 2 * m / (n - 1))
            * sum(r * mpmath.sincpi(r * m) - q * mpmath.sincpi(q * m)
                  for q, r in bands) for m in ms]
    total = mpmath.fsum((1 if m == 0 else 2) * h * mpmath.cospi(m * scale)
                        for h, m in zip(taps, ms))
    half = np.array([float(h / total) for h in taps])
    return np.concatenate([half, half[:n // 2][::-1]])


def number(x):
    return repr(float(x)) if x != int(x) else '%d' % x


def design(name, beta, mode, n, rate, lower, upper):
    window = (name, beta) if name == 'kaiser' else name
    band = mode in ('bandpass', 'bandstop')
    print('fir', name, number(beta), mode, n, number(rate), number(lower),
          number(upper if band else 0))
    try:
        taps = signal.firwin(n, [lower, upper] if band else lower,
                             window=window, pass_zero=mode, scale=True,
                             fs=rate)
    except ValueError:
        print('no')
        return
    deviation = 0
    if n > 1:
        true = exact(name, beta, mode, n, rate, lower, upper)
        deviation = float(np.abs(taps - true).max())
    if deviation > 1e-13:
        print('x %.2e' % deviation)
        taps = true
    if n <= MAX_SHORT:
        print('t', *(repr(float(x)) for x in taps[:(n + 1) // 2]))
        return
    # not evenly spaced, so that a pattern in the taps does not hide
    picked = sorted({0, n // 2, *(int(n / 2 * (k + 0.5) ** 2 / N_PICKED ** 2)
                                  for k in range(N_PICKED))})
    print('i', *('%d=%r' % (k, float(taps[k])) for k in picked))
    if deviation > 1e-13:
        return
    print('s', *(repr(math.fsum(x)) for x in
                 (taps, np.abs(taps), taps * taps)))


def main():
    print('# Written by firwin.py; SciPy %s, NumPy %s, Python %s.'
          % (scipy.__version__, np.__version__, sys.version.split()[0]))
    for k, n in enumerate(LENGTHS):
        for name, beta in WINDOWS:
            for mode in MODES:
                for j, places in enumerate(CUTOFFS):
                    # long designs: fewer cutoffs, in turn
                    if n > MAX_SHORT and (j + k) % 2:
                        continue
                    design(name, beta, mode, n, *places)
    for name, beta in WINDOWS:
        design(name, beta, 'lowpass', 1, 48000.0, 1000.0, 0)


if __name__ == '__main__':
    main()
