#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the golden values of the filter designs.

    python3 designs.py designs > designs.txt
    python3 designs.py sections > sections.txt
    python3 designs.py elliptic > elliptic.txt

Needs SciPy and mpmath (Debian: python3-scipy, python3-mpmath).  The output
is a pure function of this file and of their versions, which its header names.

designs.txt has zeros, poles and responses over a grid of designs, elliptic.txt
those of elliptic filters, sections.txt the sections of the filters that noise
is run through.  Their lines; numbers are decimal and round-trip to double:

  design FAMILY MODE ORDER RATE LOWER UPPER RIPPLE ATTENUATION
      starts a design; FAMILY butter, cheby1, cheby2, ellip, MODE low, high,
      band, stop.  What does not apply is 0.
  z ROOT...      zeros of scipy.signal with output='zpk'
  p ROOT...      its poles.  A ROOT is RE or RE,IM, and RE,IM stands for
      itself and its conjugate; ROOT*N is N of them.
  Z, P           the same roots in 50 digits, rounded to double; only where
      SciPy's lie more than 1e-13 of their magnitude away
  k GAIN EXACT   SciPy's gain, and the exact one
  s ERROR ERROR  of SciPy's own sections (output='sos'): the largest relative
      error of the response over the frequencies of the h lines, by sosfreqz
      and evaluated without rounding
  h FREQ RE IM DRE DIM
      exact response at a frequency of the pass band, and SciPy's relative
      deviation from it (freqz_zpk / exact - 1)
  g FREQ EXACT SCIPY
      group delay in samples: exact, and by scipy.signal.group_delay of SciPy's
      sections
  sos B0 B1 B2 A1 A2
      SciPy's sections, in its order

