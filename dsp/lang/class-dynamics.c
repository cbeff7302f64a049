/* SPDX-License-Identifier: LGPL-2.1-or-later
 * class-dynamics.c: gains that depend on the level: Compressor, Expander, Gate,
 * Limiter, Normalize, Loudness and Denoise. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "class.h"
#include "cpu/stft.h"
#include "design/fir-curve.h"
#include "design/k-weighting.h"
#include "error.h"

/* The coefficient of a time constant, for steps of n_frames. */
static double
find_coefficient (const TfxNode *node, const char *param, size_t n_frames,
    double rate_hz)
{
  const double seconds = tfx_class_number (node, param);

  return seconds > 0.0 ? exp (-(double)n_frames / (seconds * rate_hz)) : 0.0;
}

/* ---- Compressor, Expander, Gate ----------------------------------------------- */

/* TorchFX's stand-in for a ratio of infinity. */
#define GATE_SLOPE -1e6

/* Refuses all but IIR filters in series. */
static int
check_filter (const TfxNode *node, const char *thing, TfxExprError *error)
{
  const char *what = node->kind == TFX_NODE_CALL  ? node->klass->name
                     : node->kind == TFX_NODE_SUM ? "a sum"
                                                  : "ch[…]";
  int code = 0;

  if (node->kind == TFX_NODE_CALL && node->klass->kind == TFX_CLASS_SECTIONS)
    return 0;
  if (node->kind != TFX_NODE_SERIES)
    return tfx_error_set (error, -EINVAL,
        "key_filter of %s takes IIR filters in series, such as HiButterworth, "
        "not %s",
        thing, what);
  for (size_t i = 0; i < node->n_children && code == 0; i++)
    code = check_filter (node->children[i], thing, error);
  return code;
}

static int
dynamics_check (const TfxNode *node, const char *thing, TfxExprError *error)
{
  const TfxValue *key = tfx_class_value (node, "key");

  for (size_t i = 0; i < key->n_list; i++) {
    for (size_t k = 0; k < i; k++) {
      if (key->list[k] == key->list[i])
        return tfx_error_set (error, -EINVAL, "key of %s has channel %s twice",
            thing, TFX_NUMBER_TEXT (key->list[i]));
    }
  }
  return node->n_children > 0 ? check_filter (node->children[0], thing, error)
                              : 0;
}

static int
dynamics_check_channels (const TfxNode *node, unsigned n_channels,
    const char *thing, TfxExprError *error)
{
  const TfxValue *key = tfx_class_value (node, "key");

  for (size_t i = 0; i < key->n_list; i++) {
    if (!(key->list[i] < n_channels))
      return tfx_error_set (error, -ERANGE,
          "key of %s is channel %s, out of range: its input has %u channel%s, "
          "counted from 0",
          thing, TFX_NUMBER_TEXT (key->list[i]), n_channels,
          n_channels == 1 ? "" : "s");
  }
  if (key->n_list == n_channels)
    return tfx_error_set (error, -EINVAL,
        "key of %s has all channels of its input; at least one other must get "
        "the gain",
        thing);
  return 0;
}

/* The key's channels, and the sections of its filter; while other values move, those of the
 * running stage. */
static int
describe_key (TfxBuild *build, const TfxNode *node, TfxDynamics *d)
{
  const TfxValue *key = tfx_class_value (node, "key");
  const TfxChain *chain = build->chains ? build->chains[0] : NULL;
  size_t n = 0;

  for (size_t i = 0; i < key->n_list; i++)
    d->key |= (uint64_t)1 << (unsigned)key->list[i];
  if (build->is_move && build->running &&
      build->running->kind == &tfx_kind_dynamics) {
    d->n_key_sos = build->running->u.dynamics.n_key_sos;
    memcpy (d->key_sos, build->running->u.dynamics.key_sos, sizeof d->key_sos);
  }
  for (size_t i = 0; chain && i < chain->n_stages; i++)
    n += chain->stages[i]->u.sections.n;
  if (n > TFX_DYNAMICS_MAX_KEY_SOS)
    return tfx_error_set (build->error, -E2BIG,
        "key_filter of %s has %zu second-order sections; at most %d are "
        "allowed",
        build->thing, n, TFX_DYNAMICS_MAX_KEY_SOS);
  for (size_t i = 0; chain && i < chain->n_stages; i++) {
    memcpy (d->key_sos + d->n_key_sos, chain->stages[i]->u.sections.sos,
        chain->stages[i]->u.sections.n * sizeof *d->key_sos);
    d->n_key_sos += chain->stages[i]->u.sections.n;
  }
  return 0;
}

