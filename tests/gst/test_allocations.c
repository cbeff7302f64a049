/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_allocations.c: nothing is taken from the heap while samples flow, fused
 * or not, and none while a property moves.
 *
 * The program's own malloc() and its like come before those of the C library,
 * for all libraries.  What GStreamer itself takes for a push is what it takes
 * with as many identities.
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include <glib/gstdio.h>
#include <gmodule.h>
#include <gst/controller/controller.h>

#include "firs.h"
#include "line.h"

/* ---- the heap -------------------------------------------------------------- */

extern void *__libc_malloc (size_t size);
extern void *__libc_calloc (size_t n, size_t size);
extern void *__libc_realloc (void *memory, size_t size);
extern void *__libc_memalign (size_t alignment, size_t size);
extern void __libc_free (void *memory);

static __thread gboolean is_watched;
static guint n_taken;
static gsize n_freed; /* bytes at a time, at the most */

static void
count (void)
{
  if (is_watched)
    n_taken++;
}

G_MODULE_EXPORT void *
malloc (size_t size)
{
  count ();
  return __libc_malloc (size);
}

G_MODULE_EXPORT void *
calloc (size_t n, size_t size)
{
  count ();
  return __libc_calloc (n, size);
}

G_MODULE_EXPORT void *
realloc (void *memory, size_t size)
{
  count ();
  return __libc_realloc (memory, size);
}

G_MODULE_EXPORT void *
memalign (size_t alignment, size_t size)
{
  count ();
  return __libc_memalign (alignment, size);
}

G_MODULE_EXPORT void *
aligned_alloc (size_t alignment, size_t size)
{
  count ();
  return __libc_memalign (alignment, size);
}

G_MODULE_EXPORT int
posix_memalign (void **memory, size_t alignment, size_t size)
{
  count ();
  *memory = __libc_memalign (alignment, size);
  return *memory ? 0 : ENOMEM;
}

G_MODULE_EXPORT void
free (void *memory)
{
  if (is_watched && memory)
    n_freed = MAX (n_freed, malloc_usable_size (memory));
  __libc_free (memory);
}

/* ---- the stream ------------------------------------------------------------ */

#define RATE 48000
#define N_WARM 200 /* buffers: a second and more, with what glides or settles */
#define N_PUSHES 100

/* Something that happens before each buffer. */
typedef void (*Move) (TfxLine *line, guint buffer);

static GstFlowReturn
drop_buffer (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

/* How often the heap is asked for memory while N_PUSHES go through, behind N_WARM
 * of them; what is prepared and moved is so from buffer `start` on. */
static guint
count_pushes (const gchar *launch, const GstAudioInfo *info, gsize n_frames,
    gboolean fuse, Move prepare, Move move, guint start)
{
  g_autofree gdouble *in = tfx_check_noise (n_frames * info->channels, 1);
  GstBuffer *stock[N_WARM + N_PUSHES];
  g_auto (TfxLine) line;

  tfx_line_open (&line, launch, info, fuse, 1);
  gst_pad_set_chain_function (line.sink, drop_buffer);
  if (prepare && start == 0)
    prepare (&line, 0);
  tfx_line_push_segment (&line, 0, 0);
  for (guint i = 0; i < G_N_ELEMENTS (stock); i++)
    stock[i] = tfx_check_stamped (info, in, n_frames, i * n_frames);
  n_taken = 0;
  for (guint i = 0; i < G_N_ELEMENTS (stock); i++) {
    GstFlowReturn flow;

    if (prepare && i > 0 && i == start)
      prepare (&line, i);
    if (move && i >= start)
      move (&line, i);
    is_watched = i >= N_WARM;
    flow = gst_pad_push (line.src, stock[i]);
    is_watched = FALSE;
    fail_unless_equals_int (flow, GST_FLOW_OK);
  }
  return n_taken;
}

/* ---- rows ------------------------------------------------------------------- */

#define SIX(x) x " ! " x " ! " x " ! " x " ! " x " ! " x

typedef struct
{
  const gchar *launch, *plain; /* the same with identities */
} Row;

static const Row rows[] = {
  { SIX ("tfxbutterworth order=6"), SIX ("identity") },
  { SIX ("tfxchain chain=\"ParametricEQ(300, q=2, gain=3) | Gain(0.9)\""),
      SIX ("identity") },
  { "tfxbutterworth ! tfxchebyshev ! tfxchain chain=\"Delay(delay_samples=99)\""
    " ! tfxbutterworth ! tfxfir align=false method=direct ! tfxchebyshev",
      SIX ("identity") },
  { "tfxfir", "identity" },
  { "tfxfir taps=2001 method=fft", "identity" },
  { "tfxchain chain=\"Reverb() | Delay(bpm=100, strategy='ping-pong')\"",
      "identity" },
  { "tfxchain chain=\"Convolve('matrix.wav', layout='true-stereo')\"",
      "identity" },
#ifdef HAVE_MYSOFA
  { "tfxchain chain=\"HRIR('" GOLDEN_DIR "/head.sofa')\"", "identity" },
#endif
  { "tfxbutterworth ! identity ! tfxchebyshev", SIX ("identity") },
};

GST_START_TEST (test_rows)
{
  const Row *row = &rows[__i__ / 2];
  static const gsize sizes[] = { 64, 1024, 333 };
  g_autofree gdouble *room = tfx_firs_room (4 * 3000, 5);

  g_free (
      tfx_firs_write_sound ("matrix.wav", TFX_FIRS_WAV, room, 3000, 4, RATE));
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    GstAudioInfo info =
        i % 2 ? tfx_check_f64 (RATE, 2) : tfx_check_f32 (RATE, 2);
    guint n_plain =
        count_pushes (row->plain, &info, sizes[i], FALSE, NULL, NULL, 0);
    guint n =
        count_pushes (row->launch, &info, sizes[i], __i__ % 2, NULL, NULL, 0);

    fail_unless (n <= n_plain,
        "%s takes from the heap %u times in %u buffers of %u frames, "
        "identities %u times",
        row->launch, n, N_PUSHES, (guint)sizes[i], n_plain);
  }
}
GST_END_TEST;