"Exact" is the same design carried out with 50 digits, from the prototype's
formula on, for the double values of the parameters.
"""
import sys
import warnings

import mpmath
import numpy as np
import scipy
from mpmath import mp, mpc, mpf
from scipy import signal

mp.dps = 50

VARIANTS = [
    ('butter', 0, 0),
    ('cheby1', 0.01, 0), ('cheby1', 0.1, 0), ('cheby1', 0.5, 0),
    ('cheby1', 3.0, 0),
    ('cheby2', 0, 20.0), ('cheby2', 0, 40.0), ('cheby2', 0, 80.0),
]
ELLIPTIC = [
    ('ellip', 0.1, 40.0), ('ellip', 0.01, 60.0), ('ellip', 1.0, 20.0),
    ('ellip', 3.0, 80.0), ('ellip', 0.5, 100.0), ('ellip', 0.001, 120.0),
]
# The width of the transition falls exponentially with the order: with little
# attenuation it is soon too narrow for sections in double precision.
ELLIPTIC_HIGH = [('ellip', 0.001, 120.0), ('ellip', 0.01, 200.0)]
MODES = ['low', 'high', 'band', 'stop']
RATES = [8000.0, 44100.0, 48000.0, 96000.0, 192000.0, 384000.0]


def places(mode, rate):
    """Cutoffs: the lowest first, the highest last."""
    nyquist = rate / 2
    if mode in ('low', 'high'):
        return [(20.0, 0), (100.0, 0), (1000.0, 0), (0.23 * rate, 0),
                (0.4 * rate, 0), (0.98 * nyquist, 0)]
    return [(20.0, 40.0), (20.0, 0.98 * nyquist), (100.0, 1000.0),
            (1000.0, 1100.0), (0.2 * rate, 0.3 * rate),
            (0.9 * nyquist, 0.98 * nyquist)]


def grid():
    """(variant, mode, order, rate, (lower, upper), with_delay)"""
    n = 0
    # The extremes: order 1 and 64 of every variant, mode and rate.
    for variant in VARIANTS:
        for mode in MODES:
            for rate in RATES:
                for order in (1, 64):
                    all_places = places(mode, rate)
                    if rate in (RATES[0], RATES[-1]):
                        which = [0, len(all_places) - 1]
                    else:
                        which = [n % len(all_places)]
                        n += 1
                    for w in which:
                        yield variant, mode, order, rate, all_places[w], False
    # All orders in every mode; the rest takes turns.
    n = 0
    for order in range(1, 65):
        for mode in MODES:
            rate = RATES[n % 6]
            place = places(mode, rate)[(n // 6 + n) % 6]
            yield VARIANTS[n % 8], mode, order, rate, place, order <= 8
            n += 3 if mode == 'stop' else 1
    # A pole or zero at the origin, or close to it.
    for variant in (VARIANTS[0], VARIANTS[2], VARIANTS[6]):
        for mode in ('low', 'high'):
            for order in (1, 3):
                yield variant, mode, order, 48000.0, (12000.0, 0), True
    # Bands so narrow that the gain leaves the range of double.
    for variant in (VARIANTS[0], VARIANTS[2], VARIANTS[6]):
        yield variant, 'band', 64, 384000.0, (1000.0, 1001.0), False
        yield variant, 'stop', 64, 384000.0, (1000.0, 1001.0), False


def elliptic_grid():
    """The same, of elliptic filters."""
    # All orders in every mode, the extremes in every mode and rate.
    n = 0
    for order in range(1, 65):
        for mode in MODES:
            rate = RATES[n % 6]
            place = places(mode, rate)[(n // 6 + n) % 6]
            variants = ELLIPTIC if order <= 16 else ELLIPTIC_HIGH
            yield (variants[order % len(variants)], mode, order, rate, place,
                   order <= 8)
            n += 3 if mode == 'stop' else 1
    for mode in MODES:
        for rate in RATES:
            for order in (1, 64):
                yield (ELLIPTIC_HIGH[n % 2], mode, order, rate,
                       places(mode, rate)[n % 6], False)
                n += 1
    for variant in ELLIPTIC:
        for mode in MODES:
            for order in (2, 3, 5, 8, 12):
                yield (variant, mode, order, 48000.0, places(mode, 48000.0)[2],
                       False)


def section_grid():
    """The same, of the filters that noise is run through."""
    for variant in (VARIANTS[0], VARIANTS[2], VARIANTS[6]):
        for mode in MODES:
            for cutoff in (20.0, 100.0, 1000.0):
                band = mode in ('band', 'stop')
                place = (cutoff, 2 * cutoff if band else 0)
                for order in (1, 2, 3, 4, 8, 16, 32, 64):
                    if order < 64 or cutoff == 20:
                        yield variant, mode, order, 48000.0, place


def edge(variant, order):
    """The prototype's frequency where the pass band ends."""
    family, _, attenuation = variant
    if family != 'cheby2':
        return 1.0
    eps = np.sqrt(10 ** (attenuation / 10) - 1)
    return 1 / np.cosh(np.arccosh(eps) / order)


# Where the response is looked at, relative to the edge of the pass band; more
# of it where rounding tells.
LOW_PROTO, BAND_PROTO = [0.03, 0.35, 0.7, 0.93, 1.0], [0.2, 0.9, 1.0]
MORE_PROTO = [0.5, 0.85, 0.97, 0.99, 0.997, 0.999]


def pass_band(variant, mode, order, rate, place, more):
    """Frequencies in Hz, from deep in the pass band to its very edge."""
    end = edge(variant, order)
    extra = MORE_PROTO if more else []
    w = 4 * np.tan(np.pi * np.array(place) / rate)
    if mode in ('low', 'high'):
        proto = end * np.array(LOW_PROTO + extra)
        analog = w[0] * proto if mode == 'low' else w[0] / proto
    else:
        proto = end * np.array(BAND_PROTO + extra)
        width, centre = w[1] - w[0], np.sqrt(w[0] * w[1])
        if mode == 'band':
            half = proto * width / 2
        else:
            half = -width / proto / 2
        root = np.sqrt(half ** 2 + centre ** 2)
        # root - half, without cancellation where half is large
        upper = np.where(half > 0, half + root, centre ** 2 / (root - half))
        analog = np.concatenate([centre ** 2 / upper, upper])
    freqs = rate / np.pi * np.arctan(analog / 4)
    return [float('%.12g' % f) for f in freqs]


