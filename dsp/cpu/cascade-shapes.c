/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade-shapes.c: what can lie in the lanes, and what it costs.
 *
 * The choice is made from the type of the stream, the number of channels and
 * that of sections, never from a block's length: so it is the same for any
 * split of the stream. */
#include "cascade-private.h"

#include <string.h>

#include "core/branches.h"

/* ns for a frame: of a pass, for each vector in it, and for a row of fewer channels
 * than the lanes are for. */
typedef struct Cost
{
  double pass, vector, partial;
} Cost;

typedef struct Costs
{
  const char *kernels;
  Cost one, wave, rows, paired;
  Cost frames[2];                     /* by channels - 1 */
  Cost parallel[TFX_PARALLEL_SHAPES]; /* of 1, 2 and W channels */
  Cost abreast[TFX_PARALLEL_SHAPES];
  double packing; /* for each channel of a group that has to be packed */
  double adding;  /* for each sample of a cascade's output */
} Costs;

/* Measured on a Zen 4 in blocks of 256 frames; waves of avx2 and vl, which are single
 * vectors or two, on a Granite Rapids, as they wait for the same multiply-adds. */
static const Costs costs[] = {
  { "sse2", .wave = { 1.4, 0.5 }, .rows = { 1.0, 0.8 },
      .paired = { 0.4, 1.6, 0.1 }, .frames = { { 0.2, 0.95 }, { 0.0, 2.1 } },
      .parallel = { { 0.9, 0.68 }, { 0.0, 0.0 }, { 1.2, 0.9 } },
      .abreast = { { 1.2, 0.9 }, { 0.0, 0.0 }, { 1.8, 1.2 } }, .packing = 0.6,
      .adding = 0.4 },
  { "neon", .wave = { 1.4, 0.5 }, .rows = { 1.0, 0.8 },
      .paired = { 0.4, 1.6, 0.1 }, .frames = { { 0.2, 0.95 }, { 0.0, 2.1 } },
      .parallel = { { 0.9, 0.68 }, { 0.0, 0.0 }, { 1.2, 0.9 } },
      .abreast = { { 1.2, 0.9 }, { 0.0, 0.0 }, { 1.8, 1.2 } }, .packing = 0.6,
      .adding = 0.4 },
  { "avx2", .wave = { 0.7, 0.7, 0.4 }, .rows = { 0.65, 0.56, 0.1 },
      .paired = { 0.6, 1.3, 0.1 }, .frames = { { 0.45, 0.25 }, { 0.2, 0.8 } },
      .parallel = { { 0.92, 0.40 }, { 0.7, 0.59 }, { 0.9, 0.7, 0.8 } },
      .abreast = { { 1.0, 0.7 }, { 1.0, 0.7 }, { 1.4, 0.85, 0.8 } },
      .packing = 0.6, .adding = 0.3 },
  { "vl", .wave = { 0.95, 0.45, 0.4 }, .rows = { 0.85, 0.52, 0.5 },
      .parallel = { { 0.8, 0.35 }, { 0.85, 0.42 }, { 0.85, 0.55, 0.5 } },
      .abreast = { { 0.9, 0.6 }, { 0.9, 0.6 }, { 1.1, 0.7, 0.5 } } },
  { "avx512", .wave = { 1.25, 1.08, 0.9 }, .rows = { 0.95, 1.05, 0.3 },
      .frames = { { 0.45, 0.25 }, { 0.3, 0.7 } },
      .parallel = { { 0.76, 0.84 }, { 0.87, 0.92 }, { 1.7, 1.1, 0.5 } },
      .abreast = { { 1.2, 1.1 }, { 1.2, 1.1 }, { 1.9, 1.4, 0.5 } },
      .packing = 0.75, .adding = 0.3 },
};

/* Where the processor runs AVX-512's vectors whole: on an Intel Xeon of the sixth
 * generation (Granite Rapids), in blocks of 128 frames. */
