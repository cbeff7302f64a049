/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxdevices.c: gst-tfx devices: where chains run here, and why.
 */
#include <string.h>

#include "gsttfxmeasure.h"
#include "gsttfxoptions.h"
#include "gsttfxtool.h"

/* The default chain. */
#define USUAL_CHAIN "LoButterworth(1000, order=8)"
/* For each block of the table, and for each device in it. */
#define SECONDS 0.05

static const GstTfxShape shapes[] = {
  { "F32LE", 48000, 2, 256 },
  { "F32LE", 48000, 2, 4096 },
  { "F32LE", 48000, 2, 48000 },
  { "F32LE", 48000, 8, 4096 },
  { "F32LE", 48000, 8, 48000 },
  { "F32LE", 48000, 64, 4096 },
  { "F32LE", 48000, 64, 48000 },
};

static void
tell_refusal (const GstTfxFigures *figures)
{
  if (figures->refusal)
    gst_tfx_tool_error ("%s", figures->refusal);
}

/* A device, and whether it is the one that it ran on. */
static gboolean
print_device (const gchar *chain, const gchar *device, gboolean *runs_there)
{
  GstTfxFigures figures;
  const gboolean is_good =
      gst_tfx_measure_run (chain, device, &shapes[1], 0.0, &figures);

  *runs_there = is_good && g_strcmp0 (figures.device, device) == 0;
  if (*runs_there)
    g_print ("%-6sruns it (kernel %s)\n", device, figures.kernel);
  else if (is_good && g_strcmp0 (figures.device, "none") == 0)
    g_print ("%-6shas nothing to run: the chain changes nothing\n", device);
  else if (is_good)
    g_print ("%-6sdoes not run it: %s\n", device,
        figures.warning ? figures.warning
                        : "a stage of the chain has no kernel for it");
  tell_refusal (&figures);
  gst_tfx_figures_clear (&figures);
  return is_good;
}

/* Measures the time of a device; of the CPU if the device does not run the chain. */
static gboolean
measure (const gchar *chain, const gchar *device, const GstTfxShape *shape,
    gdouble *ns)
{
  GstTfxFigures figures;
  const gboolean is_good =
      gst_tfx_measure_run (chain, device, shape, SECONDS, &figures);

  *ns = figures.ns_per_sample;
  tell_refusal (&figures);
  gst_tfx_figures_clear (&figures);
  return is_good;
}

static gboolean
print_shape (const gchar *chain, const GstTfxShape *shape, gboolean has_cuda)
{
  GstTfxFigures chosen;
  gdouble on_cpu, on_cuda = 0.0;
  gboolean is_good =
      gst_tfx_measure_run (chain, "auto", shape, SECONDS, &chosen) &&
      measure (chain, "cpu", shape, &on_cpu) &&
      (!has_cuda || measure (chain, "cuda", shape, &on_cuda));

  if (is_good) {
    g_print ("%8d  %6d  %-6s%8.3f", shape->n_channels, shape->n_frames,
        chosen.device, on_cpu);
    if (has_cuda)
      g_print ("  %8.3f\n", on_cuda);
    else
      g_print ("  %8s\n", "-");
  }
  tell_refusal (&chosen);
  gst_tfx_figures_clear (&chosen);
  return is_good;
}

static GstTfxToolStatus
print_devices (const gchar *chain)
{
  gboolean has_cpu, has_cuda;

  g_print ("%s\n\n", chain);
  if (!print_device (chain, "cpu", &has_cpu) ||
      !print_device (chain, "cuda", &has_cuda))
    return GST_TFX_TOOL_FAILED;
  g_print ("\ndevice=auto at 48000 Hz; times in ns per sample and channel:\n"
           "channels  frames  runs on    cpu      cuda\n");
  for (gsize i = 0; i < G_N_ELEMENTS (shapes); i++) {
    if (gst_tfx_tool_is_interrupted ())
      return GST_TFX_TOOL_INTERRUPTED;
    if (!print_shape (chain, &shapes[i], has_cuda))
      return GST_TFX_TOOL_FAILED;
  }
  return GST_TFX_TOOL_OK;
}

GstTfxToolStatus
gst_tfx_devices_run (gint argc, gchar **argv)
{
  GstTfxOptions options = { NULL };
  GOptionEntry entries[GST_TFX_OPTIONS_N_CHAIN + 1] = { { NULL } };
  GstTfxToolStatus status = GST_TFX_TOOL_USAGE;

  gst_tfx_options_list_chain (&options, entries);
  if (gst_tfx_tool_parse ("[CHAIN]",
          "Shows which devices run a chain here, why others do not, and which "
          "one device=auto chooses for blocks of several shapes.",
          "The default chain is " USUAL_CHAIN
          ". Times include copies from and to system memory; gst-tfx bench "
          "measures more precisely.",
          entries, &argc, &argv)) {
    const gboolean has_chain = gst_tfx_options_has_chain (&options);

    if (!has_chain)
      options.chain = g_strdup (argc > 1 ? argv[1] : USUAL_CHAIN);
    if (argc > 2 || (has_chain && argc > 1))
      gst_tfx_tool_error ("devices takes one chain, in quotes");
    else if (gst_tfx_options_read_chain (&options))
      status = print_devices (options.chain);
  }
  gst_tfx_options_clear (&options);
  return status;
}