static int
dynamics_design (TfxBuild *build, const TfxNode *node)
{
  const TfxDynamicsClass klass = (TfxDynamicsClass)node->klass->variant;
  const double ratio = klass == TFX_CLASS_GATE
                           ? TFX_RATIO_INFINITE
                           : tfx_class_number (node, "ratio");
  const bool is_infinite = !(ratio < TFX_RATIO_INFINITE);
  TfxDynamics dynamics = {
    .is_rms = tfx_class_is (node, "detector", "rms"),
    .is_linked = tfx_class_number (node, "link") != 0.0,
    .n_unmeasured = build->n_keys,
    .is_downward = klass != TFX_CLASS_COMPRESSOR,
    .threshold_db = tfx_class_number (node, "threshold"),
    .knee_db = tfx_class_number (node, "knee"),
    .attack = find_coefficient (node, "attack", 1, build->rate_hz),
    .release = find_coefficient (node, "release", 1, build->rate_hz),
  };
  int code;

  if (klass == TFX_CLASS_COMPRESSOR) {
    dynamics.slope = is_infinite ? -1.0 : 1.0 / ratio - 1.0;
    dynamics.floor_db = TFX_DYNAMICS_LOWEST_DB;
    dynamics.makeup_db = tfx_class_number (node, "makeup_gain");
  } else {
    const TfxValue *lowest = tfx_class_value (node, "floor");

    dynamics.slope = is_infinite ? GATE_SLOPE : 1.0 - ratio;
    dynamics.floor_db =
        lowest->type == TFX_VALUE_NONE ? TFX_EXPR_NO_FLOOR_DB : lowest->number;
  }
  code = describe_key (build, node, &dynamics);
  return code < 0
             ? code
             : tfx_class_make (build, (TfxStage){ .kind = &tfx_kind_dynamics,
                                          .u.dynamics = dynamics });
}

const TfxClassOps tfx_dynamics_ops = {
  .design = dynamics_design,
  .check = dynamics_check,
  .check_channels = dynamics_check_channels,
  .absorbs_chains = true,
};

/* ---- Limiter, Normalize, Loudness ------------------------------------------------ */

/* The gain block of a limiter of true peaks; the look-ahead is rounded up to these. */
#define LIMITER_BLOCK 16
/* Gain blocks of the window of Normalize, about; and the fewest. */
#define WINDOW_BLOCKS 256.0
#define FEWEST_BLOCKS 8.0

static void
describe_limiter (const TfxNode *node, double rate_hz, TfxStage *values)
{
  const double n_frames = tfx_class_number (node, "lookahead") * rate_hz;
  const double threshold_db = tfx_class_number (node, "threshold");
  const bool is_linked = tfx_class_number (node, "link") != 0.0;
  TfxAgc *l = &values->u.agc;

  if (tfx_class_number (node, "true_peak") == 0.0) {
    values->kind = &tfx_kind_limiter;
    /* Halves are rounded to even, as in Python. */
    values->u.limiter = (TfxLimiter){ .threshold_db = threshold_db,
      .n_ahead = (size_t)rint (n_frames),
      .attack = find_coefficient (node, "lookahead", 1, rate_hz),
      .release = find_coefficient (node, "release", 1, rate_hz),
      .is_linked = is_linked };
    return;
  }
  *l = (TfxAgc){ .measure = TFX_AGC_TRUE_PEAK,
    .is_linked = is_linked,
    .target_db = threshold_db,
    .n_block = LIMITER_BLOCK };
  while (n_frames / (double)l->n_block > TFX_AGC_MAX_BLOCKS - 1)
    l->n_block *= 2;
  /* A peak between samples may be found in the next block. */
  l->n_ahead = (size_t)fmax (ceil (n_frames / (double)l->n_block - 1e-9), 3.0);
  l->n_smooth = l->n_ahead - 2;
  l->n_window = l->n_ahead;
  l->release = find_coefficient (node, "release", l->n_block, rate_hz);
}

