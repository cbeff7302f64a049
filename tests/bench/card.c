/* SPDX-License-Identifier: LGPL-2.1-or-later
 * card.c: see card.h. */
#include "card.h"

#include <stdio.h>
#include <string.h>

#include "bench.h"

static double wall_ms; /* when card_begin() returned */

bool
card_open (Card *card, char *why, size_t why_size)
{
  const TfxDriver *d;

  memset (card, 0, sizeof *card);
  if (tfx_cuda_new (-1, &card->cuda, why, why_size) < 0)
    return false;
  d = card->driver = tfx_driver_get (NULL);
  card->stream = tfx_cuda_stream (card->cuda);
  card->is_standin = strncmp (tfx_cuda_name (card->cuda), "stand-in", 8) == 0;
  d->driver_get_version (&card->driver_version);
  if (d->primary_ctx_retain (&card->context, tfx_cuda_device (card->cuda)) !=
          CUDA_SUCCESS ||
      d->ctx_push (card->context) != CUDA_SUCCESS ||
      d->event_create (&card->start, 0) != CUDA_SUCCESS ||
      d->event_create (&card->end, 0) != CUDA_SUCCESS) {
    snprintf (why, why_size, "%s cannot be used", tfx_cuda_name (card->cuda));
    card_close (card);
    return false;
  }
  return true;
}

void
card_close (Card *card)
{
  const TfxDriver *d = card->driver;
  CUcontext context;

  if (!card->cuda)
    return;
  if (card->start)
    d->event_destroy (card->start);
  if (card->end)
    d->event_destroy (card->end);
  if (card->context) {
    d->ctx_pop (&context);
    d->primary_ctx_release (tfx_cuda_device (card->cuda));
  }
  tfx_cuda_unref (&card->cuda);
}

void *
card_alloc (Card *card, size_t size)
{
  CUdeviceptr memory = 0;

  if (card->driver->mem_alloc (&memory, size) != CUDA_SUCCESS)
    return NULL;
  return (void *)(uintptr_t)memory;
}

void
card_free (Card *card, void *memory)
{
  if (memory)
    card->driver->mem_free ((uintptr_t)memory);
}

static bool
wait (Card *card)
{
  return card->driver->stream_synchronize (card->stream) == CUDA_SUCCESS;
}

bool
card_upload (Card *card, void *to, const void *from, size_t size)
{
  return card->driver->memcpy_htod_async ((uintptr_t)to, from, size,
             card->stream) == CUDA_SUCCESS &&
         wait (card);
}

bool
card_download (Card *card, void *to, const void *from, size_t size)
{
  return card->driver->memcpy_dtoh_async (to, (uintptr_t)from, size,
             card->stream) == CUDA_SUCCESS &&
         wait (card);
}

bool
card_copy (Card *card, void *to, const void *from, size_t size)
{
  return card->driver->memcpy_dtod_async ((uintptr_t)to, (uintptr_t)from, size,
             card->stream) == CUDA_SUCCESS;
}

bool
card_begin (Card *card)
{
  bool good = wait (card);

  wall_ms = bench_time_now ().elapsed_ns / 1e6;
  return good &&
         card->driver->event_record (card->start, card->stream) == CUDA_SUCCESS;
}

bool
card_end (Card *card, CardTime *time)
{
  float ms = 0;
  bool good =
      card->driver->event_record (card->end, card->stream) == CUDA_SUCCESS &&
      card->driver->event_synchronize (card->end) == CUDA_SUCCESS;

  time->wall_ms = bench_time_now ().elapsed_ns / 1e6 - wall_ms;
  good = good && card->driver->event_elapsed_time (&ms, card->start,
                     card->end) == CUDA_SUCCESS;
  time->device_ms = (double)ms;
  return good;
}
