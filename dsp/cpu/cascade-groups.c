/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade-groups.c: distributes channels and sections to the lanes, in the shapes that cost
 * least. */
#include "cascade-private.h"

#include <math.h>
#include <string.h>

/* Doubles to whole lines of the cache. */
static size_t
round_up (size_t n)
{
  return (n + 7) / 8 * 8;
}

static size_t
coef_size (const TfxCascade *c, const Fit *fit)
{
  const TfxShape *s = fit->shape;

  switch (s->layout) {
    case TFX_LAYOUT_PIPELINED:
      break;
    case TFX_LAYOUT_FRAMES:
      return tfx_cascade_form_frames_size (s, c->n_sos);
    case TFX_LAYOUT_PARALLEL:
      return TFX_PARALLEL_COEF * fit->n_vectors * s->lanes;
    case TFX_LAYOUT_MERGED:
      return fit->n_vectors / c->depth * TFX_MERGED_COEF (c->depth) * s->lanes;
  }
  return TFX_SECTION_COEF * fit->n_vectors * s->lanes;
}

/* A group before whose coefficients are this one's, or NULL. */
static const Group *
find_like (const TfxCascade *c, const Group *group)
{
  for (const Group *g = c->groups; g < group; g++) {
    if (g->fit.shape == group->fit.shape && c->terms_form != TFX_TERMS_CHANNELS)
      return g;
  }
  return NULL;
}

/* The next n doubles of the groups' memory, aligned to 64 bytes; NULL while it is measured. */
static double *
take (double *memory, size_t *used, size_t n)
{
  double *at = memory ? memory + *used : NULL;

  *used += round_up (n);
  return at;
}

/* Returns the doubles of memory taken. */
static size_t
deal (TfxCascade *c, double *memory)
{
  size_t used = 0;
  unsigned channel = 0, lanes = 1; /* the most channels of a group */
  ShapeChoice choice;

  c->n_groups = 0;
  tfx_cascade_shapes_choose (c, &choice);
  while (channel < c->n_channels) {
    const unsigned left = c->n_channels - channel;
    Group *g = &c->groups[c->n_groups++];
    unsigned n;

    g->fit =
        left < choice.full.shape->channels ? choice.first[left] : choice.full;
    n = g->fit.shape->channels;
    g->first_channel = channel;
    g->n_channels = left < n ? left : n;
    g->state =
        take (memory, &used, tfx_cascade_fit_state_size (c, &g->fit) + 1);
    channel += g->n_channels;
    lanes = n > lanes ? n : lanes;
  }
  c->chunk_frames = TFX_CASCADE_SCRATCH / lanes;
  for (unsigned i = 0; i < c->n_groups; i++) {
    Group *g = &c->groups[i];
    const Group *like = find_like (c, g);

    g->gain = like ? like->gain : take (memory, &used, 2 * g->fit.shape->lanes);
    g->coef = like ? like->coef : take (memory, &used, coef_size (c, &g->fit));
  }
  return used;
}

size_t
tfx_cascade_groups_size (TfxCascade *c)
{
  const bool may_have_parts =
      c->terms_form == TFX_TERMS_ONE && c->n_sos <= TFX_PARALLEL_MAX_SECTIONS;
  size_t most = 0;

  /* The largest with either form, either type, the parallel form or not, frames or not. */
  for (unsigned i = 0; i < 16; i++) {
    size_t size;

    c->form = c->kernels->width == 1 ? TFX_FORM_TEXTBOOK
              : i & 1                ? TFX_FORM_FACTORED
                                     : TFX_FORM_DIRECT;
    c->type = i & 2 ? TFX_SAMPLE_F32 : TFX_SAMPLE_F64;
    c->has_parts =
        c->terms_form == TFX_TERMS_PARTS || (may_have_parts && i & 2 && i & 4);
    c->has_no_frames = i & 8;
    size = deal (c, NULL);
    most = size > most ? size : most;
    for (unsigned j = 0; j < c->n_groups; j++)
      c->wants_parts |= c->groups[j].fit.shape->layout == TFX_LAYOUT_PARALLEL;
  }
  c->has_parts = false;
  return most;
}

/* Sets the sections of all terms, and the gain before each in the factored form. */
static void
set_forms (TfxCascade *c, TfxForm form)
{
  size_t k = 0;

  for (size_t i = 0; i < c->n_terms; k += c->terms[i++].n_sos)
    c->gains[i] = tfx_cascade_form_sections (form, c->sos + k,
        c->terms[i].n_sos, c->sections + k);
}

/* The gain before the first section of a channel. */
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

