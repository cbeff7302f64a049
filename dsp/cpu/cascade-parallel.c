/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade-parallel.c: partial fractions of a cascade, and its state as theirs.
 *
 * With A and B of each section as polynomials in z, A = z^2 + a1 z + a2,
 *
 *   H = prod B / A = prod b0 + sum N_i / A_i,  N_i = c1 z + c2.
 *
 * N_i is what prod B / prod (A_j, j != i) comes to modulo A_i.  That is computed
 * in the ring of polynomials modulo A_i, in t = z - r with r = -a1 / 2, in which
 *
 *   A_i = t^2 + d,  d = a2 - r^2:
 *
 * no roots are needed, and real poles, and equal ones of one section, are as good as
 * others.  1 / (p t + q) = (q - p t) / (q^2 + d p^2).  A section of first order
 * has one pole, -a1, and its ring is the numbers.
 *
 * The state.  s1 and s2 of section k are the outputs of
 *
 *   prod (B_j / A_j, j < k) ((b1 - b0 a1) z + b2 - b0 a2) / A_k  and
 *   prod (B_j / A_j, j < k) ((b2 - b0 a2) z + b2 a1 - b1 a2) / A_k,
 *
 * which are sums of the parts up to k, in the same way. */
#include "cascade-forms.h"

#include <float.h>
#include <math.h>

typedef long double Wide;

typedef struct Ring
{
  Wide r, d;
  bool is_linear; /* first order: t = 0 */
} Ring;

/* slope t + value */
typedef struct Element
{
  Wide slope, value;
} Element;

/* Rounding lies so far below what the loudest sine of the same height comes to:
 * -229 dB. */
#define NOISE 0x1p-38
/* One rounding of a double, and that of a Wide as a part of it: 1 where long double is
 * no longer than double. */
#define ROUNDING 0x1p-53
#define WIDER ((double)(LDBL_EPSILON / DBL_EPSILON))
/* A zero so near to a pole hides the state of the section before it. */
#define NEAR 0x1p-30
/* Least part of one of two real poles relative to the other, after the zeros near to it.  Below
 * it the state does not separate the two. */
#define FAR 0x1p-40

static bool
is_linear (const TfxSos *s)
{
  return s->a2 == 0.0 && s->b2 == 0.0;
}

/* d without the rounding of r^2. */
static Ring
get_ring (const TfxSos *s)
{
  const double half = s->a1 / 2, square = half * half;

  if (is_linear (s))
    return (Ring){ -(Wide)s->a1, 0, true };
  return (Ring){ -(Wide)half,
    ((Wide)s->a2 - square) - fma (half, half, -square), false };
}

/* c1 z + c2 */
static Element
get_element (Ring ring, Wide c1, Wide c2)
{
  return (Element){ ring.is_linear ? 0 : c1, c2 + c1 * ring.r };
}

static Element
multiply (Ring ring, Element a, Element b)
{
  return (Element){ a.slope * b.value + a.value * b.slope,
    a.value * b.value - ring.d * a.slope * b.slope };
}

/* The product of an element's values at both poles. */
static Wide
norm (Ring ring, Element a)
{
  return a.value * a.value + ring.d * a.slope * a.slope;
}

static Element
divide (Ring ring, Element a, Element b)
{
  const Wide n = norm (ring, b);
  const Element q = multiply (ring, a, (Element){ -b.slope, b.value });

  return (Element){ q.slope / n, q.value / n };
}

/* B_j and A_j modulo A_i. */
static Element
numerator (Ring ring, const TfxSos *j, const TfxSos *i)
{
  return get_element (ring, j->b1 - (Wide)j->b0 * i->a1,
      j->b2 - (Wide)j->b0 * i->a2);
}

static Element
denominator (Ring ring, const TfxSos *j, const TfxSos *i)
{
  return get_element (ring, (Wide)j->a1 - i->a1, (Wide)j->a2 - i->a2);
}

/* B_i modulo A_i; of first order without the z that both have. */
static Element
own_numerator (Ring ring, const TfxSos *i)
{
  if (ring.is_linear)
    return (Element){ 0, i->b1 - (Wide)i->b0 * i->a1 };
  return numerator (ring, i, i);
}

/* c1 and c2 of an element. */
static void
get_part (Ring ring, Element e, Wide c[2])
{
  c[0] = ring.is_linear ? e.value : e.slope;
  c[1] = ring.is_linear ? 0 : e.value - e.slope * ring.r;
}

/* |B|^2 and |A|^2 at the frequency whose cosine is c. */
static double
square_at (double b0, double b1, double b2, double c)
{
  return 4 * b0 * b2 * c * c + 2 * b1 * (b0 + b2) * c + (b0 - b2) * (b0 - b2) +
         b1 * b1;
}

