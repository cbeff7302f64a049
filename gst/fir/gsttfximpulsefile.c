/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfximpulsefile.c: impulse responses in files.
 */
#include "gsttfximpulsefile.h"

#include <dlfcn.h>
#include <gst/audio/audio.h>
#include <gst/gst.h>
#include <math.h>
#include <sndfile.h>
#include <string.h>
#include <unistd.h>

#include "gsttfxbytes.h"
#include "gsttfxcut.h"
#include "gsttfximpulsetext.h"

/* Frames per read. */
#define CHUNK_FRAMES 4096

/* Largest ratio of the two rates; beyond, the resampler's filter would get very
 * long. */
#define MAX_RATE_RATIO 256

/* Limits for a file: samples of all channels, at its own rate and at the stream's
 * (1 GiB each as doubles), and the common period of both rates in frames, which is the
 * shortest silence that can be resampled before the sound. */
#define MAX_SAMPLES (1 << 27)
#define MAX_PERIOD (1 << 20)

/* Frames below the stop band of a resampler of this quality (-120 dB) are not part of the
 * impulse response. */
#define RESAMPLER_QUALITY 10
#define NEGLIGIBLE 1e-6

/* Sets an error with the file's name and the reason; returns FALSE. */
static gboolean G_GNUC_PRINTF (4, 5) gst_tfx_impulse_file_fail (GError **error,
    gint code, const gchar *path, const gchar *format, ...)
{
  gchar *name = gst_tfx_bytes_show (path), *why, *valid;
  va_list args;

  va_start (args, format);
  why = g_strdup_vprintf (format, args);
  va_end (args);
  /* A message continues after the error, so it must not end with a full stop. */
  if (g_str_has_suffix (why, "."))
    why[strlen (why) - 1] = '\0';
  /* The reason may quote the file. */
  valid = gst_tfx_bytes_escape (why);
  g_set_error (error, GST_RESOURCE_ERROR, code,
      "the impulse response in '%s' cannot be used: %s", name, valid);
  g_free (valid);
  g_free (why);
  g_free (name);
  return FALSE;
}

/* ---- libsndfile ------------------------------------------------------------- */

#define LIBRARY "libsndfile.so.1"

/* Loaded when the first file is read, since it needs nine libraries that most pipelines
 * do not use.  It is never unloaded; neither is the plugin. */
static struct
{
  SNDFILE *(*open_fd) (int fd, int mode, SF_INFO *info, int close_fd);
  sf_count_t (*readf_double) (SNDFILE *file, double *to, sf_count_t n_frames);
  const char *(*strerror) (SNDFILE *file);
  int (*close) (SNDFILE *file);
} sndfile;

/* Returns NULL, or the reason why the library cannot be loaded, which is static. */
static const gchar *
gst_tfx_impulse_file_load_sndfile (void)
{
  static gsize is_done;
  static gchar *fault;

  if (g_once_init_enter (&is_done)) {
    void *handle = dlopen (LIBRARY, RTLD_NOW | RTLD_LOCAL);

    if (handle) {
      /* ISO C has no other way from an address to a function. */
      *(void **)&sndfile.open_fd = dlsym (handle, "sf_open_fd");
      *(void **)&sndfile.readf_double = dlsym (handle, "sf_readf_double");
      *(void **)&sndfile.strerror = dlsym (handle, "sf_strerror");
      *(void **)&sndfile.close = dlsym (handle, "sf_close");
    }
    if (!handle || !sndfile.open_fd || !sndfile.readf_double ||
        !sndfile.strerror || !sndfile.close) {
      /* A later success of dlsym() clears the error of an earlier one. */
      const gchar *why = dlerror ();

      fault = g_strdup (why ? why : "a function is missing in " LIBRARY);
    }
    g_once_init_leave (&is_done, 1);
  }
  return fault;
}

/* ---- reading ---------------------------------------------------------------- */

static gboolean
gst_tfx_impulse_file_check_channels (guint n_has, guint n_channels,
    const gchar *path, GError **error)
{
  if (n_channels == 0 || n_has == 1 || n_has == n_channels)
    return TRUE;
  return gst_tfx_impulse_file_fail (error, GST_RESOURCE_ERROR_READ, path,
      "it has %u channels, but the stream has %u; it must have 1 or %u", n_has,
      n_channels, n_channels);
}

