# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Python package: arrays, streams, values, errors, threads."""

import functools
import gc
import inspect
import operator
import os
import pathlib
import pickle
import re
import subprocess
import sys
import threading
import tracemalloc
import warnings

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


def unaligned(x):
    """The same samples at an odd address."""
    y = np.ndarray(x.shape, x.dtype, bytearray(x.nbytes + 1), 1)
    y[...] = x
    return y


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("view", [
    lambda x: x, np.asfortranarray, lambda x: x[:, ::2], lambda x: x[:, ::-1],
    lambda x: x[::-1], lambda x: np.broadcast_to(x[:1], x.shape), unaligned])
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
    chain = fx.Chain("Limiter(-6)", RATE)
    assert np.array_equal(in_pieces(chain, x, 33), chain(x))


def test_no_frames():
    chain = fx.Chain(TEXT, RATE, 2)
    assert chain.process(np.empty((2, 0), np.float32)).shape == (2, 0)
    assert chain(np.empty((2, 0), np.float32)).shape == (2, 0)
    # Fewer frames than the latency.
    chain = fx.Chain("Limiter(-6)", RATE, 2)
    assert chain.flush().shape == (2, 0)
    x = noise(2, 10, dtype=np.float32)
    for n in 0, 10:
        assert chain.process(x[:, :n]).shape == (2, 0)
        assert np.array_equal(chain.flush(), chain(x[:, :n]))


@pytest.mark.parametrize("text", [TEXT, "Limiter(-6)", "Mix([[0, 1], [1, 0], [1, 1]])"])
def test_out(text):
    x = noise(2, 2000)
    chain = fx.Chain(text, RATE, 2, dtype=np.float64)
    expected = chain(x)
    for out in (np.empty_like(expected), np.empty_like(expected.T).T,
                np.empty_like(expected)[:, ::-1], unaligned(expected * 0)):
        assert chain(x, out=out) is out and np.array_equal(out, expected)
    for wrong, error in ((expected[:, 1:], ValueError), (expected[1:], ValueError),
                         (expected.astype("f4"), TypeError),
                         (np.broadcast_to(0.0, expected.shape), ValueError)):
        with pytest.raises(error):
            chain(x, out=wrong)


@pytest.mark.parametrize("source, target", [
    (np.s_[:, :-1], np.s_[:, :-1]), (np.s_[:, :-1], np.s_[:, 1:]),
    (np.s_[:, 1:], np.s_[:, :-1]), (np.s_[:, 1:], np.s_[:, :0:-1]),
    (np.s_[:, 1:], np.s_[::-1, 1:])])
def test_out_may_overlap_the_input(source, target):
    memory = noise(2, 100001)
    chain = fx.Chain(TEXT, RATE, 2, dtype=np.float64)
    expected = chain(memory[source].copy())
    chain(memory[source], out=memory[target])
    assert np.array_equal(memory[target], expected)


@pytest.mark.parametrize("layout", ["channels_first", "channels_last"])
@pytest.mark.parametrize("view", [lambda x: x, lambda x: x[:, ::2], lambda x: x.T])
def test_samples_are_not_copied(layout, view):
    """No memory but that of the output."""
    x = view(np.zeros((2, 2, 100000), np.float32)[0])
    channels = x.shape[0 if layout == "channels_first" else 1]
    if channels > 2:
        x = x.reshape(x.shape[::-1])
        channels = 2
    chain = fx.Chain(TEXT, RATE, channels, layout=layout)
    chain(x)
    tracemalloc.start()
    y = chain(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert y.nbytes <= peak < 1.1 * y.nbytes


@pytest.mark.parametrize("tail", [-1, -1e-3, float("nan")])
def test_wrong_tails(tail):
    chain = fx.Chain("Limiter(-6)", RATE, 2)
    for call in (lambda: chain(np.zeros((2, 100), np.float32), tail=tail),
                 lambda: chain.flush(tail)):
        with pytest.raises(ValueError, match="tail"):
            call()


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
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="30000"):
            fx.Chain("LoButterworth(30000) | LoButterworth(40000)", RATE)


def test_values_of_other_libraries():
    class Tensor:
        """As a tensor of PyTorch."""
        def __array__(self, *_):
            return np.array([1.0, 2.0])

        def tolist(self):
            return [1.0, 2.0]

    chain = fx.Chain("f=FIR([3, 4]) | g=Gain(1, clamp=False)", RATE)
    for name, value in (("f.b", np.array([1.0, 2.0])), ("g.gain", np.array(2.0)),
                        ("g.gain", np.float32(2)), ("g.clamp", np.True_), ("f.b", Tensor())):
        chain.set(name, value)
    assert str(chain) == "f=FIR([1, 2]) | g=Gain(2, clamp=True)"
    for value in np.array([1, 2], np.int16), Tensor():
        assert str(fx.Chain(fx.FIR(value), RATE)) == "FIR([1, 2])"
    assert str(fx.FIR(pathlib.Path("a.wav"))) == "FIR(b='a.wav')"


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
    for wrong in 3, "Gain(2)", x:
        with pytest.raises(TypeError):
            effect | wrong
    with pytest.raises(TypeError):
        fx.Gain()


def test_long_rows():
    for make, sign in ((operator.or_, "|"), (operator.add, "+")):
        left = functools.reduce(make, [fx.Gain(1)] * 1000)
        right = functools.reduce(lambda a, b: make(b, a), [fx.Gain(1)] * 1000)
        assert str(left) == str(right) == f" {sign} ".join(["Gain(gain=1)"] * 1000)
    assert str(fx.Gain(1) + (fx.Gain(2) | (fx.Gain(3) | fx.Gain(4)))) == \
        "Gain(gain=1) + (Gain(gain=2) | Gain(gain=3) | Gain(gain=4))"


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
    ys = fx.process_many(TEXT, (x.T for x in xs), RATE, threads=2, layout="channels_last")
    for x, y in zip(xs, ys):
        assert np.array_equal(y.T, fx.Chain(TEXT, RATE, len(x))(x))
    assert fx.process_many(TEXT, [], RATE) == []
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
    head, *rows = [line.split(",") for line in done.stdout.splitlines()]
    # The first columns of gst-tfx.
    assert head == ["frequency_hz", "gain_db", "phase_degrees"]
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


def test_a_value_is_set_during_a_block():
    """The other thread waits, and then its value ends the curve."""
    chain = fx.Chain("g=Gain(1)", RATE)
    chain.set("g.gain", np.linspace(1, 3, 20000))
    core = chain._core
    thread = threading.Thread(target=chain.set, args=("g.gain", 0.5))

    class Slow:
        def __getattr__(self, name):
            if name == "curve" and not thread.ident:
                thread.start()
                thread.join(0.2)
            return getattr(core, name)

    chain._core = Slow()
    x = np.ones(10000, np.float32)
    chain.process(x)
    thread.join()
    assert chain.process(x)[-1] == 0.5


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


def test_pickling():
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(fx.Chain(TEXT, RATE))
    effect = fx.Gain(2) | fx.FIR([1, 2]) + fx.Gain(3)
    assert str(pickle.loads(pickle.dumps(effect))) == str(effect)
    wave = fx.Wave(noise(2, 100), RATE, metadata={"title": "one"}) | effect
    other = pickle.loads(pickle.dumps(wave))
    assert np.array_equal(other.ys, wave.ys) and other.metadata == wave.metadata
    with pytest.raises(fx.ChainError) as caught:
        fx.Chain("Gain(", RATE)
    error = pickle.loads(pickle.dumps(caught.value))
    assert (str(error), error.column) == (str(caught.value), 5)


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
