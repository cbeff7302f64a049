/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxsofa.c: head-related impulse responses in SOFA files (AES69).
 */
#include "gsttfxsofa.h"

#include <math.h>
#include <string.h>

#include <gst/gst.h>

#ifdef HAVE_MYSOFA
#include <mysofa.h>
#endif

#include "gsttfxbytes.h"
#include "gsttfxlibrary.h"

gboolean
gst_tfx_sofa_is (const gchar *path)
{
  const gsize n = strlen (path);

  return n > 5 && g_ascii_strcasecmp (path + n - 5, ".sofa") == 0;
}

static void G_GNUC_PRINTF (3, 4)
    fail (GError **error, const gchar *path, const gchar *format, ...)
{
  gchar *name = gst_tfx_bytes_show (path), *why;
  va_list args;

  va_start (args, format);
  why = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
      "the impulse responses in '%s' cannot be used: %s", name, why);
  g_free (why);
  g_free (name);
}

#ifdef HAVE_MYSOFA

/* Loaded when the first file is read, like libsndfile, and never unloaded. */
static struct
{
  struct MYSOFA_HRTF *(*load) (const char *path, int *error);
  int (*check) (struct MYSOFA_HRTF *hrtf);
  void (*tocartesian) (struct MYSOFA_HRTF *hrtf);
  struct MYSOFA_LOOKUP *(*lookup_init) (struct MYSOFA_HRTF *hrtf);
  struct MYSOFA_NEIGHBORHOOD *(*neighborhood_init) (struct MYSOFA_HRTF *hrtf,
      struct MYSOFA_LOOKUP *lookup);
  int (*lookup) (struct MYSOFA_LOOKUP *lookup, float *at);
  int *(*neighborhood) (struct MYSOFA_NEIGHBORHOOD *neighborhood, int index);
  float *(*interpolate) (struct MYSOFA_HRTF *hrtf, float *at, int nearest,
      int *neighborhood, float *fir, float *delays);
  void (*neighborhood_free) (struct MYSOFA_NEIGHBORHOOD *neighborhood);
  void (*lookup_free) (struct MYSOFA_LOOKUP *lookup);
  void (*free) (struct MYSOFA_HRTF *hrtf);
} mysofa;

/* Returns NULL, or the reason why the library cannot be loaded, which is static. */
static const gchar *
load_mysofa (void)
{
  static const GstTfxLibraryFunction functions[] = {
    { "mysofa_load", &mysofa.load }, { "mysofa_check", &mysofa.check },
    { "mysofa_tocartesian", &mysofa.tocartesian },
    { "mysofa_lookup_init", &mysofa.lookup_init },
    { "mysofa_neighborhood_init", &mysofa.neighborhood_init },
    { "mysofa_lookup", &mysofa.lookup },
    { "mysofa_neighborhood", &mysofa.neighborhood },
    { "mysofa_interpolate", &mysofa.interpolate },
    { "mysofa_neighborhood_free", &mysofa.neighborhood_free },
    { "mysofa_lookup_free", &mysofa.lookup_free },
    { "mysofa_free", &mysofa.free }
  };
  static GstTfxLibrary library = { .soname = "libmysofa.so.1" };

  return gst_tfx_library_load (&library, functions, G_N_ELEMENTS (functions));
}

/* Whether the arrays have the sizes that libmysofa reads, and usable numbers. */
static const gchar *
find_fault (const struct MYSOFA_HRTF *hrtf)
{
  const guint64 n_filters = (guint64)hrtf->M * hrtf->R;
  const gfloat *rate = hrtf->DataSamplingRate.values;

  if (hrtf->R != 2 || hrtf->C != 3 || hrtf->M < 1 || hrtf->N < 1)
    return "it must have impulse responses for two ears";
  if (n_filters * hrtf->N != hrtf->DataIR.elements ||
      (guint64)hrtf->M * hrtf->C != hrtf->SourcePosition.elements ||
      hrtf->ReceiverPosition.elements < 6 ||
      (hrtf->DataDelay.elements != hrtf->R &&
          hrtf->DataDelay.elements != n_filters))
    return "its dimensions do not fit each other";
  if (hrtf->DataSamplingRate.elements < 1 ||
      !(rate[0] >= 1.0f && rate[0] <= 1e9f && rate[0] == floorf (rate[0])))
    return "its sample rate is not a whole number of Hz";
  for (guint i = 0; i < hrtf->SourcePosition.elements; i++) {
    if (!isfinite (hrtf->SourcePosition.values[i]))
      return "a direction is not a number";
  }
  for (guint i = 0; i < hrtf->DataDelay.elements; i++) {
    if (!(hrtf->DataDelay.values[i] >= 0.0f &&
            hrtf->DataDelay.values[i] + (gdouble)hrtf->N <= TFX_FIR_MAX_TAPS))
      return "a delay is negative, or too long";
  }
  return hrtf->N > TFX_FIR_MAX_TAPS ? "it is too long" : NULL;
}

/* Sets the fields from a loaded file.  Returns NULL, or the reason why it cannot be
 * used. */
static const gchar *
set_up (GstTfxSofa *self)
{
  const gchar *why = find_fault (self->hrtf);
  gfloat delay = 0.0f;

  if (why)
    return why;
  if (mysofa.check (self->hrtf) != MYSOFA_OK)
    return "it is not of the convention SimpleFreeFieldHRIR";
  mysofa.tocartesian (self->hrtf);
  self->lookup = mysofa.lookup_init (self->hrtf);
  if (self->lookup)
    self->neighborhood = mysofa.neighborhood_init (self->hrtf, self->lookup);
  if (!self->neighborhood)
    return "libmysofa cannot look up its directions";
  for (guint i = 0; i < self->hrtf->DataDelay.elements; i++)
    delay = MAX (delay, self->hrtf->DataDelay.values[i]);
  self->rate = (guint)self->hrtf->DataSamplingRate.values[0];
  self->n_frames = self->hrtf->N + (gsize)lrintf (delay);
  return NULL;
}

