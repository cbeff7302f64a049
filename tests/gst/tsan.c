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

G_MODULE_EXPORT void
gst_mini_object_unref (GstMiniObject *object)
{
  REAL (gst_mini_object_unref);

  __tsan_release (object);
  if (GST_MINI_OBJECT_REFCOUNT_VALUE (object) == 1)
    __tsan_acquire (object);
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
    __tsan_acquire ((void *)object);
  return is_writable;
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
