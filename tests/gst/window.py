#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The equaliser with a window, on a screen in memory (Xvfb), moved by pointer and
keys (xdotool), as TAP: what is seen on the screen, and what is heard in the file.

    window.py BUILD-FOLDER

Pixels are counted, so the sizes are those of this window on this screen.
"""

import math
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import wave

RATE = 48000
TONES_HZ = 100, 1000
WHITE = 255, 255, 255
# Of tfx-eq.c and its style.
GREEN, ORANGE = (92, 173, 69), (230, 148, 26)
ERROR = 0xB3, 0x26, 0x1E
WINDOW, PAPER = (0x20, 0x21, 0x24), (22, 22, 25)


class Picture:
    """What is on the screen: the file that Xvfb keeps it in (XWD)."""

    def __init__(self, path):
        with open(path, 'rb') as file:
            data = file.read()
        head = struct.unpack('>25I', data[:100])
        self.width, self.height = head[4], head[5]
        self.stride = head[12]
        self.start = head[0] + 12 * head[19]
        assert head[11] == 32 and head[7] == 0, 'not 32 bits, low byte first'
        self.data = data

    def at(self, x, y):
        i = self.start + y * self.stride + 4 * x
        return self.data[i + 2], self.data[i + 1], self.data[i]

    def find(self, color, box=None):
        """Where a colour is, within two steps of it."""
        x0, y0, x1, y1 = box or (0, 0, self.width, self.height)
        return [
            (x, y)
            for y in range(y0, y1)
            for x in range(x0, x1)
            if all(abs(a - b) < 3 for a, b in zip(self.at(x, y), color))
        ]


class Screen:
    def __init__(self, folder):
        read, write = os.pipe()
        self.process = subprocess.Popen(
            ['Xvfb', '-displayfd', str(write), '-screen', '0', '1100x700x24']
            + ['-nolisten', 'tcp', '-fbdir', folder],
            pass_fds=[write],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(write)
        with os.fdopen(read) as pipe:
            number = pipe.readline().strip()
        assert number, 'Xvfb does not start'
        os.environ.update(DISPLAY=':' + number)
        self.path = os.path.join(folder, 'Xvfb_screen0')

    def picture(self):
        return Picture(self.path)

    def wait(self, what, seconds=60):
        """Until what (picture) is true; that is the answer."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            answer = what(self.picture())
            if answer:
                return answer
            time.sleep(0.1)
        raise AssertionError('not seen within %g s' % seconds)


def xdotool(*words):
    subprocess.run(['xdotool', *map(str, words)], check=True)


def drag(x, y, to_y):
    xdotool('mousemove', x, y, 'sleep', 0.2, 'mousedown', 1, 'sleep', 0.1)
    # Further than what is taken for a trembling hand.
    xdotool('mousemove', x, y - 20, 'sleep', 0.1, 'mousemove', x, to_y)
    xdotool('sleep', 0.1, 'mouseup', 1)


# ---- what is on the screen -------------------------------------------------------