/* The watch sees what libraries take: or the test would prove nothing. */
GST_START_TEST (test_watch)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);

  fail_unless (count_pushes ("audioconvert ! capsfilter "
                             "caps=audio/x-raw,format=F64LE",
                   &info, 64, FALSE, NULL, NULL, 0) >= N_PUSHES);
}
GST_END_TEST;

/* ---- chains that change --------------------------------------------------------- */

static void
remove_fir (TfxLine *line, guint buffer)
{
  if (buffer == N_WARM)
    gst_child_proxy_set (GST_CHILD_PROXY (line->element), "x::chain",
        "Gain(0.5)", NULL);
}

/* The spectra alone of 60000 taps are 0.5 MB. */
GST_START_TEST (test_removed_fir)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);

  n_freed = 0;
  count_pushes ("tfxchain name=x chain=\"DesignableFIR(1000, 60000) | "
                "Gain(0.5)\"",
      &info, 256, FALSE, NULL, remove_fir, N_WARM);
  fail_unless (n_freed < 100000,
      "the streaming thread frees %" G_GSIZE_FORMAT " bytes at a time",
      n_freed);
}
GST_END_TEST;

/* ---- properties that move ------------------------------------------------------ */

static const struct
{
  const gchar *launch, *property; /* none: the kernel */
} moving[] = {
  { "tfxbutterworth name=x order=6", "x::cutoff" },
  { "tfxbutterworth ! tfxbutterworth name=x order=4 ! tfxchebyshev",
      "x::cutoff" },
  { "tfxchebyshev name=x", "x::cutoff" },
  { "tfxfir name=x", "x::cutoff" },
  { "tfxfir name=x taps=511 method=fft window=kaiser", "x::cutoff" },
  { "tfxfir name=x taps=2001 mode=high-pass align=false", "x::cutoff" },
  { "tfxbutterworth ! tfxfir name=x ! tfxchebyshev", "x::cutoff" },
  { "tfxfir name=x kernel=\"<1.0,0.5,0.25>\"", NULL },
  { "tfxchain name=x chain=\"eq=ParametricEQ(300, q=2, gain=3)\"",
      "x::eq::gain" },
  { "tfxchain name=x chain=\"f=DesignableFIR(1000, 101) | Gain(0.5)\"",
      "x::f::cutoff" },
};

static const gchar *moved; /* the property */

static void
move (TfxLine *line, guint buffer)
{
  if (moved) {
    gst_child_proxy_set (GST_CHILD_PROXY (line->element), moved,
        g_str_has_suffix (moved, "gain") ? buffer % 10 - 5.0
                                         : 500.0 + 7.0 * buffer,
        NULL);
  } else {
    const gdouble taps[] = { 1.0, 0.1 * (buffer % 7), -0.25 };
    g_autoptr (GstElement) x = tfx_line_get (line, "x");

    tfx_firs_set_kernel (x, taps, G_N_ELEMENTS (taps));
  }
}

/* The application's thread may take what it likes: only the push counts.  Nor does
 * the first move of all, when it has stood still. */
