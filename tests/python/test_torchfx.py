# SPDX-License-Identifier: LGPL-2.1-or-later
"""Code for TorchFX: the page for its users, the table of its classes, and Wave."""

import csv
import inspect
import re
import subprocess
import sys

import numpy as np
import pytest
from scipy.io import wavfile

import gst_tfx as fx

RATE = 48000

# The classes of torchfx.filter and torchfx.effect 0.8.0 with their parameters.
FILTERS = """
AllPass Notch BiquadAllPass BiquadBPF BiquadBPFPeak BiquadHPF BiquadLPF BiquadNotch(cutoff, q, fs=None)
Butterworth LinkwitzRiley(btype, cutoff, order=4, order_scale='linear', fs=None)
HiButterworth LoButterworth(cutoff, order=5, order_scale='linear', fs=None)
HiLinkwitzRiley LoLinkwitzRiley(cutoff, order=4, order_scale='linear', fs=None)
Chebyshev1 Chebyshev2(btype, cutoff, order=4, ripple=0.1, fs=None)
HiChebyshev1 LoChebyshev1 HiChebyshev2 LoChebyshev2(cutoff, order=4, ripple=0.1, fs=None)
Elliptic(btype, cutoff, order=4, passband_ripple=0.1, stopband_attenuation=40, fs=None)
HiElliptic LoElliptic(cutoff, order=4, passband_ripple=0.1, stopband_attenuation=40, fs=None)
HiShelving LoShelving(cutoff, q, gain, gain_scale='linear', fs=None)
ParametricEQ(frequency, q, gain, fs=None)
Peaking(cutoff, q, gain, gain_scale, fs=None)
LogFilterBank(n_bands, f_min=20, f_max=20000, q=1.414, fs=None)
FIR(b, conv_mode='fft')
DesignableFIR(cutoff, num_taps, fs=None, pass_zero=True, window='hamming', conv_mode='fft')
"""
EFFECTS = """
Gain(gain, gain_type='amplitude', clamp=False)
Normalize(peak=1, strategy=None)
Reverb(room_size=0.5, damping=0.5, mix=0.3, fs=None)
Delay(delay_samples=None, bpm=None, delay_time='1/8', fs=None, feedback=0.3, mix=0.2, taps=3, strategy=None)
Compressor(threshold=-20, ratio=4, attack=0.005, release=0.05, knee=6, makeup_gain=0, detector='peak', fs=None)
Expander(threshold=-40, ratio=2, attack=0.005, release=0.05, knee=6, floor=None, detector='peak', fs=None)
Gate(threshold=-50, attack=0.001, release=0.05, floor=-80, knee=3, detector='peak', fs=None)
Limiter(threshold=-1, lookahead=0.005, release=0.05, fs=None)
"""
STRATEGIES = ["MonoDelayStrategy", "PingPongDelayStrategy", "PeakNormalizationStrategy",
              "RMSNormalizationStrategy", "PerChannelNormalizationStrategy"]
MISSING = ["FX", "IIR", "FusedSOSCascade", "NormalizationStrategy", "DelayStrategy",
           "CustomNormalizationStrategy", "PercentileNormalizationStrategy"]


def noise(*shape):
    return np.random.default_rng(3).uniform(-0.5, 0.5, shape)


@pytest.fixture
def wave():
    return fx.Wave(noise(2, 4000), RATE)


