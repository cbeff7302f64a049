/* SPDX-License-Identifier: LGPL-2.1-or-later
 * sum_loops_tmpl.c: the loops of sum_loops.c for one sample type.
 *
 * SAMPLE float or double, NAME(order). */

/* A sample after the other through all branches. */
CLONES static void
NAME (by_sample) (SumLoops *s)
{
  const unsigned n = s->in.n_channels;
  const size_t n_sos = s->n_branches * s->n_each;

  for (unsigned c = 0; c < n; c++) {
    const SAMPLE *x = (const SAMPLE *)s->in.data + c;
    SAMPLE *y = (SAMPLE *)s->out.data + c;

    for (size_t i = 0; i < s->in.n_frames; i++, x += n, y += n) {
      const TfxSos *sos = s->sos;
      double *restrict z = s->state + 2 * c * n_sos, sum = 0.0;

      for (size_t b = 0; b < s->n_branches; b++) {
        double v = *x;

        for (size_t k = 0; k < s->n_each; k++, sos++, z += 2)
          v = step (sos, v, &z[0], &z[1]);
        sum += v;
      }
      *y = (SAMPLE)sum;
    }
  }
}

/* A section after the other, its state in registers. */
CLONES static void
NAME (by_branch) (SumLoops *s)
{
  const unsigned n = s->in.n_channels;
  const size_t n_frames = s->in.n_frames, n_sos = s->n_branches * s->n_each;
  double *v = s->row, *sum = s->row + n_frames;

  for (unsigned c = 0; c < n; c++) {
    const SAMPLE *x = (const SAMPLE *)s->in.data + c;
    SAMPLE *y = (SAMPLE *)s->out.data + c;

    memset (sum, 0, n_frames * sizeof *sum);
    for (size_t k = 0; k < n_sos; k++) {
      const TfxSos sos = s->sos[k];
      double *z = s->state + 2 * (c * n_sos + k), z1 = z[0], z2 = z[1];
      const bool is_first = k % s->n_each == 0;
      const bool is_last = (k + 1) % s->n_each == 0;

      for (size_t i = 0; i < n_frames; i++) {
        v[i] = step (&sos, is_first ? x[i * n] : v[i], &z1, &z2);
        sum[i] += is_last ? v[i] : 0.0;
      }
      z[0] = z1;
      z[1] = z2;
    }
    for (size_t i = 0; i < n_frames; i++)
      y[i * n] = (SAMPLE)sum[i];
  }
}

/* A frame after the other, channels innermost: a compiler takes vectors. */
CLONES static void
NAME (by_frame) (SumLoops *s)
{
  const unsigned n = s->in.n_channels;
  double *restrict v = s->row, *restrict sum = s->row + n;
  const SAMPLE *x = s->in.data;
  SAMPLE *y = s->out.data;

  for (size_t i = 0; i < s->in.n_frames; i++, x += n, y += n) {
    double *restrict z1 = s->state;
    const TfxSos *sos = s->sos;

    for (unsigned c = 0; c < n; c++)
      sum[c] = 0.0;
    for (size_t b = 0; b < s->n_branches; b++) {
      for (unsigned c = 0; c < n; c++)
        v[c] = x[c];
      for (size_t k = 0; k < s->n_each; k++, sos++, z1 += 2 * n) {
        const TfxSos own = *sos;
        double *restrict z2 = z1 + n;

        for (unsigned c = 0; c < n; c++)
          v[c] = step (&own, v[c], &z1[c], &z2[c]);
      }
      for (unsigned c = 0; c < n; c++)
        sum[c] += v[c];
    }
    for (unsigned c = 0; c < n; c++)
      y[c] = (SAMPLE)sum[c];
  }
}
