# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each class of the catalogue, through Python, against golden values or a formula.

The scripts in tests/golden document the lines of the files."""

import pathlib
import re

import numpy as np
import pytest
from scipy import signal
from scipy.io import wavfile

import gst_tfx as fx

GOLDEN = pathlib.Path(__file__).parents[1] / "golden"
RATE = 48000


def lcg(seed, n, factor=69069, term=1):
    """Numbers in -1 .. 1 of a linear congruential generator."""
    values = np.empty(n)
    for i in range(n):
        seed = (factor * seed + term) % 2 ** 32
        values[i] = seed / 2.0 ** 31 - 1.0
    return values


def cases(name, start="chain"):
    """[(words of the line that starts a case, [words of its other lines])]"""
    found = []
    for line in (GOLDEN / name).read_text(encoding="utf-8").splitlines():
        if line.startswith(start + " "):
            found.append((line.split(), []))
        elif found and line[0] not in "#a":
            found[-1][1].append(line.split())
    return found


def floats(words):
    return np.array([float(w) for w in words])


# ---- files of golden values -------------------------------------------------------


def test_catalogue():
    n = 0
    for (_, rate, channels, *text), lines in cases("catalogue.txt"):
        text = " ".join(text)
        for _, source, target, *pairs in (w for w in lines if w[0] == "i"):
            values = {int(i): float(v) for i, v in (p.split("=") for p in pairs)}
            chain = fx.Chain(text, float(rate), int(channels), dtype=np.float64)
            # Golden impulses have the latency in them: the chain drops as much.
            x = np.zeros((int(channels), max(values) + 1 + chain.latency))
            x[int(source), chain.latency] = 1
            y = chain.process(x)[int(target)]
            largest = max(abs(v) for v in values.values())
            for i, value in values.items():
                assert abs(y[i] - value) <= 1e-11 * largest, text
            n += 1
    assert n > 200


def check_samples(name, x, has_channels, make=str):
    """The samples and the energy of each chain, to -140 dB, as in the C tests.
    make: turns the text into a chain."""
    at = next(line.split()[1:] for line in (GOLDEN / name).read_text().splitlines()
              if line.startswith("at "))
    at = [int(i) for i in at]
    n = 0
    for (_, rate, *text), lines in cases(name):
        channels = int(text.pop(0)) if has_channels else 2
        text = " ".join(text)
        y = fx.Chain(make(text), float(rate), channels,
                     dtype=np.float64)(x[:channels])
        n_lines = 0
        for _, channel, energy, *values in (w for w in lines if w[0] == "y"):
            own = y[int(channel)]
            assert abs(own @ own / float(energy) - 1) <= 1e-7, text
            assert np.abs(own[at] - floats(values)).max() <= 1e-7 * np.abs(y).max(), \
                text
            n_lines += 1
        assert n_lines == channels
        n += 1
    return n


def test_torchfx():
    """TorchFX's own code: its classes, operators and strategies."""
    names = {**vars(fx.filter), **vars(fx.effect), "fx": fx}
    assert check_samples("torchfx08.txt", np.stack([lcg(1, 3000), lcg(2, 3000)]),
                         False, lambda text: eval(text, names)) == 154


