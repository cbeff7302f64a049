/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_fusion_maps.c: memory of others that is mapped to be filtered, and what other
 * threads do to elements at that time.
 */
#include "tfxcheck.h"

/* Memory that calls somebody while it is mapped to be written to. */
typedef struct
{
  GstMemory memory;
  gdouble samples[64];
  void (*call) (gpointer data);
  gpointer data;
} CallingMemory;

typedef GstAllocator CallingAllocator;
typedef GstAllocatorClass CallingAllocatorClass;

static GType calling_allocator_get_type (void);
G_DEFINE_TYPE (CallingAllocator, calling_allocator, GST_TYPE_ALLOCATOR)

static gpointer
map_calling (GstMemory *memory, gsize size, GstMapFlags flags)
{
  CallingMemory *self = (CallingMemory *)memory;

  if (self->call && (flags & GST_MAP_WRITE))
    self->call (self->data);
  return self->samples;
}

static void
unmap_calling (GstMemory *memory)
{
}

static void
free_calling (GstAllocator *allocator, GstMemory *memory)
{
  g_free (memory);
}

static void
calling_allocator_class_init (CallingAllocatorClass *klass)
{
  klass->free = free_calling;
}

static void
calling_allocator_init (CallingAllocator *self)
{
  self->mem_type = "calling";
  self->mem_map = map_calling;
  self->mem_unmap = unmap_calling;
  GST_OBJECT_FLAG_SET (self, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

static GstBuffer *
make_calling (GstAllocator *allocator, void (*call) (gpointer), gpointer data)
{
  CallingMemory *self = g_new0 (CallingMemory, 1);
  GstBuffer *buffer = gst_buffer_new ();

  gst_memory_init (&self->memory, 0, allocator, NULL, sizeof self->samples, 0,
      0, sizeof self->samples);
  self->call = call;
  self->data = data;
  gst_buffer_append_memory (buffer, &self->memory);
  return buffer;
}

/* What another thread does to an element while memory is mapped. */
typedef struct
{
  const gchar *name;
  GThreadFunc run;
  const gchar *target;
  gboolean is_split;   /* the second buffer */
  gboolean has_reader; /* of what is pending, between the two */
  GstElement *element;
  GThread *thread;
  gint is_done; /* atomic */
  gboolean was_in_time;
} Meanwhile;

static gpointer
stop_element (gpointer data)
{
  Meanwhile *self = data;

  gst_element_set_state (self->element, GST_STATE_READY);
  g_atomic_int_set (&self->is_done, TRUE);
  return NULL;
}

static gpointer
read_response (gpointer data)
{
  Meanwhile *self = data;
  const gdouble hz = 100.0;
  g_autoptr (GVariant) response = NULL;

  g_signal_emit_by_name (self->element, "response",
      g_variant_new_fixed_array (G_VARIANT_TYPE_DOUBLE, &hz, 1, sizeof hz), 0,
      &response);
  g_atomic_int_set (&self->is_done, TRUE);
  return NULL;
}

static void
run_meanwhile (gpointer data)
{
  Meanwhile *self = data;
  gint64 begin = 0;

  if (self->thread)
    return;
  self->thread = g_thread_new ("meanwhile", self->run, self);
  while (!g_atomic_int_get (&self->is_done) && tfx_check_wait (&begin))
    ;
  self->was_in_time = g_atomic_int_get (&self->is_done);
}

static GstPadProbeReturn
map_buffer (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstMapInfo map;

  fail_unless (
      gst_buffer_map (GST_PAD_PROBE_INFO_BUFFER (info), &map, GST_MAP_READ));
  gst_buffer_unmap (GST_PAD_PROBE_INFO_BUFFER (info), &map);
  return GST_PAD_PROBE_OK;
}

/* Memory that is mapped may run what is pending in it, and that takes the locks
 * of its filters: whoever maps it holds none, in a row, and where somebody else
 * reads what is pending.  So an element which has run the same filters before can
 * stop. */
static const Meanwhile meanwhiles[] = {
  { "an element stops", stop_element, "c", .is_split = TRUE },
  { "a response is read", read_response, "b" },
  { "a response is read by another", read_response, "b", .has_reader = TRUE },
};

GST_START_TEST (test_while_mapped)
{
  Meanwhile self = meanwhiles[__i__];
  GstAudioInfo info = tfx_check_f64 (48000, 1);
  g_autoptr (TfxHarness) h =
      tfx_check_harness ("tfxbutterworth name=b ! tfxbutterworth name=c",
          &info);
  g_autoptr (GstAllocator) allocator =
      gst_object_ref_sink (g_object_new (calling_allocator_get_type (), NULL));
  g_autoptr (GstElement) c = gst_bin_get_by_name (GST_BIN (h->element), "c");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (c, "sink");
  g_autoptr (GstElement) target =
      gst_bin_get_by_name (GST_BIN (h->element), self.target);

  self.element = target;
  gst_harness_push (h, make_calling (allocator, NULL, NULL));
  if (self.is_split)
    g_object_set (c, "fuse", FALSE, NULL);
  if (self.has_reader)
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, map_buffer, NULL, NULL);
  gst_harness_push (h, make_calling (allocator, run_meanwhile, &self));
  fail_unless (self.thread != NULL, "%s: the memory is not mapped", self.name);
  g_thread_join (self.thread);
  fail_unless (self.was_in_time,
      "%s: a filter is locked while memory is mapped", self.name);
  if (!self.is_split)
    fail_unless_equals_uint64 (tfx_check_stat (target, "deferred"), 2);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("fusion_maps");

  tcase_add_loop_test (tc, test_while_mapped, 0, G_N_ELEMENTS (meanwhiles));
  return tfx_check_run (argc, argv, tc);
}
