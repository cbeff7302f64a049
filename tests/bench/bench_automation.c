/* SPDX-License-Identifier: LGPL-2.1-or-later
 * bench_automation.c: what it costs that a property follows a curve: each element
 * with a curve against the same without, for each point of the grid. */
#include <stdio.h>

#include <gst/audio/audio.h>
#include <gst/controller/controller.h>

#include "bench.h"
#include "tfx.h"

#define RATE 48000
#define N_FRAMES 1024

typedef struct
{
  const gchar *name, *launch;
  const gchar *stage, *property; /* stage: of a tfxchain, or NULL */
  gdouble from, to;
} Case;

static const Case cases[] = {
  { "order 2", "tfxbutterworth order=2", NULL, "cutoff", 500, 5000 },
  { "order 4", "tfxbutterworth order=4", NULL, "cutoff", 500, 5000 },
  { "order 16", "tfxbutterworth order=16", NULL, "cutoff", 500, 5000 },
  { "order 64", "tfxbutterworth order=64", NULL, "cutoff", 500, 5000 },
  { "chebyshev 4", "tfxchebyshev order=4", NULL, "cutoff", 500, 5000 },
  { "ripple", "tfxchebyshev order=4", NULL, "ripple", 0.1, 3 },
  { "chain 4", "tfxchain chain=\"x=LoButterworth(1000, order=4)\"", "x",
      "cutoff", 500, 5000 },
  { "equaliser", "tfxchain chain=\"x=ParametricEQ(1000, 1, 3)\"", "x", "gain",
      -12, 12 },
  { "gain", "tfxchain chain=\"x=Gain(0.5)\"", "x", "gain", 0.1, 1 },
  { "delay", "tfxchain chain=\"x=Delay(480)\"", "x", "mix", 0, 1 },
  { "fir 31", "tfxfir taps=31", NULL, "cutoff", 500, 5000 },
  { "fir 101", "tfxfir taps=101", NULL, "cutoff", 500, 5000 },
  { "fir 511", "tfxfir taps=511", NULL, "cutoff", 500, 5000 },
  { "fir 2047", "tfxfir taps=2047", NULL, "cutoff", 500, 5000 },
  { "fir 8191", "tfxfir taps=8191", NULL, "cutoff", 500, 5000 },
};

/* One element between two pads. */
typedef struct
{
  GstElement *element;
  GstPad *src, *sink;
  gfloat samples[N_FRAMES];
  guint64 frame;
} Line;

