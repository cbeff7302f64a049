/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxkernel.c: makes the impulse response of a kernel source.
 */
#include "gsttfxkernel.h"

#include <errno.h>
#include <string.h>

#include "gsttfximpulsefile.h"

GST_DEBUG_CATEGORY_EXTERN (gst_tfx_fir_debug);
#define GST_CAT_DEFAULT gst_tfx_fir_debug

/* Longest time of a design and its stage for each tap, and the longest time that they may
 * take, as a fraction of the duration of a buffer.  Shorter buffers count as
 * MIN_BUFFER_FRAMES. */
#define TAP_NS 15.0
#define MAX_PART 0.1
#define MIN_BUFFER_FRAMES 64

/* Start of the message of tfx_fir_design_check() if the number of taps is invalid. */
#define TAPS_FAULT "n_taps: "

/* A request and its result. */
struct _GstTfxKernel
{
  GstTfxKernelSource source;
  guint rate, n_channels;

  GstTfxImpulse *room;    /* memory for the next impulse response, or NULL */
  GstTfxImpulse *impulse; /* or else: */
  GError *error;
  GstTfxImpulse *file; /* the file's contents, at its own rate */

  /* The design that was made: */
  TfxFirDesign design;
  gint design_err;
  GstTfxEdges edges;
  const gchar *because; /* reason for another number of taps; static */
};

static GstTfxKernel *
gst_tfx_kernel_new (const GstTfxKernelSource *source, guint rate,
    guint n_channels)
{
  GstTfxKernel *self = g_new0 (GstTfxKernel, 1);

  gst_tfx_kernel_source_copy (&self->source, source);
  self->rate = rate;
  self->n_channels = n_channels;
  return self;
}

static void
gst_tfx_kernel_free (gpointer data)
{
  GstTfxKernel *self = data;

  if (!self)
    return;
  gst_tfx_kernel_source_clear (&self->source);
  gst_tfx_impulse_unref (self->room);
  gst_tfx_impulse_unref (self->impulse);
  gst_tfx_impulse_unref (self->file);
  g_clear_error (&self->error);
  g_free (self);
}

static gboolean
gst_tfx_kernel_is_for (const GstTfxKernel *self,
    const GstTfxKernelSource *source, guint rate, guint n_channels)
{
  return self && self->rate == rate && self->n_channels == n_channels &&
         gst_tfx_kernel_source_equal (&self->source, source);
}

/* ---- a design ------------------------------------------------------------------ */

static gint
gst_tfx_kernel_try_design (GstTfxKernel *self)
{
  g_clear_pointer (&self->impulse, gst_tfx_impulse_unref);
  self->design_err =
      gst_tfx_impulse_set_design (&self->room, &self->design, self->rate);
  if (self->design_err == 0)
    self->impulse = g_steal_pointer (&self->room);
  return self->design_err;
}

/* Designs with the requested number of taps, or with one more if that number is invalid:
 * the only invalid ones are even. */
static gboolean
gst_tfx_kernel_design_band (GstTfxKernel *self)
{
  const gchar *fault = NULL;

  self->design.lower_hz = self->edges.lower_hz;
  self->design.upper_hz = self->edges.upper_hz;
  if (gst_tfx_kernel_try_design (self) == -EINVAL && !self->because) {
    tfx_fir_design_check (&self->design, self->rate, &fault);
    if (fault && g_str_has_prefix (fault, TAPS_FAULT)) {
      self->because = fault + strlen (TAPS_FAULT);
      self->design.n_taps += self->design.n_taps < TFX_FIR_MAX_TAPS ? 1 : -1;
      gst_tfx_kernel_try_design (self);
    }
  }
  /* Without memory no other band helps. */
  return self->design_err != -EINVAL;
}

static void
gst_tfx_kernel_load_design (GstTfxKernel *self)
{
  const GstTfxKernelSource *source = &self->source;
  const gchar *fault = NULL;

  self->design = (TfxFirDesign){ .mode = source->band.mode,
    .n_taps = source->n_taps,
    .window = source->window,
    .beta = source->beta };
  self->edges = gst_tfx_band_get_edges (&source->band);
  while (!gst_tfx_kernel_design_band (self) &&
         gst_tfx_band_fit (&source->band, self->rate, &self->edges))
    ;
  if (self->impulse)
    return;
  if (self->design_err == -EINVAL)
    tfx_fir_design_check (&self->design, self->rate, &fault);
  g_set_error (&self->error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      "taps=%u: %s", source->n_taps,
      fault ? fault : g_strerror (-self->design_err));
}

