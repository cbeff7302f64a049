/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_sum.c: branches of a sum, or for some of the channels, that run as one: which do, their
 * output, and their state.
 */
#include "buffer.h"
#include "common.h"
#include "core/backend.h"
#include "cpu/engine-private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE 48000.0
#define GRID TFX_GRID_FRAMES
#define MAX_BRANCHES 12
#define MAX_SECTIONS 24

/* ---- sums --------------------------------------------------------------------------- */

/* A gain, sections behind it, or in front, and a delay line behind them: whatever there
 * is. */
typedef struct Branch
{
  double gain; /* 0: none; MUTE: 0 */
  TfxDesign design;
  size_t delay;
  bool is_gain_last;
  uint64_t channels; /* of a split */
} Branch;

#define MUTE 1e-99
#define LOW(ORDER, HZ)                                                         \
  {                                                                            \
    TFX_FAMILY_BUTTERWORTH, TFX_MODE_LOW_PASS, ORDER, HZ, 0, 0, 0              \
  }
#define HIGH(ORDER, HZ)                                                        \
  {                                                                            \
    TFX_FAMILY_BUTTERWORTH, TFX_MODE_HIGH_PASS, ORDER, HZ, 0, 0, 0             \
  }
#define BAND(HZ)                                                               \
  {                                                                            \
    TFX_FAMILY_BUTTERWORTH, TFX_MODE_BAND_PASS, 1, HZ, 1.4 * HZ, 0, 0          \
  }

/* Or a split, if its branches have channels. */
typedef struct Sum
{
  const char *name;
  size_t n;
  Branch branches[MAX_BRANCHES];
  /* Merged groups of 1 and 8 channels in vectors of four and eight, and whether they are on. */
  size_t n_groups[2];
  bool is_exact;
  bool is_merged;  /* or, of doubles, cascades merged in mono */
  double rounding; /* of doubles, as a part of the largest value */
} Sum;

