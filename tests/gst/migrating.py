#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""migrating.py: the pairs of docs/migrating.md are as far apart as it says, and
its chains can be used, as TAP.

    migrating.py docs/migrating.md [--measure]

Each row of a table `there` | `here` | figure is measured: an impulse goes
through both, at 48 kHz and in double. The figure is the largest difference of
their gains in dB from 20 Hz to 20 kHz, where both are above -40 dB; 0 is the
same phase too, and NaN is what comes from there alone. A row of FFmpeg or SoX
is skipped where that is not installed. --measure prints the differences.

The chains in the second column of the other tables are read by gst-tfx.
"""
import array
import cmath
import concurrent.futures
import functools
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import wave

RATE = 48000
N = 16384
LEVEL = 0.01  # of the impulse: nothing is clipped
FLOOR_DB = -40
SAME_DB = 0.0005
RAW = ('rawaudioparse use-sink-caps=false format=pcm pcm-format=f64le '
       'sample-rate=%d num-channels=1' % RATE)


@functools.lru_cache(None)
def turns(n):
    return [cmath.exp(-2j * math.pi * k / n) for k in range(n // 2)]


def transform(x):
    """The discrete Fourier transform of 2^n complex numbers."""
    n = len(x)
    if n == 1:
        return x
    even, odd = transform(x[::2]), transform(x[1::2])
    turned = [w * y for w, y in zip(turns(n), odd)]
    return ([a + b for a, b in zip(even, turned)] +
            [a - b for a, b in zip(even, turned)])


def responses(first, second):
    """Of two impulse responses, each at the frequencies k RATE / N."""
    both = transform([complex(a, b) for a, b in zip(first, second)])
    for k in range(math.ceil(20 * N / RATE), 20000 * N // RATE + 1):
        a, b = both[k], both[-k].conjugate()
        yield k * RATE / N, (a + b) / 2 / LEVEL, (a - b) / 2j / LEVEL


def difference(first, second, with_phase):
    """The largest difference in dB and where it is."""
    floor, found = 10 ** (FLOOR_DB / 20), []
    for hz, a, b in responses(first, second):
        if abs(a) > floor and abs(b) > floor:
            ratio = 1 + abs(a / b - 1) if with_phase else abs(a / b)
            found.append((abs(20 * math.log10(ratio)), hz))
    return max(found)


def command(there, name):
    """What runs a filter of another program over in.raw."""
    program, words = there.split(' ', 1)
    if program == 'ffmpeg':
        raw = '-f f64le -ar %d' % RATE
        return 'ffmpeg -nostdin -v error %s -ac 1 -i in.raw %s %s %s' % (
            raw, words, raw, name)
    if program == 'sox':
        raw = '-t raw -e floating-point -b 64 -r %d -c 1' % RATE
        return 'sox -D %s in.raw %s %s %s' % (raw, raw, name, words)
    return launch(there, name)


def launch(here, name):
    return 'gst-launch-1.0 -q filesrc location=in.raw ! %s ! %s ! ' \
        'audio/x-raw,format=F64LE ! filesink location=%s' % (RAW, here, name)


def impulse_responses(folder, there, here):
    with open(os.path.join(folder, 'in.raw'), 'wb') as file:
        # Silence in front, for what some programs do to their first samples.
        samples = [0.0] * (2 * N)
        samples[N // 2] = LEVEL
        array.array('d', samples).tofile(file)
    for line, name in (command(there, 'a.raw'), 'a.raw'), \
            (launch(here, 'b.raw'), 'b.raw'):
        done = subprocess.run(shlex.split(line), cwd=folder, timeout=60,
                              stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT)
        assert done.returncode == 0, line + '\n' + done.stdout
        with open(os.path.join(folder, name), 'rb') as file:
            y = array.array('d', file.read()).tolist()
        assert len(y) >= 3 * N // 2, '%d frames' % len(y)
        yield y[N // 2 - 1024:N // 2 - 1024 + N]


def rows(page):
    """(there, here, figure) of each table with such rows."""
    with open(page) as file:
        for line in file:
            found = re.match(r'\| `([^`]*)` \| `([^`]*)` \| ([0-9.]+|NaN) ',
                             line)
            if found:
                there, here, figure = found.groups()
                yield (there.replace('\\|', '|'), here.replace('\\|', '|'),
                       figure)


def find_chains(page):
    """Those of the tables that have no figures."""
    with open(page, encoding='utf-8') as file:
        for line in file:
            cells = re.split(r'(?<!\\) \| ', line.strip(' |\n'))
            if line.startswith('| ') and len(cells) == 2:
                for code in re.findall(r'`([^`]*)`', cells[1]):
                    if re.match(r'(ch\[\d|[A-Z]\w*\()', code):
                        yield code.replace('\\|', '|')


def fill(folder):
    """The files that the chains name."""
    for name in 'eq.txt', 'other.txt', 'left.txt', 'right.txt':
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
            file.write('Preamp: -6 dB\n'
                       'Filter: ON PK Fc 63 Hz Gain -5 dB Q 4\n')
    for name, n in ('room.wav', 2), ('room.irs', 2), ('hall.irs', 4), ('hrir.wav', 14):
        with wave.open(os.path.join(folder, name), 'wb') as out:
            out.setparams((n, 2, RATE, 2, 'NONE', 'NONE'))
            out.writeframes(b'\x00\x20' * 2 * n)


def check_chain(chain):
    """A fault or None."""
    with tempfile.TemporaryDirectory() as folder:
        fill(folder)
        done = subprocess.run(
            ['gst-tfx', 'check', '--rate', str(RATE), '--channels', '2', chain],
            cwd=folder, timeout=60, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
    return done.stdout if done.returncode else None


def check(there, here, figure):
    with tempfile.TemporaryDirectory() as folder:
        first, second = impulse_responses(folder, there, here)
    assert not any(map(math.isnan, second)), 'NaN from here'
    if figure == 'NaN':
        assert any(map(math.isnan, first)), 'no NaN from there'
        return 'NaN'
    db, hz = difference(first, second, figure == '0')
    told = '%.6f dB at %.0f Hz' % (db, hz)
    assert abs(db - float(figure)) <= SAME_DB + 0.02 * float(figure), told
    return told


def result(pair):
    """A fault or None, and a note."""
    program = pair[0].split(' ')[0]
    if program in ('ffmpeg', 'sox') and not shutil.which(program):
        return None, 'SKIP %s is not installed' % program
    try:
        return None, check(*pair)
    except Exception as error:  # any fault is this row's
        return str(error), ''


def some_of(pairs):
    """All, or where TFX_TEST_PART says which part, every third one."""
    part = os.environ.get('TFX_TEST_PART')
    return pairs[int(part) % 3::3] if part else pairs


def main():
    page, measures = sys.argv[1], '--measure' in sys.argv[2:]
    pairs, chains = some_of(list(rows(page))), list(find_chains(page))
    print('1..%d' % (len(pairs) + len(chains) + 1))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = pool.map(result, pairs)
        for i, (pair, (fault, note)) in enumerate(zip(pairs, results), 1):
            skip = ' # ' + note if note.startswith('SKIP') else ''
            print('%s %d - %s%s' % ('not ok' if fault else 'ok', i, pair[0],
                                    skip))
            if fault or measures:
                print('#', (fault or note).replace('\n', '\n# '))
            sys.stdout.flush()
    for i, chain in enumerate(chains, len(pairs) + 1):
        fault = check_chain(chain)
        print('%s %d - %s' % ('not ok' if fault else 'ok', i,
                              chain.replace('#', '')))
        if fault:
            print('#', fault.replace('\n', '\n# '))
    print('%s %d - a page with pairs and chains' % (
        'ok' if pairs and chains else 'not ok', len(pairs) + len(chains) + 1))


if __name__ == '__main__':
    main()
