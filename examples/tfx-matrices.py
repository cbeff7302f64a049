#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Times the filters of TorchFX's performance guide with the libraries that are
installed: gst_tfx, TorchFX, SciPy and pedalboard.

    tfx-matrices.py [--seconds 1,5,30,60] [--channels 1,2,4,8] [--rounds 5] [FOLDER]

The libraries take turns, on float32 arrays that they do not share, each with the
threads that it starts.  Times are medians, from array to array.  Before that the
outputs are compared with SciPy in double.  FOLDER gets matrices.csv and, with
matplotlib, a picture for each matrix.
"""
import argparse
import csv
import os
import statistics
import sys
import time

import numpy as np
import scipy.signal as signal

RATE = 44100
# The guide's chains: (design, type, order or taps, frequency in Hz).
IIR = [("butter", "high", 2, 1000), ("butter", "low", 2, 5000),
       ("cheby1", "high", 2, 1500), ("cheby1", "low", 2, 1800)]
API = [("cheby1", "high", 2, hz) for hz in (20, 60, 65)] + \
      [("butter", "low", 2, hz) for hz in (5000, 4900, 4850)]
FIR = [("fir", "low", taps, hz) for taps, hz in
       ((101, 1000), (102, 5000), (103, 1500), (104, 1800), (105, 1850))]
MATRICES = {"api": API, "iir": IIR, "fir": FIR}
RIPPLE_DB = 0.5  # TorchFX's classes have 0.1


def designs(chain):
    for design, kind, n, hz in chain:
        if design == "fir":
            yield signal.firwin(n, hz, fs=RATE), np.ones(1)
        elif design == "butter":
            yield signal.butter(n, hz, kind, fs=RATE)
        else:
            yield signal.cheby1(n, RIPPLE_DB, hz, kind, fs=RATE)


def text_of(chain):
    """The chain in the language of gst-tfx, which TorchFX evaluates as Python."""
    words = []
    for design, kind, n, hz in chain:
        if design == "fir":
            words.append(f"DesignableFIR(cutoff={hz}, num_taps={n})")
            continue
        name = "Hi" if kind == "high" else "Lo"
        name += "Butterworth" if design == "butter" else "Chebyshev1"
        ripple = f", ripple={RIPPLE_DB}" if design == "cheby1" else ""
        words.append(f"{name}({hz}, order={n}{ripple})")
    return " | ".join(words)


# ---- a library: chain → function from array to array -----------------------------------

def with_scipy(chain, x):
    filters = list(designs(chain))

    def run():
        y = x
        for b, a in filters:
            y = signal.lfilter(b.astype(x.dtype), a.astype(x.dtype), y)
        return y
    return run


def with_scipy_fastest(chain, x):
    """What SciPy's manual advises: sections for IIR filters, oaconvolve for FIRs."""
    filters = list(designs(chain))
    if chain[0][0] == "fir":
        def run():
            y = x
            for taps, _ in filters:
                y = signal.oaconvolve(y, taps[None].astype(x.dtype), axes=1)
            return y[:, :x.shape[1]]
        return run
    sos = np.concatenate([signal.tf2sos(b, a) for b, a in filters]).astype(x.dtype)
    return lambda: signal.sosfilt(sos, x)


def with_torchfx(chain, x):
    import torch
    import torchfx
    names = dict(vars(torchfx.filter))
    filters = []
    for word in text_of(chain).split(" | "):
        filters.append(eval(word, names))
        filters[-1].fs = RATE
    samples = torch.from_numpy(x)

    def run():
        with torch.no_grad():
            wave = torchfx.Wave(samples, RATE)
            for each in filters:
                wave = wave | each
            return wave.ys.numpy()
    return run


def with_pedalboard(chain, x):
    """As many of its high- and low-passes, which are of first order."""
    import pedalboard

    def effect(design, kind, n, hz):
        if design == "fir":
            taps = signal.firwin(n, hz, fs=RATE).astype(np.float32)
            return pedalboard.Convolution(taps, 1.0, RATE)
        return (pedalboard.HighpassFilter if kind == "high"
                else pedalboard.LowpassFilter)(hz)
    board = pedalboard.Pedalboard([effect(*each) for each in chain])
    return lambda: board(x, RATE)


