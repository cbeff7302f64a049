# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files that chains name."""

import os
import struct
import sys

import numpy as np
import pytest
from scipy import signal
from scipy.io import wavfile

import gst_tfx as fx

RATE = 48000


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    taps = np.random.default_rng(1).uniform(-0.9, 0.9, (40, 2))
    wavfile.write("room.wav", RATE, taps)
    return taps


def noise(*shape):
    return np.random.default_rng(2).standard_normal(shape)


def run(text, x, **options):
    return fx.Chain(text, RATE, len(x), dtype=np.float64, **options)(x)


def convolve(x, taps):
    return np.stack([signal.lfilter(k, 1, row) for k, row in zip(taps, x)])


def refuse(text, what, rate=RATE, channels=1, **options):
    with pytest.raises(fx.ChainError) as caught:
        fx.Chain(text, rate, channels, **options)
    assert what in caught.value.message
    return caught.value


# ---- sounds -----------------------------------------------------------------------


def test_impulse_response(reader, kernel):
    x = noise(2, 300)
    for text in "FIR('room.wav')", fx.FIR("room.wav"), "Convolve('room.wav')":
        assert np.abs(run(text, x) - convolve(x, kernel.T)).max() < 1e-13
    one = run("FIR('room.wav', channel=1)", x)
    assert np.abs(one - convolve(x, kernel.T[[1, 1]])).max() < 1e-13
    up = run(fx.Convolve("room.wav", layout=[[0], [-1], [1]]), x[:1])
    assert np.abs(up[[0, 2]] - convolve(x[[0, 0]], kernel.T)).max() < 1e-13
    assert not up[1].any()


def write_wav(path, samples, bits, is_extended=False):
    """PCM with that many bits; samples are integers."""
    size = bits // 8
    data = b"".join(struct.pack("B", v + 128) if bits == 8 else
                    int(v).to_bytes(size, "little", signed=True)
                    for v in samples.ravel())
    channels = samples.shape[1]
    form = struct.pack("<HHIIHH", 0xfffe if is_extended else 1, channels, RATE,
                       RATE * channels * size, channels * size, bits)
    if is_extended:
        form += struct.pack("<HHI", 22, bits, 3) + struct.pack("<H", 1) + \
            bytes.fromhex("000000001000800000aa00389b71")
    # An odd chunk before the samples.
    chunks = b"JUNK" + struct.pack("<I", 3) + b"abc\0" + \
        b"fmt " + struct.pack("<I", len(form)) + form + \
        b"data" + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)
    path.write_bytes(b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks)


@pytest.mark.parametrize("bits", [8, 16, 24, 32])
@pytest.mark.parametrize("is_extended", [False, True])
def test_pcm(reader, tmp_path, bits, is_extended):
    full = 2 ** (bits - 1)
    taps = np.random.default_rng(bits).integers(-full, full, (7, 2))
    write_wav(tmp_path / "a.wav", taps, bits, is_extended)
    x = np.zeros((2, 7))
    x[:, 0] = 1
    y = run("FIR('a.wav', conv_mode='direct')", x, folder=tmp_path)
    assert np.array_equal(y, taps.T / full)


def test_float32(reader, tmp_path):
    taps = noise(9, 1).astype(np.float32)
    wavfile.write(tmp_path / "a.wav", RATE, taps)
    x = np.zeros((1, 9))
    x[:, 0] = 1
    y = run("FIR('a.wav', conv_mode='direct')", x, folder=tmp_path)
    assert np.array_equal(y, taps.T)


def test_flac_needs_soundfile(monkeypatch, tmp_path):
    soundfile = pytest.importorskip("soundfile")
    taps = np.round(noise(50, 2) * 1000) / 2 ** 15
    soundfile.write(tmp_path / "a.flac", taps, RATE)
    x = noise(2, 100)
    y = run("FIR('a.flac')", x, folder=tmp_path)
    assert np.abs(y - convolve(x, taps.T)).max() < 1e-13
    monkeypatch.setitem(sys.modules, "soundfile", None)
    refuse("FIR('a.flac')", "soundfile", channels=2, folder=tmp_path)


def test_other_rates_are_refused(reader, kernel):
    error = refuse("Gain(2) | FIR('room.wav')", "48000 Hz", 44100, 2)
    assert "44100 Hz" in error.message and error.column == 15


@pytest.mark.parametrize("make, what", [
    (lambda path: None, "No such file"),
    (lambda path: path.mkdir(), "Is a directory"),
    (lambda path: path.write_bytes(b""), ""),
    (lambda path: path.write_text("no sound"), ""),
    (lambda path: wavfile.write(path, RATE, np.zeros(9)), "it is silent"),
    (lambda path: wavfile.write(path, RATE, np.zeros(0)), "no samples"),
    (lambda path: wavfile.write(path, RATE, np.array([0, np.nan])), "frame 1 is nan"),
    (lambda path: wavfile.write(path, RATE, np.ones((9, 3))), "3 channels")])
def test_wrong_sounds(reader, tmp_path, make, what):
    make(tmp_path / "a.wav")
    refuse("FIR('a.wav')", what, channels=2, folder=tmp_path)


