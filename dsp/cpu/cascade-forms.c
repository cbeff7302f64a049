/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade-forms.c: the algebra behind the kernels' coefficients.
 *
 * Factored.  Transposed direct form II without its output fed back is
 *
 *   y = b0 x + s1;  s1' = c1 x - a1 s1 + s2;  s2' = c2 x - a2 s1,
 *   c1 = b1 - a1 b0, c2 = b2 - a2 b0.
 *
 * With b0 taken out of the section and s1 = c1 u, the state s2 put in its
 * place, this costs one multiply-add for y and three for u':
 *
 *   y = x + c1 u;  u' = x + (c2 / c1) x_last - a2 u_last - a1 u
 *
 * The poles are those of a1 and a2 as they are; rounding moves the zeros alone.
 * The factors b0 of a pass are applied to its input at once.
 *
 * Segments.  The same, over W / L segments of the stream at once, each from
 * rest.  What a state adds to the outputs after it is linear in the state: at
 * frame j, c1 times the first row of A^j.  The state is written as (u, d),
 * d = u - sign u_last: sign = 1 for poles on the right, where u and u_last are
 * large and nearly equal, -1 for poles on the left.  One step without input is
 *
 *   A = ((-a1 - sign a2, sign a2), (-sign D, sign a2)),  D = 1 + sign a1 + a2
 *
 * and no power of A cancels.  The states before the segments follow from those
 * at the end of each by a scan with A^8, A^16 and A^32. */
#include "cascade-forms.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* So far below 1 that it changes no double, so far above 0 that its inverse
 * is harmless. */
#define TINY 1e-20
/* A product of factors b0 from here on is applied before more follow. */
#define FAR 1e60

double *
tfx_cascade_alloc (size_t n)
{
  size_t size = (n * sizeof (double) + 63) / 64 * 64;
  double *p = aligned_alloc (64, size ? size : 64);

  if (p)
    memset (p, 0, size);
  return p;
}

int
tfx_cascade_form_init (TfxCascadeForm *form, TfxForm kind, unsigned width,
    unsigned lanes, size_t n_sos)
{
  size_t n_passes, most;

  memset (form, 0, sizeof *form);
  form->form = kind;
  form->width = width;
  form->lanes = lanes;
  form->n_sos = n_sos;
  /* As few passes as can be, as even as can be: 6 = 3 + 3. */
  most = kind == TFX_FORM_DIRECT     ? TFX_PASS_MAX_SECTIONS
         : kind == TFX_FORM_FACTORED ? TFX_FACTORED_MAX_SECTIONS
                                     : 1;
  n_passes = (n_sos + most - 1) / most;
  form->pass_sections = n_passes ? (n_sos + n_passes - 1) / n_passes : 1;
  form->n_state = kind == TFX_FORM_DIRECT ? 2 : 3;
  switch (kind) {
    case TFX_FORM_DIRECT:
      form->pass_size = TFX_DIRECT_SIZE * form->pass_sections;
      break;
    case TFX_FORM_FACTORED:
      form->pass_size = 1 + 4 * form->pass_sections;
      break;
    case TFX_FORM_SEGMENTS:
      form->pass_size = TFX_SEGMENT_COEF_SIZE + 4 * width;
      break;
  }
  form->coef = tfx_cascade_alloc (n_passes * form->pass_size);
  form->scale = calloc (n_sos + 1, sizeof *form->scale);
  form->gain = calloc (n_sos + 1, sizeof *form->gain);
  if (!form->coef || !form->scale || !form->gain) {
    tfx_cascade_form_clear (form);
    return -ENOMEM;
  }
  return 0;
}

void
tfx_cascade_form_clear (TfxCascadeForm *form)
{
  free (form->coef);
  free (form->scale);
  free (form->gain);
  memset (form, 0, sizeof *form);
}

/* b0, or what may stand for it: something so small that the float32 output
 * does not show it. */
static double
divisor (const TfxSos *s)
{
  double largest = fmax (fabs (s->b0), fmax (fabs (s->b1), fabs (s->b2)));

  if (largest == 0.0)
    return 1e-70;
  return fabs (s->b0) < TINY * largest ? TINY * largest : s->b0;
}

static double
away_from_zero (double x)
{
  return fabs (x) < TINY ? copysign (TINY, x) : x;
}

/* b0, (b1 / b0 - a1) and (b2 / b0 - a2): each in one rounding, because the
 * differences are often small. */
typedef struct Factors
{
  double b0, c1, c2;
} Factors;

static Factors
factor (const TfxSos *s)
{
  const double b0 = divisor (s);

  return (Factors){ b0,
    away_from_zero ((double)((long double)s->b1 / b0 - s->a1)),
    away_from_zero ((double)((long double)s->b2 / b0 - s->a2)) };
}

static void
set_scale (TfxCascadeForm *form, size_t k, const Factors *f, double a2,
    double tail)
{
  form->scale[k][0] = f->c1 / tail;
  form->scale[k][1] = f->c2 / tail;
  form->scale[k][2] = a2 * f->c1 / tail;
}

/* a - b c in one rounding: c1 and c2 are often small differences. */
static double
minus_product (double a, double b, double c)
{
  return fma (-b, c, a);
}

static void
set_direct_pass (TfxCascadeForm *form, const TfxSos *sos, size_t first,
    size_t n)
{
  for (size_t k = first; k < first + n; k++) {
    const TfxSos *s = &sos[k];
    double *c = form->coef + TFX_DIRECT_SIZE * k;

    c[0] = s->b0;
    c[1] = s->b1;
    c[2] = s->b2;
    c[3] = s->a1;
    c[4] = s->a2;
    c[5] = minus_product (s->b1, s->a1, s->b0);
    c[6] = minus_product (s->b2, s->a2, s->b0);
  }
}

