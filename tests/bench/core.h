/* SPDX-License-Identifier: LGPL-2.1-or-later
 * core.h: the filter core as a subject of a benchmark. */
#ifndef CORE_H
#define CORE_H

#include "bench.h"
#include "cascades.h"

/* What to run.  Samples go from one block to another. */
typedef struct CoreCase
{
  const char *kernel; /* see tfx_cpu_backend_for() */
  bool planar;
  TfxSample type;
  unsigned n_channels;
  size_t n_frames;
  const TfxSos *sos;
  size_t n_sos;
  /* 0: one executor runs all sections; otherwise as many executors run one
   * after the other, in place, each its even share of the sections. */
  unsigned n_executors;
} CoreCase;

/* A block of the case: noise, or silence.  The caller frees its data, also after
 * a failure. */
bool core_new_block (const CoreCase *c, bool noise, TfxBlock *block);

double core_get_sample (const TfxBlock *block, size_t frame, unsigned channel);

/* Makes a subject of it; false if memory is short or the machine lacks the
 * kernel. */
bool core_init_subject (BenchSubject *subject, const CoreCase *c);

/* The first block that the core puts out for the noise of
 * bench_fill_noise(): out[n_frames][n_channels].  False as above. */
bool core_filter_noise (const CoreCase *c, float *out);

#endif /* CORE_H */
