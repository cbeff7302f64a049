#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the impulse response of a room that never was, for tfxfir's
kernel-location.

    tfx-room.py /tmp/church.wav --seconds=4 --reverb=-9

The sound itself comes first, then, after a pause, noise that dies away.  As in a
room its high frequencies die away faster, and each channel has a noise of its own.
"""

import argparse
import array
import math
import random
import sys
import wave

# High frequencies lose as much in this part of the time.
HIGH_PART = 0.3


def make_channel(room, seed):
    """A one-pole low-pass that closes as time goes by takes the high frequencies."""
    noise = random.Random(seed)
    decay = math.log(1e-3) / (room.seconds * room.rate)
    low, reverb = 0.0, []
    for i in range(int(room.seconds * room.rate)):
        fade = math.exp(decay * i)
        low += ((0.02 + 0.98 * fade ** (1 / HIGH_PART - 1))
                * (noise.uniform(-1, 1) - low))
        reverb.append(low * fade)
    scale = 10 ** (room.reverb / 20) / math.sqrt(sum(x * x for x in reverb))
    return ([1.0] + [0.0] * int(room.predelay * room.rate)
            + [x * scale for x in reverb])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('location', help='the WAV file to write')
    parser.add_argument('--rate', type=int, default=48000, help='in Hz')
    parser.add_argument('--channels', type=int, default=2)
    parser.add_argument('--seconds', type=float, default=2.0,
                        help='until it is 60 dB down, and is cut')
    parser.add_argument('--predelay', type=float, default=0.02,
                        help='seconds before it begins')
    parser.add_argument('--reverb', type=float, default=-6.0,
                        help='energy of the reverberation, in dB')
    room = parser.parse_args()
    if not (room.rate > 0 and room.channels > 0 and room.predelay >= 0
            and room.seconds * room.rate >= 1):
        parser.error('rate, channels and seconds must be above 0')
    channels = [make_channel(room, c) for c in range(room.channels)]
    # Full scale is the sound itself.
    samples = array.array('i', (int(max(-1.0, min(1.0, x)) * (2 ** 31 - 1))
                                for frame in zip(*channels) for x in frame))
    if sys.byteorder == 'big':
        samples.byteswap()
    try:
        with open(room.location, 'wb') as out, wave.open(out, 'wb') as file:
            file.setparams((room.channels, 4, room.rate, 0, 'NONE', None))
            file.writeframes(samples)
    except OSError as error:
        sys.exit(f'tfx-room.py: cannot write {room.location}: {error.strerror}')


if __name__ == '__main__':
    main()
