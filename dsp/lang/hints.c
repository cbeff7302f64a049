/* SPDX-License-Identifier: LGPL-2.1-or-later
 * hints.c: errors that know better.
 *
 *   Percentile…()     a class of TorchFX that a stream cannot have
 *   lowshelf(100)     a name that other programs use
 *   highpass=f=80     FFmpeg, SoX: see translate.c
 *   Preamp: -6 dB     Equalizer APO
 *   left: ...         a channel */
#include "lexer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "error.h"

/* Names, separated by spaces, and a text for them. */
typedef struct Names
{
  const char *names, *text;
} Names;

static const char *
find_name (const Names *list, size_t n, const char *name)
{
  for (size_t i = 0; i < n; i++) {
    if (tfx_lexer_is_word (name, list[i].names))
      return list[i].text;
  }
  return NULL;
}

#define FIND(list, name) find_name (list, sizeof list / sizeof *list, name)

/* ---- classes ------------------------------------------------------------------- */

/* Classes of TorchFX that are not in the catalogue, and why. */
static const Names absents[] = {
  { "PeakNormalizationStrategy",
      "it is a value of Normalize: strategy='peak'" },
  { "RMSNormalizationStrategy", "it is a value of Normalize: strategy='rms'" },
  { "PerChannelNormalizationStrategy",
      "it is a value of Normalize: strategy='per-channel'" },
  { "PercentileNormalizationStrategy",
      "it needs the whole signal before the first output sample, which a "
      "stream cannot give; use Normalize(strategy='peak') or 'rms'" },
  { "CustomNormalizationStrategy", "it runs Python code" },
  { "NoiseGate", "it is called Gate" },
  { "FilterChain ParallelFilterCombination Sequential FusedSOSCascade",
      "write a | b for a series and a + b for a sum" },
  { "FX IIR Shelving AbstractFilter",
      "it is a base class; use one of its filters" },
  { "MonoDelayStrategy", "it is a value of Delay: strategy='mono'" },
  { "PingPongDelayStrategy", "it is a value of Delay: strategy='ping-pong'" },
  { "Wave", "the audio comes from the pipeline" },
  { "ch", "channels are written ch[0]: …; ch[1]: …" },
};

/* Names of other programs, in lower case and without "_", and the class. */
static const Names synonyms[] = {
  { "lowpass lopass lpf highcut hicut", "LoButterworth" },
  { "highpass hipass hpf lowcut locut", "HiButterworth" },
  { "bandpass bpf", "Butterworth" },
  { "bandstop bandreject", "Notch" },
  { "lowshelf loshelf lowshelving bass", "LoShelving" },
  { "highshelf hishelf highshelving treble", "HiShelving" },
  { "peq peak peakingeq bell equalizer equaliser", "ParametricEQ" },
  { "crossover", "LinkwitzRiley" },
  { "mbc multibandcompressor multibandcompander", "Multiband" },
  { "volume amplify preamp", "Gain" },
  { "matrix mixer", "Mix" },
  { "convolution convolver ir", "Convolve" },
  { "hrtf binaural sofa sofalizer headphones", "HRIR" },
  { "agc", "Normalize" },
  { "loudnorm lufs", "Loudness" },
  { "noisereduction denoiser", "Denoise" },
};

const char *
tfx_hints_absent (const char *name)
{
  return FIND (absents, name);
}

#define CATALOGUE "(gst-tfx list shows all)"

