/* SPDX-License-Identifier: LGPL-2.1-or-later
 * devices.h: what the tests run on: the stand-in for the driver, or devices that
 * are there.
 */
#ifndef TFX_DEVICES_H
#define TFX_DEVICES_H

#include <glib.h>

/* True on the stand-in, see tests/cuda/standin/standin.h. */
gboolean devices_are_standin (void);

/* How many there are; 0 without a driver. */
guint devices_count (void);

/* Whether the first device is a card of this kind, by the stand-in's name for it
 * ("h100"); a H200 counts as a H100, whose chip it has.  FALSE on the stand-in. */
gboolean devices_are_like (const gchar *card);

/* What the stand-in has reported since the last call: a line for each call that it was
 * made to fail ("injected …"), and for each fault of the caller.  Free with g_free(). */
gchar *devices_report (void);

#endif /* TFX_DEVICES_H */
