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

/* A group before whose coefficients are this one's, or NULL. */
static const Group *
find_like (const TfxCascade *c, const Group *group)
{
  for (const Group *g = c->groups; g < group; g++) {
    if (g->shape == group->shape && c->terms_form != TFX_TERMS_CHANNELS)
      return g;
  }
  return NULL;
}

/* Returns the doubles of memory taken; those that need 64 bytes have them. */
static size_t
deal (TfxCascade *c, double *memory)
{
  size_t n = 0;
  unsigned channel = 0;
  unsigned lanes = 1; /* the most of a group */
  ShapeChoice choice;

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
    lanes = s->channels > lanes ? s->channels : lanes;
  }
  c->chunk_frames = TFX_CASCADE_SCRATCH / lanes;
  for (unsigned i = 0; i < c->n_groups; i++) {
    Group *g = &c->groups[i];
    const Group *like = find_like (c, g);

    if (like) {
      g->coef = like->coef;
      g->gain = like->gain;
      continue;
    }
    g->gain = memory ? memory + n : NULL;
    n += (2 * g->shape->width + 7) / 8 * 8;
    g->coef = memory ? memory + n : NULL;
    n += (coef_size (c, g->shape) + 7) / 8 * 8;
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

/* The doubles of a deal with frames and without them, or `most` if that is more. */
static size_t
deal_largest (TfxCascade *c, size_t most)
{
  for (int i = 0; i < 2; i++) {
    size_t n;

    c->has_no_frames = i == 0;
    n = deal (c, NULL);
    most = n > most ? n : most;
  }
  return most;
}

size_t
tfx_cascade_groups_size (TfxCascade *c)
{
  static const TfxForm forms[] = { TFX_FORM_DIRECT, TFX_FORM_FACTORED };
  size_t most = 0;

  if (tfx_cascade_is_sum (c)) {
    c->has_parts = c->terms_form == TFX_TERMS_PARTS;
    most = deal (c, NULL);
    c->has_parts = false;
    return most;
  }
  for (size_t i = 0; i < 2; i++) {
    c->form = c->kernels->width > 1 ? forms[i] : TFX_FORM_TEXTBOOK;
    for (unsigned type = 0; type < 2; type++) {
      c->type = (TfxSample)type;
      most = deal_largest (c, most);
    }
    c->wants_parts = c->terms_form == TFX_TERMS_ONE && wants_parts (c);
    c->has_parts = c->wants_parts;
    most = deal_largest (c, most);
    c->has_parts = false;
  }
  return most;
}

/* The sections of all terms; and the gain in front of each in the form factored. */
static void
set_forms (TfxCascade *c, TfxForm form)
{
  size_t k = 0;

  for (size_t i = 0; i < c->n_terms; k += c->terms[i++].n_sos)
    c->gains[i] = tfx_cascade_form_sections (form, c->sos + k,
        c->terms[i].n_sos, c->sections + k);
}

/* In front of a channel. */
static double
find_gain (const TfxCascade *c, unsigned channel)
{
  if (c->terms_form != TFX_TERMS_CHANNELS)
    return c->gains[0];
  return c->gains[tfx_cascade_term_for (c, channel) - c->terms];
}

/* Section number k of the n_row of a channel; NULL: it has fewer. */
static const TfxCascadeSection *
find_section (const TfxCascade *c, unsigned channel, size_t k)
{
  const TfxCascadeTerm *t;

  if (c->terms_form != TFX_TERMS_CHANNELS)
    return &c->sections[k];
  t = tfx_cascade_term_for (c, channel);
  return k + t->n_sos < c->n_row
             ? NULL
             : &c->sections[t->sos - c->sos + k + t->n_sos - c->n_row];
}

/* A vector of sections; those that are none let the signal pass. */
static void
set_vector (const TfxCascade *c, const Group *g, size_t vector, double *coef)
{
  const TfxCascadeSection none = { { c->form == TFX_FORM_FACTORED ? 0.0 : 1.0 },
    { 0 } };
  const Shape *s = g->shape;

  for (unsigned lane = 0; lane < s->width; lane++) {
    const size_t k = vector * s->n_together + lane / s->channels;
    const TfxCascadeSection *section = NULL;

    if (k >= s->n_idle)
      section = find_section (c, g->first_channel + lane % s->channels,
          k - s->n_idle);
    section = section ? section : &none;
    for (unsigned i = 0; i < TFX_WAVE_COEF; i++)
      coef[i * s->width + lane] = section->k[i];
  }
}

static void
set_wave (const TfxCascade *c, const Group *g)
{
  const Shape *s = g->shape;

  for (unsigned lane = 0; lane < s->width; lane++) {
    g->gain[lane] = find_gain (c, g->first_channel + lane % s->channels);
    g->gain[s->width + lane] = 1.0;
  }
  for (size_t v = 0; v < s->n_vectors; v++)
    set_vector (c, g, v, g->coef + v * TFX_WAVE_COEF * s->width);
}

/* The lanes of no section have no part. */
static void
set_parallel (const TfxCascade *c, const Group *g)
{
  const Shape *s = g->shape;

  g->gain[0] = c->direct;
  for (size_t i = 0; i < s->n_vectors * s->width; i++) {
    const size_t lane = i % s->width, row = i / s->channels;
    double *coef = g->coef + (i - lane) * TFX_PARALLEL_COEF + lane;
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
set_abreast (const TfxCascade *c, const Group *g)
{
  const Shape *s = g->shape;
  const bool is_rows = s->channels == s->width;
  const TfxCascadeSection *sections = c->sections;
  double *coef = g->coef;
  unsigned lane = 0;

  memset (g->coef, 0, coef_size (c, s) * sizeof *g->coef);
  g->gain[0] = c->direct;
  g->gain[s->width] = (double)c->n_abreast;
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
  if (c->terms_form == TFX_TERMS_CASCADES)
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

/* Whether they can be run as they are. */
static bool
are_exact (TfxCascade *c)
{
  switch (c->terms_form) {
    case TFX_TERMS_PARTS:
      return make_parts (c);
    case TFX_TERMS_CASCADES:
      return add_gains (c);
    case TFX_TERMS_CHANNELS:
    case TFX_TERMS_ONE:
      break;
  }
  return true;
}

static void
set_group (const TfxCascade *c, const Group *g)
{
  const Shape *s = g->shape;

  if (s->is_abreast) {
    set_abreast (c, g);
  } else if (s->is_parallel) {
    set_parallel (c, g);
  } else if (s->frames) {
    const TfxFramesShape shape =
        tfx_cascade_form_frames_shape (c->kernels, s->channels, c->n_sos);

    tfx_cascade_form_frames (&shape, c->sos, c->n_sos, g->coef);
  } else {
    set_wave (c, g);
  }
}

bool
tfx_cascade_groups_set (TfxCascade *c)
{
  const TfxForm form = choose_form (c);
  bool has_parts, has_no_frames;

  set_forms (c, form);
  if (!are_exact (c))
    return false;
  has_parts = c->terms_form == TFX_TERMS_PARTS ||
              (c->wants_parts && c->type == TFX_SAMPLE_F32 && make_parts (c));
  has_no_frames = !tfx_cascade_form_can_have_frames (c->sos, c->n_sos);
  if (form != c->form || c->type != c->dealt_type ||
      has_parts != c->has_parts || has_no_frames != c->has_no_frames ||
      c->n_groups == 0) {
    c->form = form;
    c->dealt_type = c->type;
    c->has_parts = has_parts;
    c->has_no_frames = has_no_frames;
    memset (c->memory, 0, c->memory_size);
    deal (c, c->memory);
  }
  for (unsigned j = 0; j < c->n_groups; j++) {
    if (!find_like (c, &c->groups[j]))
      set_group (c, &c->groups[j]);
  }
  for (unsigned j = 0; j < c->n_groups; j++)
    c->groups[j].state_of =
        c->groups[j].rest ? STATE_OF_SECTIONS : STATE_OF_KERNEL;
  return true;
}
