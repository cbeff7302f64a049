/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxaside.c: see gsttfxaside.h.
 */
#include "gsttfxaside.h"

/* Held by the thread that pushes, by the one that waits, and by the probe. */
typedef struct
{
  GstPad *src, *sink;
  GstBuffer *buffer;
  GMutex lock;
  GCond cond;
  gboolean has_arrived;
} Aside;

static void
gst_tfx_aside_clear (gpointer data)
{
  Aside *aside = data;

  gst_object_unref (aside->src);
  gst_object_unref (aside->sink);
  g_mutex_clear (&aside->lock);
  g_cond_clear (&aside->cond);
}

static void
gst_tfx_aside_unref (gpointer data)
{
  g_atomic_rc_box_release_full (data, gst_tfx_aside_clear);
}

static void
gst_tfx_aside_tell (Aside *aside)
{
  g_mutex_lock (&aside->lock);
  aside->has_arrived = TRUE;
  g_cond_signal (&aside->cond);
  g_mutex_unlock (&aside->lock);
}

/* The pad's stream lock is held here: what comes after the buffer waits. */
static GstPadProbeReturn
gst_tfx_aside_arrive (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  gst_tfx_aside_tell (data);
  return GST_PAD_PROBE_OK;
}

/* Over the gap. */
static GstPadProbeReturn
gst_tfx_aside_leap (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Aside *aside = data;

  GST_PAD_PROBE_INFO_FLOW_RETURN (info) =
      gst_pad_chain (aside->sink, g_steal_pointer (&info->data));
  return GST_PAD_PROBE_HANDLED;
}

static gpointer
gst_tfx_aside_run (gpointer data)
{
  Aside *aside = data;

  gst_pad_push (aside->src, g_steal_pointer (&aside->buffer));
  /* Nobody took it. */
  gst_tfx_aside_tell (aside);
  gst_tfx_aside_unref (aside);
  return NULL;
}

static gulong
gst_tfx_aside_probe (GstPad *pad, Aside *aside, GstPadProbeCallback function)
{
  return gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, function,
      g_atomic_rc_box_acquire (aside), gst_tfx_aside_unref);
}

gboolean
gst_tfx_aside_push (GstPad *src, GstPad *cut, GstPad *sink, GstBuffer *buffer)
{
  Aside *aside = g_atomic_rc_box_new0 (Aside);
  gulong arrive, leap = 0;
  GThread *thread;

  aside->src = gst_object_ref (src);
  aside->sink = gst_object_ref (sink);
  aside->buffer = buffer;
  g_mutex_init (&aside->lock);
  g_cond_init (&aside->cond);
  arrive = gst_tfx_aside_probe (sink, aside, gst_tfx_aside_arrive);
  if (cut)
    leap = gst_tfx_aside_probe (cut, aside, gst_tfx_aside_leap);
  thread = g_thread_try_new ("tfx-aside", gst_tfx_aside_run,
      g_atomic_rc_box_acquire (aside), NULL);
  if (thread) {
    g_thread_unref (thread);
    g_mutex_lock (&aside->lock);
    while (!aside->has_arrived)
      g_cond_wait (&aside->cond, &aside->lock);
    g_mutex_unlock (&aside->lock);
  } else {
    gst_clear_buffer (&aside->buffer);
    gst_tfx_aside_unref (aside);
  }
  gst_pad_remove_probe (sink, arrive);
  if (cut)
    gst_pad_remove_probe (cut, leap);
  gst_tfx_aside_unref (aside);
  return thread != NULL;
}
