/* SPDX-License-Identifier: LGPL-2.1-or-later
 * arithmetic.cc: instructions that work in each lane alone.  Compile with
 * -ffp-contract=off -fno-strict-aliasing. */
#include "functions.h"
#include "operation.h"

namespace ptx {
template <typename D, typename A, typename F>
static void
unary (Context &c, const Instruction &i, uint32_t m)
{
  auto *d = to<D> (c, i.d[0]);
  auto *a = from<A> (c, i.s[0]);
  lanes (m,
      [=] (int l) { d[l] = (typename Stored<D>::type) (D)F::f ((A)a[l]); });
}
template <typename D, typename A, typename B, typename F>
static void
binary (Context &c, const Instruction &i, uint32_t m)
{
  auto *d = to<D> (c, i.d[0]);
  auto *a = from<A> (c, i.s[0]);
  auto *b = from<B> (c, i.s[1]);
  lanes (m, [=] (int l) {
    d[l] = (typename Stored<D>::type) (D)F::f ((A)a[l], (B)b[l]);
  });
}
template <typename D, typename A, typename B, typename C, typename F>
static void
ternary (Context &c, const Instruction &i, uint32_t m)
{
  auto *d = to<D> (c, i.d[0]);
  auto *a = from<A> (c, i.s[0]);
  auto *b = from<B> (c, i.s[1]);
  auto *e = from<C> (c, i.s[2]);
  lanes (m, [=] (int l) {
    d[l] = (typename Stored<D>::type) (D)F::f ((A)a[l], (B)b[l], (C)e[l]);
  });
}
template <typename A, typename F>
static void
compare (Context &c, const Instruction &i, uint32_t m)
{
  auto *a = from<A> (c, i.s[0]);
  auto *b = from<A> (c, i.s[1]);
  uint32_t bits = 0;
  for (int l = 0; l < WARP; l++)
    bits |= (uint32_t)F::f ((A)a[l], (A)b[l]) << l;
  set_mask (c, i.d[0], m, bits);
}
template <typename T>
static void
select (Context &c, const Instruction &i, uint32_t m)
{
  auto *d = to<T> (c, i.d[0]);
  auto *a = from<T> (c, i.s[0]);
  auto *b = from<T> (c, i.s[1]);
  uint32_t p = mask_of (c, i.s[2]);
  lanes (m, [=] (int l) { d[l] = p >> l & 1 ? a[l] : b[l]; });
}

template <typename T>
static T
bit_insert (T a, T b, uint32_t pos, uint32_t len)
{
  unsigned w = 8 * sizeof (T);
  pos &= 255;
  len &= 255;
  if (len == 0 || pos >= w)
    return b;
  T k = (len >= w ? (T) ~(T)0 : (T)(((T)1 << len) - 1)) << pos;
  return (b & ~k) | ((T)(a << pos) & k);
}
template <typename T>
static void
bfi (Context &c, const Instruction &i, uint32_t m)
{
  auto *d = to<T> (c, i.d[0]);
  auto *a = from<T> (c, i.s[0]);
  auto *b = from<T> (c, i.s[1]);
  auto *p = from<uint32_t> (c, i.s[2]);
  auto *n = from<uint32_t> (c, i.s[3]);
  lanes (m, [=] (int l) { d[l] = bit_insert<T> (a[l], b[l], p[l], n[l]); });
}
static void
prmt (Context &c, const Instruction &i, uint32_t m)
{
  auto *d = to<uint32_t> (c, i.d[0]);
  auto *a = from<uint32_t> (c, i.s[0]);
  auto *b = from<uint32_t> (c, i.s[1]);
  auto *s = from<uint32_t> (c, i.s[2]);
  lanes (m, [=] (int l) {
    uint64_t v = (uint64_t)b[l] << 32 | a[l];
    uint32_t r = 0;
    for (int k = 0; k < 4; k++) {
      unsigned n = s[l] >> (4 * k) & 15;
      uint32_t x = v >> (8 * (n & 7)) & 255;
      if (n & 8)
        x = x & 128 ? 255 : 0;
      r |= x << (8 * k);
    }
    d[l] = r;
  });
}
template <bool LEFT, bool CLAMP>
static void
funnel (Context &c, const Instruction &i, uint32_t m)
{
  auto *d = to<uint32_t> (c, i.d[0]);
  auto *a = from<uint32_t> (c, i.s[0]);
  auto *b = from<uint32_t> (c, i.s[1]);
  auto *s = from<uint32_t> (c, i.s[2]);
  lanes (m, [=] (int l) {
    uint64_t v = (uint64_t)b[l] << 32 | a[l];
    unsigned n = CLAMP ? (s[l] > 32 ? 32 : s[l]) : s[l] & 31;
    d[l] = LEFT ? (uint32_t)((v << n) >> 32) : (uint32_t)(v >> n);
  });
}
static void
lop3 (Context &c, const Instruction &i, uint32_t m)
{
  auto *d = to<uint32_t> (c, i.d[0]);
  auto *a = from<uint32_t> (c, i.s[0]);
  auto *b = from<uint32_t> (c, i.s[1]);
  auto *e = from<uint32_t> (c, i.s[2]);
  auto *t = from<uint32_t> (c, i.s[3]);
  lanes (m, [=] (int l) {
    uint32_t r = 0;
    for (int k = 0; k < 8; k++)
      if (t[l] >> k & 1)
        r |= (k & 4 ? a[l] : ~a[l]) & (k & 2 ? b[l] : ~b[l]) &
             (k & 1 ? e[l] : ~e[l]);
    d[l] = r;
  });
}

template <typename D, typename A, typename F>
static void
add1 (Table &t, const std::string &name, Kind kind)
{
  t[name] = { unary<D, A, F>, kind, size_of<D> (), size_of<A> () };
}
template <typename D, typename A, typename B, typename F>
static void
add2 (Table &t, const std::string &name, Kind kind)
{
  t[name] = { binary<D, A, B, F>, kind, size_of<D> (),
    size_of<A> () + size_of<B> () };
}
template <typename D, typename A, typename B, typename C, typename F>
static void
add3 (Table &t, const std::string &name, Kind kind)
{
  t[name] = { ternary<D, A, B, C, F>, kind, size_of<D> (),
    size_of<A> () + size_of<B> () + size_of<C> () };
}
template <typename T, typename F>
static void
add_compare (Table &t, const std::string &name, Kind kind)
{
  t[name] = { compare<T, F>, kind, "p", size_of<T> () + size_of<T> () };
}

template <typename T>
static void
add_bits (Table &t, const std::string &n)
{
  add2<T, T, T, And> (t, "and." + n, K_INT);
  add2<T, T, T, Or> (t, "or." + n, K_INT);
  add2<T, T, T, Xor> (t, "xor." + n, K_INT);
  add1<T, T, Not> (t, "not." + n, K_INT);
  add2<T, T, uint32_t, Shl> (t, "shl." + n, K_INT);
  add2<T, T, uint32_t, Shr> (t, "shr." + n, K_INT);
  add_compare<T, Eq> (t, "setp.eq." + n, K_INT);
  add_compare<T, Ne> (t, "setp.ne." + n, K_INT);
}
template <typename T>
static void
add_moves (Table &t, const std::string &n)
{
  add1<T, T, Same> (t, "mov." + n, K_MOVE);
  t["selp." + n] = { select<T>, K_MOVE, size_of<T> (),
    size_of<T> () + size_of<T> () + "p" };
}
template <typename T>
static void
add_integer (Table &t, const std::string &n)
{
  add2<T, T, T, Add> (t, "add." + n, K_INT);
  add2<T, T, T, Sub> (t, "sub." + n, K_INT);
  add2<T, T, T, Mul> (t, "mul.lo." + n, K_INT);
  add2<T, T, T,
      MulHi<typename std::conditional<std::is_signed<T>::value, __int128,
          unsigned __int128>::type>> (t, "mul.hi." + n, K_INT);
  add3<T, T, T, T, MadLo> (t, "mad.lo." + n, K_INT);
  add2<T, T, T, Div> (t, "div." + n, K_INT);
  add2<T, T, T, Rem> (t, "rem." + n, K_INT);
  add2<T, T, T, Min> (t, "min." + n, K_INT);
  add2<T, T, T, Max> (t, "max." + n, K_INT);
  add1<T, T, Neg> (t, "neg." + n, K_INT);
  add1<T, T, Abs> (t, "abs." + n, K_INT);
  add2<T, T, uint32_t, Shr> (t, "shr." + n, K_INT);
  add_compare<T, Eq> (t, "setp.eq." + n, K_INT);
  add_compare<T, Ne> (t, "setp.ne." + n, K_INT);
  add_compare<T, Lt> (t, "setp.lt." + n, K_INT);
  add_compare<T, Le> (t, "setp.le." + n, K_INT);
  add_compare<T, Gt> (t, "setp.gt." + n, K_INT);
  add_compare<T, Ge> (t, "setp.ge." + n, K_INT);
  add_compare<T, Lt> (t, "setp.lo." + n, K_INT);
  add_compare<T, Le> (t, "setp.ls." + n, K_INT);
  add_compare<T, Gt> (t, "setp.hi." + n, K_INT);
  add_compare<T, Ge> (t, "setp.hs." + n, K_INT);
}
template <typename T>
static void
add_float (Table &t, const std::string &n, Kind kind)
{
  for (const char *r : { ".", ".rn." }) {
    add2<T, T, T, Add> (t, "add" + (r + n), kind);
    add2<T, T, T, Sub> (t, "sub" + (r + n), kind);
    add2<T, T, T, Mul> (t, "mul" + (r + n), kind);
  }
  add3<T, T, T, T, Fma> (t, "fma.rn." + n, kind);
  add2<T, T, T, FDiv> (t, "div.rn." + n, kind);
  add1<T, T, Sqrt> (t, "sqrt.rn." + n, kind);
  add1<T, T, Rcp> (t, "rcp.rn." + n, kind);
  add2<T, T, T, FMin> (t, "min." + n, kind);
  add2<T, T, T, FMax> (t, "max." + n, kind);
  add1<T, T, Neg> (t, "neg." + n, kind);
  add1<T, T, FAbs> (t, "abs." + n, kind);
  add_compare<T, Eq> (t, "setp.eq." + n, kind);
  add_compare<T, Neo> (t, "setp.ne." + n, kind);
  add_compare<T, Lt> (t, "setp.lt." + n, kind);
  add_compare<T, Le> (t, "setp.le." + n, kind);
  add_compare<T, Gt> (t, "setp.gt." + n, kind);
  add_compare<T, Ge> (t, "setp.ge." + n, kind);
  add_compare<T, Equ> (t, "setp.equ." + n, kind);
  add_compare<T, Neu> (t, "setp.neu." + n, kind);
  add_compare<T, Ltu> (t, "setp.ltu." + n, kind);
  add_compare<T, Leu> (t, "setp.leu." + n, kind);
  add_compare<T, Gtu> (t, "setp.gtu." + n, kind);
  add_compare<T, Geu> (t, "setp.geu." + n, kind);
  add_compare<T, Num> (t, "setp.num." + n, kind);
  add_compare<T, Nan> (t, "setp.nan." + n, kind);
  add1<T, T, Floor> (t, "cvt.rmi." + n + "." + n, K_CONVERT);
  add1<T, T, Ceil> (t, "cvt.rpi." + n + "." + n, K_CONVERT);
  add1<T, T, Trunc> (t, "cvt.rzi." + n + "." + n, K_CONVERT);
  add1<T, T, Rint> (t, "cvt.rni." + n + "." + n, K_CONVERT);
}
template <typename D>
static void
add_casts (Table &t, const std::string &n)
{
  add1<D, uint8_t, Cast<D>> (t, "cvt." + n + ".u8", K_CONVERT);
  add1<D, int8_t, Cast<D>> (t, "cvt." + n + ".s8", K_CONVERT);
  add1<D, uint16_t, Cast<D>> (t, "cvt." + n + ".u16", K_CONVERT);
  add1<D, int16_t, Cast<D>> (t, "cvt." + n + ".s16", K_CONVERT);
  add1<D, uint32_t, Cast<D>> (t, "cvt." + n + ".u32", K_CONVERT);
  add1<D, int32_t, Cast<D>> (t, "cvt." + n + ".s32", K_CONVERT);
  add1<D, uint64_t, Cast<D>> (t, "cvt." + n + ".u64", K_CONVERT);
  add1<D, int64_t, Cast<D>> (t, "cvt." + n + ".s64", K_CONVERT);
}
template <typename I>
static void
add_float_casts (Table &t, const std::string &n)
{
  add1<float, I, Cast<float>> (t, "cvt.rn.f32." + n, K_CONVERT);
  add1<double, I, Cast<double>> (t, "cvt.rn.f64." + n, K_CONVERT);
  add1<I, float, ToInt<I, float>> (t, "cvt.rzi." + n + ".f32", K_CONVERT);
  add1<I, double, ToInt<I, double>> (t, "cvt.rzi." + n + ".f64", K_CONVERT);
}

void
add_arithmetic (Table &t)
{
  add_integer<uint16_t> (t, "u16");
  add_integer<int16_t> (t, "s16");
  add_integer<uint32_t> (t, "u32");
  add_integer<int32_t> (t, "s32");
  add_integer<uint64_t> (t, "u64");
  add_integer<int64_t> (t, "s64");
  add_bits<uint16_t> (t, "b16");
  add_bits<uint32_t> (t, "b32");
  add_bits<uint64_t> (t, "b64");
  add_float<float> (t, "f32", K_FP32);
  add_float<double> (t, "f64", K_FP64);
  for (const char *n : { "b16", "u16", "s16", "b32", "u32", "s32", "f32" })
    add_moves<uint32_t> (t, n);
  for (const char *n : { "b64", "u64", "s64", "f64" })
    add_moves<uint64_t> (t, n);
  add_casts<uint8_t> (t, "u8");
  add_casts<int8_t> (t, "s8");
  add_casts<uint16_t> (t, "u16");
  add_casts<int16_t> (t, "s16");
  add_casts<uint32_t> (t, "u32");
  add_casts<int32_t> (t, "s32");
  add_casts<uint64_t> (t, "u64");
  add_casts<int64_t> (t, "s64");
  add_float_casts<uint16_t> (t, "u16");
  add_float_casts<int16_t> (t, "s16");
  add_float_casts<uint32_t> (t, "u32");
  add_float_casts<int32_t> (t, "s32");
  add_float_casts<uint64_t> (t, "u64");
  add_float_casts<int64_t> (t, "s64");
  add1<double, float, Cast<double>> (t, "cvt.f64.f32", K_CONVERT);
  add1<float, double, Cast<float>> (t, "cvt.rn.f32.f64", K_CONVERT);
  add2<uint64_t, uint32_t, uint32_t, Wide<uint64_t>> (t, "mul.wide.u32", K_INT);
  add2<int64_t, int32_t, int32_t, Wide<int64_t>> (t, "mul.wide.s32", K_INT);
  add2<uint32_t, uint16_t, uint16_t, Wide<uint32_t>> (t, "mul.wide.u16", K_INT);
  add2<int32_t, int16_t, int16_t, Wide<int32_t>> (t, "mul.wide.s16", K_INT);
  add3<uint64_t, uint32_t, uint32_t, uint64_t, MadWide> (t, "mad.wide.u32",
      K_INT);
  add3<int64_t, int32_t, int32_t, int64_t, MadWide> (t, "mad.wide.s32", K_INT);
  add1<uint32_t, uint32_t, Clz> (t, "clz.b32", K_INT);
  add1<uint32_t, uint64_t, Clz> (t, "clz.b64", K_INT);
  add1<uint32_t, uint32_t, Popc> (t, "popc.b32", K_INT);
  add1<uint32_t, uint64_t, Popc> (t, "popc.b64", K_INT);
  add1<uint32_t, uint32_t, Brev> (t, "brev.b32", K_INT);
  add1<uint64_t, uint64_t, Brev> (t, "brev.b64", K_INT);
  add3<uint32_t, uint32_t, uint32_t, uint32_t, Bfe> (t, "bfe.u32", K_INT);
  add3<int32_t, int32_t, uint32_t, uint32_t, Bfe> (t, "bfe.s32", K_INT);
  add3<uint64_t, uint64_t, uint32_t, uint32_t, Bfe> (t, "bfe.u64", K_INT);
  t["bfi.b32"] = { bfi<uint32_t>, K_INT, "4", "4444" };
  t["bfi.b64"] = { bfi<uint64_t>, K_INT, "8", "8844" };
  t["prmt.b32"] = { prmt, K_INT, "4", "444" };
  t["shf.l.wrap.b32"] = { funnel<true, false>, K_INT, "4", "444" };
  t["shf.r.wrap.b32"] = { funnel<false, false>, K_INT, "4", "444" };
  t["shf.l.clamp.b32"] = { funnel<true, true>, K_INT, "4", "444" };
  t["shf.r.clamp.b32"] = { funnel<false, true>, K_INT, "4", "444" };
  t["lop3.b32"] = { lop3, K_INT, "4", "4444" };
  for (const char *n : { "cvta.to.global.u64", "cvta.global.u64" })
    add1<uint64_t, uint64_t, Same> (t, n, K_MOVE);
}
} // namespace ptx
