/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tsan.c: what the thread sanitizer cannot see in libraries that are built
 * without it: GLib's mutexes, which are no pthread ones, and the references of
 * objects, which order what was done before the last one went.
 *
 * Only in builds with -Db_sanitize=thread; the program's functions come before
 * those of the libraries.
 */
#include <dlfcn.h>

#include <gmodule.h>
#include <gst/gst.h>

extern void __tsan_acquire (void *address);
extern void __tsan_release (void *address);

/* The next function of that name, which many threads may look for at once. */
#define REAL(name)                                                             \
  static __typeof__ (&name) real;                                              \
  if (!__atomic_load_n (&real, __ATOMIC_RELAXED))                              \
  __atomic_store_n (&real, (__typeof__ (&name))dlsym (RTLD_NEXT, #name),       \
      __ATOMIC_RELAXED)

G_MODULE_EXPORT void
g_mutex_lock (GMutex *mutex)
{
  REAL (g_mutex_lock);

  real (mutex);
  __tsan_acquire (mutex);
}

G_MODULE_EXPORT gboolean
g_mutex_trylock (GMutex *mutex)
{
  gboolean ok;
  REAL (g_mutex_trylock);

  ok = real (mutex);
  if (ok)
    __tsan_acquire (mutex);
  return ok;
}

G_MODULE_EXPORT void
g_mutex_unlock (GMutex *mutex)
{
  REAL (g_mutex_unlock);

  __tsan_release (mutex);
  real (mutex);
}

G_MODULE_EXPORT void
g_cond_wait (GCond *cond, GMutex *mutex)
{
  REAL (g_cond_wait);

  __tsan_release (mutex);
  real (cond, mutex);
  __tsan_acquire (mutex);
}

G_MODULE_EXPORT gboolean
g_cond_wait_until (GCond *cond, GMutex *mutex, gint64 end_time)
{
  gboolean ok;
  REAL (g_cond_wait_until);

  __tsan_release (mutex);
  ok = real (cond, mutex, end_time);
  __tsan_acquire (mutex);
  return ok;
}

/* Who finds the count to be 1 knows that others have let go. */
static void
release_one (GstMiniObject *object)
{
  __tsan_release (object);
  __tsan_release (&object->refcount);
}

/* A buffer lets go of its memory inside of the library. */
static void
release (GstMiniObject *object)
{
  release_one (object);
  if (object->type != GST_TYPE_BUFFER)
    return;
  for (guint i = 0; i < gst_buffer_n_memory ((GstBuffer *)object); i++)
    release_one (
        GST_MINI_OBJECT (gst_buffer_peek_memory ((GstBuffer *)object, i)));
}

static void
acquire (GstMiniObject *object)
{
  __tsan_acquire (object);
  if (object->type != GST_TYPE_BUFFER)
    return;
  for (guint i = 0; i < gst_buffer_n_memory ((GstBuffer *)object); i++)
    __tsan_acquire (gst_buffer_peek_memory ((GstBuffer *)object, i));
}

G_MODULE_EXPORT void
gst_mini_object_unref (GstMiniObject *object)
{
  REAL (gst_mini_object_unref);

  release (object);
  if (GST_MINI_OBJECT_REFCOUNT_VALUE (object) == 1)
    acquire (object);
  real (object);
}

/* Whether anybody else may write is asked of the same count. */
G_MODULE_EXPORT gboolean
gst_mini_object_is_writable (const GstMiniObject *object)
{
  gboolean is_writable;
  REAL (gst_mini_object_is_writable);

  is_writable = real (object);
  if (is_writable)
    acquire ((GstMiniObject *)object);
  return is_writable;
}

G_MODULE_EXPORT GstMiniObject *
gst_mini_object_make_writable (GstMiniObject *object)
{
  REAL (gst_mini_object_make_writable);

  /* Of a shared one this is the end. */
  release (object);
  object = real (object);
  acquire (object);
  return object;
}

/* Memory that is mapped to be written to has been found to be nobody else's. */
G_MODULE_EXPORT gboolean
gst_buffer_map (GstBuffer *buffer, GstMapInfo *info, GstMapFlags flags)
{
  gboolean ok;
  REAL (gst_buffer_map);

  ok = real (buffer, info, flags);
  if (ok && (flags & GST_MAP_WRITE))
    acquire (GST_MINI_OBJECT (buffer));
  return ok;
}

G_MODULE_EXPORT gboolean
gst_buffer_map_range (GstBuffer *buffer, guint at, gint n, GstMapInfo *info,
    GstMapFlags flags)
{
  gboolean ok;
  REAL (gst_buffer_map_range);

  ok = real (buffer, at, n, info, flags);
  if (ok && (flags & GST_MAP_WRITE))
    acquire (GST_MINI_OBJECT (buffer));
  return ok;
}

G_MODULE_EXPORT gboolean
gst_memory_map (GstMemory *memory, GstMapInfo *info, GstMapFlags flags)
{
  gboolean ok;
  REAL (gst_memory_map);

  ok = real (memory, info, flags);
  if (ok && (flags & GST_MAP_WRITE))
    acquire (GST_MINI_OBJECT (memory));
  return ok;
}

G_MODULE_EXPORT void
g_object_unref (gpointer object)
{
  REAL (g_object_unref);

  __tsan_release (object);
  if (((GObject *)object)->ref_count == 1)
    __tsan_acquire (object);
  real (object);
}

G_MODULE_EXPORT void
gst_object_unref (gpointer object)
{
  g_object_unref (object);
}
