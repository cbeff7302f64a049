/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtracer.c: the tracer "tfx".
 *
 * Each buffer that an element receives is a slice on its thread.  Within it
 * each run of a fused row is a slice with the names of the row's elements.  An
 * arrow leads to it from each element that deferred the buffer.
 */
#include "gsttfxtracer.h"

#include <string.h>

#include "gsttfxcuda.h"
#include "gsttfxjson.h"
#include "gsttfxtrace.h"
#include "gsttfxtracefile.h"

#define DEFAULT_FILE "tfx-trace.json"

#define GST_TYPE_TFX_TRACER (gst_tfx_tracer_get_type ())
G_DECLARE_FINAL_TYPE (GstTfxTracer, gst_tfx_tracer, GST, TFX_TRACER, GstTracer)

/* A filter of an element, which may have been freed. */
typedef struct
{
  const gchar *element; /* its name, interned */
  GQueue flows;         /* ids of arrows: deferred buffers */
} Filter;

struct _GstTfxTracer
{
  GstTracer parent;

  GstTfxTraceFile *file;
  GstClockTime start;
  GMutex lock;
  /* Under the lock. */
  GHashTable *filters; /* TfxFilter: Filter */
  guint64 n_flows;
};

G_DEFINE_TYPE (GstTfxTracer, gst_tfx_tracer, GST_TYPE_TRACER)

/* The tracer of the process; set before the first element is made. */
static GstTfxTracer *the_tracer;

static GstClockTime
gst_tfx_tracer_now (GstTfxTracer *self)
{
  return gst_util_get_timestamp () - self->start;
}

/* ---- rows ---------------------------------------------------------------- */

static void
gst_tfx_tracer_free_filter (gpointer data)
{
  Filter *filter = data;

  g_queue_clear_full (&filter->flows, g_free);
  g_free (filter);
}

static void
gst_tfx_tracer_name (const TfxFilter *filter, GstElement *element)
{
  GstTfxTracer *self = the_tracer;
  Filter *known = g_new0 (Filter, 1);

  known->element = g_intern_string (GST_OBJECT_NAME (element));
  g_queue_init (&known->flows);
  /* A freed filter may have had the same address. */
  g_mutex_lock (&self->lock);
  g_hash_table_replace (self->filters, (gpointer)filter, known);
  g_mutex_unlock (&self->lock);
}

static void
gst_tfx_tracer_defer (const TfxFilter *filter)
{
  GstTfxTracer *self = the_tracer;
  guint64 id;
  Filter *known;

  g_mutex_lock (&self->lock);
  id = ++self->n_flows;
  known = g_hash_table_lookup (self->filters, filter);
  if (known)
    g_queue_push_tail (&known->flows, g_memdup2 (&id, sizeof id));
  g_mutex_unlock (&self->lock);
  if (known)
    gst_tfx_trace_file_add_flow (self->file, id, "left", TRUE,
        gst_tfx_tracer_now (self));
}

/* Returns the names of the row's elements, and in @flows the arrows that end in
 * the run: the oldest of each filter. */
static GString *
gst_tfx_tracer_describe_row (GstTfxTracer *self, const GstTfxTraceRun *run,
    GString *args, GArray *flows)
{
  GString *name = g_string_new (NULL);
  const gboolean is_first =
      strcmp (run->what, "run") == 0 || strcmp (run->what, "start") == 0;

  g_string_append (args, "\"row\":[");
  g_mutex_lock (&self->lock);
  for (gsize i = 0; i < run->n; i++) {
    Filter *known = g_hash_table_lookup (self->filters, run->filters[i]);
    const gchar *element = known ? known->element : "trial";
    guint64 *id = known && is_first ? g_queue_pop_head (&known->flows) : NULL;

    g_string_append_printf (name, "%s%s", i > 0 ? " | " : "", element);
    if (i > 0)
      g_string_append_c (args, ',');
    gst_tfx_json_quote (args, element);
    if (id)
      g_array_append_val (flows, *id);
    g_free (id);
  }
  g_mutex_unlock (&self->lock);
  g_string_append_c (args, ']');
  return name;
}

