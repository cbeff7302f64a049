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

/* A plan on the CPU; and one of a single filter, which has the only reference to it. */
TfxPlan *rows_plan (TfxFilter *const *row, size_t n);
TfxPlan *rows_open (TfxStage **stages, size_t n, unsigned n_channels,
    TfxSample sample, TfxFilter **filter);
void rows_free (TfxPlan **plan);
void rows_reset (TfxFilter *const *row, size_t n);

/* Settings of a filter; they take the reference. */
int rows_set_chain (TfxFilter *filter, TfxChain *chain);
int rows_set (TfxFilter *filter, TfxStage *stage);
int rows_queue (TfxFilter *filter, uint64_t frame, TfxStage *stage);

/* Runs interleaved doubles in place; and in blocks. */
int rows_run (TfxPlan *plan, double *x, unsigned n_channels, size_t n_frames);
void rows_run_blocks (TfxPlan *plan, double *x, unsigned n_channels,
    size_t n_frames, size_t n_block);

/* A Butterworth low-pass; a peak of the Audio EQ Cookbook, an identity at 0 dB; a FIR. */
TfxStage *rows_low_pass (uint64_t id, unsigned order, double hz);
TfxStage *rows_peaking (uint64_t id, double hz, double gain_db);
TfxStage *
rows_fir (uint64_t id, const double *taps, size_t n_taps, TfxFirMethod method);
/* A sum, which takes the references. */
TfxStage *rows_sum (uint64_t id, TfxChain *a, TfxChain *b);

/* Up to n_most stages with ids from `first` on, in order. */
typedef TfxStage *(*RowsMakeStage) (uint64_t id, int depth);
TfxChain *rows_random_chain (uint64_t first, unsigned n_most, int depth,
    RowsMakeStage make);

#endif
