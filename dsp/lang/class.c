/* SPDX-License-Identifier: LGPL-2.1-or-later
 * class.c: what the classes share. */
#include "class.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

/* ---- parameters --------------------------------------------------------------- */

int
tfx_class_find_param (const TfxClass *klass, const char *name)
{
  for (unsigned i = 0; i < klass->n_params; i++) {
    if (strcmp (klass->params[i].name, name) == 0)
      return (int)i;
  }
  return -ENOENT;
}

const char *
tfx_class_suggest_param (const TfxClass *klass, const char *name)
{
  TfxSuggestion near = { .word = name };

  for (unsigned i = 0; i < klass->n_params; i++)
    tfx_suggestion_try (&near, klass->params[i].name);
  if (klass->chain_name)
    tfx_suggestion_try (&near, klass->chain_name);
  return near.best;
}

const TfxValue *
tfx_class_value (const TfxNode *node, const char *param)
{
  return &node->values[tfx_class_find_param (node->klass, param)];
}

double
tfx_class_number (const TfxNode *node, const char *param)
{
  return tfx_class_value (node, param)->number;
}

bool
tfx_class_has (const TfxNode *node, const char *param)
{
  return tfx_class_find_param (node->klass, param) >= 0;
}

bool
tfx_class_is (const TfxNode *node, const char *param, const char *word)
{
  const TfxValue *value = tfx_class_value (node, param);

  return value->type == TFX_VALUE_WORD && strcmp (value->word, word) == 0;
}

unsigned
tfx_class_word (const TfxNode *node, const char *param)
{
  const int index = tfx_class_find_param (node->klass, param);
  const TfxWord *words = node->klass->params[index].words;
  unsigned i = 0;

  while (words[i].word && strcmp (words[i].word, node->values[index].word) != 0)
    i++;
  return i;
}

int
tfx_class_check (const TfxNode *node, const char *thing, TfxExprError *error)
{
  const TfxClassOps *ops = node->klass->ops;

  return ops->check ? ops->check (node, thing, error) : 0;
}

int
tfx_class_check_range (const TfxNode *node, const char *thing,
    TfxExprError *error)
{
  const double f_min = tfx_class_number (node, "f_min");
  const double f_max = tfx_class_number (node, "f_max");

  if (f_min < f_max)
    return 0;
  return tfx_error_set (error, -ERANGE,
      "f_min of %s is %s Hz, but must be lower than f_max, %s Hz", thing,
      TFX_NUMBER_TEXT (f_min), TFX_NUMBER_TEXT (f_max));
}

const TfxNode *
tfx_class_fit (const TfxNode *node, TfxFittedNode *fitted, TfxExprClamp *fit)
{
  const TfxClass *klass = node->klass;
  TfxExprClamp found = { NULL };

  if (klass->ops->fit)
    klass->ops->fit (node, &found);
  if (found.used == found.asked)
    found.param = NULL;
  if (fit)
    *fit = found;
  if (!found.param)
    return node;
  fitted->node = *node;
  fitted->node.values = fitted->values;
  memcpy (fitted->values, node->values,
      klass->n_params * sizeof *fitted->values);
  fitted->values[tfx_class_find_param (klass, found.param)].number = found.used;
  return &fitted->node;
}

/* ---- reports -------------------------------------------------------------------- */

void
tfx_class_report (const TfxBuild *build, const TfxExprClamp *fit)
{
  char asked[TFX_NUMBER_SIZE], used[TFX_NUMBER_SIZE], place[16] = "";
  TfxExprError error;
  TfxExprClamp clamped = *fit;

  if (!build->report)
    return;
  tfx_number_print (fit->asked, asked);
  tfx_number_print (fit->used, used);
  if (fit->index >= 0)
    snprintf (place, sizeof place, "[%d]", fit->index);
  if (fit->because)
    tfx_error_set (&error, -ERANGE, "%s of %s is %s, but %s; using %s",
        fit->param, build->thing, asked, fit->because, used);
  else
    tfx_error_set (&error, -ERANGE,
        "%s%s of %s is %s Hz, out of range at %s Hz (%.12g–%.12g); using %s Hz",
        fit->param, place, build->thing, asked,
        TFX_NUMBER_TEXT (build->rate_hz), fit->lowest, fit->highest, used);
  clamped.stage = build->node->name;
  clamped.unit = fit->because ? "" : "Hz";
  clamped.message = error.message;
  build->report (&clamped, build->data);
}

double
tfx_class_clamp_frequency (const TfxBuild *build, double freq_hz, double margin)
{
  double low = margin * build->rate_hz, high = (0.5 - margin) * build->rate_hz;

  return freq_hz < low ? low : freq_hz > high ? high : freq_hz;
}

double
tfx_class_fit_frequency (const TfxBuild *build, const char *param, int index,
    double freq_hz, double margin)
{
  const TfxExprClamp fit = { param, index, freq_hz,
    tfx_class_clamp_frequency (build, freq_hz, margin), margin * build->rate_hz,
    (0.5 - margin) * build->rate_hz };

  if (fit.used != freq_hz)
    tfx_class_report (build, &fit);
  return fit.used;
}

int
tfx_class_refuse (const TfxBuild *build, const char *why)
{
  if (!why)
    return tfx_error_set_no_memory (build->error);
  return tfx_error_set (build->error, -EINVAL,
      "%s is not possible at %s Hz: %s", build->thing,
      TFX_NUMBER_TEXT (build->rate_hz), why);
}

int
tfx_class_refuse_unread (const TfxBuild *build, const TfxValue *file)
{
  return tfx_error_set (build->error, -ENOENT,
      "%s: '%s' was not read: files cannot be read here", build->thing,
      TFX_ERROR_QUOTE (80, file->text));
}

