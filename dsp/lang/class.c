/* SPDX-License-Identifier: LGPL-2.1-or-later
 * class.c: what the classes share. */
#include "class.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "number.h"

int
tfx_class_find_param (const TfxClass *klass, const char *name)
{
  for (unsigned i = 0; i < klass->n_params; i++) {
    if (strcmp (klass->params[i].name, name) == 0)
      return (int)i;
  }
  return -ENOENT;
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

int
tfx_class_check (const TfxNode *node, const char *thing, TfxExprError *error)
{
  return node->klass->ops->check ? node->klass->ops->check (node, thing, error)
                                 : 0;
}

const TfxNode *
tfx_class_fit (const TfxNode *node, TfxFittedNode *fitted, TfxFit *fit)
{
  const TfxClass *klass = node->klass;
  TfxFit found = { NULL };

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

void
tfx_class_report_fit (const TfxBuild *build, const TfxFit *fit)
{
  char asked[TFX_NUMBER_SIZE], used[TFX_NUMBER_SIZE];
  TfxExprError error;
  TfxExprClamp clamped = { .stage = build->node->name,
    .param = fit->param,
    .unit = "",
    .index = -1,
    .asked = fit->asked,
    .used = fit->used,
    .lowest = fit->lowest,
    .highest = fit->highest,
    .because = fit->because,
    .message = error.message };

  if (!build->report)
    return;
  tfx_number_print (fit->asked, asked);
  tfx_number_print (fit->used, used);
  tfx_error_set (&error, -ERANGE, "%s of %s is %s, but %s; using %s",
      fit->param, build->thing, asked, fit->because, used);
  build->report (&clamped, build->data);
}

void
tfx_class_report (const TfxBuild *build, const char *param, int index,
    double asked_hz, double used_hz, double lowest_hz, double highest_hz)
{
  char asked[TFX_NUMBER_SIZE], used[TFX_NUMBER_SIZE], rate[TFX_NUMBER_SIZE];
  char place[16] = "";
  TfxExprError error;
  TfxExprClamp clamped = { .stage = build->node->name,
    .param = param,
    .unit = "Hz",
    .index = index,
    .asked = asked_hz,
    .used = used_hz,
    .lowest = lowest_hz,
    .highest = highest_hz,
    .message = error.message };

  if (!build->report)
    return;
  tfx_number_print (asked_hz, asked);
  tfx_number_print (used_hz, used);
  tfx_number_print (build->rate_hz, rate);
  if (index >= 0)
    snprintf (place, sizeof place, "[%d]", index);
  tfx_error_set (&error, -ERANGE,
      "%s%s of %s is %s Hz, out of range at %s Hz (%.12g–%.12g); using %s Hz",
      param, place, build->thing, asked, rate, lowest_hz, highest_hz, used);
  build->report (&clamped, build->data);
}

double
tfx_class_fit_frequency (const TfxBuild *build, const char *param, int index,
    double freq_hz, double margin)
{
  double low = margin * build->rate_hz, high = (0.5 - margin) * build->rate_hz;
  double used = freq_hz < low ? low : freq_hz > high ? high : freq_hz;

  if (used != freq_hz)
    tfx_class_report (build, param, index, freq_hz, used, low, high);
  return used;
}

int
tfx_class_refuse (const TfxBuild *build, const char *why)
{
  char rate_text[TFX_NUMBER_SIZE];

  if (!why)
    return tfx_error_set_no_memory (build->error);
  tfx_number_print (build->rate_hz, rate_text);
  return tfx_error_set (build->error, -EINVAL,
      "%s is not possible at %s Hz: %s", build->thing, rate_text, why);
}
