/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade.c: runs blocks of any type and layout through the kernels.
 *
 * Most read and write the block's own rows.  Others go through a scratch that
 * stays in the first-level cache. */
#include "cascade-private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../block.h"
#include "copy.h"

#define SCRATCH_SIZE TFX_CASCADE_SCRATCH

int
tfx_cascade_new (const TfxKernels *kernels, unsigned n_channels, size_t n_sos,
    TfxCascade **out)
{
  TfxCascade *c = calloc (1, sizeof *c);

  *out = NULL;
  if (!c)
    return -ENOMEM;
  c->kernels = kernels;
  c->n_channels = n_channels;
  c->n_sos = n_sos;
  c->gain = 1.0;
  c->sos = calloc (n_sos + 1, sizeof *c->sos);
  c->sections = calloc (n_sos + 1, sizeof *c->sections);
  c->groups = calloc (n_channels, sizeof *c->groups);
  c->exchange = calloc (n_channels, (2 * n_sos + 1) * sizeof *c->exchange);
  if (c->groups) {
    c->memory_size = (tfx_cascade_groups_size (c) + 8) * sizeof *c->memory;
    c->memory = aligned_alloc (64, c->memory_size);
  }
  if (!c->sos || !c->sections || !c->groups || !c->exchange || !c->memory) {
    tfx_cascade_free (&c);
    return -ENOMEM;
  }
  c->n_groups = 0; /* none are dealt out */
  c->type = TFX_SAMPLE_F32;
  tfx_cascade_groups_set (c);
  *out = c;
  return 0;
}

void
tfx_cascade_free (TfxCascade **cascade)
{
  TfxCascade *c = *cascade;

  *cascade = NULL;
  if (!c)
    return;
  free (c->sos);
  free (c->sections);
  free (c->groups);
  free (c->memory);
  free (c->exchange);
  free (c);
}

void
tfx_cascade_set_sections (TfxCascade *c, const TfxSos *sos, double gain)
{
  /* The state is divided by the gain: a zero is applied at the end. */
  c->mute = gain == 0.0;
  c->gain = c->mute ? 1.0 : gain;
  for (size_t i = 0; i < c->n_sos; i++)
    c->sos[i] = sos[i];
  if (c->n_sos > 0) {
    TfxSos *last = &c->sos[c->n_sos - 1];
    last->b0 *= c->gain;
    last->b1 *= c->gain;
    last->b2 *= c->gain;
  }
  tfx_cascade_groups_set (c);
}

/* Blocks of fewer frames take one vector of sections of one channel a pass: it begins
 * and ends with less ado. */
#define SHORT_FRAMES 32

/* Vectors of a pass over n frames. */
static size_t
n_of_pass (const Shape *s, size_t n)
{
  return s->channels == 1 && s->n_together > 1 && n < SHORT_FRAMES ? 1
                                                                   : s->n_pass;
}

/* All passes: the first reads from in, the last writes to out, and what lies
 * between is kept in between, which may be out.  Returns whether the state is
 * finite. */
static bool
run_passes (const TfxCascade *c, Group *g, const TfxRows *in,
    const TfxRows *out, const TfxRows *between, size_t n)
{
  const Shape *s = g->shape;
  const size_t n_pass = n_of_pass (s, n);
  bool is_finite = true;

  if (s->frames)
    return s->frames (in, out, n, g->state, s->coef, (unsigned)c->n_sos,
        &g->pending);
  for (size_t v = 0; v < s->n_vectors; v += n_pass) {
    const size_t left = s->n_vectors - v;
    const size_t n_vectors = left < n_pass ? left : n_pass;

    is_finite &= s->wave (in, left <= n_pass ? out : between, n,
        g->state + v * TFX_STATE * s->width, &s->gain[v > 0],
        s->coef + v * TFX_WAVE_COEF * s->width,
        (unsigned)n_vectors * s->n_together - (v > 0 ? 0 : s->n_idle));
    in = between;
  }
  return is_finite;
}

