/* SPDX-License-Identifier: LGPL-2.1-or-later
 * mix.c: sums of channels. */
#include <errno.h>
#include <stdlib.h>

#include "class.h"
#include "error.h"

int
tfx_mix_check (const TfxNode *node, const char *thing, TfxExprError *error)
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

void
tfx_mix_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
}

/* A row for each channel that comes out; channels that there are not, of those that
 * the chain has room for, are silent. */
int
tfx_mix_build (const TfxBuild *build, const TfxNode *node, TfxStage **stage)
{
  const TfxValue *gains = tfx_class_value (node, "gains");
  const size_t n_in = gains->n_columns, n_out = gains->n_list / n_in;
  const size_t n = build->n_room;
  double *all;

  if (n > TFX_MIX_MAX_CHANNELS)
    return tfx_error_set (build->error, -ERANGE,
        "%s is in a chain of %zu channels; at most %u are allowed",
        build->thing, n, TFX_MIX_MAX_CHANNELS);
  all = calloc (n * n, sizeof *all);
  if (!all)
    return tfx_class_refuse (build, NULL);
  for (size_t c = 0; c < n_out; c++) {
    for (size_t k = 0; k < n_in; k++)
      all[c * n + k] = gains->list[c * n_in + k];
  }
  *stage = tfx_stage_new_mix (node->id, (unsigned)n, all);
  free (all);
  return *stage ? 0 : tfx_class_refuse (build, NULL);
}
