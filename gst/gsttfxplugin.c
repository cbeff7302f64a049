/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxplugin.c: registers the elements.
 */
#include "gsttfxbutterworth.h"
#include "gsttfxchain.h"
#include "gsttfxchebyshev.h"
#include "gsttfxcuda.h"

static gboolean
plugin_init (GstPlugin *plugin)
{
  gboolean ok = TRUE;

  /* Without it the CPU filters. */
  gst_tfx_cuda_init ();
  ok &= GST_ELEMENT_REGISTER (tfxbutterworth, plugin);
  ok &= GST_ELEMENT_REGISTER (tfxchain, plugin);
  ok &= GST_ELEMENT_REGISTER (tfxchebyshev, plugin);
  return ok;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, tfx,
    "Audio filters that run as one", plugin_init, VERSION, "LGPL", PACKAGE,
    "Unknown package origin")
