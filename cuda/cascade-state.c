/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade-state.c: the state of a cascade, on the device and on the host. */
#include "cascade-private.h"

#include <math.h>
#include <string.h>

size_t
tfx_cascade_state_size (const TfxCudaCascade *c)
{
  /* Of no sections there is none, but the kernel wants an address. */
  return c->n_channels * c->n_sos * 2 * sizeof (double) + 16;
}

int
tfx_cascade_state_push (TfxCudaCascade *c)
{
  int ret;

  if (!c->host_is_newer)
    return 0;
  ret = tfx_buffer_copy_up (c->stream, c->state[c->current].data, c->host.data,
      tfx_cascade_state_size (c), "uploading the state");
  c->host_is_newer = ret < 0;
  c->is_moving = true;
  return ret;
}

/* The host's copy is that of the device. */
static int
state_pull (TfxCudaCascade *c)
{
  int ret;

  if (c->host_is_valid)
    return 0;
  ret = tfx_buffer_download (c->stream, c->host.data, c->state[c->current].data,
      tfx_cascade_state_size (c));
  c->host_is_valid = ret == 0;
  /* It has waited for the stream. */
  c->is_moving = c->is_moving && ret < 0;
  return ret;
}

/* Before the host's copy is written. */
static int
state_wait (TfxCudaCascade *c)
{
  int ret = 0;

  if (c->is_moving)
    ret = tfx_context_wait (c->stream, NULL, "waiting for the state", NULL);
  c->is_moving = ret < 0;
  return ret;
}

int
tfx_cuda_cascade_get_state (TfxCudaCascade *c, size_t first, size_t n_sos,
    double *state)
{
  int ret = state_pull (c);
  const double *host = c->host.data;

  if (ret < 0)
    return ret;
  for (unsigned i = 0; i < c->n_channels; i++)
    memcpy (state + i * 2 * n_sos, host + (i * c->n_sos + first) * 2,
        2 * n_sos * sizeof *state);
  return 0;
}

int
tfx_cuda_cascade_set_state (TfxCudaCascade *c, size_t first, size_t n_sos,
    const double *state)
{
  int ret = state_pull (c);
  double *host = c->host.data;

  if (ret == 0)
    ret = state_wait (c);
  if (ret < 0)
    return ret;
  for (unsigned i = 0; i < c->n_channels; i++)
    memcpy (host + (i * c->n_sos + first) * 2, state + i * 2 * n_sos,
        2 * n_sos * sizeof *state);
  c->host_is_newer = true;
  return 0;
}

/* Channel by channel: a pitch is what the driver likes. */
int
tfx_cuda_cascade_copy_state (TfxCudaCascade *c, size_t first, size_t n_sos,
    CUdeviceptr state, bool is_kept)
{
  const size_t size = 2 * n_sos * sizeof (double);
  const size_t pitch = 2 * c->n_sos * sizeof (double);
  const CUdeviceptr mine =
      c->state[c->current].data + 2 * first * sizeof (double);
  int ret = tfx_cascade_state_push (c);

  for (unsigned i = 0; ret == 0 && i < c->n_channels; i++)
    ret = is_kept ? tfx_buffer_copy (c->stream, state + i * size,
                        mine + i * pitch, size)
                  : tfx_buffer_copy (c->stream, mine + i * pitch,
                        state + i * size, size);
  if (ret == 0)
    ret = tfx_context_drain (c->stream);
  c->host_is_valid = c->host_is_valid && is_kept;
  return ret;
}

void
tfx_cuda_cascade_reset (TfxCudaCascade *c)
{
  const size_t size = tfx_cascade_state_size (c);

  state_wait (c);
  memset (c->host.data, 0, size);
  c->host_is_valid = true;
  /* If that fails so will the next run. */
  c->host_is_newer =
      tfx_context_check (c->stream->cuda,
          c->stream->cuda->driver->memset_d8_async (c->state[c->current].data,
              0, size, c->stream->handle),
          "clearing a state") < 0;
}

double
tfx_cuda_cascade_state_peak (TfxCudaCascade *c)
{
  double peak = 0.0;

  if (state_pull (c) < 0)
    return INFINITY;
  for (size_t i = 0; i < c->n_channels * c->n_sos * 2; i++)
    peak = fmax (peak, fabs (((const double *)c->host.data)[i]));
  return peak;
}
