/* SPDX-License-Identifier: LGPL-2.1-or-later
 * design.c: from what is asked of a filter to its sections. */
#include "tfx.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "band.h"
#include "sos.h"
#include "svf-design.h"
#include "transform.h"

/* Prototypes that are remembered; when there are more, the last one goes. */
#define N_REMEMBERED 8

struct TfxDesigner
{
  size_t n;
  struct Remembered
  {
    TfxDesign design; /* frequencies aside */
    TfxPrototype prototype;
    TfxResonances resonances;
  } remembered[N_REMEMBERED];
};

/* NULL, or what is wrong with a field. */
static const char *
find_fault (const TfxDesign *d, double rate_hz)
{
  const char *fault;

  if (!(rate_hz > 0.0) || !isfinite (rate_hz))
    return "rate_hz: must be finite and above 0";
  if ((unsigned)d->family > TFX_FAMILY_BESSEL)
    return "family: not one of the known families";
  if ((unsigned)d->mode > TFX_MODE_BAND_REJECT)
    return "mode: not one of the known modes";
  if (d->order < 1 || d->order > TFX_DESIGN_MAX_ORDER)
    return "order: must be from 1 to 64";
  fault = tfx_band_find_fault (d->mode, d->lower_hz, d->upper_hz, rate_hz);
  if (fault)
    return fault;
  if ((d->family == TFX_FAMILY_CHEBYSHEV1 ||
          d->family == TFX_FAMILY_ELLIPTIC) &&
      !(d->ripple_db > 0.0 && isfinite (d->ripple_db)))
    return "ripple_db: must be finite and above 0";
  if ((d->family == TFX_FAMILY_CHEBYSHEV2 ||
          d->family == TFX_FAMILY_ELLIPTIC) &&
      !(d->attenuation_db > 0.0 && isfinite (d->attenuation_db)))
    return "attenuation_db: must be finite and above 0";
  if (d->family == TFX_FAMILY_ELLIPTIC && !(d->attenuation_db > d->ripple_db))
    return "attenuation_db: must be above ripple_db";
  if (d->family == TFX_FAMILY_BESSEL && (unsigned)d->norm > TFX_NORM_MAGNITUDE)
    return "norm: not one of the known norms";
  return NULL;
}

static const char not_representable[] =
    "frequencies: too near 0, half the rate or each other, or ripple or "
    "attenuation: too small or too large, for stable sections in double "
    "precision";
static const char too_steep[] =
    "order: too high, for this ripple and attenuation or these frequencies, "
    "for stable sections in double precision";

/* The sections of a design without faults; returns how many. */
static int
make_sections (const TfxPrototype *proto, const TfxDesign *design,
    double rate_hz, TfxSos *sos)
{
  TfxBand band;
  TfxAnalog analog[2];
  int n = 0;

  tfx_transform_band (design, rate_hz, &band);
  for (unsigned i = 0; i < proto->n_factors; i++) {
    unsigned n_parts = tfx_transform_factor (&proto->factors[i], &band, analog);
    for (unsigned k = 0; k < n_parts; k++) {
      if (!tfx_transform_sos (&analog[k], &band, &sos[n]) ||
          !tfx_sos_is_stable (&sos[n]))
        return -EINVAL;
      n++;
    }
  }
  tfx_sos_scale (&sos[0], proto->dc_gain);
  return n;
}

int
tfx_design_check (const TfxDesign *design, double rate_hz, const char **why)
{
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  const char *fault = find_fault (design, rate_hz);

  if (!fault && tfx_design_sections (design, rate_hz, sos) < 0)
    fault =
        design->family == TFX_FAMILY_ELLIPTIC ? too_steep : not_representable;
  if (why)
    *why = fault;
  return fault ? -EINVAL : 0;
}

int
tfx_design_sections (const TfxDesign *design, double rate_hz, TfxSos *sos)
{
  return tfx_designer_sections (NULL, design, rate_hz, sos);
}

/* ---- again and again ------------------------------------------------------ */

TfxDesigner *
tfx_designer_new (void)
{
  return calloc (1, sizeof (TfxDesigner));
}

void
tfx_designer_free (TfxDesigner **designer)
{
  free (*designer);
  *designer = NULL;
}

static const struct Remembered *
find_remembered (TfxDesigner *d, const TfxDesign *design)
{
  size_t at = 0;

  for (; at < d->n; at++) {
    const TfxDesign *known = &d->remembered[at].design;

    if (known->family == design->family && known->order == design->order &&
        known->ripple_db == design->ripple_db &&
        known->attenuation_db == design->attenuation_db &&
        known->norm == design->norm)
      break;
  }
  if (at == d->n) {
    d->n += d->n < N_REMEMBERED;
    at = d->n - 1;
    d->remembered[at].design = *design;
    tfx_prototype_init (&d->remembered[at].prototype, design);
    tfx_svf_design_init (&d->remembered[at].resonances,
        &d->remembered[at].prototype);
  }
  return &d->remembered[at];
}

int
tfx_designer_sections (TfxDesigner *d, const TfxDesign *design, double rate_hz,
    TfxSos *sos)
{
  TfxPrototype own;

  if (find_fault (design, rate_hz))
    return -EINVAL;
  if (d)
    return make_sections (&find_remembered (d, design)->prototype, design,
        rate_hz, sos);
  tfx_prototype_init (&own, design);
  return make_sections (&own, design, rate_hz, sos);
}

int
tfx_designer_shapes (TfxDesigner *d, const TfxDesign *design, double rate_hz,
    TfxSos *sos, TfxSvf *shapes)
{
  const struct Remembered *r;
  int n;

  if (!d || find_fault (design, rate_hz))
    return 0;
  r = find_remembered (d, design);
  n = tfx_svf_design_sections (&r->prototype, &r->resonances, design, rate_hz,
      shapes);
  for (int k = 0; k < n; k++) {
    sos[k] = tfx_svf_to_sos (&shapes[k],
        tfx_svf_design_is_first_order (&r->prototype, design, (unsigned)k));
    if (!tfx_sos_is_stable (&sos[k]))
      return 0;
  }
  return n;
}

int
tfx_design_zpk (const TfxDesign *design, double rate_hz, TfxZpk *zpk)
{
  TfxPrototype proto;
  TfxBand band;
  TfxAnalog analog[2];

  if (find_fault (design, rate_hz))
    return -EINVAL;
  tfx_prototype_init (&proto, design);
  tfx_transform_band (design, rate_hz, &band);
  zpk->n_zeros = zpk->n_poles = 0;
  zpk->gain = proto.dc_gain;
  for (unsigned i = 0; i < proto.n_factors; i++) {
    unsigned n_parts = tfx_transform_factor (&proto.factors[i], &band, analog);
    for (unsigned k = 0; k < n_parts; k++)
      tfx_transform_zpk (&analog[k], &band, zpk);
  }
  return 0;
}
