/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_cuda_pipelines.c: elements on the device: the right samples, and no more
 * transfers and launches than there must be.
 */
#include <string.h>

#include <gst/controller/controller.h>

#include "deck.h"
#include "devices.h"

#define RATE 48000
/* float32 streams: what the CPU and the device may differ by. */
#define CLOSE_DB -140.0
#define CLOSE_FIR_DB -125.0
#define CLOSE_F64_DB -230.0

#define HIGH "tfxchebyshev mode=high-pass cutoff=20 order=2 ripple=0.5 DEVICE "
#define LOW "tfxbutterworth cutoff=5000 order=2 DEVICE "

/* What an element does for each buffer. */
typedef struct
{
  const gchar *element;
  guint deferred, dispatches, uploads, launches, downloads;
} Work;

typedef struct
{
  const gchar *launch;
  gboolean ends_on_device;
  Work work[5];
} Line;

/* clang-format off */
#define DEFERS(name) { name, 1, 0, 0, 0, 0 }
#define WHOLE(name) { name, 0, 1, 1, 1, 1 }
#define FIRST(name) { name, 0, 1, 1, 1, 0 }
#define MIDDLE(name) { name, 0, 1, 0, 1, 0 }
#define LAST(name) { name, 0, 1, 0, 1, 1 }
#define ON_CPU(name) { name, 0, 1, 0, 0, 0 }
/* clang-format on */

static const Line lines[] = {
  { HIGH "name=e0", FALSE, { WHOLE ("e0") } },
  { HIGH "name=e0 ! " LOW "name=e1", FALSE, { DEFERS ("e0"), WHOLE ("e1") } },
  { HIGH "name=e0 ! " HIGH "cutoff=60 ! " HIGH "cutoff=65 ! " LOW "! " LOW
         "cutoff=4900 ! " LOW "cutoff=4850 name=e5",
      FALSE, { DEFERS ("e0"), WHOLE ("e5") } },
  { "tfxchain name=e0 DEVICE chain=\"HiButterworth(80,order=8)|"
    "LoButterworth(4000,order=8)|Gain(0.5)\"",
      FALSE, { WHOLE ("e0") } },
  /* A FIR is one launch more, by FFT too. */
  { HIGH "name=e0 ! tfxfir name=e1 taps=101 align=false DEVICE", FALSE,
      { DEFERS ("e0"), { "e1", 0, 1, 1, 2, 1 } } },
  { HIGH "name=e0 ! " LOW "! tfxfir name=e1 taps=5000 align=false DEVICE",
      FALSE, { DEFERS ("e0"), { "e1", 0, 1, 1, 2, 1 } } },
  /* Memory stays on the device between elements that do not run as one. */
  { HIGH "name=e0 fuse=false ! " LOW "name=e1 fuse=false", FALSE,
      { FIRST ("e0"), LAST ("e1") } },
  { HIGH "name=e0 ! queue ! " LOW "name=e1", FALSE,
      { FIRST ("e0"), LAST ("e1") } },
  { HIGH "name=e0 ! " LOW "name=e1 ! queue ! " LOW "name=e2 ! " HIGH "name=e3",
      FALSE, { DEFERS ("e0"), FIRST ("e1"), DEFERS ("e2"), LAST ("e3") } },
  { HIGH "name=e0 ! queue ! " LOW "name=e1 ! queue ! " HIGH "name=e2", FALSE,
      { FIRST ("e0"), MIDDLE ("e1"), LAST ("e2") } },
  { HIGH "name=e0 ! identity ! " LOW "name=e1", FALSE,
      { FIRST ("e0"), LAST ("e1") } },
  /* level reads the samples. */
  { HIGH "name=e0 ! level ! " LOW "name=e1", FALSE,
      { WHOLE ("e0"), WHOLE ("e1") } },
  /* Who is told to filter on the CPU has nothing to do with the device. */
  { HIGH "name=e0 ! tfxbutterworth name=e1 device=cpu ! " HIGH "name=e2", FALSE,
      { WHOLE ("e0"), ON_CPU ("e1"), WHOLE ("e2") } },
  /* Other channels are made in system memory. */
  { HIGH "name=e0 ! tfxchain name=e1 DEVICE chain=\"Mix([[1,0],[0,1],[1,1]])|"
         "LoButterworth(4000)|Mix([[1,0,0],[0,0,1]])\" ! " HIGH "name=e2",
      FALSE, { WHOLE ("e0"), { "e1", 0, 1, 1, 3, 1 }, WHOLE ("e2") } },
  /* Channels with chains of their own: a launch for each. */
  { HIGH "name=e0 ! tfxchain name=e1 DEVICE chain=\"ch[0]: LoButterworth(4000);"
         " ch[1]: Reverb()\" ! " HIGH "name=e2",
      FALSE, { DEFERS ("e0"), DEFERS ("e1"), { "e2", 0, 1, 1, 4, 1 } } },
  /* Caps that say which memory it must be. */
  { HIGH "name=e0 ! MEMORY ! " LOW "name=e1", FALSE,
      { FIRST ("e0"), LAST ("e1") } },
  { HIGH "name=e0 ! audio/x-raw ! " LOW "name=e1", FALSE,
      { WHOLE ("e0"), WHOLE ("e1") } },
  { HIGH "name=e0 ! " LOW "name=e1 ! MEMORY", TRUE,
      { DEFERS ("e0"), FIRST ("e1") } },
  { HIGH "name=e0 ! MEMORY ! " LOW "name=e1 ! MEMORY", TRUE,
      { FIRST ("e0"), MIDDLE ("e1") } },
  { HIGH "name=e0 ! MEMORY ! " LOW "name=e1 ! " LOW "name=e2", FALSE,
      { FIRST ("e0"), DEFERS ("e1"), LAST ("e2") } },
  { HIGH "name=e0 fuse=false ! audio/x-raw ! " LOW
         "name=e1 fuse=false ! MEMORY ! " LOW "name=e2 ! " LOW "name=e3",
      FALSE, { WHOLE ("e0"), FIRST ("e1"), DEFERS ("e2"), LAST ("e3") } },
};

