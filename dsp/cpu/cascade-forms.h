/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade-forms.h: sections in the forms that the kernels of kernels.h take,
 * and their state there and back. */
#ifndef TFX_CASCADE_FORMS_H
#define TFX_CASCADE_FORMS_H

#include "kernels.h"

/* A section in the form textbook, direct or factored. */
typedef struct TfxCascadeSection
{
  double k[TFX_SECTION_COEF]; /* as TfxCascadeKernel has them */
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

/* TFX_LAYOUT_FRAMES: the doubles of the coefficients of all sections, and these. */
size_t tfx_cascade_form_frames_size (const TfxShape *shape, size_t n_sos);
void tfx_cascade_form_frames (const TfxShape *shape, const TfxSos *sos,
    size_t n_sos, double *coef);

/* Numbers of state, whole vectors. */
unsigned tfx_cascade_form_frames_states (const TfxShape *shape, size_t n_sos);

/* The state of a section, s, last s, last x in the kernels, and s1, s2. */
void tfx_cascade_form_export (const TfxCascadeSection *section,
    const double kernel[TFX_STATE], double s[2]);
void tfx_cascade_form_import (const TfxCascadeSection *section,
    const double s[2], double kernel[TFX_STATE]);

#endif
