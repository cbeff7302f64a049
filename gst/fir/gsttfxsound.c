/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxsound.c: impulse responses in sound files.
 */
#include "gsttfxsound.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <gst/audio/audio.h>
#include <gst/gst.h>
#include <math.h>
#include <sndfile.h>
#include <unistd.h>

#include "tfx.h"

/* Frames that are read at a time. */
#define CHUNK_FRAMES 4096

/* No impulse response is made for a rate this much higher or lower than that
 * of the stream; the resampler's filter would get very long. */
#define MAX_RATE_RATIO 256

/* What a resampler of this quality leaves in its stop band (-120 dB) is no
 * part of the impulse response. */
#define RESAMPLER_QUALITY 10
#define NEGLIGIBLE 1e-6

/* An error that says which file and why. */
static void G_GNUC_PRINTF (4, 5) gst_tfx_sound_set_error (GError **error,
    gint code, const gchar *path, const gchar *format, ...)
{
  gchar *name = g_filename_display_name (path), *why;
  va_list args;

  va_start (args, format);
  why = g_strdup_vprintf (format, args);
  va_end (args);
  /* The text goes on, so its last stop goes. */
  if (g_str_has_suffix (why, "."))
    why[strlen (why) - 1] = '\0';
  g_set_error (error, GST_RESOURCE_ERROR, code,
      "the impulse response of kernel-location=%s cannot be used: %s", name,
      why);
  g_free (why);
  g_free (name);
}

static GstTfxSound *
gst_tfx_sound_new (guint rate, guint n_channels, gsize n_frames)
{
  GstTfxSound *self = g_atomic_rc_box_new0 (GstTfxSound);

  self->rate = rate;
  self->n_channels = n_channels;
  self->n_frames = n_frames;
  self->samples = g_try_new (gdouble, n_channels * n_frames);
  if (!self->samples) {
    gst_tfx_sound_unref (self);
    return NULL;
  }
  return self;
}

static void
gst_tfx_sound_clear (gpointer data)
{
  g_free (((GstTfxSound *)data)->samples);
}

GstTfxSound *
gst_tfx_sound_ref (GstTfxSound *self)
{
  return g_atomic_rc_box_acquire (self);
}

void
gst_tfx_sound_unref (GstTfxSound *self)
{
  g_atomic_rc_box_release_full (self, gst_tfx_sound_clear);
}

/* ---- reading ---------------------------------------------------------------- */

/* Opening a pipe or a device would wait for ever. */
static gboolean
gst_tfx_sound_is_file (const gchar *path, GError **error)
{
  GStatBuf status;

  if (g_stat (path, &status) != 0) {
    gst_tfx_sound_set_error (error,
        errno == ENOENT ? GST_RESOURCE_ERROR_NOT_FOUND
                        : GST_RESOURCE_ERROR_OPEN_READ,
        path, "%s", g_strerror (errno));
    return FALSE;
  }
  if (!S_ISREG (status.st_mode)) {
    gst_tfx_sound_set_error (error, GST_RESOURCE_ERROR_OPEN_READ, path,
        S_ISDIR (status.st_mode) ? "it is a folder" : "it is not a file");
    return FALSE;
  }
  if (g_access (path, R_OK) != 0) {
    gst_tfx_sound_set_error (error, GST_RESOURCE_ERROR_OPEN_READ, path, "%s",
        g_strerror (errno));
    return FALSE;
  }
  return TRUE;
}

gboolean
gst_tfx_sound_fits (guint n_has, guint n_channels, const gchar *path,
    GError **error)
{
  if (n_has == 1 || n_has == n_channels)
    return TRUE;
  gst_tfx_sound_set_error (error, GST_RESOURCE_ERROR_READ, path,
      "it has %u channels and the stream has %u; one would do for all of "
      "them, or %u",
      n_has, n_channels, n_channels);
  return FALSE;
}

/* What the header tells must make sense before room is made for it. */
static gboolean
gst_tfx_sound_check_header (const SF_INFO *info, const gchar *path,
    guint n_channels, GError **error)
{
  if (info->samplerate < 1) {
    gst_tfx_sound_set_error (error, GST_RESOURCE_ERROR_READ, path,
        "its rate is %d Hz", info->samplerate);
    return FALSE;
  }
  if (info->frames < 1) {
    gst_tfx_sound_set_error (error, GST_RESOURCE_ERROR_READ, path,
        "there are no samples in it");
    return FALSE;
  }
  if (info->frames > TFX_FIR_MAX_TAPS) {
    gst_tfx_sound_set_error (error, GST_RESOURCE_ERROR_READ, path,
        "it is %" G_GINT64_FORMAT " frames long, and %u is the most",
        (gint64)info->frames, TFX_FIR_MAX_TAPS);
    return FALSE;
  }
  return gst_tfx_sound_fits (info->channels, n_channels, path, error);
}

