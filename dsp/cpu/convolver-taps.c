/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-taps.c: taps made ready for the FIR engine. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convolver-private.h"

static void *
alloc_values (TfxSample type, size_t n)
{
  const size_t value_size = type == TFX_SAMPLE_F32 ? 4 : 8;

  return aligned_alloc (64, (n * value_size + 63) / 64 * 64);
}

/* The first tap of a kernel that is computed. */
static const double *
first_tap (const TfxConvolverSpec *spec, size_t kernel)
{
  return spec->taps + kernel * spec->n_taps + spec->n_leading;
}

/* ---- direct ----------------------------------------------------------------- */

/* The type of the taps. */
static TfxSample
direct_type (const TfxConvolverTaps *t)
{
  return t->is_exact ? TFX_SAMPLE_F64 : t->precision;
}

/* Values from kernel to kernel. */
static size_t
direct_stride (const TfxConvolverTaps *t)
{
  return t->n_direct + 2;
}

static bool
is_parted (const TfxConvolverTaps *t)
{
  return !t->is_exact && t->n_direct > t->kernels->ops[t->precision].n_plain;
}

/* The largest of the floats goes behind the others, with its number. */
static void
part_largest (float *taps, size_t n)
{
  size_t most = 0;

  for (size_t i = 1; i < n; i++)
    most = fabsf (taps[i]) > fabsf (taps[most]) ? i : most;
  taps[n] = taps[most];
  taps[n + 1] = (float)most;
  taps[most] = 0.0f;
}

static void
fill_direct (TfxConvolverTaps *t, const TfxConvolverSpec *spec)
{
  const TfxSample type = direct_type (t);

  t->n_sounding = spec->n_sounding > 0 ? spec->n_sounding : t->n_core;
  for (size_t kernel = 0; kernel < t->n_kernels; kernel++) {
    const size_t first = kernel * direct_stride (t);

    for (size_t i = 0; i < t->n_direct; i++)
      tfx_convolver_set_value (type, t->direct, first + i,
          i < t->n_core ? first_tap (spec, kernel)[i] : 0.0);
    if (is_parted (t))
      part_largest ((float *)t->direct + first, t->n_direct);
  }
}

/* Tap number i of a kernel. */
static double
direct_tap (const TfxConvolverTaps *t, size_t kernel, size_t i)
{
  const TfxSample type = direct_type (t);
  const size_t first = kernel * direct_stride (t);
  const size_t most =
      is_parted (t) ? (size_t)((float *)t->direct)[first + t->n_direct + 1]
                    : SIZE_MAX;

  return tfx_convolver_get_value (type, t->direct,
      first + (i == most ? t->n_direct : i));
}

/* Frames that do not fill a tile of the kernels. */
#define REST_FRAMES 64

/* Of one kernel. */
static void
sum_up_path (const TfxConvolverTaps *t, size_t kernel, void *y, const void *x,
    size_t n_frames)
{
  const TfxConvolverOps *ops = &t->kernels->ops[t->precision];
  const size_t value_size = t->precision == TFX_SAMPLE_F32 ? 4 : 8;
  const size_t tap_size = t->is_exact ? 8 : value_size;
  const void *h =
      (const char *)t->direct + kernel * direct_stride (t) * tap_size;
  /* What the kernels would write beyond the end goes to an array, and with it what
   * fills a tile of theirs. */
  const size_t n =
      n_frames % 16 == 0 ? n_frames : n_frames / REST_FRAMES * REST_FRAMES;
  const size_t n_rest = n_frames - n;
  double rest[REST_FRAMES];
  void (*direct) (void *, const void *, const void *, size_t, size_t) =
      t->is_exact ? ops->direct_exact : ops->direct;

  if (n > 0)
    direct (y, x, h, t->n_direct, n);
  if (n_rest > 0) {
    direct (rest, (const char *)x + n * value_size, h, t->n_direct, n_rest);
    memcpy ((char *)y + n * value_size, rest, n_rest * value_size);
  }
}

/* Frames of an output that are summed up at a time. */
#define PIECE 256

static void
add_values (TfxSample type, double *sums, const void *values, size_t n)
{
  const double *as_double = values;
  const float *as_float = values;

  if (type == TFX_SAMPLE_F32)
    for (size_t i = 0; i < n; i++)
      sums[i] += (double)as_float[i];
  else
    for (size_t i = 0; i < n; i++)
      sums[i] += as_double[i];
}

