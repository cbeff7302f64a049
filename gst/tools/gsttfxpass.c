/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpass.c: a file or a source once through a chain.
 *
 *   reader (or a source) ! audioconvert ! samples ! tfxchain ! [resample !]
 *     [tfxchain !] resample ! audioconvert ! format ! encoder ! filesink
 *
 * A second file may be the key of the first tfxchain (gsttfxkeyfile.c).
 *
 * The first resampler is for a rate that is asked for, the second one for a rate that the
 * encoder does not have: before samples are rounded.  The second tfxchain levels.  A pass that only measures ends
 * behind it, in a fakesink.
 *
 * Filtered are 32-bit floats, or 64-bit ones where the file has more than 24 bits or the
 * output gets 24 or more.  audioconvert dithers on the way back.
 */
#include "gsttfxpass.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <gst/audio/audio.h>

#include "gsttfxchainreader.h"
#include "gsttfxcodec.h"
#include "gsttfxkeyfile.h"
#include "gsttfxlength.h"
#include "gsttfxmend.h"
#include "gsttfxoutput.h"
#include "gsttfxreader.h"
#include "gsttfxresample.h"
#include "gsttfxringout.h"
#include "gsttfxsource.h"
#include "gsttfxtool.h"
#include "tfx.h"

/* How often it looks at signals and at how far it has come. */
#define POLL (100 * GST_MSECOND)

/* The looks, five seconds, for which streams that are copied wait for the sound. */
#define MAX_WAITING 50

#define NO_SOUND "it has no audio that GStreamer can decode"

typedef struct Run
{
  const GstTfxPass *pass;
  GstTfxJob *job;
  GstElement *pipeline, *convert, *samples, *chain;
  GstElement *level;     /* NULL: the loudness stays */
  GstTfxRingout ringout; /* of the first chain */
  GstTfxOutput output;   /* without an encoder: it is only measured */
  GstTfxReader *reader;  /* NULL: it is a source */
  GstTfxKeyfile key;
  gboolean is_ending;
  guint n_idle;    /* looks in a row that found nothing to do */
  guint n_waiting; /* or that found streams to be copied, but no sound */
  guint n_starts;  /* behind the first one */
  gchar *missing;  /* what the decoder lacks; or NULL */
  GChecksum *input, *result; /* of the samples; NULL: nobody wants them */
} Run;

void
gst_tfx_pass_fail (GstTfxJob *job, const gchar *format, ...)
{
  va_list arguments;

  if (job->error)
    return;
  va_start (arguments, format);
  job->error = g_error_new_valist (GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
      format, arguments);
  va_end (arguments);
}

/* ---- the pipeline ------------------------------------------------------------------ */

/* `info` is NULL for a source. */
static const gchar *
choose_samples (const GstTfxJob *job, const GstAudioInfo *info)
{
  const gboolean is_deep =
      info &&
      GST_AUDIO_INFO_DEPTH (info) > (GST_AUDIO_INFO_IS_FLOAT (info) ? 32 : 24);

  return is_deep || g_strcmp0 (job->bits, "24") == 0 ||
                 g_strcmp0 (job->bits, "32") == 0
             ? GST_AUDIO_NE (F64)
             : GST_AUDIO_NE (F32);
}

static void
set_caps (GstElement *filter, GstCaps *caps)
{
  g_object_set (filter, "caps", caps, NULL);
  gst_caps_unref (caps);
}

/* Posts an error if the chain has a key channel that the file does not have:
 * audioconvert would make one, and the output would have it. */
static void
check_key (Run *run)
{
  const guint n = run->job->n_channels;
  TfxExprError error = { 0 };
  TfxExpr *expr = NULL;
  TfxChain *chain = NULL;
  guint least = 0;

  /* (A chain without the word reads no files again.) */
  if (!run->job->key && strstr (run->job->chain, "key"))
    expr =
        gst_tfx_chain_reader_parse (run->job->chain, NULL, NULL, NULL, &error);
  if (expr && MAX (tfx_expr_n_inputs (expr, &least), least) > n)
    tfx_expr_build_at (expr, run->job->rate_hz, n, tfx_positions_default (n),
        NULL, NULL, &chain, &error);
  if (expr && g_str_has_prefix (error.message, "key of "))
    GST_ELEMENT_ERROR (run->chain, STREAM, FORMAT,
        ("%s; give the key with --key FILE, or as a channel of the input",
            error.message),
        (NULL));
  tfx_chain_unref (&chain);
  tfx_expr_free (&expr);
}

