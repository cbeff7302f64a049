/* SPDX-License-Identifier: LGPL-2.1-or-later
 * rows.c: elements in a row in the tests, and what comes out of them.
 */
#include "rows.h"

#include <math.h>
#include <string.h>

/* ---- the row -------------------------------------------------------------------- */

/* Puts a name behind the element, before the brackets that close a bin. */
static void
add_part (GString *line, const gchar *part, guint i)
{
  const gchar *end = part + strlen (part);

  while (end - part > 2 && !strncmp (end - 2, " )", 2))
    end -= 2;
  g_string_append_printf (line, "%s%.*s name=e%u%s", i ? " ! " : "",
      (int)(end - part), part, i, end);
}

void
tfx_rows_open (TfxRow *row, const gchar *launch, const GstAudioInfo *info,
    gboolean fuse)
{
  g_auto (GStrv) parts = g_strsplit (launch, " ! ", 0);
  g_autoptr (GString) line = g_string_new (NULL);

  row->n = g_strv_length (parts);
  row->guest = NULL;
  row->rate = info->rate;
  fail_unless (row->n <= G_N_ELEMENTS (row->elements));
  for (guint i = 0; i < row->n; i++)
    add_part (line, parts[i], i);
  row->h = gst_harness_new_parse (line->str);
  for (guint i = 0; i < row->n; i++) {
    g_autofree gchar *name = g_strdup_printf ("e%u", i);

    row->elements[i] =
        row->n > 1 ? gst_bin_get_by_name (GST_BIN (row->h->element), name)
                   : gst_object_ref (row->h->element);
    fail_unless (row->elements[i] != NULL, "no %s in %s", name, line->str);
    if (g_object_class_find_property (G_OBJECT_GET_CLASS (row->elements[i]),
            "fuse"))
      g_object_set (row->elements[i], "fuse", fuse, NULL);
  }
  tfx_check_set_info (row->h, info);
}

/* A pad with a probe, for a while. */
static GstPad *watched;
static gulong watching;

/* Nothing of what was done to it is left. */
static void
leave (TfxRow *row)
{
  if (watched)
    gst_pad_remove_probe (watched, watching);
  gst_clear_object (&watched);
  gst_clear_object (&row->guest);
}

void
tfx_rows_close (TfxRow *row)
{
  leave (row);
  for (guint i = 0; i < row->n; i++)
    gst_object_unref (row->elements[i]);
  gst_harness_teardown (row->h);
}

guint64
tfx_rows_stat (TfxRow *row, guint element, const gchar *field)
{
  return tfx_check_stat (row->elements[element], field);
}

/* Nanoseconds by which a row may miss the time of a frame. */
#define ROUNDING 8

/* ---- what comes out ---------------------------------------------------------------- */

static void
open_heard (TfxHeard *heard)
{
  *heard = (TfxHeard){ g_array_new (FALSE, FALSE, sizeof (gdouble)),
    g_array_new (FALSE, FALSE, sizeof (guint64)), 0, 0, TRUE, TRUE };
}

void
tfx_heard_close (TfxHeard *heard)
{
  g_array_unref (heard->samples);
  g_array_unref (heard->numbers);
}

const gdouble *
tfx_heard_samples (const TfxHeard *heard)
{
  return (const gdouble *)(gpointer)heard->samples->data;
}

static void
take (TfxHeard *heard, GstHarness *h, const GstAudioInfo *info)
{
  GstBuffer *buffer;

  while ((buffer = gst_harness_try_pull (h))) {
    gsize n;
    g_autofree gdouble *x = tfx_check_samples (buffer, info, &n);
    guint64 number = GST_BUFFER_OFFSET (buffer);
    GstClockTime from = gst_util_uint64_scale (number, GST_SECOND, info->rate);
    GstClockTime to =
        gst_util_uint64_scale (number + n, GST_SECOND, info->rate);

    if (ABS (GST_CLOCK_DIFF (GST_BUFFER_PTS (buffer), from)) > ROUNDING ||
        ABS (GST_CLOCK_DIFF (GST_BUFFER_DURATION (buffer), to - from)) >
            ROUNDING)
      heard->stamped = FALSE;
    if (GST_BUFFER_PTS (buffer) != from ||
        GST_BUFFER_DURATION (buffer) != to - from || number != heard->n_frames)
      heard->contiguous = FALSE;
    for (gsize i = 0; i < n; i++, number++)
      g_array_append_val (heard->numbers, number);
    g_array_append_vals (heard->samples, x, n * info->channels);
    heard->n_frames += n;
    heard->n_buffers++;
    gst_buffer_unref (buffer);
  }
}

