/* SPDX-License-Identifier: LGPL-2.1-or-later
 * plain_tmpl.c: the loops of plain.c for one sample type.
 *
 * SAMPLE float or double, NAME(order). */

/* A section after the other, its state in registers; what lies between two is
 * kept in doubles. */
static void
NAME (by_section) (Plain *p)
{
  const size_t n = p->n_frames;

  for (unsigned c = 0; c < p->n_channels; c++) {
    const SAMPLE *x = (const SAMPLE *)p->in + (ptrdiff_t)c * p->channel_stride;
    SAMPLE *y = (SAMPLE *)p->out + (ptrdiff_t)c * p->channel_stride;

    for (size_t i = 0; i < n; i++)
      p->row[i] = x[(ptrdiff_t)i * p->frame_stride];
    for (size_t k = 0; k < p->n_sos; k++) {
      const TfxSos sos = p->sos[k];
      double *z = p->state + 2 * (c * p->n_sos + k), z1 = z[0], z2 = z[1];

      for (size_t i = 0; i < n; i++) {
        const double in = p->row[i], out = sos.b0 * in + z1;

        z1 = sos.b1 * in - sos.a1 * out + z2;
        z2 = sos.b2 * in - sos.a2 * out;
        p->row[i] = out;
      }
      z[0] = z1;
      z[1] = z2;
    }
    for (size_t i = 0; i < n; i++)
      y[(ptrdiff_t)i * p->frame_stride] = (SAMPLE)p->row[i];
  }
}

/* A sample after the other through all sections. */
static void
NAME (by_sample) (Plain *p)
{
  for (unsigned c = 0; c < p->n_channels; c++) {
    const SAMPLE *x = (const SAMPLE *)p->in + (ptrdiff_t)c * p->channel_stride;
    SAMPLE *y = (SAMPLE *)p->out + (ptrdiff_t)c * p->channel_stride;

    for (size_t i = 0; i < p->n_frames; i++) {
      double v = x[(ptrdiff_t)i * p->frame_stride];
      double *restrict z = p->state + 2 * c * p->n_sos;

      for (size_t k = 0; k < p->n_sos; k++, z += 2) {
        const TfxSos *sos = &p->sos[k];
        const double in = v;

        v = sos->b0 * in + z[0];
        z[0] = sos->b1 * in - sos->a1 * v + z[1];
        z[1] = sos->b2 * in - sos->a2 * v;
      }
      y[(ptrdiff_t)i * p->frame_stride] = (SAMPLE)v;
    }
  }
}

/* A frame after the other, channels innermost: a compiler takes vectors. */
static void
NAME (by_frame) (Plain *p)
{
  const unsigned n = p->n_channels;
  double *restrict v = p->row;

  for (size_t i = 0; i < p->n_frames; i++) {
    const SAMPLE *x = (const SAMPLE *)p->in + (ptrdiff_t)i * p->frame_stride;
    SAMPLE *y = (SAMPLE *)p->out + (ptrdiff_t)i * p->frame_stride;

    for (unsigned c = 0; c < n; c++)
      v[c] = x[(ptrdiff_t)c * p->channel_stride];
    for (size_t k = 0; k < p->n_sos; k++) {
      const TfxSos sos = p->sos[k];
      double *restrict z1 = p->state + 2 * k * n, *restrict z2 = z1 + n;

      for (unsigned c = 0; c < n; c++) {
        const double in = v[c], out = sos.b0 * in + z1[c];

        z1[c] = sos.b1 * in - sos.a1 * out + z2[c];
        z2[c] = sos.b2 * in - sos.a2 * out;
        v[c] = out;
      }
    }
    for (unsigned c = 0; c < n; c++)
      y[(ptrdiff_t)c * p->channel_stride] = (SAMPLE)v[c];
  }
}
