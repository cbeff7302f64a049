/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_buffers.c: samples are right wherever they lie in memory, nothing
 * beside them is touched, and broken buffers are refused.
 */
#include <math.h>
#include <string.h>

#include "tfxcheck.h"

#define RATE 48000
#define N 300

#define LAUNCH "tfxchebyshev mode=high-pass cutoff=200 order=5 ripple=0.5"
static const TfxDesign design = { TFX_FAMILY_CHEBYSHEV1, TFX_MODE_HIGH_PASS, 5,
  200.0, 0.0, 0.5 };

/* Filters one buffer with N frames of `in`; its samples must become those of
 * the interleaved stream, to the bit.  Gives back what came out. */
static GstBuffer *
expect_filtered (const GstAudioInfo *info, GstBuffer *buffer, const gdouble *in)
{
  GstAudioInfo plain = tfx_check_info (GST_AUDIO_INFO_FORMAT (info), info->rate,
      info->channels, GST_AUDIO_LAYOUT_INTERLEAVED);
  g_autoptr (TfxHarness) h = tfx_check_harness (LAUNCH, info);
  g_autofree gdouble *expected = tfx_check_engine (&design, &plain, in, N),
                     *out = NULL;
  gdouble distance;
  gsize n;

  buffer = tfx_check_push (h, buffer);
  out = tfx_check_samples (buffer, info, &n);
  fail_unless_equals_uint64 (n, N);
  distance = tfx_check_distance (out, expected, N * info->channels);
  fail_unless (distance == 0.0, "off by %g", distance);
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "dispatches"), 1);
  return buffer;
}

/* ---- planes ------------------------------------------------------------------- */

#define FILL 0xa5

/* A buffer of `size` bytes, FILL wherever no plane lies; plane k of N float32
 * at offsets[k]. */
static GstBuffer *
place_planes (const GstAudioInfo *info, const gdouble *in, gsize *offsets,
    gsize size)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  memset (map.data, FILL, size);
  for (gint ch = 0; ch < info->channels; ch++) {
    for (gsize i = 0; i < N; i++) {
      gfloat x = in[i * info->channels + ch];
      memcpy (map.data + offsets[ch] + i * sizeof x, &x, sizeof x);
    }
  }
  gst_buffer_unmap (buffer, &map);
  gst_buffer_add_audio_meta (buffer, info, N, offsets);
  return buffer;
}

static void
expect_fill (GstBuffer *buffer, gint n_channels, const gsize *offsets)
{
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  for (gsize at = 0; at < map.size; at++) {
    gboolean inside = FALSE;

    for (gint ch = 0; ch < n_channels; ch++)
      inside |= at >= offsets[ch] && at < offsets[ch] + N * sizeof (gfloat);
    if (!inside && map.data[at] != FILL)
      fail ("byte %u was written", (guint)at);
  }
  gst_buffer_unmap (buffer, &map);
}

#define PLANE (N * sizeof (gfloat))

typedef struct
{
  gint n_channels;
  gsize offsets[10];
} Places;

static const Places places[] = {
  /* back to back */
  { 1, { 0 } },
  { 2, { 0, PLANE } },
  { 9, { 0, PLANE, 2 * PLANE, 3 * PLANE, 4 * PLANE, 5 * PLANE, 6 * PLANE,
           7 * PLANE, 8 * PLANE } },
  /* evenly spaced, with room between and in front */
  { 3, { 64, 64 + PLANE + 32, 64 + 2 * (PLANE + 32) } },
  /* unevenly */
  { 3, { 0, PLANE + 16, 3 * PLANE } },
  /* downwards, and in no order */
  { 2, { 2 * PLANE, 4 } },
  { 4, { 3 * PLANE, 0, 2 * PLANE, PLANE } },
  /* at odd addresses, all of them or one */
  { 2, { 1, 1 + PLANE } },
  { 3, { 0, PLANE + 2, 2 * PLANE + 4 } },
};