typedef struct
{
  Deck *cpu, *cuda;
} Pair;

/* Both sides of a line, played by the same function. */
static Pair
play_pair (const gchar *launch, const GstAudioInfo *info,
    void (*player) (Deck *deck))
{
  Pair pair = { deck_new (launch, DECK_CPU, info),
    deck_new (launch, DECK_CUDA, info) };

  player (pair.cpu);
  player (pair.cuda);
  return pair;
}

static void
pair_check (Pair *pair, const gchar *what)
{
  gboolean narrow = GST_AUDIO_INFO_WIDTH (&pair->cpu->info) == 32;
  /* The CPU sums FIRs of float32 streams up in float32. */
  gdouble close = !narrow                   ? CLOSE_F64_DB
                  : strstr (what, "tfxfir") ? CLOSE_FIR_DB
                                            : CLOSE_DB;

  deck_expect_same (pair->cpu, pair->cuda, close, what);
  tfx_check_expect_no_warning (pair->cpu->bus);
}

static void
pair_free (Pair *pair)
{
  deck_free (pair->cpu);
  deck_free (pair->cuda);
}

/* ---- transfers and launches ------------------------------------------------------ */

#define N_BUFFERS 12

static void
play_plain (Deck *deck)
{
  deck_push_many (deck, N_BUFFERS * 1024, 1024);
  deck_end (deck);
}

static void
expect_work (Deck *deck, const Work *work)
{
  deck_expect_stat (deck, work->element, "deferred",
      N_BUFFERS * work->deferred);
  deck_expect_stat (deck, work->element, "dispatches",
      N_BUFFERS * work->dispatches);
  deck_expect_stat (deck, work->element, "uploads", N_BUFFERS * work->uploads);
  deck_expect_stat (deck, work->element, "launches",
      N_BUFFERS * work->launches);
  deck_expect_stat (deck, work->element, "downloads",
      N_BUFFERS * work->downloads);
  if (work->launches > 0) {
    gchar *kernel = deck_text (deck, work->element, "kernel");

    fail_unless (deck_runs_on (deck, work->element, "cuda"));
    fail_unless (g_str_has_prefix (kernel, "sm_"), "%s", kernel);
    g_free (kernel);
  }
}

GST_START_TEST (test_work)
{
  const Line *line = &lines[__i__];
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Pair pair = play_pair (line->launch, &info, play_plain);

  pair_check (&pair, line->launch);
  fail_unless_equals_uint64 (pair.cuda->n_frames, N_BUFFERS * 1024);
  fail_unless_equals_uint64 (pair.cuda->n_device_buffers,
      line->ends_on_device ? N_BUFFERS : 0);
  for (guint i = 0; i < 5 && line->work[i].element; i++)
    expect_work (pair.cuda, &line->work[i]);
  pair_free (&pair);
}
GST_END_TEST;

/* ---- before the first buffer ------------------------------------------------------- */

/* Kernels are loaded while caps are set: in the stream a call that loads one
 * would fail. */
