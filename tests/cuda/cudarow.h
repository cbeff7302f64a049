/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cudarow.h: a filter and the plan that runs it, for the tests of the backend. */
#ifndef TEST_CUDA_ROW_H
#define TEST_CUDA_ROW_H

#include "core/backend.h"
#include "tfx.h"

typedef struct CudaRow
{
  TfxFilter *filter;
  TfxPlan *plan;
  /* Runs what the backend cannot: see tfx_plan_run().  NULL: it was not needed
   * yet. */
  TfxPlan *cpu;
  uint64_t n_by_cpu; /* frames that the backend could not run */
} CudaRow;

/* At rest, for doubles at 48000 Hz; or for that spec.  End the program if there is
 * no plan. */
CudaRow *
cuda_row_new (TfxChain *chain, unsigned n_channels, const TfxBackend *backend);
CudaRow *cuda_row_new_for (TfxChain *chain, const TfxFilterSpec *spec,
    const TfxBackend *backend);
/* A chain of one stage with these sections. */
CudaRow *cuda_row_new_sections (const TfxSos *sos, size_t n_sos,
    unsigned n_channels, const TfxBackend *backend);
/* NULL is no row. */
void cuda_row_free (CudaRow **row);

/* Makes another engine at rest for the plan of the row, on the same backend; ends
 * the program on failure. */
TfxEngine *cuda_row_engine (CudaRow *row);

/* Another plan for the same filter. */
int cuda_row_go_to (CudaRow *row, const TfxBackend *backend);

/* As an element runs it: what the backend cannot run goes to the CPU. */
int cuda_row_run (CudaRow *row, const TfxBlock *in, const TfxBlock *out);
/* Interleaved samples in place. */
int cuda_row_f64 (CudaRow *row, double *samples, unsigned n_channels,
    size_t n_frames);
int cuda_row_f32 (CudaRow *row, float *samples, unsigned n_channels,
    size_t n_frames);
/* Doubles in blocks of random length up to piece. */
int cuda_row_pieces (CudaRow *row, double *samples, unsigned n_channels,
    size_t n_frames, unsigned piece);

/* The filter's and the plan's functions, with the lock held. */
int cuda_row_set_chain (CudaRow *row, TfxChain *chain);
void cuda_row_reset (CudaRow *row);
bool cuda_row_is_silent (CudaRow *row);
TfxStats cuda_row_stats (CudaRow *row);

#endif
