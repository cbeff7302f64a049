/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxbench.c: gst-tfx bench: what a chain costs on this machine.
 *
 * Blocks of noise are pushed through the element tfxchain, and its own count of the
 * time that they took is read.
 */
#include <string.h>

#include <gst/audio/audio.h>

#include "gsttfxoptions.h"
#include "gsttfxtool.h"

/* Blocks that are made before the clock runs. */
#define N_BLOCKS 16
#define MAX_CHANNELS 1024
#define MAX_FRAMES 1048576

typedef struct Bench
{
  GstTfxOptions options; /* the chain alone */
  gchar *channels, *frames, *devices, *format;
  gint rate_hz;
  gdouble seconds; /* for each shape */
} Bench;

/* What came of a shape. */
typedef struct Figures
{
  gdouble ns_per_sample;
  gchar *device, *kernel;
} Figures;

/* ---- one shape ---------------------------------------------------------------------- */

/* Reads what comes: an element may leave its work to those behind it. */
static GstFlowReturn
take_buffer (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstMapInfo map;
  GstFlowReturn flow = GST_FLOW_ERROR;

  if (gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    gst_buffer_unmap (buffer, &map);
    flow = GST_FLOW_OK;
  }
  gst_buffer_unref (buffer);
  return flow;
}

static GstPad *
link_pad (GstElement *element, const gchar *name, GstPadDirection direction)
{
  GstPad *theirs = gst_element_get_static_pad (element, name);
  GstPad *pad = gst_pad_new (NULL, direction);

  if (direction == GST_PAD_SINK)
    gst_pad_set_chain_function (pad, take_buffer);
  gst_pad_set_active (pad, TRUE);
  if (direction == GST_PAD_SRC)
    gst_pad_link (pad, theirs);
  else
    gst_pad_link (theirs, pad);
  gst_object_unref (theirs);
  return pad;
}

/* Noise between -0.5 and 0.5. */
static GstBuffer *
make_block (const GstAudioInfo *info, gint n_frames)
{
  const gsize size = (gsize)n_frames * (gsize)GST_AUDIO_INFO_BPF (info);
  GstBuffer *block = gst_buffer_new_allocate (NULL, size, NULL);
  GRand *random = g_rand_new_with_seed (1);
  GstMapInfo map;

  gst_buffer_map (block, &map, GST_MAP_WRITE);
  if (GST_AUDIO_INFO_WIDTH (info) == 64) {
    for (gsize i = 0; i < size / sizeof (gdouble); i++)
      ((gdouble *)map.data)[i] = g_rand_double (random) - 0.5;
  } else {
    for (gsize i = 0; i < size / sizeof (gfloat); i++)
      ((gfloat *)map.data)[i] = (gfloat)g_rand_double (random) - 0.5f;
  }
  gst_buffer_unmap (block, &map);
  g_rand_free (random);
  return block;
}

static guint64
read_process_time (GstElement *element, Figures *figures)
{
  GstStructure *stats = NULL;
  guint64 ns = 0;

  g_object_get (element, "stats", &stats, NULL);
  gst_structure_get_uint64 (stats, "process-time", &ns);
  if (figures) {
    figures->device = g_strdup (gst_structure_get_string (stats, "device"));
    figures->kernel = g_strdup (gst_structure_get_string (stats, "kernel"));
  }
  gst_structure_free (stats);
  return ns;
}

/* FALSE if the element refuses a block. */
static gboolean
push_blocks (GstPad *pad, GstBuffer *block, guint64 *n_pushed,
    const GstAudioInfo *info, gint n_frames)
{
  GstBuffer *blocks[N_BLOCKS];
  gboolean is_good = TRUE;

  for (guint i = 0; i < N_BLOCKS; i++) {
    blocks[i] = gst_buffer_copy_deep (block);
    GST_BUFFER_PTS (blocks[i]) =
        gst_util_uint64_scale ((*n_pushed + i) * (guint64)n_frames, GST_SECOND,
            (guint64)GST_AUDIO_INFO_RATE (info));
  }
  for (guint i = 0; i < N_BLOCKS; i++) {
    if (is_good)
      is_good = gst_pad_push (pad, blocks[i]) == GST_FLOW_OK;
    else
      gst_buffer_unref (blocks[i]);
  }
  *n_pushed += N_BLOCKS;
  return is_good;
}