/* The cosine of the frequency at which 1 / A is largest. */
static double
resonance (const TfxSos *s)
{
  const double top = -s->a1 * (1 + s->a2), bottom = 4 * s->a2;

  if (bottom > 0 && fabs (top) < bottom)
    return top / bottom;
  return s->a1 < 0 ? 1 : -1;
}

/* The energy of the impulse response of (c1 z + c2) / A. */
static double
energy (double c1, double c2, const TfxSos *s)
{
  const double a1 = s->a1, a2 = s->a2;

  return ((c1 * c1 + c2 * c2) * (1 + a2) - 2 * c1 * c2 * a1) /
         ((1 - a2) * (1 + a2 - a1) * (1 + a2 + a1));
}

/* The largest |H|^2 that sections from k on have, for k to n_sos, at frequencies at which
 * one of all rings and at both ends. */
static void
get_gains (const TfxSos *sos, size_t n_sos, double *gains)
{
  for (size_t k = 0; k <= n_sos; k++)
    gains[k] = 0;
  for (size_t i = 0; i < n_sos + 2; i++) {
    const double c = i < n_sos ? resonance (&sos[i]) : i == n_sos ? 1 : -1;
    double gain = 1;

    for (size_t k = n_sos; k-- > 0;) {
      gains[k + 1] = fmax (gains[k + 1], gain);
      gain *= square_at (sos[k].b0, sos[k].b1, sos[k].b2, c) /
              square_at (1, sos[k].a1, sos[k].a2, c);
    }
    gains[0] = fmax (gains[0], gain);
  }
}

/* What part i adds to s1 and s2 of section k: rows of c1 and c2.  e is that of
 * the sections before k. */
static void
get_rows (Ring ring, Element e, const TfxSos *i, const TfxSos *k,
    Wide rows[2][2])
{
  const Wide c1 = k->b1 - (Wide)k->b0 * k->a1;
  const Wide c2 = k->b2 - (Wide)k->b0 * k->a2;
  const Wide d2 = (Wide)k->b2 * k->a1 - (Wide)k->b1 * k->a2;
  Element s1, s2;

  if (i == k && ring.is_linear) {
    get_part (ring, multiply (ring, e, (Element){ 0, c1 }), rows[0]);
    rows[1][0] = rows[1][1] = 0;
    return;
  }
  if (i != k)
    e = divide (ring, e, denominator (ring, k, i));
  s1 = multiply (ring, e, get_element (ring, c1, c2));
  s2 = multiply (ring, e, get_element (ring, c2, d2));
  get_part (ring, s1, rows[0]);
  get_part (ring, s2, rows[1]);
}

/* e B_k / A_k, but for section i without A_k. */
static Element
pass_section (Ring ring, Element e, const TfxSos *i, const TfxSos *k)
{
  if (i == k)
    return multiply (ring, e, own_numerator (ring, i));
  e = multiply (ring, e, numerator (ring, k, i));
  return divide (ring, e, denominator (ring, k, i));
}

/* The product of B_j / A_j, j < i. */
static Element
get_front (Ring ring, const TfxSos *sos, size_t i)
{
  Element e = { 0, 1 };

  for (size_t j = 0; j < i; j++)
    e = pass_section (ring, e, &sos[i], &sos[j]);
  return e;
}

/* Whether a zero of section i, or of one in front, is on one of its poles, or all of them
 * leave too little of one. */
static bool
is_hidden (Ring ring, const TfxSos *sos, size_t i)
{
  const Element e =
      multiply (ring, get_front (ring, sos, i), own_numerator (ring, &sos[i]));
  const Wide sum = e.value * e.value + fabsl (ring.d) * e.slope * e.slope;

  if (!(fabsl (norm (ring, e)) > FAR * sum))
    return true;
  for (size_t j = 0; j <= i; j++) {
    const TfxSos *s = &sos[j];
    const Element b =
        j == i ? own_numerator (ring, s) : numerator (ring, s, &sos[i]);
    const Wide near = NEAR * (fabs (s->b0) + fabs (s->b1) + fabs (s->b2));

    if (!(norm (ring, b) > near * near))
      return true;
  }
  return false;
}

/* Part i; u^2 times what goes into the sections' state is added to states. */
static TfxParallelPart
make_part (const TfxSos *sos, size_t n_sos, size_t i, Ring ring, double u,
    double *states)
{
  Element e = get_front (ring, sos, i);
  Wide rows[2][2], c[2];

  for (size_t k = i; k < n_sos; k++) {
    get_rows (ring, e, &sos[i], &sos[k], rows);
    for (unsigned j = 0; j < 2; j++)
      states[k] +=
          u * (double)(rows[j][0] * rows[j][0] + rows[j][1] * rows[j][1]);
    e = pass_section (ring, e, &sos[i], &sos[k]);
  }
  get_part (ring, e, c);
  return (TfxParallelPart){ (double)c[0], (double)c[1] };
}

