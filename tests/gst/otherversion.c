/* SPDX-License-Identifier: LGPL-2.1-or-later
 * otherversion.c: preloaded, makes GStreamer say that it is a later version than
 * the one that the plugin was built against.
 */
#include <gst/gst.h>

__attribute__ ((visibility ("default"))) void
gst_version (guint *major, guint *minor, guint *micro, guint *nano)
{
  *major = GST_VERSION_MAJOR;
  *minor = GST_VERSION_MINOR + 2;
  *micro = 0;
  *nano = 0;
}