def exact_elliptic(ripple, attenuation, order):
    """S. Orfanidis, Lecture Notes on Elliptic Filter Design."""
    eps = mp.sqrt(mpf(10) ** (mpf(ripple) / 10) - 1)
    m1 = eps ** 2 / (mpf(10) ** (mpf(attenuation) / 10) - 1)
    m = mp.mfrom(q=mp.qfrom(m=m1) ** (mpf(1) / order))
    quarter = mp.ellipk(m)
    v = quarter / (order * mp.ellipk(m1)) * mp.ellipf(mp.atan(1 / eps), 1 - m1)
    sv, cv, dv = (mp.ellipfun(f, v, m=1 - m) for f in ('sn', 'cn', 'dn'))
    z, p = [], []
    for j in range(1 - order % 2, order, 2):
        u = j * quarter / order
        s, c, d = (mp.ellipfun(f, u, m=m) for f in ('sn', 'cn', 'dn'))
        pole = mpc(-c * d * sv * cv, s * dv) / (1 - (d * sv) ** 2)
        p += [pole, mp.conj(pole)] if j else [mp.re(pole)]
        if j:
            z += [mpc(0, 1) / (mp.sqrt(m) * s), mpc(0, -1) / (mp.sqrt(m) * s)]
    k = mp.re(mp.fprod(-x for x in p) / mp.fprod(-x for x in z))
    if order % 2 == 0:
        k /= mp.sqrt(1 + eps * eps)
    return z, p, k


def exact_prototype(variant, order):
    family, ripple, attenuation = variant
    if family == 'ellip' and order == 1:
        family = 'cheby1'
    if family == 'ellip':
        return exact_elliptic(ripple, attenuation, order)
    ks = range(-order + 1, order, 2)
    if family == 'butter':
        return [], [-mp.expjpi(mpf(m) / (2 * order)) for m in ks], mpf(1)
    if family == 'cheby1':
        eps = mp.sqrt(mpf(10) ** (mpf(ripple) / 10) - 1)
        mu = mp.asinh(1 / eps) / order
        p = [-mp.sinh(mu + mpc(0, 1) * mp.pi * m / (2 * order)) for m in ks]
        k = mp.re(mp.fprod(-x for x in p))
        if order % 2 == 0:
            k /= mp.sqrt(1 + eps * eps)
        return [], p, k
    de = 1 / mp.sqrt(mpf(10) ** (mpf(attenuation) / 10) - 1)
    mu = mp.asinh(1 / de) / order
    z = [mpc(0, 1) / mp.sin(m * mp.pi / (2 * order)) for m in ks if m]
    p = []
    for m in ks:
        q = -mp.expjpi(mpf(m) / (2 * order))
        p.append(1 / mpc(mp.sinh(mu) * q.real, mp.cosh(mu) * q.imag))
    k = mp.re(mp.fprod(-x for x in p) / mp.fprod(-x for x in z))
    return z, p, k


def exact_zpk(variant, mode, order, rate, place):
    """The digital filter, by the analog prototype, a band transform and the
    bilinear transform, s = 4 (z - 1) / (z + 1)."""
    z, p, k = exact_prototype(variant, order)
    degree = len(p) - len(z)
    w = [4 * mp.tan(mp.pi * mpf(f) / mpf(rate)) for f in place]
    if mode == 'low':
        z, p = [w[0] * x for x in z], [w[0] * x for x in p]
        k *= w[0] ** degree
    elif mode == 'high':
        k *= mp.re(mp.fprod(-x for x in z) / mp.fprod(-x for x in p))
        z = [w[0] / x for x in z] + [mpf(0)] * degree
        p = [w[0] / x for x in p]
    else:
        width, square = w[1] - w[0], w[0] * w[1]

        def both(halves):
            roots = [(h, mp.sqrt(h * h - square)) for h in halves]
            return [h + r for h, r in roots] + [h - r for h, r in roots]

        if mode == 'band':
            z = both([x * width / 2 for x in z]) + [mpf(0)] * degree
            p = both([x * width / 2 for x in p])
            k *= width ** degree
        else:
            k *= mp.re(mp.fprod(-x for x in z) / mp.fprod(-x for x in p))
            z = both([width / 2 / x for x in z])
            p = both([width / 2 / x for x in p])
            centre = mpc(0, mp.sqrt(square))
            z += [centre] * degree + [-centre] * degree
    degree = len(p) - len(z)
    k *= mp.re(mp.fprod(4 - x for x in z) / mp.fprod(4 - x for x in p))
    z = [(4 + x) / (4 - x) for x in z] + [mpf(-1)] * degree
    p = [(4 + x) / (4 - x) for x in p]
    return z, p, k


