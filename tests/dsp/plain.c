/* SPDX-License-Identifier: LGPL-2.1-or-later
 * plain.c: a chain run from the definition of its stages; see plain.h. */
#include "plain.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "core/kind.h"
#include "levels.h"

static void
run_fir (const double *taps, size_t n_taps, double *x, size_t n)
{
  for (size_t i = n; i-- > 0;) {
    double sum = 0.0;

    for (size_t k = 0; k < n_taps && k <= i; k++)
      sum += taps[k] * x[i - k];
    x[i] = sum;
  }
}

static void
run_delay (const TfxStage *stage, double *x, unsigned n_channels, size_t n)
{
  double *in = test_alloc (n_channels * n * sizeof *in);

  memcpy (in, x, n_channels * n * sizeof *in);
  for (unsigned c = 0; c < n_channels; c++) {
    for (size_t i = 0; i < n; i++)
      x[c * n + i] *= stage->u.delay.direct;
    for (size_t k = 0; k < stage->u.delay.n_taps; k++) {
      const TfxTap *tap = &stage->u.delay.taps[k];
      unsigned from = tap->swap && (c ^ 1u) < n_channels ? c ^ 1u : c;

      if ((tap->side == TFX_TAP_LEFT && c % 2 != 0) ||
          (tap->side == TFX_TAP_RIGHT && c % 2 != 1))
        continue;
      for (size_t i = tap->delay; i < n; i++)
        x[c * n + i] += tap->gain * in[from * n + i - tap->delay];
    }
  }
  free (in);
}

static void
run_comb (const TfxReverb *r, size_t length, const double *x, double *w,
    size_t n)
{
  double *in = test_alloc (n * sizeof *in), pole = 0.0;

  for (size_t i = 0; i < n; i++) {
    const double out = i >= length ? in[i - length] : 0.0;

    pole = (1.0 - r->damp) * out + r->damp * pole;
    in[i] = TFX_REVERB_INPUT * x[i] + r->feedback * pole;
    w[i] += out;
  }
  free (in);
}

static void
run_reverb (const TfxReverb *r, double *x, size_t n)
{
  double *w = test_alloc (n * sizeof *w), *a = test_alloc (n * sizeof *a);

  memset (w, 0, n * sizeof *w);
  for (unsigned k = 0; k < TFX_REVERB_COMBS; k++)
    run_comb (r, r->combs[k], x, w, n);
  for (unsigned k = 0; k < TFX_REVERB_ALL_PASSES; k++) {
    for (size_t i = 0; i < n; i++) {
      const double o = i >= r->all_passes[k] ? a[i - r->all_passes[k]] : 0.0;

      a[i] = w[i] + 0.5 * o;
      w[i] = o - w[i];
    }
  }
  for (size_t i = 0; i < n; i++)
    x[i] = r->dry * x[i] + r->wet * w[i];
  free (w);
  free (a);
}

static void
run_sum (const TfxStage *stage, double *x, unsigned n_channels, size_t n)
{
  size_t size = n_channels * n * sizeof *x;
  double *in = test_alloc (size), *branch = test_alloc (size);

  memcpy (in, x, size);
  memset (x, 0, size);
  for (size_t b = 0; b < stage->u.sum.n; b++) {
    memcpy (branch, in, size);
    plain_run (stage->u.sum.branches[b], branch, n_channels, n);
    for (size_t i = 0; i < n_channels * n; i++)
      x[i] += branch[i];
  }
  free (in);
  free (branch);
}

static void
run_mix (const TfxStage *stage, double *x, size_t n)
{
  const unsigned n_channels = stage->u.mix.n_channels;
  double *in = test_alloc (n_channels * n * sizeof *in);

  memcpy (in, x, n_channels * n * sizeof *in);
  for (unsigned c = 0; c < n_channels; c++) {
    for (size_t i = 0; i < n; i++) {
      x[c * n + i] = 0.0;
      for (unsigned k = 0; k < n_channels; k++)
        x[c * n + i] += stage->u.mix.gains[c * n_channels + k] * in[k * n + i];
    }
  }
  free (in);
}

