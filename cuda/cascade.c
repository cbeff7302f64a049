/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade.c: launches the cascade kernels.
 *
 * The state lies on the device, twice: a launch reads one and writes the
 * other, so that a run that fails leaves the state before it.  The host has a
 * copy when it has asked for one, and gives it back before the next launch if
 * it has changed it. */
#include "cascade.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The arguments of a kernel that has its tables in them. */
typedef struct FixedArgs
{
  TfxCascadeArgs args;
  _Alignas(16) double table[TFX_FIXED_SIZE (TFX_GROUP_MAX)];
} FixedArgs;

_Static_assert(sizeof (TfxCascadeArgs) % 16 == 0, "the table follows at once");

/* A kernel and the tables for it.  A float stream and one of doubles may need
 * different ones. */
typedef struct Variant
{
  TfxKernel kernel;
  TfxKernelId id;
  TfxGroups groups;
  bool is_ready;
  bool is_missing; /* this device or compiler has no such kernel */
  bool tables_are_old;
  FixedArgs *fixed;       /* of the narrow one */
  unsigned fixed_segment; /* the segment_log2 that its tables are for */
  TfxBuffer tables;
  TfxPinned staging;
  CUevent uploaded; /* the staging may be written again */

  /* The last launch's layout. */
  TfxShapeAsk ask;
  TfxShape shape;
  unsigned resident; /* blocks that fit the device */
} Variant;

enum
{
  VARIANT_NARROW, /* float in and out, one group */
  VARIANT_ANY,    /* anything, in the arithmetic of float streams */
  VARIANT_DOUBLE, /* anything, in double */
  N_VARIANTS
};

struct TfxCudaCascade
{
  TfxCuda *cuda;
  unsigned n_channels;
  size_t n_sos;
  const TfxSos *sos;
  double gain;
  Variant variants[N_VARIANTS];

  TfxBuffer state[2];
  unsigned current;
  TfxPinned host; /* a copy of the current state */
  bool host_is_valid, host_is_newer;
  bool is_moving; /* an upload of it may be under way */

  TfxBuffer carry, control;
  bool is_broken; /* carry and control must be cleared */

  int force_segment, force_lanes;
  unsigned force_grid;
};

static size_t
state_size (const TfxCudaCascade *c)
{
  return c->n_channels * c->n_sos * 2 * sizeof (double);
}

/* ---- making -------------------------------------------------------------------- */

int
tfx_cuda_cascade_new (TfxCuda *cuda, unsigned n_channels, size_t n_sos,
    TfxCudaCascade **out)
{
  TfxCudaCascade *c = calloc (1, sizeof *c);
  int ret;

  *out = NULL;
  if (!c)
    return -ENOMEM;
  c->cuda = cuda;
  c->n_channels = n_channels;
  c->n_sos = n_sos;
  c->gain = 1.0;
  c->force_segment = c->force_lanes = -1;
  /* A cascade of no sections has no state, but the kernel wants an address. */
  ret = tfx_buffer_reserve (cuda, &c->state[0], state_size (c) + 16);
  if (ret == 0)
    ret = tfx_buffer_reserve (cuda, &c->state[1], state_size (c) + 16);
  if (ret == 0)
    ret = tfx_pinned_reserve (cuda, &c->host, state_size (c) + 16);
  if (ret == 0)
    ret = tfx_buffer_reserve_zeros (cuda, &c->control, 16, true);
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
    tfx_buffer_free (c->cuda, &c->variants[i].tables);
    tfx_pinned_free (c->cuda, &c->variants[i].staging);
    free (c->variants[i].fixed);
    if (c->variants[i].uploaded)
      c->cuda->driver->event_destroy (c->variants[i].uploaded);
  }
  for (int i = 0; i < 2; i++)
    tfx_buffer_free (c->cuda, &c->state[i]);
  tfx_pinned_free (c->cuda, &c->host);
  tfx_buffer_free (c->cuda, &c->carry);
  tfx_buffer_free (c->cuda, &c->control);
  free (c);
}

