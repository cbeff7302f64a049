/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpart.h: a file that has its name only when it is whole. */
#ifndef GST_TFX_PART_H
#define GST_TFX_PART_H

#include <glib.h>

G_BEGIN_DECLS

typedef struct GstTfxPart
{
  gchar *output; /* the name that it will have */
  gchar *path;   /* to open the file by, whatever is under its name */
  gint folder, file, lock;
  gchar *name,
      *lock_name; /* in the folder; name is NULL after it was renamed */
  /* The name that it gets if the program is killed while it is open; NULL: it is
   * deleted then. */
  const gchar *kept_as;
} GstTfxPart;

/* Makes the file beside the output, so that it can take its name; where that is a link of
 * this user's, beside what it links to.  FALSE with
 * an error too if another process is writing it; then there is nothing to be
 * closed. */
gboolean
gst_tfx_part_open (GstTfxPart *part, const gchar *output, GError **error);

/* Renames the part file to the output, after it is on the disk, with the mode of the file
 * that it replaces. */
gboolean
gst_tfx_part_publish (GstTfxPart *part, gboolean overwrite, GError **error);

/* Deletes what was not published. */
void gst_tfx_part_close (GstTfxPart *part);

/* Deletes or renames all open parts.  For a signal handler that ends the program. */
void gst_tfx_part_abandon_all (void);

G_END_DECLS

#endif /* GST_TFX_PART_H */
