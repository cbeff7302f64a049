/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade-state.c: the state of a cascade, out of the kernels' lanes and back.
 */
#include "cascade-private.h"

#include <math.h>
#include <string.h>

/* The factor between the state in the kernel and outside: the gain was folded
 * into the last section. */
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

/* The textbook form's s of one in the kernels, where that has s2. */
static double
outer_factor (const TfxCascade *c, const Group *g, size_t k)
{
  return g->shape->frames ? 1.0 : c->sections[k].scale[0];
}

static void
export_channel (const TfxCascade *c, const Group *g, unsigned channel, size_t k,
    double s[2])
{
  double kernel[TFX_STATE];

  if (g->rest) {
    const double *rest = g->rest + 2 * (channel * c->n_sos + k);

    s[0] = rest[0];
    s[1] = rest[1];
    return;
  }
  if (tfx_cascade_has_s2 (c, g, k)) {
    s[0] = outer_factor (c, g, k) * *tfx_cascade_state_at (c, g, k, 0, channel);
    s[1] = outer_factor (c, g, k) * *tfx_cascade_state_at (c, g, k, 2, channel);
    return;
  }
  for (unsigned i = 0; i < TFX_STATE; i++)
    kernel[i] = *tfx_cascade_state_at (c, g, k, i, channel);
  tfx_cascade_form_export (&c->sections[k], kernel, s);
}

static void
import_channel (const TfxCascade *c, const Group *g, unsigned channel, size_t k,
    const double s[2])
{
  double kernel[TFX_STATE];

  if (g->rest) {
    double *rest = g->rest + 2 * (channel * c->n_sos + k);

    rest[0] = s[0];
    rest[1] = s[1];
    return;
  }
  if (tfx_cascade_has_s2 (c, g, k)) {
    *tfx_cascade_state_at (c, g, k, 0, channel) = s[0] / outer_factor (c, g, k);
    *tfx_cascade_state_at (c, g, k, 2, channel) = s[1] / outer_factor (c, g, k);
    return;
  }
  tfx_cascade_form_import (&c->sections[k], s, kernel);
  for (unsigned i = 0; i < TFX_STATE; i++)
    *tfx_cascade_state_at (c, g, k, i, channel) = kernel[i];
}

/* The state of a sum of sections as the sections in a row have it. */
static void
rest (const TfxCascade *c, Group *g)
{
  double u[TFX_PARALLEL_MAX_SECTIONS][2];

  if (!g->rest || g->state_of != STATE_OF_KERNEL)
    return;
  for (unsigned channel = 0; channel < g->n_channels; channel++) {
    for (size_t k = 0; k < c->n_sos; k++) {
      for (unsigned i = 0; i < 2; i++)
        u[k][i] = *tfx_cascade_state_at (c, g, k, i, channel);
    }
    for (size_t i = 0, k = 0; i < c->n_terms; k += c->terms[i++].n_sos)
      tfx_cascade_parallel_export (c->terms[i].sos, c->terms[i].n_sos, u + k,
          (double (*)[2]) (g->rest + 2 * (channel * c->n_sos + k)));
  }
  g->state_of = STATE_OF_BOTH;
}

/* Whether the state that is to become that of parts is all 0, which theirs is then, too. */
static bool
is_at_rest (const TfxCascade *c, const Group *g, unsigned channel)
{
  const double *rest = g->rest + 2 * channel * c->n_sos;
  bool found = true;

  for (size_t i = 0; found && i < 2 * c->n_sos; i++)
    found = rest[i] == 0.0;
  return found;
}

void
tfx_cascade_state_wake (const TfxCascade *c, Group *g)
{
  double u[TFX_PARALLEL_MAX_SECTIONS][2];

  for (unsigned channel = 0; channel < g->n_channels; channel++) {
    const size_t n = is_at_rest (c, g, channel) ? 0 : c->n_terms;

    memset (u, 0, sizeof u);
    for (size_t i = 0, k = 0; i < n; k += c->terms[i++].n_sos)
      tfx_cascade_parallel_import (c->terms[i].sos, c->terms[i].n_sos,
          (double (*)[2]) (g->rest + 2 * (channel * c->n_sos + k)), u + k);
    for (size_t k = 0; k < c->n_sos; k++) {
      for (unsigned i = 0; i < 2; i++)
        *tfx_cascade_state_at (c, g, k, i, channel) = u[k][i];
    }
  }
}

