/* SPDX-License-Identifier: LGPL-2.1-or-later
 * calling.c: memory of another element, which waits for a thread while it is mapped
 * or unmapped.
 */
#include "calling.h"

#include "tfxcheck.h"

typedef struct
{
  GstMemory memory;
  gpointer samples;
  CallingDeed *deed;
} CallingMemory;

typedef GstAllocator CallingAllocator;
typedef GstAllocatorClass CallingAllocatorClass;

static GType calling_allocator_get_type (void);
G_DEFINE_TYPE (CallingAllocator, calling_allocator, GST_TYPE_ALLOCATOR)

static gpointer
calling_do (gpointer data)
{
  CallingDeed *deed = data;

  deed->deed (deed->element);
  g_atomic_int_set (&deed->is_done, TRUE);
  return NULL;
}

static void
calling_wait (CallingDeed *deed, gboolean at_unmap)
{
  const gint64 begin = g_get_monotonic_time ();

  if (!deed || deed->thread || deed->at_unmap != at_unmap)
    return;
  g_atomic_int_set (&deed->is_done, FALSE);
  deed->thread = g_thread_new ("deed", calling_do, deed);
  while (!g_atomic_int_get (&deed->is_done) &&
         g_get_monotonic_time () - begin < deed->seconds * G_TIME_SPAN_SECOND)
    g_usleep (1000);
  if (!g_atomic_int_get (&deed->is_done))
    return;
  g_thread_join (g_steal_pointer (&deed->thread));
  deed->n_done++;
}

static gpointer
calling_map (GstMemory *memory, gsize size, GstMapFlags flags)
{
  CallingMemory *self = (CallingMemory *)memory;

  calling_wait (self->deed, FALSE);
  return self->samples;
}

static void
calling_unmap (GstMemory *memory, GstMapInfo *info)
{
  calling_wait (((CallingMemory *)memory)->deed, TRUE);
}

static void
calling_free (GstAllocator *allocator, GstMemory *memory)
{
  g_free (((CallingMemory *)memory)->samples);
  g_free (memory);
}

static void
calling_allocator_class_init (CallingAllocatorClass *klass)
{
  klass->free = calling_free;
}

static void
calling_allocator_init (CallingAllocator *self)
{
  self->mem_type = "calling";
  self->mem_map = calling_map;
  self->mem_unmap_full = calling_unmap;
  GST_OBJECT_FLAG_SET (self, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

GstBuffer *
calling_buffer_new (gsize size, CallingDeed *deed)
{
  GstAllocator *allocator =
      gst_object_ref_sink (g_object_new (calling_allocator_get_type (), NULL));
  CallingMemory *self = g_new0 (CallingMemory, 1);
  GstBuffer *buffer = gst_buffer_new ();

  gst_memory_init (&self->memory, 0, allocator, NULL, size, 0, 0, size);
  self->samples = g_malloc0 (size);
  self->deed = deed;
  gst_buffer_append_memory (buffer, &self->memory);
  gst_object_unref (allocator);
  return buffer;
}

void
calling_expect_done (CallingDeed *deed, const gchar *name)
{
  const gboolean was_late = deed->thread != NULL;

  if (was_late)
    g_thread_join (g_steal_pointer (&deed->thread));
  fail_unless (!was_late, "%s: a filter is locked while memory is %smapped",
      name, deed->at_unmap ? "un" : "");
  fail_unless (deed->n_done > 0, "%s: the memory is not mapped", name);
}

void
calling_read_response (GstElement *element)
{
  const gdouble hz = 100.0;
  GVariant *response = NULL,
           *frequencies = g_variant_ref_sink (
               g_variant_new_fixed_array (G_VARIANT_TYPE_DOUBLE, &hz, 1,
                   sizeof hz));

  g_signal_emit_by_name (element, "response", frequencies, 0, &response);
  g_variant_unref (response);
  g_variant_unref (frequencies);
}
