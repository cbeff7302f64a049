# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the files that chains name."""

import codecs
import os
import struct
import wave

import numpy as np

_MAX_CURVE_SIZE = 4 << 20
_MAX_TAP = 1e30  # leaves room for sums in float32

# By format and bits of a WAV file.  (24 bits are widened.)
_TYPES = {(1, 8): "u1", (1, 16): "<i2", (1, 24): "<i4", (1, 32): "<i4",
          (3, 32): "<f4", (3, 64): "<f8"}


def _read_wav(path):
    """The samples (frames, channels) and the rate.  (The module wave has no floats.)"""
    with open(path, "rb") as file:
        data = file.read()
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise ValueError("it is not a WAV file; the Python package soundfile reads "
                         "other formats")
    chunks, at = {b"fmt ": b"", b"data": b""}, 12
    while at + 8 <= len(data):
        name, size = struct.unpack_from("<4sI", data, at)
        chunks[name] = data[at + 8:at + 8 + size]
        if name == b"data" and len(chunks[name]) < size:
            raise ValueError(f"it ends after {len(chunks[name])} of {size} bytes of "
                             "samples")
        at += 8 + size + size % 2
    form = chunks[b"fmt "].ljust(26, b"\0")
    code, channels, rate, _, frame, bits = struct.unpack_from("<HHIIHH", form)
    if code == 0xfffe:
        code, = struct.unpack_from("<H", form, 24)
    if (code, bits) not in _TYPES or frame != channels * bits // 8 or not frame:
        raise ValueError(f"format {code} with {bits} bits needs the Python package "
                         "soundfile")
    data = chunks[b"data"][:len(chunks[b"data"]) // frame * frame]
    if bits == 24:
        wide = np.zeros((len(data) // 3, 4), np.uint8)
        wide[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 3)
        data = wide.tobytes()
    samples = np.frombuffer(data, _TYPES[code, bits]).astype(np.float64)
    if code == 1:
        samples = samples / 128 - 1 if bits == 8 else \
            samples / 2.0 ** (15 if bits == 16 else 31)
    return samples.reshape(-1, channels), rate


def _read_samples(path):
    """The samples (frames, channels) and the rate."""
    try:
        import soundfile
    except ImportError:
        return _read_wav(path)
    with open(path, "rb") as file:
        try:
            return soundfile.read(file, always_2d=True)
        except soundfile.LibsndfileError as error:
            raise ValueError(error.error_string.rstrip(".")) from None


def read_sound(path):
    """As _read_samples(), with the path in its errors."""
    try:
        return _read_samples(path)
    except ValueError as error:
        raise ValueError(f"the sound file '{path}' cannot be read: {error}") from None


def write_sound(path, samples, rate, form, encoding, bits):
    """Writes samples (frames, channels).  form: of soundfile (None: by the name)."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    kind = f"PCM_{'U' * (bits == 8)}{bits}" if bits else None
    if encoding == "PCM_F":
        kind = "DOUBLE" if bits == 64 else "FLOAT"
    try:
        import soundfile
        soundfile.write(path, samples, rate, kind, format=form)
    except ImportError:
        is_wav = (form or os.path.splitext(path)[1][1:]).lower() == "wav"
        if not is_wav or kind not in (None, "PCM_16", "PCM_24"):
            raise ValueError(f"the sound file '{path}' needs the Python package "
                             "soundfile: it is not WAV with 16 or 24 bits") from None
        size = (bits or 16) // 8
        top = 2.0 ** (8 * size - 1)
        whole = np.rint(np.clip(samples * top, -top, top - 1)).astype("<i4", order="C")
        with wave.open(os.fspath(path), "wb") as file:
            file.setparams((samples.shape[1], size, rate, 0, "NONE", None))
            file.writeframes(whole.view(np.uint8).reshape(-1, 4)[:, :size].tobytes())


def _read_impulse(path, rate):
    """The number of channels, and the samples, one channel after the other."""
    if path.lower().endswith(".sofa"):
        raise ValueError("SOFA files need GStreamer and its element tfxchain")
    samples, has_rate = _read_samples(path)
    if has_rate != rate:
        raise ValueError(f"its sample rate is {has_rate} Hz, but that of the chain is "
                         f"{rate:.15g} Hz; resample it")
    wrong = np.argwhere(~(np.abs(samples) <= _MAX_TAP))
    if len(wrong):
        frame, channel = wrong[0]
        raise ValueError(f"frame {frame} is {samples[frame, channel]:g} in channel "
                         f"{channel}")
    if not samples.any():
        raise ValueError("it is silent" if samples.size else "it has no samples")
    return samples.shape[1], samples.T.tobytes()


def _read_text(path):
    with open(path, "rb") as file:
        data = file.read(_MAX_CURVE_SIZE + 1)
    if len(data) > _MAX_CURVE_SIZE:
        raise ValueError(f"it is larger than {_MAX_CURVE_SIZE >> 20} MiB")
    is_16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = data.decode("utf-16" if is_16 else "utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise ValueError("it is not a text in UTF-8 or UTF-16")
    return text


def _cut(text, size):
    return text.encode("utf-8", "replace")[:size].decode("utf-8", "ignore")


def make_reader(folder, rate):
    """A function for the core.  Names are relative to folder (None: the working
    folder).  It returns a tuple, or a text: why the file cannot be used."""
    def read(kind, name):
        path = os.path.join(folder or "", name)
        try:
            return _read_impulse(path, rate) if kind == "impulse" else \
                (_read_text(path),)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
        thing = "impulse response" if kind == "impulse" else "curve"
        return _cut(f"the {thing} in '{_cut(path, 80)}' cannot be used: {why}", 240)
    return read