static const Sum sums[] = {
  { "a crossover", 2, { { 0, LOW (4, 400), 0 }, { 0, HIGH (4, 400), 0 } },
      { 1, 1 }, true, true, 1e-13 },
  { "dry and wet", 2, { { 0.5 }, { 0, LOW (6, 1000), 0 } }, { 1, 1 }, true,
      false, 1e-13 },
  { "itself and a section", 2, { { 0 }, { -0.7, BAND (1000), 0 } }, { 0, 1 },
      true, false, 1e-13 },
  { "a bank", 10,
      { { 1.1, BAND (40), 0 }, { 0.9, BAND (80), 0 }, { -0.8, BAND (160), 0 },
          { 1.2, BAND (320), 0 }, { 0.7, BAND (640), 0 }, { 0, BAND (1280), 0 },
          { 0, BAND (2560), 0 }, { 0.3, BAND (5000), 0 }, { 0, BAND (9000), 0 },
          { 0.1, BAND (15000), 0 } },
      { 1, 1 }, true, true, 1e-13 },
  { "more sections than one has", 5,
      { { 0, LOW (8, 400), 0 }, { 0.2, HIGH (8, 4000), 0 },
          { 0, LOW (8, 800), 0 }, { 0.1, HIGH (8, 8000), 0 },
          { 0, HIGH (8, 200), 0 } },
      { 1, 1 }, true, true, 1e-13 },
  { "a delay line between", 5,
      { { 0, LOW (4, 300), 0 }, { 0, HIGH (2, 900), 0 },
          { 0.5, LOW (2, 5000), 100 }, { 0, LOW (5, 2000), 0 }, { 0.25 } },
      { 2, 2 }, true, true, 1e-13 },
  { "a separate cascade first", 3,
      { { 0, LOW (40, 1000), 0 }, { 0, HIGH (2, 100), 0 },
          { 0, LOW (1, 9000), 0 } },
      { 1, 1 }, true, true, 1e-13 },
  { "of first order", 3,
      { { 0, HIGH (1, 300), 0 }, { 0, LOW (1, 300), 0 },
          { -1, HIGH (3, 3000), 0 } },
      { 1, 1 }, true, true, 1e-13 },
  { "gains behind", 4,
      { { -0.3, LOW (4, 300), 0, true }, { MUTE, HIGH (2, 3000), 0, true },
          { MUTE }, { 2, LOW (2, 3000), 0, true } },
      { 1, 1 }, true, true, 1e-13 },
  { "zeros that hide the poles", 2,
      { { MUTE, LOW (2, 300), 0 }, { 0, HIGH (2, 3000), 0 } }, { 1, 1 }, false,
      true, 1e-13 },
  { "the same twice", 2, { { 0, LOW (4, 300), 0 }, { 0, LOW (4, 300), 0 } },
      { 1, 1 }, true, true, 1e-13 },
  { "poles too near to one another", 2,
      { { 0, LOW (10, 20), 0 }, { 0, HIGH (4, 400), 0 } }, { 1, 1 }, false,
      false, 1e-8 },
  { "a channel each", 4,
      { { 0, LOW (4, 300), 0, false, 0x11 },
          { 0.5, HIGH (2, 900), 0, true, 0x22 },
          { 0, BAND (1000), 0, false, 0x44 },
          { -0.7, LOW (5, 5000), 0, false, 0x88 } },
      { 0, 1 }, true, false, 1e-13 },
  { "two channels each, and others", 4,
      { { 0, LOW (8, 300), 0, false, 0x21 }, { 0.25, { 0 }, 0, false, 0x4 },
          { 2, HIGH (1, 900), 0, false, 0x18 },
          { 0.5, LOW (3, 2000), 0, true, 0x142 } },
      { 0, 1 }, true, false, 1e-13 },
  { "a channel that is mute", 2,
      { { 0, LOW (4, 300), 0, false, 0x55 },
          { MUTE, HIGH (3, 900), 0, true, 0xaa } },
      { 0, 1 }, false, false, 1e-13 },
  { "a delay line for one", 2,
      { { 0, LOW (4, 300), 0, false, 1 }, { 0, HIGH (3, 900), 50, false, 2 } },
      { 0, 0 }, false, false, 1e-13 },
  { "a delay line behind each", 4,
      { { 0, LOW (6, 300), 50, false, 0x11 },
          { 0.5, HIGH (5, 900), 3, false, 0x22 },
          { 0, LOW (6, 2000), 0, false, 0x44 },
          { -2, HIGH (6, 500), 700, false, 0x88 } },
      { 0, 1 }, true, false, 1e-13 },
  { "gains alone", 3, { { 0.5 }, { 0 }, { -0.25 } }, { 0, 0 }, false, false,
      1e-13 },
};
#define N_SUMS (sizeof sums / sizeof sums[0])

/* Ids of the stages of a branch. */
enum
{
  GAIN,
  SECTIONS,
  DELAY,
  N_STAGES
};

static uint64_t
id_of (size_t branch, unsigned stage)
{
  return 100 + branch * N_STAGES + stage;
}

static double
gain_of (const Branch *b)
{
  return b->gain == 0 ? 1.0 : b->gain == MUTE ? 0.0 : b->gain;
}

/* Sections of a branch, the frequency `factor` times as high. */
static size_t
sections_of (const Branch *b, double factor, TfxSos *sos)
{
  TfxDesign design = b->design;
  int n;

  if (design.order == 0)
    return 0;
  design.lower_hz *= factor;
  design.upper_hz *= factor;
  n = tfx_design_sections (&design, RATE, sos);
  return n > 0 ? (size_t)n : 0;
}

static TfxStage *
sections_stage (const Sum *sum, size_t branch, double factor)
{
  TfxSos sos[MAX_SECTIONS];
  const size_t n = sections_of (&sum->branches[branch], factor, sos);

  return tfx_stage_new_sections (id_of (branch, SECTIONS), sos, n);
}

