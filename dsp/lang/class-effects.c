/* SPDX-License-Identifier: LGPL-2.1-or-later
 * class-effects.c: gain, sums of channels, echoes, alignment and reverb. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "class.h"
#include "design/window.h"
#include "error.h"

/* ---- Gain ------------------------------------------------------------------- */

static int
gain_check (const TfxNode *node, const char *thing, TfxExprError *error)
{
  const double gain = tfx_class_number (node, "gain");

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

static int
gain_design (TfxBuild *build, const TfxNode *node)
{
  const bool is_clip = tfx_class_number (node, "clamp") != 0.0;
  TfxStage values = { .kind = is_clip ? &tfx_kind_clip : &tfx_kind_gain,
    .u.gain = tfx_class_number (node, "gain") };

  if (tfx_class_is (node, "gain_type", "db"))
    values.u.gain = pow (10.0, values.u.gain / 20.0);
  else if (tfx_class_is (node, "gain_type", "power"))
    values.u.gain = sqrt (values.u.gain);
  return tfx_class_make (build, values);
}

const TfxClassOps tfx_gain_ops = { .design = gain_design, .check = gain_check };

/* ---- Mix -------------------------------------------------------------------- */

static int
mix_check (const TfxNode *node, const char *thing, TfxExprError *error)
{
  const TfxValue *gains = tfx_class_value (node, "gains");
  const size_t n_rows = gains->n_list / gains->n_columns;

  if (n_rows > TFX_EXPR_MAX_CHANNELS ||
      gains->n_columns > TFX_EXPR_MAX_CHANNELS)
    return tfx_error_set (error, -ERANGE,
        "gains of %s has %zu rows of %zu numbers; at most %u are allowed",
        thing, n_rows, gains->n_columns, TFX_EXPR_MAX_CHANNELS);
  return 0;
}

static TfxChannelChange
mix_channels (const TfxNode *node)
{
  const TfxValue *gains = tfx_class_value (node, "gains");

  return (TfxChannelChange){ "gains", (unsigned)gains->n_columns,
    (unsigned)(gains->n_list / gains->n_columns) };
}

static int
mix_design (TfxBuild *build, const TfxNode *node)
{
  const TfxValue *gains = tfx_class_value (node, "gains");

  return tfx_class_make_mix (build, node->id, gains->list, gains->n_list,
      gains->n_columns);
}

const TfxClassOps tfx_mix_ops = {
  .design = mix_design,
  .check = mix_check,
  .channels = mix_channels,
  .is_rebuilt = true,
};

/* ---- Width ------------------------------------------------------------------ */

int
tfx_class_check_stereo (const TfxNode *node, unsigned n_channels,
    const char *thing, TfxExprError *error)
{
  return n_channels <= 2
             ? 0
             : tfx_error_set (error, -EINVAL,
                   "%s is for stereo, but its input has %u channels; ch[FL, "
                   "FR]: %s is for two of them",
                   thing, n_channels, node->klass->example);
}

/* left = middle + amount side, right = middle - amount side, where middle and side are
 * half of the sum and half of the difference.  One channel is the middle alone. */
static int
width_design (TfxBuild *build, const TfxNode *node)
{
  const double amount = tfx_class_number (node, "amount");
  const double own = 0.5 * (1.0 + amount), other = 0.5 * (1.0 - amount);
  const double one = 1.0, two[] = { own, other, other, own };

  return build->n_channels == 1
             ? tfx_class_make_mix (build, node->id, &one, 1, 1)
             : tfx_class_make_mix (build, node->id, two, 4, 2);
}

const TfxClassOps tfx_width_ops = {
  .design = width_design,
  .check_channels = tfx_class_check_stereo,
};

/* ---- Echo ------------------------------------------------------------------- */

static void
echo_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  extent->delay += tfx_class_number (node, "delay");
  extent->echoes++;
}

/* y[n] = (1 - mix) x[n] + mix (x[n] + decay x[n - delay]) */
static int
echo_design (TfxBuild *build, const TfxNode *node)
{
  const TfxTap tap = { .delay = (size_t)tfx_class_number (node, "delay"),
    .gain = tfx_class_number (node, "mix") * tfx_class_number (node, "decay") };

  return tfx_class_make_delay (build, 1.0, &tap, 1);
}

