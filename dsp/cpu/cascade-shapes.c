/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade-shapes.c: chooses the shapes of a cascade by their cost.
 *
 * The choice depends on the type of the stream and the numbers of channels and sections, never
 * on a block's length: it is the same for any split of the stream. */
#include "cascade-private.h"

#include <string.h>

#include "core/branches.h"

/* ns for a sample that is copied out of its frame and back. */
#define AROUND 1.8

/* Frames of the blocks for which shapes are chosen, and where wide vectors run at once.
 * Pipelined sections take two steps more for each section, and a third one in a pass of a single
 * vector, which their cost includes.  By blocks of 128 frames deep pipelines would be chosen that
 * take longer in blocks of 16 than channels in the lanes do. */
#define BLOCK_FRAMES 128.0
#define BLOCK_FRAMES_WHOLE 64.0

/* Whether this processor runs wide vectors in halves: the index of TfxShape.cost. */
static bool
runs_halves (const TfxKernels *k)
{
  return k->halves && k->halves ();
}

void
tfx_cascade_shapes_count (TfxCascade *c, const TfxCascadeTerm *terms,
    size_t n_terms)
{
  c->n_terms = n_terms;
  for (size_t i = 0; i < n_terms; i++) {
    c->n_sos += terms[i].n_sos;
    c->n_merged += terms[i].n_sos > 0;
    c->depth = terms[i].n_sos > c->depth ? terms[i].n_sos : c->depth;
  }
  c->n_row = c->terms_form == TFX_TERMS_CHANNELS ? c->depth : c->n_sos;
}

/* Whether the cascade can have the shape, and how its sections fill the vectors then. */
static bool
find_fit (const TfxCascade *c, const TfxShape *s, Fit *fit)
{
  const bool is_full = s->channels >= s->lanes;
  const bool is_merged = s->layout == TFX_LAYOUT_MERGED;
  const size_t n = is_merged ? c->depth : c->n_row;
  bool fits = n >= s->min_sections && n <= s->max_sections;
  size_t n_passes;

  switch (s->layout) {
    case TFX_LAYOUT_PIPELINED: /* the coefficients of pairs are the same for all channels */
      fits = fits && s->form == c->form && !tfx_cascade_is_sum (c) &&
             !(s->is_pair && c->terms_form == TFX_TERMS_CHANNELS);
      break;
    case TFX_LAYOUT_FRAMES:
      fits = fits && c->terms_form == TFX_TERMS_ONE && !c->has_no_frames &&
             c->type == TFX_SAMPLE_F32;
      break;
    case TFX_LAYOUT_PARALLEL: /* full vectors of one cascade cost less in series */
      fits = fits && c->has_parts &&
             (c->terms_form == TFX_TERMS_PARTS ||
                 (c->terms_form == TFX_TERMS_ONE && !is_full));
      break;
    case TFX_LAYOUT_MERGED:
      fits = fits && c->terms_form == TFX_TERMS_CASCADES &&
             (is_full || c->n_merged * s->channels <= s->lanes);
      break;
  }
  if (!fits)
    return false;
  fit->shape = s;
  fit->n_sections = (unsigned)n;
  fit->n_together = s->layout == TFX_LAYOUT_FRAMES ? 1 : s->lanes / s->channels;
  fit->n_vectors = is_merged ? (is_full ? n * c->n_merged : n)
                             : (n + fit->n_together - 1) / fit->n_together;
  fit->n_idle =
      is_merged ? 0 : (unsigned)(fit->n_vectors * fit->n_together - n);
  /* As few passes as can be, as even as can be: 6 = 3 + 3. */
  n_passes = s->layout == TFX_LAYOUT_PIPELINED
                 ? (fit->n_vectors + s->max_vectors - 1) / s->max_vectors
                 : 1;
  fit->n_pass = n_passes > 0 ? (fit->n_vectors + n_passes - 1) / n_passes : 1;
  return true;
}

/* Shape number i of the set and of its narrower vectors, or NULL. */
static const TfxShape *
shape_at (const TfxKernels *k, size_t i)
{
  if (i < k->n_shapes)
    return &k->shapes[i];
  i -= k->n_shapes;
  return k->half && i < k->half->n_shapes ? &k->half->shapes[i] : NULL;
}

