/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tfxcheck.c: what the tests of the elements share.
 */
#include "tfxcheck.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static gchar *folder;

int
tfx_check_main (int argc, char **argv, Suite *suite)
{
  static const gchar *const names[] = { "coreelements", "coretracers",
    "audioconvert", "audiotestsrc", "audiofx", "level", "volume", "wavenc",
    "wavparse" };
  const gchar *plugins = g_getenv ("TFX_TEST_PLUGINS");

  gst_check_init (&argc, &argv);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree gchar *path = g_strdup_printf ("%s/libgst%s.%s",
        plugins ? plugins : SYSTEM_PLUGINS_DIR, names[i], G_MODULE_SUFFIX);
    GError *error = NULL;
    GstPlugin *plugin = gst_plugin_load_file (path, &error);

    if (!plugin)
      g_printerr ("%s\n", error->message);
    g_clear_error (&error);
    gst_clear_object (&plugin);
  }
  return gst_check_run_suite (suite, "tfx", __FILE__);
}

int
tfx_check_run (int argc, char **argv, TCase *tcase)
{
  Suite *suite = suite_create ("tfx");
  int status;

  suite_add_tcase (suite, tcase);
  status = tfx_check_main (argc, argv, suite);
  if (folder) {
    g_autofree gchar *command = g_strdup_printf ("rm -r '%s'", folder);

    if (system (command) != 0)
      g_printerr ("%s is left\n", folder);
    g_clear_pointer (&folder, g_free);
  }
  return status;
}

const gchar *
tfx_check_folder (void)
{
  if (!folder) {
    folder = g_dir_make_tmp ("tfx it is-XXXXXX", NULL);
    g_setenv ("XDG_DATA_HOME", folder, TRUE);
  }
  return folder;
}

gchar *
tfx_check_path (const gchar *name)
{
  return g_build_filename (tfx_check_folder (), name, NULL);
}

gchar *
tfx_check_write_bytes (const gchar *name, const gchar *bytes, gssize n)
{
  gchar *path = tfx_check_path (name);

  if (!g_file_set_contents (path, bytes, n, NULL))
    g_error ("cannot write %s", path);
  return path;
}

gchar *
tfx_check_write (const gchar *name, const gchar *text)
{
  return tfx_check_write_bytes (name, text, -1);
}

gboolean
tfx_check_wait (gint64 *begin)
{
  const gint64 now = g_get_monotonic_time ();

  if (*begin == 0)
    *begin = now;
  g_usleep (1000);
  return now - *begin < 90 * G_TIME_SPAN_SECOND;
}

gdouble *
tfx_check_noise (gsize n, guint seed)
{
  gdouble *x = g_new (gdouble, n);
  guint32 state = seed * 2654435761u + 1;

  for (gsize i = 0; i < n; i++) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    x[i] = (gfloat)((gint32)state / 2147483648.0);
  }
  return x;
}

gdouble *
tfx_check_constant (gsize n, gdouble value)
{
  gdouble *x = g_new (gdouble, n);

  for (gsize i = 0; i < n; i++)
    x[i] = value;
  return x;
}

gdouble *
tfx_check_sine (gsize n, gsize from, gdouble hz, gint rate)
{
  gdouble *x = g_new (gdouble, n);

  for (gsize i = 0; i < n; i++)
    x[i] = (gfloat)sin (2.0 * G_PI * hz * (from + i) / rate);
  return x;
}

gdouble
tfx_check_step (const gdouble *x, gsize n)
{
  gdouble largest = 0.0;

  for (gsize i = 1; i < n; i++)
    largest = MAX (largest, fabs (x[i] - x[i - 1]));
  return largest;
}

gdouble
tfx_check_distance (const gdouble *a, const gdouble *b, gsize n)
{
  gdouble largest = 0.0;

  for (gsize i = 0; i < n; i++) {
    gdouble d = fabs (a[i] - b[i]);

    if (isnan (d))
      return INFINITY;
    largest = MAX (largest, d);
  }
  return largest;
}

gboolean
tfx_check_is_finite (const gdouble *x, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    if (!isfinite (x[i]))
      return FALSE;
  }
  return TRUE;
}

gdouble
tfx_check_rms (const gdouble *x, gsize n, gsize step)
{
  gdouble sum = 0.0;
  gsize count = 0;

  for (gsize i = 0; i < n; i += step, count++)
    sum += x[i] * x[i];
  return sqrt (sum / count);
}

