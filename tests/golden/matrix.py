#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes matrix.txt: the golden values of matrices of kernels.

    python3 matrix.py > matrix.txt

Needs SciPy (Debian: python3-scipy).  The output is a pure function of this file and of
SciPy's version, which its header names.

Kernels and inputs are noise of a generator that the test has too: from the seed S on,
x' = (1664525 x + 1013904223) mod 2^32, and a value is x' / 2^31 - 1.  First come the
channels of the file, [channel][tap], each tap times (1 - tap / TAPS); then the
inputs, [channel][frame].

Lines of matrix.txt; numbers are decimal and round-trip to double:

  case FILE TAPS INPUTS OUTPUTS FRAMES SEED LAYOUT
      starts a case: a file of FILE channels and TAPS frames, and the layout as it
      stands in a chain.
  y OUTPUT FRAME VALUE
      a sample of the output: the sum over all inputs of
      scipy.signal.oaconvolve (input, kernel).
"""
import sys

import numpy as np
import scipy
from scipy import signal

N_POINTS = 12

# Loudspeaker: channels of a HeSuVi file to the left and the right ear.
HESUVI = {'FL': (0, 1), 'SL': (2, 3), 'BL': (4, 5), 'FC': (6, 13), 'LFE': (6, 13),
          'FR': (8, 7), 'SR': (10, 9), 'BR': (12, 11)}
SEVEN = ['FL', 'FR', 'FC', 'BL', 'BR', 'SL', 'SR']
EIGHT = ['FL', 'FR', 'FC', 'LFE', 'BL', 'BR', 'SL', 'SR']
# What a file of seven channels leaves out is the mirror image of what it has.
MIRRORED = {7: 0, 8: 1, 9: 2, 10: 3, 11: 4, 12: 5, 13: 6}


def hesuvi(speakers, mirror=False):
    rows = [[HESUVI[name][ear] for name in speakers] for ear in (0, 1)]
    if mirror:
        rows = [[MIRRORED.get(k, k) for k in row] for row in rows]
    return rows


def listed(rows):
    return '[' + ', '.join('[' + ', '.join(str(k) for k in row) + ']'
                           for row in rows) + ']'


UPMIX = [[0], [-1], [1]]
MIXED = [[3, -1, 0], [1, 1, -1], [-1, -1, -1], [2, 0, 1]]
AMBISONIC = [list(range(25)), list(range(25, 50))]
CASES = [
    # channels of the file, taps, rows, layout, seed
    (4, 3, [[0, 2], [1, 3]], "'true-stereo'", 1),
    (4, 300, [[0, 2], [1, 3]], "'true-stereo'", 2),
    (4, 9000, [[0, 2], [1, 3]], "'true-stereo'", 3),
    (14, 700, hesuvi(SEVEN), "'hesuvi'", 4),
    (14, 700, hesuvi(EIGHT), "'hesuvi'", 5),
    (7, 700, hesuvi(SEVEN, True), "'hesuvi'", 6),
    (2, 50, UPMIX, listed(UPMIX), 7),
    (5, 2000, MIXED, listed(MIXED), 8),
    (50, 8192, AMBISONIC, listed(AMBISONIC), 9),
]


def noise(seed, n):
    values = np.empty(n)
    x = seed
    for i in range(n):
        x = (1664525 * x + 1013904223) % 2 ** 32
        values[i] = x / 2 ** 31 - 1
    return values


def main():
    print('# Written by matrix.py; SciPy %s, NumPy %s, Python %s.'
          % (scipy.__version__, np.__version__, sys.version.split()[0]))
    for n_file, n_taps, rows, layout, seed in CASES:
        n_in, n_out, n_frames = len(rows[0]), len(rows), n_taps + 3000
        values = noise(seed, n_file * n_taps + n_in * n_frames)
        kernels = values[:n_file * n_taps].reshape(n_file, n_taps)
        kernels = kernels * (1 - np.arange(n_taps) / n_taps)
        x = values[n_file * n_taps:].reshape(n_in, n_frames)
        print('case', n_file, n_taps, n_in, n_out, n_frames, seed, layout)
        for c, row in enumerate(rows):
            y = np.zeros(n_frames)
            for k, kernel in enumerate(row):
                if kernel >= 0:
                    y += signal.oaconvolve(x[k], kernels[kernel])[:n_frames]
            for i in range(N_POINTS):
                frame = 0 if i == 0 else n_frames - 1 - i * i * n_frames // (
                    N_POINTS * N_POINTS)
                print('y', c, frame, repr(float(y[frame])))


if __name__ == '__main__':
    main()
