/* SPDX-License-Identifier: LGPL-2.1-or-later
 * one_tmpl.c: one channel of doubles, sample by sample, section after section.
 *
 * ONE_NAME is the kernel's name.  ONE_STEP (s, x, c) takes a section with the
 * coefficients c[TFX_WAVE_COEF] and the state s[TFX_STATE] one sample on, and
 * is its output.  The sections of a pass are independent of each other within
 * a sample but for their signal, so that their recursions overlap. */
static inline __attribute__ ((always_inline)) void
run_one (const TfxRows *from, const TfxRows *to, size_t n, double *state,
    const double *coef, const unsigned n_sections)
{
  const double *in = from->data;
  double *out = to->data;
  const ptrdiff_t in_stride = from->stride, out_stride = to->stride;
  double s[TFX_WAVE_MAX_VECTORS][TFX_STATE];

#pragma GCC unroll 4
  for (unsigned k = 0; k < n_sections; k++) {
#pragma GCC unroll 3
    for (unsigned i = 0; i < TFX_STATE; i++)
      s[k][i] = state[TFX_STATE * k + i];
  }
  for (size_t i = 0; i < n; i++, in += in_stride, out += out_stride) {
    double v = *in;

#pragma GCC unroll 4
    for (unsigned k = 0; k < n_sections; k++)
      v = ONE_STEP (s[k], v, coef + 1 + TFX_WAVE_COEF * k);
    *out = v;
  }
#pragma GCC unroll 4
  for (unsigned k = 0; k < n_sections; k++) {
#pragma GCC unroll 3
    for (unsigned i = 0; i < TFX_STATE; i++)
      state[TFX_STATE * k + i] = s[k][i];
  }
}

static void
ONE_NAME (const TfxRows *in, const TfxRows *out, size_t n, double *state,
    const double *coef, unsigned n_sections)
{
  switch (n_sections) {
    case 1:
      run_one (in, out, n, state, coef, 1);
      break;
    case 2:
      run_one (in, out, n, state, coef, 2);
      break;
    case 3:
      run_one (in, out, n, state, coef, 3);
      break;
    case 4:
      run_one (in, out, n, state, coef, 4);
      break;
  }
}