/* Several paths are summed up in double. */
void
tfx_convolver_taps_sum_up (const TfxConvolverTaps *t, unsigned out, void *y,
    const void *x, size_t stride, size_t n_frames)
{
  const size_t value_size = t->precision == TFX_SAMPLE_F32 ? 4 : 8;
  const TfxConvolverPaths *all = t->paths;
  const TfxConvolverPath *path = &all->paths[all->firsts[out]];
  const TfxConvolverPath *end = &all->paths[all->firsts[out + 1]];
  const char *from = x;

  if (end - path == 1) {
    sum_up_path (t, path->kernel, y,
        from + all->ins[path->in] * stride * value_size, n_frames);
    return;
  }
  for (size_t at = 0, n; at < n_frames; at += n) {
    double sums[PIECE] = { 0.0 }, values[PIECE];

    n = n_frames - at < PIECE ? n_frames - at : PIECE;
    for (const TfxConvolverPath *p = path; p < end; p++) {
      sum_up_path (t, p->kernel, values,
          from + (all->ins[p->in] * stride + at) * value_size, n);
      add_values (t->precision, sums, values, n);
    }
    for (size_t i = 0; i < n; i++)
      tfx_convolver_set_value (t->precision, y, at + i, sums[i]);
  }
}

#undef PIECE

/* ---- spectra ---------------------------------------------------------------- */

/* For each level its transform in double, and the plan of the one that runs; scratch for
 * the largest. */
struct TfxConvolverFiller
{
  TfxFft fft[TFX_CONVOLVER_MAX_LEVELS], target[TFX_CONVOLVER_MAX_LEVELS];
  double *scratch; /* [4 size] */
};

void
tfx_convolver_filler_free (TfxConvolverFiller **filler)
{
  TfxConvolverFiller *f = *filler;

  *filler = NULL;
  if (!f)
    return;
  for (size_t i = 0; i < TFX_CONVOLVER_MAX_LEVELS; i++)
    tfx_fft_clear (&f->fft[i]);
  free (f->scratch);
  free (f);
}

int
tfx_convolver_filler_new (const TfxConvolverTaps *t, TfxConvolverFiller **out)
{
  TfxConvolverFiller *f = calloc (1, sizeof *f);
  size_t largest = TFX_LEAF;
  int result = f ? 0 : -ENOMEM;

  for (size_t i = 0; !result && i < t->layout.n_levels; i++) {
    const size_t size = t->layout.levels[i].size;

    largest = size > largest ? size : largest;
    tfx_fft_plan (&f->target[i], size, &t->kernels->ops[t->precision]);
    result = tfx_fft_init (&f->fft[i], &t->kernels->ops[TFX_SAMPLE_F64],
        TFX_SAMPLE_F64, size);
  }
  if (!result) {
    f->scratch = aligned_alloc (64, 4 * largest * sizeof *f->scratch);
    result = f->scratch ? 0 : -ENOMEM;
  }
  if (result)
    tfx_convolver_filler_free (&f);
  *out = f;
  return result;
}

/* The transform in double of the tiles at f->scratch + 2 size, to those of partition
 * `slot` of n_parts. */
static void
write_tiles (const TfxConvolverTaps *t, size_t level,
    const TfxConvolverFiller *f, void *spectra, size_t slot)
{
  const size_t size = f->fft[level].size;
  const size_t n_parts = t->layout.levels[level].n_parts;
  const double *tiles = f->scratch + 2 * size;

  for (size_t i = 0; i < size; i++) {
    /* value k of a quarter of a leaf */
    const size_t leaf = i / TFX_LEAF, quarter = i % 4, k = i / 4 % 8;
    const double *from =
        tiles + tfx_fft_place (&f->fft[level], leaf, quarter, k);
    const size_t place = tfx_fft_place (&f->target[level], leaf, quarter, k);
    const size_t to =
        (place / TFX_TILE * n_parts + slot) * TFX_TILE + place % TFX_TILE;

    tfx_convolver_set_value (t->precision, spectra, to, from[0] / (double)size);
    tfx_convolver_set_value (t->precision, spectra, to + TFX_LEAF,
        from[TFX_LEAF] / (double)size);
  }
}

