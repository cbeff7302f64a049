#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs scipy.signal.sosfilt when it is told to, and says how long it took.

One command a line on the standard input, one line of answer:

    setup SAMPLE N_SECTIONS N_FRAMES N_CHANNELS N_BRANCHES
        then the sections as doubles (b0 b1 b2 1 a1 a2 each) and a block of
        float32 samples, interleaved; SAMPLE is f32 or f64.  The branches, of as
        many sections each, are added up.
        Answer: ready ID LAYOUT
    check ID
        Answer: output N, then N float32 samples, interleaved: the block
        filtered from rest.
    run ID N_BLOCKS
        Answer: time CPU_NS ELAPSED_NS
    drop ID
        No answer.

It ends with its input.
"""
import sys
import time

try:
    import numpy as np
    import scipy
    from scipy.signal import sosfilt
except ImportError as error:
    sys.exit(f"scipy_peer.py: {sys.executable}: {error}")

# How long each layout is tried for, in ns.
TRIAL_NS = 40_000_000


class Filter:
    """Branches of sections, a block of samples in one layout, and the state."""

    def __init__(self, branches, block, axis, convert):
        self.branches = branches
        self.axis = axis
        self.convert = convert
        if axis == 1:
            block = block.T
        self.block = np.ascontiguousarray(block, dtype=np.float32 if convert else np.float64)
        shape = list(self.block.shape)
        shape[axis] = 2
        self.zi = [np.zeros([len(sos)] + shape) for sos in branches]
        self.out = None

    def run(self, n_blocks):
        block, axis, zi, convert = self.block, self.axis, self.zi, self.convert
        cpu, elapsed = time.thread_time_ns(), time.perf_counter_ns()
        for _ in range(n_blocks):
            out = None
            for i, sos in enumerate(self.branches):
                y, zi[i] = sosfilt(sos, block, axis=axis, zi=zi[i])
                out = y if out is None else np.add(out, y, out=out)
            if convert:
                out = out.astype(np.float32)
        cpu, elapsed = time.thread_time_ns() - cpu, time.perf_counter_ns() - elapsed
        self.out = out
        return cpu, elapsed

    def layout(self):
        return "channel by channel" if self.axis == 1 else "frame by frame"

    def try_out(self):
        """Nanoseconds that a block takes."""
        best, spent = float("inf"), 0
        while spent < TRIAL_NS:
            cpu, _ = self.run(8)
            best, spent = min(best, cpu), spent + cpu
        return best / 8

    def check(self):
        for zi in self.zi:
            zi[:] = 0.0
        self.run(1)
        out = self.out.T if self.axis == 1 else self.out
        return np.ascontiguousarray(out, dtype=np.float32)


def read_array(stream, dtype, shape):
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    data = stream.read(size)
    if len(data) != size:
        sys.exit("scipy_peer.py: the input ended within an array")
    return np.frombuffer(data, dtype=dtype).reshape(shape)


def main():
    commands, answers = sys.stdin.buffer, sys.stdout.buffer
    filters = []

    def answer(text):
        answers.write(text.encode() + b"\n")
        answers.flush()

    answer(f"SciPy {scipy.__version__}, NumPy {np.__version__}")
    for line in commands:
        words = line.decode().split()
        if words[0] == "setup":
            n_sections, n_frames, n_channels, n_branches = map(int, words[2:6])
            sos = read_array(commands, np.float64, (n_sections, 6)).copy()
            block = read_array(commands, np.float32, (n_frames, n_channels))
            convert = words[1] == "f32"
            branches = np.split(sos, n_branches)
            tried = [Filter(branches, block, axis, convert) for axis in (0, 1)]
            filters.append(min(tried, key=Filter.try_out))
            answer(f"ready {len(filters) - 1} {filters[-1].layout()}")
        elif words[0] == "check":
            out = filters[int(words[1])].check()
            answer(f"output {out.size}")
            answers.write(out.tobytes())
            answers.flush()
        elif words[0] == "run":
            cpu, elapsed = filters[int(words[1])].run(int(words[2]))
            answer(f"time {cpu} {elapsed}")
        elif words[0] == "drop":
            filters[int(words[1])] = None
        else:
            sys.exit(f"scipy_peer.py: unknown command: {words[0]}")


main()
