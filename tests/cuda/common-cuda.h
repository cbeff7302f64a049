/* SPDX-License-Identifier: LGPL-2.1-or-later
 * common-cuda.h: what the tests of the CUDA backend share. */
#ifndef TEST_COMMON_CUDA_H
#define TEST_COMMON_CUDA_H

#include "core/backend.h"
#include "common.h"
#include "driver.h"
#include "tap.h"
#include "tfx-cuda.h"

/* The two arithmetics for float streams, by a device that has each. */
#define TEST_CUDA_DOUBLE "90"
#define TEST_CUDA_TWOFOLD "86"

/* Opens the first device with this arithmetic: the stand-in gets this compute
 * capability. NULL: the default. Ends the program if there is none. */
TfxCuda *test_cuda_new (const char *compute);

/* tap_main() with a device as test_cuda_new() opens it; with cudas[0] and cudas[1], one
 * of each arithmetic; or on the stand-in only, where each test opens its own. */
int test_cuda_main (int argc, char **argv, const TapTest *tests,
    const char *compute, TfxCuda **cuda);
int test_cuda_main_both (int argc, char **argv, const TapTest *tests,
    TfxCuda *cudas[2]);
int test_cuda_main_standin (int argc, char **argv, const TapTest *tests);

/* A setting of the stand-in, see standin/standin.h; NULL clears it. */
void test_cuda_set (const char *name, const char *value);

/* What the stand-in has reported since the last call: faults of the caller, and the
 * failures that were asked for.  Valid until the next call. */
const char *test_cuda_report (void);

/* True if the driver is the stand-in. */
bool test_cuda_is_standin (void);

/* A device through the driver alone, its primary context current, with the
 * stand-in's kernels and a stream. */
typedef struct TestDevice
{
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUstream stream;
} TestDevice;

void test_device_open (TestDevice *device, int ordinal);
void test_device_close (TestDevice *device);

/* Bytes of shared memory that a block may have. */
size_t test_cuda_max_shared (TfxCuda *cuda);

/* Returns the number of copies in each direction for n blocks: 0 on an integrated
 * device, which has the memory of the host. */
unsigned test_cuda_copies (TfxCuda *cuda, unsigned n_blocks);

/* Device memory that the backend does not know. Ends the program if a call fails. */
void *test_cuda_alloc (TfxCuda *cuda, size_t size);
void test_cuda_free (TfxCuda *cuda, void *memory);
/* Pinned memory of the host. */
void *test_cuda_alloc_pinned (TfxCuda *cuda, size_t size);
void test_cuda_free_pinned (TfxCuda *cuda, void *memory);
void test_cuda_upload (TfxCuda *cuda, void *to, const void *from, size_t size);
void
test_cuda_download (TfxCuda *cuda, void *to, const void *from, size_t size);

/* The six sections of the api chain at 44100 Hz. */
#define TEST_API_SECTIONS 6
void test_cuda_api (TfxSos *sos);

/* Random sections, each part of the cascade with a largest gain of one. */
void test_cuda_random (TfxSos *sos, size_t n_sos);

/* Peaking sections as an equaliser has them: 20 Hz to 16 kHz at 48 kHz, up to
 * 6 dB up or down, Q 0.5 to 8. */
void test_cuda_equaliser (TfxSos *sos, size_t n_sos);

/* The largest error of double arithmetic, sample after sample, in a few
 * thousand frames of noise: what the sections themselves make of rounding. */
double test_cuda_rounding (const TfxSos *sos, size_t n_sos);

#endif /* TEST_COMMON_CUDA_H */