GST_START_TEST (test_ready)
{
  static const gchar *const rows[] = { HIGH "name=e0",
    HIGH "! " LOW "! tfxfir taps=55 DEVICE ! tfxchain DEVICE "
         "chain=\"Echo(500)|LoButterworth(300,order=16)\" name=e0",
    HIGH "fuse=false ! " LOW "name=e0 fuse=false ! MEMORY" };
  static const gchar *const calls[] = { "cuModuleLoadData:1,719",
    "cuStreamCreate:1,719" };
  const gchar *launch = rows[__i__ % G_N_ELEMENTS (rows)];
  const gchar *call = calls[__i__ / G_N_ELEMENTS (rows)];
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck = deck_new (launch, DECK_CUDA, &info);
  gchar *report;

  g_free (devices_report ());
  g_setenv ("TFX_STANDIN_FAIL", call, TRUE);
  play_plain (deck);
  report = devices_report ();
  fail_unless (report[0] == '\0', "%s: %s", launch, report);
  fail_unless_equals_uint64 (deck_stat (deck, "e0", "launches") > 0, TRUE);
  tfx_check_expect_no_warning (deck->bus);
  g_unsetenv ("TFX_STANDIN_FAIL");
  deck_free (deck);
  g_free (report);
}
GST_END_TEST;

/* ---- ramps ------------------------------------------------------------------------- */

/* A property of e0, or of a stage of it, that an application sets. */
typedef struct
{
  const gchar *launch, *stage, *property;
  gdouble values[2];
} Ramp;

static const Ramp ramps[] = {
  { HIGH "! tfxbutterworth name=e0 order=6 DEVICE", NULL, "cutoff",
      { 500, 800 } },
  { LOW "! tfxchain name=e0 DEVICE chain=\"g=Gain(0.5)\"", "g", "gain",
      { 0.5, 0.7 } },
  { "tfxfir name=e0 taps=101 align=false DEVICE", NULL, "cutoff",
      { 500, 800 } },
  { "tfxfir name=e0 taps=3001 align=false DEVICE device-delay=1", NULL,
      "cutoff", { 500, 800 } },
  { "tfxchain name=e0 DEVICE chain=\"d=Delay(1000,feedback=0.5,mix=0.4)\"", "d",
      "mix", { 0.4, 0.6 } },
  { LOW "! tfxchain name=e0 DEVICE chain=\"c=Compressor(-20,4)\"", "c",
      "threshold", { -20, -30 } },
  { HIGH "! MEMORY ! tfxbutterworth name=e0 order=6 DEVICE ! MEMORY", NULL,
      "cutoff", { 500, 800 } },
};

static const gchar *const memory_calls[] = { "cuMemAlloc_v2:1,2",
  "cuMemHostAlloc:1,2", "cuMemFree_v2:1,1", "cuMemFreeHost:1,1",
  "cuEventCreate:1,2", "cuModuleLoadData:1,2" };

/* Three ramps.  The call fails in the last two of them (NULL: none does). */
static void
play_ramps (Deck *deck, const Ramp *ramp, const gchar *call)
{
  GstElement *element = deck_element (deck, "e0");
  GObject *object = G_OBJECT (element);

  if (ramp->stage)
    object = gst_child_proxy_get_child_by_name (GST_CHILD_PROXY (element),
        ramp->stage);
  deck_push_many (deck, 6 * 1024, 1024);
  for (guint i = 0; i < 3; i++) {
    const guint64 n = deck_stat (deck, "e0", "launches");

    g_object_set (object, ramp->property, ramp->values[(i + 1) % 2], NULL);
    deck_push_many (deck, 4 * 1024, 1024);
    if (call)
      fail_unless (deck_stat (deck, "e0", "launches") >= n + 2, "%s: ramp %u",
          ramp->launch, i);
    if (i == 0 && call) {
      g_free (devices_report ());
      g_setenv ("TFX_STANDIN_FAIL", call, TRUE);
    }
  }
  g_unsetenv ("TFX_STANDIN_FAIL");
  deck_end (deck);
  if (ramp->stage)
    g_object_unref (object);
  gst_object_unref (element);
}

/* The CPU runs the ramps, and none of the calls is made: the engine remains on the
 * device. */
GST_START_TEST (test_ramps)
{
  const Ramp *ramp = &ramps[__i__ % G_N_ELEMENTS (ramps)];
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Pair pair = { deck_new (ramp->launch, DECK_CPU, &info),
    deck_new (ramp->launch, DECK_CUDA, &info) };
  gchar *report;

  play_ramps (pair.cpu, ramp, NULL);
  play_ramps (pair.cuda, ramp, memory_calls[__i__ / G_N_ELEMENTS (ramps)]);
  report = devices_report ();
  fail_unless (report[0] == '\0', "%s: %s", ramp->launch, report);
  pair_check (&pair, ramp->launch);
  pair_free (&pair);
  g_free (report);
}
GST_END_TEST;

