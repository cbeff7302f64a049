/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade.c: launches the cascade kernels.
 *
 * The state lies on the device, twice: a launch reads one and writes the
 * other, so that a run that fails leaves the state before it.  The host has a
 * copy when it has asked for one, and gives it back before the next launch if
 * it has changed it: see cascade-state.c. */
#include "cascade-private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- making -------------------------------------------------------------------- */

int
tfx_cuda_cascade_new (TfxCudaStream *stream, unsigned n_channels, size_t n_sos,
    TfxCudaCascade **out)
{
  TfxCudaCascade *c = calloc (1, sizeof *c);
  int ret;

  *out = NULL;
  if (!c)
    return -ENOMEM;
  c->stream = stream;
  c->n_channels = n_channels;
  c->n_sos = n_sos;
  c->force_segment = c->force_lanes = -1;
  c->sos = calloc (n_sos + 1, sizeof *c->sos);
  ret = c->sos ? tfx_buffer_reserve (stream, &c->state[0],
                     tfx_cascade_state_size (c))
               : -ENOMEM;
  if (ret == 0)
    ret = tfx_buffer_reserve (stream, &c->state[1], tfx_cascade_state_size (c));
  if (ret == 0)
    ret = tfx_pinned_reserve (stream, &c->host, tfx_cascade_state_size (c));
  if (ret == 0)
    ret = tfx_buffer_reserve_zeros (stream, &c->control, 16, true);
  if (ret < 0) {
    tfx_cuda_cascade_free (&c);
    return ret;
  }
  tfx_cuda_cascade_reset (c);
  *out = c;
  return 0;
}

void
tfx_cuda_cascade_free (TfxCudaCascade **cascade)
{
  TfxCudaCascade *c = *cascade;

  *cascade = NULL;
  if (!c)
    return;
  for (int i = 0; i < N_VARIANTS; i++) {
    tfx_buffer_free (c->stream, &c->variants[i].tables);
    tfx_pinned_free (c->stream, &c->variants[i].staging);
    free (c->variants[i].fixed);
    if (c->variants[i].uploaded)
      c->stream->cuda->driver->event_destroy (c->variants[i].uploaded);
  }
  for (int i = 0; i < 2; i++)
    tfx_buffer_free (c->stream, &c->state[i]);
  tfx_pinned_free (c->stream, &c->host);
  tfx_buffer_free (c->stream, &c->carry);
  tfx_buffer_free (c->stream, &c->control);
  free (c->sos);
  free (c);
}

void
tfx_cuda_cascade_set_sections (TfxCudaCascade *c, const TfxSos *sos,
    double gain)
{
  const size_t size = c->n_sos * sizeof *sos;

  /* The tables of six sections take 100 us. */
  if (c->has_sections && gain == c->gain && memcmp (c->sos, sos, size) == 0)
    return;
  memcpy (c->sos, sos, size);
  c->gain = gain;
  c->has_sections = true;
  for (TfxReal real = TFX_REAL_DOUBLE; real <= TFX_REAL_TWOFOLD; real++)
    c->can_normalise[real] = tfx_tables_can_normalise (real, sos, c->n_sos);
  for (int i = 0; i < N_VARIANTS; i++)
    c->variants[i].tables_are_old = true;
}

void
tfx_cuda_cascade_force (TfxCudaCascade *c, int segment_log2, int lanes_log2,
    unsigned max_grid)
{
  c->force_segment = segment_log2;
  c->force_lanes = lanes_log2;
  c->force_grid = max_grid;
  for (int i = 0; i < N_VARIANTS; i++)
    memset (&c->variants[i].ask, 0, sizeof c->variants[i].ask);
}

int
tfx_cuda_cascade_prepare (TfxCudaCascade *c, TfxSample type, size_t n_frames,
    bool is_whole)
{
  static const bool layouts[] = { false, true };
  bool is_double = type == TFX_SAMPLE_F64;
  TfxVariant *v;
  int ret = tfx_variant_choose (c, is_whole && !is_double, is_double, &v);

  if (ret == 0)
    ret = tfx_variant_upload (c, v);
  for (size_t i = 0; ret == 0 && i < 2; i++)
    ret = tfx_variant_shape (c, v, n_frames, layouts[i]);
  return ret;
}

/* ---- running ------------------------------------------------------------------------ */

static void
fill_args (const TfxCudaCascade *c, const TfxVariant *v, TfxCascadeArgs *args)
{
  args->n_channels = c->n_channels;
  args->n_sections = (unsigned)c->n_sos;
  args->n_groups = v->groups.n;
  args->normalised = tfx_variant_is_normalised (c, v);
  args->segment_log2 = v->shape.segment_log2;
  args->round_log2 = v->shape.round_log2;
  args->lanes_log2 = v->shape.lanes_log2;
  args->n_tiles = v->shape.n_tiles;
  args->n_blocks = v->shape.n_blocks;
  args->pitch = v->shape.pitch;
  args->tables = v->tables.data;
  args->state_in = c->state[c->current].data;
  args->state_out = c->state[!c->current].data;
  args->carry = c->carry.data;
  args->control = c->control.data;
}

/* The arguments as the variant's kernel takes them. */
static void *
pack_args (TfxVariant *v, TfxCascadeArgs *args)
{
  if (!v->fixed)
    return args;
  if (v->fixed_segment != args->segment_log2)
    tfx_tables_fix (v->staging.data, v->groups.size, args->segment_log2,
        v->fixed->table);
  v->fixed_segment = args->segment_log2;
  v->fixed->args = *args;
  return v->fixed;
}

static int
mend (TfxCudaCascade *c)
{
  int ret;

  if (!c->is_broken)
    return 0;
  ret = tfx_buffer_reserve_zeros (c->stream, &c->control, 16, true);
  if (ret == 0)
    ret = tfx_buffer_reserve_zeros (c->stream, &c->carry, c->carry.size, true);
  c->is_broken = ret < 0;
  return ret;
}

int
tfx_cuda_cascade_run (TfxCudaCascade *c, const TfxUnitRun *run)
{
  bool is_float = !run->in.is_double && !run->out.is_double && !run->sum.data;
  TfxVariant *v;
  TfxCascadeArgs args = { .in = run->in,
    .out = run->out,
    .sum = run->sum,
    .n_frames = run->n_frames,
    .in_by_channel = tfx_cuda_unit_is_by_channel (&run->in),
    .out_by_channel = tfx_cuda_unit_is_by_channel (&run->out),
    .cleared = run->cleared };
  unsigned grid;
  int ret = tfx_variant_choose (c, is_float, run->is_double, &v);

  if (ret == 0)
    ret = tfx_variant_upload (c, v);
  if (ret == 0)
    ret = tfx_variant_shape (c, v, run->n_frames,
        args.in_by_channel || args.out_by_channel);
  if (ret == 0)
    ret = mend (c);
  if (ret == 0)
    ret = tfx_cascade_state_push (c);
  if (ret < 0)
    return ret;

  fill_args (c, v, &args);
  grid = v->shape.n_blocks;
  if (v->shape.n_tiles > 1) {
    size_t all = (size_t)v->shape.n_tiles * v->shape.n_blocks;
    grid = all < v->resident ? (unsigned)all : v->resident;
  }
  return tfx_module_launch (c->stream, &v->kernel, grid, v->shape.n_warps * 32,
      v->shape.shared_size, pack_args (v, &args));
}

void
tfx_cuda_cascade_commit (TfxCudaCascade *c)
{
  c->current = !c->current;
  c->host_is_valid = false;
}

void
tfx_cuda_cascade_abandon (TfxCudaCascade *c)
{
  c->is_broken = true;
}