const TfxClassOps tfx_echo_ops = {
  .design = echo_design,
  .measure = echo_measure,
};

/* ---- Delay ------------------------------------------------------------------ */

static int
delay_check (const TfxNode *node, const char *thing, TfxExprError *error)
{
  double fraction, seconds = 0.0;

  tfx_note_parse (tfx_class_value (node, "delay_time")->word, &fraction,
      &seconds);
  if (tfx_class_value (node, "delay_samples")->type == TFX_VALUE_NONE &&
      tfx_class_value (node, "bpm")->type == TFX_VALUE_NONE && seconds == 0.0)
    return tfx_error_set (error, -EINVAL,
        "%s needs delay_samples, or bpm and delay_time, or a delay_time in ms, "
        "for example %s",
        thing, node->klass->example);
  return 0;
}

/* Frames from echo to echo: a note is rounded down, but not because of rounding
 * errors; a time in ms is rounded to the nearest. */
static double
find_delay (const TfxNode *node, double rate_hz)
{
  const TfxValue *samples = tfx_class_value (node, "delay_samples");
  double fraction = 0.0, seconds = 0.0;

  if (samples->type == TFX_VALUE_NUMBER)
    return samples->number;
  tfx_note_parse (tfx_class_value (node, "delay_time")->word, &fraction,
      &seconds);
  if (seconds > 0.0)
    return floor (seconds * rate_hz + 0.5);
  /* A beat is a quarter note. */
  return floor (
      fraction * 4.0 * 60.0 / tfx_class_number (node, "bpm") * rate_hz + 1e-6);
}

static void
delay_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  const double taps = tfx_class_number (node, "taps");

  extent->delay += taps * find_delay (node, rate_hz);
  extent->echoes += (size_t)taps;
}

/* y[n] = (1 - mix) x[n] + mix sum_k feedback^(k - 1) x[n - k D], k = 1 to taps.
 * Ping-pong takes odd echoes from the left into the right channel, and even
 * ones from the right into the left. */
static int
delay_design (TfxBuild *build, const TfxNode *node)
{
  const double delay = find_delay (node, build->rate_hz);
  const double mix = tfx_class_number (node, "mix");
  const double feedback = tfx_class_number (node, "feedback");
  const size_t n = (size_t)tfx_class_number (node, "taps");
  const bool ping_pong =
      build->n_channels == 2 && tfx_class_is (node, "strategy", "ping-pong");
  TfxTap taps[TFX_EXPR_MAX_ECHOES];
  double gain = mix;

  /* A time in ms may be less than half a sample. */
  if (delay < 1.0 && !strstr (tfx_class_value (node, "delay_time")->word, "ms"))
    return tfx_class_refuse (build,
        "delay_time gives a delay of less than one sample");
  for (size_t k = 0; k < n; k++) {
    taps[k] = (TfxTap){ .delay = (k + 1) * (size_t)delay, .gain = gain };
    if (ping_pong) {
      taps[k].swap = true;
      taps[k].side = k % 2 == 0 ? TFX_TAP_RIGHT : TFX_TAP_LEFT;
    }
    gain *= feedback;
  }
  return tfx_class_make_delay (build, 1.0 - mix, taps, n);
}

const TfxClassOps tfx_delay_ops = {
  .design = delay_design,
  .check = delay_check,
  .measure = delay_measure,
};

/* ---- Align ------------------------------------------------------------------ */

#define METRES_PER_SECOND 343.0 /* sound in dry air at 20 °C */
#define METRES_PER_FOOT 0.3048
/* A fraction of a sample: a sinc under a Kaiser window of twice this length.  The
 * error is below -110 dB up to 0.45 of the rate. */
#define ALIGN_HALF 40
#define ALIGN_BETA 12.0

typedef struct Align
{
  double delay; /* in samples */
  bool is_whole;
  size_t n_taps, n_late; /* of the FIR; 0: a delay line */
} Align;

/* A short delay in a unit of time or distance is a FIR even if it is whole, so that the
 * latency stays while it is adjusted. */