static void
run_split (const TfxStage *stage, double *x, unsigned n_channels, size_t n)
{
  double *some = test_alloc (n_channels * n * sizeof *some);

  for (size_t b = 0; b < stage->u.sum.n; b++) {
    unsigned k = 0;

    for (unsigned c = 0; c < n_channels; c++)
      if (c < 64 && stage->u.sum.channels[b] >> c & 1)
        memcpy (some + k++ * n, x + c * n, n * sizeof *x);
    plain_run (stage->u.sum.branches[b], some, k, n);
    k = 0;
    for (unsigned c = 0; c < n_channels; c++)
      if (c < 64 && stage->u.sum.channels[b] >> c & 1)
        memcpy (x + c * n, some + k++ * n, n * sizeof *x);
  }
  free (some);
}

static void
run_channel (const TfxStage *stage, unsigned c, double *x, size_t n)
{
  const size_t n_taps = stage->kind == &tfx_kind_fir ? stage->u.fir.n_taps : 0;

  if (stage->kind == &tfx_kind_sections)
    test_run_f64 (stage->u.sections.sos, stage->u.sections.n, x, x, n, NULL);
  else if (stage->kind == &tfx_kind_gain)
    for (size_t i = 0; i < n; i++)
      x[i] *= stage->u.gain;
  else if (stage->kind == &tfx_kind_reverb)
    run_reverb (&stage->u.reverb, x, n);
  else
    run_fir (stage->u.fir.taps + (stage->u.fir.n_kernels > 1 ? c * n_taps : 0),
        n_taps, x, n);
}

static void
run_dynamics (const TfxStage *stage, double *x, unsigned n_channels, size_t n)
{
  double *frames = test_alloc (n * n_channels * sizeof *frames);

  for (size_t i = 0; i < n * n_channels; i++)
    frames[i % n * n_channels + i / n] = x[i];
  if (stage->kind == &tfx_kind_limiter)
    levels_limit (&stage->u.limiter, frames, n, n_channels);
  else
    levels_run (&stage->u.dynamics, frames, n, n_channels);
  for (size_t i = 0; i < n * n_channels; i++)
    x[i] = frames[i % n * n_channels + i / n];
  free (frames);
}

void
plain_run (const TfxChain *chain, double *x, unsigned n_channels, size_t n)
{
  for (size_t k = 0; k < chain->n_stages; k++) {
    const TfxStage *stage = chain->stages[k];

    if (stage->kind == &tfx_kind_delay)
      run_delay (stage, x, n_channels, n);
    else if (stage->kind == &tfx_kind_sum)
      run_sum (stage, x, n_channels, n);
    else if (stage->kind == &tfx_kind_mix)
      run_mix (stage, x, n);
    else if (stage->kind == &tfx_kind_split)
      run_split (stage, x, n_channels, n);
    else if (stage->kind == &tfx_kind_dynamics ||
             stage->kind == &tfx_kind_limiter)
      run_dynamics (stage, x, n_channels, n);
    else
      for (unsigned c = 0; c < n_channels; c++)
        run_channel (stage, c, x + c * n, n);
  }
}

/* ---- response ---------------------------------------------------------------- */

typedef struct Response
{
  long double complex h;
  long double slack;
} Response;

static Response
multiply (Response a, Response b)
{
  return (Response){ a.h * b.h, a.slack * cabsl (b.h) + b.slack * cabsl (a.h) };
}

/* d is 1/z.  h = num / den; each coefficient moves num or den by itself. */
static Response
section_response (const TfxSos *s, long double complex d)
{
  long double complex num = s->b0 + d * (s->b1 + d * s->b2);
  long double complex den = 1.0L + d * (s->a1 + d * s->a2);
  long double of_num = fabs (s->b0) + fabs (s->b1) + fabs (s->b2);
  long double of_den = 1.0 + fabs (s->a1) + fabs (s->a2);
  Response r;

  r.h = num / den;
  r.slack = (of_num + cabsl (r.h) * of_den) / cabsl (den);
  return r;
}