static const Costs whole_costs[] = {
  { "vl", .wave = { 0.95, 0.45 }, .rows = { 0.83, 0.48, 0.03 },
      .parallel = { { 0.99, 0.28 }, { 0.87, 0.36 }, { 0.9, 0.63, 0.5 } },
      .abreast = { { 1.0, 0.6 }, { 1.0, 0.6 }, { 1.2, 0.72, 0.5 } } },
  { "avx512", .wave = { 0.93, 0.66, 0.25 }, .rows = { 0.6, 0.58, 0.2 },
      .frames = { { 0.45, 0.25 }, { 0.4, 0.75 } },
      .parallel = { { 0.5, 0.7 }, { 1.0, 0.47 }, { 1.5, 0.72, 0.5 } },
      .abreast = { { 1.1, 0.7 }, { 1.1, 0.7 }, { 1.6, 0.82, 0.5 } },
      .packing = 0.7, .adding = 0.3 },
};

/* ns for a sample that is copied out of its frame and back. */
#define AROUND 1.8

/* Frames of the blocks for which it is chosen, and where wide vectors are run whole: a wave
 * takes some steps more, two for each section, and a third one where it is a single vector,
 * which its cost includes.  By those of 128 frames deep waves would be chosen that take longer in
 * blocks of 16 than channels in the lanes do. */
#define BLOCK_FRAMES 128.0
#define BLOCK_FRAMES_WHOLE 64.0

/* Of kernels, or of half of them; the last row is that of the widest. */
static const Costs *
costs_of (const TfxKernels *kernels, bool is_whole)
{
  const Costs *all = is_whole ? whole_costs : costs;
  size_t i = (is_whole ? sizeof whole_costs : sizeof costs) / sizeof *all - 1;

  while (i > 0 && strcmp (all[i].kernels, kernels->name) != 0)
    i--;
  return &all[i];
}

/* Whether wide vectors are run whole. */
static bool
runs_whole (const TfxKernels *k)
{
  return k->halves && !k->halves ();
}

/* Those that run the shape, or NULL. */
static const TfxKernels *
kernels_of (const TfxKernels *k, unsigned index)
{
  if (index >= SHAPE_ABREAST && index < SHAPE_ABREAST_HALF)
    return k;
  if (index >= SHAPE_PARALLEL_HALF)
    return k->half;
  if (index < SHAPE_HALF || index >= SHAPE_FRAMES)
    return k;
  return k->half;
}

/* log2 of a wave's channels. */
static unsigned
wave_index (unsigned index)
{
  return (index - SHAPE_WAVE) % TFX_MAX_SHAPES;
}

static const Cost *
cost_of (const TfxKernels *kernels, unsigned index)
{
  const TfxKernels *k = kernels_of (kernels, index);
  const Costs *c = costs_of (k, runs_whole (kernels));

  if (index == SHAPE_ONE)
    return &c->one;
  if (index >= SHAPE_ABREAST)
    return &c->abreast[(index - SHAPE_ABREAST) % TFX_PARALLEL_SHAPES];
  if (index >= SHAPE_PARALLEL)
    return &c->parallel[(index - SHAPE_PARALLEL) % TFX_PARALLEL_SHAPES];
  if (index >= SHAPE_FRAMES)
    return &c->frames[index - SHAPE_FRAMES];
  if (1u << wave_index (index) > k->width)
    return &c->paired;
  return 1u << wave_index (index) == k->width ? &c->rows : &c->wave;
}

/* Whether full vectors of channels run two at a time. */
static bool
has_pairs (const TfxCascade *c, const TfxKernels *k)
{
  const unsigned most =
      c->form == TFX_FORM_FACTORED ? k->paired_factored : k->paired_direct;

  return most > 0 && c->n_row <= most && c->terms_form != TFX_TERMS_CHANNELS;
}

/* Whether there may be such a shape: parts, or cascades, or neither, in the lanes. */
static bool
can_have (const TfxCascade *c, unsigned index)
{
  switch (c->terms_form) {
    case TFX_TERMS_PARTS:
      return index >= SHAPE_PARALLEL && index < SHAPE_ABREAST;
    case TFX_TERMS_CASCADES:
      return index >= SHAPE_ABREAST;
    case TFX_TERMS_CHANNELS:
      return index < SHAPE_FRAMES;
    case TFX_TERMS_ONE:
      break;
  }
  return index < SHAPE_ABREAST;
}

