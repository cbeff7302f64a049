/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxbytes.h: numbers in files, of up to eight bytes that begin anywhere.
 */
#ifndef GST_TFX_BYTES_H
#define GST_TFX_BYTES_H

#include <glib.h>

G_BEGIN_DECLS

static inline guint64
gst_tfx_bytes_get_be (const guint8 *bytes, gsize n)
{
  guint64 number = 0;

  for (gsize i = 0; i < n; i++)
    number = number << 8 | bytes[i];
  return number;
}

static inline guint64
gst_tfx_bytes_get_le (const guint8 *bytes, gsize n)
{
  guint64 number = 0;

  while (n-- > 0)
    number = number << 8 | bytes[n];
  return number;
}

static inline void
gst_tfx_bytes_put_le (guint8 *bytes, gsize n, guint64 number)
{
  for (gsize i = 0; i < n; i++)
    bytes[i] = (guint8)(number >> 8 * i);
}

G_END_DECLS

#endif /* GST_TFX_BYTES_H */
