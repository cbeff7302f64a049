/* SPDX-License-Identifier: LGPL-2.1-or-later
 * layout.c: the layout of a Convolve, a matrix of the channels of its file. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "class.h"
#include "core/positions.h"
#include "error.h"

const TfxValue *
tfx_layout_find (const TfxNode *node)
{
  const TfxValue *layout =
      tfx_class_has (node, "layout") ? tfx_class_value (node, "layout") : NULL;

  return layout && layout->type != TFX_VALUE_NONE ? layout : NULL;
}

TfxChannelChange
tfx_layout_channels (const TfxNode *node)
{
  const TfxValue *layout = tfx_layout_find (node);

  if (!layout)
    return (TfxChannelChange){ NULL };
  if (layout->type == TFX_VALUE_LIST)
    return (TfxChannelChange){ "layout", (unsigned)layout->n_columns,
      (unsigned)(layout->n_list / layout->n_columns) };
  return (TfxChannelChange){ "layout",
    tfx_class_is (node, "layout", "hesuvi") ? 0 : 2, 2 };
}

int
tfx_layout_check (const TfxNode *node, const char *thing, TfxExprError *error)
{
  const TfxValue *layout = tfx_layout_find (node);
  const TfxValue *location = tfx_class_value (node, "location");
  const TfxChannelChange change = tfx_layout_channels (node);
  const char *name = TFX_ERROR_QUOTE (80, location->text);
  const unsigned n = location->file ? location->file->n_channels : 0;
  const bool is_hesuvi = layout->type == TFX_VALUE_WORD && change.n_in == 0;
  double most = -1.0;

  if (tfx_class_value (node, "channel")->type == TFX_VALUE_NUMBER)
    return tfx_error_set (error, -EINVAL,
        "%s has a layout and a channel; a layout uses several channels of the "
        "file",
        thing);
  if (tfx_class_number (node, "mix") != 1.0 && change.n_in != change.n_out)
    return tfx_error_set (error, -EINVAL,
        "mix of %s is %s, but must be 1 with a layout whose outputs are not "
        "its inputs",
        thing, TFX_NUMBER_TEXT (tfx_class_number (node, "mix")));
  if (layout->type == TFX_VALUE_WORD) {
    if (n == 0 || (is_hesuvi ? n == 7 || n == 14 : n == 4))
      return 0;
    return tfx_error_set (error, -EINVAL,
        "layout='%s' of %s needs a file of %s channels, but '%s' has %u",
        layout->word, thing, is_hesuvi ? "7 or 14" : "4", name, n);
  }
  if (change.n_in > TFX_EXPR_MAX_CHANNELS ||
      change.n_out > TFX_EXPR_MAX_CHANNELS)
    return tfx_error_set (error, -ERANGE,
        "layout of %s has %u rows of %u numbers; at most %u of %u are allowed",
        thing, change.n_out, change.n_in, TFX_EXPR_MAX_CHANNELS,
        TFX_EXPR_MAX_CHANNELS);
  for (size_t i = 0; i < layout->n_list; i++)
    most = fmax (most, layout->list[i]);
  if (most < 0.0)
    return tfx_error_set (error, -EINVAL,
        "layout of %s has no channel of the file, only -1", thing);
  if (n > 0 && most >= n)
    return tfx_error_set (error, -ERANGE,
        "layout of %s has channel %.0f, but '%s' has %u channel%s, counted "
        "from 0",
        thing, most, name, n, n == 1 ? "" : "s");
  return 0;
}

/* HeSuVi's order: left ear and right ear of each loudspeaker.  The last seven channels
 * are the first seven with left and right exchanged, and left out of files of seven. */
static const struct
{
  TfxPosition position;
  int left, right;
} hesuvi[] = {
  { TFX_POSITION_FL, 0, 1 },
  { TFX_POSITION_FR, 8, 7 },
  { TFX_POSITION_FC, 6, 13 },
  { TFX_POSITION_LFE, 6, 13 },
  { TFX_POSITION_BL, 4, 5 },
  { TFX_POSITION_BR, 12, 11 },
  { TFX_POSITION_SL, 2, 3 },
  { TFX_POSITION_SR, 10, 9 },
};

#define HESUVI_FILE 7