/* Before its first samples come. */
static void
take_info (const GstAudioInfo *info, gpointer data)
{
  Run *run = data;

  set_caps (run->samples,
      gst_caps_new_simple ("audio/x-raw", "format", G_TYPE_STRING,
          run->pass->take_buffer ? GST_AUDIO_NE (F64)
                                 : choose_samples (run->job, info),
          "layout", G_TYPE_STRING, "interleaved", NULL));
  /* (A pipeline that starts anew reads from the beginning.) */
  if (run->input)
    g_checksum_reset (run->input);
  if (run->result)
    g_checksum_reset (run->result);
  g_free (run->job->format);
  run->job->format = g_strdup (GST_AUDIO_INFO_NAME (info));
  run->job->rate_hz = GST_AUDIO_INFO_RATE (info);
  run->job->n_channels = GST_AUDIO_INFO_CHANNELS (info);
  check_key (run);
}

/* NULL is an element that the factory could not make. */
static GstElement *
add_made (Run *run, const gchar *factory, GstElement *element,
    GstElement *behind)
{
  if (!element) {
    gst_tfx_pass_fail (run->job, "GStreamer has no element %s%s", factory,
        strcmp (factory, "tfxchain") == 0
            ? ": install the plugin, or set GST_PLUGIN_PATH to its folder"
            : "");
    return NULL;
  }
  gst_bin_add (GST_BIN (run->pipeline), element);
  if (behind)
    gst_element_link (behind, element);
  return element;
}

static GstElement *
add (Run *run, const gchar *factory, GstElement *behind)
{
  return add_made (run, factory, gst_element_factory_make (factory, NULL),
      behind);
}

/* A file, or standard input. */
static void
add_file (Run *run)
{
  const gchar *path;

  run->reader =
      gst_tfx_reader_new (run->job->from_stdin ? NULL : run->job->input, NULL,
          take_info, run, &run->job->error);
  if (!run->reader)
    return;
  if (run->job->keep_video && run->pass->part) {
    gst_tfx_reader_keep_video (run->reader);
    run->output.reader = gst_tfx_reader_get_bin (run->reader);
  }
  path = gst_tfx_reader_get_path (run->reader);
  gst_bin_add (GST_BIN (run->pipeline), gst_tfx_reader_get_bin (run->reader));
  gst_element_link (gst_tfx_reader_get_bin (run->reader), run->convert);
  /* The length of a chained file is that of its first or last link. */
  if (path && !gst_tfx_reader_has_links (run->reader))
    gst_tfx_length_follow (run->pipeline, run->convert, path);
}

/* A source is there from the beginning. */
static void
add_source (Run *run)
{
  GError *error = NULL;
  GstElement *source =
      gst_parse_bin_from_description (run->job->source, TRUE, &error);

  if (error)
    gst_tfx_pass_fail (run->job, "the source '%s': %s", run->job->source,
        error->message);
  g_clear_error (&error);
  if (!source)
    return;
  gst_bin_add (GST_BIN (run->pipeline), source);
  if (!gst_element_link (source, run->convert))
    gst_tfx_pass_fail (run->job, "the source '%s' gives no sound",
        run->job->source);
  set_caps (run->samples, gst_caps_new_simple ("audio/x-raw", "format",
                              G_TYPE_STRING, choose_samples (run->job, NULL),
                              "layout", G_TYPE_STRING, "interleaved", NULL));
}

/* From the chain to the file that is being written. */
static void
add_output (Run *run, GstElement *last)
{
  GstTfxOutput *output = &run->output;
  GstElement *sink;

  output->job = run->job;
  output->input = run->convert;
  output->is_changed =
      *run->job->chain || (run->level && (run->job->loudness.gain_db != 0.0 ||
                                             run->job->loudness.is_limited));
  output->resample =
      add_made (run, "audioresample", gst_tfx_resample_new (0), last);
  output->convert = add (run, "audioconvert", output->resample);
  output->format = add (run, "capsfilter", output->convert);
  output->sink = sink =
      add (run, run->job->to_stdout ? "fdsink" : "filesink", NULL);
  if (run->job->error)
    return;
  if (run->job->to_stdout)
    gst_tfx_output_set_stdout (output, sink);
  else
    g_object_set (sink, "location", run->pass->part, NULL);
  if (run->job->dither)
    gst_util_set_object_arg (G_OBJECT (output->convert), "dithering",
        run->job->dither);
  if (run->job->noise_shaping)
    gst_util_set_object_arg (G_OBJECT (output->convert), "noise-shaping",
        run->job->noise_shaping);
  gst_tfx_output_follow (output);
}

