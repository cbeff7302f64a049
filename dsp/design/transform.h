/* SPDX-License-Identifier: LGPL-2.1-or-later
 * transform.h: from a prototype's factors to digital sections. */
#ifndef TFX_TRANSFORM_H
#define TFX_TRANSFORM_H

#include "prototype.h"

/* The numerator of a section in the s plane, with s scaled so that the
 * bilinear transform is z = (1 + s) / (1 - s). */
typedef enum
{
  TFX_ZEROS_AT_ORIGIN,   /* z = 1, one for each pole */
  TFX_ZEROS_AT_INFINITY, /* z = -1, likewise */
  TFX_ZEROS_AT_BOTH,     /* one of each; two poles */
  TFX_ZEROS_AT_OMEGA     /* +- j omega; two poles */
} TfxZeros;

/* A section with its poles as the roots of s^2 - sum s + product, or, with
 * n_poles = 1, at s = sum. */
typedef struct TfxAnalog
{
  unsigned n_poles;
  long double sum, product;
  TfxZeros zeros;
  long double omega;
} TfxAnalog;

/* The band edges of design, prewarped: tan (pi f / rate). */
typedef struct TfxBand
{
  TfxMode mode;
  long double width;  /* low- and high-pass: the cutoff */
  long double centre; /* band modes: the geometric mean of the edges */
} TfxBand;

void
tfx_transform_band (const TfxDesign *design, double rate_hz, TfxBand *band);

/* The sections (one or two) that a factor becomes in band; returns how
 * many. */
unsigned tfx_transform_factor (const TfxFactor *factor, const TfxBand *band,
    TfxAnalog section[2]);

/* Stores the section in z, its coefficients rounded to double so that the pole
 * frequency suffers least, with unit gain at the band's reference frequency
 * (DC; half the rate for a high-pass; the centre of a band-pass).  False if
 * doubles cannot hold it. */
bool
tfx_transform_sos (const TfxAnalog *section, const TfxBand *band, TfxSos *sos);

/* Adds the section's zeros and poles to zpk and multiplies its gain. */
void
tfx_transform_zpk (const TfxAnalog *section, const TfxBand *band, TfxZpk *zpk);

#endif