bool
tfx_cascade_shape_describe (const TfxCascade *c, unsigned index, Shape *s)
{
  const TfxKernels *k = kernels_of (c->kernels, index);
  const bool factored = c->form == TFX_FORM_FACTORED;
  unsigned most = TFX_WAVE_MAX_VECTORS;

  s->wave = NULL;
  s->frames = NULL;
  s->is_parallel = index >= SHAPE_PARALLEL && index < SHAPE_ABREAST;
  s->is_abreast = index >= SHAPE_ABREAST;
  s->s2_vectors = TFX_WAVE_MAX_VECTORS + 1;
  if (!k || index >= N_SHAPES || !can_have (c, index))
    return false;
  s->width = k->width;
  if (index == SHAPE_ONE) {
    s->channels = s->width = 1;
    s->wave = factored ? NULL : k->one;
  } else if (index < SHAPE_FRAMES) {
    const unsigned i = wave_index (index);

    s->channels = 1u << i;
    s->wave = factored ? k->factored[i] : k->direct[i];
    s->s2_vectors = factored ? k->s2_factored : k->s2_direct;
    if (s->channels > k->width) {
      if (!has_pairs (c, k))
        return false;
      s->width = s->channels;
    } else if (s->channels < k->width) {
      most = k->wave_vectors;
      s->s2_vectors = factored ? k->s2_wave_factored : k->s2_wave;
    } else if (factored) {
      most = k->factored_vectors;
    }
  } else if (s->is_parallel) {
    const unsigned i = (index - SHAPE_PARALLEL) % TFX_PARALLEL_SHAPES;
    const bool is_rows = i + 1 == TFX_PARALLEL_SHAPES;

    s->channels = is_rows ? k->width : 1 + i;
    most = is_rows ? TFX_PARALLEL_MAX_SECTIONS : TFX_PARALLEL_MAX_VECTORS;
    /* Rows of one cascade cost less as it is.  The fewest sections have code in vectors
     * of four alone. */
    if (c->has_parts &&
        (is_rows ? c->terms_form == TFX_TERMS_PARTS
                 : c->n_sos * s->channels <= most * k->width &&
                       (k->width < 8 || c->n_sos * s->channels > k->width)))
      s->wave = k->parallel[i];
  } else if (s->is_abreast) {
    const unsigned i = (index - SHAPE_ABREAST) % TFX_PARALLEL_SHAPES;
    const bool is_rows = i + 1 == TFX_PARALLEL_SHAPES;

    s->channels = is_rows ? k->width : 1 + i;
    if (c->depth <= TFX_WAVE_MAX_VECTORS &&
        (is_rows || c->n_abreast * s->channels <= k->width))
      s->wave = k->abreast[i];
  } else {
    s->channels = 1 + index - SHAPE_FRAMES;
    if (c->type == TFX_SAMPLE_F32 && c->n_sos > 0 && !c->has_no_frames &&
        c->n_sos * s->channels <= TFX_FRAMES_MAX_SECTIONS)
      s->frames = k->frames[index - SHAPE_FRAMES];
  }
  if (!s->wave && !s->frames)
    return false;
  s->n_together = s->frames ? 1 : s->width / s->channels;
  s->n_vectors = (c->n_row + s->n_together - 1) / s->n_together;
  s->n_idle = (unsigned)(s->n_vectors * s->n_together - c->n_row);
  s->n_sections = (unsigned)c->n_row;
  if (s->is_abreast) {
    s->n_sections = (unsigned)c->depth;
    s->n_vectors = s->channels < s->width ? c->depth : c->depth * c->n_abreast;
    most = (unsigned)s->n_vectors;
    s->s2_vectors = most + 1;
  }
  /* As few passes as can be, as even as can be: 6 = 3 + 3. */
  s->n_pass = (s->n_vectors + most - 1) / most;
  s->n_pass = s->n_pass > 0 ? (s->n_vectors + s->n_pass - 1) / s->n_pass : 1;
  return true;
}

static size_t
n_passes (const Shape *s)
{
  return (s->n_vectors + s->n_pass - 1) / s->n_pass;
}