static GstPadProbeReturn
add_to_checksum (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstMapInfo map;

  if (gst_buffer_map (GST_PAD_PROBE_INFO_BUFFER (info), &map, GST_MAP_READ)) {
    g_checksum_update (data, map.data, (gssize)map.size);
    gst_buffer_unmap (GST_PAD_PROBE_INFO_BUFFER (info), &map);
  }
  return GST_PAD_PROBE_OK;
}

/* Of the samples that leave an element. */
static GChecksum *
watch_samples (GstElement *element)
{
  GChecksum *checksum = g_checksum_new (G_CHECKSUM_SHA256);
  GstPad *pad = gst_element_get_static_pad (element, "src");

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, add_to_checksum, checksum,
      NULL);
  gst_object_unref (pad);
  return checksum;
}

/* With a chain that levels, or NULL; it ends there, or in a file. */
static gboolean
build (Run *run)
{
  GstElement *sink, *last;
  GstPad *pad;

  run->pipeline = gst_object_ref_sink (gst_pipeline_new (NULL));
  run->convert = add (run, "audioconvert", NULL);
  run->samples = add (run, "capsfilter", run->convert);
  run->chain = add (run, "tfxchain", run->samples);
  last = run->chain;
  if (run->job->output_hz > 0)
    last = add_made (run, "audioresample",
        gst_tfx_resample_new (run->job->output_hz), last);
  run->level = run->pass->level ? add (run, "tfxchain", last) : NULL;
  if (run->job->error)
    return FALSE;
  last = run->level ? run->level : last;
  run->ringout.tail = run->job->tail;
  gst_tfx_ringout_follow (&run->ringout, run->chain);
  if (run->pass->meter) {
    pad = gst_element_get_static_pad (last, "src");
    gst_tfx_meter_follow (run->pass->meter, pad);
    gst_object_unref (pad);
  }
  if (run->pass->part) {
    add_output (run, last);
  } else {
    sink = add (run, "fakesink", last);
    if (sink)
      g_object_set (sink, "sync", FALSE, "signal-handoffs",
          run->pass->take_buffer != NULL, NULL);
    if (sink && run->pass->take_buffer)
      g_signal_connect (sink, "handoff", G_CALLBACK (run->pass->take_buffer),
          run->pass->data);
  }
  if (run->job->error)
    return FALSE;
  g_object_set (run->chain, "chain", run->job->chain, NULL);
  if (run->level)
    g_object_set (run->level, "chain", run->pass->level, NULL);
  if (run->pass->trace)
    run->input = watch_samples (run->samples);
  /* (A survey has no result.) */
  if (run->pass->trace && run->pass->trace == run->job->trace)
    run->result = watch_samples (last);
  if (run->job->source) {
    gst_tfx_codec_mend_input (run->convert);
    gst_tfx_source_complete (run->convert);
    add_source (run);
  } else {
    add_file (run);
  }
  if (run->job->key && !run->job->error)
    gst_tfx_keyfile_open (&run->key, run->job->key, run->pipeline, run->chain,
        &run->job->error);
  return run->job->error == NULL;
}

/* ---- running it ------------------------------------------------------------------------ */

static void
take_error (Run *run, GstMessage *message)
{
  GError *error = gst_tfx_tool_take_error (message, run->missing);

  if (run->key.reader &&
      gst_object_has_as_ancestor (GST_MESSAGE_SRC (message),
          GST_OBJECT (gst_tfx_reader_get_bin (run->key.reader))))
    gst_tfx_pass_fail (run->job, "the key %s: %s", run->key.path,
        error->message);
  else
    gst_tfx_pass_fail (run->job, "%s", error->message);
  g_error_free (error);
}

/* Once, of a chain that is run twice. */
static void
tell_warning (const Run *run, GstMessage *message)
{
  gchar *warning;

  if (run->pass->number > 0 &&
      GST_MESSAGE_SRC (message) != (GstObject *)run->level)
    return;
  warning = gst_tfx_tool_take_warning (message);
  if (warning)
    g_printerr ("warning: %s: %s\n", run->job->input, warning);
  g_free (warning);
}