static void
append (TfxChain **chain, TfxStage *stage)
{
  TfxChain *longer = tfx_chain_append (*chain, stage);

  tfx_stage_unref (&stage);
  tfx_chain_unref (chain);
  *chain = longer;
}

static bool
is_split (const Sum *sum)
{
  return sum->branches[0].channels != 0;
}

/* Whether a branch has channels that there are. */
static bool
is_there (const Sum *sum, size_t k, unsigned n_channels)
{
  return !is_split (sum) ||
         (sum->branches[k].channels & ((1u << n_channels) - 1)) != 0;
}

static TfxChain *
make_chain (const Sum *sum, unsigned n_channels)
{
  TfxChain *branches[MAX_BRANCHES] = { NULL }, *chain = NULL;
  uint64_t channels[MAX_BRANCHES];
  size_t n = 0;

  for (size_t k = 0; k < sum->n; k++) {
    const Branch *b = &sum->branches[k];
    const TfxTap tap = { b->delay, 1.0, false, TFX_TAP_BOTH };
    const bool has_gain = b->gain != 0 || b->design.order == 0;
    TfxStage *gain;

    if (!is_there (sum, k, n_channels))
      continue;
    gain = tfx_stage_new_gain (id_of (k, GAIN), gain_of (b));
    if (has_gain && !b->is_gain_last)
      append (&branches[n], tfx_stage_ref (gain));
    if (b->design.order > 0)
      append (&branches[n], sections_stage (sum, k, 1.0));
    if (b->is_gain_last)
      append (&branches[n], tfx_stage_ref (gain));
    tfx_stage_unref (&gain);
    if (b->delay > 0)
      append (&branches[n],
          tfx_stage_new_delay (id_of (k, DELAY), 0.0, &tap, 1));
    channels[n++] = b->channels & ((1u << n_channels) - 1);
  }
  append (&chain, is_split (sum)
                      ? tfx_stage_new_split (1, branches, channels, n)
                      : tfx_stage_new_sum (1, branches, n));
  for (size_t k = 0; k < n; k++)
    tfx_chain_unref (&branches[k]);
  return chain;
}

static TestFilter *
make_filter (const Sum *sum, unsigned n_channels, const char *kernel)
{
  const TfxFilterSpec spec = { .rate_hz = RATE,
    .n_channels = n_channels,
    .sample = TFX_SAMPLE_F32 };
  TfxChain *chain = make_chain (sum, n_channels);
  TestFilter *f = test_filter_for (chain, &spec, test_backend_for (kernel));

  tfx_chain_unref (&chain);
  return f;
}

/* Runs a check for every kernel, sum and channel count (up to a 0). */
static void
check_all (TapMany *many, const Sum *all, size_t n, const unsigned *channels,
    void (*check) (TapMany *, const Sum *, unsigned, const char *))
{
  const char *kernel;

  for (size_t k = 0; (kernel = test_kernel (k)); k++) {
    for (size_t i = 0; i < n; i++) {
      for (const unsigned *c = channels; *c; c++)
        check (many, &all[i], *c, kernel);
    }
  }
  tap_many_end (many);
}

static const unsigned one_to_nine[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 0 };

/* One channel from the definition. */
static void
run_plain (const Sum *sum, unsigned channel, const double *in, double *out,
    size_t n)
{
  double *y = test_alloc_f64 (n);
  bool is_any = !is_split (sum);

  memset (out, 0, n * sizeof *out);
  for (size_t k = 0; k < sum->n; k++) {
    const Branch *b = &sum->branches[k];
    TfxSos sos[MAX_SECTIONS];
    const size_t n_sos = sections_of (b, 1.0, sos);

    if (is_split (sum) && !(b->channels >> channel & 1))
      continue;
    is_any = true;
    for (size_t i = 0; i < n; i++)
      y[i] = i < b->delay ? 0.0 : gain_of (b) * in[i - b->delay];
    test_run_f64 (sos, n_sos, y, y, n, NULL);
    for (size_t i = 0; i < n; i++)
      out[i] += y[i];
  }
  if (!is_any)
    memcpy (out, in, n * sizeof *out);
  free (y);
}

