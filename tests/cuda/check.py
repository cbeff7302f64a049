#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks what a build has made, as TAP.

    check.py symbols LIBCUDA    the stand-in has the driver's symbols, no others
    check.py reports REPORT...  no kernel spills registers into memory, or is larger
                                than a multiprocessor's instruction cache
"""

import re
import subprocess
import sys

# What libgstcuda looks up, all of it required.
GSTCUDA = {
    "1.22": """
        cuInit cuGetErrorName cuGetErrorString cuCtxCreate_v2 cuCtxDestroy_v2
        cuCtxPopCurrent_v2 cuCtxPushCurrent_v2 cuCtxEnablePeerAccess
        cuCtxDisablePeerAccess cuGraphicsMapResources cuGraphicsUnmapResources
        cuGraphicsResourceSetMapFlags_v2 cuGraphicsSubResourceGetMappedArray
        cuGraphicsResourceGetMappedPointer_v2 cuGraphicsUnregisterResource
        cuMemAlloc_v2 cuMemAllocPitch_v2 cuMemAllocHost_v2 cuMemcpy2D_v2
        cuMemcpy2DAsync_v2 cuMemFree_v2 cuMemFreeHost cuStreamCreate
        cuStreamDestroy cuStreamSynchronize cuDeviceGet cuDeviceGetCount
        cuDeviceGetName cuDeviceGetAttribute cuDeviceCanAccessPeer
        cuDriverGetVersion cuModuleLoadData cuModuleUnload cuModuleGetFunction
        cuTexObjectCreate cuTexObjectDestroy cuLaunchKernel
        cuGraphicsGLRegisterImage cuGraphicsGLRegisterBuffer
        cuGLGetDevices_v2""",
    "1.24": """
        cuStreamDestroy_v2 cuEventCreate cuEventDestroy_v2 cuEventRecord
        cuEventSynchronize cuIpcGetEventHandle cuIpcOpenEventHandle
        cuIpcGetMemHandle cuIpcOpenMemHandle cuIpcCloseMemHandle""",
    "1.26": """
        cuCtxSynchronize cuCtxGetLimit cuCtxSetLimit cuMemcpyDtoD_v2
        cuMemcpyDtoDAsync_v2 cuMemcpyDtoH_v2 cuMemcpyDtoHAsync_v2
        cuMemcpyHtoD_v2 cuMemcpyHtoDAsync_v2 cuMemsetD2D8_v2 cuMemsetD2D8Async
        cuMemsetD2D16_v2 cuMemsetD2D16Async cuMemsetD2D32_v2
        cuMemsetD2D32Async""",
    "1.28": "cuDeviceGetUuid",
    "libnvrtc 13": "cuGetExportTable",
}

# Bytes of the instruction cache, the second level of three: 128 KB from compute
# capability 7.0 on (Z. Jia and others, "Dissecting the NVIDIA Volta GPU
# architecture via microbenchmarking", 2018).
MAX_CODE = 128 * 1024

n_cases = 0
all_good = True


def case(good, text):
    global n_cases, all_good
    n_cases += 1
    all_good = all_good and good
    print(f"{'ok' if good else 'not ok'} {n_cases} - {text}")


def check_symbols(library):
    text = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                          capture_output=True, text=True).stdout
    symbols = {line.split()[-1] for line in text.splitlines()}
    for version, names in GSTCUDA.items():
        missing = sorted(set(names.split()) - symbols)
        case(not missing, f"what {version} asks for: {' '.join(missing)}")
    others = sorted(s for s in symbols if not re.fullmatch(r"cu[A-Z]\w*", s))
    case(not others, f"nothing but the driver's symbols: {' '.join(others)}")


def check_report(path):
    name, n_kernels, spills, sizes = None, 0, [], {}
    for line in open(path, encoding="utf-8"):
        if found := re.search(r"Compiling entry function '(\w+)'", line):
            name = found[1]
            n_kernels += 1
        found = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, "
                          r"(\d+) bytes spill loads", line)
        if found and any(int(n) for n in found.groups()):
            spills.append(f"{name}: {found[0]}")
        if found := re.search(r"Machine code of '(\w+)': (\d+) bytes", line):
            sizes[found[1]] = int(found[2])
    if "compute_" in path:
        return
    case(n_kernels > 0 and not spills,
         f"{n_kernels} kernels of {path.split('/')[-1]}: {'; '.join(spills)}")
    case(len(sizes) == n_kernels and max(sizes.values()) <= MAX_CODE,
         f"machine code of {path.split('/')[-1]}: at most {max(sizes.values())} "
         f"bytes, {max(sizes, key=sizes.get)}")


def main():
    what, *paths = sys.argv[1:]
    if what == "symbols":
        check_symbols(paths[0])
    else:
        for path in paths:
            check_report(path)
    print(f"1..{n_cases}")
    return 0 if all_good else 1


if __name__ == "__main__":
    sys.exit(main())
