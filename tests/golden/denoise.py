#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes denoise.txt: the output of Denoise for signals that test_denoise.c makes, too.

    python3 denoise.py > denoise.txt

Needs NumPy (Debian: python3-numpy).  The output is a pure function of this file and of
its version, which the header names.

Lines of denoise.txt; numbers are decimal and round-trip to double:

  chain RATE CHANNELS FRAMES SILENT-FROM SILENT-TO TEXT
      starts a chain, which runs from rest over signal(), silent in these frames
  y FRAME VALUE...
      a frame of the output, a value for each channel

The formulas are those of docs/classes.md, by complex transforms of NumPy; nothing
is shared with the C code.
"""
import math

import numpy as np

EACH = 11  # frames from one written frame to the next


def signal(rate, channels, frames, silent):
    """Harmonics in syllables, and noise of a linear congruential generator."""
    x = np.zeros((frames, channels))
    state = 1
    for i in range(frames):
        t = i / rate
        loud = max(0.0, math.sin(2 * math.pi * 3 * t)) ** 2
        voice = sum(math.sin(2 * math.pi * 140 * k * t) / k
                    for k in range(1, 9))
        for c in range(channels):
            state = (1103515245 * state + 12345) % 2**31
            if not silent[0] <= i < silent[1]:
                x[i, c] = (0.2 * loud * voice / (c + 1)
                           + 0.02 * (state / 2**30 - 1))
    return x


def window_length(rate):
    """The shortest of at least 32 ms among 2^k and 3 * 2^k, from 64 on."""
    return min(n for k in range(20) for n in (64 * 2**k, 192 * 2**k)
               if n >= 0.032 * rate)


class Level:
    """The noise and the gains of a channel, or of linked ones."""

    def __init__(self, bins, rate, hop, learn, smoothing, profile):
        seconds = hop / rate
        self.noise = np.zeros(bins)
        self.is_given = profile is not None
        if self.is_given:
            # White noise of variance v has a density of 2 v / rate per Hz, twice
            # that if a sine at full scale, of power 1/2, is 0 dB; in a frame it
            # has v times the sum of the window's squares, which is half its length.
            hz, db = np.array(profile, float).T
            bin_hz = (np.arange(bins) + 0.5) * rate / (2 * bins)
            density = 10 ** (np.interp(np.log(bin_hz), np.log(hz), db) / 10)
            self.noise += density * rate / 4 * bins
        self.presence = np.zeros(bins)
        self.before = np.zeros(bins)  # W^2 g of the frame before
        self.is_following = learn is None and not self.is_given
        self.n_learn = max(1, round((0.08 if learn is None else learn)
                                    / seconds))
        self.n_learned = 0
        self.a = math.exp(-seconds / 0.3)
        self.b = 0.9 ** (seconds / 0.016)
        self.c = math.exp(-seconds / smoothing)

    def gains(self, power, is_full, lowest):
        if self.is_given:
            pass
        elif is_full and self.n_learned < self.n_learn:
            self.n_learned += 1
            self.noise += (power - self.noise) / self.n_learned
        elif is_full and self.is_following:
            x = 10 ** 1.5
            p = 1 / (1 + (1 + x) * np.exp(-power / self.noise * x / (1 + x)))
            self.presence = self.b * self.presence + (1 - self.b) * p
            p = np.where(self.presence > 0.99, np.minimum(p, 0.99), p)
            self.noise = (self.a * self.noise + (1 - self.a)
                          * (p * self.noise + (1 - p) * power))
        if self.n_learned == 0 and not self.is_given:
            return np.full(len(power), lowest)
        g = power / (2 * self.noise)
        s = self.c * self.before + (1 - self.c) * np.maximum(g - 1, 0)
        wiener = s / (1 + s)
        self.before = wiener ** 2 * g
        return np.maximum(wiener, lowest)


def run(x, rate, reduction=12.0, learn=None, smoothing=0.4, link=False,
        profile=None):
    """The output, a window late."""
    frames, channels = x.shape
    n = window_length(rate)
    hop = n // 4
    window = np.sin(np.pi * (np.arange(n) + 0.5) / n)
    turn = np.exp(-1j * np.pi * np.arange(n) / n)  # to (bin + 1/2) / n
    groups = [range(channels)] if link else [[c] for c in range(channels)]
    levels = [Level(n // 2, rate, hop, learn, smoothing, profile)
              for _ in groups]
    lowest = 10 ** (-reduction / 20)
    y = np.zeros((frames + 2 * n, channels))
    at = 0
    while at < frames:
        # From the first sound to eight silent quarters of a window.
        if not x[at].any():
            at += 1
            continue
        past = np.zeros((n, channels))
        n_quiet = 0
        while n_quiet < 8 and at + hop <= frames:
            past = np.concatenate([past[hop:], x[at:at + hop]])
            at += hop
            n_quiet = 0 if past[-hop:].any() else n_quiet + 1
            spectra = np.fft.fft(past.T * window * turn)[:, :n // 2]
            for group, level in zip(groups, levels):
                power = np.mean(np.abs(spectra[group]) ** 2, axis=0)
                is_full = any(
                    all(past[k * hop:(k + 1) * hop, c].any() for k in range(4))
                    for c in group)
                spectra[group] *= level.gains(power, is_full, lowest)
            # Bin n - 1 - k is the conjugate of bin k.
            whole = np.concatenate([spectra, spectra[:, ::-1].conj()], axis=1)
            part = (np.fft.ifft(whole) / turn).real * window / 2
            y[at:at + n] += part.T
        if n_quiet < 8:
            break
    return y[:frames]


CASES = [
    (8000, 1, 6000, (0, 0), {}),
    (11025, 2, 7000, (3000, 4200),
     {'reduction': 20.0, 'learn': 0.2, 'smoothing': 0.1, 'link': True}),
    (16000, 2, 8000, (4000, 4100), {'reduction': 30.0, 'smoothing': 2.0}),
    (2000, 1, 2000, (500, 900), {'learn': 0.1}),
    (8000, 1, 6000, (2000, 2900),
     {'profile': [[100, -70], [1000.5, -64], [3000, -80]]}),
    (11025, 2, 5000, (0, 0),
     {'reduction': 20.0, 'link': True, 'profile': [[500, -66]]}),
]


def main():
    print('# Written by denoise.py, which explains the lines.')
    print('# NumPy', np.__version__)
    for rate, channels, frames, silent, values in CASES:
        text = 'Denoise(%s)' % ', '.join('%s=%r' % v for v in values.items())
        print('chain', rate, channels, frames, *silent, text)
        y = run(signal(rate, channels, frames, silent), rate, **values)
        for i in range(0, frames - frames % window_length(rate), EACH):
            print('y', i, *(repr(float(v)) for v in y[i]))


main()