static void
note_progress (Run *run)
{
  gint64 position, duration;

  if (gst_element_query_position (run->pipeline, GST_FORMAT_TIME, &position) &&
      gst_element_query_duration (run->pipeline, GST_FORMAT_TIME, &duration) &&
      duration > 0)
    g_atomic_int_set (&run->job->per_mille,
        (gint)((run->pass->number * 1000 +
                   gst_util_uint64_scale (MIN (position, duration), 1000,
                       duration)) /
               run->pass->n_passes));
}

/* Once the encoder has what it is to write. */
static void
check_size (Run *run)
{
  GstElement *encoder = run->output.encoder;
  GstCaps *caps = encoder ? gst_tfx_tool_get_caps (encoder, "sink") : NULL;
  GstAudioInfo info;
  gint64 duration;
  gdouble size;

  if (caps && strcmp (run->job->extension, "wav") == 0 &&
      gst_audio_info_from_caps (&info, caps) &&
      gst_element_query_duration (run->pipeline, GST_FORMAT_TIME, &duration)) {
    size = (gdouble)duration / GST_SECOND * GST_AUDIO_INFO_RATE (&info) *
           GST_AUDIO_INFO_BPF (&info);
    if (size > GST_TFX_OUTPUT_MOST_WAV)
      gst_tfx_pass_fail (run->job,
          "the output would have %.1f GiB, but a .wav has at most 4 (.flac, "
          ".mka and .wv have no such limit)",
          size / (1 << 30));
  }
  gst_clear_caps (&caps);
}

/* What the last of the chains has run. */
static void
note_trace (Run *run)
{
  GstTfxJobTrace *trace = run->pass->trace;
  GstStructure *stats = NULL;
  const gchar *kernel;

  g_object_get (run->level ? run->level : run->chain, "stats", &stats, NULL);
  kernel = gst_structure_get_string (stats, "kernel");
  trace->kernel = g_strjoin (" ", gst_structure_get_string (stats, "device"),
      kernel,
      strcmp (kernel, "avx512") == 0 && tfx_cpu_halves_avx512 () ? "in halves"
                                                                 : NULL,
      NULL);
  gst_structure_free (stats);
  trace->input.rate_hz = run->job->rate_hz;
  trace->input.n_channels = run->job->n_channels;
  trace->input.n_frames = run->job->n_frames;
  trace->input.sha256 = g_strdup (g_checksum_get_string (run->input));
  if (run->result)
    trace->result_sha256 = g_strdup (g_checksum_get_string (run->result));
}

/* How long the input and the output of the chain were. */
static void
note_length (Run *run)
{
  const GstTfxRingout *ringout = &run->ringout;

  if (ringout->rate_hz == 0)
    return;
  run->job->n_frames = ringout->n_in;
  run->job->came = gst_util_uint64_scale (ringout->n_in, GST_SECOND,
      (guint64)ringout->rate_hz);
  run->job->duration = (gint64)gst_util_uint64_scale (ringout->n_out,
      GST_SECOND, (guint64)ringout->rate_hz);
}

/* decodebin may keep an error to itself that comes while it is being set up: then
 * nothing runs, and no message will come. */
static void
look_for_end (Run *run)
{
  /* A key that waits for the file is something to do. */
  GstElement *all =
      run->key.reader ? gst_tfx_reader_get_bin (run->reader) : run->pipeline;
  const gboolean stands_still =
      (run->reader && gst_tfx_tool_stands_still (all, &run->n_idle)) ||
      gst_tfx_keyfile_stands_still (&run->key);
  gboolean has_sound;

  run->n_waiting =
      run->output.reader && !run->output.has_begun ? run->n_waiting + 1 : 0;
  if (!stands_still && run->n_waiting < MAX_WAITING)
    return;
  run->n_waiting = 0;
  has_sound = gst_tfx_reader_has_sound (run->reader);
  if (run->key.reader)
    gst_element_set_state (run->pipeline, GST_STATE_READY);
  gst_tfx_keyfile_reset (&run->key);
  gst_tfx_reader_reset (run->reader);
  if (!has_sound || !gst_tfx_tool_start_anew (run->pipeline, &run->n_starts))
    gst_tfx_pass_fail (run->job, "%s", NO_SOUND);
}

/* A file is left unwritten; a source ends, once. */
static void
interrupt (Run *run)
{
  if (!run->job->source)
    gst_tfx_pass_fail (run->job, "interrupted");
  else if (!run->is_ending)
    run->is_ending =
        gst_element_send_event (run->pipeline, gst_event_new_eos ());
}