def with_gst_tfx(chain, x):
    import gst_tfx
    running = gst_tfx.Chain(text_of(chain), RATE, len(x))
    return lambda: running(x)


LIBRARIES = {"gst_tfx": with_gst_tfx, "TorchFX": with_torchfx,
             "SciPy lfilter": with_scipy, "SciPy sosfilt/oaconvolve": with_scipy_fastest,
             "pedalboard": with_pedalboard}


def error_db(y, chain, x):
    """The largest error against SciPy in double, in dB below the largest output."""
    expected = x[:, :RATE].astype(np.float64)
    for b, a in designs(chain):
        sos = signal.tf2sos(b, a) if len(a) > 1 else None
        expected = signal.lfilter(b, a, expected) if sos is None \
            else signal.sosfilt(sos, expected)
    error = np.abs(np.asarray(y)[:, :RATE] - expected).max() / np.abs(expected).max()
    return 20 * np.log10(max(error, 1e-30))


def measure(chain, n_channels, n_seconds, n_rounds, rows, matrix):
    rng = np.random.default_rng(1)
    shape = n_channels, round(RATE * n_seconds)
    x = rng.uniform(-1, 1, shape).astype(np.float32)
    runs, times, errors = {}, {}, {}
    for name, make in LIBRARIES.items():
        try:
            run = make(chain, x.copy())
        except ImportError:
            continue
        runs[name], times[name] = run, []
        errors[name] = error_db(run(), chain, x)
    for _ in range(n_rounds):
        for name, run in runs.items():
            start = time.perf_counter_ns()
            run()
            times[name].append(time.perf_counter_ns() - start)
    ours = statistics.median(times["gst_tfx"])
    for name in runs:
        ns = statistics.median(times[name])
        rows.append({"matrix": matrix, "channels": n_channels, "seconds": n_seconds,
                     "library": name, "ms": f"{ns / 1e6:.3f}",
                     "ns_per_sample": f"{ns / x.size:.3f}",
                     "factor": f"{ns / ours:.2f}", "error_db": f"{errors[name]:.0f}"})
        print(" ".join(f"{value:>24}" if key == "library" else f"{value:>8}"
                       for key, value in rows[-1].items()), flush=True)


def draw(rows, folder):
    try:
        from matplotlib import pyplot
    except ImportError:
        print("no pictures: matplotlib is not installed", file=sys.stderr)
        return
    for matrix in dict.fromkeys(row["matrix"] for row in rows):
        figure, axes = pyplot.subplots(figsize=(9, 4.5))
        own = [row for row in rows if row["matrix"] == matrix]
        for name in dict.fromkeys(row["library"] for row in own):
            of_name = [row for row in own if row["library"] == name]
            axes.plot([f"{r['channels']} × {r['seconds']:g} s" for r in of_name],
                      [float(r["ns_per_sample"]) for r in of_name], "o-", label=name)
        axes.set(yscale="log", ylabel="ns per sample", xlabel="channels × length",
                 title=f"{matrix}: {text_of(MATRICES[matrix])[:70]} …")
        axes.tick_params(axis="x", rotation=60)
        axes.grid(alpha=0.3, which="both")
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
        figure.savefig(os.path.join(folder, f"{matrix}.png"), bbox_inches="tight")


def main():
    def numbers(text):
        return [float(word) if "." in word else int(word) for word in text.split(",")]
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seconds", type=numbers, default=[1, 5, 30, 60])
    parser.add_argument("--channels", type=numbers, default=[1, 2, 4, 8])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("folder", nargs="?", metavar="FOLDER")
    options = parser.parse_args()
    rows = []
    for matrix, chain in MATRICES.items():
        for n_channels in options.channels:
            for n_seconds in options.seconds:
                measure(chain, n_channels, n_seconds, options.rounds, rows, matrix)
    if options.folder:
        os.makedirs(options.folder, exist_ok=True)
        with open(os.path.join(options.folder, "matrices.csv"), "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        draw(rows, options.folder)


if __name__ == "__main__":
    main()
