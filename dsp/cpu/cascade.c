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

/* Doubles: 16 KiB, half of a small first-level cache. */
#define SCRATCH_SIZE 2048

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

/* All passes: the first reads from in, the last writes to out, and what lies
 * between is kept in between, which may be out. */
static void
run_passes (const TfxCascade *c, Group *g, TfxRows in, TfxRows out,
    TfxRows between, size_t n)
{
  const Shape *s = g->shape;
  const double *coef = s->coef;

  if (s->frames) {
    s->frames (&in, &out, n, g->state, coef, (unsigned)c->n_sos, &g->pending);
    return;
  }
  for (size_t v = 0; v < s->n_vectors; v += s->n_pass) {
    const size_t left = s->n_vectors - v;
    const bool is_last = left <= s->n_pass;
    const size_t n_pass = is_last ? left : s->n_pass;

    s->wave (&in, is_last ? &out : &between, n,
        g->state + v * TFX_STATE * s->width, coef, (unsigned)n_pass);
    coef += (1 + TFX_WAVE_COEF * n_pass) * s->width;
    in = between;
  }
}

/* True if each channel is a plane of its own. */
static bool
is_planar (const TfxBlock *b)
{
  return b->n_channels > 1 && b->frame_stride == 1 && b->channel_stride != 1;
}

static TfxRows
rows_of (const TfxBlock *block)
{
  return (TfxRows){ block->data, block->type, block->frame_stride,
    is_planar (block) ? block->channel_stride : 0, block->n_channels };
}

static bool
is_in_rows (const TfxBlock *b)
{
  return b->n_channels == 1 || b->channel_stride == 1 || is_planar (b);
}

/* Whether the kernel takes the block's rows as they lie. */
static bool
takes_rows (const TfxCascade *c, const Group *g, const TfxBlock *in,
    const TfxBlock *out)
{
  const Shape *s = g->shape;
  const ptrdiff_t n = g->n_channels;

  if (!is_in_rows (in) || !is_in_rows (out))
    return false;
  if (s->frames)
    return in->type == out->type && in->frame_stride == n &&
           out->frame_stride == n;
  if (s->channels == s->width && is_planar (in) != is_planar (out))
    return false;
  if (c->form != TFX_FORM_FACTORED)
    return in->type == TFX_SAMPLE_F64 && out->type == TFX_SAMPLE_F64;
  return s->channels == s->width ||
         (in->type == out->type &&
             (in->type == TFX_SAMPLE_F64 || s->n_vectors <= s->n_pass));
}

static void
run_packed (TfxCascade *c, Group *g, const TfxBlock *in, const TfxBlock *out,
    double *x)
{
  const TfxKernels *k = c->kernels;
  const unsigned lanes = g->shape->channels;
  const TfxRows rows = { x, TFX_SAMPLE_F64, lanes, 0, g->n_channels };

  k->pack[in->type](x, lanes, in);
  run_passes (c, g, rows, rows, rows, in->n_frames);
  k->unpack[out->type](x, lanes, out);
}

static void
run_rows (TfxCascade *c, Group *g, const TfxBlock *in, const TfxBlock *out)
{
  double scratch[SCRATCH_SIZE + MAX_WIDTH] __attribute__ ((aligned (64)));
  const unsigned lanes = g->shape->channels;
  const TfxRows rows = rows_of (out);

  if (!takes_rows (c, g, in, out))
    run_packed (c, g, in, out, scratch);
  else if (out->type == TFX_SAMPLE_F64 && !rows.apart)
    run_passes (c, g, rows_of (in), rows, rows, in->n_frames);
  else
    run_passes (c, g, rows_of (in), rows,
        (TfxRows){ scratch, TFX_SAMPLE_F64, lanes, 0, g->n_channels },
        in->n_frames);
}

/* Rows instead of the planes of a block, dense. */
static TfxBlock
rows_for (const TfxBlock *planes, void *rows)
{
  return tfx_block_interleaved (rows, planes->type, planes->n_channels,
      planes->n_frames);
}

/* Planes that the kernels do not take become rows and planes again. */
static void
run_planes (TfxCascade *c, Group *g, const TfxBlock *in, const TfxBlock *out)
{
  double samples[SCRATCH_SIZE] __attribute__ ((aligned (64)));
  const TfxKernels *k = c->kernels;
  TfxBlock from = *in, to = *out;

  if (is_planar (in)) {
    from = rows_for (in, samples);
    k->interleave[in->type](samples, in->data, in->channel_stride,
        in->n_channels, in->n_frames);
  }
  if (is_planar (out))
    to = rows_for (out, samples);
  run_rows (c, g, &from, &to);
  if (is_planar (out))
    k->deinterleave[out->type](out->data, out->channel_stride, samples,
        out->n_channels, out->n_frames);
}

static void
run_group (TfxCascade *c, Group *g, const TfxBlock *in, const TfxBlock *out)
{
  if (!takes_rows (c, g, in, out) && (is_planar (in) || is_planar (out)))
    run_planes (c, g, in, out);
  else
    run_rows (c, g, in, out);
}

typedef uint64_t Bits __attribute__ ((vector_size (16), may_alias));

/* NaN and infinity have an exponent of all ones: adding one to it carries
 * into the sign.  x is aligned, and n rounded up to eight: zeros follow. */
static bool
all_finite (const double *x, size_t n)
{
  const Bits exponent = { UINT64_C (0x7ff) << 52, UINT64_C (0x7ff) << 52 };
  const Bits one = { UINT64_C (1) << 52, UINT64_C (1) << 52 };
  Bits carry[2] = { { 0 } };

  for (size_t i = 0; i < n; i += 8) {
    const Bits *bits = (const Bits *)(x + i);

    carry[0] |= (bits[0] & exponent) + one;
    carry[1] |= (bits[1] & exponent) + one;
    carry[0] |= (bits[2] & exponent) + one;
    carry[1] |= (bits[3] & exponent) + one;
  }
  carry[0] |= carry[1];
  return (carry[0][0] | carry[0][1]) >> 63 == 0;
}

/* Clears channels whose state is not finite, in lanes that have no section
 * too; returns how many. */
static int
recover (Group *g)
{
  const Shape *s = g->shape;
  const size_t n = s->n_vectors * TFX_STATE * s->width;
  int n_cleared = 0;

  if (all_finite (g->state, n))
    return 0;

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
  unsigned lanes = 1; /* the most of a group */
  size_t chunk;
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
  for (unsigned j = 0; j < c->n_groups; j++) {
    if (c->groups[j].shape->channels > lanes)
      lanes = c->groups[j].shape->channels;
  }
  chunk = SCRATCH_SIZE / lanes;

  for (size_t i = 0; i < in->n_frames; i += chunk) {
    size_t n = in->n_frames - i;
    if (n > chunk)
      n = chunk;
    for (unsigned j = 0; j < c->n_groups; j++) {
      Group *g = &c->groups[j];
      TfxBlock from =
          tfx_block_part (in, i, n, g->first_channel, g->n_channels);
      TfxBlock to = tfx_block_part (out, i, n, g->first_channel, g->n_channels);
      run_group (c, g, &from, &to);
      n_cleared += recover (g);
    }
  }
  if (c->mute)
    clear (out);
  return n_cleared;
}
