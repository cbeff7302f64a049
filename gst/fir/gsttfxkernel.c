/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxkernel.c: makes the impulse response of a tfxfir for its properties.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gsttfxfir.h"

#define GST_CAT_DEFAULT gst_tfx_fir_debug

/* Longest time of a design and its stage for each tap, and the longest time
 * that they may take, as a fraction of the duration of a buffer.  Shorter
 * buffers count as MIN_BUFFER_FRAMES. */
#define TAP_NS 15.0
#define MAX_PART 0.1
#define MIN_BUFFER_FRAMES 64

/* Start of the message of tfx_fir_design_check() if the number of taps is
 * invalid. */
#define TAPS_FAULT "n_taps: "

/* A request and its result. */
struct _GstTfxKernel
{
  GstTfxFirAsked asked;
  guint rate, n_channels;

  GstTfxImpulse *impulse; /* or else: */
  GError *error;
  GstTfxImpulse *file; /* the file's contents, at its own rate */

  /* The design that was made: */
  TfxFirDesign design;
  GstTfxEdges edges;
  const gchar *because; /* reason for another number of taps; static */
};

/* ---- requests ------------------------------------------------------------ */

static void
gst_tfx_kernel_copy_asked (GstTfxFirAsked *to, const GstTfxFirAsked *from)
{
  *to = *from;
  if (to->location)
    g_ref_string_acquire (to->location);
  if (to->numbers)
    g_array_ref (to->numbers);
}

void
gst_tfx_kernel_read_asked (GstTfxFir *self, GstTfxFirAsked *asked)
{
  GST_OBJECT_LOCK (self);
  gst_tfx_kernel_copy_asked (asked, &self->asked);
  GST_OBJECT_UNLOCK (self);
}

void
gst_tfx_kernel_clear_asked (GstTfxFirAsked *asked)
{
  g_clear_pointer (&asked->location, g_ref_string_release);
  g_clear_pointer (&asked->numbers, g_array_unref);
}

/* Whether both ask for the same kernel. */
static gboolean
gst_tfx_kernel_is_same (const GstTfxFirAsked *a, const GstTfxFirAsked *b)
{
  const GstTfxEdges x = gst_tfx_band_get_edges (&a->band);
  const GstTfxEdges y = gst_tfx_band_get_edges (&b->band);

  if (a->phase != b->phase)
    return FALSE;
  if (a->location || b->location)
    return a->location == b->location;
  if (a->numbers || b->numbers)
    return a->numbers == b->numbers;
  return a->band.mode == b->band.mode && x.lower_hz == y.lower_hz &&
         x.upper_hz == y.upper_hz && a->n_taps == b->n_taps &&
         a->window == b->window &&
         (a->window != TFX_WINDOW_KAISER || a->beta == b->beta);
}

/* Whether @self, or NULL, is the answer to a request for a stream. */
static gboolean
gst_tfx_kernel_is_for (const GstTfxKernel *self, const GstTfxFirAsked *asked,
    const GstTfxBuild *build)
{
  return self && self->rate == build->rate &&
         self->n_channels == build->n_channels &&
         gst_tfx_kernel_is_same (&self->asked, asked);
}

gboolean
gst_tfx_kernel_takes_long (const GstTfxFirAsked *asked,
    const GstTfxBuild *build)
{
  const gsize n_frames = MAX (build->spec->block_frames, MIN_BUFFER_FRAMES);
  const gdouble buffer_ns = n_frames / build->rate * (gdouble)GST_SECOND;

  return asked->location || asked->phase != TFX_PHASE_ORIGINAL ||
         (!asked->numbers && asked->n_taps * TAP_NS > MAX_PART * buffer_ns);
}

static void
gst_tfx_kernel_set_request (GstTfxKernel *self, const GstTfxFirAsked *asked,
    guint rate, guint n_channels)
{
  gst_tfx_kernel_clear_asked (&self->asked);
  gst_tfx_kernel_copy_asked (&self->asked, asked);
  self->rate = rate;
  self->n_channels = n_channels;
}

static void
gst_tfx_kernel_free (gpointer data)
{
  GstTfxKernel *self = data;

  if (!self)
    return;
  gst_tfx_kernel_clear_asked (&self->asked);
  gst_tfx_impulse_unref (self->impulse);
  gst_tfx_impulse_unref (self->file);
  g_clear_error (&self->error);
  g_free (self);
}

