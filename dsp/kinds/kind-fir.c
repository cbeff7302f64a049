/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind-fir.c: stages that are a finite impulse response. */
#include <complex.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kind-fir.h"

static TfxStage *
fir_new (uint64_t id, unsigned n_kernels, size_t n_taps, TfxFirMethod method)
{
  TfxStage *stage;

  if (n_taps > SIZE_MAX / sizeof (double) / n_kernels)
    return NULL;
  stage = tfx_stage_alloc (id, &tfx_kind_fir);
  if (!stage)
    return NULL;
  stage->u.fir.n_kernels = n_kernels;
  stage->u.fir.n_taps = n_taps;
  stage->u.fir.method = method;
  stage->u.fir.taps = calloc (n_taps, n_kernels * sizeof (double));
  if (!stage->u.fir.taps)
    tfx_stage_unref (&stage);
  return stage;
}

/* Fewer zeros at one end are no matter. */
#define MIN_ZEROS 32

/* What follows from the taps of a new stage. */
static void
look_at_taps (TfxStage *stage)
{
  const size_t n = stage->u.fir.n_taps;
  const double *taps = stage->u.fir.taps;
  size_t front = n - 1, back = n - 1;

  stage->u.fir.peak = 0.0;
  for (unsigned k = 0; k < stage->u.fir.n_kernels; k++, taps += n) {
    size_t i = 0;
    while (i < front && taps[i] == 0.0)
      i++;
    front = i;
    for (i = 0; i < n; i++)
      stage->u.fir.peak = fmax (stage->u.fir.peak, fabs (taps[i]));
    for (i = 0; i < back && taps[n - 1 - i] == 0.0;)
      i++;
    back = i;
  }
  /* zeros alone */
  if (front + back > n - 1)
    back = 0;
  stage->u.fir.n_sounding = n - front - back;
  stage->u.fir.n_leading = front < MIN_ZEROS ? 0 : front;
  stage->u.fir.n_trailing = back < MIN_ZEROS ? 0 : back;
}

static bool
are_finite (const double *const *kernels, unsigned n_kernels, size_t n_taps)
{
  for (unsigned k = 0; k < n_kernels; k++) {
    for (size_t i = 0; i < n_taps; i++) {
      if (!isfinite (kernels[k][i]))
        return false;
    }
  }
  return true;
}

static void
set_taps (TfxStage *stage, const double *const *kernels)
{
  const size_t n = stage->u.fir.n_taps;

  for (unsigned k = 0; k < stage->u.fir.n_kernels; k++)
    memcpy (stage->u.fir.taps + k * n, kernels[k], n * sizeof (double));
  look_at_taps (stage);
}

TfxStage *
tfx_stage_new_fir (uint64_t id, const double *const *kernels,
    unsigned n_kernels, size_t n_taps, TfxFirMethod method)
{
  TfxStage *stage;

  if (n_kernels < 1 || n_kernels > TFX_MAX_CHANNELS || n_taps < 1 ||
      n_taps > TFX_FIR_MAX_TAPS || (unsigned)method > TFX_FIR_FFT ||
      !are_finite (kernels, n_kernels, n_taps))
    return NULL;
  stage = fir_new (id, n_kernels, n_taps, method);
  if (stage)
    set_taps (stage, kernels);
  return stage;
}

bool
tfx_stage_reuse_fir (TfxStage *stage, const double *const *kernels,
    unsigned n_kernels, size_t n_taps, TfxFirMethod method)
{
  if (stage->kind != &tfx_kind_fir || stage->u.fir.ready ||
      stage->u.fir.n_kernels != n_kernels || stage->u.fir.n_taps != n_taps ||
      stage->u.fir.method != method || !tfx_stage_is_unshared (stage) ||
      !are_finite (kernels, n_kernels, n_taps))
    return false;
  set_taps (stage, kernels);
  return true;
}

/* The method of two kernels in one: a wish for one method holds if the other
 * kernel has none against it. */
