/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade-state.c: converts the state of a cascade between the kernels' lanes and s1, s2 of
 * each section.
 *
 * While samples flow only the kernels have it.  A query converts all of it, and leaves the
 * kernels' own alone, so that it changes no bit of the output. */
#include "cascade-private.h"

#include <math.h>
#include <string.h>

typedef double Pair[2];

size_t
tfx_cascade_fit_state_size (const TfxCascade *c, const Fit *fit)
{
  if (fit->shape->layout == TFX_LAYOUT_FRAMES)
    return tfx_cascade_form_frames_states (fit->shape, c->n_sos) + TFX_GROUP;
  return fit->n_vectors * TFX_STATE * fit->shape->lanes;
}

/* The state of a channel's sections outside of the kernels. */
static Pair *
find_pairs (const TfxCascade *c, unsigned channel)
{
  return (Pair *)(c->state + 2 * channel * c->n_sos);
}

/* The vector of section k, and the section's number in it.  The last sections of all merged
 * cascades, or of all channels, are in the same vector. */
static size_t
find_vector (const TfxCascade *c, const Fit *fit, size_t k, size_t *number)
{
  const bool is_merged = fit->shape->layout == TFX_LAYOUT_MERGED;
  const bool is_full = fit->shape->channels >= fit->shape->lanes;
  const TfxCascadeTerm *t;
  size_t own, before = 0;

  if (is_merged || c->terms_form == TFX_TERMS_CHANNELS) {
    t = tfx_cascade_term_of (c, k, &own);
    k = c->depth - t->n_sos + own;
    for (const TfxCascadeTerm *i = c->terms; i < t; i++)
      before += i->n_sos > 0;
  }
  if (is_merged) {
    *number = is_full ? 0 : before;
    return is_full ? before * c->depth + k : k;
  }
  *number = (k + fit->n_idle) % fit->n_together;
  return (k + fit->n_idle) / fit->n_together;
}

/* The numbers that a kernel has of a section, `step` apart: s, last s and last x, or, if
 * is_pair, s1 and s2 divided by `scale`, or u' and u'' of a part. */
typedef struct Place
{
  double *at, scale;
  size_t step;
  bool is_pair;
} Place;

static Place
find_place (const TfxCascade *c, const Group *g, unsigned channel, size_t k)
{
  const TfxShape *s = g->fit.shape;
  size_t vector, number, left;
  Place p = { .scale = 1.0, .step = s->lanes };

  if (s->layout == TFX_LAYOUT_FRAMES)
    return (Place){ g->state + 2 * k * s->channels + channel, 1.0, s->channels,
      true };
  vector = find_vector (c, &g->fit, k, &number);
  left = g->fit.n_vectors - vector / g->fit.n_pass * g->fit.n_pass;
  p.at =
      g->state + vector * TFX_STATE * s->lanes + number * s->channels + channel;
  p.is_pair = s->layout == TFX_LAYOUT_PARALLEL;
  if (s->s2_vectors > 0 && g->fit.n_pass >= s->s2_vectors &&
      left >= s->s2_vectors)
    p = (Place){ p.at, c->sections[k].scale[0], 2 * s->lanes, true };
  return p;
}

/* A section's numbers to `pair`, or from it. */
static void
exchange (const TfxCascade *c, const Group *g, unsigned channel, size_t k,
    Pair pair, const bool is_import)
{
  const Place p = find_place (c, g, channel, k);
  double kernel[TFX_STATE];

  if (is_import && p.is_pair) {
    p.at[0] = pair[0] / p.scale;
    p.at[p.step] = pair[1] / p.scale;
  } else if (is_import) {
    tfx_cascade_form_import (&c->sections[k], pair, kernel);
    for (unsigned i = 0; i < TFX_STATE; i++)
      p.at[i * p.step] = kernel[i];
  } else if (p.is_pair) {
    pair[0] = p.scale * p.at[0];
    pair[1] = p.scale * p.at[p.step];
  } else {
    for (unsigned i = 0; i < TFX_STATE; i++)
      kernel[i] = p.at[i * p.step];
    tfx_cascade_form_export (&c->sections[k], kernel, pair);
  }
}

/* Whether a channel has section k, and the factor between its state in the kernel and outside:
 * the gain was folded into the last section. */
static bool
has_section (const TfxCascade *c, unsigned channel, size_t k, double *scale)
{
  const bool is_split = c->terms_form == TFX_TERMS_CHANNELS;
  size_t own;
  const TfxCascadeTerm *t = tfx_cascade_term_of (c, k, &own);

  *scale = 1.0;
  if (own + 1 == t->n_sos && !tfx_cascade_is_sum (c))
    *scale = 1.0 / (is_split ? t->gain : c->gain);
  return !is_split || t == tfx_cascade_term_for (c, channel);
}

/* The unfinished group of frames, [n][channels] and then n, after the state. */
static double *
find_pending (const TfxCascade *c, const Group *g)
{
  return g->state + tfx_cascade_fit_state_size (c, &g->fit) - TFX_GROUP;
}

