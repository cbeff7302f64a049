/* SPDX-License-Identifier: LGPL-2.1-or-later
 * firs.c: FIR filters in the tests: what should come out of them, and what
 * does.
 */
#include "firs.h"

#include <math.h>
#include <string.h>

/* ---- what should come out ------------------------------------------------- */

gdouble *
tfx_firs_convolve (const gdouble *taps, guint n_kernels, gsize n_taps,
    gsize delay, const gdouble *in, gsize n_frames, gint n_channels)
{
  gdouble *out = g_new (gdouble, n_frames * n_channels + 1);
  g_autofree gdouble *x = g_new (gdouble, n_frames + 1);

  for (gint c = 0; c < n_channels; c++) {
    const gdouble *h = taps + (n_kernels == 1 ? 0 : c) * n_taps;

    for (gsize i = 0; i < n_frames; i++)
      x[i] = in[i * n_channels + c];
    for (gsize i = 0; i < n_frames; i++) {
      /* h[k] meets x[i + delay - k]. */
      gsize first = i + delay >= n_frames ? i + delay - (n_frames - 1) : 0;
      gsize last = MIN (i + delay, n_taps - 1);
      gdouble sum = 0.0;

      for (gsize k = first; k <= last; k++)
        sum += h[k] * x[i + delay - k];
      out[i * n_channels + c] = sum;
    }
  }
  return out;
}

gdouble *
tfx_firs_design (TfxMode mode, TfxWindow window, gsize n_taps, gdouble lower_hz,
    gdouble upper_hz, gdouble rate)
{
  const TfxFirDesign design = { .mode = mode,
    .window = window,
    .beta = 8.6,
    .n_taps = n_taps,
    .lower_hz = lower_hz,
    .upper_hz = upper_hz };
  gdouble *taps = g_new (gdouble, n_taps);

  fail_unless_equals_int (tfx_fir_design (&design, rate, taps), 0);
  return taps;
}

gdouble *
tfx_firs_plain (gsize n_taps, const gdouble *in, gsize n_frames,
    const GstAudioInfo *info)
{
  g_autofree gdouble *taps = tfx_firs_design (TFX_MODE_LOW_PASS,
      TFX_WINDOW_HAMMING, n_taps, 1000.0, 0.0, info->rate);

  return tfx_firs_convolve (taps, 1, n_taps, (n_taps - 1) / 2, in, n_frames,
      info->channels);
}

gdouble *
tfx_firs_room (gsize n_taps, guint seed)
{
  gdouble *taps = tfx_check_noise (n_taps, seed);
  gdouble power = 0.0;

  for (gsize i = 0; i < n_taps; i++) {
    taps[i] *= exp (-5.0 * i / n_taps);
    power += taps[i] * taps[i];
  }
  /* To float32, as a file holds them. */
  for (gsize i = 0; i < n_taps; i++)
    taps[i] = (gfloat)(taps[i] / sqrt (power));
  return taps;
}

gdouble
tfx_firs_error_db (const gdouble *a, const gdouble *b, gsize n)
{
  gdouble error = 0.0, power = 0.0;

  for (gsize i = 0; i < n; i++) {
    error += (a[i] - b[i]) * (a[i] - b[i]);
    power += b[i] * b[i];
  }
  return error == 0.0 ? -400.0 : 10.0 * log10 (error / power);
}

/* ---- what comes out -------------------------------------------------------- */

void
tfx_firs_forget (TfxCatch *self)
{
  g_array_set_size (self->samples, 0);
  self->n_frames = self->n_buffers = 0;
  self->n_jumps = 0;
  self->discont = FALSE;
  self->first_pts = self->next_pts = GST_CLOCK_TIME_NONE;
  self->first_offset = self->next_offset = GST_BUFFER_OFFSET_NONE;
}

TfxCatch *
tfx_firs_catch_new (void)
{
  TfxCatch *self = g_new0 (TfxCatch, 1);

  self->samples = g_array_new (FALSE, FALSE, sizeof (gdouble));
  tfx_firs_forget (self);
  return self;
}

void
tfx_firs_catch_free (TfxCatch *self)
{
  g_array_unref (self->samples);
  g_free (self);
}

const gdouble *
tfx_firs_samples (const TfxCatch *self)
{
  return (const gdouble *)(gpointer)self->samples->data;
}

