/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfximpulse.c: impulse responses, and reading them from sound files.
 */
#include "gsttfximpulse.h"

#include <gst/audio/audio.h>
#include <gst/gst.h>
#include <math.h>
#include <sndfile.h>
#include <string.h>
#include <unistd.h>

#include "gsttfxbytes.h"
#include "gsttfxcut.h"
#include "gsttfxlibrary.h"

/* Largest difference of two equal taps, as a fraction of the largest tap: float32
 * and 24-bit files round by less. */
#define SYMMETRY_TOLERANCE 1e-6

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

/* ---- making and freeing -------------------------------------------------- */

GstTfxImpulse *
gst_tfx_impulse_new (guint rate, guint n_kernels, gsize n_taps)
{
  GstTfxImpulse *self = g_new (GstTfxImpulse, 1);

  *self = (GstTfxImpulse){ .refs = 1,
    .rate = rate,
    .n_kernels = n_kernels,
    .n_taps = n_taps };
  if (n_taps <= G_MAXSIZE / n_kernels)
    self->taps = g_try_new (gdouble, n_kernels * n_taps);
  if (!self->taps)
    g_clear_pointer (&self, gst_tfx_impulse_unref);
  return self;
}

GstTfxImpulse *
gst_tfx_impulse_ref (GstTfxImpulse *self)
{
  g_atomic_int_inc (&self->refs);
  return self;
}

void
gst_tfx_impulse_unref (GstTfxImpulse *self)
{
  if (!self || !g_atomic_int_dec_and_test (&self->refs))
    return;
  g_free (self->taps);
  g_free (self);
}

void
gst_tfx_impulse_finish (GstTfxImpulse *self)
{
  const gdouble *taps = self->taps;
  const gsize n = self->n_taps;

  self->is_linear_phase = TRUE;
  for (guint k = 0; k < self->n_kernels && self->is_linear_phase; k++) {
    gboolean is_even = TRUE, is_odd = TRUE;
    gdouble tolerance = 0.0;

    for (gsize i = 0; i < n; i++)
      tolerance = MAX (tolerance, SYMMETRY_TOLERANCE * fabs (taps[i]));
    for (gsize i = 0; i < (n + 1) / 2 && (is_even || is_odd); i++) {
      is_even = is_even && fabs (taps[n - 1 - i] - taps[i]) <= tolerance;
      is_odd = is_odd && fabs (taps[n - 1 - i] + taps[i]) <= tolerance;
    }
    self->is_linear_phase = is_even || is_odd;
    taps += n;
  }
  self->delay = self->is_linear_phase ? (n - 1) / 2 : 0;
}

/* ---- reading ------------------------------------------------------------- */

/* Sets an error with the file's name and the reason; returns FALSE. */
static gboolean G_GNUC_PRINTF (4, 5) fail (GError **error, gint code,
    const gchar *path, const gchar *format, ...)
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
load_sndfile (void)
{
  static const GstTfxLibraryFunction functions[] = {
    { "sf_open_fd", &sndfile.open_fd },
    { "sf_readf_double", &sndfile.readf_double },
    { "sf_strerror", &sndfile.strerror },
    { "sf_close", &sndfile.close },
  };
  static GstTfxLibrary library = { .soname = "libsndfile.so.1" };

  return gst_tfx_library_load (&library, functions, G_N_ELEMENTS (functions));
}

static gboolean
check_channels (guint n_has, guint n_channels, const gchar *path,
    GError **error)
{
  if (n_channels == 0 || n_has == 1 || n_has == n_channels)
    return TRUE;
  return fail (error, GST_RESOURCE_ERROR_READ, path,
      "it has %u channels, but the stream has %u; it must have 1 or %u", n_has,
      n_channels, n_channels);
}

