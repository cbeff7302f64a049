/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade-forms.h: sections in the forms that the kernels of kernels.h take,
 * and their state there and back (cascade-forms.c, cascade-parallel.c). */
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

/* The parallel form: a sum of sections that all have the cascade's input.
 * Part c1 u' + c2 u'' of the output, where u = x - a1 u' - a2 u''. */
typedef struct TfxParallelPart
{
  double c1, c2;
} TfxParallelPart;

/* The parts of n_sos sections, and the factor of the input itself.  False if
 * they would not be exact enough. */
bool tfx_cascade_parallel_set (const TfxSos *sos, size_t n_sos,
    TfxParallelPart *parts, double *direct);

/* u[n_sos][2], u' and u'' of each part, to the cascade's s1 and s2 of each
 * section, s[n_sos][2], which may be u; and back. */
void tfx_cascade_parallel_export (const TfxSos *sos, size_t n_sos,
    const double (*u)[2], double (*s)[2]);
void tfx_cascade_parallel_import (const TfxSos *sos, size_t n_sos,
    const double (*s)[2], double (*u)[2]);

#endif
