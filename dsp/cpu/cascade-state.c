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
  return section + 1 == c->n_sos ? 1.0 / c->gain : 1.0;
}

static void
export_lane (const Group *g, unsigned lane, size_t k, double s[2])
{
  const unsigned n = g->form->n_state;
  double kernel[TFX_CASCADE_MAX_STATE];

  for (unsigned i = 0; i < n; i++)
    kernel[i] = g->state[(k * n + i) * g->stride + lane];
  tfx_cascade_form_export (g->form, k, kernel, s);
}

static void
import_lane (const Group *g, unsigned lane, size_t k, const double s[2])
{
  const unsigned n = g->form->n_state;
  double kernel[TFX_CASCADE_MAX_STATE];

  tfx_cascade_form_import (g->form, k, s, kernel);
  for (unsigned i = 0; i < n; i++)
    g->state[(k * n + i) * g->stride + lane] = kernel[i];
}

/* Runs the frames of an unfinished group into the state, one by one. */
static void
settle (TfxCascade *c, Group *g)
{
  for (unsigned lane = 0; lane < g->n_channels && g->n_pending; lane++) {
    double x[MAX_GROUP];

    for (unsigned i = 0; i < g->n_pending; i++)
      x[i] = g->pending[i * g->lanes + lane];
    for (size_t k = 0; k < c->n_sos; k++) {
      const TfxSos *b = &c->sos[k];
      double s[2];

      export_lane (g, lane, k, s);
      for (unsigned i = 0; i < g->n_pending; i++) {
        double y = b->b0 * x[i] + s[0];
        s[0] = (b->b1 * x[i] + s[1]) - b->a1 * y;
        s[1] = b->b2 * x[i] - b->a2 * y;
        x[i] = y;
      }
      import_lane (g, lane, k, s);
    }
  }
  g->n_pending = 0;
}

void
tfx_cascade_get_state (TfxCascade *c, size_t first, size_t n, double *state)
{
  for (unsigned j = 0; j < c->n_groups; j++) {
    Group *g = &c->groups[j];

    settle (c, g);
    for (unsigned lane = 0; lane < g->n_channels; lane++) {
      double *to = state + (g->first_channel + lane) * n * 2;
      for (size_t k = 0; k < n; k++) {
        double scale = outer_scale (c, first + k);
        export_lane (g, lane, first + k, to + 2 * k);
        to[2 * k] *= scale;
        to[2 * k + 1] *= scale;
      }
    }
  }
}

void
tfx_cascade_set_state (TfxCascade *c, size_t first, size_t n,
    const double *state)
{
  for (unsigned j = 0; j < c->n_groups; j++) {
    Group *g = &c->groups[j];

    g->n_pending = 0;
    for (unsigned lane = 0; lane < g->n_channels; lane++) {
      const double *from = state + (g->first_channel + lane) * n * 2;
      for (size_t k = 0; k < n; k++) {
        double scale = outer_scale (c, first + k);
        double s[2] = { from[2 * k] / scale, from[2 * k + 1] / scale };
        import_lane (g, lane, first + k, s);
      }
    }
  }
}

void
tfx_cascade_reset (TfxCascade *c)
{
  for (unsigned j = 0; j < c->n_groups; j++) {
    Group *g = &c->groups[j];
    memset (g->state, 0,
        c->n_sos * g->form->n_state * g->stride * sizeof (double));
    g->n_pending = 0;
  }
}

double
tfx_cascade_state_peak (const TfxCascade *c)
{
  double peak = 0.0;

  for (unsigned j = 0; j < c->n_groups; j++) {
    const Group *g = &c->groups[j];

    for (unsigned i = 0; i < g->n_pending * g->lanes; i++)
      peak = fmax (peak, fabs (g->pending[i]));
    for (unsigned lane = 0; lane < g->n_channels; lane++) {
      for (size_t k = 0; k < c->n_sos; k++) {
        double s[2], scale = outer_scale (c, k);
        export_lane (g, lane, k, s);
        peak = fmax (peak, fmax (fabs (s[0] * scale), fabs (s[1] * scale)));
      }
    }
  }
  return peak;
}