/* Checks the header before memory is allocated for the samples. */
static gboolean
check_header (const SF_INFO *info, const gchar *path, guint n_channels,
    GError **error)
{
  if (info->samplerate < 1)
    return fail (error, GST_RESOURCE_ERROR_READ, path,
        "its sample rate is %d Hz", info->samplerate);
  if (info->frames < 1)
    return fail (error, GST_RESOURCE_ERROR_READ, path, "it has no samples");
  if (info->frames > TFX_FIR_MAX_TAPS)
    return fail (error, GST_RESOURCE_ERROR_READ, path,
        "it is %" G_GINT64_FORMAT " frames long; at most %u are allowed",
        (gint64)info->frames, TFX_FIR_MAX_TAPS);
  if (info->frames > MAX_SAMPLES / info->channels)
    return fail (error, GST_RESOURCE_ERROR_READ, path,
        "it has %d channels of %" G_GINT64_FORMAT
        " frames; at most %u samples are allowed",
        info->channels, (gint64)info->frames, MAX_SAMPLES);
  return check_channels (info->channels, n_channels, path, error);
}

/* Copies interleaved frames into planes, from frame @at on. */
static void
store (GstTfxImpulse *self, gsize at, const gdouble *frames, gsize n_frames)
{
  const guint n = self->n_kernels;

  for (gsize i = 0; i < n_frames; i++) {
    for (guint c = 0; c < n; c++)
      self->taps[c * self->n_taps + at + i] = frames[i * n + c];
  }
}

static GstTfxImpulse *
read_sound (SNDFILE *file, const SF_INFO *info, const gchar *path,
    GError **error)
{
  GstTfxImpulse *self =
      gst_tfx_impulse_new (info->samplerate, info->channels, info->frames);
  gdouble *chunk;
  sf_count_t n;
  gsize done = 0;

  if (!self) {
    fail (error, GST_RESOURCE_ERROR_NO_SPACE_LEFT, path,
        "out of memory for %" G_GINT64_FORMAT " frames", (gint64)info->frames);
    return NULL;
  }
  chunk = g_new (gdouble, CHUNK_FRAMES * self->n_kernels);
  while ((n = sndfile.readf_double (file, chunk,
              MIN (CHUNK_FRAMES, self->n_taps - done))) > 0) {
    store (self, done, chunk, n);
    done += n;
  }
  g_free (chunk);
  if (done < self->n_taps) {
    fail (error, GST_RESOURCE_ERROR_READ, path,
        "it ends after %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT " frames", done,
        self->n_taps);
    g_clear_pointer (&self, gst_tfx_impulse_unref);
  }
  return self;
}

static GstTfxImpulse *
read_text (const gchar *path, guint n_channels, GError **error)
{
  guint n_has, rate;
  gchar *why = NULL;
  GArray *numbers = gst_tfx_impulse_text_read (path, &n_has, &rate, &why);
  GstTfxImpulse *self = NULL;
  gsize n;

  if (!numbers) {
    fail (error, GST_RESOURCE_ERROR_READ, path, "%s", why);
    g_free (why);
    return NULL;
  }
  if (check_channels (n_has, n_channels, path, error)) {
    n = numbers->len / n_has;
    self = gst_tfx_impulse_new (rate, n_has, n);
    if (self)
      store (self, 0, (const gdouble *)numbers->data, n);
    else
      fail (error, GST_RESOURCE_ERROR_READ, path,
          "out of memory for %" G_GSIZE_FORMAT " lines", n);
  }
  g_array_unref (numbers);
  return self;
}

