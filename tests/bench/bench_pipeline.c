/* SPDX-License-Identifier: LGPL-2.1-or-later
 * bench_pipeline.c: the api chain as six elements in a pipeline, against six
 * audiocheblimit, the core without GStreamer, and a pipeline of nothing; FIR
 * filters against audiowsinclimit. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core.h"
#include "source.h"

/* Two float32 streams of the same sections in double. */
#define TOLERANCE_DB -130.0

/* Filters as gst-launch-1.0 takes them; %s is for what all of them share. */
typedef struct Contestant
{
  const char *name, *variant;
  const char *elements[CASCADES_N_API]; /* all NULL: no filter */
  gboolean own;                         /* is the core's api chain */
  gboolean late;                        /* holds the first frames back */
  guint n_settling; /* buffers until it is what it is going to be */
} Contestant;

#define CHEBLIMIT(mode, hz)                                                    \
  "audiocheblimit poles=2 type=1 ripple=0.5 mode=" mode " cutoff=" hz
#define CHEBYSHEV(fuse, hz)                                                    \
  "tfxchebyshev fuse=" fuse " order=2 ripple=0.5 mode=high-pass cutoff=" hz
#define BUTTERWORTH(fuse, hz)                                                  \
  "tfxbutterworth fuse=" fuse " order=2 mode=low-pass cutoff=" hz

static const Contestant empty = { "empty pipeline", "", { NULL }, FALSE };

static const Contestant cheblimit = { "six audiocheblimit", "",
  { CHEBLIMIT ("high-pass", "20"), CHEBLIMIT ("high-pass", "60"),
      CHEBLIMIT ("high-pass", "65"), CHEBLIMIT ("low-pass", "5000"),
      CHEBLIMIT ("low-pass", "4900"), CHEBLIMIT ("low-pass", "4850") },
  FALSE };

#define SIX(fuse)                                                              \
  {                                                                            \
    CHEBYSHEV (fuse, "20"), CHEBYSHEV (fuse, "60"), CHEBYSHEV (fuse, "65"),    \
        BUTTERWORTH (fuse, "5000"), BUTTERWORTH (fuse, "4900"),                \
        BUTTERWORTH (fuse, "4850")                                             \
  }

static const Contestant unfused = { "six tfx elements", "fuse=false",
  SIX ("false"), TRUE };

static const Contestant fused = { "six tfx elements", "fused", SIX ("true"),
  TRUE };

static const Contestant chain = { "tfxchain", "the six",
  { "tfxchain chain=\"HiChebyshev1(20, order=2, ripple=0.5) | "
    "HiChebyshev1(60, order=2, ripple=0.5) | "
    "HiChebyshev1(65, order=2, ripple=0.5) | LoButterworth(5000, order=2) | "
    "LoButterworth(4900, order=2) | LoButterworth(4850, order=2)\"" },
  TRUE };

#define WSINCLIMIT(length, hz)                                                 \
  "audiowsinclimit mode=low-pass window=hamming length=" length " cutoff=" hz
#define FIR(fuse, taps, hz)                                                    \
  "tfxfir fuse=" fuse " mode=low-pass window=hamming taps=" taps " cutoff=" hz

static const Contestant wsinclimit = { .name = "audiowsinclimit",
  .elements = { WSINCLIMIT ("511", "1000") },
  .late = TRUE };

static const Contestant fir = { .name = "tfxfir",
  .elements = { FIR ("false", "511", "1000") },
  .late = TRUE };

/* TorchFX's chain of FIR filters; audiowsinclimit takes odd lengths alone. */
static const Contestant five_wsinclimit = { .name = "five audiowsinclimit",
  .elements = { WSINCLIMIT ("101", "1000"), WSINCLIMIT ("103", "5000"),
      WSINCLIMIT ("103", "1500"), WSINCLIMIT ("105", "1800"),
      WSINCLIMIT ("105", "1850") },
  .late = TRUE };

#define FIVE(fuse)                                                             \
  {                                                                            \
    FIR (fuse, "101", "1000"), FIR (fuse, "102", "5000"),                      \
        FIR (fuse, "103", "1500"), FIR (fuse, "104", "1800"),                  \
        FIR (fuse, "105", "1850")                                              \
  }

static const Contestant five_fir = { .name = "five tfxfir",
  .variant = "fuse=false",
  .elements = FIVE ("false"),
  .late = TRUE };

