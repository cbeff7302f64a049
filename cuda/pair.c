/* SPDX-License-Identifier: LGPL-2.1-or-later
 * pair.c: see pair.h. */
#include "pair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "past.h"

void
tfx_cuda_pair_init (TfxCudaPair *p, TfxCudaStream *stream, size_t n)
{
  *p = (TfxCudaPair){ .stream = stream, .n = n };
}

void
tfx_cuda_pair_clear (TfxCudaPair *p)
{
  tfx_buffer_free (p->stream, &p->data[0]);
  tfx_buffer_free (p->stream, &p->data[1]);
}

int
tfx_cuda_pair_reserve (TfxCudaPair *p)
{
  int ret = tfx_buffer_reserve (p->stream, &p->data[0], p->n * sizeof (double));

  if (ret == 0)
    ret = tfx_buffer_reserve (p->stream, &p->data[1], p->n * sizeof (double));
  return ret;
}

CUdeviceptr
tfx_cuda_pair_in (const TfxCudaPair *p)
{
  return p->has_state ? p->data[p->current].data : 0;
}

CUdeviceptr
tfx_cuda_pair_out (const TfxCudaPair *p)
{
  return p->data[!p->current].data;
}

void
tfx_cuda_pair_commit (TfxCudaPair *p)
{
  p->current = !p->current;
  p->has_state = p->n > 0;
}

int
tfx_cuda_pair_get (TfxCudaPair *p, double *numbers)
{
  if (p->has_state)
    return tfx_buffer_download (p->stream, numbers, p->data[p->current].data,
        p->n * sizeof *numbers);
  memset (numbers, 0, p->n * sizeof *numbers);
  return 0;
}

int
tfx_cuda_pair_set (TfxCudaPair *p, const double *numbers)
{
  int ret;

  if (p->n == 0)
    return 0;
  ret = tfx_buffer_upload (p->stream, &p->data[p->current], numbers,
      p->n * sizeof *numbers);
  p->has_state = p->has_state || ret == 0;
  return ret;
}

int
tfx_cuda_pair_copy (TfxCudaPair *p, const TfxCudaPair *from)
{
  int ret = 0;

  if (from->has_state) {
    ret = tfx_cuda_pair_reserve (p);
    if (ret == 0)
      ret = tfx_buffer_copy (p->stream, p->data[p->current].data,
          from->data[from->current].data, p->n * sizeof (double));
  }
  if (ret == 0)
    p->has_state = from->has_state;
  return ret;
}

double
tfx_cuda_pair_peak (TfxCudaPair *p)
{
  double *numbers = malloc ((p->n + 1) * sizeof *numbers);
  double peak = 0.0;

  if (!numbers || tfx_cuda_pair_get (p, numbers) < 0) {
    free (numbers);
    return INFINITY;
  }
  for (size_t i = 0; i < p->n; i++)
    peak = fmax (peak, fabs (numbers[i]));
  free (numbers);
  return peak;
}