static Response
kernel_response (const double *taps, size_t n, long double complex d)
{
  Response r = { 0.0L, 0.0L };

  for (size_t i = n; i-- > 0;) {
    r.h = r.h * d + taps[i];
    r.slack += fabs (taps[i]);
  }
  return r;
}

static Response
reverb_response (const TfxReverb *r, long double angle, long double complex d)
{
  const long double complex pole = (1.0L - r->damp) / (1.0L - r->damp * d);
  long double complex h = 0.0L;

  for (unsigned k = 0; k < TFX_REVERB_COMBS; k++) {
    long double complex z = cexpl (-I * angle * r->combs[k]);

    h += TFX_REVERB_INPUT * z / (1.0L - r->feedback * z * pole);
  }
  for (unsigned k = 0; k < TFX_REVERB_ALL_PASSES; k++) {
    long double complex z = cexpl (-I * angle * r->all_passes[k]);

    h *= (1.5L * z - 1.0L) / (1.0L - 0.5L * z);
  }
  return (Response){ r->dry + r->wet * h, 1.0L + cabsl (h) };
}

static Response
delay_response (const TfxStage *stage, long double angle)
{
  Response r = { stage->u.delay.direct, fabs (stage->u.delay.direct) };

  for (size_t i = 0; i < stage->u.delay.n_taps; i++) {
    const TfxTap *tap = &stage->u.delay.taps[i];

    r.h += tap->gain * cexpl (-I * angle * tap->delay);
    r.slack += fabs (tap->gain);
  }
  return r;
}

/* Of what has no response: a number that each of its values changes. */
static double
level_fingerprint (const TfxAgc *l)
{
  return l->target_db + 3 * l->max_gain_db + 5 * l->step_db +
         7 * (double)l->n_ahead + 11 * (double)l->n_block + 13 * l->release;
}

static Response
chain_response (const TfxChain *chain, long double angle)
{
  Response all = { 1.0L, 0.0L };
  long double complex d = cexpl (-I * angle);

  for (size_t k = 0; k < chain->n_stages; k++) {
    const TfxStage *stage = chain->stages[k];
    Response r = { 0.0L, 0.0L };

    if (stage->kind == &tfx_kind_sections) {
      for (size_t i = 0; i < stage->u.sections.n; i++)
        all = multiply (all, section_response (&stage->u.sections.sos[i], d));
      continue;
    }
    if (stage->kind == &tfx_kind_gain || stage->kind == &tfx_kind_clip)
      r = (Response){ stage->u.gain, fabs (stage->u.gain) };
    else if (stage->kind == &tfx_kind_fir)
      r = kernel_response (stage->u.fir.taps, stage->u.fir.n_taps, d);
    else if (stage->kind == &tfx_kind_reverb)
      r = reverb_response (&stage->u.reverb, angle, d);
    else if (stage->kind == &tfx_kind_delay)
      r = delay_response (stage, angle);
    else if (stage->kind == &tfx_kind_dynamics)
      r.h = r.slack = pow (10, levels_gain_db (&stage->u.dynamics, 1) / 20);
    else if (stage->kind == &tfx_kind_limiter)
      r.h = r.slack = stage->u.limiter.threshold_db;
    else if (stage->kind == &tfx_kind_agc)
      r.h = r.slack = level_fingerprint (&stage->u.agc);
    else if (stage->kind == &tfx_kind_mix)
      r.h = r.slack = fabs (stage->u.mix.gains[0]);
    else if (!tfx_branches_are_in (stage))
      for (size_t i = 0; i < TFX_PARAMS_MAX; i++)
        r.h = r.slack = r.slack + fabs (stage->u.own[i]);
    else
      for (size_t i = 0; i < stage->u.sum.n; i++) {
        Response b = chain_response (stage->u.sum.branches[i], angle);
        r.h += b.h;
        r.slack += b.slack;
      }
    all = multiply (all, r);
  }
  return all;
}

PlainResponse
plain_response (const TfxChain *chain, double freq_hz, double rate_hz)
{
  Response r = chain_response (chain, 2.0L * M_PIl * freq_hz / rate_hz);

  return (PlainResponse){ { (double)creall (r.h), (double)cimagl (r.h) },
    (double)r.slack };
}
