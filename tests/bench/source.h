/* SPDX-License-Identifier: LGPL-2.1-or-later
 * source.h: a source of preallocated buffers of noise that pushes as many of
 * them as it is told to and says how long that took.
 *
 * There is no queue between it and the sink of a benchmark, so a push returns
 * when the sink is done with the buffer: the time is that of the pipeline.
 * Copying the noise into the buffer is part of it, as filters work in place. */
#ifndef SOURCE_H
#define SOURCE_H

#include <gst/base/gstpushsrc.h>

#include "bench.h"

G_DECLARE_FINAL_TYPE (BenchSource, bench_source, BENCH, SOURCE, GstPushSrc)

/* F32, interleaved.  The caller owns a floating reference. */
BenchSource *bench_source_new (gint rate, guint n_channels, gsize n_frames);

/* Pushes n buffers; returns when the sink has had the last one.  False if
 * streaming has stopped or stops meanwhile. */
gboolean bench_source_push (BenchSource *self, guint n, BenchTime *time);

#endif /* SOURCE_H */
