/* SPDX-License-Identifier: LGPL-2.1-or-later
 * absent.c: why some classes are not in the catalogue. */
#include "absent.h"

#include <errno.h>
#include <string.h>

#include "error.h"
#include "suggest.h"

typedef struct Absent
{
  const char *name, *why;
} Absent;

static const char normalising[] =
    "it has to sort the whole signal before the first sample comes out, and a "
    "stream has no end yet; use Normalize(strategy='peak') or 'rms'";
static const char grouping[] = "series is written a | b, and a sum a + b";
static const char base[] =
    "it is a base class; use one of the filters made from it";

static const Absent absents[] = {
  { "PeakNormalizationStrategy",
      "it is a value of Normalize: strategy='peak'" },
  { "RMSNormalizationStrategy", "it is a value of Normalize: strategy='rms'" },
  { "PerChannelNormalizationStrategy",
      "it is a value of Normalize: strategy='per-channel'" },
  { "PercentileNormalizationStrategy", normalising },
  { "CustomNormalizationStrategy", "it is written in Python" },
  { "NoiseGate", "it is called Gate" },
  { "FilterChain", grouping },
  { "ParallelFilterCombination", grouping },
  { "Sequential", grouping },
  { "FusedSOSCascade", grouping },
  { "FX", base },
  { "IIR", base },
  { "Shelving", base },
  { "AbstractFilter", base },
  { "MonoDelayStrategy", "it is a value of Delay: strategy='mono'" },
  { "PingPongDelayStrategy", "it is a value of Delay: strategy='ping-pong'" },
  { "Wave", "the audio comes from the pipeline" },
};

const char *
tfx_absent_param (const char *name, const char *param)
{
  if (strcmp (name, "Reverb") == 0 &&
      (strcmp (param, "delay") == 0 || strcmp (param, "decay") == 0))
    return "the one echo that it was up to TorchFX 0.6 is "
           "Echo(delay, decay, mix)";
  return NULL;
}

const char *
tfx_absent_why (const char *name)
{
  for (size_t i = 0; i < sizeof absents / sizeof absents[0]; i++) {
    if (strcmp (absents[i].name, name) == 0)
      return absents[i].why;
  }
  return NULL;
}

#define CATALOGUE "(docs/classes.md has all)"

int
tfx_absent_refuse (const char *name, TfxExprError *error)
{
  const char *why = tfx_absent_why (name);
  TfxSuggestion near;
  bool is_near;

  if (why)
    return tfx_error_set (error, -EINVAL, "%s is not in the catalogue: %s",
        name, why);
  tfx_suggestion_init (&near, name, strlen (name));
  for (size_t i = 0; i < tfx_catalogue_n_classes (); i++) {
    const TfxClass *klass = tfx_catalogue_class (i);

    tfx_suggestion_try (&near, klass->name);
    for (size_t k = 0; klass->aliases[k]; k++)
      tfx_suggestion_try (&near, klass->aliases[k]);
  }
  is_near = near.best != NULL;
  for (size_t i = 0; !is_near && i < tfx_catalogue_n_classes (); i++)
    tfx_suggestion_try_end (&near, tfx_catalogue_class (i)->name);
  if (near.second)
    return tfx_error_set (error, -EINVAL,
        "there is no class '%s'; did you mean '%s' or '%s'? " CATALOGUE, name,
        near.best, near.second);
  if (near.best)
    return tfx_error_set (error, -EINVAL,
        "there is no class '%s'; did you mean '%s'? " CATALOGUE, name,
        near.best);
  return tfx_error_set (error, -EINVAL, "there is no class '%s' " CATALOGUE,
      name);
}
