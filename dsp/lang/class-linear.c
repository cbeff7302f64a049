/* SPDX-License-Identifier: LGPL-2.1-or-later
 * class-linear.c: LinearPhase, a FIR filter with the magnitude of a chain.
 *
 * The taps h[n] are the inverse transform of |H|, without those more than M from the middle
 * one.  At any frequency these change the magnitude by at most 2 sum_{n > M} |h[n]|.
 *
 * A transform of m points folds h[n + m] into h[n], and shows n up to m / 2.  Where |H| has
 * a corner h falls as 1 / n^2, elsewhere faster: beyond m / 2 the sum is that from m / 4 to
 * m / 2 at most.  It counts twice more: it is cut, and hides as much. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "class.h"
#include "design/fft.h"
#include "error.h"

/* Points of the grid around the unit circle: at least, and at least for each tap. */
#define LEAST_POINTS 8192
#define POINTS_PER_TAP 4
/* The error of the magnitude without a number of taps, as a part of the peak. */
#define MOST_ERROR 1e-5
/* The first number of taps has one for each 6 Hz.  This is enough for most chains, whose
 * latency then does not depend on their values. */
#define HZ_PER_TAP 6.0

/* Refuses stages that depend on the level or delay, and those where channels differ. */
static int
check_chain (const TfxNode *node, const char *thing, TfxExprError *error)
{
  const bool is_call = node->kind == TFX_NODE_CALL;
  const TfxClass *klass = is_call ? node->klass : NULL;
  int code = 0;

  if (node->kind == TFX_NODE_SPLIT ||
      (is_call && klass->kind != TFX_CLASS_SECTIONS &&
          klass->ops != &tfx_bank_ops && klass->ops != &tfx_bands_ops &&
          (klass->ops != &tfx_gain_ops || tfx_class_number (node, "clamp"))))
    return tfx_error_set (error, -EINVAL,
        "%s takes IIR filters and gains, also in sums and banks, but not %s%s: "
        "write it before or after LinearPhase(…)",
        thing, is_call ? klass->name : "ch[…]",
        is_call && klass->ops == &tfx_gain_ops ? " with clamp" : "");
  for (size_t i = 0; i < node->n_children && code == 0; i++)
    code = check_chain (node->children[i], thing, error);
  return code;
}

static int
linear_check (const TfxNode *node, const char *thing, TfxExprError *error)
{
  const int code = tfx_drawn_check_taps (node, thing, error);

  return code < 0 ? code : check_chain (node->children[0], thing, error);
}

static void
linear_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  const TfxValue *taps = tfx_class_value (node, "taps");

  extent->taps += taps->type == TFX_VALUE_NUMBER ? (size_t)taps->number
                                                 : TFX_CURVE_MAX_TAPS;
}

/* The least number of taps without a given one: 2^k - 1. */
static size_t
find_least_taps (double rate_hz)
{
  size_t n = 1;

  while ((double)n < rate_hz / HZ_PER_TAP && n < TFX_CURVE_MAX_TAPS)
    n = 2 * n + 1;
  return n;
}

/* The magnitude of the chain.  All channels are alike: one that no Mix reaches takes the
 * least time. */
static double
find_gain (const TfxChain *chain, double freq_hz, double rate_hz)
{
  const TfxComplex h =
      tfx_chain_response_at (chain, TFX_MIX_MAX_CHANNELS, freq_hz, rate_hz);

  return hypot (h.re, h.im);
}

/* Writes taps[n].  *peak: of the magnitude; *rest: the bound for its error.  0, -ENOMEM, or
 * -ERANGE: |H| is not finite. */
