/* SPDX-License-Identifier: LGPL-2.1-or-later
 * rows.h: filters and rows of them, for tests; with the locks that they need.
 * The program ends where memory is short. */
#ifndef TEST_ROWS_H
#define TEST_ROWS_H

#include "tfx.h"

/* A chain of stages, whose references it takes. */
TfxChain *rows_chain (TfxStage **stages, size_t n);

/* A filter at 48000 Hz; the first takes references to the stages. */
TfxFilter *rows_filter (TfxStage **stages, size_t n, unsigned n_channels,
    TfxSample sample);
TfxFilter *
rows_filter_of (TfxChain *chain, unsigned n_channels, TfxSample sample);
void rows_clear (TfxFilter **row, size_t n);

/* A plan on the CPU. */
TfxPlan *rows_plan (TfxFilter *const *row, size_t n);
void rows_free (TfxPlan **plan);
void rows_reset (TfxFilter *const *row, size_t n);

/* Runs interleaved doubles in place. */
int rows_run (TfxPlan *plan, double *x, unsigned n_channels, size_t n_frames);

/* Up to n_most stages with ids from `first` on, in order. */
typedef TfxStage *(*RowsMakeStage) (uint64_t id, int depth);
TfxChain *rows_random_chain (uint64_t first, unsigned n_most, int depth,
    RowsMakeStage make);

#endif
