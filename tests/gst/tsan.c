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
extern void AnnotateIgnoreWritesBegin (const char *file, int line);
extern void AnnotateIgnoreWritesEnd (const char *file, int line);

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

/* ---- recursive mutexes -------------------------------------------------------- */

/* GLib makes them of pthread's when they are first locked, and the order in which
 * GStreamer takes those of its pads and states is its own matter. */
G_MODULE_EXPORT void
g_rec_mutex_init (GRecMutex *mutex)
{
  AnnotateIgnoreWritesBegin (__FILE__, __LINE__);
  *mutex = (GRecMutex){ 0 };
  AnnotateIgnoreWritesEnd (__FILE__, __LINE__);
}

G_MODULE_EXPORT void
g_rec_mutex_clear (GRecMutex *mutex)
{
}

/* Whether this thread has it. */
static gboolean
is_mine (GRecMutex *mutex)
{
  return __atomic_load_n (&mutex->p, __ATOMIC_RELAXED) == g_thread_self ();
}

/* Where GLib's own mutex has its number. */
static GMutex *
inner (GRecMutex *mutex)
{
  return (GMutex *)(gpointer)&mutex->i[0];
}

static void
begin_recursion (GRecMutex *mutex)
{
  __atomic_store_n (&mutex->p, (gpointer)g_thread_self (), __ATOMIC_RELAXED);
}

G_MODULE_EXPORT void
g_rec_mutex_lock (GRecMutex *mutex)
{
  if (is_mine (mutex)) {
    mutex->i[1]++;
    return;
  }
  g_mutex_lock (inner (mutex));
  begin_recursion (mutex);
}

G_MODULE_EXPORT gboolean
g_rec_mutex_trylock (GRecMutex *mutex)
{
  if (is_mine (mutex)) {
    mutex->i[1]++;
    return TRUE;
  }
  if (!g_mutex_trylock (inner (mutex)))
    return FALSE;
  begin_recursion (mutex);
  return TRUE;
}

G_MODULE_EXPORT void
g_rec_mutex_unlock (GRecMutex *mutex)
{
  if (mutex->i[1] > 0) {
    mutex->i[1]--;
    return;
  }
  __atomic_store_n (&mutex->p, NULL, __ATOMIC_RELAXED);
  g_mutex_unlock (inner (mutex));
}

/* What was made once is there for whoever finds that it was. */
G_MODULE_EXPORT
gboolean (g_once_init_enter) (volatile void *location)
{
  gboolean is_first;
  REAL (g_once_init_enter);

  is_first = real (location);
  if (!is_first)
    __tsan_acquire ((void *)location);
  return is_first;
}

G_MODULE_EXPORT void (g_once_init_leave) (volatile void *location, gsize result)
{
  REAL (g_once_init_leave);

  __tsan_release ((void *)location);
  real (location, result);
}

/* ---- references ---------------------------------------------------------------- */

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

/* GStreamer would copy memory that others hold too, and let go of it unseen. */
static void
own_memory (GstBuffer *buffer, GstMapFlags flags)
{
  GstMemory *memory;

  if (!(flags & GST_MAP_WRITE) || gst_buffer_n_memory (buffer) != 1 ||
      gst_buffer_is_memory_range_writable (buffer, 0, -1))
    return;
  memory = gst_memory_copy (gst_buffer_peek_memory (buffer, 0), 0, -1);
  release (GST_MINI_OBJECT (buffer));
  gst_buffer_replace_memory (buffer, 0, memory);
}

G_MODULE_EXPORT void
gst_buffer_replace_memory_range (GstBuffer *buffer, guint at, gint n,
    GstMemory *memory)
{
  REAL (gst_buffer_replace_memory_range);

  release (GST_MINI_OBJECT (buffer));
  real (buffer, at, n, memory);
}

G_MODULE_EXPORT void
gst_buffer_replace_memory (GstBuffer *buffer, guint at, GstMemory *memory)
{
  gst_buffer_replace_memory_range (buffer, at, 1, memory);
}

/* Memory that is mapped to be written to has been found to be nobody else's. */
G_MODULE_EXPORT gboolean
gst_buffer_map (GstBuffer *buffer, GstMapInfo *info, GstMapFlags flags)
{
  gboolean ok;
  REAL (gst_buffer_map);

  own_memory (buffer, flags);
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

  own_memory (buffer, flags);
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

/* Where it is refused the library lets go of it. */
G_MODULE_EXPORT GstFlowReturn
gst_pad_push (GstPad *pad, GstBuffer *buffer)
{
  REAL (gst_pad_push);

  release (GST_MINI_OBJECT (buffer));
  return real (pad, buffer);
}

/* Who lets go last is found by the count alone.  That nobody uses what has been
 * freed is the address sanitizer's matter. */
G_MODULE_EXPORT void
g_free (gpointer block)
{
  REAL (g_free);

  AnnotateIgnoreWritesBegin (__FILE__, __LINE__);
  real (block);
  AnnotateIgnoreWritesEnd (__FILE__, __LINE__);
}

G_MODULE_EXPORT void
g_slice_free1 (gsize size, gpointer block)
{
  REAL (g_slice_free1);

  AnnotateIgnoreWritesBegin (__FILE__, __LINE__);
  real (size, block);
  AnnotateIgnoreWritesEnd (__FILE__, __LINE__);
}

/* So what was done to a block before counts no more. */
#define ALLOCATE(function)                                                     \
  G_MODULE_EXPORT gpointer function (gsize size)                               \
  {                                                                            \
    gpointer block;                                                            \
    REAL (function);                                                           \
                                                                               \
    AnnotateIgnoreWritesBegin (__FILE__, __LINE__);                            \
    block = real (size);                                                       \
    AnnotateIgnoreWritesEnd (__FILE__, __LINE__);                              \
    return block;                                                              \
  }

ALLOCATE (g_malloc)
ALLOCATE (g_malloc0)
ALLOCATE (g_slice_alloc)
ALLOCATE (g_slice_alloc0)

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