void
tfx_firs_take (TfxCatch *self, GstBuffer *buffer, const GstAudioInfo *info)
{
  GstClockTime pts = GST_BUFFER_PTS (buffer);
  guint64 offset = GST_BUFFER_OFFSET (buffer);
  gsize n;
  g_autofree gdouble *samples = tfx_check_samples (buffer, info, &n);

  fail_unless (n > 0, "an empty buffer");
  if (GST_CLOCK_TIME_IS_VALID (pts)) {
    GstClockTime exact = gst_util_uint64_scale (n, GST_SECOND, info->rate);
    GstClockTime duration = GST_BUFFER_DURATION (buffer);

    fail_unless (duration >= exact && duration <= exact + 1,
        "%u frames of %" G_GUINT64_FORMAT " ns, not %" G_GUINT64_FORMAT,
        (guint)n, duration, exact);
  } else {
    fail_if (GST_BUFFER_DURATION_IS_VALID (buffer));
  }
  if (offset != GST_BUFFER_OFFSET_NONE)
    fail_unless_equals_uint64 (GST_BUFFER_OFFSET_END (buffer), offset + n);

  if (self->n_buffers == 0) {
    self->first_pts = pts;
    self->first_offset = offset;
    self->discont = GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  } else if (pts != self->next_pts || offset != self->next_offset) {
    self->n_jumps++;
  }
  if (GST_CLOCK_TIME_IS_VALID (pts))
    self->next_pts = pts + GST_BUFFER_DURATION (buffer);
  if (offset != GST_BUFFER_OFFSET_NONE)
    self->next_offset = offset + n;
  self->n_buffers++;
  self->n_frames += n;
  self->n_channels = info->channels;
  g_array_append_vals (self->samples, samples, n * info->channels);
  gst_buffer_unref (buffer);
}

void
tfx_firs_collect_until (TfxCatch *self, GstHarness *h, const GstAudioInfo *info,
    gsize n)
{
  GstBuffer *buffer;

  while (self->n_frames < n && (buffer = gst_harness_try_pull (h)))
    tfx_firs_take (self, buffer, info);
}

void
tfx_firs_collect (TfxCatch *self, GstHarness *h, const GstAudioInfo *info)
{
  tfx_firs_collect_until (self, h, info, G_MAXSIZE);
}

void
tfx_firs_finish (TfxCatch *self, GstHarness *h, const GstAudioInfo *info)
{
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  tfx_firs_collect (self, h, info);
}

void
tfx_firs_push (GstHarness *h, const GstAudioInfo *info, const gdouble *in,
    gsize n, guint64 from, gsize most)
{
  for (gsize done = 0, part; done < n; done += part) {
    part = MIN (most ? most : 1 + done * 7919 % 700, n - done);
    fail_unless_equals_int (gst_harness_push (h, tfx_check_stamped (info,
                                                     in + done * info->channels,
                                                     part, from + done)),
        GST_FLOW_OK);
  }
}

void
tfx_firs_end (GstHarness *h)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_segment_done (GST_FORMAT_TIME, 0));
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  gst_harness_push_event (h, gst_event_new_segment (&segment));
}

TfxCatch *
tfx_firs_play (const gchar *launch, const GstAudioInfo *info, const gdouble *in,
    gsize n, guint64 from, gsize most)
{
  TfxCatch *caught = tfx_firs_catch_new ();
  g_autoptr (TfxHarness) h = tfx_check_harness (launch, info);

  tfx_firs_push (h, info, in, n, from, most);
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  tfx_firs_collect (caught, h, info);
  return caught;
}

void
tfx_firs_expect_whole (const TfxCatch *self, gsize n, guint64 from, gint rate)
{
  fail_unless_equals_uint64 (self->n_frames, n);
  fail_unless_equals_int (self->n_jumps, 0);
  if (n == 0)
    return;
  fail_unless_equals_uint64 (self->first_pts,
      gst_util_uint64_scale (from, GST_SECOND, rate));
  fail_unless_equals_uint64 (self->first_offset, from);
  fail_unless_equals_uint64 (self->next_offset, from + n);
}

void
tfx_firs_expect_db (const TfxCatch *self, const gdouble *expected,
    gdouble limit_db, const gchar *what)
{
  gdouble db =
      tfx_firs_error_db (tfx_firs_samples (self), expected, self->samples->len);

  fail_unless (db <= limit_db, "%s: %.1f dB", what, db);
}

void
tfx_firs_expect_near (const TfxCatch *self, const gdouble *expected,
    gdouble distance, const gchar *what)
{
  gdouble off = tfx_check_distance (tfx_firs_samples (self), expected,
      self->samples->len);

  fail_unless (off < distance, "%s: off by %g", what, off);
}

/* ---- kernels ----------------------------------------------------------------- */

void
tfx_firs_set_kernel (GstElement *element, const gdouble *taps, gsize n)
{
  g_auto (GValue) array = G_VALUE_INIT, item = G_VALUE_INIT;

  g_value_init (&array, GST_TYPE_ARRAY);
  g_value_init (&item, G_TYPE_DOUBLE);
  for (gsize i = 0; i < n; i++) {
    g_value_set_double (&item, taps[i]);
    gst_value_array_append_value (&array, &item);
  }
  g_object_set_property (G_OBJECT (element), "kernel", &array);
}

gchar *
tfx_firs_write_sound (const gchar *name, gint format, const gdouble *samples,
    gsize n_frames, guint n_channels, guint rate)
{
  SF_INFO info = { .samplerate = rate,
    .channels = n_channels,
    .format = format };
  gchar *path = tfx_check_path (name);
  SNDFILE *file = sf_open (path, SFM_WRITE, &info);

  fail_unless (file != NULL, "%s", sf_strerror (NULL));
  fail_unless_equals_int (sf_writef_double (file, samples, n_frames), n_frames);
  sf_close (file);
  return path;
}