GstAudioInfo
tfx_check_info (GstAudioFormat format, gint rate, gint n_channels,
    GstAudioLayout layout)
{
  GstAudioInfo info;

  gst_audio_info_set_format (&info, format, rate, n_channels, NULL);
  info.layout = layout;
  return info;
}

GstAudioInfo
tfx_check_f32 (gint rate, gint n_channels)
{
  return tfx_check_info (GST_AUDIO_FORMAT_F32, rate, n_channels,
      GST_AUDIO_LAYOUT_INTERLEAVED);
}

GstAudioInfo
tfx_check_f64 (gint rate, gint n_channels)
{
  return tfx_check_info (GST_AUDIO_FORMAT_F64, rate, n_channels,
      GST_AUDIO_LAYOUT_INTERLEAVED);
}

/* The place of a sample, counted in samples. */
static gsize
sample_index (const GstAudioInfo *info, gsize n_frames, gsize frame, gsize ch)
{
  return info->layout == GST_AUDIO_LAYOUT_INTERLEAVED
             ? frame * info->channels + ch
             : ch * n_frames + frame;
}

GstBuffer *
tfx_check_buffer (const GstAudioInfo *info, const gdouble *samples,
    gsize n_frames)
{
  GstBuffer *buffer =
      gst_buffer_new_allocate (NULL, n_frames * info->bpf, NULL);
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (gsize i = 0; i < n_frames; i++) {
    for (gint ch = 0; ch < info->channels; ch++) {
      gsize at = sample_index (info, n_frames, i, ch);
      gdouble x = samples[i * info->channels + ch];

      if (GST_AUDIO_INFO_WIDTH (info) == 32)
        ((gfloat *)map.data)[at] = x;
      else
        ((gdouble *)map.data)[at] = x;
    }
  }
  gst_buffer_unmap (buffer, &map);
  if (info->layout == GST_AUDIO_LAYOUT_NON_INTERLEAVED)
    gst_buffer_add_audio_meta (buffer, info, n_frames, NULL);
  return buffer;
}

GstBuffer *
tfx_check_stamped (const GstAudioInfo *info, const gdouble *samples,
    gsize n_frames, guint64 from)
{
  GstBuffer *buffer = tfx_check_buffer (info, samples, n_frames);
  GstClockTime start = gst_util_uint64_scale (from, GST_SECOND, info->rate);
  GstClockTime end =
      gst_util_uint64_scale (from + n_frames, GST_SECOND, info->rate);

  GST_BUFFER_PTS (buffer) = start;
  GST_BUFFER_DURATION (buffer) = end - start;
  GST_BUFFER_OFFSET (buffer) = from;
  GST_BUFFER_OFFSET_END (buffer) = from + n_frames;
  return buffer;
}

gdouble *
tfx_check_samples (GstBuffer *buffer, const GstAudioInfo *info, gsize *n_frames)
{
  GstAudioBuffer map;
  gdouble *samples;

  fail_unless (gst_audio_buffer_map (&map, info, buffer, GST_MAP_READ));
  samples = g_new (gdouble, map.n_samples * info->channels + 1);
  for (gsize i = 0; i < map.n_samples; i++) {
    for (gint ch = 0; ch < info->channels; ch++) {
      gboolean planar = map.n_planes > 1;
      const guint8 *plane = map.planes[planar ? ch : 0];
      gsize at = planar ? i : i * info->channels + ch;
      gdouble *x = &samples[i * info->channels + ch];

      if (GST_AUDIO_INFO_WIDTH (info) == 32) {
        gfloat narrow;
        memcpy (&narrow, plane + at * sizeof narrow, sizeof narrow);
        *x = narrow;
      } else {
        memcpy (x, plane + at * sizeof *x, sizeof *x);
      }
    }
  }
  if (n_frames)
    *n_frames = map.n_samples;
  gst_audio_buffer_unmap (&map);
  return samples;
}

void
tfx_check_set_info (GstHarness *h, const GstAudioInfo *info)
{
  gst_harness_set_src_caps (h, gst_audio_info_to_caps (info));
}

/* Its messages hold an element, which holds the bus. */
static void
forget_messages (GstElement *element)
{
  GstBus *bus = gst_element_get_bus (element);

  if (!bus)
    return;
  gst_bus_set_flushing (bus, TRUE);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
}

void
tfx_check_close (GstHarness *h)
{
  forget_messages (h->element);
  gst_harness_teardown (h);
}

void
tfx_check_drop (GstElement *element)
{
  gst_element_set_state (element, GST_STATE_NULL);
  forget_messages (element);
  gst_object_unref (element);
}