static void
set_factored_pass (TfxCascadeForm *form, const TfxSos *sos, size_t first,
    size_t n)
{
  double *coef = form->coef + first / form->pass_sections * form->pass_size;
  double tail = 1.0; /* the product of the b0 behind section k */

  for (size_t k = n; k-- > 0;) {
    const TfxSos *s = &sos[first + k];
    const Factors f = factor (s);
    double *c = coef + 1 + 4 * k;

    c[0] = f.c1;
    c[1] = -s->a1;
    c[2] = -s->a2;
    c[3] = f.c2 / f.c1;
    set_scale (form, first + k, &f, s->a2, tail);
    tail *= f.b0;
  }
  coef[0] = tail;
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

/* The numbers of m one by one, from first on, step doubles from one to the
 * next. */
static void
store_matrix (double *first, size_t step, Matrix m)
{
  first[0] = (double)m.a;
  first[step] = (double)m.b;
  first[2 * step] = (double)m.c;
  first[3 * step] = (double)m.d;
}

/* Everything that follows from the poles, and from c. */
static void
set_responses (const TfxCascadeForm *form, TfxSegmentCoef *c, double *lanes,
    const TfxSos *s)
{
  const unsigned n_segments = form->width / form->lanes;
  const long double a1 = s->a1, sign = c->sign, a2 = sign * s->a2;
  const Matrix identity = { 1, 0, 0, 1 };
  const Matrix A = { -a1 - a2, a2, -sign * (1 + sign * a1 + s->a2), a2 };
  Matrix step = identity, power;

  for (unsigned j = 0; j < TFX_SEGMENT_FRAMES; j++) {
    c->p[j] = (double)(c->c * step.a);
    c->q[j] = (double)(c->c * step.b);
    step = multiply (A, step);
  }
  power = step;
  for (unsigned i = 0; i < 3; i++) {
    store_matrix (c->power[i], 1, power);
    power = multiply (power, power);
  }
  power = identity;
  for (unsigned i = 0; i < n_segments; i++) {
    for (unsigned k = 0; k < form->lanes; k++)
      store_matrix (lanes + i * form->lanes + k, form->width, power);
    power = multiply (step, power);
  }
  store_matrix (c->group, 1, power);
}

static TfxSegmentCoef *
segment_coef (const TfxCascadeForm *form, size_t section)
{
  return (TfxSegmentCoef *)(form->coef + section * form->pass_size);
}

static void
set_segments (TfxCascadeForm *form, const TfxSos *sos)
{
  double tail = 1.0; /* the product of b0 from section k to the next gain */

  for (size_t k = form->n_sos; k-- > 0;) {
    TfxSegmentCoef *c = segment_coef (form, k);
    const Factors f = factor (&sos[k]);

    c->c = f.c1;
    c->r = f.c2 / f.c1;
    c->na1 = -sos[k].a1;
    c->na2 = -sos[k].a2;
    c->sign = sos[k].a1 <= 0.0 ? 1.0 : -1.0;
    set_responses (form, c, (double *)(c + 1), &sos[k]);
    set_scale (form, k, &f, sos[k].a2, tail);
    tail *= f.b0;
    form->gain[k] = 1.0;
    if (k == 0 || !(fabs (tail) > 1.0 / FAR && fabs (tail) < FAR)) {
      form->gain[k] = tail;
      tail = 1.0;
    }
  }
}

void
tfx_cascade_form_set (TfxCascadeForm *form, const TfxSos *sos)
{
  if (form->form == TFX_FORM_SEGMENTS) {
    set_segments (form, sos);
    return;
  }
  for (size_t k = 0; k < form->n_sos; k += form->pass_sections) {
    size_t n = form->n_sos - k;

    if (n > form->pass_sections)
      n = form->pass_sections;
    if (form->form == TFX_FORM_DIRECT)
      set_direct_pass (form, sos, k, n);
    else
      set_factored_pass (form, sos, k, n);
  }
}

void
tfx_cascade_form_export (const TfxCascadeForm *form, size_t section,
    const double *kernel, double s[2])
{
  const double *scale = form->scale[section];

  switch (form->form) {
    case TFX_FORM_DIRECT:
      s[0] = kernel[0];
      s[1] = kernel[1];
      break;
    case TFX_FORM_FACTORED:
      s[0] = scale[0] * kernel[0];
      s[1] = scale[1] * kernel[2] - scale[2] * kernel[1];
      break;
    case TFX_FORM_SEGMENTS:
      s[0] = scale[0] * kernel[0];
      s[1] = scale[1] * kernel[2] - scale[2] *
                                        segment_coef (form, section)->sign *
                                        (kernel[0] - kernel[1]);
      break;
  }
}

void
tfx_cascade_form_import (const TfxCascadeForm *form, size_t section,
    const double s[2], double *kernel)
{
  const double *scale = form->scale[section];

  switch (form->form) {
    case TFX_FORM_DIRECT:
      kernel[0] = s[0];
      kernel[1] = s[1];
      break;
    case TFX_FORM_FACTORED:
      /* Any last x and last u that make up s2 will do. */
      kernel[0] = s[0] / scale[0];
      kernel[1] = 0.0;
      kernel[2] = s[1] / scale[1];
      break;
    case TFX_FORM_SEGMENTS:
      kernel[0] = s[0] / scale[0];
      kernel[1] = kernel[0];
      kernel[2] = s[1] / scale[1];
      break;
  }
}