/* Noise of [n][n_channels] and its filtered values. */
static void
make_signal (const Sum *sum, unsigned n_channels, size_t n, double *in,
    double *want)
{
  double *x = test_alloc_f64 (n), *y = test_alloc_f64 (n);
  float *noise = test_alloc (n * sizeof *noise);

  for (unsigned c = 0; c < n_channels; c++) {
    test_noise_f32 (noise, n);
    for (size_t i = 0; i < n; i++)
      in[i * n_channels + c] = x[i] = noise[i];
    run_plain (sum, c, x, y, n);
    for (size_t i = 0; i < n; i++)
      want[i * n_channels + c] = y[i];
  }
  free (noise);
  free (y);
  free (x);
}

/* The largest error of floats beyond the rounding of the values wanted. */
static double
excess (const double *have, const double *want, size_t n)
{
  double worst = 0;

  for (size_t i = 0; i < n; i++)
    worst = test_worse (worst,
        fabs (have[i] - want[i]) - fabs (want[i]) * 0x1p-24 * (1 + 1e-6));
  return worst;
}

/* Rounding in doubles; LOW (10, 20) has most. */
#define ROUNDING 2e-9

static const Node *
sum_node (const TestFilter *f)
{
  return &f->plan->engine->nodes[f->plan->top.steps[0].index];
}

/* Of a form: all groups, or those that are on. */
static unsigned
count (const TestFilter *f, TfxTermsForm form, bool is_on)
{
  const Node *node = sum_node (f);
  unsigned n = 0;

  for (size_t i = 0; i < node->n_merged; i++)
    n += node->merged[i].form == form && (!is_on || node->merged[i].is_on);
  return n;
}

/* ---- output --------------------------------------------------------------------- */

/* Of each type, in layouts that take turns, in blocks of random lengths. */
static void
check_values (TapMany *many, const Sum *sum, unsigned n_channels,
    const char *kernel)
{
  static unsigned turn;
  const size_t n = 1500, n_samples = n * n_channels;
  double *x = test_alloc_f64 (n_samples), *want = test_alloc_f64 (n_samples);
  double *have = test_alloc_f64 (n_samples);

  for (int type = 0; type < 2; type++, turn++) {
    const TestLayout layouts[2] = { (TestLayout)(turn % TEST_N_LAYOUTS),
      (TestLayout)(turn / 2 % TEST_N_LAYOUTS) };
    const bool in_place = turn % 3 == 0, is_f32 = type == TFX_SAMPLE_F32;
    TestBuffer in =
        test_buffer_new (layouts[0], (TfxSample)type, n_channels, n, turn % 5);
    TestBuffer out = test_buffer_new (layouts[in_place ? 0 : 1],
        (TfxSample)type, n_channels, n, turn % 3);
    TestBuffer *to = in_place ? &in : &out;
    TestFilter *f = make_filter (sum, n_channels, kernel);
    double e;

    make_signal (sum, n_channels, n, x, want);
    test_buffer_set (&in, x);
    for (size_t i = 0, m; i < n; i += m) {
      TfxBlock from_part, to_part;

      m = 1 + tap_random_below (turn % 2 ? 40 : 1100);
      m = m < n - i ? m : n - i;
      from_part = test_block_part (&in.block, i, m);
      to_part = test_block_part (&to->block, i, m);
      test_filter_run (f, &from_part, &to_part);
    }
    test_buffer_get (to, have);
    e = is_f32 ? excess (have, want, n_samples)
               : test_distance (have, want, n_samples);
    tap_many_check (many,
        e < (is_f32 ? ROUNDING : sum->rounding) &&
            test_buffer_is_guarded (&in) && test_buffer_is_guarded (&out),
        "%s, %s, %u channels, layouts %d and %d, type %d: %g too far", kernel,
        sum->name, n_channels, layouts[0], layouts[1], type, e);
    test_filter_free (&f);
    test_buffer_clear (&in);
    test_buffer_clear (&out);
  }
  free (have);
  free (want);
  free (x);
}

