#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes key.txt: what dynamics with a key make of a signal, in double.

    python3 key.py > key.txt

Needs NumPy and SciPy (Debian: python3-scipy); the header has the versions.
Key filters are designed and run by SciPy (butter, bilinear, sosfilt); the level and
the gain are the formulas of docs/classes.md, frame by frame.  Lines of key.txt:

  at INDEX...
      the frames whose samples are in the lines y
  chain RATE CHANNELS TEXT
      starts a chain, over the frames of signal() in each channel
  y CHANNEL ENERGY VALUE...
      the sum of the squares of the output, and some of its samples
"""
import numpy
import scipy
from scipy import signal

N_FRAMES = 3000
AT = [0, 1, 2, 3, 5, 10, 20, 50, 100, 200, 441, 882, 1000, 1500, 1700, 2000,
      2222, 2500, 2800, 2999]


def make_signal(channel):
    """Noise of the generator x -> 69069 x + 1 modulo 2^32, loud and soft in turns."""
    x, out = channel + 1, []
    for i in range(N_FRAMES):
        x = (69069 * x + 1) % 2 ** 32
        loud = 1.0 if i // (300 + 100 * channel) % 2 else 0.03125
        out.append((x / 2.0 ** 31 - 1.0) * loud)
    return numpy.array(out)


def find_gain_db(level, threshold, slope, knee, floor, is_downward):
    level_db = 20 * numpy.log10(max(level, 1e-12))
    over = threshold - level_db if is_downward else level_db - threshold
    if over <= -knee / 2:
        gain = 0.0
    elif over < knee / 2:
        gain = slope * (over + knee / 2) ** 2 / (2 * knee)
    else:
        gain = slope * over
    return max(gain, floor)


def find_gains(x, rate, threshold, slope, attack, release, knee, floor=-1000.0,
               is_downward=False, is_rms=False):
    """The gain of each frame for a level that follows |x|."""
    a, r = (numpy.exp(-1 / (t * rate)) if t else 0.0 for t in (attack, release))
    square = held = out = 0.0
    gains = []
    for now in numpy.abs(x):
        if is_rms:
            square = a * square + (1 - a) * now * now
            now = numpy.sqrt(square)
        held = max(now, r * held)
        out = a * out + (1 - a) * held
        gains.append(10 ** (find_gain_db(out, threshold, slope, knee, floor,
                                         is_downward) / 20))
    return numpy.array(gains)


def write(text, rate, x, key=None, sos=(), is_linked=False, **dynamics):
    keyed = [signal.sosfilt(sos, c) if len(sos) else c for c in x]
    if key or is_linked:
        keyed = [numpy.max(numpy.abs([keyed[c] for c in key or range(len(x))]),
                           axis=0)] * len(x)
    print('chain', rate, len(x), text)
    for c, samples in enumerate(x):
        y = samples
        if c not in (key or []):
            y = samples * find_gains(keyed[c], rate, **dynamics)
        print('y', c, repr(float(numpy.sum(y ** 2))),
              *(repr(float(y[i])) for i in AT))


def main():
    print('# Written by key.py; SciPy %s, NumPy %s.'
          % (scipy.__version__, numpy.__version__))
    print('at', *AT)
    x = [make_signal(c) for c in range(4)]
    basic = {'threshold': -20, 'slope': 1 / 4 - 1, 'attack': 0.005,
             'release': 0.05, 'knee': 6}
    write('Compressor(key=[1])', 48000, x[:2], [1], **basic)
    write("Compressor(detector='rms', key=[3, 0])", 48000, x, [3, 0],
          is_rms=True, **basic)
    write('Expander(-12, 3, 0.001, 0.01, 0, -40, key=[2])', 44100, x[:3], [2],
          threshold=-12, slope=1 - 3, attack=0.001, release=0.01, knee=0,
          floor=-40, is_downward=True)
    high = signal.butter(3, 2000, 'highpass', fs=48000, output='sos')
    write('Compressor(key_filter=HiButterworth(2000, 3))', 48000, x[:1],
          sos=high, **basic)
    write('Compressor(link=True, key_filter=HiButterworth(2000, 3))', 48000,
          x[:2], sos=high, is_linked=True, **basic)
    at = 2 * numpy.tan(numpy.pi * 5000 / 44100)
    notch = signal.tf2sos(*signal.bilinear(
        *signal.lp2lp([1, 0, 1], [1, 1 / 0.7, 1], at)))
    band = signal.butter(2, [300, 6000], 'bandpass', fs=44100, output='sos')
    write("Compressor(-30, 8, 0.001, 0.02, 0, key=[1, 0], "
          "key_filter=Butterworth('bandpass', [300, 6000], 2) | "
          "Notch(5000, 0.7))", 44100, x[:3], [1, 0],
          numpy.concatenate([band, notch]), threshold=-30, slope=1 / 8 - 1,
          attack=0.001, release=0.02, knee=0)
    write('Gate(-15, 0.0005, 0.005, -30, 10, key=[0], '
          'key_filter=LoButterworth(1000, 2))', 96000, x[:2], [0],
          signal.butter(2, 1000, fs=96000, output='sos'), threshold=-15,
          slope=-1e6, attack=0.0005, release=0.005, knee=10, floor=-30,
          is_downward=True)


if __name__ == '__main__':
    main()
