/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtrace.c: records which filters run, for which elements and when.
 *
 * The tracer "tfx": each buffer that an element receives is a slice on its
 * thread.  Within it each run of a fused row is a slice with the names of the
 * row's elements.  An arrow leads to it from each element that deferred the
 * buffer.
 *
 * NVTX, in the domain "gst-tfx": each run is a range on its thread, with these
 * names; its category is the kind of run.  Only in builds with NVTX's headers,
 * which open the library that a tool names in the environment.
 */
#include "gsttfxtrace.h"

#ifdef HAVE_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

#include "gsttfxcuda.h"
#include "gsttfxjson.h"
#include "gsttfxtracefile.h"

#define DEFAULT_FILE "tfx-trace.json"

#define GST_TYPE_TFX_TRACER (gst_tfx_tracer_get_type ())
G_DECLARE_FINAL_TYPE (GstTfxTracer, gst_tfx_tracer, GST, TFX_TRACER, GstTracer)

struct _GstTfxTracer
{
  GstTracer parent;

  GstTfxTraceFile *file;
  GstClockTime start;
};

G_DEFINE_TYPE (GstTfxTracer, gst_tfx_tracer, GST_TYPE_TRACER)

/* The tracer of the process; set before the first element is made. */
static GstTfxTracer *the_tracer;

/* A filter of an element, which may have been freed. */
typedef struct
{
  const gchar *element; /* its name, interned */
  GQueue arrows;        /* their ids: deferred buffers */
} Filter;

static GMutex lock;
/* Under the lock. */
GHashTable *gst_tfx_trace_filters; /* TfxFilter: Filter */
static guint64 n_arrows;

static GstClockTime
gst_tfx_tracer_now (GstTfxTracer *self)
{
  return gst_util_get_timestamp () - self->start;
}

/* ---- NVTX ---------------------------------------------------------------- */

#ifdef HAVE_NVTX

static nvtxDomainHandle_t domain; /* NULL: no tool */

/* Category 1 is the first. */
static const gchar *const categories[] = { "run", "start", "finish", "rest" };

static void
gst_tfx_trace_init_nvtx (void)
{
  domain = nvtxDomainCreateA ("gst-tfx");
  for (guint i = 0; domain && i < G_N_ELEMENTS (categories); i++)
    nvtxDomainNameCategoryA (domain, i + 1, categories[i]);
}

static void
gst_tfx_trace_push_nvtx (const GstTfxTraceRun *run)
{
  nvtxEventAttributes_t range = { .version = NVTX_VERSION,
    .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
    .messageType = NVTX_MESSAGE_TYPE_ASCII,
    .message.ascii = run->name->str };

  for (guint i = 0; i < G_N_ELEMENTS (categories); i++) {
    if (g_str_equal (categories[i], run->what))
      range.category = i + 1;
  }
  nvtxDomainRangePushEx (domain, &range);
}

#endif

/* ---- rows ---------------------------------------------------------------- */

static void
gst_tfx_trace_free_filter (gpointer data)
{
  Filter *filter = data;

  g_queue_clear_full (&filter->arrows, g_free);
  g_free (filter);
}

/* Call before the first element is made. */
static void
gst_tfx_trace_turn_on (void)
{
  if (!gst_tfx_trace_filters)
    gst_tfx_trace_filters =
        g_hash_table_new_full (NULL, NULL, NULL, gst_tfx_trace_free_filter);
}

void
gst_tfx_trace_name (const TfxFilter *filter, GstElement *element)
{
  Filter *known = g_new0 (Filter, 1);

  known->element = g_intern_string (GST_OBJECT_NAME (element));
  /* A freed filter may have had the same address. */
  g_mutex_lock (&lock);
  g_hash_table_replace (gst_tfx_trace_filters, (gpointer)filter, known);
  g_mutex_unlock (&lock);
}

void
gst_tfx_trace_defer (const TfxFilter *filter)
{
  GstTfxTracer *self = the_tracer;
  guint64 id;
  Filter *known;

  if (!self)
    return;
  g_mutex_lock (&lock);
  id = ++n_arrows;
  known = g_hash_table_lookup (gst_tfx_trace_filters, filter);
  if (known)
    g_queue_push_tail (&known->arrows, g_memdup2 (&id, sizeof id));
  g_mutex_unlock (&lock);
  if (known)
    gst_tfx_trace_file_add_flow (self->file, id, TRUE,
        gst_tfx_tracer_now (self));
}

void
gst_tfx_trace_begin (GstTfxTraceRun *run)
{
  const gboolean is_first =
      g_str_equal (run->what, "run") || g_str_equal (run->what, "start");

  run->name = g_string_new (NULL);
  run->args = g_string_new ("\"row\":[");
  run->arrows = g_array_new (FALSE, FALSE, sizeof (guint64));
  g_mutex_lock (&lock);
  for (gsize i = 0; i < run->n; i++) {
    Filter *known =
        g_hash_table_lookup (gst_tfx_trace_filters, run->filters[i]);
    const gchar *element = known ? known->element : "trial";
    /* The arrow of the oldest buffer ends here. */
    guint64 *id = known && is_first ? g_queue_pop_head (&known->arrows) : NULL;

    g_string_append_printf (run->name, "%s%s", i > 0 ? " | " : "", element);
    if (i > 0)
      g_string_append_c (run->args, ',');
    gst_tfx_json_quote (run->args, element);
    if (id)
      g_array_append_val (run->arrows, *id);
    g_free (id);
  }
  g_mutex_unlock (&lock);
#ifdef HAVE_NVTX
  if (domain)
    gst_tfx_trace_push_nvtx (run);
#endif
  run->start = gst_util_get_timestamp ();
}

