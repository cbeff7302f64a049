/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade.c: deals channels out to the lanes of the kernels.
 *
 * A block goes through a scratch that stays in the first-level cache: packed
 * into it as doubles, section after section in place, and unpacked.
 */
#include "cascade-private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../block.h"

/* How the next channels of `left` are run. */
static void
choose_form (TfxCascade *c, Group *g, unsigned left)
{
  const TfxKernels *k = c->kernels;
  bool f32 = c->type == TFX_SAMPLE_F32;

  g->rows = NULL;
  g->kernel = NULL;
  g->segments = NULL;
  g->stride = k->width;
  if (f32 && left <= 2 && k->segments[left - 1]) {
    g->lanes = g->n_channels = g->stride = left;
    g->form = &c->forms[FORM_SEGMENTS1 + left - 1];
    g->segments = k->segments[left - 1];
  } else if (left == 1 || !k->direct) {
    g->lanes = g->n_channels = g->stride = 1;
    g->form = &c->forms[FORM_DIRECT];
    g->kernel = k->direct_one;
  } else {
    bool factored = f32 && k->factored;

    g->lanes = k->width;
    g->n_channels = left < k->width ? left : k->width;
    g->form = &c->forms[factored ? FORM_FACTORED : FORM_DIRECT];
    g->rows = factored ? k->factored : k->direct;
  }
}

/* Deals the channels out: full vectors first, then what is left. */
static void
plan_groups (TfxCascade *c)
{
  unsigned channel = 0, n = 0;

  while (channel < c->n_channels) {
    Group *g = &c->groups[n];

    choose_form (c, g, c->n_channels - channel);
    g->first_channel = channel;
    g->state =
        c->states + n * c->n_sos * TFX_CASCADE_MAX_STATE * c->kernels->width;
    g->n_pending = 0;
    channel += g->n_channels;
    n++;
  }
  c->n_groups = n;
}

static int
init_forms (TfxCascade *c)
{
  const TfxKernels *k = c->kernels;
  int ret = tfx_cascade_form_init (&c->forms[FORM_DIRECT], TFX_FORM_DIRECT,
      k->width, k->width, c->n_sos);

  if (ret == 0 && k->factored)
    ret = tfx_cascade_form_init (&c->forms[FORM_FACTORED], TFX_FORM_FACTORED,
        k->width, k->width, c->n_sos);
  for (unsigned l = 1; l <= 2 && ret == 0; l++) {
    if (k->segments[l - 1])
      ret = tfx_cascade_form_init (&c->forms[FORM_SEGMENTS1 + l - 1],
          TFX_FORM_SEGMENTS, k->width, l, c->n_sos);
  }
  return ret;
}

int
tfx_cascade_new (const TfxKernels *kernels, unsigned n_channels, size_t n_sos,
    TfxCascade **out)
{
  TfxCascade *c = calloc (1, sizeof *c);
  /* One group for each full vector, one for the rest. */
  size_t max_groups = n_channels / kernels->width + 1;

  *out = NULL;
  if (!c)
    return -ENOMEM;
  c->kernels = kernels;
  c->n_channels = n_channels;
  c->n_sos = n_sos;
  c->gain = 1.0;
  c->type = TFX_SAMPLE_F32;
  c->sos = calloc (n_sos + 1, sizeof *c->sos);
  c->groups = calloc (max_groups, sizeof *c->groups);
  c->states = tfx_cascade_alloc (
      max_groups * n_sos * TFX_CASCADE_MAX_STATE * kernels->width);
  c->scratch = tfx_cascade_alloc (SCRATCH_SIZE + 2 * MAX_GROUP);
  c->exchange = calloc (n_channels, (2 * n_sos + 1) * sizeof *c->exchange);
  if (!c->sos || !c->groups || !c->states || !c->scratch || !c->exchange ||
      init_forms (c)) {
    tfx_cascade_free (&c);
    return -ENOMEM;
  }
  plan_groups (c);
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
  for (unsigned i = 0; i < N_FORMS; i++)
    tfx_cascade_form_clear (&c->forms[i]);
  free (c->sos);
  free (c->groups);
  free (c->states);
  free (c->scratch);
  free (c->exchange);
  free (c);
}

/* The coefficients of the forms that are in use. */
static void
set_forms (TfxCascade *c)
{
  for (unsigned i = 0; i < N_FORMS; i++) {
    TfxCascadeForm *form = &c->forms[i];
    bool is_used = false;

    for (unsigned j = 0; j < c->n_groups; j++)
      is_used = is_used || c->groups[j].form == form;
    if (is_used)
      tfx_cascade_form_set (form, c->sos);
  }
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
  set_forms (c);
}