/* ns for a frame. */
static double
cost_of_shape (const TfxCascade *c, unsigned index, const Shape *s)
{
  const Cost *cost = cost_of (c->kernels, index);
  const double frames =
      runs_whole (c->kernels) ? BLOCK_FRAMES_WHOLE : BLOCK_FRAMES;
  double ns =
      (double)n_passes (s) * cost->pass + (double)s->n_vectors * cost->vector;

  if (s->n_together > 1 && !s->is_parallel && !s->is_abreast)
    ns *= 1.0 + 2.0 * (double)(s->n_pass * s->n_together - 1) / frames;
  if (tfx_cascade_takes_dense_rows (s) && s->channels < c->n_channels)
    ns += s->channels * costs_of (c->kernels, runs_whole (c->kernels))->packing;
  return ns;
}

/* The shape of the first of 1, 2 ... channels that together cost the least, or
 * N_SHAPES; and what they cost. */
static void
choose_first (const TfxCascade *c, unsigned first[MAX_SHAPE_CHANNELS],
    double least[MAX_SHAPE_CHANNELS])
{
  double ns[N_SHAPES];
  Shape shapes[N_SHAPES];
  bool is_there[N_SHAPES];

  for (unsigned i = 0; i < N_SHAPES; i++) {
    is_there[i] = tfx_cascade_shape_describe (c, i, &shapes[i]);
    ns[i] = is_there[i] ? cost_of_shape (c, i, &shapes[i]) : 0.0;
  }
  least[0] = 0.0;
  for (unsigned n = 1; n < MAX_SHAPE_CHANNELS && n <= c->n_channels; n++) {
    least[n] = NEVER;
    first[n] = N_SHAPES;
    for (unsigned i = 0; i < N_SHAPES; i++) {
      const unsigned channels = shapes[i].channels;
      double all = ns[i];

      /* A wave of C channels runs with more than C / 2 of them; channels alone with any
       * number. */
      if (!is_there[i] ||
          (n <= channels / 2 &&
              (shapes[i].n_together > 1 || shapes[i].width > 4)) ||
          (n > channels && first[n - channels] == N_SHAPES) ||
          (tfx_cascade_takes_dense_rows (&shapes[i]) && n < channels))
        continue;
      all += n < channels ? cost_of (c->kernels, i)->partial : 0.0;
      all += n > channels ? least[n - channels] : 0.0;
      /* Wider ones come first. */
      if (all < least[n] ||
          (all == least[n] && channels > shapes[first[n]].channels)) {
        least[n] = all;
        first[n] = i;
      }
    }
  }
}

/* Full vectors of channels, two at a time where there is code for that. */
static unsigned
full_shape (const TfxCascade *c)
{
  const TfxKernels *k = c->kernels;
  unsigned index = SHAPE_WAVE;

  if (c->terms_form == TFX_TERMS_PARTS)
    return SHAPE_PARALLEL + TFX_PARALLEL_SHAPES - 1;
  if (c->terms_form == TFX_TERMS_CASCADES)
    return SHAPE_ABREAST + TFX_PARALLEL_SHAPES - 1;
  while (1u << (index - SHAPE_WAVE) < k->width)
    index++;
  if (has_pairs (c, k))
    index++;
  return k->width > 1 ? index : SHAPE_ONE;
}

void
tfx_cascade_shapes_choose (const TfxCascade *c, ShapeChoice *choice)
{
  double least[MAX_SHAPE_CHANNELS];
  Shape full;

  choose_first (c, choice->first, least);
  choice->full = full_shape (c);
  choice->ns = NEVER;
  if (!tfx_cascade_shape_describe (c, choice->full, &full))
    return;
  choice->n_full = full.channels;
  choice->ns =
      c->n_channels / full.channels * cost_of_shape (c, choice->full, &full) +
      least[c->n_channels % full.channels];
}

/* ---- several as one ------------------------------------------------------------ */