int
tfx_class_refuse_latency (const TfxBuild *build)
{
  return tfx_error_set (build->error, -ENOTSUP,
      "%s has another latency than the running stage", build->thing);
}

/* ---- stages ---------------------------------------------------------------------- */

/* The next spare stage of the node, from number *i on; NULL: there is none. */
static TfxStage *
next_spare (const TfxBuild *build, size_t *i)
{
  while (*i < build->n_spares) {
    TfxStage *stage = build->spares[(*i)++];

    if (tfx_stage_id (stage) == build->node->id)
      return stage;
  }
  return NULL;
}

int
tfx_class_take (TfxBuild *build, TfxStage *stage)
{
  build->stage = stage;
  return stage ? 0 : tfx_class_refuse (build, NULL);
}

int
tfx_class_make_sections (TfxBuild *build, const TfxSos *sos,
    const TfxSvf *shapes, size_t n_sos)
{
  TfxStage *stage;
  size_t i = 0;

  while ((stage = next_spare (build, &i)) &&
         !(shapes ? tfx_stage_reuse_shapes (stage, sos, shapes, n_sos)
                  : tfx_stage_reuse_sections (stage, sos, n_sos)))
    ;
  return tfx_class_take (build,
      stage ? tfx_stage_ref (stage)
            : tfx_stage_new_sections (build->node->id, sos, n_sos));
}

int
tfx_class_make_fir (TfxBuild *build, const double *const *kernels,
    unsigned n_kernels, size_t n_taps, TfxFirMethod method)
{
  TfxStage *stage;
  size_t i = 0;

  while ((stage = next_spare (build, &i)) &&
         !tfx_stage_reuse_fir (stage, kernels, n_kernels, n_taps, method))
    ;
  return tfx_class_take (build, stage
                                    ? tfx_stage_ref (stage)
                                    : tfx_stage_new_fir (build->node->id,
                                          kernels, n_kernels, n_taps, method));
}

int
tfx_class_make_delay (TfxBuild *build, double direct, const TfxTap *taps,
    size_t n_taps)
{
  TfxStage *stage;
  size_t i = 0;

  while ((stage = next_spare (build, &i)) &&
         !tfx_stage_reuse_delay (stage, direct, taps, n_taps))
    ;
  return tfx_class_take (build,
      stage ? tfx_stage_ref (stage)
            : tfx_stage_new_delay (build->node->id, direct, taps, n_taps));
}

int
tfx_class_append (const TfxBuild *build, TfxChain **chain, TfxStage *stage)
{
  return tfx_chain_take (chain, stage) < 0 ? tfx_class_refuse (build, NULL) : 0;
}

size_t
tfx_class_latency (TfxChain *const *chains, size_t n)
{
  size_t most = 0;

  for (size_t i = 0; i < n; i++) {
    const size_t latency = tfx_chain_latency (chains[i]);

    most = latency > most ? latency : most;
  }
  return most;
}

int
tfx_class_align (const TfxBuild *build, TfxChain **chains, const uint64_t *ids,
    size_t n)
{
  const size_t most = tfx_class_latency (chains, n);
  int code = 0;

  for (size_t i = 0; i < n && code == 0; i++) {
    const size_t latency = tfx_chain_latency (chains[i]);

    if (latency < most)
      code = tfx_class_append (build, &chains[i],
          tfx_stage_new_wait (TFX_ID_OF_DELAY (ids[i]), most - latency));
  }
  return code;
}

int
tfx_class_make_mix (TfxBuild *build, uint64_t id, const double *gains,
    size_t n_gains, size_t n_in)
{
  const TfxStage *running = build->running;
  size_t i = 0, n = build->n_room;
  TfxStage *stage;
  double *zeros;

  if (n == 0)
    n = running ? running->u.mix.n_channels : build->n_channels;
  if (n > TFX_MIX_MAX_CHANNELS)
    return tfx_error_set (build->error, -ERANGE,
        "%s is in a chain of %zu channels; at most %u are allowed",
        build->thing, n, TFX_MIX_MAX_CHANNELS);
  while ((stage = next_spare (build, &i)) && !tfx_stage_is_unshared (stage))
    ;
  if (stage) {
    tfx_stage_ref (stage);
  } else {
    zeros = calloc (n * n, sizeof *zeros);
    stage = zeros ? tfx_stage_new_mix (id, (unsigned)n, zeros) : NULL;
    free (zeros);
  }
  for (i = 0; stage && i < n_gains; i++)
    stage->u.mix.gains[i / n_in * n + i % n_in] = gains[i];
  return tfx_class_take (build, stage);
}

/* While it runs, a limiter keeps its latency and a loudness its positions. */
int
tfx_class_make (TfxBuild *build, TfxStage values)
{
  const TfxStage *running = build->running;
  TfxStage *stage;
  size_t i = 0;

  values.id = build->node->id;
  if (running && running->kind == values.kind) {
    if (values.kind == &tfx_kind_limiter)
      values.u.limiter.n_late = running->u.limiter.n_late;
    else if (values.kind == &tfx_kind_agc)
      values.u.agc.positions = running->u.agc.positions;
  }
  if (running && tfx_stage_latency (&values) != tfx_stage_latency (running))
    return tfx_class_refuse_latency (build);
  while ((stage = next_spare (build, &i)) && !tfx_stage_take (stage, &values))
    ;
  return tfx_class_take (build,
      stage ? tfx_stage_ref (stage) : tfx_stage_new_like (&values));
}