def flat_line(picture):
    """Row, first and last column of a level curve."""
    for y in range(60, picture.height // 2):
        xs = [x for x in range(20, picture.width - 60) if picture.at(x, y) == WHITE]
        if len(xs) > picture.width // 2:
            return y, xs[0], xs[-1]
    return None


def middle(points):
    return [round(sum(p[i] for p in points) / len(points)) for i in (0, 1)]


def curve_at(picture, x, box):
    """The row of the curve in a column."""
    ys = [y for y in range(box[1], box[3]) if min(picture.at(x, y)) > 200]
    return sum(ys) / len(ys) if ys else None


def bars(picture, left):
    """Of each of the meters' bars: how much of its height is lit."""
    y = picture.height // 2
    xs = [x for x in range(left, picture.width) if picture.at(x, y) != WINDOW]
    edges = [x for x in xs if x - 1 not in xs and x + 8 in xs][:4]
    lit = []
    for x in edges:
        top = end = first = y
        while picture.at(x + 5, top - 1) != WINDOW:
            top -= 1
        while picture.at(x + 5, end) != WINDOW:
            end += 1
        # From below to where it is dark; the line of the peak is above that.
        first = end
        while first > top and max(picture.at(x + 5, first - 1)) > 90:
            first -= 1
        lit.append((end - first) / (end - top))
    return lit


# ---- what is heard ---------------------------------------------------------------


def write_tones(path, seconds):
    with wave.open(path, 'wb') as file:
        file.setparams((2, 2, RATE, 0, 'NONE', ''))
        period = b''.join(
            struct.pack('<h', round(1500 * sum(
                math.sin(2 * math.pi * hz * i / RATE) for hz in TONES_HZ))) * 2
            for i in range(RATE // TONES_HZ[0])
        )
        file.writeframes(period * (seconds * TONES_HZ[0]))


def levels_db(path, begin_s, end_s):
    """The tones in a part of a file (from the end, if below 0)."""
    with wave.open(path) as file:
        width, total = file.getsampwidth(), file.getnframes()
        first = int(begin_s * RATE) + (total if begin_s < 0 else 0)
        n = int((end_s - begin_s) * RATE)
        assert 0 <= first and first + n <= total, 'only %d frames' % total
        file.setpos(first)
        data = file.readframes(n)
    step = width * 2
    x = [
        int.from_bytes(data[i : i + width], 'little', signed=True)
        for i in range(0, len(data), step)
    ]
    levels = []
    for hz in TONES_HZ:
        turn = 2 * math.pi * hz / RATE
        re = sum(v * math.cos(turn * i) for i, v in enumerate(x))
        im = sum(v * math.sin(turn * i) for i, v in enumerate(x))
        levels.append(20 * math.log10(math.hypot(re, im) / n))
    return levels


def chain_db(chain, hz):
    """What the bands of a chain that has no shelves make of a tone, by the
    catalogue's formula."""
    s = 1j * math.tan(math.pi * hz / RATE)
    db = 0.0
    for band in re.findall(r'ParametricEQ\(([^)]*)\)', chain):
        f, q, gain = (float(v.split('=')[-1]) for v in band.split(','))
        a, z = 10 ** (gain / 40), s / math.tan(math.pi * f / RATE)
        h = (z * z + z * a / q + 1) / (z * z + z / (a * q) + 1)
        db += 20 * math.log10(abs(h))
    return db


# ---- cases ------------------------------------------------------------------------


class Equaliser:
    def __init__(self, program, *words):
        self.process = subprocess.Popen(
            [program, *words], stdout=subprocess.PIPE, text=True
        )

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.process.kill()
        self.process.wait()

    def finish(self):
        """What it prints, and its exit status."""
        self.process.send_signal(signal.SIGTERM)
        out, _ = self.process.communicate(timeout=60)
        return out.strip(), self.process.returncode


def wait_for_sound(path, seconds):
    """Until so much more is in a file."""
    wanted = os.path.getsize(path) + seconds * RATE * 2 * 3
    while os.path.getsize(path) < wanted:
        time.sleep(0.1)


def knobs(picture, color, box):
    """The middles of a card's sliders, from above."""
    groups = []
    for y, x in sorted((y, x) for x, y in picture.find(color, box)):
        if not groups or y > groups[-1][-1][1] + 3:
            groups.append([])
        groups[-1].append((x, y))
    return [middle(group) for group in groups]


def move_bands(screen, box, point, row):
    """The point of one band by the pointer, the gain of another by keys."""
    x, y = point
    drag(x, y, y - 100)
    screen.wait(lambda p: abs(middle(p.find(GREEN, box))[1] - (y - 100)) <= 2)
    gain = knobs(screen.picture(), ORANGE, (0, row + 260, 1100, 700))[-2]
    xdotool('mousemove', *gain, 'sleep', 0.1, 'click', 1, 'sleep', 0.1)
    xdotool('key', '--delay', 50, *['Right'] * 10)
    screen.wait(lambda p: middle(p.find(ORANGE, box))[1] < row - 20)


def check_picture(after, flat, box, per_db, chain):
    """The curve beside the points against the formula."""
    row, left, right = flat
    points = [left + (right - left) * math.log10(hz / 20) / 3
              for hz in (80, 250, 1000, 4000, 10000)]
    worst = 0
    for k in range(1, 60):
        column = left + (right - left) * k // 60
        hz = 20 * 1000 ** ((column - left) / (right - left))
        if min(abs(column - point) for point in points) > 16:
            drawn = (row + 0.5 - curve_at(after, column, box)) / per_db
            worst = max(worst, abs(drawn - chain_db(chain, hz)))
    print('# the drawn curve is off by %.2f dB' % worst)
    yield 'the drawn response is that of the chain', worst < 0.25


def check_meters(before, now, chain):
    added = 10 * math.log10(
        sum(10 ** (chain_db(chain, hz) / 10) for hz in TONES_HZ) / len(TONES_HZ))
    print('# meters', before, now)
    yield 'the meter in front of the bands stands still', all(
        abs(a - b) < 0.02 for a, b in zip(before[:2], now[:2]))
    # Of 60 dB.
    yield 'the meter behind them rises by %.1f dB' % added, added > 5 and all(
        abs((b - a) * 60 - added) < 0.6 for a, b in zip(before[2:], now[2:]))


def check_sound(chain):
    first, last = levels_db('out.wav', 0.3, 0.8), levels_db('out.wav', -0.6, -0.1)
    for hz, a, b in zip(TONES_HZ, first, last):
        wanted = chain_db(chain, hz)
        print('# %d Hz: %.3f dB more, %.3f asked' % (hz, b - a, wanted))
        yield 'the file has %d Hz so much louder' % hz, abs(b - a - wanted) < 0.02


def press_compare(screen, flat):
    """Twice: as it came in, and back; whether the first was seen."""
    compare = 'mousemove', 121, 27, 'sleep', 0.1, 'click', 1
    xdotool(*compare)
    is_flat = screen.wait(flat_line) == flat
    xdotool(*compare)
    screen.wait(lambda p: not flat_line(p))
    wait_for_sound('out.wav', 1.5)
    return is_flat


def check_bands(screen, program):
    write_tones('tones.wav', 120)
    with Equaliser(program, '--input=tones.wav', '--output=out.wav') as equaliser:
        flat = screen.wait(flat_line)
        row, left, right = flat
        box = left, row - 170, right, row + 170
        screen.wait(lambda p: bars(p, right + 4)[0] > 0.3)
        wait_for_sound('out.wav', 1.5)
        before = screen.picture()
        at_rest = middle(before.find(ORANGE, box))
        move_bands(screen, box, middle(before.find(GREEN, box)), row)
        wait_for_sound('out.wav', 1.5)
        after = screen.picture()
        yield 'Compare is flat, as long as it is pressed', press_compare(screen, flat)
        chain, status = equaliser.finish()
    print('#', chain)
    gains = [float(g) for g in re.findall(r'gain=([-0-9.]+)', chain)]
    yield 'it ends well, and tells its chain', status == 0 and len(gains) == 5
    # From the top of the paper, 18 dB, to the middle of the line at 0 dB.
    top = min(y for _, y in after.find(PAPER, (left + 3, 50, left + 8, row)))
    per_db = (row + 1 - top) / 18
    print('# gains', gains, 'rows to a dB', per_db)
    yield 'a band has the gain that its point was dragged to', (
        abs(gains[2] - 100 / per_db) < 0.1)
    rise = at_rest[1] - middle(after.find(ORANGE, box))[1]
    yield 'ten keys on a slider are 5 dB, at its point too', (
        gains[3] == 5 and abs(rise - 5 * per_db) <= 2)
    yield from check_picture(after, flat, box, per_db, chain)
    yield from check_meters(bars(before, right + 4), bars(after, right + 4), chain)
    yield from check_sound(chain)


def check_error(screen, program):
    box = 0, 40, 1000, 110
    with Equaliser(program, '--input=nothing.wav', '--output=none.wav') as equaliser:
        screen.wait(lambda p: len(p.find(ERROR, box)) > 5000)
        yield 'what is wrong is on the screen', equaliser.process.poll() is None
        yield 'and in the exit status', equaliser.finish()[1] == 1


def main():
    build = os.path.abspath(sys.argv[1])
    program = os.path.join(build, 'examples', 'tfx-eq')
    missing = [p for p in ('Xvfb', 'xdotool') if not shutil.which(p)]
    if not os.path.exists(program):
        missing.append('GTK 4 (libgtk-4-dev) when it was built')
    if missing:
        print('ok 1 - tfx-eq # SKIP there is no ' + ', no '.join(missing))
        print('1..1')
        return
    n = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(
            GDK_BACKEND='x11', GSK_RENDERER='cairo', GTK_A11Y='none',
            GST_PLUGIN_PATH_1_0=os.path.join(build, 'gst'),
            GST_REGISTRY=os.path.join(folder, 'registry.bin'),
            LC_ALL='C.UTF-8', XDG_RUNTIME_DIR=folder)
        os.chdir(folder)
        screen = Screen(folder)
        try:
            for check in check_bands, check_error:
                try:
                    for name, ok in check(screen, program):
                        n += 1
                        print('ok' if ok else 'not ok', n, '- tfx-eq:', name)
                except AssertionError as error:
                    n += 1
                    print('not ok', n, '- tfx-eq:', error)
        finally:
            screen.process.terminate()
            screen.process.wait()
    print('1..%d' % n)


main()
