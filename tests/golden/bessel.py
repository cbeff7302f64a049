#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes bessel.txt: the poles of scipy.signal.besselap.

    python3 bessel.py > bessel.txt

Needs SciPy (Debian: python3-scipy), whose version the header names.  A line:

  NORM ORDER RE,IM...   NORM 0 phase, 1 delay, 2 mag; the poles on and above
                        the real axis, falling imaginary parts
"""
import scipy
from scipy import signal

ORDERS = [*range(1, 13), 16, 25, 33, 48, 63, 64]


def main():
    print('# Written by bessel.py, which says what the lines mean.')
    print('# SciPy %s' % scipy.__version__)
    for norm, name in enumerate(('phase', 'delay', 'mag')):
        for order in ORDERS:
            poles = [p for p in signal.besselap(order, name)[1]
                     if p.imag >= 0]
            poles.sort(key=lambda p: -p.imag)
            print(norm, order, *('%r,%r' % (float(p.real), float(p.imag))
                                 for p in poles))


if __name__ == '__main__':
    main()
