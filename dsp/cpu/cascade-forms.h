/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade-forms.h: sections in the forms that the kernels of kernels.h take,
 * and their state there and back. */
#ifndef TFX_CASCADE_FORMS_H
#define TFX_CASCADE_FORMS_H

#include "kernels.h"

/* A cascade made ready for one form. */
typedef struct TfxCascadeForm
{
  TfxForm form;
  unsigned width, lanes; /* W, L */
  size_t n_sos;
  size_t pass_sections; /* sections of a full pass */
  size_t pass_size;     /* doubles of coefficients of a full pass */
  double *coef;         /* 64-byte aligned */
  unsigned n_state;     /* numbers of state of a section and lane, 2 or 3 */
  /* Segments: the factor before each section; 1 where a factor further ahead
   * has it already. */
  double *gain;
  /* Factored and segments: s1 = scale[0] u, s2 = scale[1] (last x) - scale[2]
   * (last u) of each section. */
  double (*scale)[3];
} TfxCascadeForm;

/* 0 or -ENOMEM. */
int tfx_cascade_form_init (TfxCascadeForm *form, TfxForm kind, unsigned width,
    unsigned lanes, size_t n_sos);
void tfx_cascade_form_clear (TfxCascadeForm *form);

/* Computes the coefficients; sos[n_sos]. */
void tfx_cascade_form_set (TfxCascadeForm *form, const TfxSos *sos);

/* The state of one section and lane: kernel[n_state] there, s[2] as in
 * tfx.h. */
#define TFX_CASCADE_MAX_STATE 3
void tfx_cascade_form_export (const TfxCascadeForm *form, size_t section,
    const double *kernel, double s[2]);
void tfx_cascade_form_import (const TfxCascadeForm *form, size_t section,
    const double s[2], double *kernel);

/* Memory for n doubles, zero, aligned to 64 bytes; NULL when short. */
double *tfx_cascade_alloc (size_t n);

#endif