/* The spectra of a level; spec is NULL for taps of the direct form. */
static void
fill_spectra (TfxConvolverTaps *t, size_t level, const TfxConvolverSpec *spec,
    TfxConvolverFiller *f)
{
  const TfxConvolverLevel *l = &t->layout.levels[level];
  const size_t size = l->size,
               value_size = t->precision == TFX_SAMPLE_F32 ? 4 : 8;
  const bool is_block = t->layout.form == TFX_CONVOLVER_BLOCK;
  double *x = f->scratch;

  for (size_t i = 0; i < t->n_kernels * l->n_parts; i++) {
    const size_t kernel = i / l->n_parts, part = i % l->n_parts;
    const size_t first = l->first + part * size;
    /* form block: one partition of up to two sizes */
    const size_t end = first + (is_block ? 2 * size : size);

    for (size_t k = first; k < first + 2 * size; k++)
      x[k - first] = k >= end || k >= t->n_core ? 0.0
                     : spec                     ? first_tap (spec, kernel)[k]
                                                : direct_tap (t, kernel, k);
    tfx_fft_forward (&f->fft[level], x, x + size, x, x + size, x + 2 * size,
        TFX_TILE);
    write_tiles (t, level, f,
        (char *)t->spectra[level] + kernel * 2 * size * l->n_parts * value_size,
        l->n_parts - 1 - part);
  }
}

static void
fill (TfxConvolverTaps *t, const TfxConvolverSpec *spec, TfxConvolverFiller *f)
{
  fill_direct (t, spec);
  for (size_t i = 0; i < t->layout.n_levels; i++)
    fill_spectra (t, i, spec, f);
}

void
tfx_convolver_taps_fill_block (TfxConvolverTaps *t)
{
  for (size_t i = 0; i < t->layout.n_levels; i++)
    fill_spectra (t, i, NULL, t->filler);
  t->filler = NULL;
}

/* ---- the object ------------------------------------------------------------- */

static void
write_text (TfxConvolverTaps *t)
{
  static const char *const forms[] = { "direct", "block", "partitioned" };
  size_t at =
      (size_t)snprintf (t->text, sizeof t->text, "%s", forms[t->layout.form]);

  for (size_t i = 0; i < t->layout.n_levels && at < sizeof t->text; i++) {
    const TfxConvolverLevel *l = &t->layout.levels[i];
    at += (size_t)(t->layout.form == TFX_CONVOLVER_BLOCK
                       ? snprintf (t->text + at, sizeof t->text - at, " %zu",
                             l->size)
                       : snprintf (t->text + at, sizeof t->text - at,
                             " %zux%zu", l->size, l->n_parts));
  }
}

/* Whether the kernels suit the channels or the matrix. */
static bool
has_kernels (const TfxConvolverSpec *spec)
{
  const size_t n = spec->n_channels;
  bool is_heard = false;

  if (!spec->matrix)
    return spec->n_kernels == 1 || spec->n_kernels == n;
  for (size_t i = 0; i < n * n; i++) {
    if (spec->matrix[i] >= (int)spec->n_kernels)
      return false;
    is_heard = is_heard || spec->matrix[i] >= 0;
  }
  return is_heard && n <= TFX_MIX_MAX_CHANNELS;
}

/* Kernels for a spec whose numbers are in range; NULL otherwise. */
static const TfxConvolverKernels *
check_spec (const TfxConvolverSpec *spec)
{
  if (spec->n_taps < 1 || spec->n_taps > TFX_FIR_MAX_TAPS ||
      spec->n_leading >= spec->n_taps ||
      spec->n_trailing >= spec->n_taps - spec->n_leading ||
      spec->n_channels < 1 || spec->n_channels > TFX_MAX_CHANNELS ||
      !has_kernels (spec) || (unsigned)spec->precision > TFX_SAMPLE_F64 ||
      (unsigned)spec->method > TFX_FIR_FFT || !spec->kernel)
    return NULL;
  return tfx_convolver_kernels_for (spec->kernel);
}

static bool
are_taps_finite (const TfxConvolverSpec *spec)
{
  const double limit = spec->precision == TFX_SAMPLE_F32 ? 0x1p100 : 0x1p1000;

  for (size_t i = 0; i < spec->n_kernels * spec->n_taps; i++) {
    if (!(fabs (spec->taps[i]) < limit))
      return false;
  }
  return true;
}

/* For a tap of a channel, at the most; see convolver.h. */
#define MOST_BYTES 256

