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

#if defined(__SIZEOF_FLOAT128__) && defined(HAVE_FLOAT128)
#define TEST_HAVE_QUAD 1
#define TEST_QUAD_PI 3.14159265358979323846264338327950288Q
typedef __float128 TestQuad;

/* glibc's headers declare these for GCC alone. */
TestQuad sinf128 (TestQuad x);
TestQuad cosf128 (TestQuad x);
TestQuad sqrtf128 (TestQuad x);

static inline TestQuad
test_quad_sin (TestQuad x)
{
  return sinf128 (x);
}

static inline TestQuad
test_quad_cos (TestQuad x)
{
  return cosf128 (x);
}

static inline TestQuad
test_quad_sqrt (TestQuad x)
{
  return sqrtf128 (x);
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
