/* SPDX-License-Identifier: LGPL-2.1-or-later
 * state.c: see state.h.  A ring is as large as twice the past at most: of a long
 * block only its end is kept. */
#include "state.h"

#include <errno.h>
#include <string.h>

#define WIDTH sizeof (double)

void
tfx_cuda_state_clear (TfxCudaState *s)
{
  tfx_buffer_free (s->stream, &s->ring);
  tfx_buffer_free (s->stream, &s->numbers[0]);
  tfx_buffer_free (s->stream, &s->numbers[1]);
}

/* ---- the ring ------------------------------------------------------------------- */

/* Length of a new ring in frames: that of the memory, at least one more than the
 * past, at most twice the past. */
static size_t
ring_size (const TfxCudaState *s)
{
  const size_t n = s->ring.size / (s->n_channels * WIDTH);

  return n <= s->n_past ? s->n_past + 1 : n < 2 * s->n_past ? n : 2 * s->n_past;
}

/* A ring at rest of this size.  Memory that is large enough is used again.  On failure
 * there is none. */
static int
ring_make (TfxCudaState *s, size_t size)
{
  const int ret = tfx_buffer_reserve_zeros (s->stream, &s->ring,
      s->n_channels * size * WIDTH, true);

  s->size = ret == 0 ? size : 0;
  s->position = ret == 0 ? s->n_past % size : 0;
  return ret;
}

/* The frame of the ring where the past begins; returns how many of its frames precede
 * the end of the ring, the others are at the start. */
static size_t
ring_find (const TfxCudaState *s, size_t *first)
{
  *first = (s->position + s->size - s->n_past) % s->size;
  return s->size - *first < s->n_past ? s->size - *first : s->n_past;
}

/* Copies the past of one ring to the start of another one of ring_size. */
static int
ring_copy (const TfxCudaState *s, const TfxCudaState *from, CUdeviceptr to,
    size_t ring_size)
{
  size_t first;
  const size_t n = ring_find (from, &first);
  int ret = 0;

  for (unsigned c = 0; ret == 0 && c < s->n_channels; c++) {
    const CUdeviceptr ring = from->ring.data + c * from->size * WIDTH;
    const CUdeviceptr fresh = to + c * ring_size * WIDTH;

    ret = tfx_buffer_copy (s->stream, fresh, ring + first * WIDTH, n * WIDTH);
    if (ret == 0 && n < s->n_past)
      ret = tfx_buffer_copy (s->stream, fresh + n * WIDTH, ring,
          (s->n_past - n) * WIDTH);
  }
  return ret;
}

/* A larger ring.  If that fails the old one is still there. */
static int
ring_grow (TfxCudaState *s, size_t size)
{
  TfxCudaState larger = *s;
  int ret;

  larger.ring = (TfxBuffer){ 0 };
  ret = ring_make (&larger, size);
  if (ret == 0)
    ret = ring_copy (s, s, larger.ring.data, size);
  tfx_buffer_free (s->stream, ret == 0 ? &s->ring : &larger.ring);
  if (ret == 0)
    *s = larger;
  return ret;
}

/* ---- a launch ------------------------------------------------------------------- */

static int
reserve_numbers (TfxCudaState *s)
{
  const size_t size = s->n_channels * s->n_numbers * WIDTH;
  int ret = tfx_buffer_reserve (s->stream, &s->numbers[0], size);

  return ret < 0 ? ret : tfx_buffer_reserve (s->stream, &s->numbers[1], size);
}

int
tfx_cuda_state_reserve (TfxCudaState *s, size_t n_frames)
{
  size_t kept = n_frames < s->n_past ? n_frames : s->n_past;
  /* Some more, so that blocks of changing length do not grow it each time. */
  size_t ask = kept + kept / 2 < s->n_past ? kept + kept / 2 : s->n_past;
  int ret = reserve_numbers (s);

  if (ret < 0 || s->n_past == 0 || s->size >= s->n_past + kept)
    return ret;
  return s->size == 0 ? ring_make (s, s->n_past + ask)
                      : ring_grow (s, s->n_past + ask);
}

TfxKernelRing
tfx_cuda_state_ring (TfxCudaState *s, size_t n_frames)
{
  TfxKernelRing ring = { 0, 1, 0, 0 };

  s->kept = n_frames < s->n_past ? n_frames : s->n_past;
  if (s->n_past > 0)
    ring = (TfxKernelRing){ s->ring.data, s->size, s->position,
      n_frames - s->kept };
  return ring;
}

