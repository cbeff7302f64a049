/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fir.c: FIR stages, and the units that run them: a convolver each.
 *
 * Another thread can prepare a long stage (tfx_stage_prepare()): its transformed taps
 * and a spare convolver hang on the stage. */
#include <complex.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend.h"
#include "core/block.h"
#include "core/kind.h"
#include "cpu/convolver.h"
#include "unit.h"

/* Zeros at one end of the taps that are worth leaving out. */
#define MIN_ZEROS 32
/* Taps of a stage that is worth preparing. */
#define LONG_TAPS 16384
/* Products of a join: more take longer than a change of parameters may. */
#define JOIN_MAX_PRODUCTS 16000000.0
/* To transform a long kernel takes 10 ns a tap: its grid has a point for each
 * sixteenth of it. */
#define TAPS_PER_FRAME 16

/* ---- stages ---------------------------------------------------------------------- */

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

/* Sets what follows from the taps: their peak, and the zeros at both ends. */
static void
measure_taps (TfxStage *stage)
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

/* Copies the kernels; false if a tap is not finite. */
static bool
set_taps (TfxStage *stage, const double *const *kernels)
{
  const size_t n = stage->u.fir.n_taps;

  for (unsigned k = 0; k < stage->u.fir.n_kernels; k++) {
    for (size_t i = 0; i < n; i++) {
      if (!isfinite (kernels[k][i]))
        return false;
    }
  }
  for (unsigned k = 0; k < stage->u.fir.n_kernels; k++)
    memcpy (stage->u.fir.taps + k * n, kernels[k], n * sizeof (double));
  measure_taps (stage);
  return true;
}

TfxStage *
tfx_stage_new_fir (uint64_t id, const double *const *kernels,
    unsigned n_kernels, size_t n_taps, TfxFirMethod method)
{
  TfxStage *stage;

  if (n_kernels < 1 || n_kernels > TFX_MAX_CHANNELS || n_taps < 1 ||
      n_taps > TFX_FIR_MAX_TAPS || (unsigned)method > TFX_FIR_FFT)
    return NULL;
  stage = fir_new (id, n_kernels, n_taps, method);
  if (stage && !set_taps (stage, kernels))
    tfx_stage_unref (&stage);
  return stage;
}

/* Whether all numbers are those of kernels, or -1, and not all of them are -1. */
static bool
is_matrix (unsigned n_channels, const int *matrix, unsigned n_kernels)
{
  bool is_heard = false;

  if (n_channels < 1 || n_channels > TFX_MIX_MAX_CHANNELS)
    return false;
  for (size_t i = 0; i < (size_t)n_channels * n_channels; i++) {
    if (matrix[i] < -1 || matrix[i] >= (int)n_kernels)
      return false;
    is_heard = is_heard || matrix[i] >= 0;
  }
  return is_heard;
}

/* Kernels that the matrix does not use are left out, and the others numbered anew. */
TfxStage *
tfx_stage_new_fir_matrix (uint64_t id, unsigned n_channels, const int *matrix,
    const double *const *kernels, unsigned n_kernels, size_t n_taps,
    TfxFirMethod method)
{
  const size_t n = (size_t)n_channels * n_channels;
  const double *used[TFX_MIX_MAX_CHANNELS * TFX_MIX_MAX_CHANNELS];
  unsigned n_used = 0;
  TfxStage *stage = NULL;
  int *numbers;

  if (!is_matrix (n_channels, matrix, n_kernels))
    return NULL;
  numbers = malloc (n * sizeof *numbers);
  for (size_t i = 0; numbers && i < n; i++) {
    unsigned k = 0;

    while (matrix[i] >= 0 && k < n_used && used[k] != kernels[matrix[i]])
      k++;
    if (matrix[i] >= 0 && k == n_used)
      used[n_used++] = kernels[matrix[i]];
    numbers[i] = matrix[i] < 0 ? -1 : (int)k;
  }
  if (numbers)
    stage = tfx_stage_new_fir (id, used, n_used, n_taps, method);
  if (!stage) {
    free (numbers);
    return NULL;
  }
  stage->u.fir.n_channels = n_channels;
  stage->u.fir.matrix = numbers;
  return stage;
}