def test_keys():
    i = np.arange(3000)
    x = [lcg(c + 1, 3000) * np.where(i // (300 + 100 * c) % 2, 1, 1 / 32)
         for c in range(4)]
    assert check_samples("key.txt", np.stack(x), True) == 7


def test_denoise():
    n = 0
    for (_, *numbers, text), lines in (
            (w[:6] + [" ".join(w[6:])], lines) for w, lines in cases("denoise.txt")):
        rate, channels, frames, first, end = map(int, numbers)
        t = np.arange(frames) / rate
        loud = np.maximum(0, np.sin(2 * np.pi * 3 * t)) ** 2
        voice = sum(np.sin(2 * np.pi * 140 * k * t) / k for k in range(1, 9))
        state, noise = 1, np.empty((frames, channels))
        for at in np.ndindex(noise.shape):
            state = (1103515245 * state + 12345) % 2 ** 31
            noise[at] = state / 2 ** 30 - 1
        x = 0.2 * (loud * voice)[:, None] / np.arange(1, channels + 1) + 0.02 * noise
        x[first:end] = 0
        chain = fx.Chain(text, rate, channels, dtype=np.float64,
                         layout="channels_last")
        late = chain.latency
        lines = [w for w in lines if int(w[1]) >= late]
        wanted = np.array([floats(w[2:]) for w in lines])
        error = chain.process(x)[[int(w[1]) - late for w in lines]] - wanted
        assert len(lines) > 100 and (error ** 2).sum() < 1e-14 * (wanted ** 2).sum()
        n += 1
    assert n >= 6


def test_convolve_with_layouts(tmp_path):
    n = 0
    for words, lines in cases("matrix.txt", "case"):
        n_file, n_taps, n_in, n_out, n_frames, seed = map(int, words[1:7])
        values = lcg(seed, n_file * n_taps + n_in * n_frames, 1664525, 1013904223)
        kernels = values[:n_file * n_taps].reshape(n_file, n_taps)
        kernels = kernels * (1 - np.arange(n_taps) / n_taps)
        wavfile.write(tmp_path / "kernels.wav", RATE, kernels.T)
        chain = fx.Chain(f"Convolve('kernels.wav', layout={' '.join(words[7:])})",
                         RATE, n_in, dtype=np.float64, folder=tmp_path)
        y = chain(values[n_file * n_taps:].reshape(n_in, n_frames))
        assert y.shape == (n_out, n_frames)
        for _, channel, frame, value in lines:
            assert abs(y[int(channel), int(frame)] - float(value)) < 1e-12
        n += 1
    assert n == 9


# ---- formulas of docs/classes.md --------------------------------------------------


def db(x):
    return 20 * np.log10(np.abs(x))


def test_mix():
    gains = np.array([[0.5, 0.25], [1, 0], [-1, 2]])
    x = np.stack([lcg(1, 500), lcg(2, 500)])
    y = fx.Chain(fx.Mix(gains), RATE, 2, dtype=np.float64)(x)
    assert np.abs(y - gains @ x).max() < 8 * np.finfo(float).eps


@pytest.mark.parametrize("text, zeros, poles", [
    ("RIAA()", [-1 / 318e-6], [-1 / 3180e-6, -1 / 75e-6]),
    ("RIAA('recording')", [-1 / 3180e-6, -1 / 75e-6], [-1 / 318e-6]),
    ("Weighting('A')", [0] * 4, -2 * np.pi * np.array(
        [20.598997, 20.598997, 107.65265, 737.86223, 12194.217, 12194.217])),
    ("Weighting('C')", [0] * 2, -2 * np.pi * np.array(
        [20.598997, 20.598997, 12194.217, 12194.217]))])
def test_analog_curves(text, zeros, poles):
    f = np.geomspace(20, 20000, 300)
    w = 2 * np.pi * np.append(f, 1000)
    h = np.prod([1j * w - z for z in zeros], 0) / np.prod([1j * w - p for p in poles], 0)
    assert np.abs(db(fx.Chain(text, RATE).response(f)) - db(h[:-1] / h[-1])).max() < 0.05


def test_weighting_k():
    """The coefficients of ITU-R BS.1770 at 48 kHz."""
    sos = [[1.53512485958697, -2.69169618940638, 1.19839281085285,
            1, -1.69065929318241, 0.73248077421585],
           [1, -2, 1, 1, -1.99004745483398, 0.99007225036621]]
    x = lcg(1, 3000)
    y = fx.Chain("Weighting('K')", RATE, dtype=np.float64)(x)
    assert np.abs(y - signal.sosfilt(sos, x)).max() < 1e-9


def test_graphic_eq():
    gains = [6, 4, 2, 0, -2, -3, 0, 2, 4, 4]
    h = fx.Chain(fx.GraphicEQ(gains), RATE).response(31.25 * 2.0 ** np.arange(10))
    assert np.abs(db(h) - gains).max() < 0.5


@pytest.mark.parametrize("text, same, hz", [
    ("DynamicEQ(3000, q=2)", "ParametricEQ(3000, q=2, gain=-12)", 3000),
    ("DeEss()", "HiShelving(6000, q=0.7071067811865476, gain=-12, gain_scale='db')",
     12000)])
def test_dynamic_filters(text, same, hz):
    """A loud tone takes the gain to its range, and a soft one leaves it at 0 dB."""
    x = np.sin(2 * np.pi * hz * np.arange(2 * RATE) / RATE)
    y = [fx.Chain(t, RATE, dtype=np.float64)(x) for t in (text, same)]
    assert np.abs(y[0] - y[1])[RATE:].max() < 1e-9
    assert np.abs(fx.Chain(text, RATE, dtype=np.float64)(1e-3 * x) - 1e-3 * x).max() \
        < 1e-15


def test_loudness():
    """BS.1770: a full-scale sine of 997 Hz in one channel has -3.01 LKFS."""
    x = 0.1 * np.sin(2 * np.pi * 997 * np.arange(8 * RATE) / RATE)
    y = fx.Chain("Loudness(-18)", RATE, dtype=np.float64)(x)
    assert abs(db(np.abs(y[4 * RATE:]).max()) - (-18 + 3.01)) < 0.1


def test_every_class_is_covered():
    text = "\n".join((GOLDEN / name).read_text() for name in
                     ("catalogue.txt", "torchfx08.txt", "denoise.txt"))
    text += pathlib.Path(__file__).read_text()
    missing = [entry[0] for entry in fx.catalogue()
               if not re.search(rf"\b{entry[0]}\(", text)]
    assert missing == ["HRIR"]  # which needs a SOFA file