/* Runs the frames of an unfinished group into the state, one by one. */
static void
settle (TfxCascade *c, Group *g)
{
  const unsigned n = g->pending.n, n_channels = g->shape->channels;

  for (unsigned channel = 0; channel < g->n_channels && n > 0; channel++) {
    double x[MAX_SHAPE_CHANNELS];

    for (unsigned i = 0; i < n; i++)
      x[i] = g->pending.x[i * n_channels + channel];
    for (size_t k = 0; k < c->n_sos; k++) {
      const TfxSos *b = &c->sos[k];
      double s[2];

      export_channel (c, g, channel, k, s);
      for (unsigned i = 0; i < n; i++) {
        double y = b->b0 * x[i] + s[0];
        s[0] = (b->b1 * x[i] + s[1]) - b->a1 * y;
        s[1] = b->b2 * x[i] - b->a2 * y;
        x[i] = y;
      }
      import_channel (c, g, channel, k, s);
    }
  }
  g->pending.n = 0;
}

void
tfx_cascade_get_state (TfxCascade *c, size_t first, size_t n, double *state)
{
  for (unsigned j = 0; j < c->n_groups && n > 0; j++) {
    Group *g = &c->groups[j];

    settle (c, g);
    rest (c, g);
    for (unsigned channel = 0; channel < g->n_channels; channel++) {
      if (!has_section (c, g->first_channel + channel, first))
        continue;
      for (size_t k = first; k < first + n; k++, state += 2) {
        double scale = outer_scale (c, k);
        export_channel (c, g, channel, k, state);
        state[0] *= scale;
        state[1] *= scale;
      }
    }
  }
}

void
tfx_cascade_set_state (TfxCascade *c, size_t first, size_t n,
    const double *state)
{
  for (unsigned j = 0; j < c->n_groups && n > 0; j++) {
    Group *g = &c->groups[j];

    g->pending.n = 0;
    rest (c, g);
    for (unsigned channel = 0; channel < g->n_channels; channel++) {
      if (!has_section (c, g->first_channel + channel, first))
        continue;
      for (size_t k = first; k < first + n; k++, state += 2) {
        double scale = outer_scale (c, k);
        double s[2] = { state[0] / scale, state[1] / scale };
        import_channel (c, g, channel, k, s);
      }
    }
    if (g->rest)
      g->state_of = STATE_OF_SECTIONS;
  }
}

void
tfx_cascade_reset (TfxCascade *c)
{
  for (unsigned j = 0; j < c->n_groups; j++) {
    Group *g = &c->groups[j];
    memset (g->state, 0,
        g->shape->n_vectors * TFX_STATE * g->shape->width * sizeof (double));
    g->state_of = STATE_OF_KERNEL;
    g->pending.n = 0;
  }
}

double
tfx_cascade_state_peak (const TfxCascade *c)
{
  double peak = 0.0;

  for (unsigned j = 0; j < c->n_groups; j++) {
    Group *g = &c->groups[j];

    rest (c, g);
    for (unsigned i = 0; i < g->pending.n * g->shape->channels; i++)
      peak = fmax (peak, fabs (g->pending.x[i]));
    for (unsigned channel = 0; channel < g->n_channels; channel++) {
      for (size_t k = 0; k < c->n_sos; k++) {
        double s[2], scale = outer_scale (c, k);

        if (!has_section (c, g->first_channel + channel, k))
          continue;
        export_channel (c, g, channel, k, s);
        peak = fmax (peak, fmax (fabs (s[0] * scale), fabs (s[1] * scale)));
      }
    }
  }
  return peak;
}
