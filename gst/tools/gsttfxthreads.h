/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxthreads.h: runs jobs in several threads. */
#ifndef GST_TFX_THREADS_H
#define GST_TFX_THREADS_H

#include <glib.h>

G_BEGIN_DECLS

/* Calls `run` for each number below n_jobs, in up to n_threads new threads, and
 * returns after the last one.  Until then it calls `tick`, unless NULL, every tick_usec.
 * FALSE with an error, and no call, if no thread can be made; with fewer threads than wanted
 * all jobs run. */
gboolean gst_tfx_threads_run (guint n_jobs, guint n_threads,
    void (*run) (gpointer data, guint number), void (*tick) (gpointer data),
    gulong tick_usec, gpointer data, GError **error);

G_END_DECLS

#endif /* GST_TFX_THREADS_H */
