/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-paths.c: which kernels of a FIR filter lead from inputs to outputs. */
#include <stdlib.h>
#include <string.h>

#include "convolver-private.h"

/* The kernel from an input to an output; -1: none. */
static int
find_kernel (const TfxConvolverSpec *spec, unsigned out, unsigned in)
{
  if (spec->matrix)
    return spec->matrix[out * spec->n_channels + in];
  return out != in ? -1 : spec->n_kernels > 1 ? (int)in : 0;
}

/* Counts, and fills the arrays unless they are NULL. */
static void
walk (const TfxConvolverSpec *spec, TfxConvolverPaths *p)
{
  const unsigned n = spec->n_channels;

  for (unsigned in = 0; in < n; in++) {
    bool is_used = !spec->matrix;

    for (unsigned out = 0; out < n && !is_used; out++)
      is_used = find_kernel (spec, out, in) >= 0;
    if (p->ins)
      p->in_of[in] = is_used ? p->n_ins : TFX_CONVOLVER_NONE;
    if (p->ins && is_used)
      p->ins[p->n_ins] = in;
    p->n_ins += is_used;
  }
  for (unsigned out = 0; out < n; out++) {
    const unsigned begin = spec->matrix ? 0 : out;
    const unsigned end = spec->matrix ? n : out + 1;
    const size_t before = p->n;

    for (unsigned in = begin; in < end; in++) {
      const int kernel = find_kernel (spec, out, in);

      if (p->ins && kernel >= 0)
        p->paths[p->n] = (TfxConvolverPath){ p->in_of[in], (uint32_t)kernel };
      p->n += kernel >= 0;
    }
    if (p->ins) {
      p->out_of[out] = p->n > before ? p->n_outs : TFX_CONVOLVER_NONE;
      p->firsts[p->n_outs + (p->n > before)] = (uint32_t)p->n;
    }
    p->n_outs += p->n > before;
    p->most = p->n - before > p->most ? p->n - before : p->most;
  }
}

TfxConvolverPaths
tfx_convolver_paths_count (const TfxConvolverSpec *spec)
{
  const size_t n = spec->n_channels;
  TfxConvolverPaths paths = { .is_matrix = spec->matrix != NULL };

  if (spec->matrix)
    walk (spec, &paths);
  else
    paths = (TfxConvolverPaths){ false, (unsigned)n, (unsigned)n, n, 1 };
  return paths;
}

TfxConvolverPaths *
tfx_convolver_paths_new (const TfxConvolverSpec *spec)
{
  const TfxConvolverPaths all = tfx_convolver_paths_count (spec);
  const size_t n = spec->n_channels;
  TfxConvolverPaths *p =
      calloc (1, sizeof *p + (4 * n + 1 + 2 * all.n) * sizeof (uint32_t));

  if (!p)
    return NULL;
  p->is_matrix = all.is_matrix;
  p->ins = (uint32_t *)(p + 1);
  p->in_of = p->ins + n;
  p->out_of = p->in_of + n;
  p->firsts = p->out_of + n;
  p->paths = (TfxConvolverPath *)(p->firsts + n + 1);
  walk (spec, p);
  return p;
}

bool
tfx_convolver_paths_are_equal (const TfxConvolverPaths *a,
    const TfxConvolverPaths *b, unsigned n_channels)
{
  return a->is_matrix == b->is_matrix && a->n == b->n &&
         a->n_outs == b->n_outs && a->n_ins == b->n_ins &&
         memcmp (a->in_of, b->in_of, n_channels * sizeof *a->in_of) == 0 &&
         memcmp (a->out_of, b->out_of, n_channels * sizeof *a->out_of) == 0 &&
         memcmp (a->firsts, b->firsts, (a->n_outs + 1) * sizeof *a->firsts) ==
             0 &&
         memcmp (a->paths, b->paths, a->n * sizeof *a->paths) == 0;
}