static void
test_values (void)
{
  static const unsigned channels[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17,
    0 };
  TapMany many = tap_many ("a sum is that of its branches");

  check_all (&many, sums, N_SUMS, channels, check_values);
}

static void
check_used (TapMany *many, const Sum *sum, unsigned n_channels,
    const char *kernel)
{
  const TfxBackend *backend = test_backend_for (kernel);
  const unsigned width = ((const TfxKernels *)backend->data)->width;
  float x[8 * 8] = { 0 };
  double y[8 * 8] = { 0 };
  TestFilter *f = make_filter (sum, n_channels, kernel);
  const bool split = is_split (sum);
  const TfxTermsForm form = split ? TFX_TERMS_CHANNELS : TFX_TERMS_PARTS;
  const unsigned n = count (f, form, false);
  const unsigned n_merged = count (f, TFX_TERMS_CASCADES, false);
  /* Narrower vectors join fewer branches. */
  const bool is_known = split ? width >= 8 && n_channels > 1 : width >= 4;
  unsigned on[3], merged[3];

  for (int i = 0; i < 3; i++) {
    if (i == 1)
      test_filter_f64 (f, y, n_channels, 8);
    else
      test_filter_f32 (f, x, n_channels, 8);
    on[i] = count (f, form, true);
    merged[i] = count (f, TFX_TERMS_CASCADES, true);
  }
  tap_many_check (many,
      (!is_known || n == sum->n_groups[n_channels > 1]) &&
          (width > 1 || n == 0) &&
          ((split && !is_known) || on[0] == (sum->is_exact ? n : 0)) &&
          (split || on[1] == 0) && on[2] == on[0],
      "%s, %s, %u channels: %u groups, %u on, %u, %u", kernel, sum->name,
      n_channels, n, on[0], on[1], on[2]);
  tap_many_check (many,
      (width < 2 || n_channels > 1 || !sum->is_merged || n_merged > 0) &&
          (width > 1 || n_merged == 0) && merged[1] == n_merged &&
          merged[2] == merged[0],
      "%s, %s, %u channels: %u merged, %u on, %u, %u", kernel, sum->name,
      n_channels, n_merged, merged[0], merged[1], merged[2]);
  test_filter_free (&f);
}

/* Which branches are one, in which form, and for which type. */
static void
test_used (void)
{
  static const unsigned channels[] = { 1, 8, 0 };
  TapMany many = tap_many ("cascades and gains side by side are one");

  check_all (&many, sums, N_SUMS, channels, check_used);
}

/* ---- its state ------------------------------------------------------------------------ */

/* Blocks of both types, run by plans of two kernels in turns; some are followed by a query
 * of silence. */
static void
check_state (TapMany *many, const Sum *sum, unsigned n_channels,
    const char *kernel)
{
  const size_t n = 3000, n_samples = n * n_channels;
  double *x = test_alloc_f64 (n_samples);
  double *want = test_alloc_f64 (n_samples);
  float *f32 = test_alloc (n_samples * sizeof *f32);
  TestFilter *f = make_filter (sum, n_channels, kernel), other = *f;
  double e;

  if (tfx_plan_new (&f->filter, 1, test_backend_for ("c"), &other.plan) < 0)
    abort ();
  make_signal (sum, n_channels, n, x, want);
  for (size_t i = 0, m; i < n; i += m) {
    TestFilter *to = tap_random_below (4) ? f : &other;
    double *at = x + i * n_channels;

    m = 1 + tap_random_below (200);
    m = m < n - i ? m : n - i;
    if (tap_random_below (3) == 0) {
      test_filter_f64 (to, at, n_channels, m);
      continue;
    }
    for (size_t j = 0; j < m * n_channels; j++)
      f32[j] = (float)at[j];
    test_filter_f32 (to, f32, n_channels, m);
    for (size_t j = 0; j < m * n_channels; j++)
      at[j] = f32[j];
    test_filter_is_silent (f);
  }
  e = excess (x, want, n_samples);
  tap_many_check (many, e < ROUNDING, "%s, %s, %u channels: %g too far", kernel,
      sum->name, n_channels, e);
  tfx_plan_free (&other.plan);
  test_filter_free (&f);
  free (f32);
  free (want);
  free (x);
}

