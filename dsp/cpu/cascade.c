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

#include "core/block.h"
#include "design/sos.h"
#include "copy.h"

int
tfx_cascade_new_terms (const TfxKernels *kernels, unsigned n_channels,
    const TfxCascadeTerm *terms, size_t n_terms, TfxTermsForm form,
    TfxCascade **out)
{
  TfxCascade *c = calloc (1, sizeof *c);

  *out = NULL;
  if (!c)
    return -ENOMEM;
  c->kernels = kernels;
  c->n_channels = n_channels;
  c->terms_form = form;
  tfx_cascade_shapes_count (c, terms, n_terms);
  c->gain = 1.0;
  c->sos = calloc (c->n_sos + 1, sizeof *c->sos);
  c->terms = calloc (n_terms, sizeof *c->terms);
  c->gains = calloc (n_terms, sizeof *c->gains);
  c->sections = calloc (c->n_sos + 1, sizeof *c->sections);
  c->groups = calloc (n_channels, sizeof *c->groups);
  c->state = calloc (n_channels, (2 * c->n_sos + 1) * sizeof *c->state);
  if (c->groups) {
    c->memory_size = (tfx_cascade_groups_size (c) + 8) * sizeof *c->memory;
    c->memory = aligned_alloc (64, c->memory_size);
  }
  if (!c->sos || !c->terms || !c->gains || !c->sections || !c->groups ||
      !c->state || !c->memory) {
    tfx_cascade_free (&c);
    return -ENOMEM;
  }
  c->n_groups = 0; /* none are dealt out */
  c->type = TFX_SAMPLE_F32;
  for (size_t i = 0, first = 0; i < n_terms; first += terms[i++].n_sos)
    c->terms[i] = (TfxCascadeTerm){ c->sos + first, terms[i].n_sos, 1.0,
      terms[i].channels };
  if (form == TFX_TERMS_ONE)
    tfx_cascade_groups_set (c);
  *out = c;
  return 0;
}

int
tfx_cascade_new (const TfxKernels *kernels, unsigned n_channels, size_t n_sos,
    TfxCascade **cascade)
{
  const TfxCascadeTerm term = { NULL, n_sos, 1.0, 0 };

  return tfx_cascade_new_terms (kernels, n_channels, &term, 1, TFX_TERMS_ONE,
      cascade);
}

void
tfx_cascade_free (TfxCascade **cascade)
{
  TfxCascade *c = *cascade;

  *cascade = NULL;
  if (!c)
    return;
  free (c->sos);
  free (c->terms);
  free (c->gains);
  free (c->sections);
  free (c->groups);
  free (c->memory);
  free (c->state);
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
  if (c->n_sos > 0)
    tfx_sos_scale (&c->sos[c->n_sos - 1], c->gain);
  tfx_cascade_groups_set (c);
}

bool
tfx_cascade_set_terms (TfxCascade *c, const TfxCascadeTerm *terms)
{
  const bool is_split = c->terms_form == TFX_TERMS_CHANNELS;
  TfxSos *sos = c->sos;
  bool is_mute = false;

  for (size_t i = 0; i < c->n_terms; i++) {
    c->terms[i].gain = terms[i].gain;
    is_mute =
        is_mute || (is_split && terms[i].n_sos > 0 && terms[i].gain == 0.0);
    for (size_t k = 0; k < terms[i].n_sos; k++)
      *sos++ = terms[i].sos[k];
    if (is_split && terms[i].n_sos > 0)
      tfx_sos_scale (sos - 1, terms[i].gain);
  }
  return !is_mute && tfx_cascade_groups_set (c);
}

/* Several passes; between them frames are doubles in rows of all lanes. */
static __attribute__ ((noinline)) bool
run_passes (const Group *g, const TfxRows *in, const TfxRows *out, size_t n)
{
  double scratch[TFX_CASCADE_SCRATCH + MAX_SHAPE_CHANNELS]
      __attribute__ ((aligned (64)));
  const Fit *fit = &g->fit;
  const TfxShape *s = fit->shape;
  const TfxRows rows = { scratch, TFX_SAMPLE_F64, s->channels, 0, s->channels };
  const TfxRows *between =
      out->type == TFX_SAMPLE_F64 && !out->apart && out->n == s->channels
          ? out
          : &rows;
  bool is_finite = true;

  for (size_t v = 0; v < fit->n_vectors; v += fit->n_pass) {
    const size_t left = fit->n_vectors - v;
    const bool is_last = left <= fit->n_pass;
    const size_t n_vectors = is_last ? left : fit->n_pass;

    is_finite &= s->run (in, is_last ? out : between, n,
        g->state + v * TFX_STATE * s->lanes, g->gain + (v > 0) * s->lanes,
        g->coef + v * TFX_SECTION_COEF * s->lanes,
        (unsigned)n_vectors * fit->n_together - (v > 0 ? 0 : fit->n_idle));
    in = between;
  }
  return is_finite;
}

