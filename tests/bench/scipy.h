/* SPDX-License-Identifier: LGPL-2.1-or-later
 * scipy.h: scipy.signal.sosfilt in double as a subject of a benchmark: a
 * Python process that lives as long as the benchmark. */
#ifndef SCIPY_H
#define SCIPY_H

#include "bench.h"
#include "process.h"
#include "tfx.h"

/* Starts Python; NULL if there is no Python with SciPy, or it failed.  *why
 * is then a text for the reader; otherwise it names the versions. */
Process *scipy_open (char *why, size_t why_size);

/* Makes a subject that filters blocks of noise, the state carried from block
 * to block, by one cascade, or by the sum of so many of as many sections each; bool `convert`: from float32 to float32, otherwise double arrays.
 * The process tries the layouts and takes the fastest; the variant names it.
 * The output from rest is compared with expected[n_frames][n_channels].
 * False, with a message, if anything failed. */
bool scipy_init_subject (Process *scipy, BenchSubject *subject,
    const TfxSos *sos, size_t n_sos, size_t n_branches, unsigned n_channels,
    size_t n_frames, bool convert, const float *expected);

#endif /* SCIPY_H */