GstTfxSofa *
gst_tfx_sofa_read (const gchar *path, GError **error)
{
  const gchar *missing = load_mysofa (), *fault;
  GstTfxSofa *self = NULL;
  gchar *why = NULL;
  goffset size;
  int code = MYSOFA_OK;
  /* It opens no pipe or folder. */
  FILE *file = gst_tfx_bytes_open (path, &size, &why);

  if (!file) {
    fail (error, path, "%s", why);
    g_free (why);
    return NULL;
  }
  fclose (file);
  if (missing) {
    fail (error, path,
        "libmysofa, which reads SOFA files, cannot be loaded (Debian: "
        "libmysofa1): %s",
        missing);
    return NULL;
  }
  self = g_new0 (GstTfxSofa, 1);
  self->hrtf = mysofa.load (path, &code);
  fault = code == MYSOFA_NO_MEMORY ? "out of memory"
          : !self->hrtf ? "it is not a SOFA file that libmysofa reads"
                        : set_up (self);
  if (fault) {
    fail (error, path, "%s", fault);
    g_clear_pointer (&self, gst_tfx_sofa_free);
  }
  return self;
}

void
gst_tfx_sofa_free (GstTfxSofa *self)
{
  if (!self)
    return;
  if (self->neighborhood)
    mysofa.neighborhood_free (self->neighborhood);
  if (self->lookup)
    mysofa.lookup_free (self->lookup);
  if (self->hrtf)
    mysofa.free (self->hrtf);
  g_free (self);
}

static gboolean
is_same_array (const struct MYSOFA_ARRAY *a, const struct MYSOFA_ARRAY *b)
{
  return a->elements == b->elements &&
         memcmp (a->values, b->values, a->elements * sizeof *a->values) == 0;
}

gboolean
gst_tfx_sofa_is_same (const GstTfxSofa *a, const GstTfxSofa *b)
{
  const struct MYSOFA_HRTF *x = a->hrtf, *y = b->hrtf;

  return a->rate == b->rate && x->N == y->N &&
         is_same_array (&x->SourcePosition, &y->SourcePosition) &&
         is_same_array (&x->DataDelay, &y->DataDelay) &&
         is_same_array (&x->DataIR, &y->DataIR);
}

GstTfxImpulse *
gst_tfx_sofa_find (const GstTfxSofa *self, const TfxDirection *directions,
    guint n, const gchar *path, GError **error)
{
  const gsize n_file = self->hrtf->N;
  GstTfxImpulse *impulse =
      gst_tfx_impulse_new (self->rate, 2 * n, self->n_frames);
  gfloat *room = g_try_new (gfloat, 2 * n_file);
  gboolean is_valid = TRUE;

  for (guint k = 0; k < 2 * n && impulse && room && is_valid; k++) {
    const gdouble azimuth = directions[k / 2].azimuth * G_PI / 180.0;
    const gdouble elevation = directions[k / 2].elevation * G_PI / 180.0;
    const gdouble radius = self->lookup->radius_max;
    gdouble *taps = impulse->taps + k * self->n_frames;
    gfloat at[] = { (gfloat)(radius * cos (elevation) * cos (azimuth)),
      (gfloat)(radius * cos (elevation) * sin (azimuth)),
      (gfloat)(radius * sin (elevation)) };
    const int nearest = mysofa.lookup (self->lookup, at);
    gfloat delays[2] = { 0.0f, 0.0f };
    const gfloat *ears =
        nearest < 0 ? NULL
                    : mysofa.interpolate (self->hrtf, at, nearest,
                          mysofa.neighborhood (self->neighborhood, nearest),
                          room, delays);
    const gdouble delay = rint (delays[k % 2]);

    is_valid = ears && delay >= 0.0 && delay + n_file <= self->n_frames;
    memset (taps, 0, self->n_frames * sizeof *taps);
    for (gsize i = 0; i < n_file && is_valid; i++) {
      const gdouble tap = ears[k % 2 * n_file + i];

      is_valid = fabs (tap) <= GST_TFX_IMPULSE_MAX;
      taps[(gsize)delay + i] = tap;
    }
  }
  if (impulse && room && is_valid) {
    gst_tfx_impulse_finish (impulse);
  } else {
    fail (error, path, "%s",
        is_valid ? "out of memory" : "they are not finite numbers");
    g_clear_pointer (&impulse, gst_tfx_impulse_unref);
  }
  g_free (room);
  return impulse;
}

#else

GstTfxSofa *
gst_tfx_sofa_read (const gchar *path, GError **error)
{
  fail (error, path,
      "libmysofa, which reads SOFA files, was not there when gst-tfx was "
      "built");
  return NULL;
}

void
gst_tfx_sofa_free (GstTfxSofa *self)
{
}

gboolean
gst_tfx_sofa_is_same (const GstTfxSofa *a, const GstTfxSofa *b)
{
  return FALSE;
}

GstTfxImpulse *
gst_tfx_sofa_find (const GstTfxSofa *self, const TfxDirection *directions,
    guint n, const gchar *path, GError **error)
{
  return NULL;
}

#endif
