/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_agree.c: random chains, nested sums and split channels, that change while they run:
 * every kernel agrees with the reference, and any split gives the same bits.
 */
#include "common.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE 48000.0
#define N_FRAMES 4000
#define N_CHAINS 300
#define MAX_TEXT 65536
#define MAX_DEPTH 2

/* Bounds for doubles, and for floats without their own rounding, as parts of the largest
 * value. */
#define ROUNDING_F64 1e-9
#define ROUNDING_F32 2e-7

/* ---- chains ---------------------------------------------------------------------- */

/* One chain with two sets of values. */
typedef struct Pair
{
  char text[2][MAX_TEXT];
  size_t length[2];
  bool is_near; /* frequencies are smoothed; else cross-faded */
} Pair;

static void
write_both (Pair *p, const char *format, ...)
{
  char text[128];
  va_list args;

  va_start (args, format);
  vsnprintf (text, sizeof text, format, args);
  va_end (args);
  for (int i = 0; i < 2; i++)
    p->length[i] += (size_t)snprintf (p->text[i] + p->length[i],
        MAX_TEXT - p->length[i], "%s", text);
}

static void
write_values (Pair *p, double first, double second)
{
  p->length[0] += (size_t)snprintf (p->text[0] + p->length[0],
      MAX_TEXT - p->length[0], "%.6g", first);
  p->length[1] += (size_t)snprintf (p->text[1] + p->length[1],
      MAX_TEXT - p->length[1], "%.6g", second);
}

static double
random_hz (void)
{
  return 30.0 * pow (2.0, tap_random_below (900) / 100.0);
}

static void
write_hz (Pair *p)
{
  const double hz = random_hz ();

  write_values (p, hz,
      p->is_near ? hz * pow (2.0, (tap_random_below (100) - 50.0) / 200.0)
                 : random_hz ());
}

/* One in some is 0. */
static double
random_gain (unsigned some)
{
  return tap_random_below (some) ? tap_random_below (100) / 50.0 - 1.0 : 0.0;
}

static void write_chain (Pair *p, int depth);

static void
write_sum (Pair *p, int depth)
{
  const unsigned n = 2 + tap_random_below (tap_random_below (4) ? 4 : 14);

  for (unsigned i = 0; i < n; i++) {
    write_both (p, i > 0 ? " + (" : "(");
    write_chain (p, depth + 1);
    write_both (p, ")");
  }
}

static void
write_filter (Pair *p)
{
  static const char *const filters[] = { "LoButterworth", "HiButterworth",
    "LoLinkwitzRiley", "HiLinkwitzRiley" };
  const unsigned i = tap_random_below (4);

  write_both (p, "%s(", filters[i]);
  write_hz (p);
  write_both (p, ", order=%u)",
      i < 2 ? 1 + tap_random_below (tap_random_below (6) ? 6 : 24)
            : 2 + 2 * tap_random_below (4));
}

static void
write_dynamics (Pair *p)
{
  static const char *const ends[] = { "", ", link=True", ", link=True",
    ", true_peak=True" };

  if (tap_random_below (2)) {
    write_both (p, "%s(", tap_random_below (2) ? "Compressor" : "Expander");
    write_values (p, -5.0 - tap_random_below (40),
        -5.0 - tap_random_below (40));
    write_both (p, "%s)", ends[tap_random_below (2)]);
  } else {
    write_both (p, "Limiter(");
    write_values (p, -1.0 - tap_random_below (30),
        -1.0 - tap_random_below (30));
    write_both (p, ", lookahead=%g%s)", tap_random_below (9) / 1e3,
        ends[tap_random_below (4)]);
  }
}

static void
write_stage (Pair *p, int depth)
{
  switch (tap_random_below (depth < MAX_DEPTH ? 13 : 10)) {
    case 0:
    case 1:
    case 2:
      write_filter (p);
      break;
    case 3:
    case 4:
      write_both (p, "ParametricEQ(");
      write_hz (p);
      write_both (p, ", q=1, gain=");
      write_values (p, tap_random_below (20) - 10.0,
          tap_random_below (20) - 10.0);
      write_both (p, ")");
      break;
    case 5:
    case 6:
      write_both (p, "Gain(");
      write_values (p, random_gain (8), random_gain (6));
      write_both (p, ")");
      break;
    case 7:
      write_both (p, "%s(%u)", tap_random_below (2) ? "Delay" : "Echo",
          1 + tap_random_below (300));
      break;
    case 8:
      write_dynamics (p);
      break;
    case 9:
      write_both (p, "Reverb(");
      write_values (p, tap_random_uniform (0, 1), tap_random_uniform (0, 1));
      write_both (p, ")");
      break;
    default:
      write_both (p, "(");
      write_sum (p, depth);
      write_both (p, ")");
  }
}

