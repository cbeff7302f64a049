/* SPDX-License-Identifier: LGPL-2.1-or-later
 * quad.h: 113-bit floating point, where the compiler has it.
 *
 * TEST_HAVE_QUAD is 1 if so.  Otherwise TestQuad is long double, and the tests
 * that need the full precision skip.
 */
#ifndef TEST_QUAD_H
#define TEST_QUAD_H

#include <float.h>
#include <math.h>

#if defined(__SIZEOF_FLOAT128__) && defined(HAVE_QUADMATH)
#include <quadmath.h>
#define TEST_HAVE_QUAD 1
#define TEST_QUAD_PI M_PIq
typedef __float128 TestQuad;

static inline TestQuad
test_quad_sin (TestQuad x)
{
  return sinq (x);
}

static inline TestQuad
test_quad_cos (TestQuad x)
{
  return cosq (x);
}

static inline TestQuad
test_quad_sqrt (TestQuad x)
{
  return sqrtq (x);
}
#else
#define TEST_HAVE_QUAD (LDBL_MANT_DIG >= 113)
#define TEST_QUAD_PI 3.14159265358979323846264338327950288L
typedef long double TestQuad;

static inline TestQuad
test_quad_sin (TestQuad x)
{
  return sinl (x);
}

static inline TestQuad
test_quad_cos (TestQuad x)
{
  return cosl (x);
}

static inline TestQuad
test_quad_sqrt (TestQuad x)
{
  return sqrtl (x);
}
#endif

#endif /* TEST_QUAD_H */