void
tfx_cuda_cascade_set_sections (TfxCudaCascade *c, const TfxSos *sos,
    double gain)
{
  c->sos = sos;
  c->gain = gain;
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

/* ---- variants -------------------------------------------------------------------- */

/* The kernel and the room for its tables. */
static int
variant_make (TfxCudaCascade *c, int which)
{
  TfxCuda *cuda = c->cuda;
  Variant *v = &c->variants[which];
  int ret;

  if (v->is_ready)
    return 0;
  v->groups = tfx_tables_group (c->n_sos, 4);
  v->id = (TfxKernelId){
    .kind = TFX_KERNEL_CASCADE,
    .real = which == VARIANT_DOUBLE ? TFX_REAL_DOUBLE : cuda->real,
    .is_narrow = which == VARIANT_NARROW,
    .group = v->groups.size,
  };
  ret = tfx_module_kernel (cuda, &v->id, &v->kernel);
  if (ret == 0)
    ret = tfx_buffer_reserve (cuda, &v->tables, tfx_tables_size (v->groups));
  if (ret == 0)
    ret = tfx_pinned_reserve (cuda, &v->staging, tfx_tables_size (v->groups));
  if (ret == 0 && !v->uploaded)
    ret = tfx_context_check (cuda,
        cuda->driver->event_create (&v->uploaded, CU_EVENT_DISABLE_TIMING),
        "making an event");
  if (ret == 0 && v->id.is_narrow && !v->fixed) {
    v->fixed = aligned_alloc (_Alignof(FixedArgs), sizeof *v->fixed);
    ret = v->fixed ? 0 : -ENOMEM;
  }
  v->is_ready = ret == 0;
  v->tables_are_old = true;
  return ret;
}

static int
variant_upload (TfxCudaCascade *c, Variant *v)
{
  TfxCuda *cuda = c->cuda;
  const TfxDriver *d = cuda->driver;
  bool normalised = v->id.real == TFX_REAL_DOUBLE &&
                    tfx_tables_can_normalise (c->sos, c->n_sos);
  int ret;

  if (!v->tables_are_old)
    return 0;
  v->fixed_segment = 0;
  ret = tfx_context_check (cuda, d->event_synchronize (v->uploaded),
      "waiting for the last coefficients");
  if (ret < 0)
    return ret;
  tfx_tables_fill (v->staging.data, v->id.real, v->groups, c->sos, c->n_sos,
      c->gain, normalised);
  ret = tfx_context_check (cuda,
      d->memcpy_htod_async (v->tables.data, v->staging.data,
          tfx_tables_size (v->groups), cuda->stream),
      "uploading coefficients");
  if (ret == 0)
    ret = tfx_context_check (cuda, d->event_record (v->uploaded, cuda->stream),
        "uploading coefficients");
  v->tables_are_old = ret < 0;
  return ret;
}

/* The layout for a launch, and the memory that it takes. */
static int
variant_shape (TfxCudaCascade *c, Variant *v, size_t n_frames, bool by_channel)
{
  TfxCuda *cuda = c->cuda;
  TfxShapeAsk ask;
  int per_multiprocessor = 0;
  size_t words;
  int ret;

  /* Also what is between the members: the structs are compared. */
  memset (&ask, 0, sizeof ask);
  ask.n_frames = n_frames;
  ask.n_channels = c->n_channels;
  ask.by_channel = by_channel;
  ask.group = v->groups.size;
  ask.sample_size = v->id.is_narrow ? 4 : 8;
  ask.n_multiprocessors = (unsigned)cuda->n_multiprocessors;
  ask.max_threads = (unsigned)v->kernel.max_threads;
  ask.max_shared = (unsigned)cuda->max_shared;
  if (memcmp (&ask, &v->ask, sizeof ask) == 0)
    return 0;

  v->shape = tfx_shape_choose (&ask, c->force_segment, c->force_lanes);
  ret = tfx_context_check (cuda,
      cuda->driver->occupancy (&per_multiprocessor, v->kernel.function,
          (int)v->shape.n_warps * 32, v->shape.shared_size),
      "asking how many blocks fit");
  if (ret < 0)
    return ret;
  v->resident = (unsigned)(per_multiprocessor * cuda->n_multiprocessors);
  if (v->resident == 0)
    v->resident = 1;
  if (c->force_grid > 0)
    v->resident = c->force_grid;
  words = tfx_shape_carry_words (&v->shape, c->n_channels, v->groups.size,
      v->groups.n);
  ret = tfx_buffer_reserve_zeros (cuda, &c->carry, words * 8, false);
  if (ret == 0)
    v->ask = ask;
  return ret;
}

static Variant *
choose_variant (TfxCudaCascade *c, bool is_float, bool double_arithmetic)
{
  Variant *narrow = &c->variants[VARIANT_NARROW];
  int which = double_arithmetic ? VARIANT_DOUBLE : VARIANT_ANY;

  /* Arguments of more than 4 KB are not known to every compiler; the other
   * kernels do the same with less speed. */
  if (!double_arithmetic && is_float && c->n_sos <= TFX_GROUP_MAX &&
      !narrow->is_missing) {
    if (variant_make (c, VARIANT_NARROW) == 0)
      return narrow;
    narrow->is_missing = true;
  }
  return variant_make (c, which) < 0 ? NULL : &c->variants[which];
}

int
tfx_cuda_cascade_prepare (TfxCudaCascade *c, TfxSample type, size_t n_frames)
{
  static const bool layouts[] = { false, true };
  bool is_double = type == TFX_SAMPLE_F64;
  Variant *v = choose_variant (c, !is_double, is_double);
  int ret = v ? variant_upload (c, v) : -EIO;

  for (size_t i = 0; ret == 0 && i < 2; i++)
    ret = variant_shape (c, v, n_frames, layouts[i]);
  return ret;
}

/* ---- state ------------------------------------------------------------------------ */

/* What the host has changed goes to the device. */
static int
state_push (TfxCudaCascade *c)
{
  TfxCuda *cuda = c->cuda;
  int ret;

  if (!c->host_is_newer)
    return 0;
  ret = tfx_context_check (cuda,
      cuda->driver->memcpy_htod_async (c->state[c->current].data, c->host.data,
          state_size (c) + 16, cuda->stream),
      "uploading the state");
  c->host_is_newer = ret < 0;
  c->is_moving = true;
  return ret;
}

/* The host's copy is that of the device. */
static int
state_pull (TfxCudaCascade *c)
{
  TfxCuda *cuda = c->cuda;
  int ret;

  if (c->host_is_valid)
    return 0;
  ret = tfx_context_check (cuda,
      cuda->driver->memcpy_dtoh_async (c->host.data, c->state[c->current].data,
          state_size (c) + 16, cuda->stream),
      "downloading the state");
  if (ret == 0)
    ret = tfx_context_check (cuda,
        cuda->driver->stream_synchronize (cuda->stream),
        "downloading the state");
  c->host_is_valid = ret == 0;
  return ret;
}

/* Before the host's copy is written. */
static int
state_settle (TfxCudaCascade *c)
{
  int ret = 0;

  if (c->is_moving)
    ret = tfx_context_check (c->cuda,
        c->cuda->driver->stream_synchronize (c->cuda->stream),
        "waiting for the state");
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
    ret = state_settle (c);
  if (ret < 0)
    return ret;
  for (unsigned i = 0; i < c->n_channels; i++)
    memcpy (host + (i * c->n_sos + first) * 2, state + i * 2 * n_sos,
        2 * n_sos * sizeof *state);
  c->host_is_newer = true;
  return 0;
}

void
tfx_cuda_cascade_reset (TfxCudaCascade *c)
{
  /* If that fails so will the next run. */
  state_settle (c);
  memset (c->host.data, 0, state_size (c) + 16);
  c->host_is_valid = c->host_is_newer = true;
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

/* ---- running ------------------------------------------------------------------------ */

static void
fill_args (const TfxCudaCascade *c, const Variant *v, TfxCascadeArgs *args)
{
  args->n_channels = c->n_channels;
  args->n_sections = (unsigned)c->n_sos;
  args->n_groups = v->groups.n;
  args->normalised = v->id.real == TFX_REAL_DOUBLE &&
                     tfx_tables_can_normalise (c->sos, c->n_sos);
  args->segment_log2 = v->shape.segment_log2;
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
pack_args (Variant *v, TfxCascadeArgs *args)
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
  ret = tfx_buffer_reserve_zeros (c->cuda, &c->control, 16, true);
  if (ret == 0)
    ret = tfx_buffer_reserve_zeros (c->cuda, &c->carry, c->carry.size, true);
  c->is_broken = ret < 0;
  return ret;
}

int
tfx_cuda_cascade_run (TfxCudaCascade *c, const TfxKernelBlock *in,
    const TfxKernelBlock *out, const TfxKernelBlock *sum, size_t n_frames,
    bool double_arithmetic, CUdeviceptr cleared)
{
  bool is_float = !in->is_double && !out->is_double && !sum->data;
  bool in_by_channel = llabs (in->channel_stride) <= llabs (in->frame_stride);
  bool out_by_channel =
      llabs (out->channel_stride) <= llabs (out->frame_stride);
  Variant *v = choose_variant (c, is_float, double_arithmetic);
  TfxCascadeArgs args = { .in = *in, .out = *out, .sum = *sum };
  void *arguments[1];
  unsigned grid;
  int ret;

  if (!v)
    return -EIO;
  ret = variant_upload (c, v);
  if (ret == 0)
    ret = variant_shape (c, v, n_frames, in_by_channel || out_by_channel);
  if (ret == 0)
    ret = mend (c);
  if (ret == 0)
    ret = state_push (c);
  if (ret < 0)
    return ret;

  fill_args (c, v, &args);
  args.n_frames = n_frames;
  args.in_by_channel = in_by_channel;
  args.out_by_channel = out_by_channel;
  args.cleared = cleared;
  grid = v->shape.n_blocks;
  if (v->shape.n_tiles > 1) {
    size_t all = (size_t)v->shape.n_tiles * v->shape.n_blocks;
    grid = all < v->resident ? (unsigned)all : v->resident;
  }
  arguments[0] = pack_args (v, &args);
  return tfx_context_check (c->cuda,
      c->cuda->driver->launch_kernel (v->kernel.function, grid, 1, 1,
          v->shape.n_warps * 32, 1, 1, (unsigned)v->shape.shared_size,
          c->cuda->stream, arguments, NULL),
      "starting a kernel");
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
