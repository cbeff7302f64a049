#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs effects of TorchFX on one thread of the CPU when it is told to.

The first line of output names the versions, or says "no ..." and why.  Then one
command a line on the standard input, one line of answer:

    run N_CHANNELS N_FRAMES N_RUNS EFFECT
        EFFECT is a call, Compressor(-20) or the like.
        Answer: time CPU_NS ELAPSED_NS of all runs, or: failed WHY

State goes on from run to run.
"""
import sys
import time

RATE = 44100


class Peer:
    def __init__(self, torch, effects):
        self.torch = torch
        self.effects = effects
        self.made = {}

    def make(self, text, n_channels, n_frames):
        key = text, n_channels, n_frames
        if key not in self.made:
            effect = eval(text, dict(vars(self.effects)))
            effect.fs = RATE
            noise = self.torch.rand((n_channels, n_frames)) * 2 - 1
            self.made[key] = effect, noise
        return self.made[key]

    def run(self, line):
        _, channels, frames, runs, text = line.split(None, 4)
        effect, noise = self.make(text.strip(), int(channels), int(frames))
        with self.torch.no_grad():
            cpu, elapsed = time.thread_time_ns(), time.perf_counter_ns()
            for _ in range(int(runs)):
                effect(noise)
            return (time.thread_time_ns() - cpu,
                    time.perf_counter_ns() - elapsed)


def answer(text):
    print(text.replace("\n", " "), flush=True)


def main():
    try:
        import torch
        import torchfx.effect
        from importlib.metadata import version
        versions = f"TorchFX {version('torchfx')}, PyTorch {torch.__version__}"
    except ImportError as error:
        answer(f"no TorchFX: {sys.executable}: {error}")
        return
    torch.set_num_threads(1)
    answer(versions)
    peer = Peer(torch, torchfx.effect)
    for line in sys.stdin:
        try:
            answer("time %d %d" % peer.run(line))
        except Exception as error:  # whatever TorchFX does not do is told
            answer(f"failed {type(error).__name__}: {error}")


main()