static GstFlowReturn
drop (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

/* A line that does not end while it is measured. */
static void
bind (GstElement *element, const Case *c)
{
  GstControlSource *source = gst_interpolation_control_source_new ();
  GstTimedValueControlSource *points = GST_TIMED_VALUE_CONTROL_SOURCE (source);
  GstObject *object = gst_object_ref (element);

  if (c->stage) {
    gst_object_unref (object);
    object = GST_OBJECT (
        gst_child_proxy_get_child_by_name (GST_CHILD_PROXY (element),
            c->stage));
  }
  g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  for (guint i = 0; i <= 3000; i++)
    gst_timed_value_control_source_set (points, i * GST_SECOND,
        i % 2 ? c->to : c->from);
  gst_object_add_control_binding (object,
      gst_direct_control_binding_new_absolute (object, c->property, source));
  gst_object_unref (source);
  gst_object_unref (object);
}

static void
link_ends (Line *line)
{
  GstPad *pad = gst_element_get_static_pad (line->element, "sink");

  line->src = gst_object_ref_sink (gst_pad_new ("src", GST_PAD_SRC));
  line->sink = gst_object_ref_sink (gst_pad_new ("sink", GST_PAD_SINK));
  gst_pad_set_chain_function (line->sink, drop);
  gst_pad_link (line->src, pad);
  gst_object_unref (pad);
  pad = gst_element_get_static_pad (line->element, "src");
  gst_pad_link (pad, line->sink);
  gst_object_unref (pad);
}

static Line *
line_new (const Case *c, gboolean is_moving)
{
  Line *line = g_new0 (Line, 1);
  GstSegment segment;
  GstCaps *caps;

  line->element = gst_object_ref_sink (gst_parse_launch_full (c->launch, NULL,
      GST_PARSE_FLAG_FATAL_ERRORS, NULL));
  if (is_moving)
    bind (line->element, c);
  link_ends (line);
  bench_fill_noise (line->samples, N_FRAMES);
  gst_pad_set_active (line->sink, TRUE);
  gst_element_set_state (line->element, GST_STATE_PLAYING);
  gst_pad_set_active (line->src, TRUE);
  gst_pad_push_event (line->src, gst_event_new_stream_start ("bench"));
  caps = gst_caps_from_string ("audio/x-raw,format=" GST_AUDIO_NE (
      F32) ",rate=48000,channels=1,layout=interleaved");
  gst_pad_push_event (line->src, gst_event_new_caps (caps));
  gst_caps_unref (caps);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (line->src, gst_event_new_segment (&segment));
  return line;
}

static void
line_free (void *data)
{
  Line *line = data;

  gst_pad_set_active (line->src, FALSE);
  gst_element_set_state (line->element, GST_STATE_NULL);
  gst_pad_set_active (line->sink, FALSE);
  gst_object_unref (line->element);
  gst_object_unref (line->src);
  gst_object_unref (line->sink);
  g_free (line);
}

static bool
line_run (void *data, unsigned n_blocks, BenchTime *time)
{
  Line *line = data;
  const BenchTime start = bench_time_now ();

  for (unsigned i = 0; i < n_blocks; i++) {
    GstBuffer *buffer =
        gst_buffer_new_allocate (NULL, sizeof line->samples, NULL);

    gst_buffer_fill (buffer, 0, line->samples, sizeof line->samples);
    GST_BUFFER_PTS (buffer) =
        gst_util_uint64_scale (line->frame, GST_SECOND, RATE);
    line->frame += N_FRAMES;
    GST_BUFFER_DURATION (buffer) =
        gst_util_uint64_scale (line->frame, GST_SECOND, RATE) -
        GST_BUFFER_PTS (buffer);
    if (gst_pad_push (line->src, buffer) != GST_FLOW_OK)
      return false;
  }
  *time = bench_time_since (start);
  return true;
}

static unsigned
add (Bench *bench, const Case *c, gboolean is_moving)
{
  const BenchSubject subject = { .name = c->name,
    .variant = is_moving ? "moving" : "still",
    .n_channels = 1,
    .n_frames = N_FRAMES,
    .units = (double)N_FRAMES / TFX_GRID_FRAMES,
    .limit = BENCH_NONE,
    .run = line_run,
    .data = line_new (c, is_moving),
    .free = line_free };

  return bench_add (bench, &subject);
}

int
main (int argc, char **argv)
{
  GstPlugin *plugin;
  Bench *bench;

  gst_init (NULL, NULL);
  plugin = gst_plugin_load_file (TFX_PLUGIN, NULL);
  bench = bench_open (argc, argv, "automation");
  if (!plugin)
    bench_fail (bench, "the plugin cannot be loaded");
  for (guint i = 0; plugin && i < G_N_ELEMENTS (cases); i++) {
    const Case *c = &cases[i];
    unsigned still, moving;

    if (!bench_begin_group (bench, "%s of %s", c->property, c->name))
      continue;
    still = add (bench, c, FALSE);
    moving = add (bench, c, TRUE);
    bench_set_reference (bench, still);
    if (bench_measure (bench))
      printf ("  a point of the grid: %.0f ns\n",
          bench_median (bench, moving) - bench_median (bench, still));
  }
  gst_clear_object (&plugin);
  return bench_close (&bench);
}