GST_START_TEST (test_planes)
{
  const Places *p = &places[__i__];
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F32, RATE, p->n_channels,
      GST_AUDIO_LAYOUT_NON_INTERLEAVED);
  g_autofree gdouble *in = tfx_check_noise (N * p->n_channels, 23);
  gsize offsets[10], last = 0;
  g_autoptr (GstBuffer) buffer = NULL;

  memcpy (offsets, p->offsets, sizeof offsets);
  for (gint ch = 0; ch < p->n_channels; ch++)
    last = MAX (last, offsets[ch]);
  buffer = place_planes (&info, in, offsets, last + PLANE + 24);
  buffer = expect_filtered (&info, buffer, in);
  expect_fill (buffer, p->n_channels, offsets);
}
GST_END_TEST;

/* What two elements make of a buffer, fused or not; takes it. */
static gdouble *
run_two (const GstAudioInfo *info, GstBuffer *buffer, gboolean fuse,
    GstBuffer **out)
{
  gchar *launch = g_strdup_printf (LAUNCH " fuse=%s ! tfxbutterworth",
      fuse ? "true" : "false");
  GstHarness *h = tfx_check_harness (launch, info);
  gdouble *samples;

  *out = tfx_check_push (h, buffer);
  samples = tfx_check_samples (*out, info, NULL);
  gst_harness_teardown (h);
  g_free (launch);
  return samples;
}

/* The same where the first of two elements leaves its filter to the second. */
GST_START_TEST (test_planes_fused)
{
  const Places *p = &places[__i__];
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F32, RATE, p->n_channels,
      GST_AUDIO_LAYOUT_NON_INTERLEAVED);
  g_autofree gdouble *in = tfx_check_noise (N * p->n_channels, 29);
  gdouble *samples[2];

  for (guint fuse = 0; fuse < 2; fuse++) {
    GstBuffer *buffer =
        place_planes (&info, in, (gsize *)p->offsets, 12 * PLANE);
    g_autoptr (GstBuffer) out = NULL;

    samples[fuse] = run_two (&info, buffer, fuse, &out);
    expect_fill (out, p->n_channels, p->offsets);
  }
  fail_unless (
      tfx_check_distance (samples[0], samples[1], N * p->n_channels) < 1e-6);
  g_free (samples[0]);
  g_free (samples[1]);
}
GST_END_TEST;

/* Memory that nobody may write to is left as it is. */
GST_START_TEST (test_read_only)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  g_autofree gdouble *in = tfx_check_noise (N * 2, 43);
  gdouble *samples[2];
  g_autoptr (GstBuffer) plain = tfx_check_buffer (&info, in, N);
  const gsize size = gst_buffer_get_size (plain);
  g_autofree guint8 *bytes = g_malloc (size), *kept = g_malloc (size);

  gst_buffer_extract (plain, 0, bytes, size);
  memcpy (kept, bytes, size);
  for (guint fuse = 0; fuse < 2; fuse++) {
    GstBuffer *out;

    samples[fuse] = run_two (&info,
        gst_buffer_new_wrapped_full (GST_MEMORY_FLAG_READONLY, bytes, size, 0,
            size, NULL, NULL),
        fuse, &out);
    gst_buffer_unref (out);
    fail_unless (memcmp (bytes, kept, size) == 0);
  }
  fail_unless (tfx_check_distance (samples[0], samples[1], N * 2) < 1e-6);
  fail_unless (tfx_check_distance (samples[0], in, N * 2) > 0.01);
  g_free (samples[0]);
  g_free (samples[1]);
}
GST_END_TEST;

GST_START_TEST (test_planar_equals_interleaved)
{
  static const gint channels[] = { 1, 2, 3, 8, 9, 64, 70 };
  GstAudioInfo info =
      tfx_check_info (__i__ & 1 ? GST_AUDIO_FORMAT_F64 : GST_AUDIO_FORMAT_F32,
          RATE, channels[__i__ / 2], GST_AUDIO_LAYOUT_NON_INTERLEAVED);
  g_autofree gdouble *in = tfx_check_noise (N * info.channels, 29);

  gst_buffer_unref (
      expect_filtered (&info, tfx_check_buffer (&info, in, N), in));
}
GST_END_TEST;

