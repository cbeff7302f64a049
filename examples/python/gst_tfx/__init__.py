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
from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from . import _core, classes
from ._core import ChainError
from .classes import *  # noqa: F403
from .classes import Effect, Wave
from .files import make_reader

# Frames that are filtered at a time under a curve: fewer than a filter keeps points of.
_CURVE_FRAMES = 32768
_Array = TypeVar("_Array")

__all__ = ["Chain", "ChainError", "Effect", "Wave", "catalogue",
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

    Raises ChainError for a text that is no chain, or whose files cannot be used.
    The package soundfile, if there is one, reads sound files; without it they must be
    WAV, PCM or float.  An impulse response must have the rate of the chain.

    One thread at a time should call a Chain; calls of several threads wait for each
    other.  Several chains run at the same time, because no call holds the global
    interpreter lock while it filters.
    """

    def __init__(self, chain: str | Effect, rate: float, channels: int = 1,
                 dtype: npt.DTypeLike = np.float32, layout: str = "channels_first",
                 folder: str | os.PathLike[str] | None = None) -> None:
        if layout not in ("channels_first", "channels_last"):
            raise ValueError(f"layout is {layout!r}, but must be "
                             "'channels_first' or 'channels_last'")
        self.dtype = np.dtype(dtype)
        if self.dtype not in (np.float32, np.float64):
            raise TypeError(f"dtype is {self.dtype}, but must be float32 or float64")
        if not rate > 0:
            raise ValueError(f"rate is {rate}, but must be above 0 Hz")
        if not 1 <= channels <= 65536:
            raise ValueError(f"channels is {channels}, but must be 1 to 65536")
        self.rate, self.layout = rate, layout
        self._core = _core.Chain(str(chain), rate, channels,
                                 self.dtype == np.float64, make_reader(folder, rate))
        self.channels, self.output_channels, self._room = self._core.channels
        self._n_late = self._skip = self.latency
        self._curves = {}  # (stage, parameter): values of the next frames, grid

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], rate: float, channels: int = 1,
                  **options: Any) -> "Chain":
        """A chain from a text file, as the property location of tfxchain.  File names
        in it are relative to its folder."""
        options.setdefault("folder", os.path.dirname(path))
        with open(path, encoding="utf-8-sig") as file:
            return cls(file.read(), rate, channels, **options)

    # ---- samples ------------------------------------------------------------

    def _frames_first(self, x):
        """A view of shape (frames, channels), and whether x has one dimension."""
        x = np.asarray(x)
        if x.dtype != self.dtype:
            raise TypeError(f"samples are {x.dtype}, but the chain is for "
                            f"{self.dtype}")
        is_flat = x.ndim == 1 and self.channels == 1
        if is_flat:
            x = x[:, None]
        elif x.ndim != 2:
            raise ValueError(f"samples have shape {x.shape}; two dimensions are "
                             "needed")
        elif self.layout == "channels_first":
            x = x.T
        if x.shape[1] != self.channels:
            raise ValueError(f"samples have {x.shape[1]} channels, but the chain "
                             f"is for {self.channels}")
        return x, is_flat

    def _shape(self, y, is_flat):
        if is_flat and self.output_channels == 1:
            return y[:, 0]
        return y.T if self.layout == "channels_first" else y

    def _new(self, n):
        """An array for n frames with channels as the layout has them in memory."""
        if self.layout == "channels_first":
            return np.empty((self._room, n), self.dtype).T
        return np.empty((n, self._room), self.dtype)

    def _run(self, x):
        y = self._new(len(x))
        if self._room != self.channels:
            y[:, :self.channels] = x
            y[:, self.channels:] = 0
            x = y
        step = _CURVE_FRAMES if self._curves else max(len(x), 1)
        for i in range(0, len(x), step):
            n = len(x[i:i + step])
            for key in list(self._curves):
                self._queue(key, n)
            self._core.run(x[i:i + n], y[i:i + n])
        return y[:, :self.output_channels]

    def _queue(self, key, n):
        """Queues the points of a curve for the next n frames."""
        values, grid, queued = self._curves[key]
        now = self._core.n_frames
        first = max(queued + grid, -(-now // grid) * grid + grid)
        points = np.arange(first, now + n + grid + 1, grid)
        if len(points):
            # Values count from the frame now; the last one stays.
            at = np.minimum(points - now, len(values) - 1)
            self._core.curve(*key, 0, int(first),
                             np.ascontiguousarray(values[at]))
            queued = int(points[-1])
        if queued >= now + max(len(values), n):
            del self._curves[key]
        else:
            self._curves[key] = values[min(n, len(values) - 1):], grid, queued

    def process(self, x: _Array) -> _Array:
        """Filters the next samples of a stream.

        The first `latency` frames of the stream have no output: they come from
        flush().  Returns a new array.
        """
        x, is_flat = self._frames_first(x)
        y = self._run(x)
        n = min(self._skip, len(y))
        self._skip -= n
        return self._shape(y[n:], is_flat)

    def flush(self, tail: float = 0.0) -> Any:
        """The last `latency` frames of the stream, and `tail` seconds more, in
        which a reverb or a filter fades out.  Then the stream begins anew."""
        n = self._n_late - self._skip + round(tail * self.rate)
        zeros = np.zeros((n + self._skip, self.channels), self.dtype)
        y = self._run(zeros)[self._skip:]
        self.reset()
        return self._shape(y, False)

    def __call__(self, x: _Array, tail: float = 0.0) -> _Array:
        """Filters a whole signal, aligned with the input; a running stream
        ends.  `tail` seconds are added at the end."""
        view, is_flat = self._frames_first(x)
        n = self._n_late + round(tail * self.rate)
        self.reset()
        if n == 0:
            y = self._run(view)
        else:
            padded = np.zeros((len(view) + n, self.channels), self.dtype)
            padded[:len(view)] = view
            y = self._run(padded)[self._n_late:]
        self.reset()
        return self._shape(y, is_flat)

    def reset(self) -> None:
        """Clears the state: the next samples begin a stream.  Curves go on."""
        self._core.reset()
        for key, (values, grid, _) in self._curves.items():
            self._curves[key] = values, grid, 0
        self._skip = self._n_late

    # ---- parameters and answers ---------------------------------------------

    def set(self, name: str, value: Any) -> None:
        """Sets a parameter, "stage.parameter".

        A value: the sound changes to it within 10 ms, without a click.
        An array: one value for each of the next frames, read at each 32nd frame and
        with a straight line between them; the last one stays."""
        stage, dot, parameter = name.rpartition(".")
        if not dot:
            raise KeyError(f"{name!r} is no parameter; write 'stage.parameter'")
        if isinstance(value, np.ndarray) and value.ndim == 1 and len(value):
            values = np.asarray(value, np.float64)
            if not np.isfinite(values).all():
                raise ValueError(f"the curve of {name} has values that are not finite")
            self._core.set(stage, parameter, float(values[0]))
            self._curves[stage, parameter] = values, self._core.grid(stage), 0
        else:
            self._curves.pop((stage, parameter), None)
            self._core.set(stage, parameter, value)

    @property
    def latency(self) -> int:
        """Frames of delay, by look-ahead.  process() leaves them out."""
        return self._core.latency

    @property
    def stages(self) -> list[tuple[str, str, dict[str, Any]]]:
        """[(name, class, {parameter: value})], in the order of the text."""
        return self._core.stages

    def response(self, frequencies: npt.ArrayLike, channel: int = 0,
                 output: int | None = None) -> npt.NDArray[np.complex128]:
        """The complex frequency response from an input channel to an output
        channel (None: the same), without the latency."""
        f = np.ascontiguousarray(frequencies, np.float64)
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


def process_many(chain: str | Effect, signals: Iterable[_Array], rate: float,
                 tail: float = 0.0, threads: int | None = None,
                 **options: Any) -> list[_Array]:
    """Filters whole signals, each with a separate chain, in several threads (None:
    one for each processor).  options: those of Chain.  Returns a list."""
    def run(x):
        x = np.asarray(x)
        axis = -1 if options.get("layout") == "channels_last" else 0
        n = x.shape[axis] if x.ndim == 2 else 1
        return Chain(chain, rate, n, **options)(x, tail)

    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, signals))
