/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade-groups.c: deals channels and sections out to the lanes.
 *
 * The choice is made from the type of the stream, the number of channels and
 * that of sections, never from a block's length: so it is the same for any
 * split of the stream. */
#include "cascade-private.h"

#include <string.h>

/* ns for a frame: of a pass, for each vector in it, and for a row of fewer channels
 * than the lanes are for. */
typedef struct Cost
{
  double pass, vector, partial;
} Cost;

/* There is no code for it. */
#define NEVER 1e9

typedef struct Costs
{
  const char *kernels;
  Cost one, wave, rows, paired;
  Cost frames[2], parallel[2]; /* by channels - 1 */
  double packing; /* for each channel of a group that has to be packed */
} Costs;

/* Measured on a Zen 4 in blocks of 256 frames; waves of fma, avx2 and vl, which are single
 * vectors or two, on a Granite Rapids, as they wait for the same multiply-adds. */
static const Costs costs[] = {
  { "sse2", { 0.3, 1.0 }, { 1.4, 0.5 }, { 1.0, 0.8 }, { 0.4, 1.6, 0.1 },
      { { 0.2, 0.95 }, { 0.0, 2.1 } }, { { 0.9, 0.68 } }, 0.6 },
  { "neon", { 0.3, 1.0 }, { 1.4, 0.5 }, { 1.0, 0.8 }, { 0.4, 1.6, 0.1 },
      { { 0.2, 0.95 }, { 0.0, 2.1 } }, { { 0.9, 0.68 } }, 0.6 },
  { "fma", { 0.0, 0.0 }, { 0.9, 0.42 }, { 0.85, 0.52 }, { 0.0, 0.0 },
      { { 0.0, 0.0 } }, { { 0.0, 0.0 } } }, /* it has none of these */
  { "avx2", { 0.3, 0.95 }, { 0.7, 0.7, 0.4 }, { 0.65, 0.56, 0.1 },
      { 0.6, 1.3, 0.1 }, { { 0.45, 0.25 }, { 0.2, 0.8 } },
      { { 0.92, 0.40 }, { 0.7, 0.59 } }, 0.6 },
  { "vl", { 0.0, 0.0 }, { 0.95, 0.45, 0.4 }, { 0.85, 0.52, 0.5 },
      { 0.9, 1.15, 0.1 }, { { 0.0, 0.0 } }, { { 0.8, 0.35 }, { 0.85, 0.42 } } },
  { "avx512", { 0.55, 0.72 }, { 1.25, 1.08, 0.9 }, { 0.95, 1.05, 0.3 },
      { 0.5, 2.4, NEVER }, { { 0.45, 0.25 }, { 0.3, 0.7 } },
      { { 0.76, 0.84 }, { 0.87, 0.92 } }, 0.75 },
};

/* Where the processor runs AVX-512's vectors whole: on an Intel Xeon of the sixth
 * generation (Granite Rapids), in blocks of 128 frames. */
static const Costs whole_costs[] = {
  { "fma", { 0.0, 0.0 }, { 0.9, 0.42 }, { 0.76, 0.44 }, { 0.0, 0.0 },
      { { 0.0, 0.0 } }, { { 0.0, 0.0 } } },
  { "vl", { 0.0, 0.0 }, { 0.95, 0.45 }, { 0.83, 0.48, 0.03 },
      { 0.7, 0.75, 0.1 }, { { 0.0, 0.0 } },
      { { 0.99, 0.28 }, { 0.87, 0.36 } } },
  { "avx512", { 0.37, 0.71 }, { 0.93, 0.66, 0.25 }, { 0.6, 0.58, 0.2 },
      { 0.5, 2.4, NEVER }, { { 0.45, 0.25 }, { 0.4, 0.75 } },
      { { 0.5, 0.7 }, { 1.0, 0.47 } }, 0.7 },
};

/* Frames of the blocks for which it is chosen, and where wide vectors are run whole: a wave
 * takes some steps more, two for each section, and a third one where it is a single vector,
 * which its cost includes.  By those of 128 frames deep waves would be chosen that take longer in
 * blocks of 16 than channels in the lanes do. */
#define BLOCK_FRAMES 128.0
#define BLOCK_FRAMES_WHOLE 64.0

/* Of kernels, or of half of them, or a quarter; the last row is that of the widest. */
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
  if (index >= SHAPE_PARALLEL_HALF)
    return k->half;
  if (index < SHAPE_HALF || index >= SHAPE_FRAMES)
    return k;
  k = k->half;
  return k && index >= SHAPE_QUARTER ? k->half : k;
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
  if (index >= SHAPE_PARALLEL)
    return &c->parallel[(index - SHAPE_PARALLEL) % 2];
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

  return most > 0 && c->n_sos <= most;
}

/* Whether the kernels have the shape for the cascade, and what it looks like.
 * coef is kept. */