/* The bytes of a buffer, cut into memories at the given places. */
static GstBuffer *
cut_memory (GstBuffer *whole, const GstAudioInfo *info, const gsize *cuts,
    guint n_cuts)
{
  GstBuffer *buffer = gst_buffer_new ();
  gsize size = gst_buffer_get_size (whole), from = 0;

  for (guint i = 0; i <= n_cuts; i++) {
    gsize to = i < n_cuts ? cuts[i] : size;
    GstMemory *part = gst_allocator_alloc (NULL, to - from, NULL);
    GstMapInfo map;

    fail_unless (gst_memory_map (part, &map, GST_MAP_WRITE));
    gst_buffer_extract (whole, from, map.data, to - from);
    gst_memory_unmap (part, &map);
    gst_buffer_append_memory (buffer, part);
    from = to;
  }
  if (info->layout == GST_AUDIO_LAYOUT_NON_INTERLEAVED)
    gst_buffer_add_audio_meta (buffer, info, N, NULL);
  gst_buffer_unref (whole);
  return buffer;
}

/* A memory for each plane; planes across memories; frames across memories. */
GST_START_TEST (test_memories)
{
  static const gsize cuts[][2] = { { PLANE, 2 * PLANE },
    { PLANE, 2 * PLANE + 40 }, { PLANE - 8, 2 * PLANE + 4 }, { 4, 8 } };
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F32, RATE, 3,
      __i__ & 1 ? GST_AUDIO_LAYOUT_INTERLEAVED
                : GST_AUDIO_LAYOUT_NON_INTERLEAVED);
  g_autofree gdouble *in = tfx_check_noise (N * 3, 31);
  GstBuffer *buffer =
      cut_memory (tfx_check_buffer (&info, in, N), &info, cuts[__i__ / 2], 2);

  fail_unless_equals_int (gst_buffer_n_memory (buffer), 3);
  gst_buffer_unref (expect_filtered (&info, buffer, in));
}
GST_END_TEST;

/* Interleaved samples at an odd address. */
GST_START_TEST (test_unaligned)
{
  GstAudioInfo info =
      __i__ >= 8 ? tfx_check_f64 (RATE, 2) : tfx_check_f32 (RATE, 2);
  g_autofree gdouble *in = tfx_check_noise (N * 2, 37);
  g_autoptr (GstBuffer) plain = tfx_check_buffer (&info, in, N);
  GstBuffer *buffer;
  gsize size = gst_buffer_get_size (plain), shift = __i__ & 7;
  guint8 *bytes = g_malloc (size + 8);

  gst_buffer_extract (plain, 0, bytes + shift, size);
  buffer = gst_buffer_new_wrapped_full (0, bytes, size + 8, shift, size, bytes,
      g_free);
  gst_buffer_unref (expect_filtered (&info, buffer, in));
}
GST_END_TEST;

/* What others hold too is not written to: neither the buffer nor its memory. */
GST_START_TEST (test_shared)
{
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F32, RATE, 2,
      __i__ & 1 ? GST_AUDIO_LAYOUT_NON_INTERLEAVED
                : GST_AUDIO_LAYOUT_INTERLEAVED);
  g_autofree gdouble *in = tfx_check_noise (N * 2, 41), *kept = NULL;
  g_autoptr (GstBuffer) mine = tfx_check_buffer (&info, in, N);
  GstBuffer *theirs =
      __i__ & 2 ? gst_buffer_copy (mine) : gst_buffer_ref (mine);

  gst_buffer_unref (expect_filtered (&info, theirs, in));
  kept = tfx_check_samples (mine, &info, NULL);
  fail_unless_equals_float (tfx_check_distance (kept, in, N * 2), 0.0);
}
GST_END_TEST;

/* ---- what is refused ------------------------------------------------------------- */

static void
expect_refused (const GstAudioInfo *info, GstBuffer *buffer, const gchar *word)
{
  g_autoptr (TfxHarness) h = tfx_check_harness (LAUNCH, info);
  g_autoptr (GstBus) bus = tfx_check_bus (h);
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GError) error = NULL;

  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_ERROR);
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (
      g_error_matches (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT));
  fail_unless (strstr (error->message, word) != NULL, "no '%s' in '%s'", word,
      error->message);
}

