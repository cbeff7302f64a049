/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxlibrary.c: loads libraries at their first use.
 */
#include "gsttfxlibrary.h"

#include <dlfcn.h>

const gchar *
gst_tfx_library_load (GstTfxLibrary *self,
    const GstTfxLibraryFunction *functions, guint n_functions)
{
  if (g_once_init_enter (&self->is_done)) {
    void *handle = dlopen (self->soname, RTLD_NOW | RTLD_LOCAL);
    const gchar *why = handle ? NULL : dlerror ();

    if (!handle)
      self->fault = g_strdup (why ? why : self->soname);
    for (guint i = 0; i < n_functions && !self->fault; i++) {
      /* ISO C has no other way from an address to a function. */
      *(void **)functions[i].address = dlsym (handle, functions[i].name);
      if (!*(void **)functions[i].address)
        self->fault = g_strdup_printf ("%s is missing in %s", functions[i].name,
            self->soname);
    }
    g_once_init_leave (&self->is_done, 1);
  }
  return self->fault;
}