/* Idle sections pass the signal. */
static void
set_pipelined (const TfxCascade *c, const Group *g)
{
  const TfxCascadeSection none = { { c->form == TFX_FORM_FACTORED ? 0.0 : 1.0 },
    { 0 } };
  const unsigned lanes = g->fit.shape->lanes, n = g->fit.shape->channels;

  for (size_t i = 0; i < g->fit.n_vectors * lanes; i++) {
    const unsigned channel = g->first_channel + (unsigned)(i % n);
    const size_t k = i / n;
    const TfxCascadeSection *section =
        k < g->fit.n_idle ? NULL : find_section (c, channel, k - g->fit.n_idle);
    double *coef = g->coef + i / lanes * TFX_SECTION_COEF * lanes + i % lanes;

    section = section ? section : &none;
    for (unsigned j = 0; j < TFX_SECTION_COEF; j++)
      coef[j * lanes] = section->k[j];
  }
  for (unsigned lane = 0; lane < lanes; lane++) {
    g->gain[lane] = find_gain (c, g->first_channel + lane % n);
    g->gain[lanes + lane] = 1.0;
  }
}

/* Idle lanes have no part. */
static void
set_parallel (const TfxCascade *c, const Group *g)
{
  const unsigned lanes = g->fit.shape->lanes;

  g->gain[0] = c->direct;
  for (size_t i = 0; i < g->fit.n_vectors * lanes; i++) {
    const size_t lane = i % lanes, row = i / g->fit.shape->channels;
    const size_t k = row - g->fit.n_idle;
    double *coef = g->coef + (i - lane) * TFX_PARALLEL_COEF + lane;

    for (unsigned j = 0; j < TFX_PARALLEL_COEF; j++)
      coef[j * lanes] = 0.0;
    if (row < g->fit.n_idle)
      continue;
    coef[0] = c->parts[k].c1;
    coef[lanes] = c->parts[k].c2;
    coef[2 * lanes] = c->sos[k].a1;
    coef[3 * lanes] = c->sos[k].a2;
  }
}

/* Each term with sections has separate lanes, or vectors.  A shorter one begins with sections
 * that pass the signal; lanes of no term put out zeros. */
static void
set_merged (const TfxCascade *c, const Group *g)
{
  const TfxCascadeSection none = { { 1.0 }, { 0 } };
  const TfxShape *s = g->fit.shape;
  const bool is_full = s->channels == s->lanes;
  const TfxCascadeSection *sections = c->sections;
  double *first = g->coef;

  memset (g->coef, 0, coef_size (c, &g->fit) * sizeof *g->coef);
  g->gain[0] = c->direct;
  g->gain[s->lanes] = (double)c->n_merged;
  for (size_t i = 0; i < c->n_terms; sections += c->terms[i++].n_sos) {
    const TfxCascadeTerm *t = &c->terms[i];
    const size_t n_idle = c->depth - t->n_sos;

    for (unsigned lane = 0; lane < s->channels && t->n_sos > 0; lane++) {
      double *to = first + lane;

      for (size_t k = 0; k < c->depth; k++) {
        for (unsigned j = 0; j < TFX_SECTION_COEF; j++, to += s->lanes)
          *to = k < n_idle ? none.k[j] : sections[k - n_idle].k[j];
      }
      *to = t->gain;
    }
    if (t->n_sos > 0)
      first += is_full ? TFX_MERGED_COEF (c->depth) * s->lanes : s->channels;
  }
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

/* The gain of the input itself: in merged cascades that of terms without sections, in the
 * parallel form that of all, whose parts are made.  False if they would not be exact enough. */
static bool
set_direct (TfxCascade *c, const bool has_parts)
{
  TfxParallelPart *part = c->parts;

  c->direct = 0.0;
  for (size_t i = 0; i < c->n_terms; i++) {
    const TfxCascadeTerm *t = &c->terms[i];
    double direct;

    if (!has_parts) {
      c->direct += t->n_sos > 0 ? 0.0 : t->gain;
      continue;
    }
    if (!tfx_cascade_parallel_set (t->sos, t->n_sos, part, &direct))
      return false;
    c->direct += t->gain * direct;
    for (size_t k = 0; k < t->n_sos; k++, part++)
      *part = (TfxParallelPart){ t->gain * part->c1, t->gain * part->c2 };
  }
  return isfinite (c->direct);
}

static void
set_frames (const TfxCascade *c, const Group *g)
{
  tfx_cascade_form_frames (g->fit.shape, c->sos, c->n_sos, g->coef);
}

static void (*const setters[]) (const TfxCascade *c, const Group *g) = {
  [TFX_LAYOUT_PIPELINED] = set_pipelined,
  [TFX_LAYOUT_FRAMES] = set_frames,
  [TFX_LAYOUT_PARALLEL] = set_parallel,
  [TFX_LAYOUT_MERGED] = set_merged,
};

bool
tfx_cascade_groups_set (TfxCascade *c)
{
  const TfxForm form = choose_form (c);
  bool has_parts, has_no_frames;

  set_forms (c, form);
  has_parts =
      c->wants_parts && c->type == TFX_SAMPLE_F32 && set_direct (c, true);
  if ((c->terms_form == TFX_TERMS_PARTS && !has_parts) ||
      (c->terms_form == TFX_TERMS_CASCADES && !set_direct (c, false)))
    return false;
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
      setters[c->groups[j].fit.shape->layout](c, &c->groups[j]);
  }
  c->state_of = STATE_OF_SECTIONS;
  return true;
}