/* Warns the user of each value of a design that differs from the request. */
static void
gst_tfx_kernel_report (const GstTfxKernel *self, GstTfxElement *element)
{
  const GstTfxKernelSource *source = &self->source;
  GstTfxClamp taps = { .property = "taps",
    .unit = "",
    .asked = source->n_taps,
    .used = self->design.n_taps,
    .because = self->because };

  if (source->location || source->values)
    return;
  gst_tfx_band_report (&source->band, &self->edges, element, self->rate);
  gst_tfx_element_report_clamp (element, &taps, self->rate);
}

/* ---- all of them ---------------------------------------------------------------- */

gboolean
gst_tfx_kernel_source_takes_long (const GstTfxKernelSource *source,
    const GstTfxBuild *build)
{
  const gsize n_frames = MAX (build->spec->block_frames, MIN_BUFFER_FRAMES);
  const gdouble buffer_ns = n_frames / build->rate * (gdouble)GST_SECOND;

  return source->location ||
         (!source->values && source->n_taps * TAP_NS > MAX_PART * buffer_ns);
}

/* Makes the impulse response, or the error.  Any thread. */
static void
gst_tfx_kernel_load (gpointer data)
{
  GstTfxKernel *self = data;
  const GstTfxKernelSource *source = &self->source;
  const GArray *values = source->values;

  if (source->location) {
    if (!self->file)
      self->file = gst_tfx_impulse_file_read (source->location,
          self->n_channels, &self->error);
    if (self->file)
      self->impulse = gst_tfx_impulse_file_fit (self->file, self->rate,
          self->n_channels, source->location, &self->error);
    g_prefix_error (&self->error, "kernel-location: ");
  } else if (values) {
    if (gst_tfx_impulse_set_values (&self->room,
            &g_array_index (values, gdouble, 0), values->len, &self->error))
      self->impulse = g_steal_pointer (&self->room);
  } else {
    gst_tfx_kernel_load_design (self);
  }
}

/* ---- in the streaming thread ------------------------------------------------ */

guint
gst_tfx_kernel_loader_start (GstTfxKernelLoader *self,
    const GstTfxKernelSource *source)
{
  if (!source->location)
    return 1;
  self->first = gst_tfx_kernel_new (source, 0, 0);
  self->first->file = gst_tfx_impulse_file_read (source->location, 0, NULL);
  return self->first->file ? self->first->file->n_kernels : 1;
}

/* Returns the loaded kernel of a source; NULL while a background task loads it. */
static GstTfxKernel *
gst_tfx_kernel_loader_load (GstTfxKernelLoader *self, GstTfxElement *element,
    const GstTfxKernelSource *source, const GstTfxBuild *build)
{
  const gboolean may_wait = !build->is_running;
  GstTfxKernel *kernel = gst_tfx_worker_take (&self->worker, may_wait);
  const GstTfxKernel *read;

  if (gst_tfx_kernel_is_for (kernel, source, build->rate, build->n_channels))
    return kernel;
  gst_tfx_kernel_free (kernel);
  if (gst_tfx_worker_get_job (&self->worker))
    return NULL;
  if (may_wait)
    gst_tfx_worker_clear (&self->worker);

  kernel = gst_tfx_kernel_new (source, build->rate, build->n_channels);
  read = self->good ? self->good : self->first;
  if (read && read->file && gst_tfx_kernel_source_equal (&read->source, source))
    kernel->file = gst_tfx_impulse_ref (read->file);
  if (!may_wait && gst_tfx_kernel_source_takes_long (source, build) &&
      gst_tfx_worker_start (&self->worker, gst_tfx_kernel_load, kernel,
          element)) {
    GST_DEBUG_OBJECT (element, "loading the kernel in a background task");
    return NULL;
  }
  gst_tfx_kernel_load (kernel);
  return kernel;
}