static void
test_state (void)
{
  static const unsigned channels[] = { 1, 2, 3, 9, 0 };
  TapMany many = tap_many ("both types and kernels share the state");

  check_all (&many, sums, N_SUMS, channels, check_state);
}

/* Joined sections and merged cascades that share only a gain: where one of them begins to
 * run, the state of the other is that of its branches again. */
static const Sum shared[] = {
  { "a gain between, sections that hide behind it", 5,
      { { 0, LOW (9, 2000), 0 }, { 0, LOW (9, 3500), 0 }, { 0.5 },
          { 0, LOW (8, 30), 0 }, { 0, LOW (8, 8000), 0 } },
      { 0, 0 }, false, false, 1e-8 },
  { "a gain between, a delay line behind", 5,
      { { 0, LOW (14, 2000), 0 }, { 0, LOW (13, 3500), 0 },
          { 0, LOW (2, 5000), 0 }, { 0.5 }, { 0, LOW (8, 8000), 0 } },
      { 0, 0 }, false, false, 1e-8 },
  { "two gains between", 6,
      { { 0, LOW (6, 2000), 0 }, { 0, LOW (12, 3500), 0 }, { 0.5 }, { 0.5 },
          { 0, LOW (6, 8000), 0 }, { 0, LOW (9, 9500), 3 } },
      { 0, 0 }, false, false, 1e-8 },
};

static void
test_shared (void)
{
  TapMany many = tap_many ("the state changes from one form to the other");

  check_all (&many, shared, sizeof shared / sizeof *shared, one_to_nine,
      check_state);
}

static void
check_asked (TapMany *many, const Sum *sum, unsigned c, const char *kernel)
{
  const size_t n = 200 * c;
  float *x = test_alloc (2 * n * sizeof *x);
  TestFilter *f[2] = { make_filter (sum, c, kernel),
    make_filter (sum, c, kernel) };
  bool is_same = true, was_silent = false, becomes_silent = false;

  for (int turn = 0; turn < 1200 && !becomes_silent; turn++) {
    memset (x, 0, n * sizeof *x);
    if (turn < 20)
      test_noise_f32 (x, n);
    memcpy (x + n, x, n * sizeof *x);
    for (int j = 0; j < 2; j++)
      test_filter_f32 (f[j], x + (size_t)j * n, c, 200);
    is_same = is_same && memcmp (x, x + n, n * sizeof *x) == 0;
    if (turn < 20)
      was_silent = was_silent || test_filter_is_silent (f[1]);
    else
      becomes_silent = test_filter_is_silent (f[1]);
  }
  tap_many_check (many, is_same && !was_silent && becomes_silent,
      "%s, %u channels: %d %d %d", kernel, c, is_same, was_silent,
      becomes_silent);
  test_filter_free (&f[0]);
  test_filter_free (&f[1]);
  free (x);
}

/* The query changes no bit. */
static void
test_asked (void)
{
  TapMany many = tap_many ("silence of a sum can be queried at any time");

  check_all (&many, &sums[3], 1, one_to_nine, check_asked);
}

