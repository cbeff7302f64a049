#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compiles one file of kernels for one architecture, into a compressed image.

    nvcc.py NVCC ARCH INPUT OUTPUT REPORT

ARCH is sm_90 and the like, or compute_75 for PTX.  The assembler's report
(registers, spills) goes to the file REPORT, with the size of each kernel's machine
code; what went wrong to stderr.
"""

import struct
import subprocess
import sys
import tempfile
from pathlib import Path


def code_sizes(elf):
    """Names and bytes of the kernels in an ELF file of machine code."""
    (at,) = struct.unpack_from("<Q", elf, 40)
    size, n, names = struct.unpack_from("<HHH", elf, 58)
    sections = [struct.unpack_from("<I20xQQ", elf, at + i * size) for i in range(n)]
    for name, _, length in sections:
        start = sections[names][1] + name
        name = elf[start:elf.index(b"\0", start)].decode()
        if name.startswith(".text."):
            yield name[len(".text."):], length


def main():
    nvcc, arch, source, output, report = sys.argv[1:]
    # What is asked for alone: -arch would add PTX to machine code.
    code = f"arch=compute_{arch.split('_')[1]},code={arch}"
    command = [nvcc, "-std=c++17", "-O3", "-fatbin", "-gencode", code,
               "-Xptxas", "-v", "-Xfatbin", "-compress-all", source, "-o", output]
    with tempfile.TemporaryDirectory() as folder:
        command += ["-keep", "-keep-dir", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        sizes = [f"Machine code of '{name}': {length} bytes\n"
                 for path in Path(folder).glob("*.cubin")
                 for name, length in code_sizes(path.read_bytes())]
    Path(report).write_text(done.stdout + done.stderr + "".join(sizes),
                            encoding="utf-8")
    if done.returncode != 0:
        sys.stderr.write(done.stdout + done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