/* ---- impulse responses --------------------------------------------------- */

/* Makes the impulse response one kernel of n_taps that may be written: a new
 * one unless the last one can be reused.  FALSE if memory is short. */
static gboolean
gst_tfx_kernel_make_room (GstTfxKernel *self, guint rate, gsize n_taps)
{
  GstTfxImpulse *impulse = self->impulse;

  if (!impulse || g_atomic_int_get (&impulse->refs) > 1 ||
      impulse->n_kernels != 1 || impulse->n_taps != n_taps) {
    gst_tfx_impulse_unref (impulse);
    self->impulse = impulse = gst_tfx_impulse_new (rate, 1, n_taps);
  }
  if (!impulse)
    return FALSE;
  impulse->rate = rate;
  impulse->beginning = 0;
  return TRUE;
}

/* Designs with the nearest band that is possible, and with the requested number
 * of taps, or with one more if that number is invalid: the only invalid ones
 * are even. */
static gboolean
gst_tfx_kernel_load_design (GstTfxKernel *self)
{
  const GstTfxFirAsked *asked = &self->asked;
  TfxFirDesign *design = &self->design;
  const gchar *fault = NULL;
  gint err;

  *design = (TfxFirDesign){ .mode = asked->band.mode,
    .window = asked->window,
    .beta = asked->beta,
    .n_taps = asked->n_taps };
  self->edges = gst_tfx_band_get_edges (&asked->band);
  self->because = NULL;
  for (;;) {
    design->lower_hz = self->edges.lower_hz;
    design->upper_hz = self->edges.upper_hz;
    err = gst_tfx_kernel_make_room (self, self->rate, design->n_taps)
              ? tfx_fir_design (design, self->rate, self->impulse->taps)
              : -ENOMEM;
    /* Without memory no other band helps. */
    if (err != -EINVAL)
      break;
    tfx_fir_design_check (design, self->rate, &fault);
    if (!self->because && g_str_has_prefix (fault, TAPS_FAULT)) {
      self->because = fault + strlen (TAPS_FAULT);
      design->n_taps += design->n_taps < TFX_FIR_MAX_TAPS ? 1 : -1;
    } else if (!gst_tfx_band_fit (&asked->band, self->rate, &self->edges)) {
      break;
    }
  }
  if (err < 0) {
    g_set_error (&self->error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        "taps=%d: %s", asked->n_taps,
        err == -EINVAL ? fault : g_strerror (-err));
    return FALSE;
  }
  self->impulse->is_linear_phase = TRUE;
  self->impulse->delay = (design->n_taps - 1) / 2;
  return TRUE;
}

static gboolean
gst_tfx_kernel_load_numbers (GstTfxKernel *self)
{
  const gdouble *taps = (const gdouble *)self->asked.numbers->data;
  const guint n = self->asked.numbers->len;

  if (n > TFX_FIR_MAX_TAPS) {
    g_set_error (&self->error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        "kernel has %u taps; at most %u are allowed", n, TFX_FIR_MAX_TAPS);
    return FALSE;
  }
  for (guint i = 0; i < n; i++) {
    if (!(fabs (taps[i]) <= GST_TFX_IMPULSE_MAX)) {
      g_set_error (&self->error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
          "tap %u of kernel is %g, but must be from %g to %g", i, taps[i],
          -GST_TFX_IMPULSE_MAX, GST_TFX_IMPULSE_MAX);
      return FALSE;
    }
  }
  if (!gst_tfx_kernel_make_room (self, 0, n)) {
    g_set_error (&self->error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT,
        "out of memory for the %u taps of kernel", n);
    return FALSE;
  }
  memcpy (self->impulse->taps, taps, n * sizeof *taps);
  gst_tfx_impulse_finish (self->impulse);
  return TRUE;
}