/* Reads all frames and sorts them by channel; returns how many there were. */
static gsize
gst_tfx_sound_read_frames (GstTfxSound *self, SNDFILE *file)
{
  const guint n_channels = self->n_channels;
  gdouble *chunk = g_new (gdouble, CHUNK_FRAMES * n_channels);
  gsize done = 0;

  while (done < self->n_frames) {
    sf_count_t n = sf_readf_double (file, chunk,
        MIN (CHUNK_FRAMES, self->n_frames - done));

    if (n <= 0)
      break;
    for (gsize i = 0; i < (gsize)n; i++) {
      for (guint c = 0; c < n_channels; c++)
        self->samples[c * self->n_frames + done + i] =
            chunk[i * n_channels + c];
    }
    done += n;
  }
  g_free (chunk);
  return done;
}

static gboolean
gst_tfx_sound_check_samples (const GstTfxSound *self, const gchar *path,
    GError **error)
{
  gboolean silent = TRUE;

  for (gsize i = 0; i < self->n_channels * self->n_frames; i++) {
    if (!(fabs (self->samples[i]) <= GST_TFX_SOUND_MAX)) {
      gst_tfx_sound_set_error (error, GST_RESOURCE_ERROR_READ, path,
          "its frame %" G_GSIZE_FORMAT " holds %g in channel %" G_GSIZE_FORMAT,
          i % self->n_frames, self->samples[i], i / self->n_frames);
      return FALSE;
    }
    silent = silent && self->samples[i] == 0.0;
  }
  if (silent)
    gst_tfx_sound_set_error (error, GST_RESOURCE_ERROR_READ, path,
        "there is nothing but silence in it");
  return !silent;
}

static GstTfxSound *
gst_tfx_sound_load (SNDFILE *file, const SF_INFO *info, const gchar *path,
    GError **error)
{
  GstTfxSound *self =
      gst_tfx_sound_new (info->samplerate, info->channels, info->frames);
  gsize n_read;

  if (!self) {
    gst_tfx_sound_set_error (error, GST_RESOURCE_ERROR_NO_SPACE_LEFT, path,
        "no memory for %" G_GINT64_FORMAT " frames", (gint64)info->frames);
    return NULL;
  }
  n_read = gst_tfx_sound_read_frames (self, file);
  if (n_read < self->n_frames) {
    gst_tfx_sound_set_error (error, GST_RESOURCE_ERROR_READ, path,
        "it breaks off after %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT " frames",
        n_read, self->n_frames);
    gst_tfx_sound_unref (self);
    return NULL;
  }
  if (!gst_tfx_sound_check_samples (self, path, error)) {
    gst_tfx_sound_unref (self);
    return NULL;
  }
  return self;
}

GstTfxSound *
gst_tfx_sound_read (const gchar *path, guint n_channels, GError **error)
{
  SF_INFO info = { 0 };
  GstTfxSound *self = NULL;
  SNDFILE *file;

  if (!gst_tfx_sound_is_file (path, error))
    return NULL;
  file = sf_open (path, SFM_READ, &info);
  if (!file) {
    gst_tfx_sound_set_error (error, GST_RESOURCE_ERROR_OPEN_READ, path,
        "it is no sound file that can be read: %s", sf_strerror (NULL));
    return NULL;
  }
  if (gst_tfx_sound_check_header (&info, path, n_channels, error))
    self = gst_tfx_sound_load (file, &info, path, error);
  sf_close (file);
  return self;
}

/* ---- resampling -------------------------------------------------------------- */

static GstAudioResampler *
gst_tfx_sound_new_resampler (guint from, guint to)
{
  GstStructure *options = gst_structure_new_empty ("options");
  GstAudioResampler *resampler;

  gst_audio_resampler_options_set_quality (GST_AUDIO_RESAMPLER_METHOD_KAISER,
      RESAMPLER_QUALITY, from, to, options);
  resampler = gst_audio_resampler_new (GST_AUDIO_RESAMPLER_METHOD_KAISER,
      GST_AUDIO_RESAMPLER_FLAG_NONE, GST_AUDIO_FORMAT_F64, 1, from, to,
      options);
  gst_structure_free (options);
  return resampler;
}

static guint
greatest_divisor (guint a, guint b)
{
  while (b != 0) {
    guint rest = a % b;

    a = b;
    b = rest;
  }
  return a;
}

/* One channel, with silence before and behind it. */
typedef struct
{
  gsize n_before, n_behind; /* frames of input */
  gsize n_in, n_out;        /* frames in all */
  gsize out_before;         /* of output: n_before, exactly */
  gdouble *in, *out;
} Passage;

/* The resampler looks ahead and behind by its latency.  Its first output lies
 * where its first input does, so there is no delay to be taken out (but for
 * 1/32 of a frame of the lower rate that GStreamer's has always). */
static gboolean
gst_tfx_sound_init_passage (Passage *p, GstAudioResampler *resampler,
    const GstTfxSound *self, guint rate)
{
  gsize latency = gst_audio_resampler_get_max_latency (resampler);
  guint divisor = greatest_divisor (self->rate, rate);
  gsize period = self->rate / divisor;
  gsize n_periods = (latency + period - 1) / period;

  p->n_before = n_periods * period;
  p->out_before = n_periods * (rate / divisor);
  p->n_behind = 2 * latency;
  p->n_in = p->n_before + self->n_frames + p->n_behind;
  p->n_out = gst_audio_resampler_get_out_frames (resampler, p->n_in);
  p->in = g_try_new0 (gdouble, p->n_in);
  p->out = g_try_new0 (gdouble, MAX (p->n_out, 1));
  return p->in && p->out;
}