static GstTfxImpulse *
read_opened (FILE *opened, const gchar *path, guint n_channels, GError **error)
{
  static GMutex lock;
  const gchar *why = load_sndfile ();
  GstTfxImpulse *self = NULL;
  gchar *fault = NULL;
  SF_INFO info = { 0 };
  SNDFILE *file;

  if (why) {
    fail (error, GST_RESOURCE_ERROR_FAILED, path,
        "libsndfile, which reads sound files, cannot be loaded: %s", why);
    return NULL;
  }
  /* libsndfile stores the error of opening a file in static variables. */
  g_mutex_lock (&lock);
  file = sndfile.open_fd (dup (fileno (opened)), SFM_READ, &info, TRUE);
  if (!file)
    fault = g_strdup (sndfile.strerror (NULL));
  g_mutex_unlock (&lock);
  if (file) {
    /* (libsndfile does not report a truncated file.) */
    fault = gst_tfx_cut_describe (path, GST_CLOCK_TIME_NONE);
    if (fault)
      fail (error, GST_RESOURCE_ERROR_READ, path, "%s", fault);
    else if (check_header (&info, path, n_channels, error))
      self = read_sound (file, &info, path, error);
    sndfile.close (file);
  } else if (gst_tfx_impulse_text_is (opened)) {
    self = read_text (path, n_channels, error);
  } else {
    fail (error, GST_RESOURCE_ERROR_OPEN_READ, path,
        "it is not a readable sound file: %s", fault);
  }
  g_free (fault);
  return self;
}

GstTfxImpulse *
gst_tfx_impulse_file_read (const gchar *path, guint n_channels, GError **error)
{
  goffset size;
  gchar *why = NULL;
  FILE *file = gst_tfx_bytes_open (path, &size, &why);
  gboolean is_silent = TRUE;
  GstTfxImpulse *self;

  if (!file) {
    fail (error,
        g_file_test (path, G_FILE_TEST_EXISTS) ? GST_RESOURCE_ERROR_OPEN_READ
                                               : GST_RESOURCE_ERROR_NOT_FOUND,
        path, "%s", why);
    g_free (why);
    return NULL;
  }
  self = read_opened (file, path, n_channels, error);
  fclose (file);
  if (!self)
    return NULL;
  for (gsize i = 0; i < self->n_kernels * self->n_taps; i++) {
    if (!(fabs (self->taps[i]) <= GST_TFX_IMPULSE_MAX)) {
      fail (error, GST_RESOURCE_ERROR_READ, path,
          "frame %" G_GSIZE_FORMAT " is %g in channel %" G_GSIZE_FORMAT,
          i % self->n_taps, self->taps[i], i / self->n_taps);
      gst_tfx_impulse_unref (self);
      return NULL;
    }
    is_silent = is_silent && self->taps[i] == 0.0;
  }
  if (is_silent) {
    fail (error, GST_RESOURCE_ERROR_READ, path, "it is silent");
    gst_tfx_impulse_unref (self);
    return NULL;
  }
  gst_tfx_impulse_finish (self);
  return self;
}

/* ---- resampling ---------------------------------------------------------- */

static gboolean
check_rate (const GstTfxImpulse *self, guint rate, const gchar *path,
    GError **error)
{
  const guint period =
      self->rate / gst_util_greatest_common_divisor (self->rate, rate);
  const gdouble ratio = (gdouble)rate / self->rate;

  if (self->rate / MAX_RATE_RATIO > rate || rate / MAX_RATE_RATIO > self->rate)
    return fail (error, GST_RESOURCE_ERROR_READ, path,
        "its sample rate of %u Hz is too far from the %u Hz of the stream",
        self->rate, rate);
  if (period > MAX_PERIOD)
    return fail (error, GST_RESOURCE_ERROR_READ, path,
        "its rate of %u Hz cannot be converted to the %u Hz of the stream: the "
        "two have no common period of at most %u frames",
        self->rate, rate, MAX_PERIOD);
  if (self->n_taps * ratio > TFX_FIR_MAX_TAPS)
    return fail (error, GST_RESOURCE_ERROR_READ, path,
        "its %" G_GSIZE_FORMAT " frames at %u Hz are more than %u at the %u Hz "
        "of the stream",
        self->n_taps, self->rate, TFX_FIR_MAX_TAPS, rate);
  if ((self->n_taps + period) * ratio * self->n_kernels > MAX_SAMPLES)
    return fail (error, GST_RESOURCE_ERROR_READ, path,
        "its %u channels of %" G_GSIZE_FORMAT
        " frames at %u Hz are more than %u samples at the %u Hz of the stream",
        self->n_kernels, self->n_taps, self->rate, MAX_SAMPLES, rate);
  return TRUE;
}

