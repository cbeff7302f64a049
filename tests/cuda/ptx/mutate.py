#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Takes barriers, fences, shuffles and votes out of kernels, one at a time: does
the interpreter notice?  As TAP.

    mutate.py PROBE FOLDER

FOLDER has the PTX.  PROBE runs a kind of kernel under what is the worst for it:
races looked for, lanes apart, stores late, blocks in random order.
"""

import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ORDERS = ("bar.sync", "bar.warp.sync", "membar.gl", "fence.acq_rel", "fence.sc",
          "shfl.sync", "vote.sync")
# file, kernel, what the probe is told; every how many shuffles one is taken
KERNELS = (
    ("cascade-90.ptx", "tfx_cascade_any_double_g2", "cascade", 3),
    ("fft-90.ptx", "tfx_fft_f64", "fft", 1),
    ("window-90.ptx", "tfx_fir_double", "fir", 1),
)
# Modes to try, until one notices.
MODES = (
    {"TFX_STANDIN_RACES": "1", "TFX_STANDIN_ORDER": "random:1"},
    {"TFX_STANDIN_RACES": "1", "TFX_STANDIN_DIVERGENCE": "2",
     "TFX_STANDIN_ORDER": "random:2"},
    {"TFX_STANDIN_WEAK": "1", "TFX_STANDIN_ORDER": "random:3"},
    {"TFX_STANDIN_WEAK": "1", "TFX_STANDIN_DIVERGENCE": "2",
     "TFX_STANDIN_ORDER": "random:4"},
)
# (kernel, opcode): (how many are not missed, why)
EXPLAINED = {
    ("tfx_cascade_any_double_g2", "bar.warp.sync"):
        (3, "a lane reads of the stash what it wrote itself; they hold the compiler"),
    ("tfx_fft_f64", "membar.gl"):
        (1, "before a block counts as done: one behind its spectrum does the same"),
}


class Probe:
    def __init__(self, program, folder, file, kernel, kind):
        self.program, self.file, self.kind = program, file, kind
        text = (Path(folder) / file).read_text(encoding="ascii").split("\n")
        starts = [i for i, line in enumerate(text) if ".entry" in line]
        first = next(i for i in starts if f" {kernel}(" in text[i])
        end = min([i for i in starts if i > first] + [len(text)])
        # The kernel alone: the others take time to read.
        self.lines = text[:starts[0]] + text[first:end]

    def places(self, every):
        """[(line, opcode)] of what orders."""
        found, n_shuffles = [], 0
        for i, line in enumerate(self.lines):
            opcode = next((o for o in ORDERS if re.search(rf"\b{re.escape(o)}", line)), None)
            if opcode == "shfl.sync":
                n_shuffles += 1
                if n_shuffles % every:
                    continue
            if opcode:
                found.append((i, opcode))
        return found

    def is_noticed(self, without, modes):
        with tempfile.TemporaryDirectory() as folder:
            lines = list(self.lines)
            if without is not None:
                lines[without] = ""
            Path(folder, self.file).write_text("\n".join(lines), encoding="ascii")
            for mode in modes:
                env = dict(os.environ, TFX_STANDIN_PTX=folder, **mode)
                try:
                    done = subprocess.run([self.program, self.kind], env=env,
                                          capture_output=True, timeout=120, check=False)
                except subprocess.TimeoutExpired:
                    return True
                if done.returncode != 0:
                    return True
        return False


def main():
    program, folder = sys.argv[1:]
    n_cases, all_good = 0, True
    with ThreadPoolExecutor(int(os.environ.get("MESON_TESTTHREADS", "2"))) as pool:
        for file, kernel, kind, every in KERNELS:
            probe = Probe(program, folder, file, kernel, kind)
            places = probe.places(every)
            whole = [not probe.is_noticed(None, [mode]) for mode in MODES]
            noticed = list(pool.map(lambda p: probe.is_noticed(p[0], MODES), places))
            missed = [p for p, n in zip(places, noticed) if not n]
            order = [line for line, _ in places]
            for opcode in sorted({o for _, o in places}):
                n_missed = sum(o == opcode for _, o in missed)
                allowed, why = EXPLAINED.get((kernel, opcode), (0, ""))
                good = all(whole) and n_missed <= allowed
                n_cases += 1
                all_good = all_good and good
                print(f"{'ok' if good else 'not ok'} {n_cases} - {kernel}: "
                      f"{sum(o == opcode for _, o in places)} × {opcode}, "
                      f"{n_missed} not missed{': ' + why if n_missed else ''}")
            for line, _ in missed:
                print(f"# {kernel}: not missed, {order.index(line) + 1} of {len(order)}: "
                      f"{probe.lines[line].strip()}")
            if not all(whole):
                print(f"# {kernel} fails as it is: {whole}")
    print(f"1..{n_cases}")
    return 0 if all_good else 1


if __name__ == "__main__":
    sys.exit(main())