static TfxAgc
describe_normalize (const TfxNode *node, double rate_hz)
{
  const double n_frames =
      fmax (tfx_class_number (node, "window") * rate_hz, FEWEST_BLOCKS);
  TfxAgc l = {
    .measure =
        tfx_class_is (node, "strategy", "rms") ? TFX_AGC_RMS : TFX_AGC_PEAK,
    .is_linked = !tfx_class_is (node, "strategy", "per-channel"),
    .target_db = 20.0 * log10 (tfx_class_number (node, "peak")),
    .max_gain_db = tfx_class_number (node, "max_gain"),
    .n_block = (size_t)ceil (n_frames / WINDOW_BLOCKS),
  };

  l.n_window =
      (size_t)fmax (rint (n_frames / (double)l.n_block), FEWEST_BLOCKS);
  l.n_ahead = l.n_window / 2;
  l.n_smooth = l.n_ahead / 2;
  return l;
}

/* In steps of 100 ms; without a target it only measures. */
static TfxAgc
describe_loudness (const TfxNode *node, double rate_hz)
{
  TfxAgc l = {
    .measure = TFX_AGC_LOUDNESS,
    .is_linked = true,
    .n_block = (size_t)fmax (floor (rate_hz / 10.0 + 0.5), 1.0),
    .max_gain_db = tfx_class_number (node, "max_gain"),
    .step_db = tfx_class_number (node, "speed") / 10.0,
  };

  if (tfx_class_value (node, "target")->type == TFX_VALUE_NONE)
    return l;
  l.n_ahead = l.n_window =
      (size_t)fmax (rint (tfx_class_number (node, "lookahead") * 10.0), 2.0);
  l.n_smooth = 1;
  l.target_db = tfx_class_number (node, "target");
  return l;
}

/* All but the positions and the weighting. */
static TfxStage
describe (const TfxNode *node, double rate_hz)
{
  TfxStage values = { .kind = &tfx_kind_agc };

  if (node->klass->variant == TFX_CLASS_LIMITER)
    describe_limiter (node, rate_hz, &values);
  else if (node->klass->variant == TFX_CLASS_NORMALIZE)
    values.u.agc = describe_normalize (node, rate_hz);
  else
    values.u.agc = describe_loudness (node, rate_hz);
  return values;
}

static void
ahead_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  const TfxStage values = describe (node, rate_hz);

  if (rate_hz > 0.0)
    extent->delay += (double)tfx_stage_latency (&values);
}

static int
ahead_design (TfxBuild *build, const TfxNode *node)
{
  TfxStage values = describe (node, build->rate_hz);
  TfxAgc *l = &values.u.agc;

  if (values.kind == &tfx_kind_limiter &&
      values.u.limiter.n_ahead > TFX_LIMITER_MAX_AHEAD)
    return tfx_class_refuse (build, "its look-ahead is too long");
  if (values.kind == &tfx_kind_limiter)
    values.u.limiter.n_unmeasured = build->n_keys;
  else
    l->positions = TFX_POSITIONS_KEYS (build->n_keys);
  if (node->klass->variant != TFX_CLASS_LOUDNESS)
    return tfx_class_make (build, values);
  if (!(build->rate_hz > TFX_K_WEIGHTING_LOWEST_RATE_HZ) ||
      l->n_block > TFX_AGC_MAX_BLOCK)
    return tfx_class_refuse (build,
        "the sample rate must be from 4001 to 1310720 Hz");
  l->positions = build->positions ? build->positions
                                  : tfx_positions_default (
                                        build->n_channels - build->n_keys);
  l->positions |= TFX_POSITIONS_KEYS (build->n_keys);
  tfx_k_weighting_design (build->rate_hz, l->weighting);
  return tfx_class_make (build, values);
}

