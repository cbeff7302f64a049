/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade-segments.c: runs a block in the form segments.
 *
 * Its kernels take whole groups of frames, and these are counted from where
 * the state was last set, not from the block's start: the frames of an
 * unfinished group are kept, and run again, from the state before them, when
 * more come.  So any split of a stream into blocks gives the same output to
 * the bit. */
#include "cascade-private.h"

#include <string.h>

#include "../block.h"

/* A block in three parts: the frames that go on with the unfinished group,
 * whole groups, and the start of another. */
typedef struct Parts
{
  unsigned n_head, n_tail; /* frames */
  size_t n_body;           /* groups */
  bool is_complete;        /* the group of the head */
} Parts;

static Parts
divide (const Group *g, size_t n_frames)
{
  const unsigned size = tfx_cascade_group_frames (g);
  const unsigned missing = size - g->n_pending;
  Parts p = { 0, 0, 0, false };

  if (g->n_pending > 0) {
    p.n_head = n_frames < missing ? (unsigned)n_frames : missing;
    p.is_complete = p.n_head == missing;
  }
  p.n_body = (n_frames - p.n_head) / size;
  p.n_tail = (unsigned)((n_frames - p.n_head) % size);
  return p;
}

static TfxBlock
part (const TfxBlock *block, size_t first, size_t n)
{
  return tfx_block_part (block, first, n, 0, block->n_channels);
}

/* One group, frame after frame, as a block. */
static TfxBlock
as_block (const Group *g, double *frames)
{
  return tfx_block_interleaved (frames, TFX_SAMPLE_F64, g->lanes,
      tfx_cascade_group_frames (g));
}

/* Appends the frames to those pending; the group, filled up with zeros, goes
 * to x. */
static void
pack_pending (const TfxCascade *c, Group *g, const TfxBlock *in, double *x)
{
  const TfxKernels *k = c->kernels;
  const TfxBlock group = as_block (g, g->pending);
  const size_t used = (g->n_pending + in->n_frames) * g->lanes;

  k->pack[in->type](g->pending + g->n_pending * g->lanes, g->lanes, in);
  memset (g->pending + used, 0,
      (group.n_frames * g->lanes - used) * sizeof *g->pending);
  g->n_pending += (unsigned)in->n_frames;
  k->pack_segments[TFX_SAMPLE_F64](x, g->lanes, &group, g->form->gain[0]);
}

/* Frames from first on of the group at x. */
static void
unpack_partly (const TfxCascade *c, const Group *g, const double *x,
    unsigned first, const TfxBlock *out)
{
  const TfxKernels *k = c->kernels;
  double frames[MAX_GROUP];
  const TfxBlock group = as_block (g, frames);

  k->unpack_segments[TFX_SAMPLE_F64](x, g->lanes, &group);
  k->unpack[out->type](frames + first * g->lanes, g->lanes, out);
}

static void
run_sections (const TfxCascade *c, const Group *g, size_t n_groups,
    bool is_unfinished)
{
  const TfxCascadeForm *f = g->form;
  const size_t n_values = n_groups * TFX_SEGMENT_FRAMES * f->width;

  for (size_t k = 0; k < c->n_sos; k++) {
    /* That of the first was applied when the samples came in. */
    if (k > 0 && f->gain[k] != 1.0) {
      for (size_t i = 0; i < n_values; i++)
        c->scratch[i] *= f->gain[k];
    }
    g->segments (c->scratch, n_groups, is_unfinished,
        g->state + k * f->n_state * g->stride, f->coef + k * f->pass_size);
  }
}

void
tfx_cascade_run_segments (TfxCascade *c, Group *g, const TfxBlock *in,
    const TfxBlock *out)
{
  const TfxKernels *k = c->kernels;
  const unsigned size = tfx_cascade_group_frames (g);
  const size_t group = TFX_SEGMENT_FRAMES * (size_t)g->form->width;
  const Parts p = divide (g, in->n_frames);
  const unsigned head_first = g->n_pending;
  const size_t n_body = p.n_body * size, tail_first = p.n_head + n_body;
  double *head = c->scratch, *body = head + (p.n_head ? group : 0);
  double *tail = body + p.n_body * group;
  const bool is_unfinished = p.n_tail > 0 || (p.n_head > 0 && !p.is_complete);
  const size_t n_groups = (p.n_head > 0) + p.n_body + (p.n_tail > 0);
  TfxBlock from, to;

  if (p.n_head > 0) {
    from = part (in, 0, p.n_head);
    pack_pending (c, g, &from, head);
  }
  if (p.n_body > 0) {
    from = part (in, p.n_head, n_body);
    k->pack_segments[in->type](body, g->lanes, &from, g->form->gain[0]);
  }
  if (p.is_complete)
    g->n_pending = 0;
  if (p.n_tail > 0) {
    from = part (in, tail_first, p.n_tail);
    pack_pending (c, g, &from, tail);
  }

  if (n_groups > 0)
    run_sections (c, g, n_groups, is_unfinished);
  if (c->mute)
    memset (c->scratch, 0, n_groups * group * sizeof *c->scratch);

  if (p.n_head > 0) {
    to = part (out, 0, p.n_head);
    unpack_partly (c, g, head, head_first, &to);
  }
  if (p.n_body > 0) {
    to = part (out, p.n_head, n_body);
    k->unpack_segments[out->type](body, g->lanes, &to);
  }
  if (p.n_tail > 0) {
    to = part (out, tail_first, p.n_tail);
    unpack_partly (c, g, tail, 0, &to);
  }
}