static TfxFirMethod
common_method (TfxFirMethod a, TfxFirMethod b)
{
  if (a == TFX_FIR_AUTO)
    return b;
  return b == TFX_FIR_AUTO || a == b ? a : TFX_FIR_AUTO;
}

/* That of two in series as one. */
static TfxConvolverSpec
convolved_spec (const TfxConvolverSpec *a, const TfxConvolverSpec *b)
{
  TfxConvolverSpec both = *a;

  both.n_kernels = a->n_kernels > b->n_kernels ? a->n_kernels : b->n_kernels;
  both.n_taps = a->n_taps + b->n_taps - 1;
  both.n_leading = a->n_leading + b->n_leading;
  both.n_trailing = a->n_trailing + b->n_trailing;
  both.method = common_method (a->method, b->method);
  return both;
}

/* Two in series as one, with the id of the first; n_kernels is that of both, or 1 of
 * one of them.  NULL if memory is short. */
static TfxStage *
convolve (const TfxStage *first, const TfxStage *second,
    const TfxConvolverSpec *shape)
{
  const unsigned n_a = first->u.fir.n_kernels, n_b = second->u.fir.n_kernels;
  const size_t len_a = first->u.fir.n_taps, len_b = second->u.fir.n_taps;
  TfxStage *stage =
      fir_new (first->id, shape->n_kernels, shape->n_taps, shape->method);

  for (unsigned k = 0; stage && k < shape->n_kernels; k++) {
    const double *a = first->u.fir.taps + (n_a == 1 ? 0 : k) * len_a;
    const double *b = second->u.fir.taps + (n_b == 1 ? 0 : k) * len_b;
    double *out = stage->u.fir.taps + k * stage->u.fir.n_taps;

    tfx_fir_convolve (a, len_a, b, len_b, out);
  }
  if (stage) {
    stage->u.fir.n_late = first->u.fir.n_late + second->u.fir.n_late;
    look_at_taps (stage);
  }
  return stage;
}

/* ---- the kind --------------------------------------------------------------- */

static int
fir_check (const TfxStage *stage, const TfxFilterSpec *spec)
{
  const double most = spec->sample == TFX_SAMPLE_F32 ? 0x1p100 : 0x1p1000;

  if (stage->u.fir.n_kernels != 1 && stage->u.fir.n_kernels != spec->n_channels)
    return -EINVAL;
  return stage->u.fir.peak < most ? 0 : -ERANGE;
}

/* To go to other taps of a long one means to compute all at once that lies
 * ahead of the blocks; what was made ready in a thread instead takes the past
 * over a little with each block. */
static bool
fir_is_same_structure (const TfxStage *a, const TfxStage *b)
{
  if (a == b)
    return true;
  return !b->u.fir.ready && a->u.fir.n_kernels == b->u.fir.n_kernels &&
         a->u.fir.n_taps == b->u.fir.n_taps &&
         a->u.fir.n_leading == b->u.fir.n_leading &&
         a->u.fir.n_trailing == b->u.fir.n_trailing &&
         a->u.fir.n_late == b->u.fir.n_late &&
         a->u.fir.method == b->u.fir.method;
}

static bool
fir_is_same (const TfxStage *a, const TfxStage *b)
{
  return a == b ||
         memcmp (a->u.fir.taps, b->u.fir.taps,
             a->u.fir.n_kernels * a->u.fir.n_taps * sizeof (double)) == 0;
}

static size_t
fir_state_size (const TfxStage *stage)
{
  return stage->u.fir.n_taps - 1;
}

static size_t
fir_latency (const TfxStage *stage)
{
  return stage->u.fir.n_late;
}

static double
fir_cost (const TfxStage *stage, const TfxUnitSpec *spec)
{
  const TfxConvolverSpec convolver = tfx_unit_fir_spec (stage, spec);

  return tfx_convolver_cost (&convolver);
}

/* Convolving kernels of more taps than this with each other takes longer than
 * a change of parameters may. */
