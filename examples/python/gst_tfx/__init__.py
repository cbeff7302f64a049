# SPDX-License-Identifier: LGPL-2.1-or-later
"""Audio filters of gst-tfx for NumPy arrays.

    from gst_tfx import Chain

    chain = Chain("HiButterworth(80) | Limiter(-1)", rate=48000, channels=2)
    y = chain(x)                     # a whole signal, aligned with x

    for block in blocks:             # a stream: the state is kept
        write(chain.process(block))
    write(chain.flush())

The chain language is that of the element tfxchain.
"""

import concurrent.futures
import os
import threading
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core, classes, device as _device
from . import effect as effect, filter as filter
from ._core import ChainError
from .classes import *  # noqa: F403
from .classes import Effect
from .device import DeviceArray
from .files import make_reader
from .wave import Wave

# Frames that are filtered at a time under a curve: fewer than a filter keeps points of.
_CURVE_FRAMES = 32768

__all__ = ["Chain", "ChainError", "DeviceArray", "Effect", "Wave", "catalogue",
           "process_many"]
__all__ += classes.__all__

catalogue = _core.catalogue


class Chain:
    """A running chain of filters.

    chain: a text, or an expression of the classes of this package.
    rate: sample rate in Hz.  channels: of the input.
    dtype: float32 or float64, the type of the samples.
    layout: "channels_first" for arrays (channels, frames), or "channels_last" for
    (frames, channels).  With one channel, arrays of one dimension are accepted.
    folder: of the relative names of files in the text (None: the working folder).
    device: "cpu", "cuda" or "cuda:1" and so on; None: where the samples are.

    Samples are NumPy arrays, or arrays with DLPack or the CUDA array interface (PyTorch,
    CuPy, Numba), in host memory or on a device.  Samples on a device are filtered in its
    memory, after the work on their stream, and the output is a DeviceArray.  A call
    returns when its output is complete.  `out` is an array for the output, on the device
    if the input is; it may be the input, and is returned.

    Raises ChainError for a wrong text, or a file that cannot be used.  The package
    soundfile reads sound files; without it they must be WAV, PCM or float.  An impulse
    response must have the sample rate of the chain.

    Calls of one Chain from several threads wait for each other.  Several chains run at
    the same time, because no call holds the global interpreter lock while it filters.
    """

    def __init__(self, chain: str | Effect, rate: float, channels: int = 1,
                 dtype: npt.DTypeLike = np.float32, layout: str = "channels_first",
                 folder: str | os.PathLike[str] | None = None,
                 device: str | None = None) -> None:
        if layout not in ("channels_first", "channels_last"):
            raise ValueError(f"layout is {layout!r}, but must be "
                             "'channels_first' or 'channels_last'")
        self.dtype = np.dtype(dtype)
        if self.dtype not in (np.float32, np.float64):
            raise TypeError(f"dtype is {self.dtype}, but must be float32 or float64")
        if not 1 <= channels <= 65536:
            raise ValueError(f"channels is {channels}, but must be 1 to 65536")
        self.rate, self.layout = rate, layout
        self._options = {"device": device, "folder": folder}
        self._wanted, self._home = _device.parse(device)
        self._lock = threading.RLock()
        # Of the stream: the Device of its memory, whether blocks have one dimension.
        self._at, self._is_flat = None, False
        self._core = _core.Chain(str(chain), rate, channels,
                                 self.dtype == np.float64, make_reader(folder, rate))
        (self.channels, self.output_channels, self._room,
         self._is_alike) = self._core.channels
        self._n_late = self._skip = self.latency
        # stage: grid, last frame queued, {parameter: values of the next frames}
        self._curves = {}

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], rate: float, channels: int = 1,
                  **options: Any) -> "Chain":
        """A chain from a text file, as the property location of tfxchain.  File names
        in it are relative to its folder."""
        options.setdefault("folder", os.path.dirname(path))
        with open(path, encoding="utf-8-sig") as file:
            return cls(file.read(), rate, channels, **options)

    # ---- samples ------------------------------------------------------------

    def _frames_first(self, x, channels):
        """A view of shape (frames, channels), whether x has one dimension, and the
        Device whose memory it is in."""
        x, at = _device.take(x, self._wanted)
        if x.dtype != self.dtype:
            raise TypeError(f"samples are {x.dtype}, but the chain is for "
                            f"{self.dtype}")
        is_flat = x.ndim == 1 and channels == 1
        if is_flat:
            x = x[:, None]
        elif x.ndim != 2:
            raise ValueError(f"samples have shape {x.shape}; two dimensions are "
                             "needed")
        elif self.layout == "channels_first":
            x = x.T
        if x.shape[1] != channels:
            raise ValueError(f"samples have {x.shape[1]} channels, but the chain "
                             f"is for {channels}")
        if at:
            _device.check_strides(x)
        return x, is_flat, at

    def _shape(self, y, is_flat, at):
        if is_flat and y.shape[1] == 1:
            y = y[:, 0]
        elif self.layout == "channels_first":
            y = y.T
        return DeviceArray(y, at) if at else y

    def _new(self, n, at):
        """Zeros for n frames with channels as the layout has them in memory."""
        zeros = at.zeros if at else np.zeros
        if self.layout == "channels_first":
            return zeros((self._room, n), self.dtype).T
        return zeros((n, self._room), self.dtype)

    def _copy(self, x, y, at):
        if at:
            Chain("", self.rate, x.shape[1], self.dtype)._core.run(x, y, at.handle, True)
        else:
            y[...] = x

    def _run(self, x, silence, at, y):
        """Filters x and frames of silence into y, or a new array if that is None."""
        n = len(x)
        if y is None:
            y = self._new(n + silence, at)
        if self._room != self.channels:
            self._copy(x, y[:n, :self.channels], at)
            x = y[:n]
        on = at or self._home
        step = _CURVE_FRAMES if self._curves else max(len(y), 1)
        for a, b in ((x, y[:n]), (y[n:], y[n:])):
            for i in range(0, len(a), step):
                for stage in list(self._curves):
                    self._queue(stage, len(a[i:i + step]))
                self._core.run(a[i:i + step], b[i:i + step], on and on.handle,
                               at is not None)
        return y

    def _filter(self, x, silence, drop, at, out=None):
        """The output for x and frames of silence without the first frames, in out,
        unless that is None."""
        y, is_whole = None, False
        x = x if at or x.flags.aligned else x.copy()
        if out is not None:
            y, _, where = self._frames_first(out, self.output_channels)
            if where is not at or len(y) != len(x) + silence - drop:
                raise ValueError(f"out has {len(y)} frames in memory of the "
                                 f"{'device' if where else 'host'}, but must have "
                                 f"{len(x) + silence - drop} in the memory of the input")
            # In place, or elsewhere.
            is_apart = not np.may_share_memory(x, y) or (
                x.ctypes.data == y.ctypes.data and x.strides == y.strides)
            is_whole = silence == drop == 0 and is_apart and y.flags.aligned and \
                self._room == self.channels == self.output_channels
        z = self._run(x, silence, at, y if is_whole else None)
        z = z[drop:, :self.output_channels]
        if y is not None and not is_whole:
            self._copy(z, y, at)
        return z

    def _queue(self, stage, n):
        """Queues the points of the curves of a stage for the next n frames.  Curves
        with a value that is refused end."""
        grid, queued, curves = self._curves.pop(stage)
        now = self._core.n_frames
        first = max(queued + grid, -(-now // grid) * grid + grid)
        points = np.arange(first, now + n + grid + 1, grid)
        if len(points):
            # Values count from the frame now; the last one stays.
            rows = [v[np.minimum(points - now, len(v) - 1)] for v in curves.values()]
            self._core.curve(stage, tuple(curves), int(first), np.stack(rows, axis=1))
            queued = int(points[-1])
        curves = {parameter: v[min(n, len(v) - 1):] for parameter, v in curves.items()
                  if queued < now + max(len(v), n)}
        if curves:
            self._curves[stage] = grid, queued, curves

    def _silence(self, tail):
        """Frames of silence that follow a signal."""
        if not tail >= 0:
            raise ValueError(f"tail is {tail}, but must be 0 s or more")
        return self._n_late + round(tail * self.rate)

    def process(self, x: Any, out: Any = None) -> Any:
        """Filters the next samples of a stream.

        The first `latency` frames of the stream have no output: they come from
        flush().  Returns a new array, or out.
        """
        with self._lock:
            x, self._is_flat, self._at = self._frames_first(x, self.channels)
            n = min(self._skip, len(x))
            y = self._filter(x, 0, n, self._at, out)
            self._skip -= n
            return self._shape(y, self._is_flat, self._at) if out is None else out

    def flush(self, tail: float = 0.0) -> Any:
        """The last `latency` frames of the stream, and `tail` seconds more, in
        which a reverb or a filter fades out.  The next samples begin a stream."""
        with self._lock:
            nothing = np.empty((0, self.channels), self.dtype)
            y = self._filter(nothing, self._silence(tail), self._skip, self._at)
            self.reset()
            return self._shape(y, self._is_flat, self._at)

    def __call__(self, x: Any, tail: float = 0.0, out: Any = None) -> Any:
        """Filters a whole signal, and ends a running stream.  The output is aligned
        with the input, and `tail` seconds longer.  Returns a new array, or out."""
        with self._lock:
            x, is_flat, at = self._frames_first(x, self.channels)
            self.reset()
            y = self._filter(x, self._silence(tail), self._n_late, at, out)
            self.reset()
            return self._shape(y, is_flat, at) if out is None else out

    def _batch(self, signals, tail):
        """Filters whole signals of one shape, as channels of one chain if channels do
        not depend on each other."""
        k, n = len(signals), self.channels
        if k == 1 or k * n > 65536 or not self._is_alike:
            return [self(x, tail) for x in signals]
        wide = Chain(self, self.rate, k * n, self.dtype, **self._options)
        views = [self._frames_first(x, n) for x in signals]
        _, is_flat, at = views[0]
        x = wide._new(len(views[0][0]), at)
        for i, view in enumerate(views):
            self._copy(view[0], x[:, i * n:(i + 1) * n], at)
        y = wide._filter(x, self._silence(tail), self._n_late, at)
        return [self._shape(y[:, i * n:(i + 1) * n], is_flat, at) for i in range(k)]

    def reset(self) -> None:
        """Clears the state: the next samples begin a stream.  Curves continue."""
        with self._lock:
            self._core.reset()
            for stage, (grid, _, curves) in self._curves.items():
                self._curves[stage] = grid, 0, curves
            self._skip = self._n_late

    # ---- parameters and answers ---------------------------------------------

    def set(self, name: str, value: Any) -> None:
        """Sets a parameter, "stage.parameter".

        A value: the sound changes to it within 10 ms, without a click.
        An array for a number: a curve with one value for each of the next frames.  It
        is read at each 32nd frame (of FIR filters and others at fewer), with a straight
        line between them; the last value stays."""
        stage, dot, parameter = name.rpartition(".")
        if not dot:
            raise KeyError(f"{name!r} is no parameter; write 'stage.parameter'")
        values = None
        if hasattr(value, "__array__"):
            value = np.asarray(value)
            if value.ndim == 1 and value.size and any(
                    s == stage and isinstance(numbers.get(parameter), float)
                    for s, _, numbers in self.stages):
                values = np.asarray(value, np.float64)
                value = values[0]
            value = value.tolist()
        with self._lock:
            if values is not None:
                for extreme in values.min(), values.max():
                    self._core.set(stage, parameter, float(extreme), True)
            self._core.set(stage, parameter, value)
            grid, _, curves = self._curves.pop(stage, (0, 0, {}))
            curves.pop(parameter, None)
            if values is not None:
                grid, delay = self._core.grid(stage)
                # Look-ahead up to the stage delays the frames of the values.
                curves[parameter] = np.pad(values, (delay, 0), mode="edge")
            if curves:
                # Points that are queued have old values.
                self._curves[stage] = grid, 0, curves

    @property
    def latency(self) -> int:
        """Frames of delay, by look-ahead.  process() leaves them out."""
        return self._core.latency

    @property
    def stats(self) -> dict[str, Any]:
        """Counts since the chain was made, as the property stats of the elements:
        frames, dispatches, launches, uploads, downloads, recoveries; stages and
        sections, device and kernel of the last run."""
        return self._core.stats

    @property
    def stages(self) -> list[tuple[str, str, dict[str, Any]]]:
        """[(name, class, {parameter: value})], in the order of the text."""
        return self._core.stages

    def response(self, frequencies: npt.ArrayLike, channel: int = 0,
                 output: int | None = None) -> npt.NDArray[np.complex128]:
        """The complex frequency response from an input channel to an output
        channel (None: the same), without the latency."""
        f = np.asarray(frequencies, np.float64, order="C")
        h = np.empty(f.shape, np.complex128)
        self._core.response(f, h, channel, channel if output is None else output)
        return h

    def __str__(self) -> str:
        """The canonical text."""
        return self._core.text()

    def __repr__(self):
        return (f"Chain({str(self)!r}, rate={self.rate}, "
                f"channels={self.channels})")

    def __reduce__(self):
        raise TypeError("a running Chain cannot be pickled; pickle its text, "
                        "str(chain)")


def process_many(chain: str | Effect, signals: Iterable[Any], rate: float,
                 tail: float = 0.0, threads: int | None = None,
                 **options: Any) -> list[Any]:
    """Filters whole signals, each with a separate chain, in several threads (None:
    one for each processor).  options: those of Chain.  Returns a list.

    On a device signals of one shape are filtered together, as channels of one chain,
    if the chain treats channels alike."""
    signals = list(signals)
    _, home = _device.parse(options.get("device"))
    groups = {}
    for i, x in enumerate(signals):
        x = signals[i] = x if hasattr(x, "shape") else np.asarray(x)
        place = _device.locate(x)
        alone = i if place is None and home is None else None
        groups.setdefault((tuple(x.shape), place, alone), []).append(i)

    def run(indices):
        shape = signals[indices[0]].shape
        axis = -1 if options.get("layout") == "channels_last" else 0
        one = Chain(chain, rate, shape[axis] if len(shape) == 2 else 1, **options)
        return one._batch([signals[i] for i in indices], tail)

    with concurrent.futures.ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        for indices, outputs in zip(groups.values(), pool.map(run, groups.values())):
            for i, y in zip(indices, outputs):
                signals[i] = y
    return signals