void
tfx_heard_expect_same (const TfxHeard *a, const TfxHeard *b, gboolean loses)
{
  const guint64 *x = (const guint64 *)(gpointer)a->numbers->data;
  const guint64 *y = (const guint64 *)(gpointer)b->numbers->data;
  const gsize n = a->numbers->len;

  fail_unless_equals_uint64 (a->n_frames, b->n_frames);
  fail_unless (a->stamped && b->stamped);
  fail_unless_equals_uint64 (x[0], y[0]);
  fail_unless_equals_uint64 (x[n - 1], y[n - 1]);
  /* Check writes each condition that it is asked for to a file. */
  for (gsize i = 1; i < n; i++) {
    if (loses ? x[i] <= x[i - 1] : x[i] != y[i])
      fail ("frame %" G_GUINT64_FORMAT " comes behind frame %" G_GUINT64_FORMAT,
          x[i], x[i - 1]);
  }
}

/* Buffer k of a random split that is the same for the same seed. */
static gsize
next_size (GRand *rand, gsize left)
{
  gsize n = g_rand_int_range (rand, 1, 1500);

  return MIN (n, left);
}

void
tfx_rows_play (TfxRow *row, const GstAudioInfo *info, const gdouble *in,
    gsize n_frames, guint seed, TfxMeddle meddle, TfxMeddle toggle,
    TfxHeard *heard)
{
  g_autoptr (GRand) sizes = g_rand_new_with_seed (seed);
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed + 1);
  g_autoptr (GRand) other = g_rand_new_with_seed (seed + 2);

  open_heard (heard);
  for (gsize done = 0, n; done < n_frames; done += n) {
    n = next_size (sizes, n_frames - done);
    if (meddle)
      meddle (row, done, rand);
    if (toggle)
      toggle (row, done, other);
    fail_unless_equals_int (gst_harness_push (row->h,
                                tfx_check_stamped (info,
                                    in + done * info->channels, n, done)),
        GST_FLOW_OK);
    take (heard, row->h, info);
  }
  gst_harness_push_event (row->h, gst_event_new_eos ());
  take (heard, row->h, info);
}

/* ---- two rows ------------------------------------------------------------------ */

void
tfx_pair_play (TfxPair *pair, const gchar *launch, const GstAudioInfo *info,
    const gdouble *in, gsize n_frames, guint seed, TfxMeddle meddle,
    TfxMeddle toggle)
{
  for (guint k = 0; k < 2; k++) {
    tfx_rows_open (&pair->rows[k], launch, info, k == 1);
    tfx_rows_play (&pair->rows[k], info, in, n_frames, seed, meddle,
        k == 1 ? toggle : NULL, &pair->heard[k]);
    /* Probes and guests are of one row. */
    leave (&pair->rows[k]);
  }
}

void
tfx_pair_close (TfxPair *pair)
{
  for (guint k = 0; k < 2; k++) {
    tfx_rows_close (&pair->rows[k]);
    tfx_heard_close (&pair->heard[k]);
  }
}

gdouble
tfx_pair_distance (const TfxPair *pair)
{
  const TfxHeard *a = &pair->heard[0], *b = &pair->heard[1];

  fail_unless_equals_uint64 (a->n_frames, b->n_frames);
  fail_unless (a->contiguous && b->contiguous);
  return tfx_check_distance (tfx_heard_samples (a), tfx_heard_samples (b),
      a->samples->len);
}

