# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Python package: arrays, streams, parameters, errors, threads."""

import gc
import inspect
import os
import pickle
import re
import subprocess
import sys
import threading

import numpy as np
import pytest
from scipy import signal
from scipy.io import wavfile

import gst_tfx as fx

RATE = 48000
TEXT = "HiButterworth(80, order=4) | eq=ParametricEQ(1000, q=2, gain=3)"


def noise(*shape, dtype=np.float64, seed=1):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def in_pieces(chain, x, size):
    parts = [chain.process(x[..., i:i + size])
             for i in range(0, x.shape[-1], size)]
    return np.concatenate(parts + [chain.flush()], axis=-1)


# ---- samples ----------------------------------------------------------------------


def test_equals_scipy():
    x = noise(2, 20000)
    y = fx.Chain("HiButterworth(80, order=4)", RATE, 2, dtype=np.float64)(x)
    sos = signal.butter(4, 80, "hp", fs=RATE, output="sos")
    assert np.abs(y - signal.sosfilt(sos, x)).max() < 1e-11


@pytest.mark.parametrize("text", [TEXT, "Limiter(-6) | Gain(0.5)",
                                  "FIR([0.25, 0.5, 0.25], delay=1)",
                                  "Mix([[1, 0], [0, 1], [1, -1]])"])
@pytest.mark.parametrize("size", [1, 333, 48000])
def test_any_split_gives_the_same(text, size):
    x = noise(2, 3000)
    chain = fx.Chain(text, RATE, 2, dtype=np.float64)
    whole = chain(x)
    assert whole.shape[1] == x.shape[1]
    assert np.array_equal(in_pieces(chain, x, size), whole)
    # flush() begins a new stream.
    assert np.array_equal(in_pieces(chain, x, size), whole)


def test_latency_is_left_out():
    x = np.zeros((1, 1000), np.float32)
    x[0, 500] = 0.25
    chain = fx.Chain("Limiter(-1)", RATE)
    assert chain.latency > 0
    assert np.array_equal(chain(x), x)


def test_tail():
    x = np.ones((1, 100), np.float32)
    chain = fx.Chain("Reverb(mix=1)", RATE)
    y = chain(x, tail=0.1)
    assert y.shape == (1, 100 + 4800)
    chain.process(x)
    assert np.array_equal(chain.flush(tail=0.1), y[:, 100:])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("view", [
    lambda x: x, np.asfortranarray, lambda x: x[:, ::2], lambda x: x[:, ::-1],
    lambda x: x[::-1]])
def test_strides(dtype, view):
    x = view(noise(2, 500, dtype=dtype))
    first = fx.Chain(TEXT, RATE, 2, dtype=dtype)
    last = fx.Chain(TEXT, RATE, 2, dtype=dtype, layout="channels_last")
    expected = first(np.ascontiguousarray(x))
    assert np.array_equal(first(x), expected)
    assert np.array_equal(last(x.T).T, expected)


def test_one_dimension():
    x = noise(100, dtype=np.float32)
    chain = fx.Chain("Gain(2)", RATE)
    assert np.array_equal(chain(x), 2 * x)
    assert chain(x).ndim == 1


def test_no_frames():
    chain = fx.Chain(TEXT, RATE, 2)
    assert chain.process(np.empty((2, 0), np.float32)).shape == (2, 0)
    assert chain(np.empty((2, 0), np.float32)).shape == (2, 0)


def test_the_input_is_not_changed():
    x = noise(2, 100)
    copy = x.copy()
    x.flags.writeable = False
    fx.Chain(TEXT, RATE, 2, dtype=np.float64)(x)
    assert np.array_equal(x, copy)


@pytest.mark.parametrize("x, error", [
    (np.zeros((3, 10), np.float32), ValueError),
    (np.zeros((2, 10, 1), np.float32), ValueError),
    (np.zeros(10, np.float32), ValueError),
    (np.zeros((2, 10)), TypeError),
    (np.zeros((2, 10), np.int16), TypeError),
    (np.zeros((2, 10), ">f4"), TypeError),
    ("text", (TypeError, ValueError)),
    (None, (TypeError, ValueError))])
def test_wrong_arrays(x, error):
    chain = fx.Chain(TEXT, RATE, 2)
    with pytest.raises(error):
        chain.process(x)
    with pytest.raises(error):
        chain(x)


# ---- parameters -------------------------------------------------------------------