/* Returns whether the state is finite. */
static inline bool
run_rows (const Group *g, const TfxRows *in, const TfxRows *out, size_t n)
{
  const Fit *fit = &g->fit;

  if (fit->n_vectors <= fit->n_pass)
    return fit->shape->run (in, out, n, g->state, g->gain, g->coef,
        fit->n_sections);
  return run_passes (g, in, out, n);
}

/* True if the n channels are planes.  All from one plane (a channel stride of 0) are not: they
 * are copied. */
static inline bool
is_planar (const TfxBlock *b, unsigned n)
{
  return n > 1 && b->frame_stride == 1 && b->channel_stride != 1 &&
         b->channel_stride != 0;
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

/* Whether the kernel reads or writes the group's channels of the block in place. */
static inline bool
takes (const Group *g, const TfxBlock *b)
{
  const TfxShape *s = g->fit.shape;
  const unsigned n = g->n_channels;

  if (is_planar (b, n))
    return b->type == TFX_SAMPLE_F32 && 2 * n > s->channels &&
           (s->planar == TFX_PLANAR_ALWAYS ||
               (s->planar == TFX_PLANAR_ONE_PASS &&
                   g->fit.n_vectors <= g->fit.n_pass));
  if (n > 1 && b->channel_stride != 1)
    return false;
  if (tfx_cascade_takes_dense (s))
    return b->frame_stride == (ptrdiff_t)n;
  return s->layout != TFX_LAYOUT_PIPELINED || s->form == TFX_FORM_FACTORED ||
         b->type == TFX_SAMPLE_F64;
}

/* Planes are on both sides, or on none, but between passes. */
static inline bool
takes_both (const Group *g, const TfxBlock *in, const TfxBlock *out)
{
  return takes (g, in) && takes (g, out) &&
         (g->fit.shape->layout == TFX_LAYOUT_FRAMES ||
             is_planar (in, g->n_channels) == is_planar (out, g->n_channels));
}

/* n samples, a stride from one to the next, to doubles that are `lanes` from one
 * another, or back.  Both are constants where that pays. */
static inline __attribute__ ((always_inline)) void
pack_samples (double *restrict x, const size_t lanes, void *samples,
    TfxSample type, const ptrdiff_t stride, size_t n, const bool is_back)
{
  float *restrict f32 = samples;
  double *restrict f64 = samples;

  if (type == TFX_SAMPLE_F32) {
#pragma GCC unroll 4
    for (size_t i = 0; i < n; i++, x += lanes, f32 += stride) {
      if (is_back)
        *f32 = (float)*x;
      else
        *x = *f32;
    }
  } else {
    for (size_t i = 0; i < n; i++, x += lanes, f64 += stride) {
      if (is_back)
        *f64 = *x;
      else
        *x = *f64;
    }
  }
}

static inline __attribute__ ((always_inline)) void
pack_channels (double *x, unsigned lanes, const TfxBlock *block,
    const bool is_back)
{
  for (unsigned i = 0; i < block->n_channels; i++) {
    const TfxBlock b = tfx_block_part (block, 0, block->n_frames, i, 1);

    if (lanes == 1 && b.frame_stride == 1)
      pack_samples (x, 1, b.data, b.type, 1, b.n_frames, is_back);
    else if (lanes == 1)
      pack_samples (x, 1, b.data, b.type, b.frame_stride, b.n_frames, is_back);
    else
      pack_samples (x + i, lanes, b.data, b.type, b.frame_stride, b.n_frames,
          is_back);
  }
}

static __attribute__ ((noinline)) bool
run_packed (const Group *g, const TfxBlock *in, const TfxBlock *out)
{
  double x[TFX_CASCADE_SCRATCH + MAX_SHAPE_CHANNELS]
      __attribute__ ((aligned (64)));
  const unsigned lanes = g->fit.shape->channels;
  const TfxRows rows = { x, TFX_SAMPLE_F64, lanes, 0, lanes };
  bool is_finite;

  if (in->n_channels < lanes)
    memset (x, 0, in->n_frames * lanes * sizeof *x);
  pack_channels (x, lanes, in, false);
  is_finite = run_rows (g, &rows, &rows, in->n_frames);
  pack_channels (x, lanes, out, true);
  return is_finite;
}

/* n frames of the group's channels, which the kernel does not take in place.  Planes are
 * transposed before and after. */
static __attribute__ ((noinline)) bool
run_others (const TfxCascade *c, const Group *g, const TfxBlock *in,
    const TfxBlock *out, size_t first, size_t n)
{
  double samples[TFX_CASCADE_SCRATCH] __attribute__ ((aligned (64)));
  const TfxKernels *k = c->kernels;
  const unsigned n_channels = g->n_channels;
  const TfxBlock planes[2] = { tfx_block_part (in, first, n, g->first_channel,
                                   n_channels),
    tfx_block_part (out, first, n, g->first_channel, n_channels) };
  TfxBlock b[2];
  bool is_finite;

  for (unsigned i = 0; i < 2; i++)
    b[i] = is_planar (&planes[i], n_channels)
               ? tfx_block_interleaved (samples, planes[i].type, n_channels, n)
               : planes[i];
  if (b[0].data == samples)
    k->interleave[in->type](samples, planes[0].data, in->channel_stride,
        n_channels, n);
  if (in->type == out->type && takes_both (g, &b[0], &b[1])) {
    TfxRows rows[2];

    set_rows (&rows[0], &b[0], 0, 0, n_channels);
    set_rows (&rows[1], &b[1], 0, 0, n_channels);
    is_finite = run_rows (g, &rows[0], &rows[1], n);
  } else {
    is_finite = run_packed (g, &b[0], &b[1]);
  }
  if (b[1].data == samples)
    k->deinterleave[out->type](planes[1].data, out->channel_stride, samples,
        n_channels, n);
  return is_finite;
}

/* n frames of a group, from a frame on. */
static inline bool
run_group (const TfxCascade *c, const Group *g, const TfxBlock *in,
    const TfxBlock *out, size_t first, size_t n)
{
  TfxRows from, to;

  if (!takes_both (g, in, out))
    return run_others (c, g, in, out, first, n);
  set_rows (&from, in, first, g->first_channel, g->n_channels);
  set_rows (&to, out, first, g->first_channel, g->n_channels);
  return run_rows (g, &from, &to, n);
}

/* Clears channels whose state is not finite, also in lanes that have no section; returns how
 * many. */
static __attribute__ ((cold)) int
recover (const TfxCascade *c, const Group *g)
{
  const unsigned n_channels = g->fit.shape->channels;
  const size_t n = tfx_cascade_fit_state_size (c, &g->fit);
  int n_cleared = 0;

  for (unsigned channel = 0; channel < n_channels; channel++) {
    bool finite = true;

    for (size_t i = channel; i < n; i += n_channels)
      finite = finite && isfinite (g->state[i]);
    for (size_t i = channel; i < n && !finite; i += n_channels)
      g->state[i] = 0.0;
    n_cleared += !finite && channel < g->n_channels;
  }
  return n_cleared;
}

/* Other samples, another form: the state goes along. */
static __attribute__ ((cold)) void
set_type (TfxCascade *c, TfxSample type)
{
  tfx_cascade_state_export (c);
  c->type = type;
  tfx_cascade_groups_set (c);
}

static __attribute__ ((cold)) void
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
  size_t done = 0;
  int n_cleared = 0;

  if (c->n_sos == 0) {
    if (!c->mute)
      tfx_cpu_copy (c->kernels, in, out, c->gain);
  } else {
    if (stream != c->type)
      set_type (c, stream);
    if (c->state_of == STATE_OF_SECTIONS)
      tfx_cascade_state_import (c);
    c->state_of = STATE_OF_KERNELS;
    do {
      const size_t left = in->n_frames - done;
      const size_t n = left < c->chunk_frames ? left : c->chunk_frames;

      for (unsigned i = 0; i < c->n_groups; i++) {
        const Group *g = &c->groups[i];

        if (!run_group (c, g, in, out, done, n))
          n_cleared += recover (c, g);
      }
      done += n;
    } while (done < in->n_frames);
  }
  if (c->mute)
    clear (out);
  return n_cleared;
}
