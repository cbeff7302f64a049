#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""cookbook.py: the launch lines of docs/cookbook.md do what it says, as TAP.

    cookbook.py docs/cookbook.md

Each runs in a folder of its own on in.wav, which is an impulse or a sine; the
plugin is found by the environment.
"""
import cmath
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import wave

RATE = 48000
N = 32768
AMPLITUDE = 0.05
REW = """Filter Settings file

Room EQ V5.20
Equaliser: Generic
Filter  1: ON  PK       Fc    63.0 Hz  Gain  -5.0 dB  Q  4.00
Filter  2: ON  None
Filter  3: ON  PK       Fc    250 Hz   Gain  3.0 dB  Q  2.00
"""


# A gain of 0.5.
SPEAKER = [0.5, 0.0, 0.0]


def write_wav(path, samples):
    with wave.open(path, 'wb') as out:
        out.setparams((1, 4, RATE, len(samples), 'NONE', 'NONE'))
        out.writeframes(struct.pack('<%di' % len(samples),
                                    *(round(x * 2 ** 31) for x in samples)))


def read_wav(path):
    """A list for each channel; Python's wave knows no more than two of them."""
    with open(path, 'rb') as file:
        content = file.read()
    chunks, at = {}, 12
    while at + 8 <= len(content):
        name, size = struct.unpack('<4sI', content[at:at + 8])
        chunks[name] = content[at + 8:at + 8 + size]
        at += 8 + size + size % 2
    channels, bits = struct.unpack('<2xH10xH', chunks[b'fmt '][:16])
    assert bits == 32, path
    data = struct.unpack('<%di' % (len(chunks[b'data']) // 4), chunks[b'data'])
    return [[x / 2 ** 31 for x in data[c::channels]] for c in range(channels)]


def impulse():
    return [AMPLITUDE] + [0.0] * (N - 1)


def sine(hz, level_db, n=N):
    a = 10 ** (level_db / 20)
    return [a * math.sin(2 * math.pi * hz * i / RATE) for i in range(n)]


def gain_db(samples, hz):
    """The response of an impulse of AMPLITUDE."""
    turn, z, h = cmath.exp(-2j * math.pi * hz / RATE), 1.0, 0.0
    for x in samples:
        h += x * z
        z *= turn
    return 20 * math.log10(max(abs(h) / AMPLITUDE, 1e-9))


def level_db(samples):
    """Of a sine, in the second half."""
    half = samples[len(samples) // 2:]
    return 10 * math.log10(2 * sum(x * x for x in half) / len(half))


class Recipe:
    def __init__(self, line):
        self.line = line

    def run(self, samples, *names):
        with tempfile.TemporaryDirectory() as folder:
            write_wav(os.path.join(folder, 'in.wav'), samples)
            with open(os.path.join(folder, 'rew.txt'), 'w') as file:
                file.write(REW)
            write_wav(os.path.join(folder, 'speaker.wav'), SPEAKER)
            done = subprocess.run(self.line, shell=True, cwd=folder,
                                  stdout=subprocess.PIPE, timeout=60,
                                  stderr=subprocess.STDOUT, text=True)
            assert done.returncode == 0, done.stdout
            out = [y for name in names
                   for y in read_wav(os.path.join(folder, name))]
        for y in out:
            assert len(y) == len(samples), '%d frames' % len(y)
        return out


def near(found, wanted, tolerance, what):
    assert abs(found - wanted) <= tolerance, '%s: %.4f, not %.4f' % (
        what, found, wanted)


def check_responses(recipe, name, wanted, tolerance=0.1):
    y, = recipe.run(impulse(), name)
    for hz, db in wanted.items():
        near(gain_db(y, hz), db, tolerance, '%g Hz' % hz)


def hum(recipe):
    y, = recipe.run(impulse() + [0.0] * (3 * N), 'hum.wav')
    for k in range(1, 9):
        found = gain_db(y, 50 * k)
        assert found < -40, '%g Hz: %.1f dB' % (50 * k, found)
    for hz in (75, 1000, 10000):
        near(gain_db(y, hz), 0, 0.2, '%g Hz' % hz)


def record(recipe):
    def curve(hz):
        s = 2j * math.pi * hz
        return 20 * math.log10(abs((1 + 318e-6 * s) / (1 + 3180e-6 * s)
                                   / (1 + 75e-6 * s)))

    check_responses(recipe, 'riaa.wav',
                    {hz: curve(hz) - curve(1000) - 20
                     for hz in (60, 100, 500, 1000, 5000, 15000)})


def rumble(recipe):
    check_responses(recipe, 'rumble.wav', {30: -3.01, 15: -24.1, 1000: 0})


def telephone(recipe):
    check_responses(recipe, 'telephone.wav',
                    {300: -3.01, 3400: -3.01, 1000: 0}, 0.05)


def crossover(recipe):
    parts = recipe.run(impulse(), 'ways.wav')
    assert len(parts) == 3, '%d channels' % len(parts)
    for part, hz in zip(parts, (50, 950, 15000)):
        near(gain_db(part, hz), 0, 0.2, '%g Hz' % hz)
    total = [sum(x) for x in zip(*parts)]
    for k in range(40):
        hz = 20 * 1000 ** (k / 39)
        near(gain_db(total, hz), 0, 0.01, 'the sum at %g Hz' % hz)


def room(recipe):
    check_responses(recipe, 'room.wav', {63: -11.02, 250: -3.02, 5000: -6.02})


def voice(recipe):
    # 24 dB above the threshold become 8; and 6 dB of makeup.
    y, = recipe.run(sine(1000, -4), 'voice.wav')
    loud = level_db(y)
    y, = recipe.run(sine(1000, -40), 'voice.wav')
    near(level_db(y), -34, 0.1, 'a soft sine')
    assert -14 < loud < -8, 'a loud sine: %.2f dB' % loud


def deess(recipe):
    y, = recipe.run(sine(1000, -10), 'deess.wav')
    near(level_db(y), -10, 0.2, '1 kHz')
    y, = recipe.run(sine(9000, -10), 'deess.wav')
    assert level_db(y) < -20, '9 kHz: %.2f dB' % level_db(y)


def loudness(recipe):
    # Of one channel: the level of a sine of 1 kHz in LUFS is its RMS level.
    for level in (-35, -8):
        y, = recipe.run(sine(1000, level, 5 * RATE), 'loudness.wav')
        near(level_db(y), -23 + 3.01, 0.1, 'a sine of %d dB' % level)


def reverb(recipe):
    y, = recipe.run([0.5] + [0.0] * (N - 1), 'reverb.wav')
    near(y[0], 0.75 * 0.5, 1e-6, 'the sound itself')
    assert max(map(abs, y[1:1200])) < 1e-8, 'something comes too soon'
    energy = [sum(x * x for x in y[i:i + 8000]) for i in (1200, 9200, 17200)]
    assert energy[0] > energy[1] > energy[2] > 0, 'it does not fade'


CHECKS = {'Hum': hum, 'A record without its preamplifier': record,
          'De-rumble': rumble, 'Telephone': telephone,
          'A three-way crossover': crossover,
          'Room correction from REW': room, 'Compress a voice': voice,
          'De-ess': deess, 'Loudness to −23 LUFS': loudness,
          'Reverb': reverb}


def main():
    with open(sys.argv[1]) as file:
        sections = re.split(r'^## ', file.read(), flags=re.M)[1:]
    print('1..%d' % (len(sections) + 1))
    for i, section in enumerate(sections):
        title, fault = section.split('\n', 1)[0], None
        try:
            line, = re.findall(r'^```.*?\n(.*?)^```', section, re.M | re.S)
            CHECKS[title](Recipe(line))
        except Exception as error:  # any fault is this recipe's
            fault = repr(error)
        print('%s %d - %s' % ('not ok' if fault else 'ok', i + 1, title))
        if fault:
            print('#', fault.replace('\n', '\n# '))
        sys.stdout.flush()
    has_all = len(sections) == len(CHECKS)
    print('%s %d - all of them' % ('ok' if has_all else 'not ok',
                                   len(sections) + 1))


if __name__ == '__main__':
    main()
