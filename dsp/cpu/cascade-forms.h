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
  /* s1 = scale[0] u, s2 = scale[1] t of each section (factored);
   * s2 = scale[1] (q - s1) (grouped). */
  double (*scale)[2];
} TfxCascadeForm;

/* 0 or -ENOMEM. */
int tfx_cascade_form_init (TfxCascadeForm *form, TfxForm kind, unsigned width,
    unsigned lanes, size_t n_sos);
void tfx_cascade_form_clear (TfxCascadeForm *form);

/* Computes the coefficients; sos[n_sos]. */
void tfx_cascade_form_set (TfxCascadeForm *form, const TfxSos *sos);

/* The state of one section and lane: kernel[2] there, s[2] as in tfx.h. */
void tfx_cascade_form_export (const TfxCascadeForm *form, size_t section,
    const double kernel[2], double s[2]);
void tfx_cascade_form_import (const TfxCascadeForm *form, size_t section,
    const double s[2], double kernel[2]);

/* Memory for n doubles, zero, aligned to 64 bytes; NULL when short. */
double *tfx_cascade_alloc (size_t n);

#endif