/* They become one when they have run for a quarter of a second. */
static const Contestant five_fused = { .name = "five tfxfir",
  .variant = "fused",
  .elements = FIVE ("true"),
  .late = TRUE,
  .n_settling = 24 };

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
play_add_elements (Play *play, const Contestant *c, GError **error)
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
    GstElement *element = gst_parse_launch (c->elements[i], error);

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
play_new (Bench *bench, const Contestant *c, guint n_channels, gsize n_frames)
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
  if (c->n_settling > 0)
    bench_source_push (play->source, c->n_settling, &time);
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
check_output (Bench *bench, const Contestant *c, const Play *play,
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

static unsigned
add_pipeline (Bench *bench, const Contestant *c, const CoreCase *core)
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

static unsigned
add_core (Bench *bench, const CoreCase *c)
{
  BenchSubject subject;

  if (!core_init_subject (&subject, c)) {
    bench_fail (bench, "the core cannot run %u channels", c->n_channels);
    return BENCH_NONE;
  }
  return bench_add (bench, &subject);
}

/* What six elements need beyond what the core needs for the same. */
static void
print_overhead (const Bench *bench, const CoreCase *c, unsigned none,
    unsigned one_by_one, unsigned elements)
{
  double ns = bench_median (bench, elements) - bench_median (bench, none) -
              bench_median (bench, one_by_one);

  printf ("  an element's own time: %.0f ns a buffer\n",
      ns * c->n_channels * (double)c->n_frames / CASCADES_N_API);
}

static void
measure (Bench *bench, const char *kernel, unsigned n_channels, size_t n_frames,
    double goal, double fused_goal)
{
  TfxSos sos[CASCADES_N_API];
  CoreCase c = { .kernel = kernel,
    .type = TFX_SAMPLE_F32,
    .n_channels = n_channels,
    .n_frames = n_frames,
    .sos = sos,
    .n_sos = CASCADES_N_API };
  unsigned none, reference, elements, one_by_one, as_one, in_one;
  char what[64];

  if (!bench_begin_group (bench, "six elements, %u channel%s, %zu frames",
          n_channels, n_channels == 1 ? "" : "s", n_frames))
    return;
  cascades_repeat_api (sos, CASCADES_N_API);
  none = add_pipeline (bench, &empty, &c);
  reference = add_pipeline (bench, &cheblimit, &c);
  elements = add_pipeline (bench, &unfused, &c);
  as_one = add_pipeline (bench, &fused, &c);
  in_one = add_pipeline (bench, &chain, &c);
  c.n_executors = CASCADES_N_API;
  one_by_one = add_core (bench, &c);
  c.n_executors = 1;
  add_core (bench, &c);
  bench_set_reference (bench, reference);
  if (!bench_measure (bench))
    return;

  print_overhead (bench, &c, none, one_by_one, elements);
  snprintf (what, sizeof what, "%u channel%s, %zu frames", n_channels,
      n_channels == 1 ? "" : "s", n_frames);
  if (goal > 0.0)
    bench_goal (bench, what, goal, reference, elements);
  if (fused_goal > 0.0) {
    snprintf (what, sizeof what, "%u channel%s, %zu frames, fused", n_channels,
        n_channels == 1 ? "" : "s", n_frames);
    bench_goal (bench, what, fused_goal, reference, as_one);
    snprintf (what, sizeof what, "%u channel%s, %zu frames, a tfxchain",
        n_channels, n_channels == 1 ? "" : "s", n_frames);
    bench_goal (bench, what, 1.0 / 1.05, in_one, as_one);
  }
}

static void
measure_fir (Bench *bench, unsigned n_channels, double goal)
{
  CoreCase c = { .n_channels = n_channels, .n_frames = 1024 };
  const char *s = n_channels == 1 ? "" : "s";
  unsigned one_peer, one, five_peers, five, as_one;
  char what[64];

  if (!bench_begin_group (bench, "FIR filters, %u channel%s, %zu frames",
          n_channels, s, c.n_frames))
    return;
  add_pipeline (bench, &empty, &c);
  one_peer = add_pipeline (bench, &wsinclimit, &c);
  one = add_pipeline (bench, &fir, &c);
  five_peers = add_pipeline (bench, &five_wsinclimit, &c);
  five = add_pipeline (bench, &five_fir, &c);
  as_one = add_pipeline (bench, &five_fused, &c);
  bench_set_reference (bench, one_peer);
  if (!bench_measure (bench))
    return;
  snprintf (what, sizeof what, "511 taps, %u channel%s", n_channels, s);
  bench_goal (bench, what, goal, one_peer, one);
  snprintf (what, sizeof what, "five FIR filters, %u channel%s", n_channels, s);
  bench_goal (bench, what, goal, five_peers, five);
  /* But for what four elements more need. */
  snprintf (what, sizeof what, "five FIRs fused, %u channel%s", n_channels, s);
  bench_goal (bench, what, 0.8, one, as_one);
}

/* The plugin of this build, whatever is installed. */
static gboolean
load_plugin (Bench *bench)
{
  GError *error = NULL;
  GstPlugin *plugin = gst_plugin_load_file (TFX_PLUGIN, &error);

  if (!plugin) {
    bench_fail (bench, "%s: %s", TFX_PLUGIN, error->message);
    g_clear_error (&error);
    return FALSE;
  }
  gst_object_unref (plugin);
  return TRUE;
}

int
main (int argc, char **argv)
{
  static const struct
  {
    unsigned n_channels;
    size_t n_frames;
    double goal, fused_goal; /* 0: none */
    gboolean full;
  } cases[] = { { 1, 1024, 8.0, 0.0, FALSE }, { 2, 1024, 0.0, 0.0, FALSE },
    { 8, 1024, 10.0, 25.0, FALSE }, { 1, 128, 0.0, 0.0, FALSE },
    { 2, 128, 0.0, 0.0, FALSE }, { 8, 128, 0.0, 0.0, FALSE },
    { 1, 512, 0.0, 0.0, FALSE }, { 2, 512, 0.0, 0.0, FALSE },
    { 8, 512, 0.0, 0.0, FALSE }, { 1, 64, 0.0, 0.0, TRUE },
    { 8, 64, 0.0, 0.0, TRUE }, { 1, 4096, 0.0, 0.0, TRUE },
    { 2, 4096, 0.0, 0.0, TRUE }, { 8, 4096, 0.0, 0.0, TRUE },
    { 64, 1024, 0.0, 0.0, TRUE } };
  Bench *bench = bench_open (argc, argv, "pipeline");
  const char *kernel = cascades_kernel ();
  gchar *version;

  gst_init (NULL, NULL);
  version = gst_version_string ();
  printf ("Peer: %s\n", version);
  g_free (version);
  if (load_plugin (bench)) {
    for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
      if (bench_is_full (bench) || !cases[i].full)
        measure (bench, kernel, cases[i].n_channels, cases[i].n_frames,
            cases[i].goal, cases[i].fused_goal);
    }
    for (unsigned n_channels = 1; n_channels <= 8; n_channels *= 8)
      measure_fir (bench, n_channels, 6.0);
  }
  return bench_close (&bench);
}