/* Of so many terms in a form.  Numbers are no extremes; parts are exact where that may be. */
static double
cost_of_terms (const TfxKernels *kernels, unsigned n_channels,
    const TfxCascadeTerm *terms, size_t n_terms, TfxTermsForm form,
    TfxSample type, bool may_have_parts)
{
  TfxCascade c = { .kernels = kernels,
    .n_channels = n_channels,
    .terms_form = form,
    .type = type };
  ShapeChoice choice;

  for (size_t i = 0; i < n_terms; i++) {
    c.n_sos += terms[i].n_sos;
    c.n_abreast += terms[i].n_sos > 0;
    c.depth = terms[i].n_sos > c.depth ? terms[i].n_sos : c.depth;
  }
  if (c.n_sos == 0)
    return 0.0;
  c.n_row = form == TFX_TERMS_CHANNELS ? c.depth : c.n_sos;
  c.has_parts = may_have_parts && type == TFX_SAMPLE_F32 &&
                c.n_sos <= TFX_PARALLEL_MAX_SECTIONS;
  c.form = kernels->width == 1      ? TFX_FORM_TEXTBOOK
           : type == TFX_SAMPLE_F64 ? TFX_FORM_DIRECT
                                    : TFX_FORM_FACTORED;
  tfx_cascade_shapes_choose (&c, &choice);
  /* Two sums of fewer terms take less time than one that runs each of two channels
   * alone. */
  if (tfx_cascade_is_sum (&c) && n_channels == 2 && kernels->width > 2) {
    Shape first;

    if (!tfx_cascade_shape_describe (&c, choice.first[2], &first) ||
        first.channels != 2)
      return NEVER;
  }
  return choice.ns;
}

/* Of one term by itself in the place of a form, and of what that spares besides. */
static double
cost_alone (const TfxKernels *kernels, unsigned n_channels,
    const TfxCascadeTerm *term, TfxTermsForm form, TfxSample type)
{
  const Costs *own = costs_of (kernels, runs_whole (kernels));
  unsigned n = n_channels, first, step;
  double ns;

  if (form == TFX_TERMS_CHANNELS)
    n = (unsigned)__builtin_popcountll (term->channels);
  if (n == 0)
    return 0.0;
  ns = cost_of_terms (kernels, n, term, 1, TFX_TERMS_ONE, type,
      form != TFX_TERMS_CASCADES);
  /* Those of F32 may have to be packed. */
  if (form == TFX_TERMS_CHANNELS && n < n_channels)
    ns += type == TFX_SAMPLE_F32 ? own->packing * n : 0.0;
  if (form == TFX_TERMS_CHANNELS)
    return term->n_sos == 0 ||
                   tfx_branches_find_even (term->channels, &first, &step)
               ? ns
               : ns + AROUND * n;
  return ns + own->adding * n;
}

/* Channels of a split that have no sections, which are copied there and back. */
static unsigned
count_bare (unsigned n_channels, const TfxCascadeTerm *terms, size_t n_terms)
{
  for (size_t i = 0; i < n_terms; i++) {
    if (terms[i].n_sos > 0)
      n_channels -= (unsigned)__builtin_popcountll (terms[i].channels);
  }
  return n_channels;
}

size_t
tfx_cascade_count_terms (const TfxKernels *kernels, unsigned n_channels,
    const TfxCascadeTerm *terms, size_t n_terms, TfxTermsForm form,
    TfxSample type)
{
  const bool is_split = form == TFX_TERMS_CHANNELS;
  size_t n = is_split ? n_terms : 0;
  double apart = 0.0, one;

  if (kernels->width == 1 ||
      (form == TFX_TERMS_PARTS && type != TFX_SAMPLE_F32))
    return 0;
  /* A gain more changes nothing; there may be a thousand. */
  while (n < n_terms &&
         (terms[n].n_sos == 0 || cost_of_terms (kernels, n_channels, terms,
                                     n + 1, form, type, true) < NEVER))
    n++;
  for (size_t i = 0; i < n; i++)
    apart += cost_alone (kernels, n_channels, &terms[i], form, type);
  if (!is_split) /* the first is not added to anything */
    apart -= n_channels * costs_of (kernels, runs_whole (kernels))->adding;
  one = cost_of_terms (kernels, n_channels, terms, n, form, type, true);
  if (n < 2 || one == 0.0) /* gains alone */
    return 0;
  if (is_split)
    one += AROUND * count_bare (n_channels, terms, n);
  return one < apart ? n : 0;
}