bool
tfx_convolver_taps_refill (TfxConvolverTaps *t, const TfxConvolverSpec *spec,
    TfxConvolverFiller *filler)
{
  if (__atomic_load_n (&t->n_refs, __ATOMIC_ACQUIRE) != 1 ||
      !are_taps_finite (spec))
    return false;
  if (t->layout.form != TFX_CONVOLVER_BLOCK) {
    fill (t, spec, filler);
    return true;
  }
  /* Under a curve most calls are short, and need no spectra. */
  fill_direct (t, spec);
  t->filler = filler;
  return true;
}

int
tfx_convolver_taps_lay_out (const TfxConvolverSpec *spec,
    const TfxConvolverLayout *layout, TfxConvolverTaps **taps)
{
  const TfxConvolverKernels *kernels = check_spec (spec);
  TfxConvolverFiller *filler = NULL;
  TfxConvolverTaps *t;
  int result = 0;

  *taps = NULL;
  if (!kernels || !spec->taps)
    return -EINVAL;
  /* More than there are addresses for, with all that is made of a tap. */
  if (spec->n_taps > SIZE_MAX / MOST_BYTES / spec->n_channels ||
      spec->n_taps > SIZE_MAX / MOST_BYTES / spec->n_kernels)
    return -ENOMEM;
  if (!are_taps_finite (spec))
    return -ERANGE;
  t = malloc (sizeof *t);
  if (!t)
    return -ENOMEM;
  *t = (TfxConvolverTaps){ .n_refs = 1,
    .n_taps = spec->n_taps,
    .n_leading = spec->n_leading,
    .n_core = spec->n_taps - spec->n_leading - spec->n_trailing,
    .n_kernels = spec->n_kernels,
    .n_channels = spec->n_channels,
    .precision = spec->precision,
    .block_frames = spec->block_frames,
    .is_exact = spec->method == TFX_FIR_DIRECT,
    .kernels = kernels };
  if (layout)
    t->layout = *layout;
  else
    tfx_convolver_layout_choose (spec, kernels, &t->layout);
  write_text (t);
  t->n_direct = t->layout.form == TFX_CONVOLVER_PARTITIONED
                    ? t->layout.levels[0].size
                    : t->n_core;
  t->direct = alloc_values (direct_type (t), t->n_kernels * direct_stride (t));
  t->paths = tfx_convolver_paths_new (spec);
  if (!t->direct || !t->paths)
    result = -ENOMEM;
  for (size_t i = 0; !result && i < t->layout.n_levels; i++) {
    const TfxConvolverLevel *l = &t->layout.levels[i];

    t->spectra[i] =
        alloc_values (t->precision, t->n_kernels * 2 * l->size * l->n_parts);
    if (!t->spectra[i])
      result = -ENOMEM;
  }
  if (!result)
    result = tfx_convolver_filler_new (t, &filler);
  if (result)
    tfx_convolver_taps_unref (&t);
  else
    fill (t, spec, filler);
  tfx_convolver_filler_free (&filler);
  *taps = t;
  return result;
}

int
tfx_convolver_taps_new (const TfxConvolverSpec *spec, TfxConvolverTaps **taps)
{
  return tfx_convolver_taps_lay_out (spec, NULL, taps);
}

TfxConvolverTaps *
tfx_convolver_taps_ref (TfxConvolverTaps *taps)
{
  __atomic_fetch_add (&taps->n_refs, 1, __ATOMIC_RELAXED);
  return taps;
}

void
tfx_convolver_taps_unref (TfxConvolverTaps **taps)
{
  TfxConvolverTaps *t = *taps;

  *taps = NULL;
  if (!t || __atomic_sub_fetch (&t->n_refs, 1, __ATOMIC_ACQ_REL) > 0)
    return;
  free (t->direct);
  free (t->paths);
  for (size_t i = 0; i < TFX_CONVOLVER_MAX_LEVELS; i++)
    free (t->spectra[i]);
  free (t);
}

const char *
tfx_convolver_taps_text (const TfxConvolverTaps *taps)
{
  return taps->text;
}

double
tfx_convolver_cost (const TfxConvolverSpec *spec)
{
  const TfxConvolverKernels *kernels = check_spec (spec);
  TfxConvolverLayout layout;

  if (!kernels)
    return INFINITY;
  tfx_convolver_layout_choose (spec, kernels, &layout);
  return layout.cost * tfx_convolver_paths_count (spec).n_outs /
         spec->n_channels;
}