@pytest.mark.parametrize("damage, what", [
    (lambda d: d[:-3], "it ends after 13 of 16 bytes"),
    (lambda d: d.replace(b"data", b"dada"), "no samples"),
    (lambda d: d.replace(b"fmt ", b"fnt "), "format 0 with 0 bits"),
    (lambda d: d.replace(b"\x01\0\x01\0", b"\x02\0\x01\0"), "format 2 with 16 bits"),
    (lambda d: d.replace(b"\x02\0\x10\0", b"\x03\0\x10\0"), "format 1 with 16 bits"),
    (lambda d: d[:40], "format 1 with 0 bits"),
    (lambda d: d[:24] + b"\xff" * 20 + d[44:], "")])
def test_damaged_wav(monkeypatch, tmp_path, damage, what):
    monkeypatch.setitem(sys.modules, "soundfile", None)
    path = tmp_path / "a.wav"
    write_wav(path, np.arange(1, 9)[:, None], 16)
    path.write_bytes(damage(path.read_bytes()))
    refuse("FIR('a.wav')", what, folder=tmp_path)


def test_damaged_wav_at_random(reader, tmp_path):
    """Any bytes are a sound or a ChainError."""
    path = tmp_path / "a.wav"
    write_wav(path, np.arange(1, 9)[:, None], 16)
    plain = path.read_bytes()
    rng = np.random.default_rng(3)
    for _ in range(300):
        data = bytearray(plain[:rng.integers(12, len(plain) + 1)])
        for at in rng.integers(12, len(plain), 2):
            data[at:at + 1] = rng.bytes(1)
        path.write_bytes(data)
        try:
            fx.Chain("FIR('a.wav')", RATE, folder=tmp_path)
        except fx.ChainError:
            pass


# ---- curves, and other files ------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_curve(tmp_path, encoding):
    points = [[20, -3], [100, 0], [1000, 6], [20000, -12]]
    (tmp_path / "target.txt").write_text(
        "# Hz dB\n" + "".join(f"{f} {g}\n" for f, g in points), encoding=encoding)
    chain = fx.Chain("Curve('target.txt')", RATE, folder=tmp_path)
    f = np.geomspace(20, 20000, 50)
    assert np.array_equal(chain.response(f), fx.Chain(fx.Curve(points), RATE).response(f))
    assert str(chain) == "Curve('target.txt')"


@pytest.mark.parametrize("data, what", [
    (None, "No such file"), (b"20 \xff\xfe", "UTF-8"), (b"20 0\0\n", "UTF-8"),
    (b"no curve", "target.txt"),
    pytest.param(b"#" * (4 << 20) + b"\n", "larger than 4 MiB", id="large")])
def test_wrong_curves(tmp_path, data, what):
    if data:
        (tmp_path / "target.txt").write_bytes(data)
    error = refuse("Curve('target.txt')", what, folder=tmp_path)
    assert (error.line, error.column) == (1, 7)


def test_files_that_need_gstreamer(kernel):
    refuse("HRIR('head.sofa')", "SOFA", channels=2)
    refuse("FilterSettings('eq.txt')", "gst-tfx check")


def test_names_are_relative_to_the_chain(kernel, tmp_path, monkeypatch):
    (tmp_path / "chain.txt").write_text("FIR('room.wav')", encoding="utf-8-sig")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    x = noise(2, 100)
    for path in tmp_path / "chain.txt", "../chain.txt":
        chain = fx.Chain.from_file(path, RATE, 2, dtype=np.float64)
        assert np.abs(chain(x) - convolve(x, kernel.T)).max() < 1e-13
    refuse("FIR('room.wav')", "'room.wav' cannot be used: No such file")
    assert np.array_equal(run(f"FIR('{tmp_path}/room.wav')", x), chain(x))


def test_long_names_are_cut_between_characters():
    for n in range(60, 100):
        refuse(f"FIR('{'x' * (n % 4)}{'ä' * n}{'€' * n}')", "cannot be used")


def test_names_of_any_bytes(kernel, tmp_path):
    os.rename("room.wav", b"\xfc.wav")
    x = noise(2, 100)
    chain = fx.Chain(r"FIR('\xfc.wav')", RATE, 2, dtype=np.float64)
    assert np.abs(chain(x) - convolve(x, kernel.T)).max() < 1e-13
    assert str(chain) == r"FIR('\xfc.wav')"
    refuse(r"FIR('\xfd.wav')", "No such file")


def test_other_values_of_a_stage_with_a_file(kernel):
    chain = fx.Chain("r=Convolve('room.wav') | g=Gain(1)", RATE, 2, dtype=np.float64)
    x = noise(2, 2000)
    chain.process(x)
    chain.set("r.mix", 0)
    chain.set("g.gain", 2)
    assert np.abs(chain.process(x)[:, 1000:] - 2 * x[:, 1000:]).max() < 1e-12
    with pytest.raises(fx.ChainError):
        chain.set("r.location", "room.wav")


def test_an_interrupted_reader(kernel, monkeypatch):
    """An exception that is not of the file comes through."""
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("gst_tfx.files._read_impulse", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fx.Chain("FIR('room.wav')", RATE)
