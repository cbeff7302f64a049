/* SPDX-License-Identifier: LGPL-2.1-or-later
 * rows.h: a filter and the plan that runs it, for the tests of the backend. */
#ifndef TEST_CUDA_ROWS_H
#define TEST_CUDA_ROWS_H

#include "backend.h"
#include "tfx.h"

typedef struct TestRow
{
  TfxFilter *filter;
  TfxPlan *plan;
  /* Runs what the backend cannot: see tfx_plan_run().  NULL: it was not needed
   * yet. */
  TfxPlan *cpu;
  uint64_t n_by_cpu; /* frames that the backend could not run */
} TestRow;

/* At rest, for doubles at 48000 Hz; or for that spec.  NULL after a
 * diagnostic. */
TestRow *
test_row_new (TfxChain *chain, unsigned n_channels, const TfxBackend *backend);
TestRow *test_row_new_for (TfxChain *chain, const TfxFilterSpec *spec,
    const TfxBackend *backend);
/* A chain of one stage with these sections. */
TestRow *test_row_new_sections (const TfxSos *sos, size_t n_sos,
    unsigned n_channels, const TfxBackend *backend);
/* NULL is no row. */
void test_row_free (TestRow **row);

/* An engine at rest of its own, for the row's plan, on the same backend; ends
 * the program if it cannot be made. */
TfxEngine *test_row_engine (TestRow *row);

/* Another plan for the same filter. */
int test_row_go_to (TestRow *row, const TfxBackend *backend);

/* As an element runs it: what the backend cannot run goes to the CPU. */
int test_row_run (TestRow *row, const TfxBlock *in, const TfxBlock *out);
/* Interleaved samples in place. */
int test_row_f64 (TestRow *row, double *samples, unsigned n_channels,
    size_t n_frames);
int test_row_f32 (TestRow *row, float *samples, unsigned n_channels,
    size_t n_frames);
/* Doubles in blocks of random length up to piece. */
int test_row_pieces (TestRow *row, double *samples, unsigned n_channels,
    size_t n_frames, unsigned piece);

/* The filter's and the plan's functions, with the lock held. */
int test_row_set_chain (TestRow *row, TfxChain *chain);
void test_row_reset (TestRow *row);
bool test_row_is_silent (TestRow *row);
TfxStats test_row_stats (TestRow *row);

#endif
