/* SPDX-License-Identifier: LGPL-2.1-or-later
 * source.c: pushes buffers of noise on demand. */
#include "source.h"

#include <gst/audio/audio.h>
#include <string.h>

struct _BenchSource
{
  GstPushSrc parent;

  gint rate;
  guint n_channels;
  gsize n_frames, size;
  gfloat *noise;
  GstBufferPool *pool;

  /* Under the lock. */
  GMutex lock;
  GCond changed;
  guint n_asked; /* buffers of an order that the task has not seen yet */
  gboolean done, flushing;
  BenchTime time;

  /* Of the streaming thread. */
  guint n_left;
  gboolean working;
  BenchTime start;
  guint64 n_sent; /* frames */
};

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("audio/x-raw"));

G_DEFINE_TYPE (BenchSource, bench_source, GST_TYPE_PUSH_SRC)

static gboolean
bench_source_negotiate (GstBaseSrc *src)
{
  BenchSource *self = BENCH_SOURCE (src);
  GstAudioChannelPosition none[64];
  GstAudioInfo info;
  GstCaps *caps;
  gboolean ok;

  for (guint i = 0; i < G_N_ELEMENTS (none); i++)
    none[i] = GST_AUDIO_CHANNEL_POSITION_NONE;
  gst_audio_info_init (&info);
  gst_audio_info_set_format (&info, GST_AUDIO_FORMAT_F32, self->rate,
      self->n_channels, self->n_channels > 2 ? none : NULL);
  caps = gst_audio_info_to_caps (&info);
  ok = gst_base_src_set_caps (src, caps);
  gst_caps_unref (caps);
  return ok;
}

static gboolean
bench_source_start (GstBaseSrc *src)
{
  BenchSource *self = BENCH_SOURCE (src);
  GstStructure *config;

  self->pool = gst_buffer_pool_new ();
  config = gst_buffer_pool_get_config (self->pool);
  gst_buffer_pool_config_set_params (config, NULL, self->size, 4, 0);
  self->n_sent = 0;
  self->n_left = 0;
  self->working = FALSE;
  return gst_buffer_pool_set_config (self->pool, config) &&
         gst_buffer_pool_set_active (self->pool, TRUE);
}

static gboolean
bench_source_stop (GstBaseSrc *src)
{
  BenchSource *self = BENCH_SOURCE (src);

  gst_buffer_pool_set_active (self->pool, FALSE);
  gst_clear_object (&self->pool);
  return TRUE;
}

static void
bench_source_set_flushing (BenchSource *self, gboolean flushing)
{
  g_mutex_lock (&self->lock);
  self->flushing = flushing;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

static gboolean
bench_source_unlock (GstBaseSrc *src)
{
  bench_source_set_flushing (BENCH_SOURCE (src), TRUE);
  return TRUE;
}

static gboolean
bench_source_unlock_stop (GstBaseSrc *src)
{
  bench_source_set_flushing (BENCH_SOURCE (src), FALSE);
  return TRUE;
}

/* The last order is done: says so and waits for the next.  The clock stops
 * first and starts last. */
static gboolean
bench_source_wait (BenchSource *self)
{
  BenchTime time = { 0.0, 0.0 };
  gboolean ok;

  if (self->working)
    time = bench_time_since (self->start);
  g_mutex_lock (&self->lock);
  if (self->working) {
    self->working = FALSE;
    self->time = time;
    self->done = TRUE;
    g_cond_broadcast (&self->changed);
  }
  while (self->n_asked == 0 && !self->flushing)
    g_cond_wait (&self->changed, &self->lock);
  ok = !self->flushing;
  if (ok) {
    self->n_left = self->n_asked;
    self->n_asked = 0;
    self->working = TRUE;
  }
  g_mutex_unlock (&self->lock);
  self->start = bench_time_now ();
  return ok;
}

static GstFlowReturn
bench_source_create (GstPushSrc *src, GstBuffer **out)
{
  BenchSource *self = BENCH_SOURCE (src);
  GstBuffer *buffer;
  GstFlowReturn ret;

  if (self->n_left == 0 && !bench_source_wait (self))
    return GST_FLOW_FLUSHING;
  self->n_left--;

  ret = gst_buffer_pool_acquire_buffer (self->pool, &buffer, NULL);
  if (ret != GST_FLOW_OK)
    return ret;
  gst_buffer_fill (buffer, 0, self->noise, self->size);
  GST_BUFFER_PTS (buffer) =
      gst_util_uint64_scale_int (self->n_sent, GST_SECOND, self->rate);
  self->n_sent += self->n_frames;
  GST_BUFFER_DURATION (buffer) =
      gst_util_uint64_scale_int (self->n_sent, GST_SECOND, self->rate) -
      GST_BUFFER_PTS (buffer);
  *out = buffer;
  return GST_FLOW_OK;
}

/* Nobody wakes those that wait when a push fails. */
static gboolean
bench_source_is_streaming (BenchSource *self)
{
  GstFlowReturn ret = gst_pad_get_last_flow_return (GST_BASE_SRC_PAD (self));

  return ret == GST_FLOW_OK && !self->flushing;
}

gboolean
bench_source_push (BenchSource *self, guint n, BenchTime *time)
{
  gboolean done;

  g_mutex_lock (&self->lock);
  self->done = FALSE;
  self->n_asked = n;
  g_cond_broadcast (&self->changed);
  while (!self->done && bench_source_is_streaming (self))
    g_cond_wait_until (&self->changed, &self->lock,
        g_get_monotonic_time () + G_TIME_SPAN_SECOND / 10);
  done = self->done;
  *time = self->time;
  g_mutex_unlock (&self->lock);
  return done;
}

static void
bench_source_finalize (GObject *object)
{
  BenchSource *self = BENCH_SOURCE (object);

  g_free (self->noise);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  G_OBJECT_CLASS (bench_source_parent_class)->finalize (object);
}

static void
bench_source_class_init (BenchSourceClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *src_class = GST_BASE_SRC_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = bench_source_finalize;
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Benchmark source",
      "Source/Audio", "Pushes noise on demand", "gst-tfx");
  src_class->negotiate = bench_source_negotiate;
  src_class->start = bench_source_start;
  src_class->stop = bench_source_stop;
  src_class->unlock = bench_source_unlock;
  src_class->unlock_stop = bench_source_unlock_stop;
  GST_PUSH_SRC_CLASS (klass)->create = bench_source_create;
}

static void
bench_source_init (BenchSource *self)
{
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
}

BenchSource *
bench_source_new (gint rate, guint n_channels, gsize n_frames)
{
  BenchSource *self = g_object_new (bench_source_get_type (), NULL);

  self->rate = rate;
  self->n_channels = n_channels;
  self->n_frames = n_frames;
  self->size = n_frames * n_channels * sizeof (gfloat);
  self->noise = g_malloc (self->size);
  bench_fill_noise (self->noise, n_frames * n_channels);
  return self;
}