/* All sections over the scratch, in place. */
static void
run_scratch (const TfxCascade *c, const Group *g, size_t n)
{
  const TfxCascadeForm *f = g->form;
  const double *coef = f->coef;

  for (size_t k = 0; k < c->n_sos; k += f->pass_sections) {
    size_t n_pass = c->n_sos - k;
    if (n_pass > f->pass_sections)
      n_pass = f->pass_sections;
    g->kernel (c->scratch, n, g->state + k * g->form->n_state * g->stride, coef,
        (unsigned)n_pass);
    coef += f->pass_size;
  }
}

/* All sections from rows to rows: the first pass reads from in, the last one
 * writes to out, and what lies between stays in the scratch. */
static void
run_rows (const TfxCascade *c, const Group *g, TfxRows in, TfxRows out,
    size_t n)
{
  const TfxCascadeForm *f = g->form;
  const double *coef = f->coef;
  const TfxRows scratch = { c->scratch, TFX_ROWS_SCRATCH, g->lanes };

  for (size_t k = 0; k < c->n_sos; k += f->pass_sections) {
    size_t n_pass = c->n_sos - k;
    bool last = n_pass <= f->pass_sections;

    if (!last)
      n_pass = f->pass_sections;
    g->rows (&in, last ? &out : &scratch, n,
        g->state + k * g->form->n_state * g->stride, coef, (unsigned)n_pass);
    coef += f->pass_size;
    in = scratch;
  }
}

static TfxRows
rows_of (const TfxBlock *block)
{
  TfxRowsKind kind =
      block->type == TFX_SAMPLE_F32 ? TFX_ROWS_F32 : TFX_ROWS_F64;
  return (TfxRows){ block->data, kind, block->frame_stride };
}

static void
run_group (TfxCascade *c, Group *g, const TfxBlock *in, const TfxBlock *out)
{
  const TfxKernels *k = c->kernels;
  const unsigned L = g->lanes;
  double *x = c->scratch;
  const size_t n = in->n_frames;

  if (g->rows && g->n_channels == L && c->n_sos > 0 && !c->mute &&
      in->channel_stride == 1 && out->channel_stride == 1 &&
      in->type == c->type && out->type == c->type) {
    run_rows (c, g, rows_of (in), rows_of (out), n);
    return;
  }

  if (g->segments && c->n_sos > 0) {
    tfx_cascade_run_segments (c, g, in, out);
    return;
  }

  k->pack[in->type](x, L, in);
  if (c->n_sos == 0) {
    for (size_t i = 0; i < n * L; i++)
      x[i] *= c->gain;
  } else if (g->rows) {
    const TfxRows rows = { x, TFX_ROWS_SCRATCH, L };
    run_rows (c, g, rows, rows, n);
  } else {
    run_scratch (c, g, n);
  }
  if (c->mute)
    memset (x, 0, n * L * sizeof *x);
  k->unpack[out->type](x, L, out);
}

/* NaN and infinity have an exponent of all ones: adding one to it carries
 * into the sign.  Whole numbers, so that the compiler may use vectors. */
static bool
all_finite (const double *restrict x, size_t n)
{
  const uint64_t exponent = UINT64_C (0x7ff) << 52;
  uint64_t carry = 0;

  for (size_t i = 0; i < n; i++) {
    uint64_t bits;
    memcpy (&bits, &x[i], sizeof bits);
    carry |= (bits & exponent) + (UINT64_C (1) << 52);
  }
  return carry >> 63 == 0;
}

/* Clears channels whose state is not finite; returns how many. */
static int
recover (TfxCascade *c, Group *g)
{
  const size_t n = c->n_sos * g->form->n_state * g->stride;
  int n_cleared = 0;

  if (all_finite (g->state, n))
    return 0;

  for (unsigned lane = 0; lane < g->n_channels; lane++) {
    bool finite = true;
    for (size_t i = lane; i < n; i += g->lanes)
      finite = finite && isfinite (g->state[i]);
    if (finite)
      continue;
    for (size_t i = lane; i < n; i += g->lanes)
      g->state[i] = 0.0;
    for (unsigned i = lane; i < g->n_pending * g->lanes; i += g->lanes) {
      if (!isfinite (g->pending[i]))
        g->pending[i] = 0.0;
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
  plan_groups (c);
  set_forms (c);
  tfx_cascade_reset (c);
  tfx_cascade_set_state (c, 0, c->n_sos, c->exchange);
}

int
tfx_cascade_run (TfxCascade *c, const TfxBlock *in, const TfxBlock *out)
{
  size_t chunk;
  int n_cleared = 0;

  if (in->type != c->type)
    set_type (c, in->type);
  chunk = SCRATCH_SIZE / c->groups[0].lanes;

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
      n_cleared += recover (c, g);
    }
  }
  return n_cleared;
}