gdouble
tfx_pair_error_db (const TfxPair *pair, const gdouble *in)
{
  const gdouble *x = tfx_heard_samples (&pair->heard[1]);
  const gdouble *y = tfx_heard_samples (&pair->heard[0]);
  gdouble error = 0.0, power = 0.0, in_power = 0.0;

  for (guint i = 0; i < pair->heard[1].samples->len; i++) {
    error += (x[i] - y[i]) * (x[i] - y[i]);
    power += y[i] * y[i];
    in_power += in[i] * in[i];
  }
  return error == 0.0 ? -400.0 : 10.0 * log10 (error / MAX (power, in_power));
}

gdouble
tfx_rows_bound_db (const GstAudioInfo *info, gboolean has_fft,
    gboolean has_firs)
{
  if (GST_AUDIO_INFO_WIDTH (info) == 64)
    return has_fft || tfx_cpu_backend () == tfx_cpu_backend_for ("c") ? -240.0
                                                                      : -250.0;
  return has_fft ? -128.0 : has_firs ? -134.0 : -140.0;
}

gdouble
tfx_rows_draw (GRand *rand, gdouble low, gdouble high)
{
  return low * pow (high / low, g_rand_double (rand));
}

GstAudioInfo
tfx_rows_draw_info (GRand *rand)
{
  static const gint rates[] = { 8000, 44100, 48000, 96000, 192000 };
  static const gint channels[] = { 1, 2, 3, 4, 6, 8 };

  return tfx_check_info (g_rand_boolean (rand) ? GST_AUDIO_FORMAT_F64
                                               : GST_AUDIO_FORMAT_F32,
      rates[g_rand_int_range (rand, 0, G_N_ELEMENTS (rates))],
      channels[g_rand_int_range (rand, 0, G_N_ELEMENTS (channels))],
      g_rand_boolean (rand) ? GST_AUDIO_LAYOUT_NON_INTERLEAVED
                            : GST_AUDIO_LAYOUT_INTERLEAVED);
}

/* ---- meddlers ------------------------------------------------------------- */

void
tfx_rows_interrupt (TfxRow *row, guint64 frame, GRand *rand)
{
  switch (g_rand_int_range (rand, 0, 10)) {
    case 0:
      tfx_check_flush (row->h);
      break;
    case 1:
      gst_harness_push_event (row->h,
          gst_event_new_gap (gst_util_uint64_scale (frame, GST_SECOND,
                                 row->rate),
              0));
      break;
    case 2:
      tfx_check_push_segment (row->h, 0, GST_CLOCK_TIME_NONE, frame);
      break;
    default:
      break;
  }
}

void
tfx_rows_toggle_fuse (TfxRow *row, guint64 frame, GRand *rand)
{
  if (g_rand_int_range (rand, 0, 3) == 0)
    g_object_set (row->elements[g_rand_int_range (rand, 0, row->n)], "fuse",
        g_rand_boolean (rand), NULL);
}

void
tfx_rows_toggle_device (TfxRow *row, guint64 frame, GRand *rand)
{
  if (g_rand_int_range (rand, 0, 3) == 0)
    g_object_set (row->elements[g_rand_int_range (rand, 0, row->n)], "device",
        g_rand_boolean (rand) ? 0 : 1, NULL);
}

static GstPadProbeReturn
look_on (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  return GST_PAD_PROBE_OK;
}

void
tfx_rows_toggle_probe (TfxRow *row, guint64 frame, GRand *rand)
{
  if (g_rand_int_range (rand, 0, 3) > 0)
    return;
  if (watched) {
    gst_pad_remove_probe (watched, watching);
    gst_clear_object (&watched);
    return;
  }
  watched = gst_element_get_static_pad (row->elements[g_rand_int_range (rand, 0,
                                            row->n)],
      g_rand_boolean (rand) ? "src" : "sink");
  watching = gst_pad_add_probe (watched, GST_PAD_PROBE_TYPE_BUFFER, look_on,
      NULL, NULL);
}
