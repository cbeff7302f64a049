# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Python package on a CUDA device, or on the stand-in for its driver: arrays in
device memory by both protocols, streams, memory, errors, batches."""

import copy
import ctypes
import gc
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import gst_tfx as fx

RATE = 48000
TEXT = "f=HiButterworth(80, order=4) | g=Gain(0.5)"
LATE = "HiButterworth(80) | Limiter(-6)"
try:
    cuda = ctypes.CDLL("libcuda.so.1")
except OSError:
    pytest.skip("there is no driver", allow_module_level=True)


def check(result):
    assert result == 0, result


class Card:
    """The primary context of a device, current within `with`."""

    def __init__(self, ordinal):
        self.ordinal, self.context = ordinal, ctypes.c_void_p()
        check(cuda.cuInit(0))
        check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(self.context), ordinal))

    def __enter__(self):
        check(cuda.cuCtxPushCurrent_v2(self.context))

    def __exit__(self, *_):
        check(cuda.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p())))


class Tensor(ctypes.Structure):
    """DLManagedTensor."""


Free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
Tensor._fields_ = [
    ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
    ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
    ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
    ("shape", ctypes.POINTER(ctypes.c_int64)),
    ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
    ("context", ctypes.c_void_p), ("free", Free)]

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.restype = ctypes.c_void_p
get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]

lent = {}  # address of a Tensor: its Array and memory


@Free
def take_back(tensor):
    del lent[tensor]


class Array:
    """Samples on a device, or in the host's memory, as a library of arrays has them.

    stream: the samples are written on it, and may come late."""

    def __init__(self, values, ordinal=0, stream=None, base=None):
        base = values if base is None else base
        self.card, self.stream = Card(ordinal), stream
        self.shape, self.dtype = values.shape, values.dtype
        self.strides = values.strides
        memory = ctypes.c_uint64()
        with self.card:
            check(cuda.cuMemAlloc_v2(ctypes.byref(memory),
                                     ctypes.c_size_t(max(base.nbytes, 1))))
            if base.nbytes:
                check(cuda.cuMemcpyHtoDAsync_v2(
                    memory, ctypes.c_void_p(base.ctypes.data),
                    ctypes.c_size_t(base.nbytes), stream))
            if not stream:
                check(cuda.cuStreamSynchronize(None))
        self.memory = memory.value
        self.pointer = self.memory + values.ctypes.data - base.ctypes.data

    def __del__(self):
        with self.card:
            check(cuda.cuMemFree_v2(ctypes.c_uint64(self.memory)))


class Lender(Array):
    """By DLPack."""

    kind = 2

    def __dlpack_device__(self):
        return self.kind, self.card.ordinal

    def __dlpack__(self, *, stream=None):
        self.asked = stream
        if self.stream:
            event = ctypes.c_void_p()
            with self.card:
                check(cuda.cuEventCreate(ctypes.byref(event), 2))
                check(cuda.cuEventRecord(event, self.stream))
                check(cuda.cuStreamWaitEvent(ctypes.c_void_p(stream), event, 0))
        n = len(self.shape)
        shape = (ctypes.c_int64 * n)(*self.shape)
        strides = (ctypes.c_int64 * n)(*(s // self.dtype.itemsize
                                         for s in self.strides))
        tensor = Tensor(self.pointer - 8, self.kind, self.card.ordinal, n, 2,
                        8 * self.dtype.itemsize, 1, shape, strides, 8, None, take_back)
        lent[ctypes.addressof(tensor)] = self, tensor, shape, strides
        return new_capsule(ctypes.addressof(tensor), b"dltensor", None)


class Shower(Array):
    """By the CUDA array interface."""

    @property
    def __cuda_array_interface__(self):
        return {"version": 3, "data": (self.pointer, False), "shape": self.shape,
                "strides": self.strides, "typestr": self.dtype.str,
                "stream": self.stream and self.stream.value}


def as_host(pointer, shape, strides, dtype):
    """The samples at an address on the current device."""
    values = np.zeros(shape, dtype)
    if values.size:
        span = sum((n - 1) * s for n, s in zip(shape, strides)) + dtype.itemsize
        copy = np.empty(span, np.uint8)
        check(cuda.cuMemcpyDtoH_v2(ctypes.c_void_p(copy.ctypes.data),
                                   ctypes.c_uint64(pointer), ctypes.c_size_t(span)))
        values[...] = np.ndarray(shape, dtype, copy, 0, strides)
    return values


def fetch(y):
    """Samples of an array, by both protocols, which have to agree."""
    shown = y.__cuda_array_interface__
    dtype, shape = np.dtype(shown["typestr"]), shown["shape"]
    strides = shown["strides"] or tuple(
        dtype.itemsize * int(np.prod(shape[i + 1:])) for i in range(len(shape)))
    kind, ordinal = y.__dlpack_device__()
    with Card(ordinal):
        values = as_host(shown["data"][0], shape, strides, dtype)
    capsule = y.__dlpack__(stream=1)
    tensor = Tensor.from_address(get_pointer(capsule, b"dltensor"))
    assert (tensor.device_type, tensor.device_id) == (kind, ordinal) == (2, ordinal)
    assert (tensor.code, tensor.bits, tensor.lanes) == (2, 8 * dtype.itemsize, 1)
    assert tuple(tensor.shape[:tensor.ndim]) == shape
    if values.size:
        assert tensor.data + tensor.byte_offset == shown["data"][0]
        # NULL: without gaps.
        assert bool(tensor.strides) or shown["strides"] is None
        assert not tensor.strides or all(
            n == 1 or tensor.strides[i] * dtype.itemsize == strides[i]
            for i, n in enumerate(shape))
    return values


def noise(*shape, dtype=np.float32, seed=1):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def is_close(y, expected):
    """To rounding."""
    bound = 3e-6 if expected.dtype == np.float32 else 1e-11
    return y.dtype == expected.dtype and y.shape == expected.shape and \
        (y.size == 0 or np.abs(y - expected).max() <= bound * np.abs(expected).max())


def is_alive(pointer):
    kind = ctypes.c_uint()
    with Card(0):
        return cuda.cuPointerGetAttribute(ctypes.byref(kind), 2,
                                          ctypes.c_uint64(pointer)) == 0


@pytest.fixture(autouse=True)
def report(tmp_path, monkeypatch):
    """The stand-in reports faults of its caller."""
    path = tmp_path / "report"
    monkeypatch.setenv("TFX_STANDIN_REPORT", str(path))
    yield path
    gc.collect()
    assert not lent
    assert not path.exists(), path.read_text()


@pytest.fixture
def stream(monkeypatch):
    """A stream whose work is done only when something waits for it."""
    monkeypatch.setenv("TFX_STANDIN_ASYNC", "late")
    handle = ctypes.c_void_p()
    with Card(0):
        check(cuda.cuStreamCreate(ctypes.byref(handle), 1))
    yield handle
    with Card(0):
        check(cuda.cuStreamSynchronize(handle))
        check(cuda.cuStreamDestroy_v2(handle))


# ---- samples ----------------------------------------------------------------------


@pytest.mark.parametrize("text", [
    TEXT, LATE, "FIR([0.25, 0.5, 0.25], delay=1) | Compressor(-20)",
    "Mix([[1, 0], [0, 1], [1, -1]])", "Mix([[0.5, 0.5]]) | LoButterworth(1000)",
    "Width(1.5)"])
@pytest.mark.parametrize("layout", ["channels_first", "channels_last"])
@pytest.mark.parametrize("dtype, kind", [(np.float32, Lender), (np.float64, Shower)])
def test_equals_the_cpu(text, layout, dtype, kind):
    x = noise(2, 5000, dtype=dtype)
    x = x if layout == "channels_first" else np.ascontiguousarray(x.T)
    expected = fx.Chain(text, RATE, 2, dtype, layout, device="cpu")(x)
    chain = fx.Chain(text, RATE, 2, dtype, layout)
    y = chain(kind(x))
    assert isinstance(y, fx.DeviceArray)
    assert (y.shape, y.dtype, y.device) == (expected.shape, expected.dtype, "cuda:0")
    assert is_close(fetch(y), expected)
    stats = chain.stats
    assert stats["device"] == "cuda" and stats["launches"] > 0
    assert stats["frames"] >= 5000
    # Nothing has been moved between the host and the device.
    assert stats["uploads"] == stats["downloads"] == 0


@pytest.mark.parametrize("text", [TEXT, LATE])
def test_stream_of_blocks(text):
    x = noise(2, 12800)
    expected = fx.Chain(text, RATE, 2)(x)
    chain = fx.Chain(text, RATE, 2, device="cuda")
    blocks = [fetch(chain.process(Lender(x[:, i:i + 128].copy())))
              for i in range(0, 12800, 128)]
    y = np.concatenate(blocks + [fetch(chain.flush())], axis=1)
    assert np.isfinite(y).all()
    assert is_close(y, expected)
    assert chain.stats["dispatches"] >= 100


def test_an_output_is_an_input():
    x = noise(2, 3000)
    first, second = fx.Chain(LATE, RATE, 2), fx.Chain(TEXT, RATE, 2)
    expected = second(first(x))
    # The first frames of the memory are left out.
    y = second(first(Lender(x)))
    assert is_close(fetch(y), expected)


@pytest.mark.parametrize("layout", ["channels_first", "channels_last"])
def test_padded_strides(layout):
    x = noise(4, 3000)
    padded = x[1:3, 100:2100]
    if layout == "channels_last":
        x = np.ascontiguousarray(x.T)
        padded = x[100:2100, 1:3]
    chain = fx.Chain(TEXT, RATE, 2, layout=layout)
    expected = chain(padded)
    assert is_close(fetch(chain(Lender(padded, base=x))), expected)


@pytest.mark.parametrize("text", [TEXT, LATE, "Mix([[1, 0], [0, 1], [1, -1]])"])
@pytest.mark.parametrize("kind", [Lender, Shower])
def test_out(text, kind):
    x = noise(2, 3000)
    chain = fx.Chain(text, RATE, 2)
    expected = chain(x)
    out = kind(np.zeros_like(expected))
    assert chain(kind(x), out=out) is out
    with out.card:
        y = as_host(out.pointer, out.shape, out.strides, out.dtype)
    assert is_close(y, expected)
    y = np.zeros_like(expected)
    assert chain(x, out=y) is y and np.array_equal(y, expected)
    n = 3000 - chain.latency
    out = kind(np.zeros_like(expected[:, :n]))
    assert chain.process(kind(x), out=out) is out
    with out.card:
        y = as_host(out.pointer, out.shape, out.strides, out.dtype)
    assert is_close(y, expected[:, :n])


def test_wrong_out():
    chain = fx.Chain(TEXT, RATE, 2)
    x = noise(2, 100)
    for out in (np.zeros_like(x), Lender(x[:, :99].copy())):
        with pytest.raises(ValueError, match="out has"):
            chain(Lender(x), out=out)
    with pytest.raises(ValueError, match="out has"):
        chain(x, out=Lender(x))


def test_one_dimension_and_tail():
    x = noise(1000)
    chain = fx.Chain("Reverb(mix=1)", RATE)
    expected = chain(x, tail=0.1)
    y = fetch(chain(Lender(x), tail=0.1))
    assert y.shape == (5800,) and is_close(y, expected)
    y = [fetch(y) for y in (chain.process(Lender(x)), chain.flush(tail=0.1))]
    assert is_close(np.concatenate(y), expected)


@pytest.mark.parametrize("source, target", [(0, 0), (0, 1), (1, 0)])
def test_out_may_overlap_the_input(source, target):
    class Part(Lender):
        def __init__(self, whole, first):
            self.whole, self.card, self.stream = whole, whole.card, None
            self.shape, self.dtype, self.strides = (2, 20000), whole.dtype, whole.strides
            self.pointer = whole.pointer + 4 * first

        def __del__(self):
            pass

    x = noise(2, 20001)
    chain = fx.Chain(TEXT, RATE, 2)
    expected = chain(x[:, source:][:, :20000])
    whole = Lender(x)
    out = Part(whole, target)
    chain(Part(whole, source), out=out)
    with out.card:
        y = as_host(out.pointer, out.shape, out.strides, out.dtype)
    assert is_close(y, expected)


@pytest.mark.parametrize("kind", [Lender, Shower])
def test_no_frames(kind):
    x = kind(np.empty((2, 0), np.float32))
    for text in (TEXT, LATE):
        chain = fx.Chain(text, RATE, 2)
        assert fetch(chain.process(x)).shape == (2, 0)
        assert fetch(chain(x)).shape == (2, 0)


def test_host_arrays():
    """device="cuda" with samples in host memory."""
    for x in (noise(2, 5000), noise(2, 100)):
        chain = fx.Chain(LATE, RATE, 2, device="cuda")
        y = chain(x)
        assert isinstance(y, np.ndarray)
        assert is_close(y, fx.Chain(LATE, RATE, 2)(x))
        assert chain.stats["device"] == "cuda"


def test_wave():
    x = noise(2, 5000)
    wave = fx.Wave(x, RATE)
    assert wave.to("cuda") is wave and wave.device == "cuda"
    result = wave | fx.HiButterworth(80) | fx.Limiter(-6)
    chain = result._chain
    assert is_close(result.ys, fx.Chain(LATE, RATE, 2)(x))
    assert chain.stats["device"] == "cuda" and result.device == "cuda"
    wave.device = "cpu"
    chain = (wave | fx.Gain(2))._chain
    chain(x)
    assert chain.stats["device"] == "cpu"
    with pytest.raises(RuntimeError, match="there is no CUDA device 7"):
        wave.to("cuda:7")
    assert wave.device == "cpu"


def test_host_arrays_by_dlpack():
    class Host(Lender):
        kind = 1

        def __init__(self, values):
            self.card, self.stream, self.values = Card(0), None, values
            self.shape, self.dtype, self.strides = \
                values.shape, values.dtype, values.strides
            self.pointer = values.ctypes.data

        def __dlpack_device__(self):
            return 1, 0

        def __del__(self):
            pass

    x = noise(2, 500)
    chain = fx.Chain(TEXT, RATE, 2)
    assert np.array_equal(chain(Host(x)), chain(x))
    assert chain.stats["device"] == "cpu"


def test_a_stream_moves_between_memories():
    x = noise(2, 4000)
    chain = fx.Chain(TEXT, RATE, 2)
    expected = chain(x)
    chain = fx.Chain(TEXT, RATE, 2)
    y = [chain.process(x[:, :1000]), fetch(chain.process(Lender(x[:, 1000:2000].copy()))),
         fetch(chain.process(Lender(x[:, 2000:3000].copy(), ordinal=1))),
         chain.process(x[:, 3000:])]
    assert is_close(np.concatenate(y, axis=1), expected)


# ---- streams and memory -----------------------------------------------------------


@pytest.mark.parametrize("kind", [Lender, Shower])
@pytest.mark.parametrize("text", [TEXT, LATE])
def test_the_work_of_the_stream_comes_first(kind, text, stream):
    x = noise(2, 2000)
    chain = fx.Chain(text, RATE, 2)
    expected = chain(x)
    y = chain(kind(x, stream=stream))
    # The output is complete.
    assert is_close(fetch(y), expected)


def test_the_memory_lives_as_long_as_its_arrays():
    x = noise(2, 1000)
    chain = fx.Chain(LATE, RATE, 2)
    expected = chain(x)
    source = Lender(x)
    y = chain(source)
    pointer = y.__cuda_array_interface__["data"][0]
    gc.collect()
    assert not lent  # the input was given back
    freed = source.memory
    del source
    assert not is_alive(freed)
    del chain
    assert is_close(fetch(y), expected)
    capsule = y.__dlpack__()
    del y
    gc.collect()
    assert is_alive(pointer)
    tensor = Tensor.from_address(get_pointer(capsule, b"dltensor"))
    # A consumer renames it.
    ctypes.pythonapi.PyCapsule_SetName(ctypes.py_object(capsule), b"used_dltensor")
    thread = threading.Thread(target=tensor.free, args=(ctypes.addressof(tensor),))
    thread.start()
    thread.join()
    gc.collect()
    assert not is_alive(pointer)


def test_an_unused_capsule_frees_its_memory():
    y = fx.Chain(TEXT, RATE, 2)(Lender(noise(2, 1000)))
    pointer = y.__cuda_array_interface__["data"][0]
    capsule = y.__dlpack__()
    del y
    assert is_alive(pointer)
    del capsule
    gc.collect()
    assert not is_alive(pointer)


def test_dlpack_options():
    y = fx.Chain(TEXT, RATE, 2)(Lender(noise(2, 100)))
    y.__dlpack__(stream=2, max_version=(1, 0), dl_device=(2, 0), copy=False)
    for options in ({"copy": True}, {"dl_device": (1, 0)}):
        with pytest.raises(BufferError):
            y.__dlpack__(**options)
    for copy_to_host in np.asarray, pickle.dumps, copy.deepcopy:
        with pytest.raises(TypeError, match="implicitly"):
            copy_to_host(y)
    assert repr(y) == "DeviceArray(shape=(2, 100), dtype=float32, cuda:0)"


# ---- changes ----------------------------------------------------------------------


@pytest.mark.parametrize("name, value", [
    ("g.gain", 2), ("f.cutoff", 1000), ("f.order", 6),
    ("g.gain", np.linspace(0.5, 3, 9000)), ("f.cutoff", np.geomspace(80, 3000, 9000))])
def test_changes_while_playing(name, value):
    x = noise(2, 40000)

    def play(make):
        chain = fx.Chain(TEXT, RATE, 2)
        y = []
        for i in range(0, 40000, 5000):
            if i == 10000:
                chain.set(name, value)
            y.append(chain.process(make(x[:, i:i + 5000].copy())))
        return y, chain.stats

    expected, _ = play(np.asarray)
    y, stats = play(Lender)
    assert is_close(np.concatenate([fetch(part) for part in y], axis=1),
                    np.concatenate(expected, axis=1))
    # The CPU ran the change, and the device went on.
    assert stats["uploads"] == stats["downloads"] > 0
    assert stats["device"] == "cuda"


def test_a_class_that_no_device_runs():
    x = noise(2, 40000)
    chain = fx.Chain("Denoise() | Gain(2)", RATE, 2)
    expected = chain(x)
    assert is_close(fetch(chain(Lender(x))), expected)
    assert chain.stats["device"] == "cpu" and chain.stats["uploads"] > 2


# ---- batches ----------------------------------------------------------------------


@pytest.mark.parametrize("text, is_joined", [
    (LATE, True), ("(LoButterworth(500) + Gain(0.5)) | Compressor(-20)", True),
    ("Compressor(-20, link=True)", False), ("Width(1.5)", False),
    ("ch[0]: Gain(2)", False), ("Delay(100)", False)])
@pytest.mark.parametrize("layout", ["channels_first", "channels_last"])
def test_process_many(text, is_joined, layout):
    xs = [noise(2, 1000 if i % 3 else 500, seed=i) for i in range(8)]
    if layout == "channels_last":
        xs = [np.ascontiguousarray(x.T) for x in xs]
    expected = fx.process_many(text, xs, RATE, tail=0.01, layout=layout)
    ys = fx.process_many(text, [Lender(x) for x in xs], RATE, tail=0.01, layout=layout)
    for y, e in zip(ys, expected):
        assert is_close(fetch(y), e)
    places = [y.__cuda_array_interface__["data"][0] for y in ys]
    frames = 1480 + fx.Chain(text, RATE, 2).latency
    assert (places[2] - places[1] == 2 * 4 * frames) == is_joined
    ys = fx.process_many(text, xs, RATE, tail=0.01, layout=layout, device="cuda")
    for y, e in zip(ys, expected):
        assert isinstance(y, np.ndarray) and is_close(y, e)


def test_process_many_in_one_dimension():
    xs = [noise(700, seed=i) for i in range(3)]
    ys = fx.process_many(LATE, [Shower(x) for x in xs], RATE)
    for x, y in zip(xs, ys):
        assert is_close(fetch(y), fx.Chain(LATE, RATE)(x))


# ---- errors -----------------------------------------------------------------------


@pytest.mark.parametrize("device, message", [
    ("cpu", "samples are on cuda:1, but the chain is for cpu"),
    ("cuda", "samples are on cuda:1, but the chain is for cuda:0")])
def test_wrong_device(device, message):
    chain = fx.Chain(TEXT, RATE, 2, device=device)
    with pytest.raises(ValueError, match=message):
        chain.process(Lender(noise(2, 100), ordinal=1))


def test_wrong_device_without_a_number():
    """The CUDA array interface has no number of the device."""
    x = noise(2, 100)
    with pytest.raises(ValueError, match="memory of CUDA device 1"):
        fx.Chain(TEXT, RATE, 2).process(Shower(x, ordinal=1))
    chain = fx.Chain(TEXT, RATE, 2, device="cuda:1")
    y = chain.process(Shower(x, ordinal=1))
    assert y.device == "cuda:1"
    assert is_close(fetch(y), fx.Chain(TEXT, RATE, 2).process(x))


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:x", "cuda:-1", 0])
def test_wrong_names(device):
    with pytest.raises(ValueError, match="device is"):
        fx.Chain(TEXT, RATE, device=device)


def test_no_such_device():
    with pytest.raises(RuntimeError, match="there is no CUDA device 7"):
        fx.Chain(TEXT, RATE, device="cuda:7")


@pytest.mark.parametrize("view", [
    lambda x: x[:, ::2], lambda x: x[:, ::-1], lambda x: x[::-1]])
def test_wrong_strides(view):
    x = noise(2, 500)
    with pytest.raises(ValueError, match="contiguous"):
        fx.Chain(TEXT, RATE, 2).process(Shower(view(x), base=x))


@pytest.mark.parametrize("x, error", [
    (np.zeros((3, 10), np.float32), ValueError), (np.zeros(10, np.float32), ValueError),
    (np.zeros((2, 10, 1), np.float32), ValueError), (np.zeros((2, 10)), TypeError)])
@pytest.mark.parametrize("kind", [Lender, Shower])
def test_wrong_arrays(kind, x, error):
    with pytest.raises(error, match="samples"):
        fx.Chain(TEXT, RATE, 2).process(kind(x))


def test_other_devices():
    class Other(Lender):
        kind = 10  # ROCm

        def __dlpack__(self, **_):
            return super().__dlpack__()

    with pytest.raises((BufferError, RuntimeError), match="device"):
        fx.Chain(TEXT, RATE, 2).process(Other(noise(2, 10)))
    lent.clear()  # NumPy took no tensor


def test_a_device_that_fails(report, monkeypatch):
    x = noise(2, 2000)
    chain = fx.Chain(TEXT, RATE, 2)
    expected = chain(x)
    source = Lender(x)
    assert is_close(fetch(chain(source)), expected)
    monkeypatch.setenv("TFX_STANDIN_FAIL", "cuLaunchKernel:1,719,short")
    with pytest.raises(RuntimeError, match="CUDA_ERROR_LAUNCH_FAILED"):
        chain(source)
    monkeypatch.setenv("TFX_STANDIN_FAIL", "cuMemAlloc_v2:1,2")
    with pytest.raises(MemoryError):
        chain(source)
    monkeypatch.delenv("TFX_STANDIN_FAIL")
    assert is_close(fetch(chain(source)), expected)
    report.unlink()


def test_threads():
    x = noise(2, 2000)
    expected = fx.Chain(LATE, RATE, 2)(x)
    failures = []

    def play():
        chain = fx.Chain(LATE, RATE, 2)
        for _ in range(5):
            if not is_close(fetch(chain(Lender(x))), expected):
                failures.append(1)

    threads = [threading.Thread(target=play) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures


def test_without_a_driver():
    code = "import gst_tfx; gst_tfx.Chain('Gain(2)', 48000, device='cuda')"
    env = {**os.environ, "LD_LIBRARY_PATH": ""}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True,
                          text=True)
    assert "RuntimeError: device 'cuda' is not available: no NVIDIA driver" in done.stderr


def test_stats_of_the_cpu():
    chain = fx.Chain("LoButterworth(100, order=4) | Gain(2)", RATE, 2)
    chain.process(noise(2, 100))
    chain.process(noise(2, 50))
    stats = chain.stats
    assert stats["device"] == "cpu" and stats["kernel"]
    assert (stats["frames"], stats["dispatches"], stats["launches"]) == (150, 2, 0)
    assert (stats["stages"], stats["sections"], stats["recoveries"]) == (2, 2, 0)
