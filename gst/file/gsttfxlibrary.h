/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxlibrary.h: loads libraries at their first use.
 */
#ifndef GST_TFX_LIBRARY_H
#define GST_TFX_LIBRARY_H

#include <glib.h>

G_BEGIN_DECLS

/* A function of a library, and where its address is written. */
typedef struct
{
  const gchar *name;
  gpointer address;
} GstTfxLibraryFunction;

/* Static: its soname, and zeros. */
typedef struct
{
  const gchar *soname;
  gsize is_done;
  gchar *fault;
} GstTfxLibrary;

/* The first call loads the library, which is never unloaded, and sets the
 * addresses.  Any thread.  Returns NULL, or the reason why the library or a
 * function is not there, which is static. */
const gchar *gst_tfx_library_load (GstTfxLibrary *self,
    const GstTfxLibraryFunction *functions, guint n_functions);

G_END_DECLS

#endif
