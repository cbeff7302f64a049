/* SPDX-License-Identifier: LGPL-2.1-or-later
 * functions.h: what instructions compute, number by number. */
#ifndef PTX_FUNCTIONS_H
#define PTX_FUNCTIONS_H

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace ptx {
#define F1(name, expression)                                                   \
  struct name                                                                  \
  {                                                                            \
    template <typename T>                                                      \
    static T                                                                   \
    f (T a)                                                                    \
    {                                                                          \
      return expression;                                                       \
    }                                                                          \
  }
#define F2(name, expression)                                                   \
  struct name                                                                  \
  {                                                                            \
    template <typename T>                                                      \
    static T                                                                   \
    f (T a, T b)                                                               \
    {                                                                          \
      return expression;                                                       \
    }                                                                          \
  }
#define C2(name, expression)                                                   \
  struct name                                                                  \
  {                                                                            \
    template <typename T>                                                      \
    static bool                                                                \
    f (T a, T b)                                                               \
    {                                                                          \
      return expression;                                                       \
    }                                                                          \
  }

F1 (Same, a);
F1 (Neg, (T)-a);
F1 (Not, (T)~a);
F2 (Add, (T)(a + b));
F2 (Sub, (T)(a - b));
F2 (Mul, (T)(a *b));
F2 (And, a &b);
F2 (Or, a | b);
F2 (Xor, a ^ b);
F2 (Min, b < a ? b : a);
F2 (Max, a < b ? b : a);
C2 (Eq, a == b);
C2 (Ne, a != b);
C2 (Lt, a < b);
C2 (Le, a <= b);
C2 (Gt, a > b);
C2 (Ge, a >= b);
/* True for NaN too. */
C2 (Equ, !(a < b) && !(a > b));
C2 (Neu, !(a == b));
C2 (Ltu, !(a >= b));
C2 (Leu, !(a > b));
C2 (Gtu, !(a <= b));
C2 (Geu, !(a < b));
C2 (Num, a == a && b == b);
C2 (Nan, a != a || b != b);
/* Ordered "ne". */
C2 (Neo, a<b || a> b);

/* By nought the device gives all ones. */
F2 (Div, b == 0                                   ? (T)-1
         : b == (T)-1 && std::is_signed<T>::value ? (T)(0 - (uint64_t)a)
                                                  : (T)(a / b));
F2 (Rem, b == 0 ? a : b == (T)-1 && std::is_signed<T>::value ? 0 : (T)(a % b));
F2 (FDiv, a / b);
F2 (FMin, std::fmin (a, b));
F2 (FMax, std::fmax (a, b));
F1 (Abs, a < 0 ? (T)-a : a);
F1 (FAbs, std::fabs (a));
F1 (Sqrt, std::sqrt (a));
F1 (Rcp, T (1) / a);

/* Shifts, also by the width or more. */
struct Shl
{
  template <typename T>
  static T
  f (T a, uint32_t n)
  {
    return n >= 8 * sizeof (T) ? 0 : (T)((uint64_t)a << n);
  }
};
struct Shr
{
  template <typename T>
  static T
  f (T a, uint32_t n)
  {
    return n < 8 * sizeof (T) ? (T)(a >> n) : a < 0 ? (T)-1 : 0;
  }
};

/* W: twice as wide. */
template <typename W> struct Wide
{
  template <typename T>
  static W
  f (T a, T b)
  {
    return (W)a * (W)b;
  }
};
template <typename W> struct MulHi
{
  template <typename T>
  static T
  f (T a, T b)
  {
    return (T)(((W)a * (W)b) >> (8 * sizeof (T)));
  }
};
struct MadLo
{
  template <typename T>
  static T
  f (T a, T b, T c)
  {
    return (T)(a * b + c);
  }
};
struct MadWide
{
  template <typename T, typename W>
  static W
  f (T a, T b, W c)
  {
    return (W)a * (W)b + c;
  }
};
struct Fma
{
  static float
  f (float a, float b, float c)
  {
    return __builtin_fmaf (a, b, c);
  }
  static double
  f (double a, double b, double c)
  {
    return __builtin_fma (a, b, c);
  }
};

F1 (Clz, a ? (T)__builtin_clzll ((uint64_t)a << (64 - 8 * sizeof (T)))
           : (T)(8 * sizeof (T)));
F1 (Popc, (T)__builtin_popcountll (a));
struct Brev
{
  template <typename T>
  static T
  f (T a)
  {
    T r = 0;

    for (unsigned i = 0; i < 8 * sizeof (T); i++)
      r |= (T)((a >> i & 1) << (8 * sizeof (T) - 1 - i));
    return r;
  }
};

/* `length` bits from `first` on; signed: the last of them, or of the number, is
 * repeated upwards. */
struct Bfe
{
  template <typename T>
  static T
  f (T a, uint32_t first, uint32_t length)
  {
    unsigned width = 8 * sizeof (T);
    T r = 0;

    first &= 255;
    length &= 255;
    for (unsigned i = 0; i < width && length > 0; i++) {
      unsigned from = first + (i < length ? i : length - 1);
      bool is_set = false;

      if (from < width)
        is_set = a >> from & 1;
      else if (std::is_signed<T>::value)
        is_set = a < 0;
      if (is_set && (i < length || std::is_signed<T>::value))
        r |= (T)((uint64_t)1 << i);
    }
    return r;
  }
};

/* Conversions to integers go towards zero and saturate; no number gives 0 (as
 * documented for 32 bits; for 64 the sign bit). */
template <typename D, typename A>
D
to_integer (A a)
{
  if (a != a)
    return sizeof (D) == 8 ? (D)1 << 63 : 0;
  A t = std::trunc (a);
  if (t >= std::ldexp ((A)1, std::numeric_limits<D>::digits))
    return std::numeric_limits<D>::max ();
  if (t < (A)std::numeric_limits<D>::min ())
    return std::numeric_limits<D>::min ();
  return (D)t;
}
template <typename D, typename A> struct ToInt
{
  static D
  f (A a)
  {
    return to_integer<D, A> (a);
  }
};
template <typename D> struct Cast
{
  template <typename A>
  static D
  f (A a)
  {
    return (D)a;
  }
};
F1 (Floor, std::floor (a));
F1 (Ceil, std::ceil (a));
F1 (Trunc, std::trunc (a));
F1 (Rint, std::nearbyint (a));

/* ---- the table ------------------------------------------------------------- */

#undef F1
#undef F2
#undef C2
} // namespace ptx

#endif