GST_START_TEST (test_moving)
{
  const guint at = __i__ / 3, way = __i__ % 3;
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  guint n;

  moved = moving[at].property;
  /* Unfused, fused, and from behind the warm-up on. */
  n = count_pushes (moving[at].launch, &info,
      64 << (way == 2 ? at : 2 * at + way) % 3, way == 2 ? at % 2 : way, NULL,
      move, way == 2 ? N_WARM : 0);
  fail_unless (n == 0, "%s takes from the heap %u times in %u buffers%s",
      moving[at].launch, n, N_PUSHES, way == 2 ? " when it first moves" : "");
}
GST_END_TEST;

/* How far a property goes of its range, half of it if 0. */
typedef struct
{
  const gchar *launch, *property;
  gdouble most;
  gboolean has_past; /* of inputs: a FIR, a delay line */
} Controlled;

static const Controlled plain = { "volume name=x", "x::volume" };

static const Controlled controlled[] = {
  { "tfxbutterworth name=x", "x::cutoff" },
  { "tfxbutterworth name=x order=16 mode=band-pass", "x::upper-frequency" },
  { "tfxchebyshev name=x", "x::ripple" },
  { "tfxfir name=x", "x::cutoff", 0.0, TRUE },
  { "tfxfir name=x taps=2001 align=false", "x::cutoff", 0.0, TRUE },
  { "tfxbutterworth ! tfxchebyshev name=x type=2 ! tfxbutterworth",
      "x::attenuation" },
  { "tfxchain name=x chain=\"eq=ParametricEQ(300, q=2, gain=3)\"", "x::eq::q" },
  { "tfxchain name=x chain=\"Notch(50, 1) | (g=Gain(0.5) + Gain(1))\"",
      "x::g::gain" },
  { "tfxchain name=x chain=\"d=Delay(500, mix=0.1)\"", "x::d::feedback", 0.0,
      TRUE },
  { "tfxchain name=x chain=\"HiButterworth(50) | f=DesignableFIR(1000, 101)\"",
      "x::f::cutoff", 0.2, TRUE },
  { "tfxchain name=x chain=\"d=Gain(0.5, clamp=True)\"", "x::d::gain", 0.0,
      TRUE },
  { "tfxchain name=x chain=\"Multiband(900, d=Compressor(-18, 3), None)\"",
      "x::d::threshold", 0.0, TRUE },
  { "tfxchain name=x chain=\"d=Compressor(-18, 3)\"", "x::d::ratio", 0.0,
      TRUE },
  { "tfxchain name=x chain=\"d=DynamicEQ(300, 1)\"", "x::d::threshold", 0.0,
      TRUE },
  { "tfxchain name=x chain=\"d=Compressor(-18, key_filter=HiButterworth(90))\"",
      "x::d::threshold", 0.0, TRUE },
  { "tfxchain name=x chain=\"d=Limiter(-1)\"", "x::d::threshold", 0.0, TRUE },
  { "tfxchain name=x chain=\"d=Reverb(0.5)\"", "x::d::damping", 0.0, TRUE },
  { "tfxchain name=x chain=\"d=Width(0.5)\"", "x::d::amount", 0.0, TRUE },
  { "tfxchain name=x chain=\"d=Normalize(0.5)\"", "x::d::peak", 0.0, TRUE },
  { "tfxchain name=x chain=\"d=Loudness(-23)\"", "x::d::target", 0.0, TRUE },
  { "tfxchain name=x chain=\"d=Denoise()\"", "x::d::reduction", 0.0, TRUE },
};

static const Controlled *under_control;
static GstClockTime still_until; /* the curve begins to move there */

static void
control (TfxLine *line, guint buffer)
{
  GParamSpec *spec;
  g_autoptr (GstObject) x =
      tfx_line_find (line, under_control->property, &spec);
  g_autoptr (GstControlSource) source = gst_interpolation_control_source_new ();
  GstTimedValueControlSource *curve = GST_TIMED_VALUE_CONTROL_SOURCE (source);
  const gdouble most = under_control->most > 0.0 ? under_control->most : 0.5;
  gdouble unit = 1.0;

  /* The range of frequencies is far above the rate. */
  if (strstr (spec->name, "cutoff") || strstr (spec->name, "frequency"))
    unit = 1e5 / G_PARAM_SPEC_DOUBLE (spec)->maximum;
  g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  gst_timed_value_control_source_set (curve, 0, 0.01 * unit);
  gst_timed_value_control_source_set (curve, still_until, 0.01 * unit);
  gst_timed_value_control_source_set (curve, 10 * GST_SECOND, most * unit);
  fail_unless (gst_object_add_control_binding (x,
      gst_direct_control_binding_new (x, spec->name, source)));
}

#define CURVE_FRAMES 1024