/* Resamples every channel, with the ringing before and after it; sets the
 * beginning.  NULL if memory is short.
 *
 * The resampler needs input before and after each sample, its latency on both
 * sides.  Its first output is at the time of its first input, so there is no
 * delay to remove (except for 1/32 of a frame of the lower rate in GStreamer's
 * resampler).  The silence before the input is a whole number of frames at both
 * rates. */
static GstTfxImpulse *
resample (const GstTfxImpulse *self, guint rate)
{
  const guint divisor = gst_util_greatest_common_divisor (self->rate, rate);
  const gsize period = self->rate / divisor;
  const gdouble scale = (gdouble)self->rate / rate;
  GstStructure *options = gst_structure_new_empty ("options");
  GstTfxImpulse *all = NULL;
  GstAudioResampler *resampler;
  gsize latency, n_periods, n_in, n_out;
  gdouble *padded;

  gst_audio_resampler_options_set_quality (GST_AUDIO_RESAMPLER_METHOD_KAISER,
      RESAMPLER_QUALITY, self->rate, rate, options);
  resampler = gst_audio_resampler_new (GST_AUDIO_RESAMPLER_METHOD_KAISER,
      GST_AUDIO_RESAMPLER_FLAG_NONE, GST_AUDIO_FORMAT_F64, 1, self->rate, rate,
      options);
  gst_structure_free (options);
  if (!resampler)
    return NULL;

  latency = gst_audio_resampler_get_max_latency (resampler);
  n_periods = (latency + period - 1) / period;
  n_in = n_periods * period + self->n_taps + 2 * latency;
  n_out = gst_audio_resampler_get_out_frames (resampler, n_in);
  padded = g_try_new0 (gdouble, n_in);
  if (padded && n_out > 0)
    all = gst_tfx_impulse_new (rate, self->n_kernels, n_out);
  for (guint c = 0; all && c < self->n_kernels; c++) {
    gpointer in = padded, out = all->taps + c * n_out;

    memcpy (padded + n_periods * period, self->taps + c * self->n_taps,
        self->n_taps * sizeof (gdouble));
    gst_audio_resampler_reset (resampler);
    gst_audio_resampler_resample (resampler, &in, n_in, &out, n_out);
  }
  /* The sum over the taps approximates an integral, so the taps shrink as the
   * rate grows. */
  for (gsize i = 0; all && i < self->n_kernels * n_out; i++)
    all->taps[i] *= scale;
  if (all)
    all->beginning = MIN (n_periods * (rate / divisor), n_out - 1);
  g_free (padded);
  gst_audio_resampler_free (resampler);
  return all;
}

/* Removes negligible frames at both ends, but none from the beginning of the input to
 * n_frames after it. */
static void
trim (GstTfxImpulse *self, gsize n_frames)
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

GstTfxImpulse *
gst_tfx_impulse_file_fit (GstTfxImpulse *self, guint rate, guint n_channels,
    const gchar *path, GError **error)
{
  GstTfxImpulse *other;
  gdouble middle;

  if (!check_channels (self->n_kernels, n_channels, path, error))
    return NULL;
  if (self->rate == rate || self->rate == 0)
    return gst_tfx_impulse_ref (self);
  if (!check_rate (self, rate, path, error))
    return NULL;
  other = resample (self, rate);
  if (!other) {
    fail (error, GST_RESOURCE_ERROR_NO_SPACE_LEFT, path,
        "out of memory to resample it from %u to %u Hz", self->rate, rate);
    return NULL;
  }
  trim (other, gst_util_uint64_scale_ceil (self->n_taps, rate, self->rate));
  /* From the file, since a resampled kernel is no longer symmetric. */
  middle = 0.5 * (gdouble)(self->n_taps - 1) * rate / self->rate;
  other->is_linear_phase = self->is_linear_phase;
  other->delay = other->beginning + (self->is_linear_phase ? (gsize)middle : 0);
  return other;
}