const TfxClassOps tfx_ahead_ops = {
  .design = ahead_design,
  .measure = ahead_measure,
};

/* ---- Denoise ------------------------------------------------------------------- */

/* Time constants of the tracking: 0.8 in 16 ms in the paper, which follows voices in the
 * background, and longer here, so that the estimate varies less; 0.9 in 16 ms, as there.
 * And the time to begin with, its five frames of 16 ms. */
#define NOISE_S 0.3
#define PRESENCE_S (0.016 / 0.10536051565782628)
#define BEGIN_S 0.08

static int
denoise_check (const TfxNode *node, const char *thing, TfxExprError *error)
{
  if (tfx_class_value (node, "profile")->type == TFX_VALUE_NONE)
    return 0;
  if (tfx_class_value (node, "learn")->type != TFX_VALUE_NONE)
    return tfx_error_set (error, -EINVAL,
        "%s has learn and profile, which both set the noise; leave one out",
        thing);
  return tfx_drawn_check_points (node, "profile", thing, error);
}

static bool
denoise_can_move (const TfxNode *node)
{
  return tfx_class_value (node, "profile")->type == TFX_VALUE_NONE;
}

static void
denoise_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  if (rate_hz > 0.0)
    extent->delay += (double)tfx_stft_window (rate_hz);
}

/* The power of a windowed frame in each bin, from malloc().  A density d per Hz, where a
 * sine at full scale has a power of 1, is a variance of d rate / 4, times the sum of the
 * window's squares, n_window / 2. */
static double *
make_noise (const TfxValue *profile, double rate_hz, size_t n_window)
{
  double *noise = malloc (n_window / 2 * sizeof *noise);

  for (size_t i = 0; noise && i < n_window / 2; i++)
    noise[i] =
        rate_hz * (double)n_window / 8.0 *
        pow (10.0,
            0.1 * tfx_fir_curve_gain_db (profile->list, profile->n_list / 2,
                      ((double)i + 0.5) * rate_hz / (double)n_window));
  return noise;
}

static int
denoise_design (TfxBuild *build, const TfxNode *node)
{
  const TfxValue *time = tfx_class_value (node, "learn");
  const TfxValue *profile = tfx_class_value (node, "profile");
  const bool is_given = profile->type != TFX_VALUE_NONE;
  const bool is_following = time->type == TFX_VALUE_NONE;
  const double learn_s = is_following ? BEGIN_S : time->number;
  const size_t n_window = tfx_stft_window (build->rate_hz);
  const double hop_s = (double)n_window / 4.0 / build->rate_hz;
  double *noise = NULL;
  int code;

  if (n_window == TFX_STFT_LONGEST)
    return tfx_class_refuse (build,
        "the sample rate must be at most 3072000 Hz");
  if (is_given && profile->n_list == 0)
    return tfx_class_refuse_unread (build, profile);
  if (is_given && !(noise = make_noise (profile, build->rate_hz, n_window)))
    return tfx_class_refuse (build, NULL);
  code = tfx_class_make (build,
      (TfxStage){ .kind = &tfx_kind_denoise,
          .u.denoise = {
              .reduction_db = tfx_class_number (node, "reduction"),
              .smoothing = find_coefficient (node, "smoothing", n_window / 4,
                  build->rate_hz),
              .noise_keep = exp (-hop_s / NOISE_S),
              .presence_keep = exp (-hop_s / PRESENCE_S),
              .n_window = n_window,
              .n_learn =
                  is_given ? 0 : (size_t)fmax (rint (learn_s / hop_s), 1.0),
              .is_following = is_following && !is_given,
              .is_linked = tfx_class_number (node, "link") != 0.0,
              .n_unmeasured = build->n_keys,
              .noise = noise,
          } });
  if (code < 0)
    free (noise);
  return code;
}

const TfxClassOps tfx_denoise_ops = {
  .design = denoise_design,
  .check = denoise_check,
  .can_move = denoise_can_move,
  .measure = denoise_measure,
};