def test_set_ramps():
    chain = fx.Chain("g=Gain(1)", RATE, dtype=np.float64)
    one = np.ones((1, 480))
    chain.process(one)
    chain.set("g.gain", 2)
    y = np.concatenate([chain.process(one), chain.process(one)], axis=1)[0]
    assert np.abs(np.diff(y)).max() < 0.01
    assert y[0] < 1.01 and y[-1] == 2
    assert str(chain) == "g=Gain(2)"


@pytest.mark.parametrize("size", [1, 100, 777, 48000])
def test_curve(size):
    curve = np.linspace(1, 3, 48000)
    x = noise(2, 48000)
    chain = fx.Chain("g=Gain(1)", RATE, 2, dtype=np.float64)
    chain.set("g.gain", curve)
    y = np.concatenate([chain.process(x[:, i:i + size])
                        for i in range(0, 4 * size if size == 1 else 48000, size)],
                       axis=1)
    n = y.shape[1]
    # The last point is behind the end, and has the last value.
    assert np.abs(y - x[:, :n] * curve[:n]).max() < 1e-3
    assert size < 48000 or np.abs(y - x * curve)[:, :-32].max() < 1e-12


def test_curve_goes_on_after_reset():
    chain = fx.Chain("g=Gain(1)", RATE, dtype=np.float64)
    chain.set("g.gain", np.linspace(1, 3, 4000))
    chain.process(np.ones((1, 3000)))
    chain.reset()
    y = chain.process(np.ones((1, 3000)))[0]
    assert np.abs(y[:1000] - np.linspace(1, 3, 4000)[3000:]).max() < 0.02
    assert y[-1] == 3


def test_short_curves_arrive():
    x = noise(1, 5000)

    def play(size):
        chain = fx.Chain("c=LoudnessContour(50)", RATE, dtype=np.float64)
        chain.process(x[:, :5])
        chain.set("c.phon", np.linspace(50, 60, 10))
        return np.concatenate([chain.process(x[:, i:i + size])
                               for i in range(0, 5000, size)], axis=1)

    assert np.allclose(play(5000), play(5), rtol=0, atol=1e-12)


def test_curves_of_frequencies_do_not_depend_on_the_split():
    curve = np.geomspace(200, 5000, 40000)
    x = noise(1, 50000)

    def play(size):
        chain = fx.Chain("f=LoButterworth(1000)", RATE, dtype=np.float64)
        chain.set("f.cutoff", curve)
        return np.concatenate([chain.process(x[:, i:i + size])
                               for i in range(0, 50000, size)], axis=1)

    assert np.array_equal(play(50000), play(640))


@pytest.mark.parametrize("name, value, error", [
    ("gain", 1, KeyError), ("eq.gian", 1, KeyError), ("bass.gain", 1, KeyError),
    ("eq.gain", "loud", fx.ChainError), ("eq.frequency", -1, fx.ChainError),
    ("eq.gain", [1, 2], fx.ChainError), ("eq.gain", object(), TypeError),
    ("eq.gain", np.array([1, np.nan]), ValueError)])
def test_wrong_parameters(name, value, error):
    chain = fx.Chain(TEXT, RATE, 2)
    with pytest.raises(error):
        chain.set(name, value)
    assert str(chain) == TEXT


def test_a_value_that_the_rate_does_not_allow_warns():
    with pytest.warns(UserWarning, match="30000"):
        fx.Chain("LoButterworth(30000)", RATE)


# ---- texts ------------------------------------------------------------------------


def test_errors_have_a_place():
    with pytest.raises(fx.ChainError) as caught:
        fx.Chain("Gain(2) | LoButterwort(100)", RATE)
    error = caught.value
    assert isinstance(error, ValueError)
    assert (error.line, error.column) == (1, 11)
    assert "LoButterworth" in error.message
    assert str(error).splitlines()[-1].index("^") == 2 + 10


@pytest.mark.parametrize("arguments, error", [
    ((TEXT, 0), ValueError), ((TEXT, -1), ValueError),
    ((TEXT, RATE, 0), ValueError), ((TEXT, RATE, 100000), ValueError),
    ((TEXT, RATE, 2, np.int16), TypeError)])
def test_wrong_streams(arguments, error):
    with pytest.raises(error):
        fx.Chain(*arguments)


