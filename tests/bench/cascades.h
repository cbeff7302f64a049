/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascades.h: the filters that the benchmarks run. */
#ifndef CASCADES_H
#define CASCADES_H

#include "tfx.h"

/* All are designed for this rate, in Hz. */
#define CASCADES_RATE 44100

/* The filters of the api chain, in order. */
#define CASCADES_N_API 6
extern const TfxDesign cascades_api[CASCADES_N_API];

/* The sections of n designs, one behind the other.  Returns their number, or
 * a negative errno. */
int cascades_design (const TfxDesign *designs, size_t n, TfxSos *sos,
    size_t max_sos);

/* The sections of the api chain, over and over until there are n_sos. */
int cascades_repeat_api (TfxSos *sos, size_t n_sos);

/* One filter and a plan for it. */
typedef struct BenchFilter
{
  TfxFilter *filter;
  TfxPlan *plan;
} BenchFilter;

/* n_sos sections as one stage; false if that failed. */
bool bench_filter_init (BenchFilter *cascade, const TfxSos *sos, size_t n_sos,
    unsigned n_channels, const TfxBackend *backend);
void bench_filter_clear (BenchFilter *cascade);

/* The name of the kernels that tfx_cpu_backend() has chosen; NULL if memory
 * is short. */
const char *cascades_kernel (void);

#endif /* CASCADES_H */