/* Gives the impulse response the requested phase, or sets the error. */
static void
gst_tfx_kernel_set_phase (GstTfxKernel *self)
{
  const TfxPhase phase = self->asked.phase;
  GstTfxImpulse *from = self->impulse, *made = NULL;
  const guint n = from->n_kernels;
  double *taps = NULL;
  gsize n_taps = 0, delay = 0;
  gint err = tfx_fir_set_phase (phase, from->taps, n, from->n_taps, &taps,
      &n_taps, &delay);

  if (err == 0)
    made = gst_tfx_impulse_new (from->rate, n, n_taps);
  if (made) {
    memcpy (made->taps, taps, n * n_taps * sizeof *taps);
    made->is_linear_phase = phase == TFX_PHASE_LINEAR;
    made->delay = delay;
  } else if (err == -E2BIG) {
    g_set_error (&self->error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        "phase: the kernel has %" G_GSIZE_FORMAT
        " taps; at most %u can get another phase",
        from->n_taps, TFX_PHASE_MAX_TAPS);
  } else if (err == -ERANGE) {
    g_set_error (&self->error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        "phase: no %s-phase kernel of %" G_GSIZE_FORMAT
        " taps has the magnitude of this kernel to -100 dB of its peak",
        phase == TFX_PHASE_LINEAR ? "linear" : "minimum", n_taps);
  } else {
    g_set_error (&self->error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT,
        "phase: out of memory for the %" G_GSIZE_FORMAT " taps of the kernel",
        from->n_taps);
  }
  free (taps);
  gst_tfx_impulse_unref (from);
  self->impulse = made;
}

/* Makes the impulse response, or the error.  Any thread. */
static void
gst_tfx_kernel_load (gpointer data)
{
  GstTfxKernel *self = data;
  const gchar *path = self->asked.location;

  if (path) {
    if (!self->file)
      self->file =
          gst_tfx_impulse_file_read (path, self->n_channels, &self->error);
    if (self->file)
      self->impulse = gst_tfx_impulse_file_fit (self->file, self->rate,
          self->n_channels, path, &self->error);
    g_prefix_error (&self->error, "kernel-location: ");
  } else if (!(self->asked.numbers ? gst_tfx_kernel_load_numbers (self)
                                   : gst_tfx_kernel_load_design (self))) {
    g_clear_pointer (&self->impulse, gst_tfx_impulse_unref);
  }
  if (self->impulse && self->asked.phase != TFX_PHASE_ORIGINAL)
    gst_tfx_kernel_set_phase (self);
}

/* ---- in the streaming thread --------------------------------------------- */

/* Warns the user of each value of a design that differs from the request. */
static void
gst_tfx_kernel_report (const GstTfxKernel *self, GstTfxElement *element)
{
  GstTfxClamp taps = { .property = "taps",
    .unit = "",
    .asked = self->asked.n_taps,
    .used = self->design.n_taps,
    .because = self->because };

  if (self->asked.location || self->asked.numbers)
    return;
  gst_tfx_band_report (&self->asked.band, &self->edges, element, self->rate);
  gst_tfx_element_report_clamp (element, &taps, self->rate);
}

gboolean
gst_tfx_kernel_start (GstTfxElement *element)
{
  GstTfxFir *self = GST_TFX_FIR (element);
  GstTfxFirAsked asked;
  gint n_kernels = 1;

  gst_tfx_kernel_read_asked (self, &asked);
  if (asked.location) {
    self->good = g_new0 (GstTfxKernel, 1);
    gst_tfx_kernel_set_request (self->good, &asked, 0, 0);
    self->good->file = gst_tfx_impulse_file_read (asked.location, 0, NULL);
    if (self->good->file)
      n_kernels = self->good->file->n_kernels;
  }
  gst_tfx_kernel_clear_asked (&asked);
  g_atomic_int_set (&self->n_kernels, n_kernels);
  return TRUE;
}

/* Returns the loaded kernel of a request; NULL while a background task loads
 * it. */
static GstTfxKernel *
gst_tfx_kernel_find (GstTfxFir *self, const GstTfxFirAsked *asked,
    const GstTfxBuild *build)
{
  GstTfxWorker *worker = &self->kernel_worker;
  const gboolean may_wait = !build->is_running;
  GstTfxKernel *kernel = gst_tfx_worker_take (worker, may_wait);

  if (gst_tfx_kernel_is_for (kernel, asked, build))
    return kernel;
  gst_tfx_kernel_free (kernel);
  if (gst_tfx_worker_get_job (worker))
    return NULL;
  if (may_wait)
    gst_tfx_worker_clear (worker);

  kernel = g_new0 (GstTfxKernel, 1);
  gst_tfx_kernel_set_request (kernel, asked, build->rate, build->n_channels);
  if (self->good && self->good->file &&
      gst_tfx_kernel_is_same (&self->good->asked, asked))
    kernel->file = gst_tfx_impulse_ref (self->good->file);
  if (!may_wait && gst_tfx_kernel_takes_long (asked, build) &&
      gst_tfx_worker_start (worker, gst_tfx_kernel_load, kernel,
          GST_TFX_ELEMENT (self))) {
    GST_DEBUG_OBJECT (self, "loading the kernel in a background task");
    return NULL;
  }
  gst_tfx_kernel_load (kernel);
  return kernel;
}

