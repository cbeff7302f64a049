#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs scipy.signal.oaconvolve when it is told to, and says how long it took.

    oaconvolve_peer.py N_TAPS N_SAMPLES

filters N_SAMPLES of float32 noise with N_TAPS taps of float32 noise, all at
once: a stream in blocks it cannot do.  One command a line on the standard
input, a number of times to run; one line of answer:

    time CPU_NS ELAPSED_NS

It ends with its input.
"""
import sys
import time

try:
    import numpy as np
    import scipy
    from scipy.signal import oaconvolve
except ImportError as error:
    sys.exit(f"oaconvolve_peer.py: {sys.executable}: {error}")


def main():
    n_taps, n_samples = map(int, sys.argv[1:3])
    random = np.random.default_rng(1)
    taps = random.uniform(-1, 1, n_taps).astype(np.float32)
    samples = random.uniform(-1, 1, n_samples).astype(np.float32)
    print(f"SciPy {scipy.__version__}, NumPy {np.__version__}", flush=True)
    for line in sys.stdin:
        cpu, elapsed = time.process_time_ns(), time.perf_counter_ns()
        for _ in range(int(line)):
            oaconvolve(samples, taps)
        cpu, elapsed = time.process_time_ns() - cpu, time.perf_counter_ns() - elapsed
        print("time", cpu, elapsed, flush=True)


main()