static void
gst_tfx_sound_clear_passage (Passage *p)
{
  g_free (p->in);
  g_free (p->out);
}

/* A filter's sum over samples is an integral: more samples in a second, less
 * of each. */
static void
gst_tfx_sound_run_passage (Passage *p, GstAudioResampler *resampler,
    const GstTfxSound *self, guint channel, guint rate)
{
  gpointer in = p->in, out = p->out;
  gdouble scale = (gdouble)self->rate / rate;

  memcpy (p->in + p->n_before, self->samples + channel * self->n_frames,
      self->n_frames * sizeof (gdouble));
  gst_audio_resampler_reset (resampler);
  gst_audio_resampler_resample (resampler, &in, p->n_in, &out, p->n_out);
  for (gsize i = 0; i < p->n_out; i++)
    p->out[i] *= scale;
}

/* The frames that count: from the first to the last that is not negligible,
 * but the beginning of the input at the latest and its end at the earliest. */
static GstTfxSound *
gst_tfx_sound_trim (const GstTfxSound *all, gsize beginning, gsize end,
    gsize *n_lead)
{
  const gsize n = all->n_frames;
  gsize first = MIN (beginning, n - 1), last = CLAMP (end, first + 1, n);
  gdouble peak = 0.0;
  GstTfxSound *self;

  for (gsize i = 0; i < all->n_channels * n; i++)
    peak = MAX (peak, fabs (all->samples[i]));
  for (guint c = 0; c < all->n_channels; c++) {
    const gdouble *x = all->samples + c * n;
    gsize i = 0;

    while (i < first && fabs (x[i]) <= NEGLIGIBLE * peak)
      i++;
    first = i;
    for (i = n; i > last && fabs (x[i - 1]) <= NEGLIGIBLE * peak;)
      i--;
    last = i;
  }

  self = gst_tfx_sound_new (all->rate, all->n_channels, last - first);
  for (guint c = 0; self && c < all->n_channels; c++)
    memcpy (self->samples + c * self->n_frames, all->samples + c * n + first,
        self->n_frames * sizeof (gdouble));
  *n_lead = MIN (beginning, n - 1) - first;
  return self;
}

static GstTfxSound *
gst_tfx_sound_resample_all (const GstTfxSound *self,
    GstAudioResampler *resampler, guint rate, gsize *n_lead)
{
  GstTfxSound *all = NULL, *trimmed = NULL;
  Passage p = { 0 };

  if (gst_tfx_sound_init_passage (&p, resampler, self, rate) && p.n_out > 0)
    all = gst_tfx_sound_new (rate, self->n_channels, p.n_out);
  for (guint c = 0; all && c < self->n_channels; c++) {
    gst_tfx_sound_run_passage (&p, resampler, self, c, rate);
    memcpy (all->samples + c * p.n_out, p.out, p.n_out * sizeof (gdouble));
  }
  gst_tfx_sound_clear_passage (&p);
  if (all) {
    gsize length =
        gst_util_uint64_scale_ceil (self->n_frames, rate, self->rate);

    trimmed =
        gst_tfx_sound_trim (all, p.out_before, p.out_before + length, n_lead);
    gst_tfx_sound_unref (all);
  }
  return trimmed;
}

GstTfxSound *
gst_tfx_sound_resample (const GstTfxSound *self, guint rate, const gchar *path,
    gsize *n_lead, GError **error)
{
  GstTfxSound *other = NULL;
  GstAudioResampler *resampler;

  if (self->rate / MAX_RATE_RATIO > rate ||
      rate / MAX_RATE_RATIO > self->rate) {
    gst_tfx_sound_set_error (error, GST_RESOURCE_ERROR_READ, path,
        "its rate is %u Hz, too far from the %u Hz of the stream", self->rate,
        rate);
    return NULL;
  }
  if ((gdouble)self->n_frames * rate / self->rate > TFX_FIR_MAX_TAPS) {
    gst_tfx_sound_set_error (error, GST_RESOURCE_ERROR_READ, path,
        "its %" G_GSIZE_FORMAT " frames at %u Hz become more than %u at the %u "
        "Hz of the stream",
        self->n_frames, self->rate, TFX_FIR_MAX_TAPS, rate);
    return NULL;
  }

  resampler = gst_tfx_sound_new_resampler (self->rate, rate);
  if (resampler) {
    other = gst_tfx_sound_resample_all (self, resampler, rate, n_lead);
    gst_audio_resampler_free (resampler);
  }
  if (!other)
    gst_tfx_sound_set_error (error, GST_RESOURCE_ERROR_NO_SPACE_LEFT, path,
        "no memory to bring it from %u to %u Hz", self->rate, rate);
  return other;
}
