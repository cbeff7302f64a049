/* SPDX-License-Identifier: LGPL-2.1-or-later
 * svf-design.c: designs as state-variable filters, for frequencies that move.
 *
 * The transforms of transform.c, and their names, without the way over z: a factor
 * of the prototype with a resonance at p0 is, at W = tan (pi fc / rate), a section
 * with g = W p0 (low-pass) or W / p0 (high-pass) whose quality is the factor's own.
 * So if a cutoff alone moves, one tangent and a product for each section do. */
#include "svf-design.h"

#include <complex.h>
#include <math.h>

#include "band.h"

/* Frequencies nearer than that are left to long doubles. */
#define LEAST_WIDTH 1e-5

void
tfx_svf_design_init (TfxResonances *r, const TfxPrototype *proto)
{
  r->n = proto->n_factors;
  for (unsigned i = 0; i < r->n; i++) {
    const TfxFactor *f = &proto->factors[i];
    const double p0 = hypot (f->re, f->im);

    r->of[i].p0 = p0;
    r->of[i].k = f->im == 0.0 ? 2.0 : -2.0 * f->re / p0;
    r->of[i].far = isfinite (f->zero) ? (p0 / f->zero) * (p0 / f->zero) : 0.0;
  }
}

bool
tfx_svf_design_is_first_order (const TfxPrototype *proto,
    const TfxDesign *design, unsigned k)
{
  return !tfx_band_has_two (design->mode) && proto->factors[k].im == 0.0;
}

/* A real pole is half of a section with a double pole: numerator and denominator
 * share the other half. */
static TfxSvf
scale_factor (const struct TfxResonance *r, double w, bool is_low, bool is_one)
{
  TfxSvf s = { is_low ? w * r->p0 : w / r->p0, r->k, 1.0, 0.0, r->far };

  if (is_one)
    s.band = 1.0;
  if (!is_low) {
    s.low = r->far;
    s.high = 1.0;
  }
  return s;
}

typedef struct Band
{
  double half, centre;
  bool passes;
} Band;

/* With poles of this magnitude, and zeros at +- j omega or (omega == 0) none of
 * its own: 1 at DC, or at the centre of a band that passes. */
static TfxSvf
band_shape (const Band *b, double g, double k, double omega)
{
  const double c = b->centre / g, o = omega / g;
  TfxSvf s = { g, k, 1.0, 0.0, 1.0 };

  if (!b->passes) {
    s.high = 1.0 / (o * o);
  } else if (omega == 0.0) {
    s.low = s.high = 0.0;
    s.band = hypot (1.0 / c - c, k);
  } else {
    s.high = hypot ((1.0 - c) * (1.0 + c), k * c) / fabs ((o - c) * (o + c));
    s.low = s.high * o * o;
  }
  return s;
}

/* As split_factor() in transform.c. */
static unsigned
split_factor (const TfxFactor *f, const Band *b, TfxSvf *out)
{
  const double w02 = b->centre * b->centre;
  const double complex p = f->re + I * f->im;
  const double complex h = b->passes ? b->half * p : b->half / p;
  const unsigned up = isfinite (f->zero) ? 0 : 1;
  double omega[2] = { b->passes ? 0.0 : b->centre,
    b->passes ? 0.0 : b->centre };
  double complex root, upper;
  double g;

  if (f->im == 0.0) {
    out[0] = band_shape (b, b->centre, -2.0 * creal (h) / b->centre, omega[0]);
    return 1;
  }
  root = csqrt (h * h - w02);
  if (creal (conj (h) * root) < 0.0)
    root = -root;
  upper = h + root;
  g = hypot (creal (upper), cimag (upper));
  if (isfinite (f->zero)) {
    const double u = b->passes ? b->half * f->zero : b->half / f->zero;

    omega[up] = u + sqrt (u * u + w02);
    omega[!up] = w02 / omega[up];
  }
  /* Both have the quality of the upper one: the lower is its mirror image. */
  out[up] = band_shape (b, g, -2.0 * creal (upper) / g, omega[up]);
  out[!up] = band_shape (b, w02 / g, -2.0 * creal (upper) / g, omega[!up]);
  return 2;
}

/* False if doubles do not do. */
static bool
find_band (const TfxDesign *design, double rate_hz, Band *b)
{
  const double lower = M_PI * design->lower_hz / rate_hz;
  const double upper = M_PI * design->upper_hz / rate_hz;

  b->passes = design->mode == TFX_MODE_BAND_PASS;
  b->half = 0.5 * sin (upper - lower) / (cos (upper) * cos (lower));
  b->centre = sqrt (tan (lower) * tan (upper));
  return b->half > LEAST_WIDTH * b->centre && b->centre > LEAST_WIDTH &&
         b->centre < 1.0 / LEAST_WIDTH && b->half < 1.0 / LEAST_WIDTH;
}

int
tfx_svf_design_sections (const TfxPrototype *proto, const TfxResonances *r,
    const TfxDesign *design, double rate_hz, TfxSvf *shapes)
{
  const bool is_low = design->mode == TFX_MODE_LOW_PASS;
  int n = 0;

  if (tfx_band_has_two (design->mode)) {
    Band band;

    if (!find_band (design, rate_hz, &band))
      return 0;
    for (unsigned i = 0; i < r->n; i++)
      n += (int)split_factor (&proto->factors[i], &band, shapes + n);
  } else {
    const double w = tan (M_PI * design->lower_hz / rate_hz);

    if (!(w > LEAST_WIDTH && w < 1.0 / LEAST_WIDTH))
      return 0;
    for (; n < (int)r->n; n++)
      shapes[n] =
          scale_factor (&r->of[n], w, is_low, proto->factors[n].im == 0.0);
  }
  shapes[0].low *= proto->dc_gain;
  shapes[0].band *= proto->dc_gain;
  shapes[0].high *= proto->dc_gain;
  return n;
}
