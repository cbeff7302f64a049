/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tfxplay.h: pipelines in the tests, and what comes out of them.
 */
#ifndef TFX_PLAY_H
#define TFX_PLAY_H

#include "tfxcheck.h"

/* What a fakesink named "sink" got. */
typedef struct
{
  GMutex lock;
  GArray *samples; /* of gfloat, since the last flush */
  guint64 n_buffers;
  GstClockTime first_time, next_time;
  gboolean contiguous;
} TfxCaught;

/* A pipeline from a launch line.  If caught is given, it keeps what reaches the
 * fakesink named "sink": float32 samples only. */
GstElement *tfx_play_make (const gchar *launch, TfxCaught *caught);

/* Plays until an end, an error or a warning, which must be the expected one. */
void tfx_play_run (GstElement *pipeline, GstMessageType expected);

/* Plays a launch line to its end. */
void tfx_play (const gchar *launch, TfxCaught *caught);

/* Forgets what is on the bus. */
void tfx_play_drain (GstElement *pipeline);

/* To NULL, and the pipeline is gone. */
void tfx_play_stop (GstElement *pipeline);

gfloat *tfx_caught_floats (TfxCaught *caught);

/* The largest difference of what two sinks got, which must be as much; one that is not
 * finite counts as infinite. */
gdouble tfx_caught_distance (const TfxCaught *a, const TfxCaught *b);

void tfx_caught_clear (TfxCaught *caught);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TfxCaught, tfx_caught_clear)

#endif /* TFX_PLAY_H */