/* Checks the header before memory is allocated for the samples. */
static gboolean
gst_tfx_impulse_file_check_header (const SF_INFO *info, const gchar *path,
    guint n_channels, GError **error)
{
  if (info->samplerate < 1)
    return gst_tfx_impulse_file_fail (error, GST_RESOURCE_ERROR_READ, path,
        "its sample rate is %d Hz", info->samplerate);
  if (info->frames < 1)
    return gst_tfx_impulse_file_fail (error, GST_RESOURCE_ERROR_READ, path,
        "it has no samples");
  if (info->frames > TFX_FIR_MAX_TAPS)
    return gst_tfx_impulse_file_fail (error, GST_RESOURCE_ERROR_READ, path,
        "it is %" G_GINT64_FORMAT " frames long; at most %u are allowed",
        (gint64)info->frames, TFX_FIR_MAX_TAPS);
  if (info->frames > MAX_SAMPLES / info->channels)
    return gst_tfx_impulse_file_fail (error, GST_RESOURCE_ERROR_READ, path,
        "it has %d channels of %" G_GINT64_FORMAT
        " frames; at most %u samples are allowed",
        info->channels, (gint64)info->frames, MAX_SAMPLES);
  return gst_tfx_impulse_file_check_channels (info->channels, n_channels, path,
      error);
}

/* Reads all frames into planes of channels; returns their number. */
static gsize
gst_tfx_impulse_file_read_frames (GstTfxImpulse *self, SNDFILE *file)
{
  const guint n_channels = self->n_kernels;
  gdouble *chunk = g_new (gdouble, CHUNK_FRAMES * n_channels);
  gsize done = 0;

  while (done < self->n_taps) {
    sf_count_t n = sndfile.readf_double (file, chunk,
        MIN (CHUNK_FRAMES, self->n_taps - done));

    if (n <= 0)
      break;
    for (gsize i = 0; i < (gsize)n; i++) {
      for (guint c = 0; c < n_channels; c++)
        self->taps[c * self->n_taps + done + i] = chunk[i * n_channels + c];
    }
    done += n;
  }
  g_free (chunk);
  return done;
}

static gboolean
gst_tfx_impulse_file_check_samples (const GstTfxImpulse *self,
    const gchar *path, GError **error)
{
  gboolean silent = TRUE;

  for (gsize i = 0; i < self->n_kernels * self->n_taps; i++) {
    if (!(fabs (self->taps[i]) <= GST_TFX_IMPULSE_MAX))
      return gst_tfx_impulse_file_fail (error, GST_RESOURCE_ERROR_READ, path,
          "frame %" G_GSIZE_FORMAT " is %g in channel %" G_GSIZE_FORMAT,
          i % self->n_taps, self->taps[i], i / self->n_taps);
    silent = silent && self->taps[i] == 0.0;
  }
  return !silent || gst_tfx_impulse_file_fail (error, GST_RESOURCE_ERROR_READ,
                        path, "it is silent");
}

static GstTfxImpulse *
gst_tfx_impulse_file_load (SNDFILE *file, const SF_INFO *info,
    const gchar *path, GError **error)
{
  GstTfxImpulse *self =
      gst_tfx_impulse_new (info->samplerate, info->channels, info->frames);
  gsize n_read;

  if (!self) {
    gst_tfx_impulse_file_fail (error, GST_RESOURCE_ERROR_NO_SPACE_LEFT, path,
        "out of memory for %" G_GINT64_FORMAT " frames", (gint64)info->frames);
    return NULL;
  }
  n_read = gst_tfx_impulse_file_read_frames (self, file);
  if (n_read < self->n_taps) {
    gst_tfx_impulse_file_fail (error, GST_RESOURCE_ERROR_READ, path,
        "it ends after %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT " frames",
        n_read, self->n_taps);
    g_clear_pointer (&self, gst_tfx_impulse_unref);
  }
  return self;
}

static GstTfxImpulse *
gst_tfx_impulse_file_read_text (const gchar *path, guint n_channels,
    GError **error)
{
  gchar *why = NULL;
  GstTfxImpulse *self = gst_tfx_impulse_text_read (path, &why);

  if (!self)
    gst_tfx_impulse_file_fail (error, GST_RESOURCE_ERROR_READ, path, "%s", why);
  else if (!gst_tfx_impulse_file_check_channels (self->n_kernels, n_channels,
               path, error))
    g_clear_pointer (&self, gst_tfx_impulse_unref);
  g_free (why);
  return self;
}

/* Opens the sound of an open file; NULL with the reason, to be freed. */
static SNDFILE *
gst_tfx_impulse_file_open (FILE *opened, SF_INFO *info, gchar **fault)
{
  static GMutex lock;
  SNDFILE *file;

  /* libsndfile stores the error of opening a file in static variables. */
  g_mutex_lock (&lock);
  file = sndfile.open_fd (dup (fileno (opened)), SFM_READ, info, TRUE);
  *fault = file ? NULL : g_strdup (sndfile.strerror (NULL));
  g_mutex_unlock (&lock);
  return file;
}