/* Channels without positions have the usual ones; seven of them those of the file. */
static int
fill_hesuvi (const TfxBuild *build, unsigned n_file, int *matrix)
{
  const uint64_t lfe = (uint64_t)1 << TFX_POSITION_LFE;
  uint64_t left = build->positions;
  char name[TFX_POSITIONS_TEXT_SIZE];

  if (!left)
    left = build->n_channels == HESUVI_FILE
               ? tfx_positions_default (HESUVI_FILE + 1) & ~lfe
               : tfx_positions_default (build->n_channels);
  for (unsigned c = 0; c < build->n_channels; c++, left &= left - 1) {
    const unsigned position = left ? (unsigned)__builtin_ctzll (left) : 64;
    size_t i = 0;

    while (i < sizeof hesuvi / sizeof *hesuvi && hesuvi[i].position != position)
      i++;
    tfx_positions_print (left & -left, name);
    if (i == sizeof hesuvi / sizeof *hesuvi)
      return tfx_error_set (build->error, -EINVAL,
          "layout='hesuvi' of %s has no kernels for channel %u (%s), only for "
          "FL, FR, FC, LFE, BL, BR, SL and SR",
          build->thing, c, *name ? name : "without a position");
    matrix[c] = hesuvi[i].left % (int)n_file;
    matrix[build->n_room + c] = hesuvi[i].right % (int)n_file;
  }
  return 0;
}

/* Fills matrix[n_room][n_room] with channels of the file. */
static int
fill_layout (const TfxBuild *build, const TfxNode *node, unsigned n_file,
    int *matrix)
{
  static const double true_stereo[] = { 0, 2, 1, 3 };
  const TfxValue *layout = tfx_layout_find (node);
  const TfxChannelChange change = tfx_layout_channels (node);
  const double *list =
      layout->type == TFX_VALUE_LIST ? layout->list : true_stereo;

  for (size_t i = 0; i < (size_t)build->n_room * build->n_room; i++)
    matrix[i] = -1;
  if (change.n_in == 0)
    return fill_hesuvi (build, n_file, matrix);
  for (unsigned i = 0; i < change.n_in * change.n_out; i++)
    matrix[i / change.n_in * build->n_room + i % change.n_in] = (int)list[i];
  return 0;
}

/* With a mix each channel has a separate kernel to itself. */
int
tfx_layout_make (TfxBuild *build, const TfxNode *node,
    const TfxImpulse *impulse, double mix, size_t direct)
{
  const size_t n = build->n_room, n_taps = impulse->n_taps;
  const unsigned n_own = mix == 1.0 ? 0 : build->n_channels;
  const double **kernels =
      malloc ((impulse->n_kernels + n_own) * sizeof *kernels);
  double *own = calloc (n_own * n_taps + 1, sizeof *own);
  int *matrix = malloc (n * n * sizeof *matrix);
  int code;

  if (n > TFX_MIX_MAX_CHANNELS)
    code = tfx_error_set (build->error, -ERANGE,
        "%s is in a chain of %zu channels; at most %u are allowed",
        build->thing, n, TFX_MIX_MAX_CHANNELS);
  else if (!kernels || !own || !matrix)
    code = tfx_class_refuse (build, NULL);
  else
    code = fill_layout (build, node, impulse->n_kernels, matrix);
  for (unsigned k = 0; code == 0 && k < impulse->n_kernels; k++)
    kernels[k] = impulse->taps + k * n_taps;
  for (unsigned c = 0; code == 0 && c < n_own; c++) {
    int *kernel = &matrix[c * n + c];
    double *taps = own + c * n_taps;

    if (*kernel >= 0)
      memcpy (taps, kernels[*kernel], n_taps * sizeof *taps);
    taps[direct] += 1.0 - mix;
    kernels[impulse->n_kernels + c] = taps;
    *kernel = (int)(impulse->n_kernels + c);
  }
  if (code == 0)
    code = tfx_class_take (build,
        tfx_stage_new_fir_matrix (node->id, (unsigned)n, matrix, kernels,
            impulse->n_kernels + n_own, n_taps,
            (TfxFirMethod)tfx_class_word (node, "conv_mode")));
  free (kernels);
  free (own);
  free (matrix);
  return code;
}
