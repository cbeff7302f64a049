/* SPDX-License-Identifier: LGPL-2.1-or-later
 * common.h: what the tests of the filter core share: names, noise, random
 * sections, and plain reference filters in double and quadruple precision.
 */
#ifndef TEST_COMMON_H
#define TEST_COMMON_H

#include "lang/expr.h"
#include "part.h"
#include "quad.h"
#include "tap.h"
#include "tfx.h"

#include <stdbool.h>
#include <stddef.h>

/* The kernels of the CPU backend, the reference first.  The last are AVX-512's
 * with the lanes dealt out as on the other kind of processor, one that runs its vectors in
 * halves if this one runs them whole, and the other way round. */
#define TEST_N_KERNELS 6
extern const char *const test_kernels[TEST_N_KERNELS];

/* The backend with them; NULL: not on this machine.  tfx_cpu_backend_for() does not know
 * the last. */
const TfxBackend *test_backend_for (const char *kernels);

/* Name k of the kernels of this machine, the reference first; NULL after the last. */
const char *test_kernel (size_t k);

/* "butter low 4, 1000 Hz of 48000 Hz"; text has room for 128 bytes. */
#define TEST_TEXT_SIZE 128
const char *
test_design_text (const TfxDesign *design, double rate_hz, char *text);

/* Uniform noise, -1 to 1, of values that a float holds. */
void test_noise_f32 (float *samples, size_t n);
/* The same, of values that only a double holds. */
void test_noise_f64 (double *samples, size_t n);

/* The same without what lies above 0.3 of the rate (12th order, 90 dB at 0.45). */
void test_noise_low (double *samples, size_t n_frames, unsigned n_channels);

/* A section with poles and zeros at random, the poles at most radius from the
 * origin, real or complex, and a largest gain of about one. */
TfxSos test_random_section (double radius);

/* The expression of a text, and its chain, at 48000 Hz; or the end of the program. */
TfxExpr *test_parse (const char *text);
TfxChain *test_build (const char *text, unsigned n_channels);
TfxChain *test_build_at (const char *text, double rate_hz, unsigned n_channels);
/* The chain of an expression, which stays the caller's. */
TfxChain *test_build_expr (const TfxExpr *expr, unsigned n_channels);

/* The positions of "FL, FR" or "FL FR". */
uint64_t test_parse_positions (const char *text);

/* malloc(), or the end of the program. */
void *test_alloc (size_t size);
double *test_alloc_f64 (size_t n);
double *test_copy_f64 (const double *samples, size_t n);

/* One filter at 48000 Hz and a plan for it, with the locks that they need. */
typedef struct TestFilter
{
  TfxFilter *filter;
  TfxPlan *plan;
} TestFilter;

/* Several stages. */
typedef struct TestStage
{
  uint64_t id;
  const TfxSos *sos; /* NULL: a gain */
  size_t n_sos;
  double gain;
} TestStage;

/* A chain of them; NULL, after a diagnostic, if one is refused. */
TfxChain *test_chain_of (const TestStage *stages, size_t n_stages);
/* A chain of the stage, which it lets go of. */
TfxChain *test_chain_of_one (TfxStage *stage);

/* At rest: one stage with these sections; several stages; or a chain, for a
 * spec.  NULL, after a diagnostic, if any of it fails. */
TestFilter *test_filter_new (const TfxSos *sos, size_t n_sos,
    unsigned n_channels, const TfxBackend *backend);
TestFilter *test_filter_of (const TestStage *stages, size_t n_stages,
    unsigned n_channels, const TfxBackend *backend);
TestFilter *test_filter_for (TfxChain *chain, const TfxFilterSpec *spec,
    const TfxBackend *backend);
/* A stage alone, or a chain, which they take.  kernel: of test_kernels; NULL: the best. */
TestFilter *
test_filter_start (TfxStage *stage, unsigned n_channels, const char *kernel);
TestFilter *test_filter_start_chain (TfxChain *chain, unsigned n_channels,
    const char *kernel);
void test_filter_free (TestFilter **row);

