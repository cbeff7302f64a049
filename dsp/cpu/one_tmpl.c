/* SPDX-License-Identifier: LGPL-2.1-or-later
 * one_tmpl.c: one channel of doubles, sample by sample, section after section.
 *
 * ONE_NAME is the kernel's name.  ONE_STEP (s, x, c) takes a section with the
 * coefficients c[TFX_WAVE_COEF] and the state s[TFX_STATE] one sample on, and
 * is its output; all of the type One, made of a double by ONE_SET (p) and back by
 * ONE_GET (a).  The sections of a pass are independent of each other within a
 * sample but for their signal, so that their recursions overlap. */
static inline __attribute__ ((always_inline)) bool
run_one (const TfxRows *from, const TfxRows *to, size_t n, double *state,
    const double *coef, const unsigned n_sections)
{
  const double *in = from->data;
  double *out = to->data;
  const ptrdiff_t in_stride = from->stride, out_stride = to->stride;
  One s[TFX_WAVE_MAX_VECTORS * TFX_STATE];
  One k[TFX_WAVE_MAX_VECTORS * TFX_WAVE_COEF];
  double sum = 0.0;

#pragma GCC unroll 12
  for (unsigned i = 0; i < TFX_STATE * n_sections; i++)
    s[i] = ONE_SET (state[i]);
#pragma GCC unroll 20
  for (unsigned i = 0; i < TFX_WAVE_COEF * n_sections; i++)
    k[i] = ONE_SET (coef[i]);
  for (size_t i = 0; i < n; i++, in += in_stride, out += out_stride) {
    One v = ONE_SET (*in);

#pragma GCC unroll 4
    for (unsigned j = 0; j < n_sections; j++)
      v = ONE_STEP (s + TFX_STATE * j, v, k + TFX_WAVE_COEF * j);
    *out = ONE_GET (v);
  }
#pragma GCC unroll 12
  for (unsigned i = 0; i < TFX_STATE * n_sections; i++) {
    state[i] = ONE_GET (s[i]);
    sum += state[i] - state[i];
  }
  return sum == 0.0;
}

static bool
ONE_NAME (const TfxRows *in, const TfxRows *out, size_t n, double *state,
    const double *gain, const double *coef, unsigned n_sections)
{
  (void)gain;
  switch (n_sections) {
    case 1:
      return run_one (in, out, n, state, coef, 1);
    case 2:
      return run_one (in, out, n, state, coef, 2);
    case 3:
      return run_one (in, out, n, state, coef, 3);
    default:
      return run_one (in, out, n, state, coef, 4);
  }
}