def test_response():
    f = np.geomspace(10, 20000, 50)
    sos = signal.butter(4, 80, "hp", fs=RATE, output="sos")
    chain = fx.Chain("HiButterworth(80, order=4) | Limiter(-1)", RATE, 2)
    assert np.abs(chain.response(f) -
                  signal.sosfreqz(sos, f, fs=RATE)[1]).max() < 1e-9
    mix = fx.Chain("Mix([[1, 0], [0, 1], [1, -1]])", RATE, 2)
    assert mix.response([100.0], 1, 2)[0] == -1
    with pytest.raises(IndexError):
        mix.response([100.0], 2)


def test_stages():
    name, klass, values = fx.Chain(TEXT, RATE).stages[1]
    assert (name, klass) == ("eq", "ParametricEQ")
    assert (values["frequency"], values["q"], values["gain"]) == (1000, 2, 3)


def test_from_file(tmp_path):
    path = tmp_path / "chain.txt"
    path.write_text(TEXT)
    assert str(fx.Chain.from_file(path, RATE, 2)) == TEXT


# ---- classes ----------------------------------------------------------------------


def test_operators():
    effect = (fx.LoButterworth(1000) | fx.Gain(2)) + fx.HiButterworth(80, order=4)
    x = noise(2, 1000)
    wave = fx.Wave(x, RATE) | effect
    text = "(LoButterworth(1000) | Gain(2)) + HiButterworth(80, order=4)"
    assert np.array_equal(wave.ys, fx.Chain(text, RATE, 2, dtype=np.float64)(x))
    with pytest.raises(TypeError):
        effect | 3
    with pytest.raises(TypeError):
        fx.Gain()


def test_chains_as_arguments():
    effect = fx.Multiband([200, 2000], fx.Gain(2) | fx.Limiter(), None, fx.Gain(3))
    assert str(fx.Chain(effect, RATE, 2)) == \
        "Multiband([200, 2000], Gain(2) | Limiter(), None, Gain(3))"
    effect = fx.Compressor(-30, key_filter=fx.HiButterworth(200))
    assert str(fx.Chain(effect, RATE)) == \
        "Compressor(threshold=-30, key_filter=HiButterworth(200))"
    effect = fx.LinearPhase(fx.Notch(50, 1) | fx.Gain(3), taps=31)
    chain = fx.Chain(effect, RATE, 2)
    assert str(chain) == "LinearPhase(Notch(50, q=1) | Gain(3), taps=31)"
    assert chain.latency == 15


def test_every_class_has_a_signature_and_an_example():
    names = [entry[0] for entry in fx.catalogue()]
    assert len(names) > 50
    for name, _, example, *_ in fx.catalogue():
        klass = getattr(fx, name)
        assert isinstance(inspect.signature(klass), inspect.Signature)
        assert klass.__doc__.count("\n") >= 2
        if not re.search(r"\.(wav|sofa)'", example):
            # The same text as a Python expression.
            value = eval(example, {n: getattr(fx, n) for n in names})
            plain, made = fx.Chain(example, RATE, 2), fx.Chain(value, RATE, 2)
            assert str(plain) == str(made)


# ---- many signals, and the command ------------------------------------------------


def test_process_many():
    xs = [noise(1 + i % 2, 1000 + i, dtype=np.float32, seed=i) for i in range(20)]
    ys = fx.process_many(TEXT, xs, RATE)
    for x, y in zip(xs, ys):
        assert np.array_equal(y, fx.Chain(TEXT, RATE, len(x))(x))
    with pytest.raises(fx.ChainError):
        fx.process_many("Gain(", xs, RATE)