def exact_response(z, p, k, freq, rate):
    point = mp.expjpi(2 * mpf(freq) / mpf(rate))
    return k * mp.fprod(point - x for x in z) / mp.fprod(point - x for x in p)


def exact_sos_response(sos, freq, rate):
    d = mp.expjpi(-2 * mpf(freq) / mpf(rate))
    h = mpf(1)
    for b0, b1, b2, _, a1, a2 in sos.tolist():
        num = mpf(b0) + d * (mpf(b1) + d * mpf(b2))
        h *= num / (1 + d * (mpf(a1) + d * mpf(a2)))
    return h


def exact_group_delay(z, p, freq, rate):
    """Sum over the roots: exp(jw) - r adds Re(exp(jw) / (exp(jw) - r)) to the
    derivative of the phase.  A zero on the unit circle adds a half."""
    point = mp.expjpi(2 * mpf(freq) / mpf(rate))
    delay = mp.fsum(mp.re(point / (point - x)) for x in p)
    return delay - mp.fsum(mp.re(point / (point - x)) for x in z)


def nearest(found, wanted):
    """wanted, in the order of found; the largest relative distance."""
    found = np.asarray(found, complex)
    wanted = np.asarray(wanted, complex)
    if len(found) != len(wanted):
        raise ValueError('%d roots, not %d' % (len(found), len(wanted)))
    free = np.ones(len(wanted), bool)
    worst = 0.0
    for x in found:
        distance = np.where(free, abs(wanted - x), np.inf)
        i = int(np.argmin(distance))
        free[i] = False
        worst = max(worst, distance[i] / max(abs(wanted[i]), 1e-300))
    return worst


def roots_text(roots):
    """Conjugates once, the same root once."""
    # + 0.0 makes a negative zero positive.
    values = [complex(r.real + 0.0, r.imag + 0.0)
              for r in np.asarray(roots, complex)]
    counts = {}
    for v in values:
        counts[v] = counts.get(v, 0) + 1
    tokens = []
    for v, count in counts.items():
        if counts.get(v.conjugate(), 0) != count:
            raise ValueError('a root %r without its conjugate' % v)
        if v.imag < 0:
            continue
        token = '%.17g' % v.real
        if v.imag:
            token += ',%.17g' % v.imag
        if count > 1:
            token += '*%d' % count
        tokens.append(token)
    return ''.join(' ' + t for t in tokens)


def double_roots(roots):
    """Rounded to double; what 50 digits leave of a zero part is zero."""
    out = []
    for r in roots:
        r = mpc(r)
        tiny = abs(r) * mpf('1e-40')
        re = 0.0 if abs(r.real) < tiny else float(r.real)
        im = 0.0 if abs(r.imag) < tiny else float(r.imag)
        out.append(complex(re, im) if abs(r) > mpf('1e-40') else 0j)
    return out


def scipy_design(variant, mode, order, rate, place, output):
    family, ripple, attenuation = variant
    args = [order]
    if family in ('cheby1', 'ellip'):
        args.append(ripple)
    if family in ('cheby2', 'ellip'):
        args.append(attenuation)
    band = mode in ('band', 'stop')
    btype = {'low': 'lowpass', 'high': 'highpass', 'band': 'bandpass',
             'stop': 'bandstop'}[mode]
    return getattr(signal, family)(
        *args, list(place) if band else place[0], btype, output=output,
        fs=rate)


