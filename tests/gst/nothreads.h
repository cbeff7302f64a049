/* SPDX-License-Identifier: LGPL-2.1-or-later
 * nothreads.h: a process that may have no more threads.
 *
 * Takes the place of the C library's pthread_create(), which a program that is linked
 * with export_dynamic gives to the libraries too.
 */
#ifndef TFX_NO_THREADS_H
#define TFX_NO_THREADS_H

#include <glib.h>

/* From now on each pthread_create() on behalf of the plugin fails with EAGAIN, but for
 * the first n_more.  Others succeed. */
void no_threads_after (guint n_more);

/* How many have failed. */
guint no_threads_count (void);

#endif /* TFX_NO_THREADS_H */