static int
make_taps (const TfxChain *chain, double rate_hz, double *taps, size_t n,
    double *peak, double *rest)
{
  const size_t middle = n / 2;
  size_t m = LEAST_POINTS;
  TfxComplex *turns, *x;
  int code = 0;

  while (m < POINTS_PER_TAP * n)
    m *= 2;
  turns = tfx_fft_new_turns (m);
  x = malloc (m * sizeof *x);
  if (!turns || !x)
    code = -ENOMEM;
  *peak = *rest = 0.0;
  for (size_t k = 0; k <= m / 2 && code == 0; k++) {
    const double gain =
        find_gain (chain, (double)k * rate_hz / (double)m, rate_hz);

    if (!isfinite (gain))
      code = -ERANGE;
    *peak = fmax (*peak, gain);
    x[k] = x[(m - k) % m] = (TfxComplex){ gain, 0.0 };
  }
  if (code == 0) {
    /* Of a real and even sequence the inverse transform is the transform. */
    tfx_fft_run (turns, x, m);
    for (size_t i = 0; i <= middle; i++)
      taps[middle - i] = taps[middle + i] = x[i].re / (double)m;
    for (size_t i = middle + 1; i <= m / 2; i++)
      *rest += (i > m / 4 ? 3.0 : 1.0) * 2.0 * fabs (x[i].re) / (double)m;
  }
  free (turns);
  free (x);
  return code;
}

/* Raises *error to that at the poles and zeros: the grid misses a narrow peak or notch.
 * *peak includes them.  0 or -ENOMEM. */
static int
check_resonances (const TfxChain *chain, double rate_hz, const double *taps,
    size_t n_taps, double *peak, double *error)
{
  const size_t n = tfx_chain_resonances (chain, rate_hz, NULL, 0);
  double *freq_hz = malloc ((n + 1) * sizeof *freq_hz);

  if (!freq_hz)
    return -ENOMEM;
  tfx_chain_resonances (chain, rate_hz, freq_hz, n);
  for (size_t i = 0; i < n; i++) {
    const double gain = find_gain (chain, freq_hz[i], rate_hz);
    double made = taps[n_taps / 2];

    for (size_t k = 1; k <= n_taps / 2; k++)
      made += 2.0 * taps[n_taps / 2 + k] *
              cos (2.0 * M_PI * freq_hz[i] / rate_hz * (double)k);
    *peak = fmax (*peak, gain);
    *error = fmax (*error, fabs (made - gain));
  }
  free (freq_hz);
  return 0;
}

/* The middle tap is at time 0. */
static int
linear_design (TfxBuild *build, const TfxNode *node)
{
  const TfxValue *given = tfx_class_value (node, "taps");
  const bool is_given = given->type == TFX_VALUE_NUMBER;
  const size_t n_least =
      is_given ? (size_t)given->number : find_least_taps (build->rate_hz);
  double *taps = malloc (TFX_CURVE_MAX_TAPS * sizeof *taps);
  const double *kernel = taps;
  size_t n = n_least;
  double peak, error, first = 0.0;
  int code = taps ? 0 : -ENOMEM;

  while (code == 0) {
    code = make_taps (build->chains[0], build->rate_hz, taps, n, &peak, &error);
    if (code == 0 && !is_given)
      code = check_resonances (build->chains[0], build->rate_hz, taps, n, &peak,
          &error);
    error = peak > 0.0 ? error / peak : 0.0;
    if (n == n_least)
      first = error;
    if (is_given || code < 0 || error <= MOST_ERROR || n >= TFX_CURVE_MAX_TAPS)
      break;
    n = 2 * n + 1;
  }
  if (code < 0)
    code = tfx_class_refuse (build,
        code == -ENOMEM ? NULL : "the magnitude of its chain is not finite");
  else if (!is_given && error > MOST_ERROR)
    code = tfx_error_set (build->error, -ERANGE,
        "%s needs taps=, because its chain cannot be followed to -100 dB: the "
        "magnitude is true to %.0f dB of its peak with taps=%zu, and to %.0f "
        "dB with %d, the most there are",
        build->thing, 20.0 * log10 (first), n_least, 20.0 * log10 (error),
        TFX_CURVE_MAX_TAPS);
  else
    code = tfx_class_make_fir (build, &kernel, 1, n,
        (TfxFirMethod)tfx_class_word (node, "conv_mode"));
  if (code == 0)
    build->stage->u.fir.n_late = n / 2;
  free (taps);
  return code;
}

const TfxClassOps tfx_linear_ops = {
  .design = linear_design,
  .check = linear_check,
  .measure = linear_measure,
  .is_rebuilt = true,
  .absorbs_chains = true,
};