static void
gst_tfx_tracer_run (const GstTfxTraceRun *run)
{
  GstTfxTracer *self = the_tracer;
  const GstClockTime start = run->start - self->start;
  GArray *flows = g_array_new (FALSE, FALSE, sizeof (guint64));
  GString *args = g_string_new (NULL), *name;

  name = gst_tfx_tracer_describe_row (self, run, args, flows);
  g_string_append_printf (args,
      ",\"what\":\"%s\",\"frames\":%" G_GSIZE_FORMAT ",\"stages\":%" //
      G_GSIZE_FORMAT ",\"sections\":%" G_GSIZE_FORMAT
      ",\"dispatches\":%" G_GUINT64_FORMAT ",\"launches\":%" G_GUINT64_FORMAT
      ",\"uploads\":%" G_GUINT64_FORMAT ",\"downloads\":%" G_GUINT64_FORMAT
      ",\"device\":\"%s\",\"kernel\":\"%s\"",
      run->what, run->n_frames, run->n_stages, run->n_sections,
      run->added.dispatches, run->added.launches, run->added.uploads,
      run->added.downloads, run->added.device ? run->added.device : "none",
      run->added.kernel ? run->added.kernel : "none");
  if (run->err < 0)
    g_string_append_printf (args, ",\"error\":%d", run->err);
  gst_tfx_trace_file_add_slice (self->file, "row", name->str, start,
      run->end - self->start, args->str);
  /* After the slice in the file, and within it in time. */
  for (guint i = 0; i < flows->len; i++)
    gst_tfx_trace_file_add_flow (self->file, g_array_index (flows, guint64, i),
        "left", FALSE, start + 1);
  g_array_unref (flows);
  g_string_free (args, TRUE);
  g_string_free (name, TRUE);
}

static GstTfxTraceHooks gst_tfx_tracer_hooks = { .name = gst_tfx_tracer_name,
  .defer = gst_tfx_tracer_defer,
  .end = gst_tfx_tracer_run };

/* ---- the driver ---------------------------------------------------------- */

static guint64
gst_tfx_tracer_get_time (void)
{
  return gst_util_get_timestamp ();
}

static void
gst_tfx_tracer_did (const char *what, const char *name, size_t n_bytes,
    uint64_t start)
{
  GstTfxTracer *self = the_tracer;
  gchar args[64] = "";

  if (!self)
    return;
  if (n_bytes > 0)
    g_snprintf (args, sizeof args, "\"bytes\":%" G_GSIZE_FORMAT, n_bytes);
  gst_tfx_trace_file_add_slice (self->file, what, name, start - self->start,
      gst_tfx_tracer_now (self), args);
}

static const TfxCudaObserver gst_tfx_tracer_observer = {
  gst_tfx_tracer_get_time, gst_tfx_tracer_did
};

/* ---- elements ------------------------------------------------------------ */

/* A buffer that this thread processes; they nest. */
typedef struct
{
  const gchar *element; /* interned */
  GstClockTime start;
} Slice;

static void
gst_tfx_tracer_free_slices (gpointer slices)
{
  g_array_unref (slices);
}

static GPrivate the_slices = G_PRIVATE_INIT (gst_tfx_tracer_free_slices);

static GArray *
gst_tfx_tracer_get_slices (void)
{
  GArray *slices = g_private_get (&the_slices);

  if (!slices) {
    slices = g_array_new (FALSE, FALSE, sizeof (Slice));
    g_private_set (&the_slices, slices);
  }
  return slices;
}

/* The element whose chain function is about to run. */
static const gchar *
gst_tfx_tracer_get_receiver (GstPad *pad)
{
  GstPad *peer = gst_pad_get_peer (pad);
  GstObject *parent = peer ? gst_pad_get_parent (peer) : NULL;
  const gchar *name =
      g_intern_string (parent ? GST_OBJECT_NAME (parent) : "nobody");

  gst_clear_object (&parent);
  gst_clear_object (&peer);
  return name;
}

static void
gst_tfx_tracer_begin (GstTfxTracer *self, GstPad *pad)
{
  const Slice slice = { gst_tfx_tracer_get_receiver (pad),
    gst_tfx_tracer_now (self) };

  g_array_append_val (gst_tfx_tracer_get_slices (), slice);
}

static void
gst_tfx_tracer_end (GstTfxTracer *self)
{
  GArray *slices = gst_tfx_tracer_get_slices ();
  Slice slice;

  if (slices->len == 0)
    return;
  slice = g_array_index (slices, Slice, slices->len - 1);
  g_array_set_size (slices, slices->len - 1);
  gst_tfx_trace_file_add_slice (self->file, "element", slice.element,
      slice.start, gst_tfx_tracer_now (self), "");
  /* The thread has no filter locked here. */
  gst_tfx_trace_file_flush (self->file, FALSE);
}