#define JOIN_MAX_PRODUCTS 16000000.0

/* Two are better one where that is a tap less in all and one pass over the
 * samples, or fewer transforms; but not where a long one would have to be
 * summed up tap by tap, as is asked of a short one. */
static int
fir_join (const TfxStage *first, const TfxStage *second,
    const TfxFilterSpec *spec, TfxStage **both)
{
  const TfxUnitSpec unit = { spec->n_channels, spec->sample, spec->block_frames,
    tfx_fir_unit.get_kernel () };
  const TfxConvolverSpec a = tfx_unit_fir_spec (first, &unit);
  const TfxConvolverSpec b = tfx_unit_fir_spec (second, &unit);
  const TfxConvolverSpec shape = convolved_spec (&a, &b);

  *both = NULL;
  if (a.n_kernels != b.n_kernels && a.n_kernels != 1 && b.n_kernels != 1)
    return 0;
  if (shape.n_taps > TFX_FIR_MAX_TAPS ||
      (double)a.n_taps * (double)b.n_taps > JOIN_MAX_PRODUCTS ||
      tfx_convolver_cost (&shape) >
          tfx_convolver_cost (&a) + tfx_convolver_cost (&b))
    return 0;
  *both = convolve (first, second, &shape);
  if (!*both)
    return -ENOMEM;
  /* What each of them can do is not lost with the other. */
  if (fir_check (*both, spec) < 0)
    tfx_stage_unref (both);
  return 0;
}

/* To make a long kernel ready costs some 10 ns a tap: then its points are as far
 * from each other as a sixteenth of it. */
#define TAPS_PER_FRAME 16

size_t
tfx_fir_grid_frames (size_t n_taps)
{
  size_t n = TFX_GRID_FRAMES;

  while (n * TAPS_PER_FRAME < n_taps)
    n *= 2;
  return n;
}

static size_t
fir_grid_frames (const TfxStage *stage)
{
  return tfx_fir_grid_frames (stage->u.fir.n_taps);
}

static void
fir_clear (TfxStage *stage)
{
  tfx_unit_fir_free_ready (stage);
  free (stage->u.fir.taps);
}

/* By Horner's rule in 1/z, with the taps at both ends that are zeros.  Latency does
 * not count. */
static TfxComplex
fir_response (const TfxStage *stage, unsigned channel, double freq_hz,
    double rate_hz)
{
  const size_t n = stage->u.fir.n_taps;
  const double *taps = stage->u.fir.taps;
  const double complex d = cexp (-I * 2.0 * M_PI * freq_hz / rate_hz);
  double complex h = 0.0;

  if (stage->u.fir.n_kernels > 1)
    taps += channel % stage->u.fir.n_kernels * n;
  for (size_t i = n; i-- > 0;)
    h = h * d + taps[i];
  h *= cexp (I * 2.0 * M_PI * freq_hz / rate_hz * (double)stage->u.fir.n_late);
  return (TfxComplex){ creal (h), cimag (h) };
}

int
tfx_stage_fir_peak (const TfxStage *stage, size_t *frame)
{
  const size_t n = stage->u.fir.n_taps;

  if (stage->kind != &tfx_kind_fir)
    return -ENOENT;
  *frame = 0;
  for (size_t i = 0; i < stage->u.fir.n_kernels * n; i++) {
    if (fabs (stage->u.fir.taps[i]) == stage->u.fir.peak) {
      *frame = i % n;
      break;
    }
  }
  return 0;
}

const TfxKind tfx_kind_fir = {
  .step = TFX_STEP_FIR,
  .unit = &tfx_fir_unit,
  .check = fir_check,
  .is_same_structure = fir_is_same_structure,
  .is_same = fir_is_same,
  .state_size = fir_state_size,
  .latency = fir_latency,
  .response = fir_response,
  .join = fir_join,
  .prepare = tfx_unit_fir_prepare,
  .grid_frames = fir_grid_frames,
  .cost = fir_cost,
  .clear = fir_clear,
};
