/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cardcase.c: see cardcase.h. */
#include "cardcase.h"

#include <math.h>
#include <stdlib.h>

TfxCudaCard
cardcase_card (const StandinCard *s)
{
  return (TfxCudaCard){ .compute = s->compute,
    .n_multiprocessors = s->n_multiprocessors,
    .clock_khz = 1000 * s->clock_mhz,
    .memory_khz = 1000 * s->memory_mhz,
    .memory_bits = s->bus_bits,
    .double_ratio = s->n_float / s->n_double,
    .max_shared = 1024 * s->block_shared,
    .shared = 1024 * s->shared,
    .is_integrated = s->is_integrated };
}

CudaRow *
cardcase_row (const CardCase *s)
{
  const TfxFilterSpec spec = { .rate_hz = RATE,
    .n_channels = s->n_channels,
    .sample = s->type };
  TfxChain *chain = tfx_chain_new ();
  CudaRow *row;

  if (s->n_sections > 0) {
    TfxSos *sos = calloc (s->n_sections, sizeof *sos);

    test_cuda_random (sos, s->n_sections);
    test_cuda_append (&chain,
        tfx_stage_new_sections (tfx_stage_new_id (), sos, s->n_sections));
    free (sos);
  }
  if (s->n_taps > 0) {
    double *taps = test_cuda_noise (s->n_taps);
    const double *kernels[] = { taps };
    int matrix[8 * 8];

    for (unsigned i = 0; i < 8 * 8; i++)
      matrix[i] = i % 8 < s->n_inputs ? 0 : -1;
    test_cuda_append (&chain,
        s->n_inputs > 0
            ? tfx_stage_new_fir_matrix (tfx_stage_new_id (), s->n_channels,
                  matrix, kernels, 1, s->n_taps, TFX_FIR_AUTO)
            : tfx_stage_new_fir (tfx_stage_new_id (), kernels, 1, s->n_taps,
                  TFX_FIR_AUTO));
    free (taps);
  }
  row = cuda_row_new_for (chain, &spec, tfx_cpu_backend ());
  tfx_chain_unref (&chain);
  return row;
}

double
cardcase_estimate (const TfxCudaCard *card, const CardCase *s, size_t n_frames,
    bool on_device)
{
  const TfxCudaJob job = { .n_frames = n_frames,
    .from_device = on_device,
    .to_device = on_device };
  CudaRow *row = cardcase_row (s);
  double ns;
  bool is_known = row && tfx_cuda_estimate (card, row->plan, &job, &ns);

  cuda_row_free (&row);
  return is_known ? ns : NAN;
}