static void
write_chain (Pair *p, int depth)
{
  const unsigned n = 1 + tap_random_below (3);

  for (unsigned i = 0; i < n; i++) {
    write_both (p, i > 0 ? " | " : "");
    write_stage (p, depth);
  }
}

/* Some channels, each in one list at the most. */
static void
write_split (Pair *p, unsigned n_channels)
{
  uint64_t left = (1u << n_channels) - 1;

  for (unsigned c = 0; c < n_channels; c++) {
    if (!(left >> c & 1) || (c > 0 && tap_random_below (4) == 0))
      continue;
    write_both (p, c > 0 ? "; ch[%u" : "ch[%u", c);
    for (unsigned d = c + 1; d < n_channels; d++) {
      if (!(left >> d & 1) || tap_random_below (4) > 0)
        continue;
      write_both (p, ", %u", d);
      left &= ~((uint64_t)1 << d);
    }
    write_both (p, "]: ");
    write_chain (p, 1);
  }
}

static void
write_pair (Pair *p, unsigned n_channels)
{
  p->length[0] = p->length[1] = 0;
  p->is_near = tap_random_below (2);
  switch (tap_random_below (3)) {
    case 0:
      write_split (p, n_channels);
      break;
    case 1:
      write_sum (p, 0);
      break;
    default:
      write_chain (p, 0);
  }
}

/* ---- runs ------------------------------------------------------------------------- */

/* Chains of both sets of values, from one and back to it. */
typedef struct Run
{
  TfxExpr *exprs[2];
  unsigned n_channels;
  TfxSample type;
  size_t change, back;
  double in[N_FRAMES * 17];
} Run;

/* In blocks of random lengths; some are followed by a query of silence. */
static bool
run_on (const Run *run, const char *kernel, double *x)
{
  const TfxFilterSpec spec = { .rate_hz = RATE,
    .n_channels = run->n_channels,
    .sample = run->type };
  const size_t ends[] = { run->change, run->back, N_FRAMES };
  TfxChain *chain = test_build_expr (run->exprs[0], run->n_channels);
  TestFilter *f = test_filter_for (chain, &spec, test_backend_for (kernel));
  float *f32 = test_alloc (sizeof run->in);
  const unsigned c = run->n_channels;

  tfx_chain_unref (&chain);
  for (size_t i = 0; f && i < N_FRAMES * c; i++)
    f32[i] = (float)(x[i] = run->in[i]);
  for (size_t i = 0, m, end = 0; f && i < N_FRAMES; i += m) {
    if (i == ends[end]) {
      end++;
      test_filter_set_chain (f,
          test_build_expr (run->exprs[end % 2], run->n_channels));
    }
    m = 1 + tap_random_below (tap_random_below (2) ? 60 : 2500);
    m = m < ends[end] - i ? m : ends[end] - i;
    if (run->type == TFX_SAMPLE_F64)
      test_filter_f64 (f, x + i * c, c, m);
    else
      test_filter_f32 (f, f32 + i * c, c, m);
    if (tap_random_below (3) == 0)
      test_filter_is_silent (f);
  }
  for (size_t i = 0; run->type == TFX_SAMPLE_F32 && i < N_FRAMES * c; i++)
    x[i] = f32[i];
  free (f32);
  if (!f)
    return false;
  test_filter_free (&f);
  return true;
}

/* The largest difference, less the rounding of the stream, as a part of the largest
 * value. */
static double
distance (const Run *run, const double *have, const double *want)
{
  double most = 1e-3, worst = 0;

  for (size_t i = 0; i < N_FRAMES * run->n_channels; i++) {
    double e = fabs (have[i] - want[i]);

    if (run->type == TFX_SAMPLE_F32)
      e -= fabs (want[i]) * 0x1p-23;
    most = fmax (most, fabs (want[i]));
    worst = test_worse (worst, e);
  }
  return worst / most;
}

static void
parse_pair (Run *run, const Pair *pair)
{
  for (int i = 0; i < 2; i++)
    run->exprs[i] = test_parse (pair->text[i]);
  tfx_expr_adopt_ids (run->exprs[1], run->exprs[0]);
}

static void
free_pair (Run *run)
{
  tfx_expr_free (&run->exprs[0]);
  tfx_expr_free (&run->exprs[1]);
}

static void
make_run (Run *run, Pair *pair)
{
  run->n_channels = 1 + tap_random_below (tap_random_below (3) ? 3 : 17);
  run->type = tap_random_below (2) ? TFX_SAMPLE_F64 : TFX_SAMPLE_F32;
  run->change = 300 + tap_random_below (1500);
  run->back = run->change + 200 + tap_random_below (1500);
  write_pair (pair, run->n_channels);
  for (size_t i = 0; i < N_FRAMES * run->n_channels; i++)
    run->in[i] = (float)(tap_random_below (2000001) / 1e6 - 1.0);
  parse_pair (run, pair);
}

