/* SPDX-License-Identifier: LGPL-2.1-or-later
 * class-hrir.c: HRIR, loudspeakers for headphones, with head-related impulse responses. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "class.h"
#include "core/positions.h"
#include "error.h"

#define N_EARS 2

static TfxChannelChange
hrir_channels (const TfxNode *node)
{
  return (TfxChannelChange){ "azimuth",
    (unsigned)tfx_class_value (node, "azimuth")->n_list, N_EARS };
}

static int
hrir_check (const TfxNode *node, const char *thing, TfxExprError *error)
{
  const TfxValue *location = tfx_class_value (node, "location");
  const size_t n = tfx_class_value (node, "azimuth")->n_list;
  const size_t n_up = tfx_class_value (node, "elevation")->n_list;

  if (location->file && !location->file->fit_ears)
    return tfx_error_set (error, -EINVAL,
        "location of %s is '%s', but must be a SOFA file, whose name ends in "
        ".sofa",
        thing, TFX_ERROR_QUOTE (80, location->text));
  if (n_up == 0 || n_up == n)
    return 0;
  return tfx_error_set (error, -EINVAL,
      "elevation of %s has %zu number%s, but azimuth has %zu", thing, n_up,
      n_up == 1 ? "" : "s", n);
}

/* Without azimuths, there are as many kernels as for 7.1. */
static void
hrir_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  const TfxFile *file = tfx_class_value (node, "location")->file;
  const size_t n_in = tfx_class_value (node, "azimuth")->n_list;
  size_t n;

  if (!file)
    return;
  n = (size_t)ceil (
      file->n_frames * (rate_hz > 0.0 ? rate_hz / file->rate_hz : 1.0));
  extent->taps += n;
  extent->more_taps += (N_EARS * (n_in ? n_in : 8) - 1) * n;
}

/* Sets the direction of each channel, and the set of LFE channels.  One or two channels
 * without positions are mono and stereo. */
static int
find_directions (const TfxBuild *build, const TfxNode *node,
    TfxDirection *directions, uint64_t *lfe)
{
  const TfxValue *azimuth = tfx_class_value (node, "azimuth");
  const TfxValue *elevation = tfx_class_value (node, "elevation");
  const uint64_t positions = build->positions || build->n_channels > 2
                                 ? build->positions
                                 : tfx_positions_default (build->n_channels);

  *lfe = 0;
  if (build->n_room > TFX_EXPR_MAX_CHANNELS)
    return tfx_error_set (build->error, -ERANGE,
        "%s is in a chain of %u channels; at most %u are allowed", build->thing,
        build->n_room, TFX_EXPR_MAX_CHANNELS);
  for (unsigned c = 0; c < build->n_channels; c++) {
    TfxDirection *to = &directions[c];
    bool is_lfe = false;

    if (azimuth->n_list > 0)
      *to = (TfxDirection){ azimuth->list[c],
        elevation->n_list > 0 ? elevation->list[c] : 0.0 };
    else if (!tfx_positions_find_direction (positions, c, &to->azimuth,
                 &to->elevation, &is_lfe))
      return tfx_error_set (build->error, -EINVAL,
          "%s needs an azimuth for each of %u channel%s: channel %u has no "
          "position",
          build->thing, build->n_channels, build->n_channels == 1 ? "" : "s",
          c);
    *lfe |= (uint64_t)is_lfe << c;
  }
  return 0;
}

/* Makes the matrix of the kernels for both ears of each channel.  LFE reaches both ears
 * alike, by the mean of its kernels. */
static int
make_matrix (TfxBuild *build, const TfxNode *node, const TfxImpulse *impulse,
    uint64_t lfe)
{
  const unsigned n = build->n_room;
  const size_t n_taps = impulse->n_taps;
  const double *kernels[N_EARS * TFX_EXPR_MAX_CHANNELS];
  int matrix[TFX_EXPR_MAX_CHANNELS * TFX_EXPR_MAX_CHANNELS];

  for (unsigned i = 0; i < n * n; i++)
    matrix[i] = -1;
  for (unsigned c = 0; c < build->n_channels; c++) {
    double *left = impulse->taps + N_EARS * c * n_taps, *right = left + n_taps;

    for (size_t i = 0; (lfe >> c & 1) && i < n_taps; i++)
      left[i] = right[i] = 0.5 * (left[i] + right[i]);
    kernels[N_EARS * c] = left;
    kernels[N_EARS * c + 1] = right;
    matrix[c] = (int)(N_EARS * c);
    matrix[n + c] = (int)(N_EARS * c + 1);
  }
  return tfx_class_take (build,
      tfx_stage_new_fir_matrix (node->id, n, matrix, kernels,
          impulse->n_kernels, n_taps,
          (TfxFirMethod)tfx_class_word (node, "conv_mode")));
}

static int
hrir_design (TfxBuild *build, const TfxNode *node)
{
  const TfxValue *location = tfx_class_value (node, "location");
  TfxDirection directions[TFX_EXPR_MAX_CHANNELS];
  TfxImpulse impulse = { NULL, 0, 0, 0 };
  char why[TFX_FILE_WHY_SIZE];
  uint64_t lfe;
  int code = find_directions (build, node, directions, &lfe);

  if (code < 0)
    return code;
  if (!location->file)
    return tfx_class_refuse_unread (build, location);
  code = location->file->fit_ears (location->file, build->rate_hz, directions,
      build->n_channels, &impulse, why);
  if (code < 0)
    return tfx_error_set (build->error, code, "%s: %s", build->thing, why);
  code = make_matrix (build, node, &impulse, lfe);
  free (impulse.taps);
  return code;
}

const TfxClassOps tfx_hrir_ops = {
  .design = hrir_design,
  .check = hrir_check,
  .channels = hrir_channels,
  .measure = hrir_measure,
  .is_rebuilt = true,
};
