# SPDX-License-Identifier: LGPL-2.1-or-later
"""Samples with their rate, with the methods of TorchFX's Wave."""

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .classes import Effect
from .device import parse
from .files import read_sound, write_sound


class Wave:
    """Samples with their rate: wave | effect is the filtered wave.

    ys: the samples, (channels, frames), or one channel.  fs: sample rate in Hz.
    `|` takes an effect or a text, and raises ChainError for a wrong one.  The effects
    run as one chain when ys is read.
    """

    def __init__(self, ys: npt.ArrayLike, fs: float, device: Any = "cpu",
                 metadata: dict[str, Any] | None = None) -> None:
        self.ys, self.fs, self.device = ys, fs, device
        self.metadata = dict(metadata or {})

    @classmethod
    def from_array(cls, ys: npt.ArrayLike, fs: float) -> "Wave":
        return cls(ys, fs)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], frame_offset: int = 0,
                  num_frames: int = -1) -> "Wave":
        """Samples of a sound file in float32; num_frames -1: all from frame_offset."""
        samples, rate = read_sound(path)
        ys = samples[frame_offset:][:None if num_frames == -1 else num_frames].T
        return cls(ys.astype(np.float32, order="C"), rate,
                   metadata={"num_frames": len(samples), "num_channels": len(ys)})

    def save(self, path: str | os.PathLike[str], format: str | None = None,
             encoding: str | None = None, bits_per_sample: int | None = None) -> None:
        """Writes a sound file; samples beyond full scale clip in PCM.
        encoding: "PCM_S", or "PCM_F" for floats.  Without the package soundfile it
        must be a WAV file, PCM of 16 (default) or 24 bits."""
        write_sound(path, self.ys.T, round(self.fs), format, encoding, bits_per_sample)

    @property
    def ys(self) -> npt.NDArray[Any]:
        if self._chain:
            self.ys = self._chain(self._ys)
        return self._ys

    @ys.setter
    def ys(self, samples: npt.ArrayLike) -> None:
        self._ys = np.atleast_2d(np.asarray(samples))
        if self._ys.ndim != 2:
            raise ValueError(f"samples have shape {self._ys.shape}; (channels, frames) "
                             "is needed")
        self._texts, self._chain = [], None

    def __or__(self, effect: Effect | str) -> "Wave":
        from . import Chain
        if not isinstance(effect, (Effect, str)):
            return NotImplemented
        ys = self._ys
        if ys.dtype not in (np.float32, np.float64):
            ys = ys.astype(np.float32)
        wave = Wave(ys, self.fs, self.device, self.metadata)
        # (The end of a line is that of a comment.)
        wave._texts = [*self._texts, f"({effect}\n)"]
        wave._chain = Chain(" | ".join(wave._texts), self.fs, len(ys), dtype=ys.dtype,
                            device=self.device)
        return wave

    @property
    def device(self) -> str:
        return self._device

    @device.setter
    def device(self, device: Any) -> None:
        parse(str(device))  # it opens a CUDA device
        self._device = str(device)

    def __reduce__(self) -> tuple[Any, ...]:
        return Wave, (self.ys, self.fs, self.device, self.metadata)

    def to(self, device: Any) -> "Wave":
        self.device = device
        return self

    def transform(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> "Wave":
        """The wave of func(ys, ...), a function of arrays."""
        return Wave(func(self.ys, *args, **kwargs), self.fs, self.device, self.metadata)

    def __len__(self) -> int:
        return self.ys.shape[1]

    def channels(self) -> int:
        return self.ys.shape[0]

    def duration(self, unit: str = "sec") -> float:
        """In seconds, or with "ms" in milliseconds."""
        return len(self) / self.fs * (1000 if unit == "ms" else 1)

    def get_channel(self, index: int) -> "Wave":
        return self.transform(lambda ys: ys[index])

    @staticmethod
    def merge(waves: Sequence["Wave"], split_channels: bool = False) -> "Wave":
        """The sum of waves, or with split_channels all their channels.  Shorter waves
        end with silence."""
        if len({(w.fs, split_channels or w.channels()) for w in waves}) != 1:
            raise ValueError("waves to merge differ in sample rate or channels")
        n = max(len(w) for w in waves)
        ys = [np.pad(w.ys, ((0, 0), (0, n - len(w)))) for w in waves]
        return waves[0].transform(
            lambda _: np.concatenate(ys) if split_channels else np.sum(ys, axis=0))