static gboolean
measure_blocks (const Bench *bench, GstElement *element, GstPad *pad,
    const GstAudioInfo *info, gint n_frames, Figures *figures)
{
  const gdouble n_samples =
      (gdouble)n_frames * GST_AUDIO_INFO_CHANNELS (info) * N_BLOCKS;
  GstBuffer *block = make_block (info, n_frames);
  GArray *times = g_array_new (FALSE, FALSE, sizeof (gdouble));
  const gint64 end =
      g_get_monotonic_time () + (gint64)(bench->seconds * G_USEC_PER_SEC);
  guint64 n_pushed = 0, before;
  /* The first ones fill caches, and may compile. */
  gboolean is_good = push_blocks (pad, block, &n_pushed, info, n_frames);

  while (is_good && !gst_tfx_tool_is_interrupted () &&
         (times->len < 3 || g_get_monotonic_time () < end)) {
    gdouble ns;

    before = read_process_time (element, NULL);
    is_good = push_blocks (pad, block, &n_pushed, info, n_frames);
    ns = (gdouble)(read_process_time (element, NULL) - before) / n_samples;
    g_array_append_val (times, ns);
  }
  if (is_good && times->len > 0) {
    g_array_sort (times, (GCompareFunc)gst_tfx_tool_compare_doubles);
    figures->ns_per_sample = g_array_index (times, gdouble, times->len / 2);
    read_process_time (element, figures);
  }
  g_array_unref (times);
  gst_buffer_unref (block);
  return is_good;
}

static gboolean
measure_shape (const Bench *bench, GstElement *element, gint n_channels,
    gint n_frames, Figures *figures)
{
  GstPad *source = link_pad (element, "sink", GST_PAD_SRC);
  GstPad *sink = link_pad (element, "src", GST_PAD_SINK);
  GstAudioInfo info;
  GstSegment segment;
  GstCaps *caps;
  gboolean is_good;

  gst_audio_info_set_format (&info,
      gst_audio_format_from_string (bench->format), bench->rate_hz, n_channels,
      NULL);
  /* Without places: any number of channels. */
  caps = gst_caps_new_simple ("audio/x-raw", "format", G_TYPE_STRING,
      bench->format, "layout", G_TYPE_STRING, "interleaved", "rate", G_TYPE_INT,
      bench->rate_hz, "channels", G_TYPE_INT, n_channels, "channel-mask",
      GST_TYPE_BITMASK, n_channels == 2 ? (guint64)3 : (guint64)0, NULL);
  if (n_channels == 1)
    gst_structure_remove_field (gst_caps_get_structure (caps, 0),
        "channel-mask");
  gst_element_set_state (element, GST_STATE_PLAYING);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (source, gst_event_new_stream_start ("bench"));
  is_good = gst_pad_push_event (source, gst_event_new_caps (caps));
  gst_pad_push_event (source, gst_event_new_segment (&segment));
  if (is_good)
    is_good = measure_blocks (bench, element, source, &info, n_frames, figures);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_pad_set_active (source, FALSE);
  gst_pad_set_active (sink, FALSE);
  gst_object_unref (source);
  gst_object_unref (sink);
  gst_caps_unref (caps);
  return is_good;
}

/* ---- all of them ---------------------------------------------------------------------- */

static gboolean
run_shape (const Bench *bench, const gchar *device, gint n_channels,
    gint n_frames)
{
  GstElement *element = gst_tfx_tool_make_chain ();
  Figures figures = { 0.0, NULL, NULL };
  gboolean is_good;

  if (!element)
    return FALSE;
  gst_util_set_object_arg (G_OBJECT (element), "device", device);
  g_object_set (element, "chain", bench->options.chain, NULL);
  is_good = measure_shape (bench, element, n_channels, n_frames, &figures);
  if (is_good && figures.device)
    g_print ("%d,%d,%s,%s,%s,%.3f,%.1f\n", n_channels, n_frames, device,
        figures.device, figures.kernel, figures.ns_per_sample,
        1e9 /
            (MAX (figures.ns_per_sample, 1e-6) * n_channels * bench->rate_hz));
  else if (!is_good)
    gst_tfx_tool_error ("the chain does not run with %d channels at %d Hz",
        n_channels, bench->rate_hz);
  g_free (figures.device);
  g_free (figures.kernel);
  gst_object_unref (element);
  return is_good;
}

/* "1,2,8": whole numbers from 1 to max, up to a 0; free them.  NULL after a
 * message. */
static gint *
read_numbers (const gchar *what, const gchar *text, gint max)
{
  gchar **words = g_strsplit (text, ",", -1);
  gint *numbers = g_new0 (gint, g_strv_length (words) + 1);

  for (guint i = 0; words[i]; i++) {
    guint64 number;

    if (!g_ascii_string_to_unsigned (words[i], 10, 1, (guint64)max, &number,
            NULL)) {
      gst_tfx_tool_error ("%s is '%s', but must be whole numbers from 1 to %d "
                          "with commas between",
          what, text, max);
      g_clear_pointer (&numbers, g_free);
      break;
    }
    numbers[i] = (gint)number;
  }
  g_strfreev (words);
  return numbers;
}