/* True if each of n channels is a plane of its own. */
static inline bool
is_planar (const TfxBlock *b, unsigned n)
{
  return n > 1 && b->frame_stride == 1 && b->channel_stride != 1;
}

static inline bool
is_in_rows (const TfxBlock *b, unsigned n)
{
  return n == 1 || b->channel_stride == 1 || b->frame_stride == 1;
}

/* n channels of a block, from a frame and a channel on.  By parts: a processor
 * waits long for what was written in parts and is copied whole. */
static inline void
set_rows (TfxRows *rows, const TfxBlock *b, size_t frame, unsigned channel,
    unsigned n)
{
  const ptrdiff_t at = (ptrdiff_t)frame * b->frame_stride +
                       (ptrdiff_t)channel * b->channel_stride;

  rows->data = (char *)b->data + at * (ptrdiff_t)tfx_sample_size (b->type);
  rows->type = b->type;
  rows->stride = b->frame_stride;
  rows->apart = is_planar (b, n) ? b->channel_stride : 0;
  rows->n = n;
}

/* Whether the kernel takes n_frames rows of such blocks as they lie. */
static bool
takes_rows (const TfxCascade *c, const Group *g, const TfxBlock *in,
    const TfxBlock *out, size_t n_frames)
{
  const Shape *s = g->shape;
  const unsigned n = g->n_channels;

  if (!is_in_rows (in, n) || !is_in_rows (out, n))
    return false;
  if (s->frames && is_planar (in, n) && is_planar (out, n))
    return in->type == TFX_SAMPLE_F32 && out->type == TFX_SAMPLE_F32;
  if (s->frames)
    return in->type == out->type && in->frame_stride == (ptrdiff_t)n &&
           out->frame_stride == (ptrdiff_t)n;
  if (s->channels == s->width && is_planar (in, n) != is_planar (out, n))
    return false;
  if (c->form != TFX_FORM_FACTORED)
    return in->type == TFX_SAMPLE_F64 && out->type == TFX_SAMPLE_F64;
  return s->channels == s->width ||
         (in->type == out->type &&
             (in->type == TFX_SAMPLE_F64 ||
                 s->n_vectors <= n_of_pass (s, n_frames)));
}

/* What lies between passes is doubles. */
static bool
run_between (const TfxCascade *c, Group *g, const TfxRows *in,
    const TfxRows *out, size_t n)
{
  double scratch[SCRATCH_SIZE + MAX_WIDTH] __attribute__ ((aligned (64)));
  const TfxRows between = { scratch, TFX_SAMPLE_F64, g->shape->channels, 0,
    g->n_channels };

  return run_passes (c, g, in, out, &between, n);
}

/* n frames of a group as they lie, from a frame and a channel on. */
static bool
run_rows (const TfxCascade *c, Group *g, const TfxBlock *in,
    const TfxBlock *out, size_t frame, unsigned channel, size_t n)
{
  TfxRows from, to;

  set_rows (&from, in, frame, channel, g->n_channels);
  set_rows (&to, out, frame, channel, g->n_channels);
  if (g->shape->n_vectors <= n_of_pass (g->shape, n) ||
      (to.type == TFX_SAMPLE_F64 && !to.apart))
    return run_passes (c, g, &from, &to, &to, n);
  return run_between (c, g, &from, &to, n);
}

static bool
run_packed (const TfxCascade *c, Group *g, const TfxBlock *in,
    const TfxBlock *out)
{
  double x[SCRATCH_SIZE + MAX_WIDTH] __attribute__ ((aligned (64)));
  const TfxKernels *k = c->kernels;
  const unsigned lanes = g->shape->channels;
  const TfxRows rows = { x, TFX_SAMPLE_F64, lanes, 0, g->n_channels };
  bool is_finite;

  k->pack[in->type](x, lanes, in);
  is_finite = run_passes (c, g, &rows, &rows, &rows, in->n_frames);
  k->unpack[out->type](x, lanes, out);
  return is_finite;
}

/* Rows instead of the planes of a block, dense. */
static TfxBlock
rows_for (const TfxBlock *planes, void *rows)
{
  return tfx_block_interleaved (rows, planes->type, planes->n_channels,
      planes->n_frames);
}

