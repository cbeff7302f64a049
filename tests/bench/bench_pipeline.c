/* SPDX-License-Identifier: LGPL-2.1-or-later
 * bench_pipeline.c: the api chain as six elements in a pipeline, against six
 * audiocheblimit, the core without GStreamer, and a pipeline of nothing; FIR
 * filters against audiowsinclimit; and what GStreamer's other elements do. */
#include <stdio.h>
#include <string.h>

#include "core.h"
#include "play.h"

#define CHEBLIMIT(mode, hz)                                                    \
  "audiocheblimit poles=2 type=1 ripple=0.5 mode=" mode " cutoff=" hz
#define CHEBYSHEV(fuse, hz)                                                    \
  "tfxchebyshev fuse=" fuse " order=2 ripple=0.5 mode=high-pass cutoff=" hz
#define BUTTERWORTH(fuse, hz)                                                  \
  "tfxbutterworth fuse=" fuse " order=2 mode=low-pass cutoff=" hz

static const PlayContestant empty = { "empty pipeline", "", { NULL }, FALSE };

static const PlayContestant cheblimit = { "six audiocheblimit", "",
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

static const PlayContestant unfused = { "six tfx elements", "fuse=false",
  SIX ("false"), TRUE };

static const PlayContestant fused = { "six tfx elements", "fused", SIX ("true"),
  TRUE };

static const PlayContestant chain = { "tfxchain", "the six",
  { "tfxchain chain=\"HiChebyshev1(20, order=2, ripple=0.5) | "
    "HiChebyshev1(60, order=2, ripple=0.5) | "
    "HiChebyshev1(65, order=2, ripple=0.5) | LoButterworth(5000, order=2) | "
    "LoButterworth(4900, order=2) | LoButterworth(4850, order=2)\"" },
  TRUE };

#define WSINCLIMIT(length, hz)                                                 \
  "audiowsinclimit mode=low-pass window=hamming length=" length " cutoff=" hz
#define FIR(fuse, taps, hz)                                                    \
  "tfxfir fuse=" fuse " mode=low-pass window=hamming taps=" taps " cutoff=" hz

static const PlayContestant wsinclimit = { .name = "audiowsinclimit",
  .elements = { WSINCLIMIT ("511", "1000") },
  .late = TRUE };

static const PlayContestant fir = { .name = "tfxfir",
  .elements = { FIR ("false", "511", "1000") },
  .late = TRUE };

/* TorchFX's chain of FIR filters; audiowsinclimit takes odd lengths alone. */
static const PlayContestant five_wsinclimit = { .name = "five audiowsinclimit",
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

static const PlayContestant five_fir = { .name = "five tfxfir",
  .variant = "fuse=false",
  .elements = FIVE ("false"),
  .late = TRUE };

/* They become one. */
static const PlayContestant five_in_chain = { .name = "tfxchain",
  .variant = "the five",
  .elements = { "tfxchain "
                "chain=\"DesignableFIR(1000,101)|DesignableFIR(5000,102)"
                "|DesignableFIR(1500,103)|DesignableFIR(1800,104)|"
                "DesignableFIR(1850,105)\"" },
  .late = TRUE };

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
  none = play_add (bench, &empty, &c);
  reference = play_add (bench, &cheblimit, &c);
  elements = play_add (bench, &unfused, &c);
  as_one = play_add (bench, &fused, &c);
  in_one = play_add (bench, &chain, &c);
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
  play_add (bench, &empty, &c);
  one_peer = play_add (bench, &wsinclimit, &c);
  one = play_add (bench, &fir, &c);
  five_peers = play_add (bench, &five_wsinclimit, &c);
  five = play_add (bench, &five_fir, &c);
  as_one = play_add (bench, &five_in_chain, &c);
  bench_set_reference (bench, one_peer);
  if (!bench_measure (bench))
    return;
  snprintf (what, sizeof what, "511 taps, %u channel%s", n_channels, s);
  bench_goal (bench, what, goal, one_peer, one);
  snprintf (what, sizeof what, "five FIR filters, %u channel%s", n_channels, s);
  bench_goal (bench, what, goal, five_peers, five);
  snprintf (what, sizeof what, "five FIRs in a tfxchain, %u channel%s",
      n_channels, s);
  bench_goal (bench, what, 0.8, one, as_one);
}

/* ---- GStreamer's own ------------------------------------------------------------- */

/* Elements of which each pair does nearly the same. */
static const struct
{
  const char *theirs, *ours;
} own[] = {
  { "volume volume=0.5", "Gain(0.5)" },
  { "audioamplify amplification=2", "Gain(2, clamp=True)" },
  { "audiopanorama panorama=0.3", "Mix([[1, 0], [0.3, 0.7]])" },
  { "audioecho delay=10000000 intensity=0.5 feedback=0.3",
      "Delay(480, feedback=0.3, mix=0.5)" },
  { "equalizer-10bands band0=2 band1=3 band2=-3 band3=2 band4=4 band5=1 "
    "band6=-2 band7=3 band8=1 band9=-2",
      "GraphicEQ([2, 3, -3, 2, 4, 1, -2, 3, 1, -2])" },
  { "freeverb", "Reverb()" },
};

static void
measure_own (Bench *bench, unsigned n_channels)
{
  const CoreCase c = { .n_channels = n_channels, .n_frames = 1024 };

  for (guint i = 0; i < G_N_ELEMENTS (own); i++) {
    gchar *name = g_strndup (own[i].theirs, strcspn (own[i].theirs, " "));
    gchar *text = g_strdup_printf ("tfxchain chain=\"%s\"", own[i].ours);
    GstElementFactory *factory = gst_element_factory_find (name);
    const PlayContestant theirs = { .name = name,
      .elements = { own[i].theirs } };
    const PlayContestant ours = { .name = own[i].ours, .elements = { text } };

    if (!factory)
      bench_note (bench, "%s was not measured: it is not installed", name);
    else if (bench_begin_group (bench, "beside %s, %u channels, %zu frames",
                 name, n_channels, c.n_frames)) {
      play_add (bench, &empty, &c);
      bench_set_reference (bench, play_add (bench, &theirs, &c));
      play_add (bench, &ours, &c);
      bench_measure (bench);
    }
    gst_clear_object (&factory);
    g_free (name);
    g_free (text);
  }
}

/* ---- depth ---------------------------------------------------------------------- */

#define DEEP 50

/* So many sections in a row, as elements or as one tfxchain. */
static gchar *
make_row (guint n, gboolean as_chain)
{
  GString *row = g_string_new (as_chain ? "tfxchain chain=\"" : NULL);

  for (guint i = 0; i < n; i++) {
    const guint hz = 2000 + 100 * i;

    if (as_chain)
      g_string_append_printf (row, "%sLoButterworth(%u, order=2)",
          i ? " | " : "", hz);
    else
      g_string_append_printf (row, "%stfxbutterworth order=2 cutoff=%u",
          i ? " ! " : "", hz);
  }
  g_string_append (row, as_chain ? "\"" : "");
  return g_string_free (row, FALSE);
}

/* A section costs no more in a deep row than in a short one. */
static void
measure_depth (Bench *bench, unsigned n_channels)
{
  static const char *const variants[] = { "six elements", "50 elements",
    "tfxchain of six", "tfxchain of 50" };
  CoreCase c = { .n_channels = n_channels, .n_frames = 1024 };
  PlayContestant rows[4];
  unsigned subjects[4];
  char what[64];

  if (!bench_begin_group (bench, "sections in a row, %u channel%s, %zu frames",
          n_channels, n_channels == 1 ? "" : "s", c.n_frames))
    return;
  for (guint i = 0; i < 4; i++) {
    rows[i] = (PlayContestant){ .name = variants[i],
      .elements = { make_row (i & 1 ? DEEP : CASCADES_N_API, i > 1) },
      .late = TRUE };
    subjects[i] = play_add (bench, &rows[i], &c);
  }
  bench_set_reference (bench, subjects[0]);
  if (bench_measure (bench)) {
    for (guint i = 0; i < 4; i += 2) {
      snprintf (what, sizeof what, "a section in %s, %u channel%s",
          variants[i + 1], n_channels, n_channels == 1 ? "" : "s");
      bench_goal (bench, what, (double)CASCADES_N_API / DEEP, subjects[i],
          subjects[i + 1]);
    }
  }
  for (guint i = 0; i < 4; i++)
    g_free ((gchar *)rows[i].elements[0]);
}

/* The plugin of this build, whatever is installed. */
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
    { 2, 64, 0.0, 0.0, TRUE }, { 8, 64, 0.0, 0.0, TRUE },
    { 1, 4096, 0.0, 0.0, TRUE }, { 2, 4096, 0.0, 0.0, TRUE },
    { 8, 4096, 0.0, 25.0, FALSE }, { 64, 1024, 0.0, 0.0, TRUE } };
  Bench *bench = bench_open (argc, argv, "pipeline");
  const char *kernel = cascades_kernel ();
  gchar *version;

  gst_init (NULL, NULL);
  version = gst_version_string ();
  printf ("Peer: %s\n", version);
  g_free (version);
  if (play_load_plugin (bench, TFX_PLUGIN)) {
    for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
      if (bench_is_full (bench) || !cases[i].full)
        measure (bench, kernel, cases[i].n_channels, cases[i].n_frames,
            cases[i].goal, cases[i].fused_goal);
    }
    for (unsigned n_channels = 1; n_channels <= 8; n_channels *= 8)
      measure_fir (bench, n_channels, 6.0);
    for (unsigned n_channels = 1; n_channels <= 8; n_channels *= 8)
      measure_depth (bench, n_channels);
    measure_own (bench, 2);
  }
  return bench_close (&bench);
}