/* Counts noise for a sine at the resonance of each part: the rounding of u, which passes the
 * part's poles, of the coefficients and of the products.  Adds the rounding of the sections' state
 * where it is computed from u, which passes the later sections. */
bool
tfx_cascade_parallel_set (const TfxSos *sos, size_t n_sos,
    TfxParallelPart *parts, double *direct)
{
  double gains[TFX_PARALLEL_MAX_SECTIONS + 1];
  double states[TFX_PARALLEL_MAX_SECTIONS] = { 0 }, noise = 0;

  *direct = 1;
  get_gains (sos, n_sos, gains);
  for (size_t i = 0; i < n_sos; i++) {
    const TfxSos *s = &sos[i];
    const Ring ring = get_ring (s);
    const double u = 1 / square_at (1, s->a1, s->a2, resonance (s));
    double c1, c2;

    if (is_hidden (ring, sos, i) || !(u > 0 && energy (0, 1, s) > 0))
      return false;
    parts[i] = make_part (sos, n_sos, i, ring, u, states);
    c1 = parts[i].c1;
    c2 = parts[i].c2;
    noise += u * (energy (c1, c2, s) + c1 * c1 + c2 * c2);
    *direct *= s->b0;
  }
  for (size_t k = 0; k < n_sos; k++)
    noise += WIDER * WIDER * states[k] * energy (0, 1, &sos[k]) * gains[k + 1];
  return ROUNDING * ROUNDING * noise <= NOISE * NOISE * gains[0];
}

/* Adds what part i comes to in the states of sections from i on. */
static void
add_part (Ring ring, Element front, const TfxSos *sos, size_t n_sos, size_t i,
    const double u[2], Wide (*s)[2], Wide factor)
{
  Element e = front;
  Wide rows[2][2];

  for (size_t k = i; k < n_sos; k++) {
    get_rows (ring, e, &sos[i], &sos[k], rows);
    for (unsigned n = 0; n < 2; n++)
      s[k][n] += factor * (rows[n][0] * u[0] + rows[n][1] * u[1]);
    e = pass_section (ring, e, &sos[i], &sos[k]);
  }
}

void
tfx_cascade_parallel_export (const TfxSos *sos, size_t n_sos,
    const double (*u)[2], double (*s)[2])
{
  Wide sum[TFX_PARALLEL_MAX_SECTIONS][2] = { { 0 } };

  for (size_t i = 0; i < n_sos; i++) {
    const Ring ring = get_ring (&sos[i]);

    add_part (ring, get_front (ring, sos, i), sos, n_sos, i, u[i], sum, 1);
  }
  for (size_t k = 0; k < n_sos; k++) {
    s[k][0] = (double)sum[k][0];
    s[k][1] = (double)sum[k][1];
  }
}

/* u of m u = s.  By elimination: determinants lose what one of two real poles has where
 * it is far below the other one. */
static void
solve (Wide m[2][2], const Wide s[2], double u[2])
{
  const unsigned first = fabsl (m[1][0]) > fabsl (m[0][0]);
  const Wide *a = m[first], *b = m[1 - first];
  const Wide factor = b[0] / a[0];
  const Wide second =
      (s[1 - first] - factor * s[first]) / (b[1] - factor * a[1]);

  u[0] = (double)((s[first] - a[1] * second) / a[0]);
  u[1] = (double)second;
}

/* Section after section: what the parts before have in a section's state is taken
 * off it, and the rest is its own. */
void
tfx_cascade_parallel_import (const TfxSos *sos, size_t n_sos,
    const double (*s)[2], double (*u)[2])
{
  Wide left[TFX_PARALLEL_MAX_SECTIONS][2], m[2][2];

  for (size_t k = 0; k < n_sos; k++) {
    left[k][0] = s[k][0];
    left[k][1] = s[k][1];
  }
  for (size_t i = 0; i < n_sos; i++) {
    const Ring ring = get_ring (&sos[i]);
    const Element front = get_front (ring, sos, i);

    get_rows (ring, front, &sos[i], &sos[i], m);
    if (ring.is_linear) {
      u[i][0] = (double)(left[i][0] / m[0][0]);
      u[i][1] = 0;
    } else {
      solve (m, left[i], u[i]);
    }
    add_part (ring, front, sos, n_sos, i, u[i], left, -1);
  }
}
