/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade-groups.c: deals channels and sections out to the lanes, in the shapes that cost
 * the least. */
#include "cascade-private.h"

#include <math.h>
#include <string.h>

static size_t
coef_size (const TfxCascade *c, const Shape *s)
{
  if (s->frames) {
    const TfxFramesShape shape =
        tfx_cascade_form_frames_shape (c->kernels, s->channels, c->n_sos);

    return tfx_cascade_form_frames_size (&shape, c->n_sos);
  }
  if (s->is_abreast)
    return s->n_vectors / c->depth * TFX_ABREAST_COEF (c->depth) * s->width;
  return (s->is_parallel ? TFX_PARALLEL_COEF : TFX_WAVE_COEF) * s->n_vectors *
         s->width;
}

/* Returns the doubles of memory taken; those that need 64 bytes have them. */
static size_t
deal (TfxCascade *c, double *memory)
{
  size_t n = 0;
  unsigned channel = 0;
  unsigned lanes = 1; /* the most of a group */
  ShapeChoice choice;
  bool is_used[N_SHAPES] = { false };

  c->n_groups = 0;
  tfx_cascade_shapes_choose (c, &choice);
  while (channel < c->n_channels) {
    const unsigned left = c->n_channels - channel;
    const unsigned index =
        left < choice.n_full ? choice.first[left] : choice.full;
    Group *g = &c->groups[c->n_groups++];
    Shape *s = &c->shapes[index];

    tfx_cascade_shape_describe (c, index, s);
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

  if (c->is_sum) {
    c->has_parts = !c->is_abreast;
    most = deal (c, NULL);
    c->has_parts = false;
    return most;
  }
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

/* A cascade in some of the lanes: the sections that the longest has more let pass. */
static void
set_lanes (const TfxCascade *c, const Shape *s, const TfxCascadeTerm *term,
    const TfxCascadeSection *sections, double *coef, unsigned first, unsigned n)
{
  static const TfxCascadeSection none = { { 1.0 }, { 0 } };
  const size_t n_idle = c->depth - term->n_sos;

  for (unsigned lane = first; lane < first + n; lane++) {
    double *to = coef + lane;

    for (size_t v = 0; v < c->depth; v++) {
      const double *k = v < n_idle ? none.k : sections[v - n_idle].k;

      for (unsigned j = 0; j < TFX_WAVE_COEF; j++, to += s->width)
        *to = k[j];
    }
    *to = term->gain;
  }
}

/* Lanes of no cascade put out nothing. */
static void
set_abreast (const TfxCascade *c, Shape *s)
{
  const bool is_rows = s->channels == s->width;
  const TfxCascadeSection *sections = c->sections;
  double *coef = s->coef;
  unsigned lane = 0;

  memset (s->coef, 0, coef_size (c, s) * sizeof *s->coef);
  s->gain[0] = c->direct;
  s->gain[1] = (double)c->n_abreast;
  for (size_t i = 0; i < c->n_terms; i++) {
    const TfxCascadeTerm *t = &c->terms[i];

    if (t->n_sos == 0)
      continue;
    set_lanes (c, s, t, sections, coef, lane, s->channels);
    sections += t->n_sos;
    lane += is_rows ? 0 : s->channels;
    coef += is_rows ? TFX_ABREAST_COEF (c->depth) * s->width : 0;
  }
}

/* What comes straight from the input, of cascades abreast. */
static bool
add_gains (TfxCascade *c)
{
  c->direct = 0.0;
  for (size_t i = 0; i < c->n_terms; i++)
    c->direct += c->terms[i].n_sos > 0 ? 0.0 : c->terms[i].gain;
  return isfinite (c->direct);
}

static TfxForm
choose_form (const TfxCascade *c)
{
  if (c->kernels->width == 1)
    return TFX_FORM_TEXTBOOK;
  if (c->is_abreast)
    return TFX_FORM_DIRECT;
  return c->type == TFX_SAMPLE_F32 &&
                 tfx_cascade_form_can_factor (c->sos, c->n_sos)
             ? TFX_FORM_FACTORED
             : TFX_FORM_DIRECT;
}

/* The parts of all terms.  False if they would not be exact enough. */
static bool
make_parts (TfxCascade *c)
{
  TfxParallelPart *part = c->parts;

  c->direct = 0.0;
  for (size_t i = 0; i < c->n_terms; i++) {
    const TfxCascadeTerm *t = &c->terms[i];
    double direct;

    if (!tfx_cascade_parallel_set (t->sos, t->n_sos, part, &direct))
      return false;
    c->direct += t->gain * direct;
    for (size_t k = 0; k < t->n_sos; k++, part++)
      *part = (TfxParallelPart){ t->gain * part->c1, t->gain * part->c2 };
  }
  return isfinite (c->direct);
}

bool
tfx_cascade_groups_set (TfxCascade *c)
{
  const TfxForm form = choose_form (c);
  const double gain =
      tfx_cascade_form_sections (form, c->sos, c->n_sos, c->sections);
  const bool has_parts = (c->wants_parts || (c->is_sum && !c->is_abreast)) &&
                         c->type == TFX_SAMPLE_F32 && make_parts (c);

  if (c->is_sum && !has_parts && !(c->is_abreast && add_gains (c)))
    return false;
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
    if (is_used && s->is_abreast) {
      set_abreast (c, s);
    } else if (is_used && s->is_parallel) {
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
  return true;
}
