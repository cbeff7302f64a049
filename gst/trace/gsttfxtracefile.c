/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtracefile.c: a file of events in Chrome's trace format.
 */
#include "gsttfxtracefile.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gsttfxjson.h"

/* Events that wait to be written: at most this many bytes, or this old. */
#define MAX_WAITING 65536
#define MAX_AGE (100 * GST_MSECOND)

#define PAGE 4096
#define END "\n]\n"

#define NOT_OPEN (-1)
#define GIVEN_UP (-2)

struct _GstTfxTraceFile
{
  gchar *path;
  GMutex write_lock; /* taken before lock */
  /* Under write_lock: */
  gint fd;
  off_t length;
  GMutex lock;
  /* Under lock, which is never held during file access: */
  GString *waiting;
  GstClockTime flushed;
  GHashTable *threads; /* whose names are in the file */
  gboolean has_events;
};

GstTfxTraceFile *
gst_tfx_trace_file_new (const gchar *path)
{
  GstTfxTraceFile *self = g_new0 (GstTfxTraceFile, 1);

  self->path = g_strdup (path);
  g_mutex_init (&self->write_lock);
  g_mutex_init (&self->lock);
  self->fd = NOT_OPEN;
  self->waiting = g_string_new ("[");
  self->threads = g_hash_table_new (NULL, NULL);
  return self;
}

/* ---- writing ------------------------------------------------------------- */

static gboolean
gst_tfx_trace_file_put (GstTfxTraceFile *self, const GString *piece)
{
  gsize done = 0;

  while (done < piece->len) {
    gssize n = pwrite (self->fd, piece->str + done, piece->len - done,
        self->length + (off_t)done);

    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return FALSE;
    done += (gsize)n;
  }
  return TRUE;
}

/* Returns the length of the lines that fit into the rest of a page, with the
 * end of the array after them; at least one line if the page is empty. */
static gsize
gst_tfx_trace_file_fit (const gchar *text, gsize room)
{
  gsize fit = 0;

  while (text[fit] != '\0') {
    const gchar *end = strchr (text + fit + 1, '\n');
    gsize next = end ? (gsize)(end - text) : fit + strlen (text + fit);

    if (next + strlen (END) > room && (fit > 0 || room < PAGE))
      break;
    fit = next;
  }
  return fit;
}

/* A killed process may leave a write incomplete at a page boundary of the file.
 * So no event crosses a page, unless it is longer, and the last page contains
 * the end of the array, which the next write replaces. */
static gboolean
gst_tfx_trace_file_write_all (GstTfxTraceFile *self, const gchar *text)
{
  GString *piece = g_string_new (NULL);
  gboolean ok = TRUE;

  while (ok && *text != '\0') {
    const gsize room = PAGE - (gsize)(self->length % PAGE);
    const gsize fit = gst_tfx_trace_file_fit (text, room);
    const gboolean is_last = text[fit] == '\0';

    g_string_truncate (piece, 0);
    g_string_append_len (piece, text, (gssize)fit);
    if (is_last)
      g_string_append (piece, END);
    else if (fit < room)
      g_string_append_printf (piece, "%*s", (gint)(room - fit), "");
    ok = gst_tfx_trace_file_put (self, piece);
    self->length += (off_t)(is_last ? fit : piece->len);
    text += fit;
  }
  g_string_free (piece, TRUE);
  return ok;
}

