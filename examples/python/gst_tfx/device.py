# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arrays in the memory of CUDA devices.

In this package a NumPy array at an address in device memory describes the samples
there: it has their shape and strides, can be sliced, and keeps the memory.
Nothing but the device may read or write them.
"""

import re
import threading
import types

import numpy as np

from . import _core

_lock = threading.Lock()
_opened = {}  # ordinal: Device


class Device:
    """An open CUDA device.  handle: of the module _core.  stream: a CUstream."""

    def __init__(self, ordinal):
        self.ordinal = ordinal
        self.handle, self.stream = _core.open_device(ordinal)

    def zeros(self, shape, dtype):
        size = max(int(np.prod(shape)), 1) * dtype.itemsize
        owner, address = _core.alloc(self.handle, size)
        return _place(address, shape, None, dtype.str, owner)


def find(ordinal):
    """The Device of an ordinal, which stays open."""
    if not hasattr(_core, "open_device"):
        raise RuntimeError("device 'cuda' is not available: the package was built "
                           "without the CUDA backend")
    with _lock:
        if ordinal not in _opened:
            _opened[ordinal] = Device(ordinal)
        return _opened[ordinal]


def parse(name):
    """For the argument `device` of a Chain: None, "cpu" or an ordinal; and the Device
    of the ordinal, or None."""
    if name in (None, "cpu"):
        return name, None
    match = re.fullmatch(r"cuda(:(\d+))?", str(name))
    if not match:
        raise ValueError(f"device is {name!r}, but must be 'cpu', 'cuda', 'cuda:N' or "
                         "None")
    return int(match[2] or 0), find(int(match[2] or 0))


def _place(address, shape, strides, typestr, owner, is_read_only=False):
    # Address 0, of arrays without samples, would be no memory for NumPy.
    data = (address or 4096, is_read_only)
    return np.asarray(types.SimpleNamespace(owner=owner, __array_interface__={
        "version": 3, "data": data, "shape": tuple(shape), "strides": strides,
        "typestr": typestr}))


class _Tensor(types.SimpleNamespace):
    """A tensor for np.from_dlpack()."""

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **_):
        return self.capsule


def locate(x, ordinal=0):
    """The ordinal of the device that has the samples; None: they are in host memory.
    ordinal: for arrays that have none."""
    if isinstance(x, np.ndarray):
        return None
    if hasattr(x, "__dlpack_device__"):
        kind, found = x.__dlpack_device__()
        # kDLCUDA and kDLCUDAManaged.  NumPy refuses what is not the host's.
        return found if kind in (2, 13) else None
    return ordinal if hasattr(x, "__cuda_array_interface__") else None


def take(x, wanted):
    """(array, Device or None) of samples in device or host memory.  Later runs on the
    device begin after the work that writes the samples."""
    ordinal = locate(x, wanted if isinstance(wanted, int) else 0)
    if ordinal is None:
        has_array = hasattr(x, "__array__") or not hasattr(x, "__dlpack__")
        return np.asarray(x) if has_array else np.from_dlpack(x), None
    if wanted not in (None, ordinal):
        wanted = wanted if wanted == "cpu" else f"cuda:{wanted}"
        raise ValueError(f"samples are on cuda:{ordinal}, but the chain is for {wanted}")
    device = find(ordinal)
    if hasattr(x, "__dlpack__"):
        capsule = _core.set_device(x.__dlpack__(stream=device.stream), 1, 0)
        x = np.from_dlpack(_Tensor(capsule=capsule))
        return _place(x.ctypes.data, x.shape, x.strides, x.dtype.str, x), device
    lent = x.__cuda_array_interface__
    stream = lent.get("stream", 1)
    if stream is not None:
        _core.wait(device.handle, stream)
    return _place(lent["data"][0], lent["shape"], lent.get("strides"), lent["typestr"],
                  x, lent["data"][1]), device


def check_strides(x):
    """Raises ValueError unless each channel, or each frame, of an array
    (frames, channels) in device memory is contiguous."""
    strides = [s for s, n in zip(x.strides, x.shape) if n > 1]
    if x.size and strides and min(strides) != x.itemsize:
        raise ValueError(f"samples in device memory have strides of {x.strides} bytes "
                         "for (frames, channels); make the array contiguous")


class DeviceArray:
    """Samples in the memory of a CUDA device: an output of a Chain, complete when it is
    returned.  torch.from_dlpack(), cupy.from_dlpack() and cupy.asarray() take it without
    a copy.  The memory is freed with the last array that uses it."""

    def __init__(self, array, device):
        self._array, self._ordinal = array, device.ordinal
        self.shape, self.dtype = array.shape, array.dtype
        self.device = f"cuda:{device.ordinal}"

    def __repr__(self):
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype}, {self.device})"

    def __array__(self, *args, **kwargs):
        raise TypeError("samples in device memory are not copied to the host implicitly")

    # Nor by pickle and deepcopy().
    __reduce__ = __array__

    @property
    def __cuda_array_interface__(self):
        return {**self._array.__array_interface__, "version": 3, "stream": None}

    def __dlpack_device__(self):
        return 2, self._ordinal

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("samples in device memory are not copied")
        return _core.set_device(self._array.__dlpack__(), 2, self._ordinal)