/* What is wrong with a buffer of N frames of two channels. */
typedef enum
{
  FEWER_BYTES,
  HALF_A_FRAME,
  NO_META,
  FEWER_CHANNELS,
  MORE_FRAMES,
  FAR_OFFSET
} Fault;

static const struct
{
  GstAudioLayout layout;
  Fault fault;
  const gchar *words;
} broken[] = {
  { GST_AUDIO_LAYOUT_INTERLEAVED, FEWER_BYTES, "2397 bytes" },
  { GST_AUDIO_LAYOUT_INTERLEAVED, HALF_A_FRAME,
      "frames of 8 bytes (2 channels of F32LE)" },
  { GST_AUDIO_LAYOUT_NON_INTERLEAVED, NO_META, "no GstAudioMeta" },
  { GST_AUDIO_LAYOUT_NON_INTERLEAVED, FEWER_CHANNELS, "1 channels of F32" },
  { GST_AUDIO_LAYOUT_NON_INTERLEAVED, MORE_FRAMES,
      "301 frames outside of its 2400 bytes" },
  { GST_AUDIO_LAYOUT_NON_INTERLEAVED, FAR_OFFSET,
      "300 frames outside of its 2400 bytes" },
  { GST_AUDIO_LAYOUT_INTERLEAVED, MORE_FRAMES,
      "301 frames outside of its 2400 bytes" },
};

GST_START_TEST (test_broken)
{
  const gboolean is_planar = broken[__i__].layout;
  const Fault fault = broken[__i__].fault;
  GstAudioInfo info =
      tfx_check_info (GST_AUDIO_FORMAT_F32, RATE, 2, broken[__i__].layout);
  GstAudioInfo mono =
      tfx_check_info (GST_AUDIO_FORMAT_F32, RATE, 1, broken[__i__].layout);
  g_autofree gdouble *in = tfx_check_noise (N * 2, 47);
  GstBuffer *buffer =
      tfx_check_buffer (fault == FEWER_CHANNELS ? &mono : &info, in, N);
  GstAudioMeta *meta = gst_buffer_get_audio_meta (buffer);

  if (fault == FEWER_BYTES || fault == HALF_A_FRAME)
    gst_buffer_resize (buffer, 0, N * 8 - (fault == FEWER_BYTES ? 3 : 4));
  else if (fault == NO_META)
    gst_buffer_remove_meta (buffer, (GstMeta *)meta);
  else if (fault == FAR_OFFSET)
    meta->offsets[1] = G_MAXSIZE - 4;
  else if (fault == MORE_FRAMES && is_planar)
    meta->samples = N + 1;
  else if (fault == MORE_FRAMES)
    gst_buffer_add_audio_meta (buffer, &info, N + 1, NULL);
  expect_refused (&info, buffer, broken[__i__].words);
}
GST_END_TEST;

/* Clipping to the segment would hide the missing bytes. */
GST_START_TEST (test_broken_and_clipped)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  g_autoptr (TfxHarness) h = tfx_check_harness (LAUNCH, &info);
  g_autofree gdouble *in = tfx_check_noise (N * 2, 43);
  GstBuffer *buffer = tfx_check_stamped (&info, in, N, 0);

  tfx_check_push_segment (h, GST_MSECOND, GST_CLOCK_TIME_NONE, 0);
  gst_buffer_resize (buffer, 0, N * 8 - 3);
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_ERROR);
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("buffers");

  tcase_add_loop_test (tc, test_planes, 0, G_N_ELEMENTS (places));
  tcase_add_loop_test (tc, test_planes_fused, 0, G_N_ELEMENTS (places));
  tcase_add_test (tc, test_read_only);
  tcase_add_loop_test (tc, test_planar_equals_interleaved, 0, 14);
  tcase_add_loop_test (tc, test_memories, 0, 8);
  tcase_add_loop_test (tc, test_unaligned, 0, 16);
  tcase_add_loop_test (tc, test_shared, 0, 4);
  tcase_add_loop_test (tc, test_broken, 0, G_N_ELEMENTS (broken));
  tcase_add_test (tc, test_broken_and_clipped);
  return tfx_check_run (argc, argv, tc);
}