static void
gst_tfx_tracer_push_pre (GstTfxTracer *self, GstClockTime time, GstPad *pad,
    gpointer data)
{
  gst_tfx_tracer_begin (self, pad);
}

static void
gst_tfx_tracer_push_post (GstTfxTracer *self, GstClockTime time, GstPad *pad,
    GstFlowReturn flow)
{
  gst_tfx_tracer_end (self);
}

/* ---- the tracer ---------------------------------------------------------- */

/* Writes the last events of a program that does not call gst_deinit(). */
static void __attribute__ ((destructor)) gst_tfx_tracer_flush (void)
{
  if (the_tracer)
    gst_tfx_trace_file_flush (the_tracer->file, TRUE);
}

static gchar *
gst_tfx_tracer_get_path (GstTfxTracer *self)
{
  gchar *params = NULL, *text, *path = NULL;
  GstStructure *fields;

  g_object_get (self, "params", &params, NULL);
  text = g_strdup_printf ("tfx,%s", params ? params : "");
  fields = params && *params ? gst_structure_from_string (text, NULL) : NULL;
  if (fields) {
    path = g_strdup (gst_structure_get_string (fields, "file"));
    gst_structure_free (fields);
  }
  if (!path && params && *params)
    g_warning ("GST_TRACERS: tfx(%s): it must be tfx(file=NAME); the file is "
               "%s",
        params, DEFAULT_FILE);
  g_free (text);
  g_free (params);
  return path ? path : g_strdup (DEFAULT_FILE);
}

static void
gst_tfx_tracer_constructed (GObject *object)
{
  GstTfxTracer *self = GST_TFX_TRACER (object);
  gchar *path = gst_tfx_tracer_get_path (self);

  G_OBJECT_CLASS (gst_tfx_tracer_parent_class)->constructed (object);
  self->file = gst_tfx_trace_file_new (path);
  g_free (path);
  if (the_tracer) {
    g_warning ("GST_TRACERS: there is a tracer tfx already");
    return;
  }
  the_tracer = self;
  gst_tfx_trace_add (&gst_tfx_tracer_hooks);
  tfx_cuda_observe (&gst_tfx_tracer_observer);
  gst_tracing_register_hook (GST_TRACER (self), "pad-push-pre",
      G_CALLBACK (gst_tfx_tracer_push_pre));
  gst_tracing_register_hook (GST_TRACER (self), "pad-push-list-pre",
      G_CALLBACK (gst_tfx_tracer_push_pre));
  gst_tracing_register_hook (GST_TRACER (self), "pad-push-post",
      G_CALLBACK (gst_tfx_tracer_push_post));
  gst_tracing_register_hook (GST_TRACER (self), "pad-push-list-post",
      G_CALLBACK (gst_tfx_tracer_push_post));
}

/* Called by gst_deinit(), when no stream runs. */
static void
gst_tfx_tracer_finalize (GObject *object)
{
  GstTfxTracer *self = GST_TFX_TRACER (object);

  if (the_tracer == self) {
    gst_tfx_trace_remove (&gst_tfx_tracer_hooks);
    the_tracer = NULL;
  }
  gst_tfx_trace_file_free (self->file);
  g_hash_table_unref (self->filters);
  g_mutex_clear (&self->lock);
  G_OBJECT_CLASS (gst_tfx_tracer_parent_class)->finalize (object);
}

static void
gst_tfx_tracer_class_init (GstTfxTracerClass *klass)
{
  G_OBJECT_CLASS (klass)->constructed = gst_tfx_tracer_constructed;
  G_OBJECT_CLASS (klass)->finalize = gst_tfx_tracer_finalize;
}

static void
gst_tfx_tracer_init (GstTfxTracer *self)
{
  self->start = gst_util_get_timestamp ();
  g_mutex_init (&self->lock);
  self->filters =
      g_hash_table_new_full (NULL, NULL, NULL, gst_tfx_tracer_free_filter);
}

gboolean
gst_tfx_tracer_register (GstPlugin *plugin)
{
  return gst_tracer_register (plugin, "tfx", GST_TYPE_TFX_TRACER);
}
