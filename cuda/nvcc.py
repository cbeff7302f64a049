#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compiles one file of kernels for one architecture, into a compressed image.

    nvcc.py NVCC ARCH INPUT OUTPUT REPORT

ARCH is sm_90 and the like, or compute_75 for PTX.  The assembler's report
(registers, spills) goes to the file REPORT; what went wrong to stderr.
"""

import subprocess
import sys
from pathlib import Path


def main():
    nvcc, arch, source, output, report = sys.argv[1:]
    # What is asked for alone: -arch would add PTX to machine code.
    code = f"arch=compute_{arch.split('_')[1]},code={arch}"
    command = [nvcc, "-std=c++17", "-O3", "-fatbin", "-gencode", code,
               "-Xptxas", "-v", "-Xfatbin", "-compress-all", source, "-o", output]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    Path(report).write_text(done.stdout + done.stderr, encoding="utf-8")
    if done.returncode != 0:
        sys.stderr.write(done.stdout + done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