static guint
count_controlled (const Controlled *c, gboolean fuse, guint first_bound,
    guint first_move)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);

  under_control = c;
  still_until =
      gst_util_uint64_scale (first_move * CURVE_FRAMES, GST_SECOND, RATE);
  return count_pushes (c->launch, &info, CURVE_FRAMES, fuse, control, NULL,
      first_bound);
}

/* Beyond half the rate it is told of once. */
static const Controlled clamped = {
  "tfxchain name=x chain=\"a=LoButterworth(9000) | n=Notch(50, 1)\"",
  "x::a::cutoff", 0.9
};

/* A curve costs no more than with another element, which asks for one value:
 * GStreamer's own part for a binding and a buffer. */
GST_START_TEST (test_controlled)
{
  const guint at = __i__ / 2;
  const Controlled *c =
      at < G_N_ELEMENTS (controlled) ? &controlled[at] : &clamped;
  guint n_plain = count_controlled (&plain, FALSE, 0, 0);
  guint n = count_controlled (c, __i__ % 2, 0, 0);

  fail_unless (n <= n_plain,
      "%s of %s takes from the heap %u times, a volume %u times", c->property,
      c->launch, n, n_plain);
}
GST_END_TEST;

/* How often more than when it has moved from the start. */
static gint
count_first (const Controlled *c, gboolean fuse, guint first_bound)
{
  return (gint)count_controlled (c, fuse, first_bound, N_WARM) -
         (gint)count_controlled (c, fuse, 0, 0);
}

/* What GStreamer takes itself, to look for the place, where a curve comes to its
 * next point: within these buffers for stages that look ahead. */
#define N_POINT 3

/* Nor does the first point of a curve where it moves. */
GST_START_TEST (test_first_curve)
{
  const Controlled *c = &controlled[__i__];
  gint n = count_first (c, __i__ % 2, 0);

  fail_unless (n <= (c->has_past ? N_POINT : 0),
      "%s of %s takes from the heap %d times more when its curve first moves",
      c->property, c->launch, n);
}
GST_END_TEST;

/* What GStreamer takes itself where a curve begins: two for each time that one is
 * asked. */
#define N_BEGIN 6

/* Nor, of recursive filters and gains, what is bound while samples flow. */
GST_START_TEST (test_first_binding)
{
  const Controlled *c = &controlled[__i__];
  gint n = c->has_past ? 0 : count_first (c, __i__ % 2, N_WARM);

  fail_unless (n <= N_BEGIN,
      "%s of %s takes from the heap %d times more when it is first bound",
      c->property, c->launch, n);
}
GST_END_TEST;

/* Becomes a filter, which is bound later. */
static void
set_and_bind (TfxLine *line, guint buffer)
{
  if (buffer == N_WARM / 2)
    gst_child_proxy_set (GST_CHILD_PROXY (line->element), "x::g::gain", 0.5,
        NULL);
  else if (buffer == N_WARM)
    control (line, buffer);
}

/* The same for a stream that begins with an identity. */
GST_START_TEST (test_first_binding_of_identity)
{
  static const gchar *const launches[] = {
    "tfxchain name=x chain=\"g=Gain(0.9)\"",
    "tfxchain name=x chain=\"g=Gain(1)\""
  };
  static const Controlled c = { NULL, "x::g::gain" };
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  guint n[2];

  under_control = &c;
  still_until = 0;
  for (guint i = 0; i < 2; i++)
    n[i] = count_pushes (launches[i], &info, CURVE_FRAMES, FALSE, NULL,
        set_and_bind, 0);
  fail_unless (n[1] <= n[0],
      "a first curve takes from the heap %u times, %u after an identity", n[0],
      n[1]);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("allocations");

  if (g_chdir (tfx_check_folder ()) != 0)
    return 1;
  tcase_add_test (tc, test_watch);
  tcase_add_test (tc, test_removed_fir);
  tcase_add_loop_test (tc, test_rows, 0, 2 * G_N_ELEMENTS (rows));
  tcase_add_loop_test (tc, test_moving, 0, 3 * G_N_ELEMENTS (moving));
  tfx_check_add_part (tc, test_first_curve, G_N_ELEMENTS (controlled), 2);
  tcase_add_loop_test (tc, test_first_binding, 0, G_N_ELEMENTS (controlled));
  tcase_add_test (tc, test_first_binding_of_identity);
  tfx_check_add_part (tc, test_controlled, 2 * G_N_ELEMENTS (controlled), 3);
  tcase_add_loop_test (tc, test_controlled, 2 * G_N_ELEMENTS (controlled),
      2 * G_N_ELEMENTS (controlled) + 2);
  return tfx_check_run (argc, argv, tc);
}
