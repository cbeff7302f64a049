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
 * Frames.  The outputs of a group of frames, and the state behind it, are linear
 * in its inputs and the state before it.  The columns of the matrices are the
 * responses to an impulse in each frame and in each number of the state. */
#include "cascade-forms.h"

#include <math.h>

/* Least divisor, relative to the other coefficients.  It replaces a smaller one; the error is
 * 240 dB below them. */
#define TINY 1e-12
/* The product of factors b0 stays within 1 / FAR to FAR. */
#define FAR 1e100

static double
divisor (double value, double others)
{
  return fabs (value) < TINY * others ? TINY * others : value;
}

/* b0, (b1 / b0 - a1) and (b2 / b0 - a2): each in one rounding, because the
 * differences are often small.  The first is nothing for a delay; the second for a
 * peak, a notch or an all-pass at a quarter of the rate; the third too for what
 * does nothing. */
typedef struct Factors
{
  double b0, c1, c2;
} Factors;

static Factors
factor (const TfxSos *s)
{
  const double b0 = divisor (s->b0, fmax (fabs (s->b1), fabs (s->b2)));
  const double c1 = (double)((long double)s->b1 / b0 - s->a1);
  const double c2 = (double)((long double)s->b2 / b0 - s->a2);

  return (Factors){ b0, divisor (c1, c2 == 0.0 ? TINY : fabs (c2)), c2 };
}

bool
tfx_cascade_form_can_factor (const TfxSos *sos, size_t n_sos)
{
  double tail = 1.0;

  for (size_t i = n_sos; i-- > 0;) {
    tail *= factor (&sos[i]).b0;
    if (!(fabs (tail) > 1.0 / FAR && fabs (tail) < FAR))
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

/* tail is the product of the factors b0 behind it; returns that with its own. */
static double
set_factored (TfxCascadeSection *section, const TfxSos *s, double tail)
{
  const Factors f = factor (s);

  *section = (TfxCascadeSection){
    { f.c1, 0.0, f.c2 / f.c1, s->a1, s->a2 },
    { f.c1 / tail, f.c2 / tail, s->a2 * f.c1 / tail },
  };
  return tail * f.b0;
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
        tail = set_factored (&sections[i], s, tail);
        break;
    }
  }
  return tail;
}

/* Takes a cascade with the state s[n_sos][2] one frame on. */
static long double
step (const TfxSos *sos, size_t n_sos, long double s[][2], long double x)
{
  for (size_t k = 0; k < n_sos; k++) {
    const TfxSos *c = &sos[k];
    const long double y = c->b0 * x + s[k][0];

    s[k][0] = c->b1 * x - c->a1 * y + s[k][1];
    s[k][1] = c->b2 * x - c->a2 * y;
    x = y;
  }
  return x;
}

/* The least |A| of a section at any frequency: at 0 Hz, at half the rate, or where its poles
 * ring.  From its values at both ends, as a1 and a2 themselves say little of poles near 1. */
static double
least_denominator (const TfxSos *s)
{
  const double low = 1.0 + s->a1 + s->a2, high = 1.0 - s->a1 + s->a2;
  const double width = 1.0 - s->a2, square = low * high - width * width;

  if (square > 0.0 && fabs (s->a1) * (1.0 + s->a2) < 4.0 * s->a2)
    return width * sqrt (square / (4.0 * s->a2));
  return fmin (low, high);
}

/* Largest gain from the rounding of the columns, 2^-53, to the output. */
#define MOST_RINGING 0x1p28

bool
tfx_cascade_form_can_have_frames (const TfxSos *sos, size_t n_sos)
{
  for (size_t i = 0; i < n_sos; i++) {
    if (!(least_denominator (&sos[i]) * MOST_RINGING > 1.0))
      return false;
  }
  return true;
}

unsigned
tfx_cascade_form_frames_states (const TfxShape *shape, size_t n_sos)
{
  const unsigned n = 2 * (unsigned)n_sos * shape->channels;

  return (n + shape->lanes - 1) / shape->lanes * shape->lanes;
}

size_t
tfx_cascade_form_frames_size (const TfxShape *shape, size_t n_sos)
{
  const unsigned n_outputs = shape->max_vectors * shape->lanes;

  return (n_outputs / shape->channels + 2 * n_sos) *
         (n_outputs + tfx_cascade_form_frames_states (shape, n_sos));
}

/* A column for the outputs of a group and one for the state after it: the response to an
 * impulse in each frame, and to each number of the state. */
void
tfx_cascade_form_frames (const TfxShape *shape, const TfxSos *sos, size_t n_sos,
    double *coef)
{
  const unsigned n = shape->channels;
  const unsigned n_outputs = shape->max_vectors * shape->lanes;
  const unsigned n_frames = n_outputs / n;
  const unsigned n_states = tfx_cascade_form_frames_states (shape, n_sos);

  for (unsigned i = 0; i < n_frames + 2 * n_sos; i++) {
    long double s[TFX_FRAMES_MAX_SECTIONS][2] = { 0 };

    if (i >= n_frames)
      s[(i - n_frames) / 2][(i - n_frames) % 2] = 1.0L;
    for (unsigned j = 0; j < n_frames; j++) {
      const double y = (double)step (sos, n_sos, s, i == j ? 1.0L : 0.0L);

      for (unsigned c = 0; c < n; c++)
        *coef++ = y;
    }
    for (unsigned lane = 0; lane < n_states; lane++) {
      const size_t number = lane / n;

      *coef++ = number < 2 * n_sos ? (double)s[number / 2][number % 2] : 0.0;
    }
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