def table_rows(path, title):
    """The cells of the table rows of a section."""
    section = re.split(r"^##+ ", path.read_text(), flags=re.M)
    section = next(s for s in section if s.startswith(title))
    for line in section.splitlines():
        if line.startswith("| "):
            yield [cell.strip().replace("\\|", "|")
                   for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


# ---- the pages --------------------------------------------------------------------


def test_page(pytestconfig, tmp_path, monkeypatch, reader):
    """The program of the page runs, and so does the code for each row of the table."""
    page = pytestconfig.rootpath / "docs" / "migrating.md"
    monkeypatch.chdir(tmp_path)
    wavfile.write("in.wav", RATE, noise(1000, 2).astype(np.float32))
    text = page.read_text()
    block, = re.findall(r"^```python\n(.*?)^```", text[text.index("## From TorchFX"):],
                        re.S | re.M)
    names = {"np": np}
    exec(block, names)
    for name in "series.wav", "parallel.wav", "out/master.wav":
        assert fx.Wave.from_file(name).ys.shape == (2, 1000)
    names["x"] = names["wave"].ys
    n = 0
    for there, *here in table_rows(page, "From TorchFX"):
        for code in re.findall(r"`(.*)`", here[0]):
            n += 1
            *lines, last = code.split("; ") if "ch[" not in code else [code]
            exec("; ".join(lines), names)
            if not re.match(r"\w+ = ", last):
                last = f"result = {last}"
            exec(last, names)
            result = names.get("result")
            if isinstance(result, fx.Effect):
                result = names["wave"] | result
            if isinstance(result, fx.Wave):
                assert np.isfinite(result.ys).all() and result.ys.any()
    assert n == 17


@pytest.mark.parametrize("module, text", [(fx.filter, FILTERS), (fx.effect, EFFECTS)])
def test_classes_take_the_parameters_of_torchfx(module, text):
    for names, parameters in re.findall(r"^([\w ]+)\((.*)\)$", text, re.M):
        scope = {}
        exec(f"def there({parameters}): pass", scope)
        there = inspect.signature(scope["there"]).parameters
        for name in names.split():
            has = inspect.signature(getattr(module, name)).parameters
            assert list(has)[:len(there)] == list(there) or name == "FIR", name
            for key, parameter in there.items():
                # The output is the same, and the strategies have names.
                if key not in ("conv_mode", "strategy"):
                    assert has[key].default == parameter.default, (name, key)


def test_table_of_classes(pytestconfig):
    """It has each class of TorchFX, and its first word is true."""
    available = STRATEGIES + re.findall(
        r"\w+(?=[ (])", "".join(re.findall(r"^[\w ]+\(", FILTERS + EFFECTS, re.M)))
    said = {}
    for names, *_, here in table_rows(
            pytestconfig.rootpath / "docs" / "classes.md", "TorchFX 0.8.0"):
        said.update(dict.fromkeys(re.findall(r"`(\w+)", names),
                                  here.startswith(("same", "differs"))))
    del said["fs"]  # of another table
    assert {n for n in said if said[n]} == {*available, "Wave"}
    # (`Biquad` is there a base class, here another one.)
    assert {n for n in said if not said[n]} >= {*MISSING, "Biquad"}
    for name in available:
        assert hasattr(fx.filter, name) or hasattr(fx.effect, name)
    for name in MISSING:
        assert not hasattr(fx.filter, name) and not hasattr(fx.effect, name)


def test_matrices(pytestconfig, tmp_path):
    """The script that times TorchFX's chains compares each with SciPy."""
    subprocess.run([sys.executable, pytestconfig.rootpath / "examples" / "tfx-matrices.py",
                    "--seconds", "0.1", "--channels", "1,2", "--rounds", "1", tmp_path],
                   check=True, capture_output=True)
    with open(tmp_path / "matrices.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["library"] == "gst_tfx"]
    assert [(row["matrix"], row["channels"]) for row in rows] == \
        [(matrix, n) for matrix in ("api", "iir", "fir") for n in "12"]
    assert all(float(row["error_db"]) < -120 for row in rows)


# ---- waves ------------------------------------------------------------------------


def test_a_row_of_effects_is_one_chain(wave):
    effects = [fx.HiButterworth(80), fx.Gain(2) + fx.Notch(50, 1), fx.Limiter(-6)]
    result = wave
    for effect in effects:
        result = result | effect
    text = "HiButterworth(80) | Gain(2) + Notch(50, q=1) | Limiter(-6)"
    assert np.array_equal(result.ys, fx.Chain(text, RATE, 2, dtype=np.float64)(wave.ys))
    # Effects after a read of the samples take those.
    assert np.array_equal((result | fx.Gain(0.5)).ys, result.ys * 0.5)
    assert (wave | "Mix([[0.5, 0.5]])  # mono" | "Gain(2)").channels() == 1


def test_errors_come_at_the_operator(wave):
    with pytest.raises(fx.ChainError, match="did you mean 'Gain'"):
        wave | "Gian(2)"
    with pytest.raises(fx.ChainError, match="but the sample rate of the stream is 48000"):
        wave | fx.LoButterworth(1000, fs=44100)
    with pytest.raises(TypeError):
        wave | np.abs
    with pytest.raises(ValueError, match="shape"):
        fx.Wave(noise(2, 2, 2), RATE)
    with pytest.raises(ValueError, match="must be 'cpu', 'cuda'"):
        wave.to("gpu")


def test_answers_of_a_wave(wave):
    wave = fx.Wave(wave.ys[0], RATE, metadata={"title": "one"})
    assert (wave.channels(), len(wave), wave.device) == (1, 4000, "cpu")
    assert wave.duration() == wave.duration("sec") == 4000 / RATE
    assert wave.duration("ms") == 4e6 / RATE
    assert wave.to("cpu") is wave
    half = wave.transform(np.multiply, 0.5) | fx.Gain(2)
    assert np.array_equal(half.ys, wave.ys) and half.metadata == {"title": "one"}
    wave.ys = np.ones(3, np.int16)
    assert (wave | fx.Gain(2)).ys.tolist() == [[2, 2, 2]]


def test_merge(wave):
    short = wave.transform(lambda ys: ys[:, :10])
    both = fx.Wave.merge([short, wave], split_channels=True)
    assert np.array_equal(both.ys[2:], wave.ys)
    assert np.array_equal(both.get_channel(1).ys[0, :10], wave.ys[1, :10])
    assert not both.ys[:2, 10:].any()
    total = fx.Wave.merge([short, wave]).ys
    assert np.array_equal(total[:, :10], 2 * wave.ys[:, :10])
    assert np.array_equal(total[:, 10:], wave.ys[:, 10:])
    for others in [], [wave.get_channel(0), wave], [wave, fx.Wave(wave.ys, 44100)]:
        with pytest.raises(ValueError, match="differ in sample rate"):
            fx.Wave.merge(others)


# ---- files ------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [None, 16, 24])
def test_a_saved_wave_can_be_read(tmp_path, reader, bits):
    ys = noise(2, 300)
    ys[:, :3] = [-3, 3, 1]  # clipped
    fx.Wave(ys, 44100.0).save(tmp_path / "new" / "a.wav", bits_per_sample=bits)
    top = 2 ** ((bits or 16) - 1)
    wave = fx.Wave.from_file(tmp_path / "new" / "a.wav")
    assert wave.fs == 44100 and wave.ys.dtype == np.float32
    assert wave.metadata == {"num_frames": 300, "num_channels": 2}
    wanted = np.clip(ys, -1, 1 - 1 / top)
    assert np.abs(wave.ys - wanted).max() <= 1 / top
    part = fx.Wave.from_file(str(tmp_path / "new" / "a.wav"), 10, 20)
    assert np.array_equal(part.ys, wave.ys[:, 10:30])
    rest = fx.Wave.from_file(tmp_path / "new" / "a.wav", frame_offset=290)
    assert np.array_equal(rest.ys, wave.ys[:, 290:])


def test_files_of_soundfile(tmp_path, reader, wave):
    path = tmp_path / "a.wav"
    for name, options in (("a.flac", {}), ("a.wav", {"bits_per_sample": 32}),
                          ("a.wav", {"encoding": "PCM_F"}), ("a", {"format": "FLAC"})):
        if reader == "plain":
            with pytest.raises(ValueError, match="needs the Python package soundfile"):
                wave.save(tmp_path / name, **options)
        else:
            wave.save(tmp_path / name, **options)
            ys = fx.Wave.from_file(tmp_path / name).ys
            assert np.abs(ys - wave.ys).max() < 1 / 32000
    if reader == "soundfile":
        wave.save(path, encoding="PCM_F", bits_per_sample=64)
        assert sys.modules["soundfile"].info(path).subtype == "DOUBLE"
        wave.save(path, encoding="PCM_U", bits_per_sample=8)
        assert sys.modules["soundfile"].info(path).subtype == "PCM_U8"


def test_files_that_cannot_be_read(tmp_path, reader):
    with pytest.raises(FileNotFoundError):
        fx.Wave.from_file(tmp_path / "no.wav")
    (tmp_path / "bad.wav").write_text("no sound")
    with pytest.raises(ValueError, match="bad.wav' cannot be read: "):
        fx.Wave.from_file(tmp_path / "bad.wav")
