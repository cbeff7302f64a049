#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs chains of TorchFX on a CUDA device when it is told to.

The first line of output names the versions, or says "no ..." and why.  Then one
command a line on the standard input, one line of answer:

    run CHAIN N_FRAMES N_CHANNELS N_RUNS host|device
        CHAIN is api, iir, fir, or how many sections of the api chain.
        Answer: time MEDIAN_MS P99_MS, or: failed WHY

A run is from the call to the end of the device's work; with host, from an array
in host memory to another one.  It ends with its input.
"""
import sys
import time

RATE = 44100


def chain_of(fx, name):
    f = fx.filter
    api = [lambda hz=hz: f.HiChebyshev1(hz, order=2, ripple=0.5) for hz in (20, 60, 65)]
    api += [lambda hz=hz: f.LoButterworth(hz, order=2) for hz in (5000, 4900, 4850)]
    if name == "iir":
        filters = [f.HiButterworth(1000, order=2), f.LoButterworth(5000, order=2),
                   f.HiChebyshev1(1500, order=2, ripple=0.5),
                   f.LoChebyshev1(1800, order=2, ripple=0.5)]
    elif name == "fir":
        filters = [f.DesignableFIR(cutoff=hz, num_taps=taps, fs=RATE) for hz, taps in
                   ((1000, 101), (5000, 102), (1500, 103), (1800, 104), (1850, 105))]
    elif name == "api":
        filters = [make() for make in api]
    else:
        filters = [api[i % len(api)]() for i in range(int(name))]
    for item in filters:
        if getattr(item, "fs", RATE) is None:
            item.fs = RATE
    return filters


def run_once(fx, torch, filters, source, from_host):
    wave = fx.Wave(source, RATE)
    if from_host:
        wave = wave.to("cuda")
    for item in filters:
        wave = wave | item
    out = wave.ys  # what was put off until now is done
    if from_host:
        out = out.cpu()
    torch.cuda.synchronize()
    return out


def measure(fx, torch, words):
    name, n_frames, n_channels, n_runs = words[0], *map(int, words[1:4])
    from_host = words[4] == "host"
    with torch.no_grad():
        noise = torch.rand((n_channels, n_frames), dtype=torch.float32) * 2 - 1
        source = noise if from_host else noise.to("cuda")
        filters = [item.to("cuda") if hasattr(item, "to") else item
                   for item in chain_of(fx, name)]
        for _ in range(3):
            run_once(fx, torch, filters, source, from_host)
        times = []
        for _ in range(n_runs):
            torch.cuda.synchronize()
            start = time.perf_counter_ns()
            run_once(fx, torch, filters, source, from_host)
            times.append((time.perf_counter_ns() - start) / 1e6)
    times.sort()
    return times[len(times) // 2], times[min(len(times) - 1, int(len(times) * 0.99))]


def answer(text):
    print(text.replace("\n", " "), flush=True)


def main():
    try:
        import torch
        import torchfx as fx
    except ImportError as error:
        answer(f"no TorchFX: {sys.executable}: {error}")
        return
    if not torch.cuda.is_available():
        answer(f"no CUDA device for PyTorch {torch.__version__}")
        return
    try:
        from importlib.metadata import version
        torchfx_version = version("torchfx")
    except ImportError:
        torchfx_version = "?"
    answer(f"TorchFX {torchfx_version}, PyTorch {torch.__version__}, "
           f"{torch.cuda.get_device_name(0)}")
    for line in sys.stdin:
        try:
            median, worst = measure(fx, torch, line.split()[1:])
            answer(f"time {median:.6f} {worst:.6f}")
        except Exception as error:  # whatever TorchFX does not do is told
            answer(f"failed {type(error).__name__}: {error}")
            torch.cuda.empty_cache()


main()