static GstTfxImpulse *
gst_tfx_impulse_file_read_sound (FILE *opened, const gchar *path,
    guint n_channels, GError **error)
{
  SF_INFO info = { 0 };
  GstTfxImpulse *self = NULL;
  const gchar *why = gst_tfx_impulse_file_load_sndfile ();
  gchar *missing, *fault;
  SNDFILE *file;

  if (why) {
    gst_tfx_impulse_file_fail (error, GST_RESOURCE_ERROR_FAILED, path,
        "libsndfile, which reads sound files, cannot be loaded: %s", why);
    return NULL;
  }
  file = gst_tfx_impulse_file_open (opened, &info, &fault);
  if (!file) {
    if (gst_tfx_impulse_text_is (path))
      self = gst_tfx_impulse_file_read_text (path, n_channels, error);
    else
      gst_tfx_impulse_file_fail (error, GST_RESOURCE_ERROR_OPEN_READ, path,
          "it is not a readable sound file: %s", fault);
    g_free (fault);
    return self;
  }
  /* (libsndfile does not report a truncated file.) */
  missing = gst_tfx_cut_describe (path, GST_CLOCK_TIME_NONE);
  if (missing)
    gst_tfx_impulse_file_fail (error, GST_RESOURCE_ERROR_READ, path, "%s",
        missing);
  else if (gst_tfx_impulse_file_check_header (&info, path, n_channels, error))
    self = gst_tfx_impulse_file_load (file, &info, path, error);
  g_free (missing);
  sndfile.close (file);
  return self;
}

GstTfxImpulse *
gst_tfx_impulse_file_read (const gchar *path, guint n_channels, GError **error)
{
  goffset size;
  gchar *why = NULL;
  FILE *file = gst_tfx_bytes_open (path, &size, &why);
  GstTfxImpulse *self;

  if (!file) {
    gst_tfx_impulse_file_fail (error,
        g_file_test (path, G_FILE_TEST_EXISTS) ? GST_RESOURCE_ERROR_OPEN_READ
                                               : GST_RESOURCE_ERROR_NOT_FOUND,
        path, "%s", why);
    g_free (why);
    return NULL;
  }
  self = gst_tfx_impulse_file_read_sound (file, path, n_channels, error);
  fclose (file);
  if (self && !gst_tfx_impulse_file_check_samples (self, path, error))
    g_clear_pointer (&self, gst_tfx_impulse_unref);
  if (self)
    gst_tfx_impulse_finish (self);
  return self;
}

/* ---- resampling -------------------------------------------------------------- */

static GstAudioResampler *
gst_tfx_impulse_file_new_resampler (guint from, guint to)
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

/* Resamples every channel, with the ringing before and after it; sets the beginning.
 *
 * The resampler needs input before and after each sample, its latency on both sides.  Its
 * first output is at the time of its first input, so there is no delay to remove (except
 * for 1/32 of a frame of the lower rate in GStreamer's resampler).  The silence before
 * the input is a whole number of frames at both rates. */
static GstTfxImpulse *
gst_tfx_impulse_file_run (const GstTfxImpulse *self,
    GstAudioResampler *resampler, guint rate)
{
  const gsize latency = gst_audio_resampler_get_max_latency (resampler);
  const guint divisor = gst_util_greatest_common_divisor (self->rate, rate);
  const gsize period = self->rate / divisor;
  const gsize n_periods = (latency + period - 1) / period;
  const gsize n_in = n_periods * period + self->n_taps + 2 * latency;
  const gsize n_out = gst_audio_resampler_get_out_frames (resampler, n_in);
  const gdouble scale = (gdouble)self->rate / rate;
  gdouble *padded = g_try_new0 (gdouble, n_in);
  GstTfxImpulse *all = NULL;

  if (padded && n_out > 0)
    all = gst_tfx_impulse_new (rate, self->n_kernels, n_out);
  for (guint c = 0; all && c < self->n_kernels; c++) {
    gpointer in = padded, out = all->taps + c * n_out;

    memcpy (padded + n_periods * period, self->taps + c * self->n_taps,
        self->n_taps * sizeof (gdouble));
    gst_audio_resampler_reset (resampler);
    gst_audio_resampler_resample (resampler, &in, n_in, &out, n_out);
  }
  /* The sum over the taps approximates an integral, so the taps shrink as the rate
   * grows. */
  for (gsize i = 0; all && i < self->n_kernels * n_out; i++)
    all->taps[i] *= scale;
  if (all)
    all->beginning = MIN (n_periods * (rate / divisor), n_out - 1);
  g_free (padded);
  return all;
}

