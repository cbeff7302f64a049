#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""cookbook.py: the recipes of docs/cookbook.md do what it says, as TAP.

    cookbook.py docs/cookbook.md

Each block of commands runs in a folder of its own on in.wav, which is an impulse
or a sine; the plugin and the program are found by the environment.
"""
import cmath
import math
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import wave

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'golden')
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
# 127 points, as AutoEq writes them: 6 dB at 100 Hz, -8 dB at 8 kHz.
POINTS = [round(20 * 1000 ** (i / 126.0), 1) for i in range(127)]
GRAPHIC = 'GraphicEQ: ' + '; '.join('%g %.1f' % (hz, 6 * math.exp(
    -math.log2(hz / 100) ** 2) - 8 * math.exp(-math.log2(hz / 8000) ** 2))
    for hz in POINTS) + '\n'
TEXTS = {'left.txt': REW, 'room.txt': REW,
         'right.txt': 'Filter  1: ON  PK  Fc  100 Hz  Gain  -6.0 dB  Q  3.00\n',
         'GraphicEQ.txt': GRAPHIC,
         'eq.txt': 'Filter  1: ON  PK  Fc  1000 Hz  Gain  -12.0 dB  Q  1.00\n'}


def taps(**gains):
    """An impulse response from names such as at_3."""
    h = [0.0] * (max(int(at[3:]) for at in gains) + 8)
    for at, gain in gains.items():
        h[int(at[3:])] = gain
    return h


# From left to left, left to right, right to left, right to right.
HALL = [taps(at_0=0.5, at_40=0), taps(at_40=0.25), taps(at_20=0.125, at_40=0),
        taps(at_10=0.75, at_40=0)]
# HeSuVi's: the ears of each loudspeaker; channel k has tap k.
HRIR = [taps(**{'at_%d' % k: 0.5 / (k + 1), 'at_20': 0}) for k in range(14)]
SOUNDS = {'speaker.wav': [taps(at_2048=0.5, at_4000=0)],
          'stereo-room.wav': [taps(at_9=0.5), taps(at_9=0.25)],
          'true-stereo-hall.wav': HALL, 'hrir.wav': HRIR,
          'from-left.wav': HALL[:2], 'from-right.wav': HALL[2:]}


def write_wav(path, channels):
    frames = list(zip(*channels))
    with wave.open(path, 'wb') as out:
        out.setparams((len(channels), 4, RATE, len(frames), 'NONE', 'NONE'))
        out.writeframes(b''.join(
            struct.pack('<i', round(x * 2 ** 31)) for y in frames for x in y))


def read_wav(path, wanted_bits=32):
    """A list for each channel; Python's wave knows no more than two of them."""
    with open(path, 'rb') as file:
        content = file.read()
    chunks, at = {}, 12
    while at + 8 <= len(content):
        name, size = struct.unpack('<4sI', content[at:at + 8])
        chunks[name] = content[at + 8:at + 8 + size]
        at += 8 + size + size % 2
    channels, bits = struct.unpack('<2xH10xH', chunks[b'fmt '][:16])
    assert bits == wanted_bits, '%s: %d bits' % (path, bits)
    n, data = bits // 8, chunks[b'data']
    data = [int.from_bytes(data[i:i + n], 'little', signed=True) / 2 ** (bits - 1)
            for i in range(0, len(data) - n + 1, n)]
    return [data[c::channels] for c in range(channels)]


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


class Skip(Exception):
    pass


class Recipe:
    def __init__(self, lines):
        self.lines = lines

    def run(self, samples, *names, **options):
        """Of in.wav with these samples, a list for each channel or one of them,
        the channels of the new files."""
        channels = samples if isinstance(samples[0], list) else [samples]
        return self.run_files({'in.wav': channels}, *names, **options)

    def run_files(self, sounds, *names, bits=32):
        with tempfile.TemporaryDirectory() as folder:
            fill(folder, sounds)
            done = subprocess.run(['sh', '-e', '-c', self.lines], cwd=folder,
                                  stdout=subprocess.PIPE, timeout=60,
                                  stderr=subprocess.STDOUT, text=True)
            assert done.returncode == 0, done.stdout
            out = [y for name in names
                   for y in read_wav(os.path.join(folder, name), bits)]
        n, = {len(y) for sound in sounds.values() for y in sound}
        for y in out:
            assert len(y) == n, '%d frames' % len(y)
        return out