/* tfx_filter_set_chain(), whose argument it lets go of. */
int test_filter_set_chain (TestFilter *row, TfxChain *chain);
/* tfx_filter_set_stage(), or for frame tfx_filter_queue_stage(); they take the stage. */
int test_filter_set_stage (TestFilter *row, TfxStage *stage);
int test_filter_queue_stage (TestFilter *row, uint64_t frame, TfxStage *stage);
int
test_filter_set_format (TestFilter *row, TfxSample sample, size_t max_frames);
TfxReadings test_filter_read (TestFilter *row, uint64_t id);
int test_filter_run (TestFilter *row, const TfxBlock *in, const TfxBlock *out);
/* Interleaved samples of either type in place. */
int test_filter_f64 (TestFilter *row, double *samples, unsigned n_channels,
    size_t n_frames);
int test_filter_f32 (TestFilter *row, float *samples, unsigned n_channels,
    size_t n_frames);
/* Doubles in blocks of 1 to `longest` frames at random, 0: in one block.  From frame
 * `at` on it runs the chain `next`, which it takes, unless that is NULL.  0, or an error. */
int test_filter_pieces (TestFilter *row, double *samples, unsigned n_channels,
    size_t n_frames, size_t longest, size_t at, TfxChain *next);

/* Checks that blocks of any length give the bits of one block for the samples
 * [n_frames][n_channels], by a filter of `first` that gets `next`, unless that is NULL,
 * at frame `at`.  Takes its own references. */
void test_check_splits (TapMany *many, const char *what, TfxChain *first,
    TfxChain *next, size_t at, const double *samples, size_t n_frames,
    unsigned n_channels, const char *kernel);

void test_filter_reset (TestFilter *row);
bool test_filter_is_silent (TestFilter *row);
bool test_filter_is_changing (TestFilter *row);
void test_filter_get_stats (TestFilter *row, TfxStats *stats);

/* The transposed direct form II as tfx.h has it, section after section for
 * each sample, no fused multiply-add: what scipy.signal.sosfilt does.
 * state[n_sos][2], or NULL for rest; in may be out. */
void test_run_f64 (const TfxSos *sos, size_t n_sos, const double *in,
    double *out, size_t n_frames, double (*state)[2]);
/* The same in quadruple precision, from rest. */
void test_run_quad (const TfxSos *sos, size_t n_sos, const double *in,
    TestQuad *out, size_t n_frames);
/* The same in long double, from rest. */
void test_run_long (const TfxSos *sos, size_t n_sos, const double *in,
    long double *out, size_t n_frames);

/* A reference signal, value[i] = high[i] + low[i], computed in long double.  Its rounding is
 * at least 50 dB below that of the same arithmetic in double (test_fidelity long). */
typedef struct TestReference
{
  size_t n;
  double *high, *low;
} TestReference;

TestReference test_reference_new (const TfxSos *sos, size_t n_sos,
    const double *in, size_t n_frames);
void test_reference_clear (TestReference *reference);

/* 10 log10 (sum of squares of (value * scale - reference) / of reference) of
 * one channel, stride values from frame to frame; -999 if there is no error
 * at all, NaN if a value is. */
double test_error_db (const void *values, TfxSample type, size_t stride,
    double scale, const TestReference *reference);
double test_error_db_f64 (const double *values, size_t stride, double scale,
    const TestReference *reference);

/* The larger one; NaN if one is. */
static inline double
test_worse (double a, double b)
{
  return isnan (a) || a > b ? a : b;
}

/* The largest difference, relative to the largest value wanted; NaN if there is
 * one among them. */
double test_distance (const double *have, const double *want, size_t n);
/* The largest difference; and the largest as a part of the value wanted, or of `least` if
 * that is larger.  NaN if there is one among them. */
double test_difference (const double *have, const double *want, size_t n);
double
test_relative (const double *have, const double *want, size_t n, double least);
bool test_is_finite (const double *values, size_t n);

/* H = B/A of one section at exp(j w), all in quadruple precision. */
typedef struct TestQuadComplex
{
  TestQuad re, im;
} TestQuadComplex;

TestQuadComplex test_response_quad (const TfxSos *sos, size_t n_sos,
    double freq_hz, double rate_hz);
/* |a / b - 1| */
double test_complex_distance (TestQuadComplex a, TestQuadComplex b);

#endif /* TEST_COMMON_H */
