/* SPDX-License-Identifier: LGPL-2.1-or-later
 * direct_tmpl.c: the form direct, one channel, sample by sample.
 *
 * DIRECT_NAME is the kernel's name.  DIRECT_STEP (y, s1, s2, x, c) computes the
 * output of a section and its next state from c[TFX_DIRECT_SIZE]. */

/* The sections of a pass are independent of each other within a sample but
 * for their signal, so that their recursions overlap in the processor. */
static inline __attribute__ ((always_inline)) void
run_direct_one (double *x, size_t n, double *state, const double *coef,
    const unsigned n_sections)
{
  double s1[TFX_PASS_MAX_SECTIONS], s2[TFX_PASS_MAX_SECTIONS];

#pragma GCC unroll 4
  for (unsigned k = 0; k < n_sections; k++) {
    s1[k] = state[2 * k];
    s2[k] = state[2 * k + 1];
  }
  for (size_t i = 0; i < n; i++) {
    double v = x[i], y;
#pragma GCC unroll 4
    for (unsigned k = 0; k < n_sections; k++) {
      DIRECT_STEP (&y, &s1[k], &s2[k], v, coef + TFX_DIRECT_SIZE * k);
      v = y;
    }
    x[i] = v;
  }
#pragma GCC unroll 4
  for (unsigned k = 0; k < n_sections; k++) {
    state[2 * k] = s1[k];
    state[2 * k + 1] = s2[k];
  }
}

static void
DIRECT_NAME (double *x, size_t n, double *state, const double *coef,
    unsigned n_sections)
{
  switch (n_sections) {
    case 1:
      run_direct_one (x, n, state, coef, 1);
      break;
    case 2:
      run_direct_one (x, n, state, coef, 2);
      break;
    case 3:
      run_direct_one (x, n, state, coef, 3);
      break;
    case 4:
      run_direct_one (x, n, state, coef, 4);
      break;
  }
}