GstHarness *
tfx_check_harness (const gchar *launch, const GstAudioInfo *info)
{
  GstHarness *h;

  if (strchr (launch, '!')) {
    h = gst_harness_new_parse (launch);
  } else {
    g_autoptr (GstElement) element = gst_parse_launch (launch, NULL);

    fail_unless (element != NULL, "no element from '%s'", launch);
    h = gst_harness_new_with_element (element, "sink", "src");
  }
  tfx_check_set_info (h, info);
  return h;
}

void
tfx_check_push_segment (GstHarness *h, GstClockTime start, GstClockTime stop,
    GstClockTime base)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = segment.position = start;
  segment.stop = stop;
  segment.base = base;
  gst_harness_push_event (h, gst_event_new_segment (&segment));
}

void
tfx_check_flush (GstHarness *h)
{
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  tfx_check_push_segment (h, 0, GST_CLOCK_TIME_NONE, 0);
}

GstBuffer *
tfx_check_push (GstHarness *h, GstBuffer *buffer)
{
  GstBuffer *out = NULL;

  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  out = gst_harness_try_pull (h);
  fail_unless (out != NULL, "nothing comes out");
  return out;
}

gdouble *
tfx_check_filter (GstHarness *h, const GstAudioInfo *info,
    const gdouble *samples, gsize n_frames, gsize most)
{
  gint n_ch = info->channels;
  gdouble *all = g_new (gdouble, n_frames * n_ch + 1);

  for (gsize done = 0, n_in, n_out; done < n_frames; done += n_in) {
    g_autoptr (GstBuffer) out = NULL;
    g_autofree gdouble *part = NULL;

    n_in = MIN (most, n_frames - done);
    out = tfx_check_push (h,
        tfx_check_buffer (info, samples + done * n_ch, n_in));
    part = tfx_check_samples (out, info, &n_out);
    fail_unless_equals_uint64 (n_out, n_in);
    memcpy (all + done * n_ch, part, n_out * n_ch * sizeof *all);
  }
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  return all;
}

guint64
tfx_check_pull_frames (GstHarness *h, const GstAudioInfo *info)
{
  GstBuffer *buffer;
  guint64 n = 0;

  while ((buffer = gst_harness_try_pull (h))) {
    n += gst_buffer_get_size (buffer) / info->bpf;
    gst_buffer_unref (buffer);
  }
  return n;
}

static void
set_fuse (GstElement *element, gboolean fuse)
{
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (element), "fuse"))
    g_object_set (element, "fuse", fuse, NULL);
}

static void
set_fuse_of_item (const GValue *item, gpointer fuse)
{
  set_fuse (g_value_get_object (item), GPOINTER_TO_INT (fuse));
}

void
tfx_check_set_fuse (GstElement *element, gboolean fuse)
{
  GstIterator *all;

  set_fuse (element, fuse);
  if (!GST_IS_BIN (element))
    return;
  all = gst_bin_iterate_recurse (GST_BIN (element));
  gst_iterator_foreach (all, set_fuse_of_item, GINT_TO_POINTER (fuse));
  gst_iterator_free (all);
}

gboolean
tfx_check_link_waiting (GstPad *src, GstPad *sink)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (src);
  g_autoptr (GstCaps) taken = NULL;
  g_autoptr (GstEvent) event = NULL;

  if (gst_pad_link (src, sink) != GST_PAD_LINK_OK)
    return FALSE;
  if (!caps || !gst_caps_features_contains (gst_caps_get_features (caps, 0),
                   "memory:CUDAMemory"))
    return TRUE;
  taken = gst_pad_peer_query_caps (src, caps);
  if (gst_caps_is_empty (taken)) {
    caps = gst_caps_make_writable (caps);
    gst_caps_set_features (caps, 0, NULL);
    event = gst_event_new_caps (caps);
    gst_pad_store_sticky_event (src, event);
  }
  return TRUE;
}

gboolean
tfx_check_put_behind (GstBin *bin, GstPad *src, GstElement *element)
{
  g_autoptr (GstPad) after = gst_pad_get_peer (src);
  g_autoptr (GstPad) in = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstPad) out = gst_element_get_static_pad (element, "src");

  gst_pad_unlink (src, after);
  gst_bin_add (bin, element);
  return gst_pad_link (out, after) == GST_PAD_LINK_OK &&
         tfx_check_link_waiting (src, in) &&
         gst_element_sync_state_with_parent (element);
}

