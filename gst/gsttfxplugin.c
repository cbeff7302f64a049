/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxplugin.c: registers the elements and the tracer.
 */
#include "gsttfxchain.h"
#include "gsttfxcuda.h"
#include "gsttfxfir.h"
#include "gsttfxiir.h"
#include "gsttfxtrace.h"

/* Warns if an environment variable that selects kernels has an unknown value, which is
 * ignored.  (TFX_DEVICE is checked where it is read.) */
static void
gst_tfx_plugin_check_environment (void)
{
  const gchar *cpu = tfx_cpu_unknown (), *cuda = tfx_cuda_unknown ();

  if (cpu) {
    GString *kernels = g_string_new (tfx_cpu_kernel (0));
    const gchar *kernel;

    for (gsize i = 1; (kernel = tfx_cpu_kernel (i)) != NULL; i++)
      g_string_append_printf (kernels, "%s%s",
          tfx_cpu_kernel (i + 1) ? ", " : " or ", kernel);
    g_warning ("TFX_CPU=%s: must be %s on this machine", cpu, kernels->str);
    g_string_free (kernels, TRUE);
  }
  if (cuda)
    g_warning ("TFX_CUDA=%s: must be double or twofold", cuda);
}

static gboolean
plugin_init (GstPlugin *plugin)
{
  gboolean ok = TRUE;

  gst_tfx_plugin_check_environment ();
  /* Without CUDA the CPU filters. */
  gst_tfx_cuda_init ();
  ok &= GST_ELEMENT_REGISTER (tfxbutterworth, plugin);
  ok &= GST_ELEMENT_REGISTER (tfxchain, plugin);
  ok &= GST_ELEMENT_REGISTER (tfxchebyshev, plugin);
  ok &= GST_ELEMENT_REGISTER (tfxfir, plugin);
  gst_tfx_trace_init (plugin);
  return ok;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, tfx,
    "Audio filters and effects that run in one pass", plugin_init, VERSION,
    "LGPL", PACKAGE_NAME, PACKAGE_ORIGIN)
