#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""compare.py: is what a client heard what the filter put out?

    compare.py exact STEPS HEARD REFERENCE [PERIOD [later]]
    compare.py codec HEARD REFERENCE CODED
    compare.py filled HEARD REFERENCE

exact: raw S32, each sample within so many steps of the reference's, from some place
of it on, and to its end but for the last second.  A reference with a period, in
samples, goes on for ever: its last period does; later: only the second half of what
was heard is asked for.

codec: raw F32, mono.  What was heard has as little noise beside the reference as the
reference has that went through the codec, to within 4 dB: of a live
source the codec's frames may lie elsewhere.

filled: raw F32, mono.  What was lost was filled in: it is as loud as the reference,
and nowhere silent.

The exit status is 1 if it is not.
"""
import array
import math
import operator
import sys

# A second of stereo.
TAIL = 96000


def read(path, kind):
    samples = array.array(kind)
    with open(path, 'rb') as file:
        content = file.read()
    samples.frombytes(content[:len(content) // 4 * 4])
    return samples


def exact(steps, heard, reference, period=0, later=False):
    heard, reference = read(heard, 'i'), read(reference, 'i')
    if later:
        heard = heard[len(heard) // 2:]
    if period:
        reference = reference[-period:] * 3
    begin = heard[:256]
    places = [k for k in range(len(reference) - len(begin) + 1)
              if all(abs(a - b) <= steps
                     for a, b in zip(begin, reference[k:k + len(begin)]))]
    if not places:
        print('heard nowhere in the reference: %d samples, %s ...'
              % (len(heard), heard[:8].tolist()))
        return 1
    if period:
        one = reference[places[0]:places[0] + period]
        reference = one * (len(heard) // period + 1)
    else:
        reference = reference[places[0]:]
    worst = max(map(abs, map(operator.sub, heard, reference)))
    print('%d samples from %d on, worst %d, at most %d'
          % (len(heard), places[0], worst, steps))
    # A client that is told, by UDP, that the stream is over reads no more: what had
    # come by then is lost.
    least = period or len(reference) - TAIL
    return int(worst > steps or len(heard) < least)


def find_lag(x, y):
    """x[k + lag] is y[k]: where they have most in common."""
    from_, n = len(y) // 2, 2000
    part = y[from_:from_ + n]
    lags = range(-6000, 6000)
    return max((lag for lag in lags if 0 <= from_ + lag < len(x) - n),
               key=lambda lag: sum(map(operator.mul, part,
                                       x[from_ + lag:from_ + lag + n])))


def noise_db(x, y):
    """Of x beside y, in dB of y, without the gain that there may be."""
    lag = find_lag(x, y)
    begin, end = max(0, -lag) + 4800, min(len(y), len(x) - lag) - 4800
    y, x = y[begin:end], x[begin + lag:end + lag]
    power = sum(map(operator.mul, y, y))
    gain = sum(map(operator.mul, x, y)) / power
    rest = sum((a - gain * b) ** 2 for a, b in zip(x, y))
    db = 10 * math.log10(rest / power / gain ** 2)
    print('%d samples, lag %d, gain %.4f, noise %.2f dB' % (len(y), lag, gain, db))
    return db if len(y) > 0.6 * len(x) and 0.9 < gain < 1.1 else 0.0


def codec(heard, reference, coded):
    heard, reference, coded = (read(p, 'f') for p in (heard, reference, coded))
    return int(noise_db(heard, reference) > noise_db(coded, reference) + 4)


def filled(heard, reference):
    heard, reference = read(heard, 'f'), read(reference, 'f')
    # The middle, in parts of 20 ms.
    heard = heard[len(heard) // 8:-len(heard) // 8]
    levels = [math.sqrt(sum(x * x for x in heard[i:i + 960]) / 960)
              for i in range(0, len(heard) - 960, 960)]
    middle = reference[len(reference) // 8:-len(reference) // 8]
    wanted = math.sqrt(sum(x * x for x in middle) / len(middle))
    mean = sum(levels) / len(levels)
    print('%d parts, level %.4f, %.4f at least, %.4f wanted'
          % (len(levels), mean, min(levels), wanted))
    return int(len(levels) < 20 or min(levels) == 0
               or not 0.5 * wanted < mean < 1.5 * wanted)


if __name__ == '__main__':
    if sys.argv[1] == 'exact':
        sys.exit(exact(int(sys.argv[2]), *sys.argv[3:5],
                       *map(int, sys.argv[5:6]), sys.argv[6:7] == ['later']))
    if sys.argv[1] == 'filled':
        sys.exit(filled(*sys.argv[2:4]))
    sys.exit(codec(*sys.argv[2:5]))
