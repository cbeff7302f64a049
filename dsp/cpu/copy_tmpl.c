/* SPDX-License-Identifier: LGPL-2.1-or-later
 * copy_tmpl.c: samples times a gain, and sums of samples, in one pass; compiled
 * for each instruction set, whose vectors are those of vec.h.  OP(name) the
 * names; without vectors V_NONE is defined. */

static inline __attribute__ ((always_inline)) void
OP (scale_type) (char *out, const char *in, size_t n, double gain,
    const bool to_f32, const bool from_f32)
{
  const size_t in_size = from_f32 ? sizeof (float) : sizeof (double);
  const size_t out_size = to_f32 ? sizeof (float) : sizeof (double);
  size_t i = 0;

#ifndef V_NONE
  const V g = v_set1 (gain);

  for (; i + W <= n; i += W) {
    const void *x = in + i * in_size;
    void *y = out + i * out_size;
    const V a = v_mul (g, from_f32 ? v_load_f32 (x) : v_load_f64 (x));

    if (to_f32)
      v_store_f32 (y, a);
    else
      v_store_f64 (y, a);
  }
#endif
  for (; i < n; i++) {
    const void *x = in + i * in_size;
    void *y = out + i * out_size;
    const double a = gain * (from_f32 ? *(const float *)x : *(const double *)x);

    if (to_f32)
      *(float *)y = (float)a;
    else
      *(double *)y = a;
  }
}

static void
OP (scale) (void *out, TfxSample to, const void *in, TfxSample from, size_t n,
    double gain)
{
  if (to == TFX_SAMPLE_F32 && from == TFX_SAMPLE_F32)
    OP (scale_type) (out, in, n, gain, true, true);
  else if (to == TFX_SAMPLE_F32)
    OP (scale_type) (out, in, n, gain, true, false);
  else if (from == TFX_SAMPLE_F32)
    OP (scale_type) (out, in, n, gain, false, true);
  else
    OP (scale_type) (out, in, n, gain, false, false);
}

static void
OP (add) (double *sum, const double *x, size_t n)
{
  size_t i = 0;

#ifndef V_NONE
  for (; i + W <= n; i += W)
    v_store_f64 (sum + i, v_add (v_load_f64 (sum + i), v_load_f64 (x + i)));
#endif
  for (; i < n; i++)
    sum[i] += x[i];
}
