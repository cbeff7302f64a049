/* SPDX-License-Identifier: LGPL-2.1-or-later
 * play.c: a pipeline of filters as a subject of a benchmark. */
#include "play.h"

#include <math.h>
#include <string.h>

#include "source.h"

/* Two float32 streams of the same sections in double. */
#define TOLERANCE_DB -130.0

/* A pipeline that plays, waiting for orders. */
typedef struct Play
{
  GstElement *pipeline;
  BenchSource *source;
  gfloat *first; /* what the first buffer holds at the sink */
  gsize n_first; /* samples of it that came */
  gsize n_samples;
} Play;

static void
play_free (gpointer data)
{
  Play *play = data;

  if (play->pipeline) {
    gst_element_set_state (play->pipeline, GST_STATE_NULL);
    gst_object_unref (play->pipeline);
  }
  g_free (play->first);
  g_free (play);
}

static bool
play_run (void *data, unsigned n_blocks, BenchTime *time)
{
  Play *play = data;

  return bench_source_push (play->source, n_blocks, time);
}

/* Keeps the first buffer, then gets out of the way. */
static GstPadProbeReturn
play_keep_first (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Play *play = data;
  gsize size = play->n_samples * sizeof *play->first;

  play->n_first = gst_buffer_extract (GST_PAD_PROBE_INFO_BUFFER (info), 0,
                      play->first, size) /
                  sizeof *play->first;
  return GST_PAD_PROBE_REMOVE;
}

/* The first error on the bus, for the message; the caller frees it. */
static gchar *
play_get_error (GstElement *pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  GError *error = NULL;
  gchar *text;

  if (message)
    gst_message_parse_error (message, &error, NULL);
  text = g_strdup (error ? error->message : "it does not play");
  g_clear_error (&error);
  gst_clear_message (&message);
  gst_object_unref (bus);
  return text;
}

static gboolean
play_add_elements (Play *play, const PlayContestant *c, GError **error)
{
  GstElement *last = GST_ELEMENT (play->source);
  GstElement *sink = gst_element_factory_make ("fakesink", NULL);
  GstPad *pad;

  if (!sink) {
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
        "there is no fakesink");
    return FALSE;
  }
  gst_bin_add_many (GST_BIN (play->pipeline), last, sink, NULL);
  g_object_set (sink, "sync", FALSE, "async", FALSE, "enable-last-sample",
      FALSE, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (c->elements) && c->elements[i]; i++) {
    GstElement *element =
        strstr (c->elements[i], " ! ")
            ? gst_parse_bin_from_description (c->elements[i], TRUE, error)
            : gst_parse_launch (c->elements[i], error);

    if (*error) {
      gst_clear_object (&element);
      return FALSE;
    }
    gst_bin_add (GST_BIN (play->pipeline), element);
    if (!gst_element_link (last, element)) {
      g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_PAD,
          "%s cannot be linked", c->elements[i]);
      return FALSE;
    }
    last = element;
  }
  gst_element_link (last, sink);

  pad = gst_element_get_static_pad (sink, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, play_keep_first, play,
      NULL);
  gst_object_unref (pad);
  return TRUE;
}

/* Starts the pipeline and sends buffers in until the first comes out. */
static Play *
play_new (Bench *bench, const PlayContestant *c, guint n_channels,
    gsize n_frames)
{
  Play *play = g_new0 (Play, 1);
  GError *error = NULL;
  BenchTime time;
  gboolean ok;
  gchar *text;

  play->n_samples = n_channels * n_frames;
  play->first = g_new0 (gfloat, play->n_samples);
  play->pipeline = gst_pipeline_new (NULL);
  play->source = bench_source_new (CASCADES_RATE, n_channels, n_frames);
  if (!play_add_elements (play, c, &error)) {
    bench_fail (bench, "%s: %s", c->name, error->message);
    g_clear_error (&error);
    play_free (play);
    return NULL;
  }
  ok = gst_element_set_state (play->pipeline, GST_STATE_PLAYING) !=
       GST_STATE_CHANGE_FAILURE;
  for (guint i = 0; ok && i < (c->late ? 64 : 1) && play->n_first == 0; i++)
    ok = bench_source_push (play->source, 1, &time);
  if (!ok || play->n_first == 0 ||
      (!c->late && play->n_first != play->n_samples)) {
    text = play_get_error (play->pipeline);
    bench_fail (bench, "%s: %s", c->name, text);
    g_free (text);
    play_free (play);
    return NULL;
  }
  return play;
}

static gdouble
level_db (const gfloat *x, const gfloat *subtract, gsize n)
{
  gdouble power = 0.0;

  for (gsize i = 0; i < n; i++) {
    gdouble v = (gdouble)x[i] - (subtract ? subtract[i] : 0.0);
    power += v * v;
  }
  return 10.0 * log10 (power / n + 1e-40);
}

/* Our elements put out what the core does; others filter at least. */
static gboolean
check_output (Bench *bench, const PlayContestant *c, const Play *play,
    const CoreCase *core)
{
  gfloat *noise = g_new (gfloat, play->n_samples);
  gfloat *expected = g_new (gfloat, play->n_samples);
  gdouble level, error;
  gboolean ok = TRUE;

  bench_fill_noise (noise, play->n_samples);
  level = level_db (play->first, NULL, play->n_first);
  error = level_db (play->first, noise, play->n_first) - level;
  if (c->own) {
    ok = core_filter_noise (core, expected);
    error = level_db (play->first, expected, play->n_samples) - level;
    ok = ok && error < TOLERANCE_DB;
  } else if (c->elements[0]) {
    ok = isfinite (level) && error > -20.0;
  } else {
    ok = !memcmp (noise, play->first, play->n_samples * sizeof *noise);
  }
  if (!ok)
    bench_fail (bench, "%s: the output is wrong (level %.1f dB, error %.1f dB)",
        c->name, level, error);
  g_free (noise);
  g_free (expected);
  return ok;
}

unsigned
play_add (Bench *bench, const PlayContestant *c, const CoreCase *core)
{
  Play *play = play_new (bench, c, core->n_channels, core->n_frames);

  if (!play)
    return BENCH_NONE;
  if (!check_output (bench, c, play, core)) {
    play_free (play);
    return BENCH_NONE;
  }
  return bench_add (bench,
      &(BenchSubject){ .name = c->name,
          .variant = c->variant ? c->variant : "",
          .n_channels = core->n_channels,
          .n_frames = core->n_frames,
          .n_sections = c->elements[0] ? CASCADES_N_API : 0,
          .units = (double)play->n_samples,
          .limit = BENCH_NONE,
          .run = play_run,
          .data = play,
          .free = play_free });
}

gboolean
play_load_plugin (Bench *bench, const char *path)
{
  GError *error = NULL;
  GstPlugin *plugin = gst_plugin_load_file (path, &error);

  if (!plugin) {
    bench_fail (bench, "%s: %s", path, error->message);
    g_clear_error (&error);
    return FALSE;
  }
  gst_object_unref (plugin);
  return TRUE;
}