static bool
describe (const TfxCascade *c, unsigned index, Shape *s)
{
  const TfxKernels *k = kernels_of (c->kernels, index);
  const bool factored = c->form == TFX_FORM_FACTORED;
  unsigned most = TFX_WAVE_MAX_VECTORS;

  s->wave = NULL;
  s->frames = NULL;
  s->is_parallel = index >= SHAPE_PARALLEL;
  s->s2_vectors = TFX_WAVE_MAX_VECTORS + 1;
  if (!k)
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
    s->channels = 1 + (index - SHAPE_PARALLEL) % 2;
    most = TFX_PARALLEL_MAX_VECTORS;
    /* the fewest have code in vectors of four alone */
    if (c->has_parts && c->n_sos * s->channels <= most * k->width &&
        (k->width < 8 || c->n_sos * s->channels > k->width))
      s->wave = k->parallel[s->channels - 1];
  } else {
    s->channels = 1 + index - SHAPE_FRAMES;
    if (c->type == TFX_SAMPLE_F32 && c->n_sos > 0 &&
        c->n_sos * s->channels <= TFX_FRAMES_MAX_SECTIONS)
      s->frames = k->frames[index - SHAPE_FRAMES];
  }
  if (!s->wave && !s->frames)
    return false;
  s->n_together = s->frames ? 1 : s->width / s->channels;
  s->n_vectors = (c->n_sos + s->n_together - 1) / s->n_together;
  s->n_idle = (unsigned)(s->n_vectors * s->n_together - c->n_sos);
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

  if (s->n_together > 1 && !s->is_parallel)
    ns *= 1.0 + 2.0 * (double)(s->n_pass * s->n_together - 1) / frames;
  if (tfx_cascade_takes_dense_rows (s) && s->channels < c->n_channels)
    ns += s->channels * costs_of (c->kernels, runs_whole (c->kernels))->packing;
  return ns;
}

