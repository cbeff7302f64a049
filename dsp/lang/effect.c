/* SPDX-License-Identifier: LGPL-2.1-or-later
 * effect.c: gain, echoes and reverb. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "class.h"
#include "error.h"
#include "core/kind.h"
#include "note.h"
#include "number.h"

/* ---- Gain ------------------------------------------------------------------- */

int
tfx_gain_check (const TfxNode *node, const char *thing, TfxExprError *error)
{
  double gain = tfx_class_number (node, "gain");

  if (tfx_class_is (node, "gain_type", "db") && fabs (gain) > 400.0)
    return tfx_error_set (error, -ERANGE,
        "gain of %s is %s dB, out of range (-400 to 400 dB)", thing,
        TFX_NUMBER_TEXT (gain));
  if (tfx_class_is (node, "gain_type", "power") && gain < 0.0)
    return tfx_error_set (error, -ERANGE,
        "gain of %s is %s, out of range for a power factor (0 to 1e+06)", thing,
        TFX_NUMBER_TEXT (gain));
  return 0;
}

int
tfx_gain_design (const TfxBuild *build, const TfxNode *node, TfxMoved *moved)
{
  double gain = tfx_class_number (node, "gain");

  if (tfx_class_is (node, "gain_type", "db"))
    gain = pow (10.0, gain / 20.0);
  else if (tfx_class_is (node, "gain_type", "power"))
    gain = sqrt (gain);
  moved->kind =
      tfx_class_number (node, "clamp") != 0.0 ? &tfx_kind_clip : &tfx_kind_gain;
  moved->gain = gain;
  return 0;
}

/* ---- Echo -------------------------------------------------------------------- */

void
tfx_echo_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  extent->delay += tfx_class_number (node, "delay");
  extent->echoes++;
}

/* y[n] = (1 - mix) x[n] + mix (x[n] + decay x[n - delay]) */
int
tfx_echo_design (const TfxBuild *build, const TfxNode *node, TfxMoved *moved)
{
  moved->kind = &tfx_kind_delay;
  moved->n_taps = 1;
  moved->direct = 1.0;
  moved->taps[0] = (TfxTap){ .delay = (size_t)tfx_class_number (node, "delay"),
    .gain = tfx_class_number (node, "mix") * tfx_class_number (node, "decay") };
  return 0;
}

/* ---- Reverb ------------------------------------------------------------------ */

/* Freeverb's lengths (Jezar at Dreampoint, public domain), in frames at 44.1
 * kHz. */
static const unsigned combs[TFX_REVERB_COMBS] = { 1116, 1188, 1277, 1356, 1422,
  1491, 1557, 1617 };
static const unsigned all_passes[TFX_REVERB_ALL_PASSES] = { 556, 441, 341,
  225 };

static size_t
scale_length (unsigned length, double rate_hz)
{
  return (size_t)fmax (1.0, round (length * rate_hz / 44100.0));
}

void
tfx_reverb_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  for (unsigned i = 0; i < TFX_REVERB_COMBS; i++)
    extent->delay += combs[i] * rate_hz / 44100.0;
  for (unsigned i = 0; i < TFX_REVERB_ALL_PASSES; i++)
    extent->delay += all_passes[i] * rate_hz / 44100.0;
}

int
tfx_reverb_design (const TfxBuild *build, const TfxNode *node, TfxMoved *moved)
{
  TfxReverb *r = &moved->reverb;
  const double mix = tfx_class_number (node, "mix");

  moved->kind = &tfx_kind_reverb;
  for (unsigned i = 0; i < TFX_REVERB_COMBS; i++)
    r->combs[i] = scale_length (combs[i], build->rate_hz);
  for (unsigned i = 0; i < TFX_REVERB_ALL_PASSES; i++)
    r->all_passes[i] = scale_length (all_passes[i], build->rate_hz);
  r->feedback = 0.7 + 0.28 * tfx_class_number (node, "room_size");
  r->damp = 0.4 * tfx_class_number (node, "damping");
  r->wet = mix;
  r->dry = 1.0 - mix;
  return 0;
}

/* ---- Delay ------------------------------------------------------------------- */

int
tfx_delay_check (const TfxNode *node, const char *thing, TfxExprError *error)
{
  if (tfx_class_value (node, "delay_samples")->type == TFX_VALUE_NONE &&
      tfx_class_value (node, "bpm")->type == TFX_VALUE_NONE)
    return tfx_error_set (error, -EINVAL,
        "%s needs delay_samples, or bpm and delay_time, for example %s", thing,
        node->klass->example);
  return 0;
}

/* From echo to echo, in frames.  The fraction of a frame is cut off, but not
 * a whole frame because of rounding. */
static double
find_delay (const TfxNode *node, double rate_hz)
{
  const TfxValue *samples = tfx_class_value (node, "delay_samples");
  double fraction = 0.0;

  if (samples->type == TFX_VALUE_NUMBER)
    return samples->number;
  tfx_note_parse (tfx_class_value (node, "delay_time")->word, &fraction);
  return floor (
      tfx_note_seconds (fraction, tfx_class_number (node, "bpm")) * rate_hz +
      1e-6);
}

void
tfx_delay_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  double taps = tfx_class_number (node, "taps");

  extent->delay += taps * find_delay (node, rate_hz);
  extent->echoes += (size_t)taps;
}

/* y[n] = (1 - mix) x[n] + mix sum_k feedback^(k - 1) x[n - k D], k = 1 to taps.
 * Ping-pong takes odd echoes from the left into the right channel, and even
 * ones from the right into the left. */
int
tfx_delay_design (const TfxBuild *build, const TfxNode *node, TfxMoved *moved)
{
  const double delay = find_delay (node, build->rate_hz);
  const double mix = tfx_class_number (node, "mix");
  const bool ping_pong =
      build->n_channels == 2 && tfx_class_is (node, "strategy", "ping-pong");
  double gain = mix;

  if (delay < 1.0)
    return tfx_class_refuse (build,
        "bpm and delay_time give a delay of less than one sample");
  moved->kind = &tfx_kind_delay;
  moved->direct = 1.0 - mix;
  moved->n_taps = (size_t)tfx_class_number (node, "taps");
  for (size_t k = 0; k < moved->n_taps; k++) {
    TfxTap *tap = &moved->taps[k];

    *tap = (TfxTap){ .delay = (k + 1) * (size_t)delay, .gain = gain };
    if (ping_pong) {
      tap->swap = true;
      tap->side = k % 2 == 0 ? TFX_TAP_RIGHT : TFX_TAP_LEFT;
    }
    gain *= tfx_class_number (node, "feedback");
  }
  return 0;
}