GstTfxImpulse *
gst_tfx_kernel_get (GstTfxFir *self, const GstTfxFirAsked *asked,
    const GstTfxBuild *build, GError **error)
{
  GstTfxElement *element = GST_TFX_ELEMENT (self);
  const GstTfxFirAsked *source = asked;
  GstTfxImpulse *impulse;
  GstTfxKernel *kernel;

  for (;;) {
    const gboolean has_any = self->good && self->good->impulse;

    if (has_any && gst_tfx_kernel_is_for (self->bad, asked, build))
      source = &self->good->asked;
    if (has_any && gst_tfx_kernel_is_for (self->good, source, build))
      return self->good->impulse;
    kernel = gst_tfx_kernel_find (self, source, build);
    if (!kernel)
      return NULL;
    if (kernel->impulse)
      break;
    GST_DEBUG_OBJECT (self, "no kernel: %s", kernel->error->message);
    gst_tfx_kernel_free (self->bad);
    self->bad = kernel;
    if (!has_any || source != asked) {
      g_propagate_error (error, g_steal_pointer (&kernel->error));
      return NULL;
    }
    gst_tfx_element_report_refusal (element, kernel->error);
  }
  impulse = kernel->impulse;
  GST_DEBUG_OBJECT (self,
      "kernel from %s: %u channels, %" G_GSIZE_FORMAT
      " taps, delay %" G_GSIZE_FORMAT "%s",
      source->location  ? source->location
      : source->numbers ? "numbers"
                        : "a design",
      impulse->n_kernels, impulse->n_taps, impulse->delay,
      impulse->is_linear_phase ? ", linear phase" : "");
  if (source == asked)
    g_clear_pointer (&self->bad, gst_tfx_kernel_free);
  /* Freeing a long one takes long too. */
  if (self->good && build->is_running &&
      gst_tfx_kernel_takes_long (&self->good->asked, build))
    gst_tfx_worker_free_later (&self->kernel_worker, self->good,
        gst_tfx_kernel_free);
  else
    gst_tfx_kernel_free (self->good);
  self->good = kernel;
  gst_tfx_kernel_report (kernel, element);
  g_atomic_int_set (&self->n_kernels, impulse->n_kernels);
  return impulse;
}

GstTfxImpulse *
gst_tfx_kernel_move (GstTfxFir *self, const GstTfxFirAsked *asked,
    const GstTfxBuild *build)
{
  GstTfxKernel *kernel = self->spare, *last = self->good;

  if (!last || !last->impulse || self->bad ||
      gst_tfx_worker_get_job (&self->kernel_worker) ||
      last->rate != build->rate || last->n_channels != build->n_channels ||
      last->asked.location || gst_tfx_kernel_takes_long (asked, build) ||
      !asked->numbers != !last->asked.numbers ||
      (asked->numbers ? asked->numbers->len != last->impulse->n_taps
                      : asked->n_taps != last->asked.n_taps))
    return NULL;
  if (!kernel)
    self->spare = kernel = g_new0 (GstTfxKernel, 1);
  gst_tfx_kernel_set_request (kernel, asked, build->rate, build->n_channels);
  gst_tfx_kernel_load (kernel);
  /* It is reported when the chain is built. */
  g_clear_error (&kernel->error);
  if (!kernel->impulse || kernel->impulse->n_taps != last->impulse->n_taps ||
      kernel->impulse->delay != last->impulse->delay)
    return NULL;
  self->good = kernel;
  self->spare = last;
  gst_tfx_kernel_report (kernel, GST_TFX_ELEMENT (self));
  return kernel->impulse;
}

void
gst_tfx_kernel_clear (GstTfxFir *self)
{
  gst_tfx_kernel_free (gst_tfx_worker_take (&self->kernel_worker, TRUE));
  gst_tfx_worker_clear (&self->kernel_worker);
  g_clear_pointer (&self->bad, gst_tfx_kernel_free);
  g_clear_pointer (&self->good, gst_tfx_kernel_free);
  g_clear_pointer (&self->spare, gst_tfx_kernel_free);
}