int
tfx_hints_refuse_class (const char *name, TfxExprError *error)
{
  const char *why = FIND (absents, name), *synonym;
  char plain[TFX_EXPR_MAX_NAME + 1];
  TfxSuggestion near = { .word = name };
  size_t n = 0;
  bool is_near;

  if (why)
    return tfx_error_set (error, -EINVAL, "%s is not in the catalogue: %s",
        name, why);
  for (const char *c = name; *c; c++) {
    if (*c != '_')
      plain[n++] = *c >= 'A' && *c <= 'Z' ? *c + 32 : *c;
  }
  plain[n] = '\0';
  synonym = FIND (synonyms, plain);
  if (synonym)
    return tfx_error_set (error, -EINVAL,
        "there is no class '%s'; did you mean '%s', for example %s? " CATALOGUE,
        name, synonym, tfx_catalogue_find (synonym)->example);
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

/* ---- lines of Equalizer APO ------------------------------------------------------ */

#define ONLY                                                                   \
  "only Filter: and Preamp: are read, from a file: "                           \
  "FilterSettings('settings.txt')"

/* rest[length] follows the name and its spaces. */
static int
refuse_setting (const char *name, const char *rest, size_t length,
    TfxExprError *error)
{
  const char *line_end = memchr (rest, '\n', length);
  const size_t n_line = line_end ? (size_t)(line_end - rest) : length;
  const bool has_colon = length > 0 && rest[0] == ':';

  if ((strcasecmp (name, "Filter") == 0 && memchr (rest, ':', n_line)) ||
      (strcmp (name, "Filter") == 0 && n_line >= 8 &&
          memcmp (rest, "Settings", 8) == 0) ||
      (strcasecmp (name, "Preamp") == 0 && has_colon))
    return tfx_error_set (error, -EINVAL,
        "this is a line of filter settings (REW, Equalizer APO), which are "
        "read from a file: FilterSettings('settings.txt'), the property "
        "location or the option --chain-file");
  if (has_colon && strcasecmp (name, "Channel") == 0)
    return tfx_error_set (error, -EINVAL,
        "this is a line of Equalizer APO; here channels are numbers: "
        "ch[0]: FilterSettings('left.txt'); ch[1]: "
        "FilterSettings('right.txt')");
  if (has_colon && strcasecmp (name, "GraphicEQ") == 0)
    return tfx_error_set (error, -EINVAL,
        "GraphicEQ: lines of Equalizer APO are not supported; write "
        "Curve([[25, 0], [40, 1.5], …], phase='minimum')");
  if (has_colon && tfx_lexer_is_word (name,
                       "Device Convolution Include Copy Delay Stage Eval"))
    return tfx_error_set (error, -EINVAL,
        "%s: looks like a line of Equalizer APO, which is not supported; of "
        "its lines " ONLY,
        name);
  return 0;
}

/* ---- channels -------------------------------------------------------------------- */

/* The number of the channel that a name means, -1 if it means none. */
static int
find_channel (const char *name)
{
  static const char *const names[] = { "left", "right", "l", "r", "fl", "fr",
    "front_left", "front_right" };
  int channel;
  char after;

  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcasecmp (name, names[i]) == 0)
      return (int)i % 2;
  }
  if (sscanf (name, "ch%2d%c", &channel, &after) == 1 ||
      sscanf (name, "channel%2d%c", &channel, &after) == 1)
    return channel >= 0 && channel < (int)TFX_EXPR_MAX_CHANNELS ? channel : -1;
  return -1;
}

/* "left:", "ch0:", "ch 0:"; the lexer is after the name. */
static int
refuse_channel (TfxLexer *lexer, const char *name, TfxExprError *error)
{
  const bool has_number = lexer->token.type == TFX_TOKEN_NUMBER;
  char full[TFX_EXPR_MAX_NAME + 16];
  int channel;

  snprintf (full, sizeof full, "%s", name);
  if (has_number) {
    if (!(lexer->token.number < TFX_EXPR_MAX_CHANNELS))
      return 0;
    snprintf (full, sizeof full, "%s%u", name, (unsigned)lexer->token.number);
    tfx_lexer_next (lexer);
  }
  if (!tfx_lexer_is_mark (lexer, ':'))
    return 0;
  channel = find_channel (full);
  if (channel >= 0)
    return tfx_error_set (error, -EINVAL,
        "channels are numbers from 0: write ch[%d]: in place of %s:", channel,
        full);
  if (has_number || tfx_catalogue_find (name))
    return 0;
  return tfx_error_set (error, -EINVAL,
      "there is no channel '%s'; the chain of the first channel begins with "
      "ch[0]:, that of the second with ch[1]:",
      name);
}

int
tfx_hints_refuse_text (const char *text, size_t length, TfxExprError *error)
{
  int code = tfx_translate_refuse (text, length, error);
  TfxLexer lexer;
  TfxToken name;
  size_t rest;

  if (code < 0)
    return code;
  tfx_lexer_init (&lexer, text, length, NULL);
  name = lexer.token;
  if (name.type != TFX_TOKEN_NAME)
    return 0;
  rest = lexer.at;
  while (rest < length && (text[rest] == ' ' || text[rest] == '\t'))
    rest++;
  code = refuse_setting (name.string, text + rest, length - rest, error);
  if (code < 0)
    return code;
  tfx_lexer_next (&lexer);
  return refuse_channel (&lexer, name.string, error);
}
