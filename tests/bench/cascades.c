/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascades.c: the api chain and its like, as sections and as executors. */
#include "cascades.h"

#include "core/backend.h"

#include <errno.h>
#include <string.h>

#define HIGH_PASS(hz)                                                          \
  {                                                                            \
    .family = TFX_FAMILY_CHEBYSHEV1, .mode = TFX_MODE_HIGH_PASS, .order = 2,   \
    .lower_hz = hz, .ripple_db = 0.5                                           \
  }
#define LOW_PASS(hz)                                                           \
  {                                                                            \
    .family = TFX_FAMILY_BUTTERWORTH, .mode = TFX_MODE_LOW_PASS, .order = 2,   \
    .lower_hz = hz                                                             \
  }

const TfxDesign cascades_api[CASCADES_N_API] = { HIGH_PASS (20.0),
  HIGH_PASS (60.0), HIGH_PASS (65.0), LOW_PASS (5000.0), LOW_PASS (4900.0),
  LOW_PASS (4850.0) };

int
cascades_design (const TfxDesign *designs, size_t n, TfxSos *sos,
    size_t max_sos)
{
  size_t n_sos = 0;

  for (size_t i = 0; i < n; i++) {
    TfxSos part[TFX_DESIGN_MAX_SECTIONS];
    int n_part = tfx_design_sections (&designs[i], CASCADES_RATE, part);

    if (n_part < 0)
      return n_part;
    if ((size_t)n_part > max_sos - n_sos)
      return -ENOSPC;
    memcpy (sos + n_sos, part, (size_t)n_part * sizeof *sos);
    n_sos += (size_t)n_part;
  }
  return (int)n_sos;
}

int
cascades_repeat_api (TfxSos *sos, size_t n_sos)
{
  TfxSos api[CASCADES_N_API];
  int n_api =
      cascades_design (cascades_api, CASCADES_N_API, api, CASCADES_N_API);

  if (n_api <= 0)
    return n_api;
  for (size_t i = 0; i < n_sos; i++)
    sos[i] = api[i % (size_t)n_api];
  return (int)n_sos;
}

bool
bench_filter_init (BenchFilter *cascade, const TfxSos *sos, size_t n_sos,
    unsigned n_channels, const TfxBackend *backend)
{
  const TfxFilterSpec spec = { CASCADES_RATE, n_channels, TFX_SAMPLE_F64, 0 };
  TfxStage *stage = tfx_stage_new_sections (tfx_stage_new_id (), sos, n_sos);
  TfxChain *chain = tfx_chain_append (NULL, stage);

  *cascade = (BenchFilter){ NULL, NULL };
  if (chain && tfx_filter_new (chain, &spec, &cascade->filter) == 0) {
    tfx_filter_lock (cascade->filter);
    tfx_plan_new (&cascade->filter, 1, backend, &cascade->plan);
    tfx_filter_unlock (cascade->filter);
  }
  tfx_chain_unref (&chain);
  tfx_stage_unref (&stage);
  if (!cascade->plan)
    tfx_filter_unref (&cascade->filter);
  return cascade->plan != NULL;
}

void
bench_filter_clear (BenchFilter *cascade)
{
  if (!cascade->filter)
    return;
  tfx_filter_lock (cascade->filter);
  tfx_plan_free (&cascade->plan);
  tfx_filter_unlock (cascade->filter);
  tfx_filter_unref (&cascade->filter);
}

const char *
cascades_kernel (void)
{
  return tfx_cpu_backend ()->kernel;
}
