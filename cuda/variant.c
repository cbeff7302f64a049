/* SPDX-License-Identifier: LGPL-2.1-or-later
 * variant.c: the kernels of a cascade, their tables and their layouts. */
#include "cascade-private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool
has_drive (const TfxVariant *v)
{
  return v->id.is_narrow && v->id.real == TFX_REAL_DOUBLE;
}

static size_t
size_of_tables (const TfxVariant *v)
{
  return tfx_tables_size (v->groups, has_drive (v));
}

/* The kernel and the room for its tables. */
static int
make (TfxCudaCascade *c, int which)
{
  TfxCuda *cuda = c->stream->cuda;
  TfxVariant *v = &c->variants[which];
  int ret;

  if (v->is_ready)
    return 0;
  v->groups = tfx_tables_group (c->n_sos, which == VARIANT_DOUBLE);
  v->id = (TfxKernelId){
    .kind = TFX_KERNEL_CASCADE,
    .real = which == VARIANT_DOUBLE ? TFX_REAL_DOUBLE : cuda->real,
    .is_narrow = which == VARIANT_NARROW,
    .group = v->groups.size,
  };
  ret = tfx_module_kernel (cuda, &v->id, &v->kernel);
  if (ret == 0)
    ret = tfx_buffer_reserve (c->stream, &v->tables, size_of_tables (v));
  if (ret == 0)
    ret = tfx_pinned_reserve (c->stream, &v->staging, size_of_tables (v));
  if (ret == 0 && !v->uploaded)
    ret = tfx_context_check (cuda,
        cuda->driver->event_create (&v->uploaded, CU_EVENT_DISABLE_TIMING),
        "making an event");
  if (ret == 0 && v->id.is_narrow && !v->fixed) {
    v->fixed = aligned_alloc (_Alignof(TfxFixedArgs), sizeof *v->fixed);
    ret = v->fixed ? 0 : -ENOMEM;
  }
  v->is_ready = ret == 0;
  v->tables_are_old = true;
  return ret;
}

bool
tfx_variant_is_normalised (const TfxCudaCascade *c, const TfxVariant *v)
{
  return v->id.is_narrow ||
         (v->id.real == TFX_REAL_DOUBLE && c->can_normalise[v->id.real]);
}

int
tfx_variant_upload (TfxCudaCascade *c, TfxVariant *v)
{
  TfxCuda *cuda = c->stream->cuda;
  const TfxDriver *d = cuda->driver;
  int ret;

  if (!v->tables_are_old)
    return 0;
  v->fixed_segment = 0;
  ret = tfx_context_wait (c->stream, v->uploaded,
      "waiting for the last coefficients", NULL);
  if (ret < 0)
    return ret;
  tfx_tables_fill (v->staging.data, v->id.real, v->groups, c->sos, c->n_sos,
      c->gain, tfx_variant_is_normalised (c, v), has_drive (v));
  ret = tfx_buffer_copy_up (c->stream, v->tables.data, v->staging.data,
      size_of_tables (v), "uploading coefficients");
  if (ret == 0)
    ret = tfx_context_check (cuda,
        d->event_record (v->uploaded, c->stream->handle),
        "uploading coefficients");
  v->tables_are_old = ret < 0;
  return ret;
}

int
tfx_variant_shape (TfxCudaCascade *c, TfxVariant *v, size_t n_frames,
    bool by_channel)
{
  TfxCuda *cuda = c->stream->cuda;
  TfxShapeAsk ask;
  int per_multiprocessor = 0;
  size_t words;
  int ret;

  tfx_shape_ask (&cuda->card, v->groups, v->id.real, v->id.is_narrow, &ask);
  ask.n_frames = n_frames;
  ask.n_channels = c->n_channels;
  ask.by_channel = by_channel;
  ask.max_threads = (unsigned)v->kernel.max_threads;
  if (memcmp (&ask, &v->ask, sizeof ask) == 0)
    return 0;

  v->shape = tfx_shape_choose (&ask, c->force_segment, c->force_lanes);
  ret = tfx_context_check (cuda,
      cuda->driver->occupancy (&per_multiprocessor, v->kernel.function,
          (int)v->shape.n_warps * 32, v->shape.shared_size),
      "asking how many blocks fit");
  if (ret < 0)
    return ret;
  v->resident = (unsigned)(per_multiprocessor * cuda->card.n_multiprocessors);
  if (v->resident == 0)
    v->resident = 1;
  if (c->force_grid > 0)
    v->resident = c->force_grid;
  words = tfx_shape_carry_words (&v->shape, c->n_channels, v->groups.size,
      v->groups.n);
  ret = tfx_buffer_reserve_zeros (c->stream, &c->carry, words * 8, false);
  if (ret == 0)
    v->ask = ask;
  return ret;
}

int
tfx_variant_choose (TfxCudaCascade *c, bool is_float, bool double_arithmetic,
    TfxVariant **variant)
{
  TfxVariant *narrow = &c->variants[VARIANT_NARROW];
  int which = double_arithmetic ? VARIANT_DOUBLE : VARIANT_ANY;
  int ret;

  /* Arguments of more than 4 KB are not known to every compiler; the other
   * kernels do the same with less speed, and sections that are not
   * normalised. */
  if (!double_arithmetic && is_float && c->n_sos <= TFX_GROUP_MAX &&
      !narrow->is_missing && c->can_normalise[c->stream->cuda->real]) {
    *variant = narrow;
    ret = make (c, VARIANT_NARROW);
    if (ret == 0 || ret == -EINPROGRESS)
      return ret;
    narrow->is_missing = true;
  }
  *variant = &c->variants[which];
  return make (c, which);
}