def test_page(pytestconfig, tmp_path, monkeypatch):
    """The blocks of docs/python.md, one after the other, with the files that they
    name."""
    monkeypatch.chdir(tmp_path)
    for folder in "rooms", "presets":
        os.mkdir(folder)
    wavfile.write("room.wav", RATE, noise(100, 2))
    wavfile.write("rooms/brir.wav", RATE, noise(100, 4))
    (tmp_path / "target.txt").write_text("20 0\n20000 -6\n")
    (tmp_path / "presets" / "live.txt").write_text("FIR('../room.wav')")
    text = (pytestconfig.rootpath / "docs" / "python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)
    names = {}
    assert len(blocks) >= 7
    for block in blocks:
        exec(block, names)


def run_command(*arguments):
    return subprocess.run([sys.executable, "-m", "gst_tfx", *arguments],
                          capture_output=True, text=True)


def test_command(tmp_path):
    done = run_command("check", TEXT)
    assert done.returncode == 0 and done.stdout.splitlines()[0] == TEXT
    path = tmp_path / "chain.txt"
    path.write_text("Gain(2)")
    done = run_command("response", f"@{path}", "--points", "3")
    rows = [line.split(",") for line in done.stdout.splitlines()[1:]]
    assert [float(row[1]) for row in rows] == pytest.approx([6.0206] * 3, abs=1e-4)


@pytest.mark.parametrize("command, before", [
    ("check", ""), ("response", "error: the chain: ")])
def test_errors_of_the_command(command, before):
    done = run_command(command, "Gain(2) | Gain('loud')")
    # As gst-tfx prints them.
    assert done.stderr == before + (
        "line 1, column 16: gain of Gain must be a number, not a string\n"
        "  Gain(2) | Gain('loud')\n"
        "                 ^\n")
    assert done.returncode == 2 and done.stdout == ""
    done = run_command(command, "@no.txt")
    assert done.stderr == \
        "error: cannot read the chain from 'no.txt': No such file or directory\n"
    assert done.returncode == 2
    done = run_command(command, "LoButterworth(30000)")
    assert done.stderr.startswith("warning: cutoff of stage") and done.returncode == 0


# ---- the interpreter --------------------------------------------------------------


def test_threads_on_one_chain():
    chain = fx.Chain("Gain(2)", RATE)
    x = noise(1, 10000, dtype=np.float32)
    failures = []

    def play():
        for _ in range(100):
            if not np.array_equal(chain.process(x), 2 * x):
                failures.append(1)

    threads = [threading.Thread(target=play) for _ in range(4)]
    for t in threads:
        t.start()
    for _ in range(100):
        chain.set("gain0.gain", 2)
    for t in threads:
        t.join()
    assert not failures


def test_the_interpreter_is_free_while_a_chain_runs():
    """Another Python thread sees an output that has begun and has not ended."""
    chain = fx.Chain(" | ".join(["HiButterworth(50, order=8)"] * 20), RATE, 2)
    x = noise(RATE * 60, 2, dtype=np.float32)
    y = np.zeros_like(x)
    thread = threading.Thread(target=chain._core.run, args=(x, y))
    is_seen = False
    thread.start()
    while thread.is_alive():
        is_seen = is_seen or (y[0].any() and not y[-1].any())
    assert is_seen and y[-1].any()


def test_two_chains_in_two_threads():
    texts = [TEXT, "Limiter(-6) | Reverb()"]
    x = noise(2, 20000)
    wanted = [fx.Chain(t, RATE, 2, dtype=np.float64)(x) for t in texts]
    start = threading.Barrier(2)
    found = [None, None]

    def play(i):
        chain = fx.Chain(texts[i], RATE, 2, dtype=np.float64)
        start.wait()
        found[i] = in_pieces(chain, x, 100)

    threads = [threading.Thread(target=play, args=(i,)) for i in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(np.array_equal(f, w) for f, w in zip(found, wanted))


def test_no_leak(tmp_path):
    wavfile.write(tmp_path / "room.wav", RATE, noise(2000, 2))

    def resident():
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def make():
        chain = fx.Chain("Reverb() | f=HiButterworth(80) | FIR('room.wav') | Limiter(-1)",
                         RATE, 2, folder=tmp_path)
        chain.process(np.ones((2, 100), np.float32))
        chain.set("f.cutoff", 100)
        for text in "Gain(", "FIR('no.wav')", "FIR('room.wav', channel=2)":
            with pytest.raises(fx.ChainError):
                fx.Chain(text, RATE, 2, folder=tmp_path)
        return chain

    for _ in range(100):
        make()
    before = resident()
    kept = [make() for _ in range(50)]
    size = (resident() - before) / len(kept)
    del kept
    before, blocks = resident(), sys.getallocatedblocks()
    for _ in range(1000):
        make()
    # Less than one object of Python in two chains, and than one chain in fifty.
    growth = resident() - before
    assert sys.getallocatedblocks() - blocks < 500
    assert growth < 20 * size


def test_pickling_is_refused():
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(fx.Chain(TEXT, RATE))


def test_fork():
    chain = fx.Chain(TEXT + " | Reverb()", RATE, 2)
    x = noise(2, 500, dtype=np.float32)
    chain.process(x)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        # No exception may run the parent's tests here.
        try:
            os.write(writing, chain.process(x).tobytes())
            os.write(writing, fx.Chain(TEXT, RATE, 2)(x).tobytes())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        found = pipe.read()
    os.waitpid(child, 0)
    # Both continue from the state at the fork, and the child makes chains.
    assert found == chain.process(x).tobytes() + fx.Chain(TEXT, RATE, 2)(x).tobytes()
