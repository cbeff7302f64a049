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

/* Whether the shape frames is as exact as floats are: poles are not too near to the unit circle. */
bool tfx_cascade_form_can_have_frames (const TfxSos *sos, size_t n_sos);

/* What the shape frames looks like: a group of n_frames frames of n_channels
 * channels. */
typedef struct TfxFramesShape
{
  unsigned n_channels, n_frames;
  unsigned n_outputs, n_states; /* numbers in a column */
} TfxFramesShape;

TfxFramesShape tfx_cascade_form_frames_shape (const TfxKernels *kernels,
    unsigned n_channels, size_t n_sos);

/* The doubles of its coefficients. */
size_t tfx_cascade_form_frames_size (const TfxFramesShape *shape, size_t n_sos);

/* The coefficients of all sections as TfxFramesKernel has them. */
void tfx_cascade_form_frames (const TfxFramesShape *shape, const TfxSos *sos,
    size_t n_sos, double *coef);

/* The state of a section, s, last s, last x in the kernels, and s1, s2. */
void tfx_cascade_form_export (const TfxCascadeSection *section,
    const double kernel[TFX_STATE], double s[2]);
void tfx_cascade_form_import (const TfxCascadeSection *section,
    const double s[2], double kernel[TFX_STATE]);

#endif
