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
 * Grouped.  From the state (s1, s2) before a group of G frames, E[j] = s1
 * after frame j is linear in the group's input and in the state:
 *
 *   E = H x + P s1 + Q q,   y[j] = b0 x[j] + E[j - 1],   E[-1] = s1
 *   (s1, q)' = A^G (s1, q) + what the group's input adds
 *
 * with q = s1 + sign s2 in place of s2: sign = 1 for poles on the right, where
 * s1 and s2 are large and nearly cancel, -1 for poles on the left.  In (s1, q)
 * one step without input is A = ((-a1 - sign, sign), (-sign D, sign)),
 * D = 1 + sign a1 + a2, and no power of A cancels.  What the input adds to s1
 * is E[G-1] from rest; to s2 it adds c2 x[G-1] - a2 E[G-2]. */
#include "cascade-forms.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* So far below 1 that it changes no double, so far above 0 that its inverse
 * is harmless. */
#define TINY 1e-20

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
  size_t n_passes;

  memset (form, 0, sizeof *form);
  form->form = kind;
  form->width = width;
  form->lanes = lanes;
  form->n_sos = n_sos;
  if (kind == TFX_FORM_GROUPED) {
    form->pass_sections = 1;
    form->pass_size = (size_t)(width / lanes + 9) * width;
    n_passes = n_sos;
  } else {
    /* As few passes as can be, as even as can be: 6 = 3 + 3. */
    size_t most = kind == TFX_FORM_DIRECT ? TFX_PASS_MAX_SECTIONS
                                          : TFX_FACTORED_MAX_SECTIONS;

    n_passes = (n_sos + most - 1) / most;
    form->pass_sections = n_passes ? (n_sos + n_passes - 1) / n_passes : 1;
    form->pass_size = kind == TFX_FORM_DIRECT
                          ? TFX_DIRECT_SIZE * form->pass_sections
                          : 1 + 4 * form->pass_sections;
  }
  form->n_state = kind == TFX_FORM_FACTORED ? 3 : 2;
  form->coef = tfx_cascade_alloc (n_passes * form->pass_size);
  form->scale = calloc (n_sos + 1, sizeof *form->scale);
  if (!form->coef || !form->scale) {
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
    double b0 = divisor (s);
    double c1 = away_from_zero (s->b1 / b0 - s->a1);
    double c2 = away_from_zero (s->b2 / b0 - s->a2);
    double *c = coef + 1 + 4 * k;

    c[0] = c1;
    c[1] = -s->a1;
    c[2] = -s->a2;
    c[3] = c2 / c1;
    form->scale[first + k][0] = c1 / tail;
    form->scale[first + k][1] = c2 / tail;
    form->scale[first + k][2] = s->a2 * c1 / tail;
    tail *= b0;
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

static void
fill (double *lanes, unsigned width, long double value)
{
  for (unsigned i = 0; i < width; i++)
    lanes[i] = (double)value;
}

static void
set_grouped (TfxCascadeForm *form, const TfxSos *s, size_t section)
{
  const unsigned W = form->width, L = form->lanes, G = W / L;
  double *coef = form->coef + section * form->pass_size;
  double *rest = coef + G * W;
  const long double a1 = s->a1, a2 = s->a2;
  const long double c1 = s->b1 - a1 * s->b0, c2 = s->b2 - a2 * s->b0;
  const long double sign = a1 <= 0.0L ? 1.0L : -1.0L;
  const Matrix A = { -a1 - sign, sign, -sign * (1.0L + sign * a1 + a2), sign };
  Matrix power = A;
  long double s1 = c1, s2 = c2;

  for (unsigned j = 0; j < G; j++) {
    for (unsigned i = 0; i + j < G; i++)
      fill (coef + i * W + (i + j) * L, L, s1); /* H[i][i + j] */
    fill (rest + j * L, L, power.a);            /* P */
    fill (rest + W + j * L, L, power.b);        /* Q */
    if (j + 1 < G)
      power = multiply (A, power);

    long double next = s2 - a1 * s1;
    s2 = -a2 * s1;
    s1 = next;
  }
  fill (rest + 2 * W, W, s->b0);
  fill (rest + 3 * W, W, power.a);
  fill (rest + 4 * W, W, power.b);
  fill (rest + 5 * W, W, power.c);
  fill (rest + 6 * W, W, power.d);
  fill (rest + 7 * W, W, sign * c2);
  fill (rest + 8 * W, W, -sign * a2);
  form->scale[section][0] = 1.0;
  form->scale[section][1] = (double)sign;
}

void
tfx_cascade_form_set (TfxCascadeForm *form, const TfxSos *sos)
{
  for (size_t k = 0; k < form->n_sos; k += form->pass_sections) {
    size_t n = form->n_sos - k;

    if (n > form->pass_sections)
      n = form->pass_sections;
    switch (form->form) {
      case TFX_FORM_DIRECT:
        set_direct_pass (form, sos, k, n);
        break;
      case TFX_FORM_FACTORED:
        set_factored_pass (form, sos, k, n);
        break;
      case TFX_FORM_GROUPED:
        set_grouped (form, sos + k, k);
        break;
    }
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
    case TFX_FORM_GROUPED:
      s[0] = kernel[0];
      s[1] = scale[1] * (kernel[1] - kernel[0]);
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
    case TFX_FORM_GROUPED:
      kernel[0] = s[0];
      kernel[1] = s[0] + scale[1] * s[1];
      break;
  }
}
