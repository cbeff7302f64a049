/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade-forms.c: the algebra behind the kernels' coefficients.
 *
 * Direct.  Transposed direct form II without its output fed back is
 *
 *   y = b0 x + s1;  s1' = c1 x - a1 s1 + s2;  s2' = c2 x - a2 s1,
 *   c1 = b1 - a1 b0, c2 = b2 - a2 b0.
 *
 * With s2 put in its place the recursion from s1 to s1 is one multiply-add
 * deep:
 *
 *   s1' = c1 x + c2 (last x) - a2 (last s1) - a1 s1
 *
 * Factored.  With b0 taken out of the section and s1 = c1 s this costs one
 * multiply-add for y and three for s':
 *
 *   y = x + c1 s;  s' = x + (c2 / c1) (last x) - a2 (last s) - a1 s
 *
 * The poles are those of a1 and a2 as they are; rounding moves the zeros alone.
 * The factors b0 are applied to the input at once.
 *
 * Frames.  Each of the factors that frames_tmpl.c multiplies has the squares of
 * the poles of the one before.  One step of the state (s, last s) without input
 * is A = ((-a1, -a2), (1, 0)); what it adds to s j frames later is the first row
 * of A^j, and the group's end is A^(W / C). */
#include "cascade-forms.h"

#include <math.h>

/* A factor b0, or c1, so far below the other coefficients is no divisor. */
#define TINY 1e-12
/* The product of factors b0 stays within 1 / FAR to FAR. */
#define FAR 1e100

/* (b1 / b0 - a1) and (b2 / b0 - a2): each in one rounding, because the
 * differences are often small. */
static void
divide (const TfxSos *s, double c[2])
{
  c[0] = (double)((long double)s->b1 / s->b0 - s->a1);
  c[1] = (double)((long double)s->b2 / s->b0 - s->a2);
}

bool
tfx_cascade_form_can_factor (const TfxSos *sos, size_t n_sos)
{
  double tail = 1.0;

  for (size_t i = n_sos; i-- > 0;) {
    const TfxSos *s = &sos[i];
    double c[2];

    if (!(fabs (s->b0) > TINY * fmax (fabs (s->b1), fabs (s->b2))))
      return false;
    divide (s, c);
    tail *= s->b0;
    if (!(fabs (c[0]) > TINY * fmax (1.0, fabs (c[1]))) ||
        !(fabs (tail) > 1.0 / FAR && fabs (tail) < FAR))
      return false;
  }
  return true;
}

/* b0, b1 - a1 b0, b2 - a2 b0, each in one rounding. */
static void
set_direct (TfxCascadeSection *section, const TfxSos *s)
{
  const double c2 = fma (-s->a2, s->b0, s->b2);

  *section = (TfxCascadeSection){
    { s->b0, fma (-s->a1, s->b0, s->b1), c2, s->a1, s->a2 },
    { 1.0, c2, s->a2 },
  };
}

/* tail is the product of the factors b0 behind it. */
static void
set_factored (TfxCascadeSection *section, const TfxSos *s, double tail)
{
  double c[2];

  divide (s, c);
  *section = (TfxCascadeSection){
    { c[0], 0.0, c[1] / c[0], s->a1, s->a2 },
    { c[0] / tail, c[1] / tail, s->a2 * c[0] / tail },
  };
}

double
tfx_cascade_form_sections (TfxForm form, const TfxSos *sos, size_t n_sos,
    TfxCascadeSection *sections)
{
  double tail = 1.0;

  for (size_t i = n_sos; i-- > 0;) {
    const TfxSos *s = &sos[i];

    switch (form) {
      case TFX_FORM_TEXTBOOK:
        sections[i] =
            (TfxCascadeSection){ { s->b0, s->b1, s->b2, s->a1, s->a2 },
              { 1.0, 1.0, 0.0 } };
        break;
      case TFX_FORM_DIRECT:
        set_direct (&sections[i], s);
        break;
      case TFX_FORM_FACTORED:
        set_factored (&sections[i], s, tail);
        tail *= s->b0;
        break;
    }
  }
  return tail;
}

typedef struct Matrix
{
  long double a, b, c, d;
} Matrix;

static Matrix
multiply (Matrix m, Matrix n)
{
  return (Matrix){ m.a * n.a + m.b * n.c, m.a * n.b + m.b * n.d,
    m.c * n.a + m.d * n.c, m.c * n.b + m.d * n.d };
}

void
tfx_cascade_form_frames (const TfxCascadeSection *section, unsigned width,
    unsigned n_channels, double *coef)
{
  const double *k = section->k;
  const Matrix A = { -k[3], -k[4], 1, 0 };
  const long double a1 = k[3], a2 = k[4], b1 = 2 * a2 - a1 * a1, b2 = a2 * a2;
  const long double c1 = 2 * b2 - b1 * b1;
  const double same[] = { k[0], k[2], -k[3], k[4], (double)-b1, (double)b2,
    (double)-c1 };
  const unsigned n_same = sizeof same / sizeof *same;
  Matrix step = { 1, 0, 0, 1 };

  for (unsigned lane = 0; lane < width; lane++) {
    if (lane % n_channels == 0)
      step = multiply (A, step);
    for (unsigned i = 0; i < n_same; i++)
      coef[i * width + lane] = same[i];
    coef[n_same * width + lane] = (double)step.a;
    coef[(n_same + 1) * width + lane] = (double)step.b;
  }
}

void
tfx_cascade_form_export (const TfxCascadeSection *section,
    const double kernel[TFX_STATE], double s[2])
{
  const double *scale = section->scale;

  s[0] = scale[0] * kernel[0];
  s[1] = scale[1] * kernel[2] - scale[2] * kernel[1];
}

void
tfx_cascade_form_import (const TfxCascadeSection *section, const double s[2],
    double kernel[TFX_STATE])
{
  const double *scale = section->scale;
  const bool is_x = fabs (scale[1]) >= fabs (scale[2]);

  /* Any last x and last s that make up s2 will do.  If there are none, the
   * section has no use for it. */
  kernel[0] = s[0] / scale[0];
  kernel[1] = is_x ? 0.0 : -s[1] / scale[2];
  kernel[2] = is_x && scale[1] != 0.0 ? s[1] / scale[1] : 0.0;
}