static void
check_recovers (TapMany *many, const Sum *sum, unsigned c, const char *kernel)
{
  const size_t n = 300;
  float *x = test_alloc (n * c * sizeof *x), *bad;
  TestFilter *f[2] = { make_filter (sum, c, kernel),
    make_filter (sum, c, kernel) };
  bool is_good = true;

  bad = test_alloc (n * c * sizeof *bad);
  for (int turn = 0; turn < 4; turn++) {
    test_noise_f32 (x, n * c);
    memcpy (bad, x, n * c * sizeof *x);
    if (turn == 1)
      bad[150 * c + c / 2] = NAN;
    test_filter_f32 (f[0], x, c, n);
    test_filter_f32 (f[1], bad, c, n);
    for (size_t i = 0; i < n * c; i++) {
      /* Frames of a group run together. */
      const bool is_hit = i % c == c / 2 && (turn > 1 || i / c > 150 - 8);

      is_good =
          is_good && (turn == 0 || !is_hit ? bad[i] == x[i]
                                           : turn == 1 || isfinite (bad[i]));
    }
  }
  tap_many_check (many, is_good, "%s, %u channels", kernel, c);
  test_filter_free (&f[0]);
  test_filter_free (&f[1]);
  free (bad);
  free (x);
}

/* NaN in one channel is cleared there, and reaches no other channel. */
static void
test_recovers (void)
{
  TapMany many = tap_many ("a sum recovers from NaN");

  check_all (&many, &sums[5], 1, one_to_nine, check_recovers);
}

enum
{
  CHANNELS = 8,
  FRAMES = 300
};

static void
check_bare (TapMany *many, const Sum *sum, unsigned c, const char *kernel)
{
  const size_t at = 100 * CHANNELS + c;
  float x[FRAMES * CHANNELS], bad[FRAMES * CHANNELS];
  TestFilter *f[2] = { make_filter (sum, CHANNELS, kernel),
    make_filter (sum, CHANNELS, kernel) };
  bool is_good = true;

  for (int turn = 0; turn < 2; turn++) {
    test_noise_f32 (x, FRAMES * CHANNELS);
    memcpy (bad, x, sizeof x);
    bad[at] = turn == 0 ? INFINITY : x[at];
    test_filter_f32 (f[0], x, CHANNELS, FRAMES);
    test_filter_f32 (f[1], bad, CHANNELS, FRAMES);
    is_good = is_good && (turn > 0 || bad[at] == INFINITY);
    bad[at] = x[at];
    is_good = is_good && memcmp (bad, x, sizeof x) == 0;
  }
  tap_many_check (many, is_good, "%s, channel %u", kernel, c);
  test_filter_free (&f[0]);
  test_filter_free (&f[1]);
}

/* In a channel without sections that one sample is bad, and no other. */
static void
test_bare (void)
{
  static const unsigned channels[] = { 2, 7, 0 };
  TapMany many = tap_many ("a bad sample passes where there are no sections");
  const Sum *sum = sums;

  while (strcmp (sum->name, "two channels each, and others") != 0)
    sum++;
  check_all (&many, sum, 1, channels, check_bare);
}

/* ---- values that move ------------------------------------------------------------------ */

/* The first branch with sections has a curve for a time.  The last one jumps to another
 * value in the middle of it, and again after it, before frames without samples. */