gboolean
tfx_check_take_out (GstElement *element)
{
  g_autoptr (GstPad) in = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstPad) out = gst_element_get_static_pad (element, "src");
  g_autoptr (GstPad) before = gst_pad_get_peer (in);
  g_autoptr (GstPad) after = gst_pad_get_peer (out);

  gst_pad_unlink (before, in);
  gst_pad_unlink (out, after);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_bin_remove (GST_BIN (GST_OBJECT_PARENT (element)), element);
  return tfx_check_link_waiting (before, after);
}

static GstPadProbeReturn
drop_eos (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  gboolean *has_come = data;

  if (GST_EVENT_TYPE (info->data) != GST_EVENT_EOS)
    return GST_PAD_PROBE_OK;
  *has_come = TRUE;
  return GST_PAD_PROBE_DROP;
}

gboolean
tfx_check_send_eos (GstElement *element)
{
  g_autoptr (GstPad) in = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstPad) out = gst_element_get_static_pad (element, "src");
  gboolean has_come = FALSE;
  gulong probe = gst_pad_add_probe (out, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      drop_eos, &has_come, NULL);

  gst_pad_send_event (in, gst_event_new_eos ());
  gst_pad_remove_probe (out, probe);
  return has_come;
}

guint64
tfx_check_stat (GstElement *element, const gchar *field)
{
  GstStructure *stats = NULL;
  guint64 value = 0;
  guint narrow = 0;

  g_object_get (element, "stats", &stats, NULL);
  fail_unless (stats != NULL);
  if (gst_structure_get_uint (stats, field, &narrow))
    value = narrow;
  else
    fail_unless (gst_structure_get_uint64 (stats, field, &value),
        "no field %s in the stats", field);
  gst_structure_free (stats);
  return value;
}

gchar *
tfx_check_property (gpointer object, const gchar *property)
{
  GParamSpec *spec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (object), property);
  g_auto (GValue) value = G_VALUE_INIT;

  fail_unless (spec != NULL, "no property %s", property);
  g_value_init (&value, spec->value_type);
  g_object_get_property (object, property, &value);
  return gst_value_serialize (&value);
}

void
tfx_check_expect_property (gpointer object, const gchar *property,
    const gchar *text)
{
  g_autofree gchar *now = tfx_check_property (object, property);

  fail_unless (g_strcmp0 (now, text) == 0, "%s is %s, not %s", property, now,
      text);
}

GstBus *
tfx_check_bus (GstHarness *h)
{
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  return bus;
}

static gchar *
pop_text (GstBus *bus, GstMessageType type)
{
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, type);
  g_autoptr (GError) error = NULL;

  if (!message)
    return NULL;
  if (type == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  else
    gst_message_parse_warning (message, &error, NULL);
  return g_strdup (error->message);
}

gchar *
tfx_check_pop_warning (GstBus *bus)
{
  return pop_text (bus, GST_MESSAGE_WARNING);
}

void
tfx_check_expect_va (GstBus *bus, GstMessageType type, const gchar *word,
    va_list args)
{
  g_autofree gchar *text = pop_text (bus, type);

  fail_unless (text != NULL, "no message with '%s'", word);
  fail_unless (g_utf8_validate (text, -1, NULL));
  for (; word; word = va_arg (args, const gchar *))
    fail_unless (strstr (text, word) != NULL, "no '%s' in '%s'", word, text);
}

void
tfx_check_expect_warning (GstBus *bus, const gchar *word, ...)
{
  va_list args;

  va_start (args, word);
  tfx_check_expect_va (bus, GST_MESSAGE_WARNING, word, args);
  va_end (args);
}

void
tfx_check_expect_error (GstBus *bus, const gchar *word, ...)
{
  va_list args;

  va_start (args, word);
  tfx_check_expect_va (bus, GST_MESSAGE_ERROR, word, args);
  va_end (args);
}

void
tfx_check_expect_no_warning (GstBus *bus)
{
  gchar *text = tfx_check_pop_warning (bus);

  fail_unless (text == NULL, "warning: %s", text);
}

void
tfx_check_begin_refusal (void)
{
  _gst_check_raised_critical = _gst_check_raised_warning = FALSE;
  _gst_check_expecting_log = TRUE;
}

void
tfx_check_end_refusal (const gchar *code)
{
  _gst_check_expecting_log = FALSE;
  fail_unless (_gst_check_raised_critical || _gst_check_raised_warning,
      "not refused: %s", code);
}