/* Runs the frames of an unfinished group of one channel into the state of its sections. */
static void
run_pending (const TfxCascade *c, const Group *g, unsigned channel, Pair *s)
{
  const double *pending = find_pending (c, g);
  const unsigned n = (unsigned)pending[TFX_GROUP];

  for (unsigned i = 0; i < n; i++) {
    double x = pending[i * g->fit.shape->channels + channel];

    for (size_t k = 0; k < c->n_sos; k++) {
      const TfxSos *b = &c->sos[k];
      const double y = b->b0 * x + s[k][0];

      s[k][0] = (b->b1 * x + s[k][1]) - b->a1 * y;
      s[k][1] = b->b2 * x - b->a2 * y;
      x = y;
    }
  }
}

/* Parts have the sum's input: from u' and u'' of each to the state of the sections in series, or
 * back. */
static void
convert_parts (const TfxCascade *c, Pair *s, const bool is_import)
{
  const TfxCascadeTerm *t = c->terms;

  for (size_t i = 0; i < c->n_terms; s += t[i++].n_sos)
    (is_import ? tfx_cascade_parallel_import
               : tfx_cascade_parallel_export) (t[i].sos, t[i].n_sos,
        (const Pair *)s, s);
}

static void
export_channel (const TfxCascade *c, const Group *g, unsigned channel)
{
  const TfxLayout layout = g->fit.shape->layout;
  Pair *s = find_pairs (c, g->first_channel + channel);
  double scale;

  for (size_t k = 0; k < c->n_sos; k++) {
    if (has_section (c, g->first_channel + channel, k, &scale))
      exchange (c, g, channel, k, s[k], false);
  }
  if (layout == TFX_LAYOUT_PARALLEL)
    convert_parts (c, s, false);
  if (layout == TFX_LAYOUT_FRAMES)
    run_pending (c, g, channel, s);
}

static void
import_channel (const TfxCascade *c, const Group *g, unsigned channel)
{
  Pair *s = find_pairs (c, g->first_channel + channel);
  Pair parts[TFX_PARALLEL_MAX_SECTIONS];
  double scale;

  if (g->fit.shape->layout == TFX_LAYOUT_PARALLEL) {
    s = memcpy (parts, s, c->n_sos * sizeof *s);
    convert_parts (c, s, true);
  }
  for (size_t k = 0; k < c->n_sos; k++) {
    if (has_section (c, g->first_channel + channel, k, &scale))
      exchange (c, g, channel, k, s[k], true);
  }
}

void
tfx_cascade_state_import (TfxCascade *c)
{
  for (unsigned j = 0; j < c->n_groups; j++) {
    const Group *g = &c->groups[j];

    for (unsigned channel = 0; channel < g->n_channels; channel++)
      import_channel (c, g, channel);
    if (g->fit.shape->layout == TFX_LAYOUT_FRAMES)
      memset (find_pending (c, g), 0, (TFX_GROUP + 1) * sizeof *g->state);
  }
  c->state_of = STATE_OF_BOTH;
}

void
tfx_cascade_state_export (TfxCascade *c)
{
  for (unsigned j = 0; j < c->n_groups && c->state_of == STATE_OF_KERNELS;
       j++) {
    for (unsigned channel = 0; channel < c->groups[j].n_channels; channel++)
      export_channel (c, &c->groups[j], channel);
  }
  if (c->state_of == STATE_OF_KERNELS)
    c->state_of = STATE_OF_BOTH;
}

/* state[channels of the term][n][2] of sections from `first` on. */
static void
exchange_state (TfxCascade *c, size_t first, size_t n, double *state,
    const bool is_import)
{
  double scale;

  tfx_cascade_state_export (c);
  for (unsigned channel = 0; channel < c->n_channels && n > 0; channel++) {
    Pair *s = find_pairs (c, channel);

    for (size_t k = first; k < first + n; k++) {
      if (!has_section (c, channel, k, &scale))
        continue;
      for (unsigned i = 0; i < 2; i++, state++) {
        if (is_import)
          s[k][i] = *state / scale;
        else
          *state = s[k][i] * scale;
      }
    }
  }
}

void
tfx_cascade_get_state (TfxCascade *c, size_t first, size_t n, double *state)
{
  exchange_state (c, first, n, state, false);
}

void
tfx_cascade_set_state (TfxCascade *c, size_t first, size_t n,
    const double *state)
{
  exchange_state (c, first, n, (double *)state, true);
  c->state_of = STATE_OF_SECTIONS;
}

double
tfx_cascade_state_peak (TfxCascade *c)
{
  double peak = 0.0, scale;

  tfx_cascade_state_export (c);
  for (unsigned channel = 0; channel < c->n_channels; channel++) {
    const Pair *s = find_pairs (c, channel);

    for (size_t k = 0; k < c->n_sos; k++) {
      if (has_section (c, channel, k, &scale))
        peak =
            fmax (peak, fmax (fabs (s[k][0] * scale), fabs (s[k][1] * scale)));
    }
  }
  return peak;
}
