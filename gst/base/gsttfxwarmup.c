/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxwarmup.c: see gsttfxwarmup.h.
 */
#include "gsttfxwarmup.h"

/* What is run to get everything ready: not more samples than these. */
#define WARM_UP_FRAMES 1024
#define WARM_UP_SAMPLES 65536

void
gst_tfx_warm_up_run (const GstTfxRow *row, const TfxFilterSpec *spec)
{
  GstTfxRowCounts counts = row->last->counts;
  gsize n_frames =
      CLAMP (WARM_UP_SAMPLES / spec->n_channels, 1, WARM_UP_FRAMES);
  gdouble *samples = g_new0 (gdouble, n_frames * spec->n_channels);
  TfxBlock block =
      tfx_block_interleaved (samples, spec->sample, spec->n_channels, n_frames);

  gst_tfx_row_run (row, &block, &block, TRUE);
  for (gsize i = 0; i < row->n; i++)
    tfx_filter_reset (row->filters[i]);
  counts.error = row->last->counts.error;
  row->last->counts = counts;
  g_free (samples);
}

gint
gst_tfx_warm_up_compile (const GstTfxRow *row, TfxCuda *cuda)
{
  gint err = gst_tfx_row_compile (row);

  while (err == 0 && row->last->is_mixing && cuda &&
         !gst_tfx_row_is_changing (row)) {
    gst_tfx_row_unlock (row);
    tfx_cuda_finish_compiling (cuda);
    gst_tfx_row_lock (row);
    err = gst_tfx_row_compile (row);
  }
  return err;
}
