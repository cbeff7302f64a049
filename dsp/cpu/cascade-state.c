/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade-state.c: moves the state of a cascade between the kernels' lanes and the sections. */
#include "cascade-private.h"

#include <math.h>
#include <string.h>

size_t
tfx_cascade_fit_state_size (const TfxCascade *c, const Fit *fit)
{
  if (fit->shape->layout == TFX_LAYOUT_FRAMES)
    return tfx_cascade_form_frames_states (fit->shape, c->n_sos) + TFX_GROUP;
  return fit->n_vectors * TFX_STATE * fit->shape->lanes;
}

/* The unfinished group of frames, [n][channels], or NULL; *n frames. */
static double *
find_pending (const TfxCascade *c, const Group *g, unsigned *n)
{
  double *end = g->state + tfx_cascade_fit_state_size (c, &g->fit);

  *n = 0;
  if (g->fit.shape->layout != TFX_LAYOUT_FRAMES)
    return NULL;
  *n = (unsigned)*end;
  return end - TFX_GROUP;
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

/* The state of section k of the group's channel: TFX_STATE numbers, *step apart.  *has_s2: they
 * are s, -, s2 as TFX_LAYOUT_FRAMES has them, times *scale. */
static double *
find_state (const TfxCascade *c, const Group *g, size_t k, unsigned channel,
    size_t *step, bool *has_s2)
{
  const TfxShape *s = g->fit.shape;
  size_t vector, number, left;

  if (s->layout == TFX_LAYOUT_FRAMES) {
    *has_s2 = true;
    *step = s->channels; /* of s and s2 */
    return g->state + 2 * k * s->channels + channel;
  }
  vector = find_vector (c, &g->fit, k, &number);
  left = g->fit.n_vectors - vector / g->fit.n_pass * g->fit.n_pass;
  *has_s2 = s->s2_vectors > 0 && g->fit.n_pass >= s->s2_vectors &&
            left >= s->s2_vectors;
  *step = *has_s2 ? 2 * s->lanes : s->lanes;
  return g->state + vector * TFX_STATE * s->lanes + number * s->channels +
         channel;
}

/* The factor between the state in the kernel and outside: the gain was folded into the last
 * section. */
static double
outer_scale (const TfxCascade *c, size_t section)
{
  const TfxCascadeTerm *t;
  size_t own;

  if (tfx_cascade_is_sum (c))
    return 1.0;
  t = tfx_cascade_term_of (c, section, &own);
  if (own + 1 < t->n_sos)
    return 1.0;
  return 1.0 / (c->terms_form == TFX_TERMS_CHANNELS ? t->gain : c->gain);
}

/* Whether a channel has a section. */
static bool
has_section (const TfxCascade *c, unsigned channel, size_t section)
{
  size_t own;

  return c->terms_form != TFX_TERMS_CHANNELS ||
         tfx_cascade_term_of (c, section, &own) ==
             tfx_cascade_term_for (c, channel);
}

/* s1 and s2 of section k, from the kernel's state or to it. */
static void
exchange (const TfxCascade *c, const Group *g, unsigned channel, size_t k,
    double s[2], const bool is_import)
{
  double *at, scale, kernel[TFX_STATE];
  bool has_s2;
  size_t step;

  if (g->series) {
    at = g->series + 2 * (channel * c->n_sos + k);
    memcpy (is_import ? at : s, is_import ? s : at, 2 * sizeof *s);
    return;
  }
  at = find_state (c, g, k, channel, &step, &has_s2);
  if (has_s2) {
    scale = g->fit.shape->layout == TFX_LAYOUT_FRAMES ? 1.0
                                                      : c->sections[k].scale[0];
    for (unsigned i = 0; i < 2; i++) {
      if (is_import)
        at[i * step] = s[i] / scale;
      else
        s[i] = scale * at[i * step];
    }
    return;
  }
  if (is_import)
    tfx_cascade_form_import (&c->sections[k], s, kernel);
  for (unsigned i = 0; i < TFX_STATE; i++) {
    if (is_import)
      at[i * step] = kernel[i];
    else
      kernel[i] = at[i * step];
  }
  if (!is_import)
    tfx_cascade_form_export (&c->sections[k], kernel, s);
}

/* u[n_sos][2] of the parallel form, from the kernel or to it. */
static void
exchange_parts (const TfxCascade *c, const Group *g, unsigned channel,
    double (*u)[2], const bool is_import)
{
  for (size_t k = 0; k < c->n_sos; k++) {
    size_t step;
    bool has_s2;
    double *at = find_state (c, g, k, channel, &step, &has_s2);

    for (unsigned i = 0; i < 2; i++) {
      if (is_import)
        at[i * step] = u[k][i];
      else
        u[k][i] = at[i * step];
    }
  }
}

/* Converts the state of a parallel form to that of the sections in series. */
static void
export_series (const TfxCascade *c, Group *g)
{
  double u[TFX_PARALLEL_MAX_SECTIONS][2];

  if (!g->series || g->state_of != STATE_OF_KERNEL)
    return;
  for (unsigned channel = 0; channel < g->n_channels; channel++) {
    exchange_parts (c, g, channel, u, false);
    for (size_t i = 0, k = 0; i < c->n_terms; k += c->terms[i++].n_sos)
      tfx_cascade_parallel_export (c->terms[i].sos, c->terms[i].n_sos, u + k,
          (double (*)[2]) (g->series + 2 * (channel * c->n_sos + k)));
  }
  g->state_of = STATE_OF_BOTH;
}

void
tfx_cascade_state_wake (const TfxCascade *c, Group *g)
{
  for (unsigned channel = 0; channel < g->n_channels; channel++) {
    const double *series = g->series + 2 * channel * c->n_sos;
    double u[TFX_PARALLEL_MAX_SECTIONS][2] = { { 0 } };
    bool is_zero = true;

    for (size_t i = 0; is_zero && i < 2 * c->n_sos; i++)
      is_zero = series[i] == 0.0;
    for (size_t i = 0, k = 0; i < c->n_terms && !is_zero;
         k += c->terms[i++].n_sos)
      tfx_cascade_parallel_import (c->terms[i].sos, c->terms[i].n_sos,
          (const double (*)[2]) (series + 2 * k), u + k);
    exchange_parts (c, g, channel, u, true);
  }
}

/* Runs the frames of an unfinished group into the state, one by one. */
static void
finish_group (TfxCascade *c, Group *g)
{
  unsigned n;
  double *pending = find_pending (c, g, &n);

  for (unsigned channel = 0; channel < g->n_channels && n > 0; channel++) {
    double *x = pending + channel;

    for (size_t k = 0; k < c->n_sos; k++) {
      const TfxSos *b = &c->sos[k];
      double s[2];

      exchange (c, g, channel, k, s, false);
      for (unsigned i = 0; i < n; i++) {
        double *at = &x[i * g->fit.shape->channels];
        const double y = b->b0 * *at + s[0];

        s[0] = (b->b1 * *at + s[1]) - b->a1 * y;
        s[1] = b->b2 * *at - b->a2 * y;
        *at = y;
      }
      exchange (c, g, channel, k, s, true);
    }
  }
  if (pending)
    memset (pending, 0, (TFX_GROUP + 1) * sizeof *pending);
}

/* state[channels of the term][n][2] of sections from `first` on. */
static void
exchange_state (TfxCascade *c, size_t first, size_t n, double *state,
    const bool is_import)
{
  for (unsigned j = 0; j < c->n_groups && n > 0; j++) {
    Group *g = &c->groups[j];

    finish_group (c, g);
    export_series (c, g);
    for (unsigned channel = 0; channel < g->n_channels; channel++) {
      if (!has_section (c, g->first_channel + channel, first))
        continue;
      for (size_t k = first; k < first + n; k++, state += 2) {
        const double scale = outer_scale (c, k);
        double s[2];

        if (is_import) {
          s[0] = state[0] / scale;
          s[1] = state[1] / scale;
        }
        exchange (c, g, channel, k, s, is_import);
        if (!is_import) {
          state[0] = s[0] * scale;
          state[1] = s[1] * scale;
        }
      }
    }
    if (is_import && g->series)
      g->state_of = STATE_OF_SECTIONS;
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
}

void
tfx_cascade_reset (TfxCascade *c)
{
  for (unsigned j = 0; j < c->n_groups; j++) {
    Group *g = &c->groups[j];

    memset (g->state, 0,
        (tfx_cascade_fit_state_size (c, &g->fit) + 1) * sizeof *g->state);
    g->state_of = STATE_OF_KERNEL;
  }
}

double
tfx_cascade_state_peak (const TfxCascade *c)
{
  double peak = 0.0;

  for (unsigned j = 0; j < c->n_groups; j++) {
    Group *g = &c->groups[j];
    unsigned n;
    const double *pending = find_pending (c, g, &n);

    export_series (c, g);
    for (unsigned i = 0; i < n * g->fit.shape->channels; i++)
      peak = fmax (peak, fabs (pending[i]));
    for (unsigned channel = 0; channel < g->n_channels; channel++) {
      for (size_t k = 0; k < c->n_sos; k++) {
        double s[2], scale = outer_scale (c, k);

        if (!has_section (c, g->first_channel + channel, k))
          continue;
        exchange (c, g, channel, k, s, false);
        peak = fmax (peak, fmax (fabs (s[0] * scale), fabs (s[1] * scale)));
      }
    }
  }
  return peak;
}