static gboolean
check_words (const Bench *bench, gchar **devices)
{
  for (guint i = 0; devices[i]; i++) {
    if (strcmp (devices[i], "auto") != 0 && strcmp (devices[i], "cpu") != 0 &&
        strcmp (devices[i], "cuda") != 0) {
      gst_tfx_tool_error ("a device is '%s', but must be auto, cpu or cuda",
          devices[i]);
      return FALSE;
    }
  }
  if (strcmp (bench->format, "F32LE") != 0 &&
      strcmp (bench->format, "F64LE") != 0) {
    gst_tfx_tool_error ("format is '%s', but must be F32LE or F64LE",
        bench->format);
    return FALSE;
  }
  if (bench->rate_hz < 1 || !(bench->seconds >= 0.0)) {
    gst_tfx_tool_error ("rate is %d Hz and seconds %g, but neither may be "
                        "below "
                        "0, nor the rate 0",
        bench->rate_hz, bench->seconds);
    return FALSE;
  }
  return TRUE;
}

static GstTfxToolStatus
run_bench (const Bench *bench)
{
  gint *channels = read_numbers ("channels", bench->channels, MAX_CHANNELS);
  gint *frames = read_numbers ("frames", bench->frames, MAX_FRAMES);
  gchar **devices = g_strsplit (bench->devices, ",", -1);
  GstTfxToolStatus status = GST_TFX_TOOL_USAGE;

  if (channels && frames && check_words (bench, devices)) {
    status = GST_TFX_TOOL_OK;
    g_print ("channels,frames,device,ran_on,kernel,ns_per_sample,"
             "times_real_time\n");
    for (gint *c = channels; *c; c++) {
      for (gint *f = frames; *f; f++) {
        for (gchar **d = devices; *d; d++) {
          if (gst_tfx_tool_is_interrupted ())
            status = GST_TFX_TOOL_INTERRUPTED;
          else if (!run_shape (bench, *d, *c, *f))
            status = GST_TFX_TOOL_FAILED;
        }
      }
    }
  }
  g_strfreev (devices);
  g_free (channels);
  g_free (frames);
  return status;
}

GstTfxToolStatus
gst_tfx_bench_run (gint argc, gchar **argv)
{
  Bench bench = { .rate_hz = 48000, .seconds = 0.2 };
  const GOptionEntry entries[] = { { "channels", 'c', 0, G_OPTION_ARG_STRING,
                                       &bench.channels,
                                       "numbers of channels (1,2,8)", "N,…" },
    { "frames", 'n', 0, G_OPTION_ARG_STRING, &bench.frames,
        "lengths of blocks (64,1024,4096)", "N,…" },
    { "devices", 'd', 0, G_OPTION_ARG_STRING, &bench.devices,
        "auto, cpu, cuda (auto)", "NAME,…" },
    { "format", 'f', 0, G_OPTION_ARG_STRING, &bench.format,
        "F32LE or F64LE (F32LE)", "FORMAT" },
    { "rate", 'r', 0, G_OPTION_ARG_INT, &bench.rate_hz,
        "sample rate in Hz (48000)", "HZ" },
    { "seconds", 's', 0, G_OPTION_ARG_DOUBLE, &bench.seconds,
        "how long each is measured (0.2)", "S" },
    { NULL } };
  GstTfxToolStatus status = GST_TFX_TOOL_USAGE;

  bench.channels = g_strdup ("1,2,8");
  bench.frames = g_strdup ("64,1024,4096");
  bench.devices = g_strdup ("auto");
  bench.format = g_strdup ("F32LE");
  if (gst_tfx_tool_parse ("CHAIN", "Measures what a chain costs, as CSV.",
          "A line for each number of channels, length of blocks and device: "
          "where it ran, by which kernel, nanoseconds for a sample of one "
          "channel (the median), and how many such streams could run at once "
          "in real time.",
          entries, &argc, &argv)) {
    if (argc != 2) {
      gst_tfx_tool_error ("bench takes one chain, in quotes");
    } else {
      bench.options.chain = g_strdup (argv[1]);
      if (gst_tfx_options_read_chain (&bench.options))
        status = run_bench (&bench);
    }
  }
  gst_tfx_options_clear (&bench.options);
  g_free (bench.channels);
  g_free (bench.frames);
  g_free (bench.devices);
  g_free (bench.format);
  return status;
}
