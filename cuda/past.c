/* SPDX-License-Identifier: LGPL-2.1-or-later
 * past.c: see past.h.  A ring is as large as twice the past at most: of a long
 * block only its end is kept. */
#include "past.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void
tfx_cuda_past_init (TfxCudaPast *p, TfxCudaStream *stream, unsigned n_channels,
    size_t length)
{
  *p = (TfxCudaPast){ .stream = stream,
    .n_channels = n_channels,
    .length = length };
}

void
tfx_cuda_past_clear (TfxCudaPast *p)
{
  tfx_buffer_free (p->stream, &p->data);
}

/* ---- the ring ------------------------------------------------------------------- */

/* Length of a new ring in frames: that of the memory, at least one more than the
 * past, at most twice the past. */
static size_t
ring_size (const TfxCudaPast *p)
{
  const size_t n = p->data.size / (p->n_channels * sizeof (double));

  return n <= p->length ? p->length + 1 : n < 2 * p->length ? n : 2 * p->length;
}

/* A ring at rest of this size.  Memory that is large enough is used again.  On failure
 * there is none. */
static int
ring_make (TfxCudaPast *p, size_t size)
{
  const int ret = tfx_buffer_reserve_zeros (p->stream, &p->data,
      p->n_channels * size * sizeof (double), true);

  p->size = ret == 0 ? size : 0;
  p->position = ret == 0 ? p->length % size : 0;
  return ret;
}

/* The frame of the ring where the past begins; returns how many of its frames precede
 * the end of the ring, the others are at the start. */
static size_t
ring_find (const TfxCudaPast *p, size_t *first)
{
  *first = (p->position + p->size - p->length) % p->size;
  return p->size - *first < p->length ? p->size - *first : p->length;
}

/* Copies the past of one ring to the start of another one of ring_size. */
static int
ring_copy (const TfxCudaPast *p, const TfxCudaPast *from, CUdeviceptr to,
    size_t ring_size)
{
  const size_t width = sizeof (double);
  size_t first;
  const size_t n = ring_find (from, &first);
  int ret = 0;

  for (unsigned c = 0; ret == 0 && c < p->n_channels; c++) {
    const CUdeviceptr ring = from->data.data + c * from->size * width;
    const CUdeviceptr fresh = to + c * ring_size * width;

    ret = tfx_buffer_copy (p->stream, fresh, ring + first * width, n * width);
    if (ret == 0 && n < p->length)
      ret = tfx_buffer_copy (p->stream, fresh + n * width, ring,
          (p->length - n) * width);
  }
  return ret;
}

/* A larger ring.  If that fails the old one is still there. */
static int
ring_grow (TfxCudaPast *p, size_t size)
{
  TfxCudaPast larger = *p;
  int ret;

  larger.data = (TfxBuffer){ 0 };
  ret = ring_make (&larger, size);
  if (ret == 0)
    ret = ring_copy (p, p, larger.data.data, size);
  tfx_buffer_free (p->stream, ret == 0 ? &p->data : &larger.data);
  if (ret == 0)
    *p = larger;
  return ret;
}

int
tfx_cuda_past_copy (TfxCudaPast *p, const TfxCudaPast *from)
{
  int ret;

  tfx_cuda_past_reset (p);
  if (p->length == 0 || from->size == 0)
    return 0;
  ret = ring_make (p, ring_size (p));
  return ret < 0 ? ret : ring_copy (p, from, p->data.data, p->size);
}

int
tfx_cuda_past_reserve (TfxCudaPast *p, size_t n_frames)
{
  size_t kept = n_frames < p->length ? n_frames : p->length;
  /* Some more, so that blocks of changing length do not grow it each time. */
  size_t ask = kept + kept / 2 < p->length ? kept + kept / 2 : p->length;

  if (p->length == 0 || p->size >= p->length + kept)
    return 0;
  return p->size == 0 ? ring_make (p, p->length + ask)
                      : ring_grow (p, p->length + ask);
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
  const size_t width = sizeof *state, n = p->length;
  size_t first, n_first;
  int ret;

  if (p->size == 0) {
    memset (state, 0, p->n_channels * n * width);
    return 0;
  }
  /* As in tfx_buffer_download(). */
  ret = tfx_context_drain (p->stream);
  n_first = ring_find (p, &first);
  for (unsigned c = 0; ret == 0 && c < p->n_channels; c++, state += n) {
    const CUdeviceptr ring = p->data.data + c * p->size * width;

    ret = tfx_buffer_copy_down (p->stream, state, ring + first * width,
        n_first * width, "downloading the state");
    if (ret == 0 && n_first < n)
      ret = tfx_buffer_copy_down (p->stream, state + n_first, ring,
          (n - n_first) * width, "downloading the state");
  }
  if (tfx_context_drain (p->stream) < 0 && ret == 0)
    ret = -EIO;
  return ret;
}

int
tfx_cuda_past_set_state (TfxCudaPast *p, const double *state)
{
  const size_t width = sizeof *state;
  int ret;

  if (p->length == 0)
    return 0;
  ret = ring_make (p, ring_size (p));
  if (ret == 0)
    ret = tfx_context_drain (p->stream);
  for (unsigned c = 0; ret == 0 && c < p->n_channels; c++)
    ret = tfx_buffer_copy_up (p->stream, p->data.data + c * p->size * width,
        state + c * p->length, p->length * width, "uploading the state");
  if (tfx_context_drain (p->stream) < 0 && ret == 0)
    ret = -EIO;
  return ret;
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
