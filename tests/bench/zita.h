/* SPDX-License-Identifier: LGPL-2.1-or-later
 * zita.h: zita-convolver as a subject of a benchmark.  It computes longer
 * partitions in threads of its own; the time is that of the whole process. */
#ifndef ZITA_H
#define ZITA_H

#ifdef __cplusplus
extern "C" {
#endif

#include "bench.h"

/* Taps in float, one kernel for each channel on its own; blocks of n_frames, a
 * power of two from 16 to 8192.  Partitions from n_frames to 8192, or all of
 * n_frames if is_uniform.  The first n_blocks blocks of output go to
 * out[n_blocks][n_frames][n_channels].  False if it refuses. */
bool zita_init_subject (BenchSubject *subject, const float *taps, size_t n_taps,
    unsigned n_channels, size_t n_frames, bool is_uniform, unsigned n_blocks,
    float *out);

#ifdef __cplusplus
}
#endif

#endif /* ZITA_H */