static void
test_agree (void)
{
  TapMany values = tap_many ("the output of the reference");
  TapMany cuts = tap_many ("the same bits in other blocks");
  Pair *pair;
  Run *run;
  double *x[3];

  if (!tfx_cpu_kernel (1)) {
    tap_skip ("the reference is the only kernel here", "%s", values.name);
    tap_skip ("the reference is the only kernel here", "%s", cuts.name);
    return;
  }
  pair = test_alloc (sizeof *pair);
  run = test_alloc (sizeof *run);
  for (int i = 0; i < 3; i++)
    x[i] = test_alloc (sizeof run->in);
  for (unsigned n = 0; n < N_CHAINS; n++) {
    const char *kernel = test_kernels[1 + n % (TEST_N_KERNELS - 1)];
    const char *kernels[] = { "c", kernel, kernel };
    bool is_run = true;

    make_run (run, pair);
    if (part_has (n, 3) && test_backend_for (kernel)) {
      double e;

      for (int i = 0; i < 3; i++)
        is_run = is_run && run_on (run, kernels[i], x[i]);
      e = is_run ? distance (run, x[1], x[0]) : HUGE_VAL;
      tap_many_check (&values,
          e < (run->type == TFX_SAMPLE_F64 ? ROUNDING_F64 : ROUNDING_F32),
          "%u: %s, %u channels, type %d, %zu to %zu: %g\n# %s\n# %s", n, kernel,
          run->n_channels, run->type, run->change, run->back, e, pair->text[0],
          pair->text[1]);
      tap_many_check (&cuts,
          is_run && memcmp (x[1], x[2],
                        N_FRAMES * run->n_channels * sizeof (double)) == 0,
          "%u: %s, %u channels, type %d\n# %s\n# %s", n, kernel,
          run->n_channels, run->type, pair->text[0], pair->text[1]);
    }
    free_pair (run);
  }
  for (int i = 0; i < 3; i++)
    free (x[i]);
  free (run);
  free (pair);
  tap_many_end (&values);
  tap_many_end (&cuts);
}

/* ---- history after a change --------------------------------------------------------- */

/* A chain with a FIR of 104 taps where %s stands. */
static void
put_fir (char *text, const char *format, const char *mode)
{
  char fir[2048] = "FIR([";
  size_t n = strlen (fir);

  for (int i = 0; i < 104; i++)
    n += (size_t)snprintf (fir + n, sizeof fir - n, i > 0 ? ", %g" : "%g",
        i * 37 % 100 / 50.0 - 1.0);
  snprintf (fir + n, sizeof fir - n, "], conv_mode='%s')", mode);
  snprintf (text, MAX_TEXT, format, fir);
}

/* One sum replaces another, and a FIR two sums down stays: it keeps all of its history, by
 * transforms too. */
static void
test_past (void)
{
  static const char *const formats[] = {
    "(HiBessel(200) | ((%s) + (Gain(0.5)))) + (Limiter(-1)) + (Gain(0.5))",
    "(HiBessel(200) | ((%s) + (Gain(0.5)))) + (Limiter(-1)) "
    "+ ((Gain(0.4)) + (Gain(0.3)))",
  };
  static const char *const modes[] = { "direct", "fft" };
  Pair *pair = test_alloc (sizeof *pair);
  Run *run = test_alloc (sizeof *run);
  double *x[2], e = HUGE_VAL;
  bool is_run = true;

  run->n_channels = 2;
  run->type = TFX_SAMPLE_F64;
  run->change = 1000;
  run->back = 2000;
  for (size_t i = 0; i < N_FRAMES * run->n_channels; i++)
    run->in[i] = tap_random_uniform (-1, 1);
  for (int m = 0; m < 2; m++) {
    for (int i = 0; i < 2; i++) {
      put_fir (pair->text[i], formats[i], modes[m]);
      pair->length[i] = strlen (pair->text[i]);
    }
    x[m] = test_alloc (sizeof run->in);
    parse_pair (run, pair);
    is_run = is_run && run_on (run, tfx_cpu_kernel (0), x[m]);
    free_pair (run);
  }
  if (is_run)
    e = distance (run, x[1], x[0]);
  tap_check (e < ROUNDING_F64, "a FIR in a sum in a sum keeps its history: %g",
      e);
  free (x[0]);
  free (x[1]);
  free (run);
  free (pair);
}

static const TapTest tests[] = {
  { "agree", test_agree },
  { "past", test_past },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
