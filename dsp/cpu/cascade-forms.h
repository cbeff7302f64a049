/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade-forms.h: sections in the forms that the kernels of kernels.h take,
 * and their state there and back. */
#ifndef TFX_CASCADE_FORMS_H
#define TFX_CASCADE_FORMS_H

#include "kernels.h"

/* A section in the form textbook, direct or factored. */
typedef struct TfxCascadeSection
{
  double k[TFX_WAVE_COEF]; /* as TfxWaveKernel has them */
  /* s1 = scale[0] s, s2 = scale[1] (last x) - scale[2] (last s). */
  double scale[3];
} TfxCascadeSection;

/* Whether the form factored is as exact as the direct one. */
bool tfx_cascade_form_can_factor (const TfxSos *sos, size_t n_sos);

/* Sections in the form textbook, direct or factored; returns the gain before
 * the first. */
double tfx_cascade_form_sections (TfxForm form, const TfxSos *sos, size_t n_sos,
    TfxCascadeSection *sections);

/* The most sections of the shape frames, and its vectors of coefficients. */
static inline size_t
tfx_cascade_form_max_frames_sections (unsigned width, unsigned n_channels)
{
  return width / (2 * n_channels);
}

static inline size_t
tfx_cascade_form_n_frames_vectors (unsigned width, unsigned n_channels,
    size_t n_sos)
{
  return 2 * (width / n_channels + 2 * n_sos);
}

/* The coefficients of all sections as TfxFramesKernel has them, for width /
 * n_channels frames side by side. */
void tfx_cascade_form_frames (const TfxSos *sos, size_t n_sos, unsigned width,
    unsigned n_channels, double *coef);

/* The state of a section, s, last s, last x in the kernels, and s1, s2. */
void tfx_cascade_form_export (const TfxCascadeSection *section,
    const double kernel[TFX_STATE], double s[2]);
void tfx_cascade_form_import (const TfxCascadeSection *section,
    const double s[2], double kernel[TFX_STATE]);

#endif