def fill(folder, sounds):
    """The files that the recipes name."""
    shutil.copy(os.path.join(GOLDEN, 'head.sofa'), folder)
    for name, text in TEXTS.items():
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
            file.write(text)
    for name, channels in {**SOUNDS, **sounds}.items():
        write_wav(os.path.join(folder, name), channels)


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
    y, = recipe.run(sine(50, -20, 2 * RATE), 'hum.wav')
    first, second = (level_db(y[at:at + RATE // 5]) for at in (0, RATE))
    near(second - first, -45, 1, 'in one second, dB')


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


def hiss(recipe):
    rng = random.Random(1)
    words = [0.2 * math.sin(2 * math.pi * 300 * i / RATE)
             if i % RATE > 0.9 * RATE else 0.0 for i in range(3 * RATE)]
    noise = [rng.gauss(0, 0.003) for _ in words]
    y = recipe.run_files({'in.wav': [[a + b for a, b in zip(words, noise)]],
                          'hiss.wav': [noise]}, 'no-hiss.wav')[0]
    for second in 1, 2:  # apart from the last word and from its echo in the window
        at = second * RATE + RATE // 10
        pause = slice(at, at + RATE // 2)
        near(level_db(y[pause]) - level_db(noise[pause]), -12, 1, 'hiss')
        word = slice(second * RATE + int(0.93 * RATE),
                     second * RATE + int(0.97 * RATE))
        near(level_db(y[word]) - level_db(words[word]), 0, 0.5, 'word')


def equalise(recipe):
    check_responses(recipe, 'equalised.wav',
                    {20: -1, 300: -8, 1000: -4.5, 20000: -2}, 0.35)


def drawn(recipe):
    out, = recipe.run(impulse(), 'house.wav')
    assert max(map(abs, out[:16])) > 0.5 * AMPLITUDE  # without latency
    for hz, db in ((40, 4), (60 ** 0.5 * 200 ** 0.5, 2), (600, 0),
                   (40e6 ** 0.5, -1.5)):
        near(gain_db(out, hz), db - 4, 0.2, '%g Hz' % hz)


def linear(recipe):
    x = impulse()
    middle = len(x) // 2
    y, = recipe.run(x[-middle:] + x[:-middle], 'linear.wav')
    for k in range(1, 2000):
        near(y[middle - k], y[middle + k], 1e-6 * AMPLITUDE, 'frame %d' % k)
    for hz, db in (40, -3.01), (20, -12.3), (2500, -3), (10000, 0):
        near(gain_db(y, hz), db, 0.2, '%g Hz' % hz)


def headphone(recipe):
    out, = recipe.run(impulse(), 'headphone.wav')
    assert max(map(abs, out[:16])) > 0.2 * AMPLITUDE  # without latency
    for hz, db in (100, 6), (1000, 0), (4000, -8 / math.e), (8000, -8):
        near(gain_db(out, hz), db, 0.2, '%g Hz' % hz)


def room(recipe):
    left, right = recipe.run([impulse(), impulse()], 'room.wav')
    for hz, wanted in (63, -5), (250, 3), (5000, 0):
        near(gain_db(left, hz), wanted, 0.1, 'left at %g Hz' % hz)
    for hz, wanted in (100, -6), (5000, 0):
        near(gain_db(right, hz), wanted, 0.1, 'right at %g Hz' % hz)


def both(recipe):
    for y in recipe.run([impulse(), impulse()], 'both.wav'):
        for hz, wanted in (63, -5), (250, 3), (5000, 0):
            near(gain_db(y, hz), wanted, 0.1, '%g Hz' % hz)


def speaker(recipe):
    left, right = recipe.run([impulse(), impulse()], 'corrected.wav')
    for hz, wanted in (63, -11.02), (250, -3.02), (5000, -6.02):
        near(gain_db(left, hz), wanted, 0.1, 'left at %g Hz' % hz)
    for hz, wanted in (100, -12.02), (5000, -6.02):
        near(gain_db(right, hz), wanted, 0.1, 'right at %g Hz' % hz)
    for y in left, right:
        near(y[0], 0.5 * AMPLITUDE, 0.01 * AMPLITUDE, 'what comes without a delay')


def stereo_room(recipe):
    for y, h in zip(recipe.run([impulse(), impulse()], 'in-room.wav'),
                    SOUNDS['stereo-room.wav']):
        near(y[0] / AMPLITUDE, 0.7, 1e-6, 'the sound itself')
        near(y[9] / AMPLITUDE, 0.3 * h[9], 1e-6, 'the room')


def headphones(recipe):
    left, right = recipe.run([impulse(), [0.0] * N], 'headphones.wav')
    near(gain_db(left, 20) - gain_db(right, 20), 4.5, 0.01, 'lows')
    assert gain_db(left, 15000) - gain_db(right, 15000) > 25, 'highs'


def hall(recipe):
    """An impulse from one side at a time: both outputs, tap by tap."""
    silence = [0.0] * N
    for side, sounds in enumerate(([impulse(), silence], [silence, impulse()])):
        out = recipe.run(sounds, 'in-hall.wav')
        assert len(out) == 2, '%d channels' % len(out)
        for y, h in zip(out, HALL[2 * side:2 * side + 2]):
            assert max(abs(a / AMPLITUDE - b) for a, b in zip(y, h)) < 1e-5
            assert max(map(abs, y[len(h):])) < 1e-6


def surround(recipe):
    """An impulse from one loudspeaker of 5.1 at a time: both ears."""
    for c, ears in enumerate(((0, 1), (8, 7), (6, 13), (6, 13), (4, 5), (12, 11))):
        sounds = [impulse() if k == c else [0.0] * N for k in range(6)]
        out = recipe.run_files({'surround.wav': sounds}, 'headphones.wav')
        assert len(out) == 2, '%d channels' % len(out)
        for y, k in zip(out, ears):
            assert max(abs(a / AMPLITUDE - b) for a, b in zip(y, HRIR[k])) < 1e-5
            assert max(map(abs, y[len(HRIR[k]):])) < 1e-6


def film(recipe):
    """The artificial head of tests/golden/sofa.py, at FL, FR, FC, LFE, BL and BR."""
    found = subprocess.run(['gst-tfx', 'check', "HRIR('head.sofa')"], cwd=GOLDEN,
                           capture_output=True, text=True, check=False)
    if 'libmysofa' in found.stderr:
        raise Skip('no libmysofa')
    for c, s in enumerate((0.5, -0.5, 0, 0)):
        sounds = [impulse() if k == c else [0.0] * N for k in range(6)]
        out = recipe.run_files({'film.wav': sounds}, 'headphones.wav')
        assert len(out) == 2, '%d channels' % len(out)
        for y, side in zip(out, (1, -1)):
            at = round(12 * (1 - side * s))
            for i in range(64):
                wanted = (0.5 + 0.25 * side * s) * (-0.6) ** (i - at)
                near(y[i] / AMPLITUDE, wanted if 0 <= i - at < 16 else 0, 1e-5,
                     'channel %d, frame %d' % (c, i))
    for c, side in ((4, 0), (5, 1)):
        sounds = [impulse() if k == c else [0.0] * N for k in range(6)]
        out = recipe.run_files({'film.wav': sounds}, 'headphones.wav')
        assert gain_db(out[side], 1000) > gain_db(out[1 - side], 1000) + 6, c


def middle_side(recipe):
    x = impulse()
    for y in recipe.run([x, x], 'wide.wav'):
        assert max(abs(a - b) for a, b in zip(y, x)) < 1e-8, 'the middle'
    left, right = recipe.run([x, [-a for a in x]], 'wide.wav')
    assert max(abs(a + b) for a, b in zip(left, right)) < 1e-8, 'the side'
    assert gain_db(left, 12) < -39, 'bass of the side'
    for hz, wanted in (120, -3.01), (1500, 0), (20000, 3):
        near(gain_db(left, hz), wanted, 0.15, 'the side at %g Hz' % hz)


def voice(recipe):
    # 24 dB above the threshold become 8; and 6 dB of makeup.
    y, = recipe.run(sine(1000, -4), 'voice.wav')
    loud = level_db(y)
    y, = recipe.run(sine(1000, -40), 'voice.wav')
    near(level_db(y), -34, 0.1, 'a soft sine')
    assert -14 < loud < -8, 'a loud sine: %.2f dB' % loud


def bands(recipe):
    y, = recipe.run(impulse(), 'bands.wav')
    near(gain_db(y, 40), 6, 0.3, 'a soft bass')
    for hz in 1000, 12000:
        near(gain_db(y, hz), 0, 0.3, '%g Hz' % hz)
    # 20 and 14 dB above the thresholds.
    for hz, low, high in (60, -20, -14), (1000, -18, -16), (12000, -10.1, -9.9):
        y, = recipe.run(sine(hz, -10), 'bands.wav')
        assert low < level_db(y) < high, '%g Hz: %.2f dB' % (hz, level_db(y))


def duck(recipe):
    """With a voice, with rumble, and without."""
    music = [sine(440, -20), sine(550, -26)]
    for hz, voice_db, low, high in (2000, -10, -40.5, -38.5), (20, -10, -20.1, -19.9), (
            2000, -90, -20.1, -19.9):
        voice = sine(hz, voice_db)
        if 'in.wav' in recipe.lines:
            left, right = recipe.run([*music, voice], 'duck.wav')
        else:
            left, right = recipe.run_files(
                {'music.wav': music, 'voice.wav': [voice]}, 'duck.wav')
        left = [y - x for x, y in zip(voice, left)]
        right = [y - x for x, y in zip(voice, right)]
        assert low < level_db(left) < high, '%g Hz: %.2f dB' % (hz, level_db(left))
        near(level_db(left) - level_db(right), 6, 0.01, 'left and right')


def duck_live(recipe):
    """A live source speaks for a second, then is silent; a file takes what is played."""
    voice = ('audiotestsrc is-live=true freq=2000 volume=0.3 samplesperbuffer=480 '
             'num-buffers=100')
    live = Recipe(recipe.lines.replace('autoaudiosrc', voice).replace(
        'autoaudiosink', 'audio/x-raw,format=S32LE ! wavenc ! filesink location=duck.wav'))
    music = [sine(440, -20, 4 * RATE), sine(550, -26, 4 * RATE)]
    left, right = live.run_files({'music.wav': music}, 'duck.wav')
    # What differs between the channels is the music.
    apart = [x - y for x, y in zip(left, right)]
    whole = [x - y for x, y in zip(*music)]
    near(level_db(apart[-RATE // 8:]) - level_db(whole[-RATE // 8:]), 0, 0.3, 'after it')
    under = level_db(apart[RATE // 2:RATE * 3 // 4]) - level_db(
        whole[RATE // 2:RATE * 3 // 4])
    assert -21 < under < -18, 'under the voice: %.2f dB' % under


def deess(recipe):
    y, = recipe.run(sine(1000, -10), 'deess.wav')
    near(level_db(y), -10, 0.2, '1 kHz')
    y, = recipe.run(sine(9000, -10), 'deess.wav')
    near(level_db(y), -21, 1.0, '9 kHz')


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


def dither(recipe):
    """A sine of less than half a step of 24 bits: without dither it is gone."""
    step = 2 ** -23
    y, = recipe.run(sine(1000, 20 * math.log10(0.4 * step)), 'dithered.wav', bits=24)
    found = 2 / N * abs(sum(x * cmath.exp(-2j * math.pi * 1000 * i / RATE)
                            for i, x in enumerate(y)))
    near(found / step, 0.4, 0.03, 'a sine of 0.4 steps')
    noise = math.sqrt(sum(x * x for x in y) / N) / step
    near(noise, 0.55, 0.15, 'rms in steps')


def many(recipe):
    sounds = {'one.wav': [impulse()], 'two.wav': [[x / 2 for x in impulse()]]}
    out = recipe.run_files(sounds, 'clean-one.wav', 'clean-two.wav')
    for y, wanted in zip(out, (0, -6.02)):
        near(gain_db(y, 1000), wanted, 0.1, '1000 Hz')
        assert gain_db(y, 50) < -30, '50 Hz: %.1f dB' % gain_db(y, 50)


# ---- everything that the computer plays ------------------------------------------


class Pulse:
    """A PulseAudio of our own, with a sink `card`, and what is started in it."""

    def __init__(self, folder):
        socket = os.path.join(folder, 'native')
        self.folder, self.started = folder, []
        self.env = {**os.environ, 'PULSE_SERVER': 'unix:' + socket,
                    **{name: folder for name in (
                        'PULSE_RUNTIME_PATH', 'XDG_RUNTIME_DIR',
                        'XDG_CONFIG_HOME', 'HOME')}}
        self.start('exec pulseaudio -n --daemonize=no --exit-idle-time=-1 '
                   '--use-pid-file=no -L "module-native-protocol-unix socket=%s '
                   'auth-anonymous=1" -L "module-null-sink sink_name=card '
                   'format=float32le rate=48000 channels=2"' % socket)

    def start(self, script):
        self.started.append(subprocess.Popen(
            ['sh', '-e', '-c', script], cwd=self.folder, env=self.env,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True))

    def ask(self, script):
        return subprocess.run(['sh', '-c', script], cwd=self.folder, env=self.env,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              timeout=30).stdout

    def stop(self, n=0):
        """All but the first n."""
        for process in self.started[:n - 1 if n else None:-1]:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        del self.started[n:]

    def level(self):
        """Median of the peaks in 50 ms each of what the card plays."""
        data = self.ask('timeout 20 gst-launch-1.0 -q pulsesrc device=card.monitor '
                        'num-buffers=50 ! audioconvert ! audio/x-raw,format=F32LE,'
                        'channels=1 ! fdsink')
        x = struct.unpack('<%df' % (len(data) // 4), data)
        peaks = sorted(max(map(abs, x[i:i + 2400]))
                       for i in range(0, len(x) - 2400, 2400))
        return peaks[len(peaks) // 2] if peaks else 0


def wait_for(what, is_there):
    until = time.monotonic() + 25
    while not is_there():
        assert time.monotonic() < until, what
        time.sleep(0.2)


def system(recipe):
    for program in 'pulseaudio', 'pactl':
        if not shutil.which(program):
            raise Skip('no ' + program)
    if subprocess.run(['gst-inspect-1.0', '--exists', 'pulsesrc']).returncode:
        raise Skip('no pulsesrc')
    with tempfile.TemporaryDirectory() as folder:
        fill(folder, {})
        pulse = Pulse(folder)
        try:
            wait_for('PulseAudio', lambda: pulse.ask('pactl get-default-sink') ==
                     b'card\n')
            pulse.start(recipe.lines)
            wait_for('the sink', lambda: pulse.ask('pactl get-default-sink') ==
                     b'equaliser\n')
            for hz, wanted in (1000, 0.5 * 10 ** (-12 / 20)), (60, 0.5):
                pulse.start('exec gst-launch-1.0 -q audiotestsrc freq=%d volume=0.5 '
                            '! pulsesink' % hz)
                wait_for('%d Hz at the loudspeakers' % hz, lambda:
                         abs(pulse.level() / wanted - 1) < 0.1)
                pulse.stop(2)
        finally:
            pulse.stop()


# Of the blocks of each recipe, in their order.
CHECKS = {
    'How do I remove hum?': [hum],
    'How do I remove rumble?': [rumble, rumble],
    'How do I reduce hiss?': [hiss, hiss, hiss],
    'How do I equalise a recording?': [equalise],
    'How do I play a record without a phono preamplifier?': [record],
    'How do I make it sound like a telephone?': [telephone],
    'How do I split sound for a three-way loudspeaker?': [crossover, crossover],
    'How do I equalise without a change of phase?': [linear],
    'How do I follow a drawn curve?': [drawn, headphone],
    'How do I correct a room measured with REW?': [room, both, both],
    'How do I correct loudspeakers with an impulse response?': [speaker, speaker],
    'How do I play a recording in a room?': [stereo_room, hall, hall],
    'How do I hear surround sound with headphones?': [surround, film],
    'How do I add reverb without an impulse response?': [reverb],
    'How do I listen with headphones?': [headphones],
    'How do I equalise middle and side?': [middle_side],
    'How do I compress a voice?': [voice],
    'How do I compress bass, middle and treble separately?': [bands],
    'How do I lower music under a voice (ducking)?': [duck, duck, duck, duck_live],
    'How do I remove sharp sibilants (de-ess)?': [deess],
    'How do I bring a file to −23 LUFS?': [loudness, loudness],
    'How do I write 24 bits with dither?': [dither],
    'How do I equalise everything that the computer plays?': [system],
    'How do I filter many mono streams on a GPU?': [many],
}


def find_blocks(section):
    return re.findall(r'^```sh run-by=tests/gst/cookbook.py\n(.*?)^```', section,
                      re.M | re.S)


def run(check, lines):
    """A fault or None, and a reason to skip it."""
    try:
        check(Recipe(lines))
    except Skip as reason:
        return None, ' # SKIP %s' % reason
    except Exception as error:  # any fault is this recipe's
        return repr(error), ''
    return None, ''


def main():
    with open(sys.argv[1], encoding='utf-8') as file:
        sections = re.split(r'^## ', file.read(), flags=re.M)[1:]
    blocks = {section.split('\n', 1)[0]: find_blocks(section)
              for section in sections}
    print('1..%d' % (sum(map(len, blocks.values())) + 1))
    n = 0
    for title, recipes in blocks.items():
        for i, lines in enumerate(recipes):
            n += 1
            checks = CHECKS.get(title, [])
            fault, skip = run(checks[i], lines) if i < len(checks) else \
                ('nothing measures it', '')
            print('%s %d - %s %d%s' % ('not ok' if fault else 'ok', n, title,
                                       i + 1, skip))
            if fault:
                print('#', fault.replace('\n', '\n# '))
            sys.stdout.flush()
    has_all = {title: len(recipes) for title, recipes in blocks.items()} == \
        {title: len(checks) for title, checks in CHECKS.items()}
    print('%s %d - all of them' % ('ok' if has_all else 'not ok', n + 1))


if __name__ == '__main__':
    main()