GstTfxImpulse *
gst_tfx_kernel_loader_get (GstTfxKernelLoader *self, GstTfxElement *element,
    const GstTfxKernelSource *asked, const GstTfxBuild *build, GError **error)
{
  const GstTfxKernelSource *source = asked;
  const guint rate = build->rate, n_channels = build->n_channels;
  GstTfxKernel *kernel;

  if (self->good && gst_tfx_kernel_is_for (self->bad, asked, rate, n_channels))
    source = &self->good->source;
  if (gst_tfx_kernel_is_for (self->good, source, rate, n_channels))
    return self->good->impulse;

  kernel = gst_tfx_kernel_loader_load (self, element, source, build);
  if (!kernel)
    return NULL;
  if (!kernel->impulse) {
    GST_DEBUG_OBJECT (element, "no kernel: %s", kernel->error->message);
    g_propagate_error (error, g_steal_pointer (&kernel->error));
    gst_tfx_kernel_free (self->bad);
    self->bad = kernel;
    return NULL;
  }
  if (source == asked)
    g_clear_pointer (&self->bad, gst_tfx_kernel_free);
  if (!build->is_running)
    g_clear_pointer (&self->first, gst_tfx_kernel_free);
  if (self->good && build->is_running &&
      gst_tfx_kernel_source_takes_long (&self->good->source, build))
    gst_tfx_worker_free_later (&self->worker, self->good, gst_tfx_kernel_free);
  else
    gst_tfx_kernel_free (self->good);
  self->good = kernel;
  GST_DEBUG_OBJECT (element,
      "kernel from %s: %u channels, %" G_GSIZE_FORMAT
      " taps, delay %" G_GSIZE_FORMAT "%s",
      source->location ? source->location
      : source->values ? "numbers"
                       : "a design",
      kernel->impulse->n_kernels, kernel->impulse->n_taps,
      kernel->impulse->delay,
      kernel->impulse->is_linear_phase ? ", linear phase" : "");
  gst_tfx_kernel_report (kernel, element);
  return kernel->impulse;
}

/* Whether the source differs from the current one in values alone. */
static gboolean
gst_tfx_kernel_loader_can_move (const GstTfxKernelLoader *self,
    const GstTfxKernelSource *source, const GstTfxBuild *build)
{
  const GstTfxKernel *good = self->good;

  if (!good || self->bad || gst_tfx_worker_get_job (&self->worker) ||
      good->rate != build->rate || good->n_channels != build->n_channels ||
      good->source.location ||
      gst_tfx_kernel_source_takes_long (source, build) ||
      !source->values != !good->source.values)
    return FALSE;
  return source->values ? source->values->len == good->impulse->n_taps
                        : source->n_taps == good->source.n_taps;
}

GstTfxImpulse *
gst_tfx_kernel_loader_move (GstTfxKernelLoader *self, GstTfxElement *element,
    const GstTfxKernelSource *source, const GstTfxBuild *build)
{
  GstTfxKernel *kernel = self->spare, *last = self->good;

  if (!gst_tfx_kernel_loader_can_move (self, source, build))
    return NULL;
  if (!kernel || kernel->rate != build->rate ||
      kernel->n_channels != build->n_channels) {
    gst_tfx_kernel_free (kernel);
    kernel = gst_tfx_kernel_new (source, build->rate, build->n_channels);
  } else {
    gst_tfx_kernel_source_clear (&kernel->source);
    gst_tfx_kernel_source_copy (&kernel->source, source);
    kernel->because = NULL;
    if (!kernel->room)
      kernel->room = g_steal_pointer (&kernel->impulse);
  }
  self->spare = kernel;
  g_clear_pointer (&kernel->impulse, gst_tfx_impulse_unref);
  gst_tfx_kernel_load (kernel);
  /* It is reported when the chain is built. */
  g_clear_error (&kernel->error);
  if (!kernel->impulse || kernel->impulse->n_taps != last->impulse->n_taps ||
      kernel->impulse->delay != last->impulse->delay)
    return NULL;
  self->good = kernel;
  self->spare = last;
  gst_tfx_kernel_report (kernel, element);
  return kernel->impulse;
}

gboolean
gst_tfx_kernel_loader_has_any (const GstTfxKernelLoader *self)
{
  return self->good != NULL;
}

void
gst_tfx_kernel_loader_clear (GstTfxKernelLoader *self)
{
  gst_tfx_kernel_free (gst_tfx_worker_take (&self->worker, TRUE));
  gst_tfx_worker_clear (&self->worker);
  g_clear_pointer (&self->bad, gst_tfx_kernel_free);
  g_clear_pointer (&self->good, gst_tfx_kernel_free);
  g_clear_pointer (&self->first, gst_tfx_kernel_free);
  g_clear_pointer (&self->spare, gst_tfx_kernel_free);
}