def deviation(value, exact):
    d = mpc(complex(value)) / exact - 1
    return complex(d)


def write_head(variant, mode, order, rate, place):
    family, ripple, attenuation = variant
    sys.stdout.write('design %s %s %d %.17g %.17g %.17g %.17g %.17g\n' % (
        family, mode, order, rate, place[0], place[1], ripple, attenuation))


def write_sections(variant, mode, order, rate, place):
    write_head(variant, mode, order, rate, place)
    sos = scipy_design(variant, mode, order, rate, place, 'sos')
    for b0, b1, b2, _, a1, a2 in sos:
        sys.stdout.write('sos %.17g %.17g %.17g %.17g %.17g\n' % (
            b0, b1, b2, a1, a2))


def write_points(z, p, k, sos, exact, freqs, rate):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        by_zpk = signal.freqz_zpk(z, p, k, np.array(freqs), fs=rate)[1]
        by_sos = signal.sosfreqz(sos, np.array(freqs), fs=rate)[1]
    sosfreqz_error = sos_error = 0.0
    lines = []
    for f, hz, hs in zip(freqs, by_zpk, by_sos):
        h = exact_response(*exact, f, rate)
        dz = deviation(hz, h)
        e = exact_sos_response(sos, f, rate)
        sosfreqz_error = max(sosfreqz_error, abs(deviation(hs, h)))
        sos_error = max(sos_error, float(abs(e / h - 1)))
        lines.append('h %.12g %.17g %.17g %.3e %.3e\n' % (
            f, h.real, h.imag, dz.real, dz.imag))
    return (sosfreqz_error, sos_error), lines


def write_design(variant, mode, order, rate, place, with_delay):
    out = sys.stdout
    write_head(variant, mode, order, rate, place)
    z, p, k = scipy_design(variant, mode, order, rate, place, 'zpk')
    sos = scipy_design(variant, mode, order, rate, place, 'sos')
    ez, ep, ek = exact_zpk(variant, mode, order, rate, place)
    for name, ours, theirs in (('z', z, ez), ('p', p, ep)):
        out.write(name + roots_text(ours) + '\n')
        exact = double_roots(theirs)
        if nearest(ours, exact) > 1e-13:
            out.write(name.upper() + roots_text(exact) + '\n')
    out.write('k %.17g %.17g\n' % (k, ek))

    freqs = pass_band(variant, mode, order, rate, place, False)
    errors, lines = write_points(z, p, k, sos, (ez, ep, ek), freqs, rate)
    if errors[1] > 1e-10:
        freqs = pass_band(variant, mode, order, rate, place, True)
        errors, lines = write_points(z, p, k, sos, (ez, ep, ek), freqs, rate)
    out.write('s %.9e %.9e\n' % errors)
    out.writelines(lines)
    if with_delay:
        for f in freqs:
            delay = exact_group_delay(ez, ep, f, rate)
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')
                theirs = sum(
                    signal.group_delay((s[:3], s[3:]), np.array([f]),
                                       fs=rate)[1][0] for s in sos)
            out.write('g %.12g %.17g %.17g\n' % (f, delay, theirs))


def main():
    print('# Written by designs.py, which says what the lines mean.')
    print('# SciPy %s, NumPy %s, mpmath %s with %d digits' % (
        scipy.__version__, np.__version__, mpmath.__version__, mp.dps))
    if sys.argv[1:] == ['designs']:
        for item in grid():
            write_design(*item)
    elif sys.argv[1:] == ['elliptic']:
        for item in elliptic_grid():
            write_design(*item)
    elif sys.argv[1:] == ['sections']:
        for item in section_grid():
            write_sections(*item)
    else:
        sys.exit('usage: designs.py designs|sections|elliptic')


if __name__ == '__main__':
    main()
