#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes head.sofa, an artificial head in a SOFA file of the convention
SimpleFreeFieldHRIR (AES69).

    tests/golden/sofa.py > tests/golden/head.sofa

Made with h5py 3.7.0 and HDF5 1.10.8, which add the time of day.  The rate is 48000 Hz.  The directions are every
30 degrees at elevations of -30, 0 and 30 degrees, and the zenith.  The ear at y = 1 or
-1 (left or right) has, for a direction whose unit vector has the component s along y,

    delay = round (12 (1 - s y)) samples,
    h[i] = (0.5 + 0.25 s y) (-0.6)^i, i = 0 ... 15.
"""
import io
import math
import sys

import h5py
import numpy as np

TEXTS = {'Conventions': 'SOFA', 'Version': '1.0',
         'SOFAConventions': 'SimpleFreeFieldHRIR',
         'SOFAConventionsVersion': '1.0', 'DataType': 'FIR',
         'RoomType': 'free field', 'Title': 'artificial head'}
DIRECTIONS = [(azimuth, elevation, 1.5) for elevation in (-30, 0, 30)
              for azimuth in range(0, 360, 30)] + [(0, 90, 1.5)]


def make():
    s = [math.sin(math.radians(a)) * math.cos(math.radians(e))
         for a, e, _ in DIRECTIONS]
    delays = np.array([[round(12 * (1 - x)), round(12 * (1 + x))] for x in s])
    taps = (-0.6) ** np.arange(16)
    return delays, np.array([[(0.5 + 0.25 * x) * taps, (0.5 - 0.25 * x) * taps]
                             for x in s])


def write(file):
    delays, responses = make()
    dims = {}
    for name, text in TEXTS.items():
        file.attrs[name] = np.bytes_(text)
    for name, size in zip('ICRENM', (1, 3, 2, 1, responses.shape[2], len(delays))):
        dims[name] = file.create_dataset(name, data=np.zeros(size, '>f4'))
        dims[name].make_scale('This is a netCDF dimension but not a netCDF '
                              'variable. %9d' % size)

    def add(name, shape, values, **texts):
        data = np.asarray(values, '<f8').reshape([len(dims[x]) for x in shape])
        made = file.create_dataset(name, data=data)
        for i, x in enumerate(shape):
            made.dims[i].attach_scale(dims[x])
        for key, text in texts.items():
            made.attrs[key] = np.bytes_(text)

    metres = {'Type': 'cartesian', 'Units': 'metre'}
    add('ListenerPosition', 'IC', [0, 0, 0], **metres)
    add('ListenerUp', 'IC', [0, 0, 1], **metres)
    add('ListenerView', 'IC', [1, 0, 0], **metres)
    add('ReceiverPosition', 'RCI', [0, 0.09, 0, 0, -0.09, 0], **metres)
    add('EmitterPosition', 'ECI', [0, 0, 0], **metres)
    add('SourcePosition', 'MC', DIRECTIONS, Type='spherical',
        Units='degree, degree, metre')
    add('Data.SamplingRate', 'I', [48000], Units='hertz')
    add('Data.IR', 'MRN', responses)
    add('Data.Delay', 'MR', delays)


def main():
    out = io.BytesIO()
    # The forms of HDF5 that libmysofa reads.
    with h5py.File(out, 'w', libver=('v108', 'v108'), track_order=True) as file:
        write(file)
    sys.stdout.buffer.write(out.getvalue())


if __name__ == '__main__':
    main()