bool
tfx_stage_reuse_fir (TfxStage *stage, const double *const *kernels,
    unsigned n_kernels, size_t n_taps, TfxFirMethod method)
{
  return stage->kind == &tfx_kind_fir && !stage->u.fir.ready &&
         !stage->u.fir.matrix && stage->u.fir.n_kernels == n_kernels &&
         stage->u.fir.n_taps == n_taps && stage->u.fir.method == method &&
         tfx_stage_is_unshared (stage) && set_taps (stage, kernels);
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

static int
fir_check (const TfxStage *stage, const TfxFilterSpec *spec)
{
  const double most = spec->sample == TFX_SAMPLE_F32 ? 0x1p100 : 0x1p1000;

  if (stage->u.fir.matrix ? stage->u.fir.n_channels != spec->n_channels
                          : stage->u.fir.n_kernels != 1 &&
                                stage->u.fir.n_kernels != spec->n_channels)
    return -EINVAL;
  return stage->u.fir.peak < most ? 0 : -ERANGE;
}

static bool
has_matrix_of (const TfxStage *a, const TfxStage *b)
{
  const size_t n = a->u.fir.n_channels;

  if (!a->u.fir.matrix || !b->u.fir.matrix)
    return a->u.fir.matrix == b->u.fir.matrix;
  return n == b->u.fir.n_channels && memcmp (a->u.fir.matrix, b->u.fir.matrix,
                                         n * n * sizeof *a->u.fir.matrix) == 0;
}

/* A prepared stage is another structure: its convolver warms up a little with each
 * block, where new taps of a long one would be computed ahead at once. */
static bool
fir_is_same_structure (const TfxStage *a, const TfxStage *b)
{
  return a == b ||
         (!b->u.fir.ready && a->u.fir.n_kernels == b->u.fir.n_kernels &&
             a->u.fir.n_taps == b->u.fir.n_taps &&
             a->u.fir.n_leading == b->u.fir.n_leading &&
             a->u.fir.n_trailing == b->u.fir.n_trailing &&
             a->u.fir.n_late == b->u.fir.n_late &&
             a->u.fir.method == b->u.fir.method && has_matrix_of (a, b));
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

/* By Horner's rule in 1/z.  The latency does not count. */
static TfxComplex
kernel_response (const TfxStage *stage, size_t kernel, double freq_hz,
    double rate_hz)
{
  const size_t n = stage->u.fir.n_taps;
  const double *taps = stage->u.fir.taps + kernel * n;
  const double complex d = cexp (-I * 2.0 * M_PI * freq_hz / rate_hz);
  double complex h = 0.0;

  for (size_t i = n; i-- > 0;)
    h = h * d + taps[i];
  h *= cexp (I * 2.0 * M_PI * freq_hz / rate_hz * (double)stage->u.fir.n_late);
  return (TfxComplex){ creal (h), cimag (h) };
}

/* From an input to an output. */
static TfxComplex
path_response (const TfxStage *stage, unsigned out, unsigned in, double freq_hz,
    double rate_hz)
{
  const unsigned n = stage->u.fir.n_channels;
  int kernel =
      (int)(stage->u.fir.n_kernels > 1 ? out % stage->u.fir.n_kernels : 0);

  if (stage->u.fir.matrix)
    kernel = out < n && in < n ? stage->u.fir.matrix[out * n + in] : -1;
  else if (out != in)
    kernel = -1;
  return kernel < 0 ? (TfxComplex){ 0.0, 0.0 }
                    : kernel_response (stage, (size_t)kernel, freq_hz, rate_hz);
}

static TfxComplex
fir_response (const TfxStage *stage, unsigned channel, double freq_hz,
    double rate_hz)
{
  return path_response (stage, channel, channel, freq_hz, rate_hz);
}

static void
fir_spread (const TfxStage *stage, TfxComplex *h, double freq_hz,
    double rate_hz)
{
  TfxComplex in[TFX_MIX_MAX_CHANNELS];

  memcpy (in, h, sizeof in);
  memset (h, 0, sizeof in);
  for (unsigned k = 0; k < TFX_MIX_MAX_CHANNELS; k++) {
    const unsigned first = stage->u.fir.matrix ? 0 : k;
    const unsigned end = stage->u.fir.matrix ? stage->u.fir.n_channels : k + 1;

    for (unsigned c = first; c < end && (in[k].re != 0.0 || in[k].im != 0.0);
         c++) {
      const TfxComplex part = tfx_complex_product (in[k],
          path_response (stage, c, k, freq_hz, rate_hz));

      h[c].re += part.re;
      h[c].im += part.im;
    }
  }
}

/* ---- two in series as one --------------------------------------------------------- */

static TfxConvolverSpec
make_spec (const TfxStage *stage, const TfxUnitSpec *spec)
{
  return (TfxConvolverSpec){ .taps = stage->u.fir.taps,
    .n_taps = stage->u.fir.n_taps,
    .n_leading = stage->u.fir.n_leading,
    .n_trailing = stage->u.fir.n_trailing,
    .n_sounding = stage->u.fir.n_sounding,
    .n_kernels = stage->u.fir.n_kernels,
    .n_channels = spec->n_channels,
    .matrix = stage->u.fir.matrix,
    .precision = spec->sample,
    .method = stage->u.fir.method,
    .block_frames = spec->block_frames,
    .kernel = spec->kernel };
}

static double
fir_cost (const TfxStage *stage, const TfxUnitSpec *spec)
{
  const TfxConvolverSpec convolver = make_spec (stage, spec);

  return tfx_convolver_cost (&convolver);
}

/* Joins two stages where one convolver costs less than two.  A method that one of them
 * asks for holds if the other asks for none; so a long FIR is not summed up tap by tap
 * because a short one is.  Matrices are not joined. */
static int
fir_join (const TfxStage *first, const TfxStage *second,
    const TfxFilterSpec *spec, TfxStage **both)
{
  const TfxUnitSpec unit = { spec->n_channels, spec->sample, spec->block_frames,
    tfx_unit_cpu_kernel () };
  const TfxConvolverSpec a = make_spec (first, &unit);
  const TfxConvolverSpec b = make_spec (second, &unit);
  TfxConvolverSpec shape = a;

  *both = NULL;
  shape.n_kernels = a.n_kernels > b.n_kernels ? a.n_kernels : b.n_kernels;
  shape.n_taps = a.n_taps + b.n_taps - 1;
  shape.n_leading = a.n_leading + b.n_leading;
  shape.n_trailing = a.n_trailing + b.n_trailing;
  shape.method = a.method == TFX_FIR_AUTO ? b.method
                 : b.method == TFX_FIR_AUTO || a.method == b.method
                     ? a.method
                     : TFX_FIR_AUTO;
  if (a.matrix || b.matrix ||
      (a.n_kernels != b.n_kernels && a.n_kernels != 1 && b.n_kernels != 1) ||
      shape.n_taps > TFX_FIR_MAX_TAPS ||
      (double)a.n_taps * (double)b.n_taps > JOIN_MAX_PRODUCTS ||
      tfx_convolver_cost (&shape) >
          tfx_convolver_cost (&a) + tfx_convolver_cost (&b))
    return 0;
  *both = fir_new (first->id, shape.n_kernels, shape.n_taps, shape.method);
  if (!*both)
    return -ENOMEM;
  for (unsigned k = 0; k < shape.n_kernels; k++)
    tfx_fir_convolve (a.taps + (a.n_kernels == 1 ? 0 : k) * a.n_taps, a.n_taps,
        b.taps + (b.n_kernels == 1 ? 0 : k) * b.n_taps, b.n_taps,
        (*both)->u.fir.taps + k * shape.n_taps);
  (*both)->u.fir.n_late = first->u.fir.n_late + second->u.fir.n_late;
  measure_taps (*both);
  /* Products may be too large for the samples where the parts are not. */
  if (fir_check (*both, spec) < 0)
    tfx_stage_unref (both);
  return 0;
}

/* ---- prepared stages ---------------------------------------------------------------- */

typedef struct TfxFirReady
{
  TfxUnitSpec spec; /* for units of this spec */
  TfxConvolverTaps *taps;
  TfxConvolver *spare; /* at rest, for the first unit; atomic */
} Ready;

static void
free_ready (TfxStage *stage)
{
  Ready *ready = stage->u.fir.ready;

  stage->u.fir.ready = NULL;
  if (!ready)
    return;
  tfx_convolver_free (&ready->spare);
  tfx_convolver_taps_unref (&ready->taps);
  free (ready);
}

static void
fir_clear (TfxStage *stage)
{
  free_ready (stage);
  free (stage->u.fir.taps);
  free (stage->u.fir.matrix);
}

static int
fir_prepare (TfxStage *stage, const TfxFilterSpec *spec)
{
  const TfxUnitSpec unit = { spec->n_channels, spec->sample, spec->block_frames,
    tfx_unit_cpu_kernel () };
  const TfxConvolverSpec convolver = make_spec (stage, &unit);
  Ready *ready;
  int ret;

  if (stage->u.fir.n_taps * (stage->u.fir.matrix ? stage->u.fir.n_kernels : 1) <
          LONG_TAPS ||
      stage->u.fir.ready)
    return 0;
  ready = calloc (1, sizeof *ready);
  if (!ready)
    return -ENOMEM;
  stage->u.fir.ready = ready;
  ready->spec = unit;
  ret = tfx_convolver_taps_new (&convolver, &ready->taps);
  if (ret == 0)
    ret = tfx_convolver_new (ready->taps, &ready->spare);
  if (ret < 0)
    free_ready (stage);
  return ret;
}

/* The transformed taps for this spec, and a convolver; or NULL. */
static Ready *
find_ready (const TfxStage *stage, const TfxUnitSpec *spec)
{
  Ready *ready = stage->u.fir.ready;

  if (!ready || ready->spec.n_channels != spec->n_channels ||
      ready->spec.sample != spec->sample ||
      ready->spec.block_frames != spec->block_frames ||
      strcmp (ready->spec.kernel, spec->kernel) != 0)
    return NULL;
  return ready;
}

static bool
unit_is_prepared (const TfxStage *stage, const TfxUnitSpec *spec)
{
  const Ready *ready = find_ready (stage, spec);

  return ready && __atomic_load_n (&ready->spare, __ATOMIC_ACQUIRE);
}

static int
make_taps (const TfxStage *stage, const TfxUnitSpec *spec,
    TfxConvolverTaps **taps)
{
  const TfxConvolverSpec convolver = make_spec (stage, spec);
  const Ready *ready = find_ready (stage, spec);

  if (!ready)
    return tfx_convolver_taps_new (&convolver, taps);
  *taps = tfx_convolver_taps_ref (ready->taps);
  return 0;
}

/* ---- units -------------------------------------------------------------------------- */

/* A convolver, and the taps that it had: they are filled again, so that parameter ramps
 * take no memory.
 *
 * If the stream gets another format during a cross-fade, the unit of the format before
 * runs on to its end.  Then this unit takes over its history, and values set in
 * between begin. */
typedef struct Unit
{
  TfxConvolver *convolver;
  TfxConvolverFiller *filler; /* NULL: not needed yet */
  TfxConvolverTaps **pool;
  size_t n_pool, pool_room;

  struct Unit *elder; /* that of the format before, or NULL */
  bool is_over;       /* the elder has ended, and waits to be freed */
  double *past;       /* room for its history */
  TfxConvolverTaps *next;
  size_t next_frames;
  TfxWeight next_weight;

  const TfxConvolver *source; /* whose history it takes over step by step */
} Unit;

static void
unit_free (void *unit)
{
  Unit *u = unit;

  if (u->elder)
    unit_free (u->elder);
  free (u->past);
  tfx_convolver_taps_unref (&u->next);
  tfx_convolver_free (&u->convolver);
  tfx_convolver_filler_free (&u->filler);
  for (size_t i = 0; i < u->n_pool; i++)
    tfx_convolver_taps_unref (&u->pool[i]);
  free (u->pool);
  free (u);
}

static int
unit_make (TfxStage *stage, const TfxUnitSpec *spec, void **unit)
{
  Ready *ready = find_ready (stage, spec);
  Unit *u = calloc (1, sizeof *u);
  TfxConvolver *none = NULL;
  TfxConvolverTaps *taps;
  int ret = 0;

  *unit = u;
  if (!u)
    return -ENOMEM;
  if (ready)
    __atomic_exchange (&ready->spare, &none, &u->convolver, __ATOMIC_ACQ_REL);
  if (!u->convolver) {
    ret = make_taps (stage, spec, &taps);
    if (ret == 0)
      ret = tfx_convolver_new (taps, &u->convolver);
    tfx_convolver_taps_unref (&taps);
  }
  if (ret < 0) {
    unit_free (u);
    *unit = NULL;
  }
  return ret;
}

/* The unit that runs. */
static const Unit *
find_runner (const Unit *u)
{
  while (u->elder && !u->is_over)
    u = u->elder;
  return u;
}

static bool
unit_is_changing (const void *unit)
{
  const Unit *u = unit;

  return find_runner (u) != u || tfx_convolver_fade_frames (u->convolver) > 0;
}

/* The elder ends; values that waited for that begin. */
static void
begin_next (Unit *u)
{
  u->is_over = true;
  if (u->next)
    tfx_convolver_set_taps (u->convolver, u->next, u->next_frames,
        u->next_weight);
  tfx_convolver_taps_unref (&u->next);
}

/* Takes over from an elder whose cross-fade is over. */
static void
take_over (Unit *u)
{
  if (!u->elder || u->is_over)
    return;
  take_over (u->elder);
  if (unit_is_changing (u->elder))
    return;
  tfx_convolver_get_history (u->elder->convolver, u->past);
  tfx_convolver_set_history (u->convolver, u->past);
  begin_next (u);
}

static bool
unit_succeed (void *unit, void *elder, size_t n_state)
{
  Unit *u = unit;

  u->past = calloc (n_state + 1, sizeof *u->past);
  if (!u->past)
    return false;
  u->elder = elder;
  return true;
}

static int
unit_run (void *unit, const TfxBlock *in, const TfxBlock *out)
{
  Unit *u = unit;
  unsigned n_unsound = 0, n_more;

  for (size_t i = 0, n; i < in->n_frames; i += n) {
    const Unit *runner;
    TfxBlock from, to;

    take_over (u);
    runner = find_runner (u);
    n = in->n_frames - i;
    if (runner != u) {
      const size_t left = tfx_convolver_fade_frames (runner->convolver);

      n = n < left ? n : left;
    }
    from = tfx_block_part (in, i, n, 0, in->n_channels);
    to = tfx_block_part (out, i, n, 0, out->n_channels);
    n_more = tfx_convolver_run (runner->convolver, &from, &to);
    n_unsound = n_more > n_unsound ? n_more : n_unsound;
  }
  return (int)n_unsound;
}

/* ---- values ---------------------------------------------------------------------- */

/* Keeps taps to be filled again; without memory for that they are made each time. */
static void
keep_taps (Unit *u, TfxConvolverTaps *taps)
{
  if (!u->filler && tfx_convolver_filler_new (taps, &u->filler) < 0)
    return;
  if (u->n_pool == u->pool_room) {
    const size_t room = u->pool_room > 0 ? 2 * u->pool_room : 8;
    TfxConvolverTaps **pool = realloc (u->pool, room * sizeof *pool);

    if (!pool)
      return;
    u->pool = pool;
    u->pool_room = room;
  }
  u->pool[u->n_pool++] = tfx_convolver_taps_ref (taps);
}

static int
unit_prepare_values (void *unit, TfxStage *stage, const TfxUnitSpec *spec,
    void **values)
{
  Unit *u = unit;
  const TfxConvolverSpec convolver = make_spec (stage, spec);
  const bool is_ready = find_ready (stage, spec) != NULL;
  TfxConvolverTaps *taps = NULL;
  int ret;

  if (u->is_over && u->elder) {
    unit_free (u->elder);
    free (u->past);
    u->elder = NULL;
    u->past = NULL;
  }
  for (size_t i = 0; !is_ready && !taps && u->filler && i < u->n_pool; i++) {
    if (tfx_convolver_taps_refill (u->pool[i], &convolver, u->filler))
      taps = tfx_convolver_taps_ref (u->pool[i]);
  }
  *values = taps;
  if (taps)
    return 0;
  ret = make_taps (stage, spec, &taps);
  if (ret == 0 && !is_ready)
    keep_taps (u, taps);
  *values = taps;
  return ret;
}

static void
unit_drop_values (void *values)
{
  TfxConvolverTaps *taps = values;

  tfx_convolver_taps_unref (&taps);
}

static void
unit_set_values (void *unit, void *values, size_t n_frames, TfxWeight weight)
{
  Unit *u = unit;

  take_over (u);
  if (find_runner (u) != u) {
    tfx_convolver_taps_unref (&u->next);
    u->next = values;
    u->next_frames = n_frames;
    u->next_weight = weight;
    return;
  }
  tfx_convolver_set_taps (u->convolver, values, n_frames, weight);
  unit_drop_values (values);
}

/* ---- state ----------------------------------------------------------------------- */

static void
unit_reset (void *unit)
{
  Unit *u = unit;

  if (find_runner (u) != u)
    begin_next (u);
  tfx_convolver_reset (u->convolver);
}

static double
unit_state_peak (const void *unit)
{
  return tfx_convolver_is_silent (find_runner (unit)->convolver) ? 0.0 : 1.0;
}

static void
unit_get_state (const void *unit, double *state)
{
  tfx_convolver_get_history (find_runner (unit)->convolver, state);
}

static void
unit_set_state (void *unit, const double *state)
{
  Unit *u = unit;

  if (find_runner (u) != u)
    begin_next (u);
  tfx_convolver_set_history (u->convolver, state);
}

static bool
unit_catch_up_start (void *unit, const void *source)
{
  Unit *u = unit;

  u->source = find_runner (source)->convolver;
  return tfx_convolver_catch_up_start (u->convolver, u->source);
}

static size_t
unit_catch_up (void *unit, const void *source, size_t n_frames)
{
  Unit *u = unit;

  /* The source has taken over from its elder. */
  if (u->source != find_runner (source)->convolver) {
    tfx_convolver_reset (u->convolver);
    if (!unit_catch_up_start (unit, source))
      return 0;
  }
  return tfx_convolver_catch_up (u->convolver, u->source, n_frames);
}

static const TfxUnitKind fir_unit = {
  .is_for_format = true,
  .get_kernel = tfx_unit_cpu_kernel,
  .make = unit_make,
  .free = unit_free,
  .run = unit_run,
  .prepare_values = unit_prepare_values,
  .set_values = unit_set_values,
  .drop_values = unit_drop_values,
  .is_changing = unit_is_changing,
  .reset = unit_reset,
  .state_peak = unit_state_peak,
  .get_state = unit_get_state,
  .set_state = unit_set_state,
  .succeed = unit_succeed,
  .catch_up_start = unit_catch_up_start,
  .catch_up = unit_catch_up,
  .catch_up_frames = tfx_convolver_catch_up_frames,
  .is_prepared = unit_is_prepared,
};

const TfxKind tfx_kind_fir = {
  .step = TFX_STEP_FIR,
  .unit = &fir_unit,
  .check = fir_check,
  .is_same_structure = fir_is_same_structure,
  .is_same = fir_is_same,
  .state_size = fir_state_size,
  .latency = fir_latency,
  .response = fir_response,
  .spread = fir_spread,
  .join = fir_join,
  .prepare = fir_prepare,
  .grid_frames = fir_grid_frames,
  .cost = fir_cost,
  .clear = fir_clear,
};