static Align
find_align (const TfxNode *node, double rate_hz)
{
  const double per_unit[] = { rate_hz / 1000.0, rate_hz / METRES_PER_SECOND,
    rate_hz / METRES_PER_SECOND * METRES_PER_FOOT, 1.0 };
  const double delay = tfx_class_number (node, "delay") *
                       per_unit[tfx_class_word (node, "unit")];
  const bool is_short = delay < ALIGN_HALF;
  Align a = { .delay = delay, .is_whole = fabs (delay - rint (delay)) < 1e-6 };

  if (a.is_whole)
    a.delay = rint (delay);
  if (a.is_whole && !(is_short && !tfx_class_is (node, "unit", "samples")))
    return a;
  a.n_late = is_short ? ALIGN_HALF : 0;
  a.n_taps = (size_t)floor (a.delay) + a.n_late + ALIGN_HALF + 1;
  return a;
}

static void
align_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  const Align a = find_align (node, rate_hz);

  if (a.n_taps > 0)
    extent->taps += a.n_taps;
  else
    extent->delay += a.delay;
}

/* taps[i] = w (t) sinc (t), t = i - n_late - delay, from -ALIGN_HALF to ALIGN_HALF. */
static int
align_design (TfxBuild *build, const TfxNode *node)
{
  const Align a = find_align (node, build->rate_hz);
  const TfxTap tap = { .delay = (size_t)a.delay, .gain = 1.0 };
  TfxWindowShape window;
  double *taps;
  int code;

  if (a.n_taps == 0)
    return tfx_class_make_delay (build, a.delay == 0.0, &tap, a.delay > 0.0);
  taps = calloc (a.n_taps, sizeof *taps);
  if (!taps)
    return tfx_class_refuse (build, NULL);
  tfx_window_shape (TFX_WINDOW_KAISER, ALIGN_BETA, &window);
  for (size_t i = a.n_taps; i-- > 0;) {
    const double t = (double)i - (double)a.n_late - a.delay;
    const double v = 1.0 - t * t / (ALIGN_HALF * ALIGN_HALF);
    double w = 0.0;

    if (v < 0.0 && t < 0.0)
      break;
    for (size_t k = window.n; v >= 0.0 && k-- > 0;)
      w = w * v + window.a[k];
    taps[i] = t == 0.0     ? 1.0
              : a.is_whole ? 0.0
                           : w * sin (M_PI * t) / (M_PI * t);
  }
  code = tfx_class_make_fir (build, (const double *const *)&taps, 1, a.n_taps,
      TFX_FIR_AUTO);
  free (taps);
  if (code == 0)
    build->stage->u.fir.n_late = a.n_late;
  return code;
}

const TfxClassOps tfx_align_ops = {
  .design = align_design,
  .measure = align_measure,
  .is_rebuilt = true,
};

/* ---- Reverb ----------------------------------------------------------------- */

/* Freeverb's lengths (Jezar at Dreampoint, public domain), in frames at 44.1
 * kHz. */
static const unsigned combs[TFX_REVERB_COMBS] = { 1116, 1188, 1277, 1356, 1422,
  1491, 1557, 1617 };
static const unsigned all_passes[TFX_REVERB_ALL_PASSES] = { 556, 441, 341,
  225 };

static void
reverb_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  for (unsigned i = 0; i < TFX_REVERB_COMBS; i++)
    extent->delay += combs[i] * rate_hz / 44100.0;
  for (unsigned i = 0; i < TFX_REVERB_ALL_PASSES; i++)
    extent->delay += all_passes[i] * rate_hz / 44100.0;
}

static int
reverb_design (TfxBuild *build, const TfxNode *node)
{
  const double scale = build->rate_hz / 44100.0;
  const double mix = tfx_class_number (node, "mix");
  TfxReverb reverb = {
    .feedback = 0.7 + 0.28 * tfx_class_number (node, "room_size"),
    .damp = 0.4 * tfx_class_number (node, "damping"),
    .wet = mix,
    .dry = 1.0 - mix,
  };

  for (unsigned i = 0; i < TFX_REVERB_COMBS; i++)
    reverb.combs[i] = (size_t)fmax (1.0, round (combs[i] * scale));
  for (unsigned i = 0; i < TFX_REVERB_ALL_PASSES; i++)
    reverb.all_passes[i] = (size_t)fmax (1.0, round (all_passes[i] * scale));
  return tfx_class_make (build,
      (TfxStage){ .kind = &tfx_kind_reverb, .u.reverb = reverb });
}

const TfxClassOps tfx_reverb_ops = {
  .design = reverb_design,
  .measure = reverb_measure,
};
