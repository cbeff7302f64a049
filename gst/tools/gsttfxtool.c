/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtool.c: what the commands of gst-tfx share.
 */
#include "gsttfxbytes.h"
#include "gsttfxtool.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "gsttfxpart.h"

/* ---- signals -------------------------------------------------------------------- */

/* How long the program may take to end in order. */
#define GRACE_MS 2000

static volatile sig_atomic_t interrupted;
static volatile sig_atomic_t interrupted_at; /* in ms */

static gint
get_ms (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (gint)(now.tv_sec % 1000000 * 1000 + now.tv_nsec / 1000000);
}

static void
note_signal (int signal_number)
{
  if (!interrupted) {
    interrupted_at = get_ms ();
    interrupted = 1;
  } else if (signal_number != SIGPIPE &&
             get_ms () - interrupted_at > GRACE_MS) {
    gst_tfx_part_abandon_all ();
    signal (signal_number, SIG_DFL);
    raise (signal_number);
  }
}

gboolean
gst_tfx_tool_is_interrupted (void)
{
  return interrupted != 0;
}

static void
catch_signals (void)
{
  struct sigaction action = { .sa_handler = note_signal };
  struct sigaction before;

  sigaction (SIGINT, &action, NULL);
  sigaction (SIGTERM, &action, NULL);
  /* nohup has it ignored. */
  if (sigaction (SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
    sigaction (SIGHUP, &action, NULL);
}

void
gst_tfx_tool_catch_broken_pipes (void)
{
  /* (More may be written until the end.) */
  struct sigaction action = { .sa_handler = note_signal };
  struct sigaction before;

  if (sigaction (SIGPIPE, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
    sigaction (SIGPIPE, &action, NULL);
}

/* ---- standard streams ------------------------------------------------------------- */

static gint output_errno; /* of standard output; 0: all was written */

/* UTF-8, whatever the locale is and whatever bytes names of files have. */
static gboolean
put (const gchar *text, FILE *to)
{
  gchar *escaped = gst_tfx_bytes_escape (text);
  const gboolean is_written = fputs (escaped, to) != EOF && fflush (to) != EOF;

  g_free (escaped);
  return is_written;
}

static void
print (const gchar *text)
{
  if (!put (text, stdout) && !output_errno)
    output_errno = errno;
}

static void
print_error (const gchar *text)
{
  put (text, stderr);
}

/* flacenc (GStreamer 1.22) has a segment before caps where the sound is shorter than a
 * block: the file is whole. */
static void
drop_misordering (const gchar *domain, GLogLevelFlags level,
    const gchar *message, gpointer data)
{
  if (!strstr (message, "Sticky event misordering"))
    g_log_default_handler (domain, level, message, data);
}

static void
open_streams (void)
{
  /* A closed descriptor would be given to the next file that is opened.  (From standard input
   * nothing can be read then.) */
  gint file = g_open ("/dev/null", O_WRONLY, 0);

  while (file >= 0 && file <= STDERR_FILENO)
    file = g_open ("/dev/null", O_WRONLY, 0);
  if (file >= 0)
    close (file);
  g_set_print_handler (print);
  g_set_printerr_handler (print_error);
  g_log_set_handler ("GStreamer", G_LOG_LEVEL_WARNING, drop_misordering, NULL);
}

void
gst_tfx_tool_start (void)
{
  setlocale (LC_ALL, "");
  /* Numbers have a point. */
  setlocale (LC_NUMERIC, "C");
  open_streams ();
  catch_signals ();
  gst_init (NULL, NULL);
}

GstTfxToolStatus
gst_tfx_tool_close_streams (GstTfxToolStatus status)
{
  if (!output_errno)
    return status;
  gst_tfx_tool_error ("cannot write to standard output: %s",
      g_strerror (output_errno));
  return status == GST_TFX_TOOL_OK ? GST_TFX_TOOL_FAILED : status;
}

/* ---- messages ---------------------------------------------------------------------- */

void
gst_tfx_tool_error (const gchar *format, ...)
{
  va_list arguments;
  gchar *text;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_printerr ("error: %s\n", text);
  g_free (text);
}

gdouble
gst_tfx_tool_round (gdouble value, guint n_digits)
{
  const gdouble scale = pow (10.0, n_digits);

  /* (0 is added to what may be -0.) */
  return rint (value * scale) / scale + 0.0;
}

gint
gst_tfx_tool_compare_doubles (const gdouble *a, const gdouble *b)
{
  return (*a > *b) - (*a < *b);
}

/* GOption leaves "--" in where a name with a dash comes behind it. */
static void
drop_dashes (gint *argc, gchar **argv)
{
  gint i = 1;

  while (i < *argc && strcmp (argv[i], "--") != 0)
    i++;
  if (i == *argc)
    return;
  for (; i < *argc; i++)
    argv[i] = argv[i + 1];
  (*argc)--;
}

gboolean
gst_tfx_tool_parse (const gchar *parameters, const gchar *summary,
    const gchar *description, const GOptionEntry *entries, gint *argc,
    gchar ***argv)
{
  GOptionContext *context = g_option_context_new (parameters);
  gchar *name = g_strconcat ("gst-tfx ", (*argv)[0], NULL);
  GError *error = NULL;
  gboolean done;

  g_set_prgname (name);
  g_option_context_set_summary (context, summary);
  g_option_context_set_description (context, description);
  g_option_context_add_main_entries (context, entries, NULL);
  done = g_option_context_parse (context, argc, argv, &error);
  if (!done)
    gst_tfx_tool_error ("%s (see %s --help)", error->message, name);
  g_clear_error (&error);
  g_option_context_free (context);
  g_free (name);
  drop_dashes (argc, *argv);
  return done;
}

gboolean
gst_tfx_tool_is_same_file (const gchar *a, const gchar *b)
{
  GStatBuf of_a, of_b;

  return g_stat (a, &of_a) == 0 && g_stat (b, &of_b) == 0 &&
         of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

/* Whether two names are one, whether or not there is a file. */
static gboolean
is_same_place (const gchar *a, const gchar *b)
{
  gchar *base_a = g_path_get_basename (a), *base_b = g_path_get_basename (b);
  gchar *in_a = g_path_get_dirname (a), *in_b = g_path_get_dirname (b);
  const gboolean is_same =
      strcmp (base_a, base_b) == 0 && gst_tfx_tool_is_same_file (in_a, in_b);

  g_free (base_a);
  g_free (base_b);
  g_free (in_a);
  g_free (in_b);
  return is_same;
}

gboolean
gst_tfx_tool_would_replace (const gchar *output, const gchar *input)
{
  gchar *file = realpath (input, NULL), *target = realpath (output, NULL);
  const gboolean would =
      is_same_place (input, output) ||
      (file && is_same_place (file, target ? target : output));

  free (file);
  free (target);
  return would;
}

GstCaps *
gst_tfx_tool_get_caps (GstElement *element, const gchar *name)
{
  GstPad *pad = gst_element_get_static_pad (element, name);
  GstCaps *caps = gst_pad_get_current_caps (pad);

  gst_object_unref (pad);
  return caps;
}

void
gst_tfx_tool_set_default (gchar **option, const gchar *value)
{
  if (!*option)
    *option = g_strdup (value);
}

/* ---- what GStreamer says ------------------------------------------------------------ */

/* Of one element: the result is TRUE if any of its pads' tasks is running. */
static gboolean
look_at_tasks (const GValue *item, GValue *result, gpointer data)
{
  GstElement *element = g_value_get_object (item);

  GST_OBJECT_LOCK (element);
  for (GList *pad = element->pads; pad; pad = pad->next) {
    if (gst_pad_get_task_state (pad->data) == GST_TASK_STARTED)
      g_value_set_boolean (result, TRUE);
  }
  GST_OBJECT_UNLOCK (element);
  return TRUE;
}

static gboolean
is_streaming (GstElement *pipeline)
{
  GstIterator *elements = gst_bin_iterate_recurse (GST_BIN (pipeline));
  GValue result = G_VALUE_INIT;
  GstIteratorResult state;

  g_value_init (&result, G_TYPE_BOOLEAN);
  state = gst_iterator_fold (elements, look_at_tasks, &result, NULL);
  gst_iterator_free (elements);
  /* Elements that come or go are something to do. */
  return state != GST_ITERATOR_DONE || g_value_get_boolean (&result);
}

#define MAX_IDLE 10
#define MAX_STARTS 5

gboolean
gst_tfx_tool_stands_still (GstElement *pipeline, guint *n_idle)
{
  *n_idle = is_streaming (pipeline) ? 0 : *n_idle + 1;
  if (*n_idle < MAX_IDLE)
    return FALSE;
  *n_idle = 0;
  return TRUE;
}

gboolean
gst_tfx_tool_start_anew (GstElement *pipeline, guint *n_starts)
{
  if (*n_starts == MAX_STARTS)
    return FALSE;
  *n_starts += 1;
  gst_element_set_state (pipeline, GST_STATE_READY);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  return TRUE;
}

void
gst_tfx_tool_note_missing (GstMessage *message, gchar **missing)
{
  const GstStructure *structure = gst_message_get_structure (message);
  const GValue *detail;
  const gchar *media = "";

  if (*missing || !structure ||
      !gst_structure_has_name (structure, "missing-plugin"))
    return;
  detail = gst_structure_get_value (structure, "detail");
  if (detail && GST_VALUE_HOLDS_CAPS (detail))
    media = gst_structure_get_name (
        gst_caps_get_structure (gst_value_get_caps (detail), 0));
  /* The pictures of a video are not asked for, but what it comes in is. */
  if (g_str_has_prefix (media, "audio/") ||
      g_str_has_suffix (gst_structure_get_string (structure, "name"),
          "demuxer"))
    *missing = g_strdup (gst_structure_get_string (structure, "name"));
}

/* Errors that name neither the sound nor what a user could do. */
static gboolean
is_no_sound (const GError *error)
{
  static const gint codes[] = { GST_STREAM_ERROR_TYPE_NOT_FOUND,
    GST_STREAM_ERROR_WRONG_TYPE, GST_STREAM_ERROR_CODEC_NOT_FOUND };

  for (gsize i = 0; i < G_N_ELEMENTS (codes); i++) {
    if (g_error_matches (error, GST_STREAM_ERROR, codes[i]))
      return TRUE;
  }
  return g_error_matches (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN);
}

static GError *
make_device_error (gboolean is_source)
{
  return g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
      "GStreamer finds no %s here: no %s of ALSA, PulseAudio or PipeWire can "
      "be opened (--%s takes other elements)",
      is_source ? "microphone" : "loudspeakers", is_source ? "input" : "output",
      is_source ? "source" : "sink");
}

/* Whether an element that autoaudiosrc or autoaudiosink has chosen cannot open its
 * device. */
static gboolean
is_closed_device (GstMessage *message, const GError *error)
{
  const gchar *parent =
      GST_MESSAGE_SRC (message) && GST_MESSAGE_SRC (message)->parent
          ? G_OBJECT_TYPE_NAME (GST_MESSAGE_SRC (message)->parent)
          : "";

  return g_str_has_prefix (parent, "GstAutoAudioS") &&
         error->domain == GST_RESOURCE_ERROR &&
         (error->code == GST_RESOURCE_ERROR_OPEN_READ ||
             error->code == GST_RESOURCE_ERROR_OPEN_WRITE ||
             error->code == GST_RESOURCE_ERROR_OPEN_READ_WRITE);
}

static gboolean
is_file_source (GstObject *source)
{
  return source && strcmp (G_OBJECT_TYPE_NAME (source), "GstFileSrc") == 0;
}

/* An audio device, whose errors do not always name it. */
static gboolean
is_device (GstObject *source)
{
  const gchar *klass = GST_IS_ELEMENT (source)
                           ? gst_element_get_metadata (GST_ELEMENT (source),
                                 GST_ELEMENT_METADATA_KLASS)
                           : NULL;

  return klass && (g_str_has_prefix (klass, "Source/Audio") ||
                      g_str_has_prefix (klass, "Sink/Audio"));
}

GError *
gst_tfx_tool_take_error (GstMessage *message, const gchar *missing)
{
  GError *error = NULL;

  gst_message_parse_error (message, &error, NULL);
  if (missing) {
    g_clear_error (&error);
    error = g_error_new (GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
        "GStreamer lacks a plugin: %s (many are in Debian's gstreamer1.0-libav "
        "and gstreamer1.0-plugins-bad)",
        missing);
  } else if (g_error_matches (error, GST_RESOURCE_ERROR,
                 GST_RESOURCE_ERROR_NOT_FOUND) &&
             is_file_source (GST_MESSAGE_SRC (message))) {
    g_clear_error (&error);
    error = g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
        "cannot be read: %s", g_strerror (ENOENT));
  } else if (is_closed_device (message, error)) {
    g_clear_error (&error);
    error =
        make_device_error (GST_OBJECT_FLAG_IS_SET (GST_MESSAGE_SRC (message),
            GST_ELEMENT_FLAG_SOURCE));
  } else if (is_no_sound (error)) {
    g_clear_error (&error);
    error = g_error_new (GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
        "it has no audio that GStreamer can decode");
  } else if (is_device (GST_MESSAGE_SRC (message))) {
    g_prefix_error (&error,
        "%s: ", GST_OBJECT_NAME (GST_MESSAGE_SRC (message)));
  }
  return error;
}

gchar *
gst_tfx_tool_take_warning (GstMessage *message)
{
  GError *warning = NULL;
  gchar *text = NULL;

  gst_message_parse_warning (message, &warning, NULL);
  /* Leaves out video tracks, and advice on converters, which the program adds
   * itself. */
  if (!g_error_matches (warning, GST_STREAM_ERROR,
          GST_STREAM_ERROR_CODEC_NOT_FOUND) &&
      !g_error_matches (warning, GST_CORE_ERROR, GST_CORE_ERROR_CAPS))
    text = g_strdup (warning->message);
  g_clear_error (&warning);
  return text;
}

/* ---- elements ---------------------------------------------------------------------- */

/* autoaudiosrc and autoaudiosink take an element that makes silence, or drops
 * everything, where they find no device. */
static gint
compare_to_fake (gconstpointer item, gconstpointer unused)
{
  const gchar *name = GST_OBJECT_NAME (g_value_get_object (item));

  return strcmp (name, "fake-auto-audio-src") != 0 &&
         strcmp (name, "fake-audio-sink") != 0;
}

gboolean
gst_tfx_tool_find_devices (GstElement *pipeline, GError **error)
{
  GValue fake = G_VALUE_INIT;
  GstIterator *elements;
  gboolean is_fake;

  gst_element_set_state (pipeline, GST_STATE_READY);
  elements = gst_bin_iterate_recurse (GST_BIN (pipeline));
  is_fake = gst_iterator_find_custom (elements, compare_to_fake, &fake, NULL);
  gst_iterator_free (elements);
  if (is_fake) {
    const gboolean is_source =
        g_str_has_suffix (GST_OBJECT_NAME (g_value_get_object (&fake)), "-src");

    *error = make_device_error (is_source);
    g_value_unset (&fake);
  }
  return !is_fake;
}

GstElement *
gst_tfx_tool_make_chain (void)
{
  GstElement *element = gst_element_factory_make ("tfxchain", NULL);

  if (!element) {
    gst_tfx_tool_error ("GStreamer finds no element tfxchain: install the "
                        "plugin, or set GST_PLUGIN_PATH to its folder");
    return NULL;
  }
  return gst_object_ref_sink (element);
}
