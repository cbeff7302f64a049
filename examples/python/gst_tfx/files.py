# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the files that chains name."""

import codecs
import os
import struct

import numpy as np

_MAX_CURVE_SIZE = 4 << 20
_MAX_TAP = 1e30  # leaves room for sums in float32


def _read_wav(path):
    """The rate and the samples (channels, frames) of a WAV file, PCM or float: the
    module wave reads no floats."""
    with open(path, "rb") as file:
        riff, _, kind = struct.unpack("<4sI4s", file.read(12).ljust(12, b"\0"))
        if riff != b"RIFF" or kind != b"WAVE":
            raise ValueError("it is not a WAV file; the Python package soundfile "
                             "reads other formats")
        form = None
        while len(header := file.read(8)) == 8:
            name, size = struct.unpack("<4sI", header)
            if name == b"fmt ":
                form = file.read(size + size % 2)
            elif name == b"data":
                break
            else:
                file.seek(size + size % 2, os.SEEK_CUR)
        else:
            raise ValueError("it has no samples")
        data = file.read(size)
    if form is None or len(form) < 16:
        raise ValueError("it has no format before its samples")
    code, channels, rate, _, frame, bits = struct.unpack("<HHIIHH", form[:16])
    if code == 0xfffe and len(form) >= 26:
        code, = struct.unpack("<H", form[24:26])
    if len(data) < size:
        raise ValueError(f"it ends after {len(data)} of {size} bytes of samples")
    if channels < 1 or frame != channels * bits // 8 or \
            (code, bits) not in ((1, 8), (1, 16), (1, 24), (1, 32), (3, 32), (3, 64)):
        raise ValueError(f"its format {code} with {bits} bits is not supported; the "
                         "Python package soundfile reads more formats")
    data = data[:len(data) // frame * frame]
    if code == 3:
        samples = np.frombuffer(data, f"<f{bits // 8}").astype(np.float64)
    elif bits == 8:
        samples = np.frombuffer(data, np.uint8) / 128.0 - 1.0
    else:
        # In the upper bytes of 32 bits.
        wide = np.zeros((len(data) * 8 // bits, 4), np.uint8)
        wide[:, 4 - bits // 8:] = np.frombuffer(data, np.uint8).reshape(-1, bits // 8)
        samples = wide.view("<i4")[:, 0] / 2.0 ** 31
    return rate, samples.reshape(-1, channels).T


def _read_sound(path):
    try:
        import soundfile
    except ImportError:
        return _read_wav(path)
    with open(path, "rb") as file:
        try:
            samples, rate = soundfile.read(file, dtype="float64", always_2d=True)
        except soundfile.LibsndfileError as error:
            raise ValueError("it is not a readable sound file: "
                             + error.error_string.rstrip(".")) from None
    return rate, samples.T


def _read_impulse(path):
    rate, samples = _read_sound(path)
    if not samples.size:
        raise ValueError("it has no samples")
    wrong = np.argwhere(~(np.abs(samples) <= _MAX_TAP))
    if len(wrong):
        channel, frame = wrong[0]
        raise ValueError(f"frame {frame} is {samples[channel, frame]:g} in channel "
                         f"{channel}")
    if not samples.any():
        raise ValueError("it is silent")
    return float(rate), len(samples), np.ascontiguousarray(samples).tobytes()


def _read_curve(path):
    with open(path, "rb") as file:
        data = file.read(_MAX_CURVE_SIZE + 1)
    if len(data) > _MAX_CURVE_SIZE:
        raise ValueError(f"it is larger than {_MAX_CURVE_SIZE >> 20} MiB")
    is_16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = data.decode("utf-16" if is_16 else "utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("it is not a text in UTF-8 or UTF-16") from None
    if "\0" in text:
        raise ValueError("it has a zero byte, so it is not a text")
    return text


def _cut(text, size):
    return text.encode("utf-8", "replace")[:size].decode("utf-8", "ignore")


def make_reader(folder):
    """A function for the core.  Names are relative to folder (None: the working
    folder).  It returns (name, rate, channels, samples) for "impulse" and (text,) for
    "text", or a string, the reason why not."""
    def read(kind, name):
        path = os.path.join(folder or "", name)
        if kind == "settings":
            return _cut(f"'{path}': only GStreamer reads filter settings; "
                        f"'gst-tfx check -q -C {path}' prints them as a chain", 240)
        shown = _cut(path, 80)
        thing = "impulse response" if kind == "impulse" else "curve"
        try:
            if kind == "text":
                return _read_curve(path),
            if path.lower().endswith(".sofa"):
                raise ValueError("SOFA files need GStreamer and its element tfxchain")
            return shown, *_read_impulse(path)
        except OSError as error:
            why = error.strerror or error
        except ValueError as error:
            why = error
        return _cut(f"the {thing} in '{shown}' cannot be used: {why}", 240)
    return read