/* The shape of the first of 1, 2 ... channels that together cost the least. */
static void
choose_shapes (const TfxCascade *c, unsigned first[MAX_SHAPE_CHANNELS])
{
  double ns[N_SHAPES], least[MAX_SHAPE_CHANNELS] = { 0.0 };
  Shape shapes[N_SHAPES];
  bool is_there[N_SHAPES];

  for (unsigned i = 0; i < N_SHAPES; i++) {
    is_there[i] = describe (c, i, &shapes[i]);
    ns[i] = is_there[i] ? cost_of_shape (c, i, &shapes[i]) : 0.0;
  }
  for (unsigned n = 1; n < MAX_SHAPE_CHANNELS; n++) {
    least[n] = 1e300;
    for (unsigned i = 0; i < N_SHAPES; i++) {
      const unsigned channels = shapes[i].channels;
      double all = ns[i];

      /* A wave of C channels runs with more than C / 2 of them. */
      if (!is_there[i] || n <= channels / 2 ||
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

  while (1u << (index - SHAPE_WAVE) < k->width)
    index++;
  if (has_pairs (c, k))
    index++;
  return k->width > 1 ? index : SHAPE_ONE;
}

static size_t
coef_size (const TfxCascade *c, const Shape *s)
{
  if (s->frames) {
    const TfxFramesShape shape =
        tfx_cascade_form_frames_shape (c->kernels, s->channels, c->n_sos);

    return tfx_cascade_form_frames_size (&shape, c->n_sos);
  }
  return (s->is_parallel ? TFX_PARALLEL_COEF : TFX_WAVE_COEF) * s->n_vectors *
         s->width;
}

/* Returns the doubles of memory taken; those that need 64 bytes have them. */
static size_t
deal (TfxCascade *c, double *memory)
{
  size_t n = 0;
  unsigned channel = 0;
  const unsigned full = full_shape (c);
  const unsigned n_full = full == SHAPE_ONE ? 1 : 1u << wave_index (full);
  unsigned lanes = 1; /* the most of a group */
  unsigned first[MAX_SHAPE_CHANNELS];
  bool is_used[N_SHAPES] = { false };

  c->n_groups = 0;
  choose_shapes (c, first);
  while (channel < c->n_channels) {
    const unsigned left = c->n_channels - channel;
    const unsigned index = left < n_full ? first[left] : full;
    Group *g = &c->groups[c->n_groups++];
    Shape *s = &c->shapes[index];

    describe (c, index, s);
    g->shape = s;
    g->first_channel = channel;
    g->n_channels = left < s->channels ? left : s->channels;
    g->pending.n = 0;
    g->state = memory ? memory + n : NULL;
    n += (s->n_vectors * TFX_STATE * s->width + 7) / 8 * 8;
    g->rest = memory && s->is_parallel ? memory + n : NULL;
    n += s->is_parallel ? (2 * c->n_sos * s->channels + 7) / 8 * 8 : 0;
    channel += g->n_channels;
    is_used[index] = true;
    lanes = s->channels > lanes ? s->channels : lanes;
  }
  c->chunk_frames = TFX_CASCADE_SCRATCH / lanes;
  for (unsigned i = 0; i < N_SHAPES; i++) {
    Shape *s = &c->shapes[i];

    if (!is_used[i])
      continue;
    s->coef = memory ? memory + n : NULL;
    n += (coef_size (c, s) + 7) / 8 * 8;
  }
  return n;
}

/* Whether the cheapest groups of an F32 stream have sums of sections. */
static bool
wants_parts (TfxCascade *c)
{
  bool wants = false;

  if (c->n_sos == 0 || c->n_sos > TFX_PARALLEL_MAX_SECTIONS)
    return false;
  c->type = TFX_SAMPLE_F32;
  c->has_parts = true;
  deal (c, NULL);
  for (unsigned i = 0; i < c->n_groups; i++)
    wants = wants || c->groups[i].shape->is_parallel;
  c->has_parts = false;
  return wants;
}

size_t
tfx_cascade_groups_size (TfxCascade *c)
{
  static const TfxForm forms[] = { TFX_FORM_DIRECT, TFX_FORM_FACTORED };
  size_t most = 0;

  for (size_t i = 0; i < 2; i++) {
    size_t n;

    c->form = c->kernels->width > 1 ? forms[i] : TFX_FORM_TEXTBOOK;
    for (unsigned type = 0; type < 2; type++) {
      c->type = (TfxSample)type;
      n = deal (c, NULL);
      most = n > most ? n : most;
    }
    c->wants_parts = wants_parts (c);
    c->has_parts = c->wants_parts;
    n = deal (c, NULL);
    most = n > most ? n : most;
    c->has_parts = false;
  }
  return most;
}

/* A vector of sections; those that are none let the signal pass. */
static void
set_vector (const TfxCascade *c, const Shape *s, size_t vector, double *coef)
{
  const TfxCascadeSection none = { { c->form == TFX_FORM_FACTORED ? 0.0 : 1.0 },
    { 0 } };

  for (unsigned lane = 0; lane < s->width; lane++) {
    const size_t k = vector * s->n_together + lane / s->channels;
    const TfxCascadeSection *section =
        k >= s->n_idle ? &c->sections[k - s->n_idle] : &none;

    for (unsigned i = 0; i < TFX_WAVE_COEF; i++)
      coef[i * s->width + lane] = section->k[i];
  }
}

static void
set_wave (const TfxCascade *c, Shape *s, double gain)
{
  s->gain[0] = gain;
  s->gain[1] = 1.0;
  for (size_t v = 0; v < s->n_vectors; v++)
    set_vector (c, s, v, s->coef + v * TFX_WAVE_COEF * s->width);
}

/* The lanes of no section have no part. */
static void
set_parallel (const TfxCascade *c, Shape *s)
{
  s->gain[0] = s->gain[1] = c->direct;
  for (size_t i = 0; i < s->n_vectors * s->width; i++) {
    const size_t lane = i % s->width, row = i / s->channels;
    double *coef = s->coef + (i - lane) * TFX_PARALLEL_COEF + lane;
    const size_t k = row - s->n_idle;

    for (unsigned j = 0; j < TFX_PARALLEL_COEF; j++)
      coef[j * s->width] = 0.0;
    if (row < s->n_idle)
      continue;
    coef[0] = c->parts[k].c1;
    coef[s->width] = c->parts[k].c2;
    coef[2 * s->width] = c->sos[k].a1;
    coef[3 * s->width] = c->sos[k].a2;
  }
}

static TfxForm
choose_form (const TfxCascade *c)
{
  if (c->kernels->width == 1)
    return TFX_FORM_TEXTBOOK;
  return c->type == TFX_SAMPLE_F32 &&
                 tfx_cascade_form_can_factor (c->sos, c->n_sos)
             ? TFX_FORM_FACTORED
             : TFX_FORM_DIRECT;
}

void
tfx_cascade_groups_set (TfxCascade *c)
{
  const TfxForm form = choose_form (c);
  const double gain =
      tfx_cascade_form_sections (form, c->sos, c->n_sos, c->sections);

  const bool has_parts =
      c->wants_parts && c->type == TFX_SAMPLE_F32 &&
      tfx_cascade_parallel_set (c->sos, c->n_sos, c->parts, &c->direct);

  if (form != c->form || c->type != c->dealt_type ||
      has_parts != c->has_parts || c->n_groups == 0) {
    c->form = form;
    c->dealt_type = c->type;
    c->has_parts = has_parts;
    memset (c->memory, 0, c->memory_size);
    deal (c, c->memory);
  }
  for (unsigned i = 0; i < N_SHAPES; i++) {
    Shape *s = &c->shapes[i];
    bool is_used = false;

    for (unsigned j = 0; j < c->n_groups; j++)
      is_used = is_used || c->groups[j].shape == s;
    if (is_used && s->is_parallel) {
      set_parallel (c, s);
    } else if (is_used && s->frames) {
      const TfxFramesShape shape =
          tfx_cascade_form_frames_shape (c->kernels, s->channels, c->n_sos);

      tfx_cascade_form_frames (&shape, c->sos, c->n_sos, s->coef);
    } else if (is_used) {
      set_wave (c, s, gain);
    }
  }
  for (unsigned j = 0; j < c->n_groups; j++)
    c->groups[j].state_of =
        c->groups[j].rest ? STATE_OF_SECTIONS : STATE_OF_KERNEL;
}
