/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpch.h: what most files of gst/ include, read once for all of them.
 * Each names what it needs all the same. */
#ifndef GST_TFX_PCH_H
#define GST_TFX_PCH_H

#include <gst/audio/audio.h>
#include <gst/gst.h>
#include <math.h>
#include <string.h>

#endif /* GST_TFX_PCH_H */