/* How long it would be was not known before. */
static void
look_at_size (Run *run)
{
  if (!g_atomic_int_get (&run->output.is_full))
    return;
  if (!run->job->source)
    gst_tfx_pass_fail (run->job, "the output exceeds the 4 GiB of a .wav "
                                 "(.flac, .mka and .wv have no such limit)");
  else if (!run->is_ending)
    g_printerr ("warning: %s: the recording ends at the 4 GiB of a .wav "
                "(.flac, .mka and .wv have no such limit)\n",
        run->job->output);
  if (run->job->source)
    interrupt (run);
}

/* FALSE: the end has come. */
static gboolean
take_message (Run *run, GstMessage *message)
{
  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_EOS:
      return FALSE;
    case GST_MESSAGE_ASYNC_DONE:
      check_size (run);
      break;
    case GST_MESSAGE_ERROR:
      take_error (run, message);
      break;
    case GST_MESSAGE_ELEMENT:
      gst_tfx_tool_note_missing (message, &run->missing);
      break;
    default:
      tell_warning (run, message);
      break;
  }
  return TRUE;
}

/* Until the end, an error or a signal. */
static void
wait (Run *run)
{
  GstBus *bus = gst_element_get_bus (run->pipeline);
  gboolean is_done = FALSE;

  while (!is_done && !run->job->error) {
    GstMessage *message = gst_bus_timed_pop_filtered (bus, POLL,
        GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING |
            GST_MESSAGE_ELEMENT | GST_MESSAGE_ASYNC_DONE);

    if (message) {
      is_done = !take_message (run, message);
      gst_message_unref (message);
    } else {
      note_progress (run);
      look_for_end (run);
    }
    /* In each turn: messages may come without a pause. */
    if (!is_done && gst_tfx_tool_is_interrupted ())
      interrupt (run);
    look_at_size (run);
  }
  gst_object_unref (bus);
}

/* What the output does not have of its input. */
static void
tell_output (Run *run)
{
  const guint n = run->reader ? gst_tfx_reader_count_tracks (run->reader) : 1;

  if (run->pass->part && n > 1)
    g_printerr ("warning: %s: it has %u audio tracks; the first is used\n",
        run->job->input, n);
  run->job->n_clipped = run->output.n_clipped;
  run->job->peak = run->output.peak;
  gst_tfx_output_tell (&run->output);
}

/* Once the file is closed. */
static void
finish_output (Run *run)
{
  if (run->pass->part && !run->job->to_stdout && !run->job->error &&
      run->output.encoder &&
      !gst_tfx_mend_finish (&run->output, run->pass->part))
    gst_tfx_pass_fail_output (run->job, "cannot write %s: %s", run->job->output,
        g_strerror (errno));
  gst_tfx_output_clear (&run->output);
}

void
gst_tfx_pass_run (const GstTfxPass *pass)
{
  Run run = { .pass = pass, .job = pass->job };

  if (build (&run) &&
      (!run.job->source ||
          gst_tfx_tool_find_devices (run.pipeline, &run.job->error))) {
    if (gst_element_set_state (run.pipeline, GST_STATE_PLAYING) ==
            GST_STATE_CHANGE_FAILURE &&
        gst_tfx_tool_is_interrupted ())
      gst_tfx_pass_fail (run.job, "interrupted");
    wait (&run);
    note_length (&run);
    if (run.reader && !run.job->damage)
      run.job->damage = g_strdup (gst_tfx_reader_get_damage (run.reader));
    if (run.key.reader && !run.job->damage &&
        gst_tfx_reader_get_damage (run.key.reader))
      run.job->damage = g_strdup_printf ("the key %s: %s", run.key.path,
          gst_tfx_reader_get_damage (run.key.reader));
    if (!run.job->error)
      tell_output (&run);
    if (pass->trace && !run.job->error)
      note_trace (&run);
  }
  if (run.pipeline)
    gst_element_set_state (run.pipeline, GST_STATE_NULL);
  finish_output (&run);
  gst_tfx_ringout_clear (&run.ringout);
  gst_tfx_keyfile_clear (&run.key);
  gst_clear_object (&run.pipeline);
  g_clear_pointer (&run.input, g_checksum_free);
  g_clear_pointer (&run.result, g_checksum_free);
  g_free (run.missing);
}
