/* SPDX-License-Identifier: LGPL-2.1-or-later
 * past.c: see past.h.  A ring is as large as twice the past at most: of a long
 * block only its end is kept. */
#include "past.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void
tfx_cuda_past_init (TfxCudaPast *p, TfxCudaQueue *queue, unsigned n_channels,
    size_t length)
{
  *p = (TfxCudaPast){ .queue = queue,
    .n_channels = n_channels,
    .length = length };
}

void
tfx_cuda_past_clear (TfxCudaPast *p)
{
  tfx_buffer_free (p->queue, &p->data);
}

/* ---- the ring ------------------------------------------------------------------- */

/* What is in @fresh takes the place of the ring, unless that failed: then the old
 * one is still there.  Returns what came. */
static int
ring_replace (TfxCudaPast *p, TfxBuffer *fresh, size_t ring_size, int ret)
{
  tfx_buffer_free (p->queue, ret == 0 ? &p->data : fresh);
  if (ret < 0)
    return ret;
  p->data = *fresh;
  p->size = ring_size;
  p->position = p->length % ring_size;
  return 0;
}

/* A ring of this size, from a state or at rest. */
static int
ring_make (TfxCudaPast *p, size_t ring_size, const double *state)
{
  size_t size = p->n_channels * ring_size * sizeof (double);
  TfxBuffer fresh = { 0 };
  double *ring;
  int ret;

  if (!state) {
    p->size = ring_size;
    p->position = p->length % ring_size;
    ret = tfx_buffer_reserve_zeros (p->queue, &p->data, size, true);
    if (ret < 0)
      p->size = p->position = 0;
    return ret;
  }
  ring = calloc (p->n_channels * ring_size, sizeof *ring);
  if (!ring)
    return -ENOMEM;
  for (unsigned c = 0; c < p->n_channels; c++)
    memcpy (ring + c * ring_size, state + c * p->length,
        p->length * sizeof *ring);
  ret = tfx_buffer_upload (p->queue, &fresh, ring, size);
  free (ring);
  return ring_replace (p, &fresh, ring_size, ret);
}

/* What counts of one ring to the start of another one of ring_size. */
static int
ring_copy (const TfxCudaPast *p, const TfxCudaPast *from, CUdeviceptr to,
    size_t ring_size)
{
  const size_t width = sizeof (double);
  const size_t first = (from->position + from->size - p->length) % from->size;
  const size_t n =
      from->size - first < p->length ? from->size - first : p->length;
  int ret = 0;

  for (unsigned c = 0; ret == 0 && c < p->n_channels; c++) {
    const CUdeviceptr ring = from->data.data + c * from->size * width;
    const CUdeviceptr fresh = to + c * ring_size * width;

    ret = tfx_buffer_copy (p->queue, fresh, ring + first * width, n * width);
    if (ret == 0 && n < p->length)
      ret = tfx_buffer_copy (p->queue, fresh + n * width, ring,
          (p->length - n) * width);
  }
  return ret;
}

/* A ring of this size with what counts of another one, which may be its own.  If
 * that fails the old one is still there. */
static int
ring_take (TfxCudaPast *p, const TfxCudaPast *from, size_t ring_size)
{
  TfxBuffer fresh = { 0 };
  int ret = tfx_buffer_reserve_zeros (p->queue, &fresh,
      p->n_channels * ring_size * sizeof (double), true);

  if (ret == 0)
    ret = ring_copy (p, from, fresh.data, ring_size);
  return ring_replace (p, &fresh, ring_size, ret);
}

int
tfx_cuda_past_copy (TfxCudaPast *p, const TfxCudaPast *from)
{
  if (p->length == 0)
    return 0;
  if (from->size > 0)
    return ring_take (p, from, p->size ? p->size : p->length + 1);
  tfx_cuda_past_reset (p);
  return 0;
}

int
tfx_cuda_past_reserve (TfxCudaPast *p, size_t n_frames)
{
  size_t kept = n_frames < p->length ? n_frames : p->length;
  /* Some more, so that blocks of changing length do not grow it each time. */
  size_t ask = kept + kept / 2 < p->length ? kept + kept / 2 : p->length;

  if (p->length == 0 || p->size >= p->length + kept)
    return 0;
  if (p->size == 0)
    return ring_make (p, p->length + ask, NULL);
  return ring_take (p, p, p->length + ask);
}

TfxKernelRing
tfx_cuda_past_ring (TfxCudaPast *p, size_t n_frames)
{
  TfxKernelRing ring = { 0, 1, 0, 0 };

  p->kept = n_frames < p->length ? n_frames : p->length;
  if (p->length > 0)
    ring = (TfxKernelRing){ p->data.data, p->size, p->position,
      n_frames - p->kept };
  return ring;
}

void
tfx_cuda_past_commit (TfxCudaPast *p)
{
  if (p->size > 0)
    p->position = (p->position + p->kept) % p->size;
  p->kept = 0;
}

/* ---- state ------------------------------------------------------------------------ */

int
tfx_cuda_past_get_state (TfxCudaPast *p, double *state)
{
  size_t size = p->n_channels * p->size * sizeof *state;
  double *ring;
  int ret;

  if (p->size == 0) {
    memset (state, 0, p->n_channels * p->length * sizeof *state);
    return 0;
  }
  ring = malloc (size);
  if (!ring)
    return -ENOMEM;
  ret = tfx_buffer_download (p->queue, ring, p->data.data, size);
  for (unsigned c = 0; ret == 0 && c < p->n_channels; c++) {
    for (size_t i = 0; i < p->length; i++)
      *state++ =
          ring[c * p->size + (p->position + p->size - p->length + i) % p->size];
  }
  free (ring);
  return ret;
}

int
tfx_cuda_past_set_state (TfxCudaPast *p, const double *state)
{
  if (p->length == 0)
    return 0;
  return ring_make (p, p->size ? p->size : p->length + 1, state);
}

void
tfx_cuda_past_reset (TfxCudaPast *p)
{
  /* The next run makes a ring at rest. */
  p->size = 0;
  p->position = 0;
}

double
tfx_cuda_past_peak (TfxCudaPast *p)
{
  size_t n = p->n_channels * p->length;
  double *state = malloc ((n + 1) * sizeof *state);
  double peak = 0.0;

  if (!state || tfx_cuda_past_get_state (p, state) < 0) {
    free (state);
    return INFINITY;
  }
  for (size_t i = 0; i < n; i++)
    peak = fmax (peak, fabs (state[i]));
  free (state);
  return peak;
}