static void
gst_tfx_trace_file_write (GstTfxTraceFile *self, const gchar *text)
{
  if (self->fd == NOT_OPEN)
    self->fd =
        open (self->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (self->fd != GIVEN_UP &&
      (self->fd < 0 || !gst_tfx_trace_file_write_all (self, text))) {
    g_warning ("the trace cannot be written to %s: %s", self->path,
        g_strerror (errno));
    if (self->fd >= 0)
      close (self->fd);
    self->fd = GIVEN_UP;
  }
}

void
gst_tfx_trace_file_flush (GstTfxTraceFile *self, gboolean is_last)
{
  const GstClockTime now = gst_util_get_timestamp ();
  GString *text = NULL;

  if (is_last)
    g_mutex_lock (&self->write_lock);
  else if (!g_mutex_trylock (&self->write_lock))
    return;
  g_mutex_lock (&self->lock);
  if (self->has_events && self->waiting->len > 0 &&
      (is_last || self->waiting->len >= MAX_WAITING ||
          now > self->flushed + MAX_AGE)) {
    text = self->waiting;
    self->waiting = g_string_new (NULL);
    self->flushed = now;
  }
  g_mutex_unlock (&self->lock);
  if (text) {
    gst_tfx_trace_file_write (self, text->str);
    g_string_free (text, TRUE);
  }
  g_mutex_unlock (&self->write_lock);
}

void
gst_tfx_trace_file_free (GstTfxTraceFile *self)
{
  gst_tfx_trace_file_flush (self, TRUE);
  if (self->fd >= 0)
    close (self->fd);
  g_string_free (self->waiting, TRUE);
  g_hash_table_unref (self->threads);
  g_mutex_clear (&self->lock);
  g_mutex_clear (&self->write_lock);
  g_free (self->path);
  g_free (self);
}

/* ---- events -------------------------------------------------------------- */

/* Microseconds with three decimals, with a point in any locale. */
#define US_FORMAT "%" G_GUINT64_FORMAT ".%03" G_GUINT64_FORMAT
#define US_ARGS(ns) (ns) / 1000, (ns) % 1000

/* Appends an event; @format: further members, as JSON.  Under the lock. */
static void
    G_GNUC_PRINTF (6, 7) gst_tfx_trace_file_append (GstTfxTraceFile *self,
        const gchar *phase, const gchar *category, const gchar *name,
        guint thread, const gchar *format, ...)
{
  va_list args;

  g_string_append (self->waiting, self->has_events ? "\n,{" : "\n{");
  self->has_events = TRUE;
  g_string_append_printf (self->waiting,
      "\"ph\":\"%s\",\"cat\":\"%s\",\"pid\":%d,\"tid\":%u,\"name\":", phase,
      category, (gint)getpid (), thread);
  gst_tfx_json_quote (self->waiting, name);
  va_start (args, format);
  g_string_append_vprintf (self->waiting, format, args);
  va_end (args);
  g_string_append_c (self->waiting, '}');
}

/* Returns the id of this thread, and writes its name the first time.  Under the
 * lock. */
static guint
gst_tfx_trace_file_get_thread (GstTfxTraceFile *self)
{
  guint thread = (guint)syscall (SYS_gettid);
  gchar name[32] = "", *valid;
  GString *quoted;

  if (!g_hash_table_add (self->threads, GUINT_TO_POINTER (thread)))
    return thread;
  pthread_getname_np (pthread_self (), name, sizeof name);
  /* The system may truncate names inside a character. */
  valid = g_utf8_make_valid (name, -1);
  quoted = g_string_new (NULL);
  gst_tfx_json_quote (quoted, valid);
  gst_tfx_trace_file_append (self, "M", "__metadata", "thread_name", thread,
      ",\"args\":{\"name\":%s}", quoted->str);
  g_string_free (quoted, TRUE);
  g_free (valid);
  return thread;
}

void
gst_tfx_trace_file_add_slice (GstTfxTraceFile *self, const gchar *category,
    const gchar *name, GstClockTime start, GstClockTime end, const gchar *args)
{
  g_mutex_lock (&self->lock);
  gst_tfx_trace_file_append (self, "X", category, name,
      gst_tfx_trace_file_get_thread (self),
      ",\"ts\":" US_FORMAT ",\"dur\":" US_FORMAT "%s%s%s", US_ARGS (start),
      US_ARGS (end - start), *args ? ",\"args\":{" : "", args,
      *args ? "}" : "");
  g_mutex_unlock (&self->lock);
}

void
gst_tfx_trace_file_add_flow (GstTfxTraceFile *self, guint64 id,
    gboolean is_start, GstClockTime time)
{
  g_mutex_lock (&self->lock);
  gst_tfx_trace_file_append (self, is_start ? "s" : "f", "tfx", "left",
      gst_tfx_trace_file_get_thread (self),
      ",\"ts\":" US_FORMAT ",\"id\":%" G_GUINT64_FORMAT "%s", US_ARGS (time),
      id, is_start ? "" : ",\"bp\":\"e\"");
  g_mutex_unlock (&self->lock);
}