static void
run_moving (const Sum *sum, unsigned n_channels, const char *kernel,
    TfxSample type, const double *in, double *out, size_t n, size_t most)
{
  TestFilter *f = make_filter (sum, n_channels, kernel);
  float *f32 = test_alloc (n * n_channels * sizeof *f32);
  size_t first = 0, last = sum->n - 1;
  uint64_t next = 40 * GRID;
  bool is_taken = true;

  while (sum->branches[first].design.order == 0 ||
         !is_there (sum, first, n_channels))
    first++;
  while (sum->branches[last].design.order == 0 ||
         !is_there (sum, last, n_channels))
    last--;
  memcpy (out, in, n * n_channels * sizeof *out);
  for (size_t i = 0; i < n * n_channels; i++)
    f32[i] = (float)in[i];
  for (size_t i = 0, m; i < n; i += m) {
    const size_t ends[] = { 50 * GRID + 7, 120 * GRID + 3, n };
    size_t end = 0;

    while (ends[end] <= i)
      end++;
    m = 1 + tap_random_below ((unsigned)most);
    m = m < ends[end] - i ? m : ends[end] - i;
    for (; next < i + m + GRID && next < 70 * GRID; next += GRID)
      is_taken &= test_filter_queue_stage (f, next,
                      sections_stage (sum, first,
                          1 + 0.01 * (double)(next / GRID - 39))) == 0;
    if (end > 0 && i == ends[end - 1])
      is_taken &= test_filter_set_stage (f,
                      sections_stage (sum, last, end == 1 ? 1.3 : 0.9)) == 0;
    /* The last jump is over before the next sample. */
    if (end == 2 && i == ends[1]) {
      tfx_filter_lock (f->filter);
      is_taken &= tfx_plan_pass (f->plan, 3000) == 0;
      tfx_filter_unlock (f->filter);
    }
    if (type == TFX_SAMPLE_F64)
      test_filter_f64 (f, out + i * n_channels, n_channels, m);
    else
      test_filter_f32 (f, f32 + i * n_channels, n_channels, m);
  }
  for (size_t i = 0; type == TFX_SAMPLE_F32 && i < n * n_channels; i++)
    out[i] = f32[i];
  if (!is_taken)
    out[0] = NAN;
  free (f32);
  test_filter_free (&f);
}

static void
check_moving (TapMany *many, const Sum *sum, unsigned n_channels,
    const char *kernel)
{
  static const size_t most[] = { 40, 700 };
  const size_t n = 200 * GRID, n_samples = n * n_channels;
  double *in = test_alloc_f64 (n_samples), *want = test_alloc_f64 (n_samples);
  double *once = test_alloc_f64 (n_samples), *have = test_alloc_f64 (n_samples);
  double e;

  test_noise_f64 (in, n_samples);
  for (size_t i = 0; i < n_samples; i++)
    in[i] = (float)in[i];
  /* The reference merges nothing. */
  run_moving (sum, n_channels, "c", TFX_SAMPLE_F64, in, want, n, n);
  for (int type = 0; type < 2; type++) {
    run_moving (sum, n_channels, kernel, (TfxSample)type, in, once, n, n);
    e = type == TFX_SAMPLE_F32 ? excess (once, want, n_samples)
                               : test_distance (once, want, n_samples);
    tap_many_check (many, e < (type == TFX_SAMPLE_F32 ? ROUNDING : 1e-12),
        "%s, %s, %u channels, type %d: %g too far", kernel, sum->name,
        n_channels, type, e);
    for (unsigned i = 0; i < 2; i++) {
      run_moving (sum, n_channels, kernel, (TfxSample)type, in, have, n,
          most[i]);
      tap_many_check (many, memcmp (have, once, n_samples * sizeof *have) == 0,
          "%s, %s, %u channels, type %d, blocks of up to %zu", kernel,
          sum->name, n_channels, type, most[i]);
    }
  }
  free (have);
  free (once);
  free (want);
  free (in);
}

/* Of the first sums, and of all splits. */
static void
test_moves (void)
{
  static const unsigned channels[] = { 1, 2, 3, 9, 0 };
  TapMany many = tap_many ("a sum that changes is that of its branches");
  TapMany splits = tap_many ("and a split, the same bits in any blocks");

  check_all (&many, sums, 6, channels, check_moving);
  check_all (&splits, sums + 12, 5, channels, check_moving);
}

static const TapTest tests[] = {
  { "values", test_values },
  { "used", test_used },
  { "state", test_state },
  { "shared", test_shared },
  { "asked", test_asked },
  { "recovers", test_recovers },
  { "bare", test_bare },
  { "moves", test_moves },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