CUdeviceptr
tfx_cuda_state_in (const TfxCudaState *s)
{
  return s->has_numbers ? s->numbers[s->current].data : 0;
}

CUdeviceptr
tfx_cuda_state_out (const TfxCudaState *s)
{
  return s->numbers[!s->current].data;
}

void
tfx_cuda_state_commit (TfxCudaState *s)
{
  if (s->size > 0)
    s->position = (s->position + s->kept) % s->size;
  s->kept = 0;
  s->current = !s->current;
  s->has_numbers = s->n_numbers > 0;
}

/* ---- from and to the host ------------------------------------------------------- */

/* The stream is waited for before and after, as in tfx_buffer_download(). */
int
tfx_cuda_state_get (TfxCudaState *s, double *to)
{
  const size_t n = s->n_past + s->n_numbers;
  const char *what = "downloading the state";
  int ret;

  memset (to, 0, s->n_channels * n * WIDTH);
  if (s->size == 0 && !s->has_numbers)
    return 0;
  ret = tfx_context_drain (s->stream);
  for (unsigned c = 0; ret == 0 && s->size > 0 && c < s->n_channels; c++) {
    const CUdeviceptr ring = s->ring.data + c * s->size * WIDTH;
    size_t first;
    const size_t n_first = ring_find (s, &first);

    ret = tfx_buffer_copy_down (s->stream, to + c * n, ring + first * WIDTH,
        n_first * WIDTH, what);
    if (ret == 0 && n_first < s->n_past)
      ret = tfx_buffer_copy_down (s->stream, to + c * n + n_first, ring,
          (s->n_past - n_first) * WIDTH, what);
  }
  if (ret == 0 && s->has_numbers && s->n_past == 0)
    ret = tfx_buffer_copy_down (s->stream, to, s->numbers[s->current].data,
        s->n_channels * n * WIDTH, what);
  else if (s->has_numbers)
    for (unsigned c = 0; ret == 0 && c < s->n_channels; c++)
      ret = tfx_buffer_copy_down (s->stream, to + c * n + s->n_past,
          s->numbers[s->current].data + c * s->n_numbers * WIDTH,
          s->n_numbers * WIDTH, what);
  return tfx_context_drain (s->stream) < 0 && ret == 0 ? -EIO : ret;
}

int
tfx_cuda_state_set (TfxCudaState *s, const double *from)
{
  const size_t n = s->n_past + s->n_numbers;
  const char *what = "uploading the state";
  int ret = reserve_numbers (s);

  if (n == 0)
    return 0;
  if (ret == 0 && s->n_past > 0)
    ret = ring_make (s, ring_size (s));
  if (ret == 0)
    ret = tfx_context_drain (s->stream);
  for (unsigned c = 0; ret == 0 && s->n_past > 0 && c < s->n_channels; c++)
    ret = tfx_buffer_copy_up (s->stream, s->ring.data + c * s->size * WIDTH,
        from + c * n, s->n_past * WIDTH, what);
  if (ret == 0 && s->n_past == 0)
    ret = tfx_buffer_copy_up (s->stream, s->numbers[s->current].data, from,
        s->n_channels * n * WIDTH, what);
  else if (s->n_numbers > 0)
    for (unsigned c = 0; ret == 0 && c < s->n_channels; c++)
      ret = tfx_buffer_copy_up (s->stream,
          s->numbers[s->current].data + c * s->n_numbers * WIDTH,
          from + c * n + s->n_past, s->n_numbers * WIDTH, what);
  if (tfx_context_drain (s->stream) < 0 && ret == 0)
    ret = -EIO;
  s->has_numbers = s->has_numbers || (ret == 0 && s->n_numbers > 0);
  return ret;
}

int
tfx_cuda_state_copy (TfxCudaState *s, const TfxCudaState *from)
{
  int ret = 0;

  /* The next run makes a ring at rest. */
  s->size = s->position = 0;
  if (s->n_past > 0 && from->size > 0) {
    ret = ring_make (s, ring_size (s));
    if (ret == 0)
      ret = ring_copy (s, from, s->ring.data, s->size);
  }
  if (ret == 0 && from->has_numbers)
    ret = reserve_numbers (s);
  if (ret == 0 && from->has_numbers)
    ret = tfx_buffer_copy (s->stream, s->numbers[s->current].data,
        from->numbers[from->current].data,
        s->n_channels * s->n_numbers * WIDTH);
  if (ret == 0)
    s->has_numbers = from->has_numbers;
  return ret;
}
