/* SPDX-License-Identifier: LGPL-2.1-or-later
 * calling.h: memory of another element, which waits for a thread while it is mapped
 * or unmapped.
 */
#ifndef TFX_CALLING_H
#define TFX_CALLING_H

#include <gst/gst.h>

/* What another thread does during each map, or each unmap. */
typedef struct
{
  void (*deed) (GstElement *element);
  GstElement *element;
  gboolean at_unmap;
  guint seconds; /* to wait at most */
  /*< private >*/
  GThread *thread; /* of one that was not done in time */
  gint is_done;    /* atomic */
  guint n_done;
} CallingDeed;

/* A buffer of zeros in such memory.  @deed: NULL, or valid until
 * calling_expect_done(). */
GstBuffer *calling_buffer_new (gsize size, CallingDeed *deed);

/* Fails unless the deed was done during each map; @name: of the case. */
void calling_expect_done (CallingDeed *deed, const gchar *name);

/* A deed: asks the element for its response. */
void calling_read_response (GstElement *element);

#endif /* TFX_CALLING_H */
