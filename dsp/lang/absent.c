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
    "it needs the whole signal before the first output sample, which a stream "
    "cannot give; use Normalize(strategy='peak') or 'rms'";
static const char grouping[] = "write a | b for a series and a + b for a sum";
static const char base[] = "it is a base class; use one of its filters";

static const Absent absents[] = {
  { "PeakNormalizationStrategy",
      "it is a value of Normalize: strategy='peak'" },
  { "RMSNormalizationStrategy", "it is a value of Normalize: strategy='rms'" },
  { "PerChannelNormalizationStrategy",
      "it is a value of Normalize: strategy='per-channel'" },
  { "PercentileNormalizationStrategy", normalising },
  { "CustomNormalizationStrategy", "it runs Python code" },
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
  { "ch", "channels are written ch[0]: …; ch[1]: …" },
};

const char *
tfx_absent_param (const char *name, const char *param)
{
  if (strcmp (name, "Reverb") == 0 &&
      (strcmp (param, "delay") == 0 || strcmp (param, "decay") == 0))
    return "the Reverb of TorchFX 0.6 is now Echo(delay, decay, mix)";
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

#define CATALOGUE "(gst-tfx list shows all)"

/* Names that other programs have, in lower case and without "_". */
typedef struct Synonym
{
  const char *name, *klass;
} Synonym;

static const Synonym synonyms[] = {
  { "lowpass", "LoButterworth" },
  { "lopass", "LoButterworth" },
  { "lpf", "LoButterworth" },
  { "highcut", "LoButterworth" },
  { "hicut", "LoButterworth" },
  { "highpass", "HiButterworth" },
  { "hipass", "HiButterworth" },
  { "hpf", "HiButterworth" },
  { "lowcut", "HiButterworth" },
  { "locut", "HiButterworth" },
  { "bandpass", "Butterworth" },
  { "bpf", "Butterworth" },
  { "bandstop", "Notch" },
  { "bandreject", "Notch" },
  { "lowshelf", "LoShelving" },
  { "loshelf", "LoShelving" },
  { "lowshelving", "LoShelving" },
  { "bass", "LoShelving" },
  { "highshelf", "HiShelving" },
  { "hishelf", "HiShelving" },
  { "highshelving", "HiShelving" },
  { "treble", "HiShelving" },
  { "peq", "ParametricEQ" },
  { "peak", "ParametricEQ" },
  { "peakingeq", "ParametricEQ" },
  { "bell", "ParametricEQ" },
  { "equalizer", "ParametricEQ" },
  { "equaliser", "ParametricEQ" },
  { "crossover", "LinkwitzRiley" },
  { "volume", "Gain" },
  { "amplify", "Gain" },
  { "preamp", "Gain" },
  { "matrix", "Mix" },
  { "mixer", "Mix" },
  { "convolution", "Convolve" },
  { "convolver", "Convolve" },
  { "ir", "Convolve" },
  { "agc", "Normalize" },
  { "loudnorm", "Loudness" },
  { "lufs", "Loudness" },
};

static const TfxClass *
find_synonym (const char *name)
{
  char plain[TFX_EXPR_MAX_NAME + 1];
  size_t n = 0;

  for (; *name; name++) {
    if (*name != '_')
      plain[n++] = *name >= 'A' && *name <= 'Z' ? *name + 32 : *name;
  }
  plain[n] = '\0';
  for (size_t i = 0; i < sizeof synonyms / sizeof synonyms[0]; i++) {
    if (strcmp (synonyms[i].name, plain) == 0)
      return tfx_catalogue_find (synonyms[i].klass);
  }
  return NULL;
}

int
tfx_absent_refuse (const char *name, TfxExprError *error)
{
  const char *why = tfx_absent_why (name);
  const TfxClass *meant = find_synonym (name);
  TfxSuggestion near;
  bool is_near;

  if (why)
    return tfx_error_set (error, -EINVAL, "%s is not in the catalogue: %s",
        name, why);
  if (meant)
    return tfx_error_set (error, -EINVAL,
        "there is no class '%s'; did you mean '%s', for example %s? " CATALOGUE,
        name, meant->name, meant->example);
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
