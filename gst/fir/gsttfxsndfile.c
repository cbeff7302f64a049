/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxsndfile.c: libsndfile, loaded when the first file is read.
 */
#include "gsttfxsndfile.h"

#include <dlfcn.h>

#define LIBRARY "libsndfile.so.1"

static GstTfxSndfile library;
static gchar *error;

/* It is never unloaded; neither is the plugin. */
static gboolean
gst_tfx_sndfile_load (void)
{
  void *handle = dlopen (LIBRARY, RTLD_NOW | RTLD_LOCAL);

  if (handle) {
    /* ISO C has no other way from an address to a function. */
    *(void **)&library.open_fd = dlsym (handle, "sf_open_fd");
    *(void **)&library.readf_double = dlsym (handle, "sf_readf_double");
    *(void **)&library.strerror = dlsym (handle, "sf_strerror");
    *(void **)&library.close = dlsym (handle, "sf_close");
  }
  if (handle && library.open_fd && library.readf_double && library.strerror &&
      library.close)
    return TRUE;
  error = g_strdup (dlerror ());
  return FALSE;
}

const GstTfxSndfile *
gst_tfx_sndfile_get (const gchar **why)
{
  static gsize state; /* 1: loaded, 2: failed */

  if (g_once_init_enter (&state))
    g_once_init_leave (&state, gst_tfx_sndfile_load () ? 1 : 2);
  *why = error;
  return state == 1 ? &library : NULL;
}