/* ns for a frame. */
static double
cost_of (const TfxCascade *c, const Fit *fit)
{
  const TfxShape *s = fit->shape;
  const TfxKernels *k = c->kernels;
  const TfxCost *cost = &s->cost[runs_halves (k)];
  const double frames =
      k->halves && !k->halves () ? BLOCK_FRAMES_WHOLE : BLOCK_FRAMES;
  const size_t n_passes = (fit->n_vectors + fit->n_pass - 1) / fit->n_pass;
  double ns =
      (double)n_passes * cost->pass + (double)fit->n_vectors * cost->vector;

  if (s->layout == TFX_LAYOUT_PIPELINED && fit->n_together > 1)
    ns *= 1.0 + 2.0 * (double)(fit->n_pass * fit->n_together - 1) / frames;
  if (tfx_cascade_takes_dense (s) && s->channels < c->n_channels)
    ns += s->channels * k->packing;
  return ns;
}

void
tfx_cascade_shapes_choose (const TfxCascade *c, ShapeChoice *choice)
{
  const TfxKernels *k = c->kernels;
  double least[MAX_SHAPE_CHANNELS] = { 0.0 };
  const TfxShape *s;
  Fit fit;

  memset (choice, 0, sizeof *choice);
  choice->ns = NEVER;
  for (unsigned n = 1; n < MAX_SHAPE_CHANNELS && n <= c->n_channels; n++) {
    Fit *first = &choice->first[n];

    least[n] = NEVER;
    for (size_t i = 0; (s = shape_at (k, i)); i++) {
      const bool is_part = n < s->channels;
      const bool is_full = s->layout == TFX_LAYOUT_PIPELINED && !s->is_pair &&
                           s->channels == s->lanes;
      double ns;

      /* Shapes run with more than half of their channels, full vectors of four with any
       * number.  (run_full() asserts that vectors of two have both.) */
      if (!find_fit (c, s, &fit) ||
          (2 * n <= s->channels && !(is_full && s->lanes == 4)) ||
          (is_part && tfx_cascade_takes_dense (s)) ||
          (!is_part && n > s->channels &&
              !choice->first[n - s->channels].shape))
        continue;
      ns = cost_of (c, &fit);
      ns += is_part ? s->cost[runs_halves (k)].partial : least[n - s->channels];
      /* Wider ones come first. */
      if (ns < least[n] ||
          (ns == least[n] && s->channels > first->shape->channels)) {
        least[n] = ns;
        *first = fit;
      }
    }
  }
  /* Full vectors, in pairs where these fit, for as many channels as there are. */
  for (size_t i = 0; i < k->n_shapes; i++) {
    s = &k->shapes[i];
    if (s->channels >= k->width && s->layout != TFX_LAYOUT_FRAMES &&
        find_fit (c, s, &fit))
      choice->full = fit;
  }
  if (choice->full.shape) {
    const unsigned channels = choice->full.shape->channels;

    choice->ns = c->n_channels / channels * cost_of (c, &choice->full) +
                 least[c->n_channels % channels];
  }
}

/* ---- several as one ------------------------------------------------------------ */

/* Cost of n_terms terms in a form.  Assumes coefficients without extremes, and an exact parallel
 * form where may_have_parts. */
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

  tfx_cascade_shapes_count (&c, terms, n_terms);
  if (c.n_sos == 0)
    return 0.0;
  c.has_parts = may_have_parts && type == TFX_SAMPLE_F32 &&
                c.n_sos <= TFX_PARALLEL_MAX_SECTIONS;
  c.form = kernels->width == 1      ? TFX_FORM_TEXTBOOK
           : type == TFX_SAMPLE_F64 ? TFX_FORM_DIRECT
                                    : TFX_FORM_FACTORED;
  tfx_cascade_shapes_choose (&c, &choice);
  /* Two sums of fewer terms take less time than one that runs each of two channels
   * alone. */
  if (tfx_cascade_is_sum (&c) && n_channels == 2 && kernels->width > 2 &&
      (!choice.first[2].shape || choice.first[2].shape->channels != 2))
    return NEVER;
  return choice.ns;
}

/* Cost of one term by itself, with the copies and sums that the form would save. */
static double
cost_alone (const TfxKernels *kernels, unsigned n_channels,
    const TfxCascadeTerm *term, TfxTermsForm form, TfxSample type)
{
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
    ns += type == TFX_SAMPLE_F32 ? kernels->packing * n : 0.0;
  if (form == TFX_TERMS_CHANNELS)
    return term->n_sos == 0 ||
                   tfx_branches_find_even (term->channels, &first, &step)
               ? ns
               : ns + AROUND * n;
  return ns + kernels->adding * n;
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
    apart -= n_channels * kernels->adding;
  one = cost_of_terms (kernels, n_channels, terms, n, form, type, true);
  if (n < 2 || one == 0.0) /* gains alone */
    return 0;
  if (is_split)
    one += AROUND * count_bare (n_channels, terms, n);
  return one < apart ? n : 0;
}
