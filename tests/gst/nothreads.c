/* SPDX-License-Identifier: LGPL-2.1-or-later
 * nothreads.c: see nothreads.h.
 */
#include "nothreads.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <string.h>

static gint n_left = G_MAXINT, n_refused; /* atomic */

typedef int (
    *Create) (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static gboolean
is_for_plugin (void)
{
  void *callers[16];
  const int n = backtrace (callers, G_N_ELEMENTS (callers));
  Dl_info info;

  for (int i = 0; i < n; i++) {
    if (dladdr (callers[i], &info) && info.dli_fname &&
        strstr (info.dli_fname, "libgsttfx.so"))
      return TRUE;
  }
  return FALSE;
}

__attribute__ ((visibility ("default"))) int
pthread_create (pthread_t *thread, const pthread_attr_t *attributes,
    void *(*run) (void *), void *data)
{
  Create create;

  if (is_for_plugin () && g_atomic_int_add (&n_left, -1) <= 0) {
    g_atomic_int_inc (&n_refused);
    return EAGAIN;
  }
  *(void **)&create = dlsym (RTLD_NEXT, "pthread_create");
  return create (thread, attributes, run, data);
}

void
no_threads_after (guint n_more)
{
  g_atomic_int_set (&n_left, (gint)n_more);
}

guint
no_threads_count (void)
{
  return (guint)g_atomic_int_get (&n_refused);
}