void
gst_tfx_trace_end (GstTfxTraceRun *run)
{
  const TfxStats *added = &run->added;
  const GstClockTime end = gst_util_get_timestamp ();
  GstTfxTracer *self = the_tracer;
  GstClockTime start;

#ifdef HAVE_NVTX
  if (domain)
    nvtxDomainRangePop (domain);
#endif
  if (self) {
    start = run->start - self->start;
    g_string_append_printf (run->args,
        "],\"what\":\"%s\",\"frames\":%" G_GSIZE_FORMAT
        ",\"stages\":%" G_GSIZE_FORMAT ",\"sections\":%" G_GSIZE_FORMAT
        ",\"dispatches\":%" G_GUINT64_FORMAT ",\"launches\":%" G_GUINT64_FORMAT
        ",\"uploads\":%" G_GUINT64_FORMAT ",\"downloads\":%" G_GUINT64_FORMAT
        ",\"device\":\"%s\",\"kernel\":\"%s\"",
        run->what, run->n_frames, run->n_stages, run->n_sections,
        added->dispatches, added->launches, added->uploads, added->downloads,
        added->device ? added->device : "none",
        added->kernel ? added->kernel : "none");
    if (run->err < 0)
      g_string_append_printf (run->args, ",\"error\":%d", run->err);
    gst_tfx_trace_file_add_slice (self->file, "row", run->name->str, start,
        end - self->start, run->args->str);
    /* After the slice in the file, and within it in time. */
    for (guint i = 0; i < run->arrows->len; i++)
      gst_tfx_trace_file_add_flow (self->file,
          g_array_index (run->arrows, guint64, i), FALSE, start + 1);
  }
  g_array_unref (run->arrows);
  g_string_free (run->args, TRUE);
  g_string_free (run->name, TRUE);
}

/* ---- the driver ---------------------------------------------------------- */

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

static const TfxCudaObserver gst_tfx_tracer_observer = { gst_util_get_timestamp,
  gst_tfx_tracer_did };

/* ---- elements ------------------------------------------------------------ */

/* A buffer that this thread processes; they nest. */
typedef struct
{
  const gchar *element; /* interned */
  GstClockTime start;
} Slice;

/* Of this thread: an array of slices. */
static GPrivate the_slices = G_PRIVATE_INIT ((GDestroyNotify)g_array_unref);

/* A pad is about to call the chain function of the element after it. */
static void
gst_tfx_tracer_push_pre (GstTfxTracer *self, GstClockTime time, GstPad *pad,
    gpointer data)
{
  GArray *slices = g_private_get (&the_slices);
  GstPad *peer = gst_pad_get_peer (pad);
  GstObject *parent = peer ? gst_pad_get_parent (peer) : NULL;
  const Slice slice = { g_intern_string (
                            parent ? GST_OBJECT_NAME (parent) : "nobody"),
    gst_tfx_tracer_now (self) };

  gst_clear_object (&parent);
  gst_clear_object (&peer);
  if (!slices) {
    slices = g_array_new (FALSE, FALSE, sizeof (Slice));
    g_private_set (&the_slices, slices);
  }
  g_array_append_val (slices, slice);
}

static void
gst_tfx_tracer_push_post (GstTfxTracer *self, GstClockTime time, GstPad *pad,
    GstFlowReturn flow)
{
  GArray *slices = g_private_get (&the_slices);
  Slice slice;

  if (!slices || slices->len == 0)
    return;
  slice = g_array_index (slices, Slice, slices->len - 1);
  g_array_set_size (slices, slices->len - 1);
  gst_tfx_trace_file_add_slice (self->file, "element", slice.element,
      slice.start, gst_tfx_tracer_now (self), "");
  /* The thread has no filter locked here. */
  gst_tfx_trace_file_flush (self->file, FALSE);
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
  static const gchar *const pushes[] = { "pad-push-pre", "pad-push-list-pre",
    "pad-push-post", "pad-push-list-post" };
  GstTfxTracer *self = GST_TFX_TRACER (object);
  gchar *path;

  G_OBJECT_CLASS (gst_tfx_tracer_parent_class)->constructed (object);
  if (the_tracer) {
    g_warning ("GST_TRACERS: there is a tracer tfx already");
    return;
  }
  path = gst_tfx_tracer_get_path (self);
  self->file = gst_tfx_trace_file_new (path);
  g_free (path);
  the_tracer = self;
  gst_tfx_trace_turn_on ();
  tfx_cuda_observe (&gst_tfx_tracer_observer);
  for (guint i = 0; i < G_N_ELEMENTS (pushes); i++)
    gst_tracing_register_hook (GST_TRACER (self), pushes[i],
        i < 2 ? G_CALLBACK (gst_tfx_tracer_push_pre)
              : G_CALLBACK (gst_tfx_tracer_push_post));
}

/* Called by gst_deinit(), when no stream runs. */
static void
gst_tfx_tracer_finalize (GObject *object)
{
  GstTfxTracer *self = GST_TFX_TRACER (object);

  if (the_tracer == self) {
    the_tracer = NULL;
    gst_tfx_trace_file_free (self->file);
  }
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
}

void
gst_tfx_trace_init (GstPlugin *plugin)
{
  gst_tracer_register (plugin, "tfx", GST_TYPE_TFX_TRACER);
#ifdef HAVE_NVTX
  gst_tfx_trace_init_nvtx ();
  if (domain)
    gst_tfx_trace_turn_on ();
#endif
}
