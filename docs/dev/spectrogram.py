#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The spectrogram of a mono float32 sound file, as a matrix for gnuplot.

    spectrogram.py FILE.wav > FILE.tsv

A row for each 20 Hz up to 10 kHz, a column for each 10 ms, in dB of the largest.
Blackman windows of 50 ms.  For pictures.sh; it needs python3-numpy.
"""

import sys

import numpy as np

RATE = 48000
LENGTH, STEP = 2400, 480

data = open(sys.argv[1], 'rb').read()
data = data[data.index(b'data') + 8:]
x = np.frombuffer(data[:len(data) // 4 * 4], '<f4').astype(float)
frames = np.array(
    [x[i:i + LENGTH] for i in range(0, len(x) - LENGTH + 1, STEP)])
power = np.abs(np.fft.rfft(frames * np.blackman(LENGTH))) ** 2
level = 10 * np.log10(np.maximum(power / power.max(), 1e-16))
np.savetxt(sys.stdout, level.T[:10000 * LENGTH // RATE + 1], fmt='%.1f')
