#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compiles one file of kernels for one architecture.

    nvcc.py NVCC ARCH INPUT OUTPUT REPORT

ARCH is sm_90 and the like, or compute_75 for PTX.  The assembler's report
(registers, spills) goes to the file REPORT; what went wrong to stderr.
"""

import subprocess
import sys
from pathlib import Path


def main():
    nvcc, arch, source, output, report = sys.argv[1:]
    kind = "-fatbin" if arch.startswith("sm_") else "-ptx"
    command = [nvcc, "-std=c++17", "-O3", "-arch=" + arch, kind, source, "-o", output]
    if kind == "-fatbin":
        command += ["-Xptxas", "-v", "-Xfatbin", "-compress-all"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    Path(report).write_text(done.stdout + done.stderr, encoding="utf-8")
    if done.returncode != 0:
        sys.stderr.write(done.stdout + done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