/* What the kernels do not take as it lies.  Planes become rows and planes again.
 */
static bool
run_others (const TfxCascade *c, Group *g, const TfxBlock *in,
    const TfxBlock *out)
{
  double samples[SCRATCH_SIZE] __attribute__ ((aligned (64)));
  const TfxKernels *k = c->kernels;
  const bool turns_in = is_planar (in, in->n_channels);
  const bool turns_out = is_planar (out, out->n_channels);
  TfxBlock from = *in, to = *out;
  bool is_finite;

  if (turns_in) {
    from = rows_for (in, samples);
    k->interleave[in->type](samples, in->data, in->channel_stride,
        in->n_channels, in->n_frames);
  }
  if (turns_out)
    to = rows_for (out, samples);
  if (takes_rows (c, g, &from, &to, in->n_frames))
    is_finite = run_rows (c, g, &from, &to, 0, 0, in->n_frames);
  else
    is_finite = run_packed (c, g, &from, &to);
  if (turns_out)
    k->deinterleave[out->type](out->data, out->channel_stride, samples,
        out->n_channels, out->n_frames);
  return is_finite;
}

static bool
run_group (const TfxCascade *c, Group *g, const TfxBlock *in,
    const TfxBlock *out, size_t first, size_t n)
{
  TfxBlock from, to;

  if (takes_rows (c, g, in, out, n))
    return run_rows (c, g, in, out, first, g->first_channel, n);
  from = tfx_block_part (in, first, n, g->first_channel, g->n_channels);
  to = tfx_block_part (out, first, n, g->first_channel, g->n_channels);
  return run_others (c, g, &from, &to);
}

/* Clears channels whose state is not finite, in lanes that have no section
 * too; returns how many. */
static int
recover (Group *g)
{
  const Shape *s = g->shape;
  const size_t n = s->n_vectors * TFX_STATE * s->width;
  int n_cleared = 0;

  for (unsigned channel = 0; channel < g->n_channels; channel++) {
    bool finite = true;

    for (size_t i = channel; i < n; i += s->channels)
      finite = finite && isfinite (g->state[i]);
    if (finite)
      continue;
    for (size_t i = channel; i < n; i += s->channels)
      g->state[i] = 0.0;
    for (unsigned i = 0; i < g->pending.n; i++) {
      double *x = &g->pending.x[i * s->channels + channel];
      *x = isfinite (*x) ? *x : 0.0;
    }
    n_cleared++;
  }
  return n_cleared;
}

/* Other samples, another form: the state goes along. */
static void
set_type (TfxCascade *c, TfxSample type)
{
  tfx_cascade_get_state (c, 0, c->n_sos, c->exchange);
  c->type = type;
  tfx_cascade_groups_set (c);
  tfx_cascade_reset (c);
  tfx_cascade_set_state (c, 0, c->n_sos, c->exchange);
}

static void
clear (const TfxBlock *block)
{
  for (size_t i = 0; i < block->n_frames; i++) {
    for (unsigned c = 0; c < block->n_channels; c++)
      tfx_block_set (block, i, c, 0.0);
  }
}

int
tfx_cascade_run (TfxCascade *c, TfxSample stream, const TfxBlock *in,
    const TfxBlock *out)
{
  int n_cleared = 0;

  if (c->mute && c->n_sos == 0) {
    clear (out);
    return 0;
  }
  if (c->n_sos == 0) {
    tfx_cpu_copy (c->kernels, in, out, c->gain);
    return 0;
  }
  if (stream != c->type)
    set_type (c, stream);
  for (size_t i = 0, n; i < in->n_frames; i += n) {
    n = in->n_frames - i < c->chunk_frames ? in->n_frames - i : c->chunk_frames;
    for (unsigned j = 0; j < c->n_groups; j++) {
      Group *g = &c->groups[j];

      if (!run_group (c, g, in, out, i, n))
        n_cleared += recover (g);
    }
  }
  if (c->mute)
    clear (out);
  return n_cleared;
}