/* ---- curves ---------------------------------------------------------------------- */

/* A property of e0, or of a stage of it, that stands, moves for a third of the
 * stream, and stands again. */
typedef struct
{
  const gchar *launch, *stage, *property;
  gdouble from, to;
} Curve;

static const Curve curves[] = {
  { "tfxbutterworth name=e0 order=6 DEVICE", NULL, "cutoff", 500, 5000 },
  { "tfxchebyshev name=e0 type=2 mode=band-pass DEVICE", NULL,
      "upper-frequency", 1000, 9000 },
  { HIGH "! tfxbutterworth name=e0 DEVICE", NULL, "cutoff", 5000, 500 },
  { "tfxchain name=e0 DEVICE "
    "chain=\"eq=ParametricEQ(1000,1,3)|HiButterworth(50)\"",
      "eq", "gain", -9, 9 },
  { "tfxfir name=e0 taps=101 align=false DEVICE", NULL, "cutoff", 500, 5000 },
};

static const Curve *curve;
static guint64 launches[4]; /* up to each third, of the deck played last */

static void
bind_curve (Deck *deck)
{
  GstControlSource *source = gst_interpolation_control_source_new ();
  GstTimedValueControlSource *points = GST_TIMED_VALUE_CONTROL_SOURCE (source);
  GObject *object = G_OBJECT (deck_element (deck, "e0"));

  if (curve->stage) {
    GObject *child =
        gst_child_proxy_get_child_by_name (GST_CHILD_PROXY (object),
            curve->stage);

    g_object_unref (object);
    object = child;
  }
  g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  for (guint i = 0; i < 4; i++)
    gst_timed_value_control_source_set (points,
        gst_util_uint64_scale (i * 4096, GST_SECOND, RATE),
        i < 2 ? curve->from : curve->to);
  fail_unless (gst_object_add_control_binding (GST_OBJECT (object),
      gst_direct_control_binding_new_absolute (GST_OBJECT (object),
          curve->property, source)));
  gst_object_unref (source);
  g_object_unref (object);
}

static void
play_curve (Deck *deck)
{
  bind_curve (deck);
  for (guint i = 0; i < 3; i++) {
    deck_push_many (deck, 4096, 1024);
    launches[i + 1] = deck_stat (deck, "e0", "launches");
  }
  deck_end (deck);
}

/* What the device does on either side of a motion, and the CPU meanwhile, is what
 * the CPU alone does. */
GST_START_TEST (test_curve)
{
  const gboolean is_wide = __i__ % 2;
  GstAudioInfo info =
      tfx_check_info (is_wide ? GST_AUDIO_FORMAT_F64 : GST_AUDIO_FORMAT_F32,
          RATE, 2, GST_AUDIO_LAYOUT_INTERLEAVED);
  Pair pair;

  curve = &curves[__i__ / 2];
  pair = play_pair (curve->launch, &info, play_curve);
  pair_check (&pair, curve->launch);
  fail_unless (launches[1] >= 3, "%s: %u launches before", curve->launch,
      (guint)launches[1]);
  /* The point behind the end of a buffer is read with it. */
  fail_unless (launches[2] <= launches[1] + 1, "%s: %u launches while it moves",
      curve->launch, (guint)(launches[2] - launches[1]));
  fail_unless (launches[3] >= launches[2] + 2, "%s: %u launches behind",
      curve->launch, (guint)(launches[3] - launches[2]));
  pair_free (&pair);
}
GST_END_TEST;

/* ---- suite --------------------------------------------------------------------------- */

static Suite *
make_suite (void)
{
  Suite *s = suite_create ("cuda_pipelines");
  TCase *tc = tcase_create ("work");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_work, 0, G_N_ELEMENTS (lines));
  if (devices_are_standin ()) {
    tcase_add_loop_test (tc, test_ready, 0, 6);
    tcase_add_loop_test (tc, test_ramps, 0,
        G_N_ELEMENTS (ramps) * G_N_ELEMENTS (memory_calls));
  }
  tcase_add_loop_test (tc, test_curve, 0, 2 * G_N_ELEMENTS (curves));
  return s;
}

int
main (int argc, char **argv)
{
  return tfx_check_main (argc, argv, make_suite ());
}
