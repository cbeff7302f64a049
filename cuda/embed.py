#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes embedded.c: the sources of the kernels and their compiled images.

    embed.py OUTPUT SOURCE... [--images TOOLKIT IMAGE...]

An image is called NAME-ARCH.EXTENSION, with ARCH such as sm_90, or compute_75
for PTX.  TOOLKIT is the version of CUDA that made them, such as 13.1.
"""

import re
import sys
from pathlib import Path


def source_array(index, path):
    data = Path(path).read_bytes() + b"\0"
    rows = [", ".join(f"0x{b:02x}" for b in data[i:i + 16])
            for i in range(0, len(data), 16)]
    return (f"static const char source_{index}[] = {{\n  "
            + ",\n  ".join(rows) + "\n};\n")


# The assembler takes the file as it is; a zero ends the text of PTX.
IMAGE = """\
__asm__ (".section .rodata\\n"
         ".balign 64\\n"
         ".hidden tfx_image_{i}\\n"
         ".globl tfx_image_{i}\\n"
         "tfx_image_{i}:\\n"
         ".incbin \\"{path}\\"\\n"
         ".byte 0\\n"
         ".previous\\n");
extern const unsigned char tfx_image_{i}[]
    __attribute__ ((visibility ("hidden")));
"""


def main():
    arguments = sys.argv[1:]
    images, toolkit = [], 0
    if "--images" in arguments:
        at = arguments.index("--images")
        major, minor = arguments[at + 1].split(".")
        toolkit = 1000 * int(major) + 10 * int(minor)
        images = arguments[at + 2:]
        del arguments[at:]
    output, sources = arguments[0], arguments[1:]

    text = ["/* Made by embed.py. */", '#include "embedded.h"', ""]
    text += [source_array(i, path) for i, path in enumerate(sources)]
    text.append("const TfxKernelSource tfx_kernel_sources[] = {")
    text += [f'  {{ "{Path(path).name}", source_{i} }},'
             for i, path in enumerate(sources)]
    text += ["};", f"const size_t tfx_n_kernel_sources = {len(sources)};", ""]
    text += [IMAGE.format(i=i, path=Path(path).resolve())
             for i, path in enumerate(images)]
    text.append(f"const int tfx_kernel_toolkit = {toolkit};")
    text.append("const TfxKernelImage tfx_kernel_images[] = {")
    for i, path in enumerate(images):
        kind, arch = re.search(r"-(sm|compute)_(\d+)\.", Path(path).name).groups()
        text.append(f"  {{ {arch}, {int(kind == 'sm')}, tfx_image_{i} }},")
    text += ["  { 0, 0, 0 }", "};",
             f"const size_t tfx_n_kernel_images = {len(images)};", ""]
    Path(output).write_text("\n".join(text), encoding="ascii")


if __name__ == "__main__":
    main()
