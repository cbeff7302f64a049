#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes torchfx08.txt: what TorchFX itself makes of chains, in double.

    python3 torchfx08.py > torchfx08.txt

Needs torch 2.12.0 (with 2.15 TorchFX's recursive filters fail) and torchfx
0.8.0; the header has the versions.  Lines of torchfx08.txt:

  chain RATE TEXT
      starts a chain, in two channels of N_FRAMES frames of noise, see noise()
  as TEXT
      what TorchFX was given, where that is another text
  y CHANNEL ENERGY VALUE...
      the sum of the squares of the output, and some of its samples: those at
      the indices of the line `at`
"""
import importlib.metadata
import sys

import numpy
import torch
import torchfx
import torchfx.effect
import torchfx.filter

N_FRAMES = 3000
AT = [0, 1, 2, 3, 5, 10, 20, 50, 100, 200, 441, 882, 1000, 1500, 1700, 2000,
      2222, 2500, 2800, 2999]

NAMES = {**vars(torchfx.effect), **vars(torchfx.filter), 'fx': torchfx}


def noise(channel):
    """Numbers in -1 .. 1, of the generator x -> 69069 x + 1 modulo 2^32."""
    x, out = channel + 1, []
    for _ in range(N_FRAMES):
        x = (69069 * x + 1) % 2 ** 32
        out.append(x / 2.0 ** 31 - 1.0)
    return out


def set_rate(module, rate):
    for part in module.modules():
        for inner in [part, *getattr(part, 'filters', [])]:
            if hasattr(inner, 'fs'):
                inner.fs = rate


def run(text, rate):
    module = eval(text, NAMES)
    set_rate(module, rate)
    x = torch.tensor([noise(0), noise(1)], dtype=torch.float64)
    y = module(x)
    assert y.dtype == torch.float64
    return y[..., :N_FRAMES].numpy()


n_chains = 0


def write(text, rate=48000, theirs=None, y=None):
    global n_chains
    n_chains += 1
    print('chain', rate, text)
    if theirs:
        print('as', theirs)
    y = run(theirs or text, rate) if y is None else y
    for channel in range(2):
        print('y', channel, repr(float(numpy.sum(y[channel] ** 2))),
              *(repr(float(y[channel][i])) for i in AT))


def write_classical():
    for side in ('Lo', 'Hi'):
        write(side + 'Butterworth(1000)')
        write(side + 'Butterworth(80.5, 2)', 44100)
        write(side + 'Butterworth(15000, order=1)')
        write(side + 'Butterworth(4000, order=8)', 96000)
        write(side + "Butterworth(500, order=24, order_scale='db')")
        write(side + 'Chebyshev1(1000)')
        write(side + 'Chebyshev1(60, 2, 0.5)', 44100)
        write(side + 'Chebyshev1(9000, order=7, ripple=1)')
        write(side + 'Chebyshev1(300, 5, ripple=3)')
        write(side + 'Chebyshev2(1000)')
        write(side + 'Chebyshev2(2500, 6, 60)', 44100)
        write(side + 'Chebyshev2(9000, order=3, ripple=40)')
        write(side + 'Elliptic(1000)')
        write(side + 'Elliptic(200, 3, 1, 60)', 44100)
        write(side + 'Elliptic(7000, order=6, stopband_attenuation=80)')
        write(side + 'Elliptic(3000, 5, passband_ripple=0.01)')
        write(side + 'LinkwitzRiley(1000)')
        write(side + 'LinkwitzRiley(250, 2)', 44100)
        write(side + 'LinkwitzRiley(3000, order=8)')
        write(side + "LinkwitzRiley(3000, order=48, order_scale='db')")
    for btype in ('lowpass', 'highpass'):
        write("Butterworth('%s', 2000)" % btype)
        write("Chebyshev1('%s', 700, 3, 0.2)" % btype)
        write("Chebyshev2('%s', 700, 5, 50)" % btype)
        write("Elliptic('%s', 700, 4, 0.5, 70)" % btype)
        write("LinkwitzRiley('%s', 1200, order=4)" % btype)


def write_sections():
    for name in ('BiquadLPF', 'BiquadHPF', 'BiquadBPF', 'BiquadBPFPeak',
                 'BiquadNotch', 'BiquadAllPass', 'Notch', 'AllPass'):
        write(name + '(1000, 0.7071)')
        write(name + '(50, q=10)', 44100)
        write(name + '(12000, 2.5)')
    for name in ('LoShelving', 'HiShelving'):
        for cutoff, q, gain in ((200, 0.707, 6.0), (3000, 1.0, -9.0)):
            # TorchFX applies twice the dB, the square of the factor.
            write("%s(%r, %r, %r, gain_scale='db')" % (name, cutoff, q, gain),
                  theirs="%s(%r, %r, %r, gain_scale='db')"
                  % (name, cutoff, q, gain / 2))
        write('%s(1000, 0.5, 4.0)' % name, theirs='%s(1000, 0.5, 2.0)' % name)
    write('ParametricEQ(1000, 2, 6.0)', theirs='ParametricEQ(1000, 2, 3.0)')
    write('ParametricEQ(frequency=80, q=1, gain=-12.0)', 44100,
          theirs='ParametricEQ(frequency=80, q=1, gain=-6.0)')
    write("Peaking(2500, 1.5, 8.0, 'db')",
          theirs="Peaking(2500, 1.5, 4.0, 'db')")
    write("Peaking(2500, 1.5, 0.25, gain_scale='linear')",
          theirs="Peaking(2500, 1.5, 0.5, gain_scale='linear')")


def write_bank():
    """The sum of the bands that TorchFX puts into a dimension of their own."""
    for text in ('LogFilterBank(5)', 'LogFilterBank(10, 50, 8000, q=2)'):
        write(text, y=run(text, 48000).sum(axis=0))


def write_firs():
    write('FIR([0.5, 0.25, -0.125])')
    write('FIR([1.0, 0.0, 0.0, 0.0, -0.5])')
    write("FIR(b=[0.25, 0.5, 0.25], conv_mode='direct')")
    write('FIR([1.0, -1.0, 0.5, 0.25, 0.125, -0.0625], conv_mode="fft")')
    write('DesignableFIR(1000, 101)')
    write('DesignableFIR(5000, 64)', 44100)
    write('DesignableFIR(cutoff=3000, num_taps=51, pass_zero=False)')
    for window in ('hann', 'blackman', 'boxcar'):
        write("DesignableFIR(2000, 75, window='%s')" % window)
    write('DesignableFIR([300, 3400], 255, pass_zero=False)')
    write('FIR([0.5, 0.5]) | DesignableFIR(8000, 33)')


def write_effects():
    write('Gain(0.5)')
    write("Gain(-6, gain_type='db')")
    write("Gain(4, 'power')")
    write('Delay(100)')
    write('Delay(delay_samples=441, feedback=0.7, mix=0.5, taps=5)')
    write('Delay(bpm=3000)')
    write("Delay(bpm=2400, delay_time='1/4', mix=1)", 44100)
    write("Delay(bpm=1800, delay_time='1/8d', feedback=0)")
    write("Delay(300, feedback=0.5, mix=0.4, taps=4, "
          "strategy=PingPongDelayStrategy())")
    write('Delay(300, strategy=MonoDelayStrategy())')
    write('Reverb()', 44100)
    write('Reverb(0.8, 0.2, 0.6)')
    write('Reverb(room_size=1, damping=0, mix=1)', 8000)
    write('Reverb(room_size=0, damping=1, mix=0.5)', 11025)
    write('Reverb(mix=0)')
    write('HiButterworth(200) | Reverb(0.9, mix=0.5) | LoButterworth(6000)',
          22050)
    write('fx.effect.Gain(2.0) | fx.filter.LoButterworth(3000)')


def write_dynamics():
    write('Compressor()')
    write('Compressor(-30, 8, 0.001, 0.2, 0, 6)', 44100)
    write("Compressor(threshold=-10, ratio=2.5, knee=24, detector='rms')")
    write('Compressor(-20, 1000, attack=0, release=0)', 96000)
    write("Compressor(-40, 3, 0.02, 0.5, makeup_gain=12, detector='rms')")
    write('Gain(0.01) | Expander()')
    write('Gain(0.1) | Expander(-12, 4, 0.002, 0.02, 12, -30)', 44100)
    write("Gain(0.02) | Expander(-30, 3, knee=0, floor=-60, detector='rms')")
    write('Gain(0.03) | Gate(-26)')
    write('Gain(0.001) | Gate()')
    write("Gate(-4, 0.0001, 0.001, None, 0, 'peak')")
    write('LoButterworth(300) | Gate(-10, release=0.005, floor=-40) | '
          'Compressor(-20, 2)')
    write('Limiter()')
    write('Limiter(-12, 0.002, 0.02)', 44100)
    write('Limiter(threshold=-20, lookahead=0, release=0.3)')
    write('Gain(0.5) | Limiter(-6, 0.01, 0.004) | Compressor(-30)')
    write('Gain(3, clamp=True)')
    write('LoButterworth(2000) | Gain(12, "db", clamp=True) | '
          'HiButterworth(100)', 44100)
    write('Gain(4, "power", True)')
    # Over a window that has all of it.
    write('Normalize()')
    write('Gain(0.1) | Normalize(peak=0.8)')
    write('Normalize(0.25, PeakNormalizationStrategy())', 44100)
    write('Normalize(0.5, strategy=RMSNormalizationStrategy())')
    write('Gain(0.2) | Normalize(0.7, PerChannelNormalizationStrategy())')


def write_compositions():
    write('HiButterworth(80, order=4) | LoChebyshev1(12000)')
    write('LoButterworth(300, 2) + HiButterworth(3000, 2)')
    write('LoLinkwitzRiley(700) + HiLinkwitzRiley(700)')
    write('HiButterworth(100) | LoButterworth(500, 2) + HiButterworth(2000, 2)'
          ' | Gain(0.5)')
    write('Gain(2.0) | Notch(50, 30) | Notch(100, 30) | Notch(150, 30)', 44100)
    write('BiquadLPF(500, 0.7) + BiquadBPF(1000, 1) + BiquadHPF(2000, 0.7)')
    write('Gain(0.5) | Delay(50, taps=2) | LoButterworth(8000, 3)')
    write('DesignableFIR(4000, 65) | HiChebyshev1(200, 3)')
    write('FIR([0.5, 0.5]) + LoButterworth(1000)')
    write('Elliptic("lowpass", 2000) + Elliptic("highpass", 4000)')
    write('LoChebyshev2(3000, 4, 40) + BiquadHPF(6000, 0.5)')
    write('Delay(200, taps=1) | Delay(333, taps=2, mix=0.5)')
    write('AllPass(1000, 1) | AllPass(2000, 1) | Gain(-3, gain_type="db")')
    # The chains of TorchFX's own benchmarks.
    write('HiChebyshev1(20, 2, 0.5) | HiChebyshev1(60, 2, 0.5) | '
          'HiChebyshev1(65, 2, 0.5) | LoButterworth(5000, 2) | '
          'LoButterworth(4900, 2) | LoButterworth(4850, 2)', 44100)
    write('HiButterworth(1000, 2) | LoButterworth(5000, 2) | '
          'HiChebyshev1(1500, 2, 0.5) | LoChebyshev1(1800, 2, 0.5)', 44100)


def main():
    torch.set_num_threads(1)
    print('# Written by torchfx08.py, which says what the lines mean.')
    print('# TorchFX %s, torch %s, NumPy %s, Python %s' % (
        importlib.metadata.version('torchfx'), torch.__version__,
        numpy.__version__, sys.version.split()[0]))
    print('frames', N_FRAMES)
    print('at', *AT)
    write_classical()
    write_sections()
    write_bank()
    write_firs()
    write_effects()
    write_dynamics()
    write_compositions()
    print('end', n_chains)


if __name__ == '__main__':
    main()