/* Removes negligible frames at both ends, but none from the beginning of the input to
 * n_frames after it. */
static void
gst_tfx_impulse_file_trim (GstTfxImpulse *self, gsize n_frames)
{
  const gsize n = self->n_taps;
  gsize first = self->beginning, last = CLAMP (first + n_frames, first + 1, n);
  gdouble peak = 0.0;

  for (gsize i = 0; i < self->n_kernels * n; i++)
    peak = MAX (peak, fabs (self->taps[i]));
  for (guint c = 0; c < self->n_kernels; c++) {
    const gdouble *x = self->taps + c * n;
    gsize i = 0;

    while (i < first && fabs (x[i]) <= NEGLIGIBLE * peak)
      i++;
    first = i;
    for (i = n; i > last && fabs (x[i - 1]) <= NEGLIGIBLE * peak;)
      i--;
    last = i;
  }
  self->n_taps = last - first;
  self->beginning -= first;
  for (guint c = 0; c < self->n_kernels; c++)
    memmove (self->taps + c * self->n_taps, self->taps + c * n + first,
        self->n_taps * sizeof (gdouble));
  self->taps = g_renew (gdouble, self->taps, self->n_kernels * self->n_taps);
}

static gboolean
gst_tfx_impulse_file_check_rate (const GstTfxImpulse *self, guint rate,
    const gchar *path, GError **error)
{
  const guint period =
      self->rate / gst_util_greatest_common_divisor (self->rate, rate);
  const gdouble ratio = (gdouble)rate / self->rate;

  if (self->rate / MAX_RATE_RATIO > rate || rate / MAX_RATE_RATIO > self->rate)
    return gst_tfx_impulse_file_fail (error, GST_RESOURCE_ERROR_READ, path,
        "its sample rate of %u Hz is too far from the %u Hz of the stream",
        self->rate, rate);
  if (period > MAX_PERIOD)
    return gst_tfx_impulse_file_fail (error, GST_RESOURCE_ERROR_READ, path,
        "its rate of %u Hz cannot be converted to the %u Hz of the stream: the "
        "two have no common period of at most %u frames",
        self->rate, rate, MAX_PERIOD);
  if (self->n_taps * ratio > TFX_FIR_MAX_TAPS)
    return gst_tfx_impulse_file_fail (error, GST_RESOURCE_ERROR_READ, path,
        "its %" G_GSIZE_FORMAT " frames at %u Hz are more than %u at the %u Hz "
        "of the stream",
        self->n_taps, self->rate, TFX_FIR_MAX_TAPS, rate);
  if ((self->n_taps + period) * ratio * self->n_kernels > MAX_SAMPLES)
    return gst_tfx_impulse_file_fail (error, GST_RESOURCE_ERROR_READ, path,
        "its %u channels of %" G_GSIZE_FORMAT
        " frames at %u Hz are more than %u samples at the %u Hz of the stream",
        self->n_kernels, self->n_taps, self->rate, MAX_SAMPLES, rate);
  return TRUE;
}

GstTfxImpulse *
gst_tfx_impulse_file_fit (GstTfxImpulse *self, guint rate, guint n_channels,
    const gchar *path, GError **error)
{
  gdouble middle;
  GstAudioResampler *resampler;
  GstTfxImpulse *other = NULL;

  if (!gst_tfx_impulse_file_check_channels (self->n_kernels, n_channels, path,
          error))
    return NULL;
  if (self->rate == rate || self->rate == 0)
    return gst_tfx_impulse_ref (self);
  /* Computed here, since a resampled kernel is no longer symmetric. */
  middle = 0.5 * (gdouble)(self->n_taps - 1) * rate / self->rate;
  if (!gst_tfx_impulse_file_check_rate (self, rate, path, error))
    return NULL;

  resampler = gst_tfx_impulse_file_new_resampler (self->rate, rate);
  if (resampler) {
    other = gst_tfx_impulse_file_run (self, resampler, rate);
    gst_audio_resampler_free (resampler);
  }
  if (!other) {
    gst_tfx_impulse_file_fail (error, GST_RESOURCE_ERROR_NO_SPACE_LEFT, path,
        "out of memory to resample it from %u to %u Hz", self->rate, rate);
    return NULL;
  }
  gst_tfx_impulse_file_trim (other,
      gst_util_uint64_scale_ceil (self->n_taps, rate, self->rate));
  other->is_linear_phase = self->is_linear_phase;
  other->delay = other->beginning + (self->is_linear_phase ? (gsize)middle : 0);
  return other;
}
