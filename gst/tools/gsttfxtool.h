/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtool.h: what the commands of gst-tfx share. */
#ifndef GST_TFX_TOOL_H
#define GST_TFX_TOOL_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Exit statuses, as the manual has them. */
typedef enum
{
  GST_TFX_TOOL_OK = 0,
  GST_TFX_TOOL_FAILED = 1, /* a file could not be processed */
  GST_TFX_TOOL_USAGE = 2,  /* the command line or the chain is wrong */
  GST_TFX_TOOL_INTERRUPTED = 130
} GstTfxToolStatus;

/* A command: argv[0] is its name. */
typedef GstTfxToolStatus (*GstTfxToolRun) (gint argc, gchar **argv);

/* One sentence to standard error, "error: " in front. */
void gst_tfx_tool_error (const gchar *format, ...) G_GNUC_PRINTF (1, 2);

/* Starts a program.  Standard streams that are closed become /dev/null, so that no file
 * comes in their place; g_print() and g_printerr() write bytes, in any locale.  The first
 * signal asks the program to end.  Another one kills it, but not in the first two seconds;
 * open parts are deleted, or kept where they ask for that. */
void gst_tfx_tool_start (void);
/* The status of the program: a failure, after a message, if not all of standard
 * output could be written. */
GstTfxToolStatus gst_tfx_tool_close_streams (GstTfxToolStatus status);

/* Reads a command's options out of argv.  FALSE after a message. */
gboolean gst_tfx_tool_parse (const gchar *parameters, const gchar *summary,
    const gchar *description, const GOptionEntry *entries, gint *argc,
    gchar ***argv);

/* Rounds to n_digits decimals; 0 never has a sign. */
gdouble gst_tfx_tool_round (gdouble value, guint n_digits);

/* Sets an option that was not given to a copy of its default. */
void gst_tfx_tool_set_default (gchar **option, const gchar *value);

/* From now on a pipe that nobody reads any more asks the program to end, unless that is
 * ignored. */
void gst_tfx_tool_catch_broken_pipes (void);
/* Whether a signal has asked the program to end.  Any thread. */
gboolean gst_tfx_tool_is_interrupted (void);

/* Whether no thread of a pipeline has had anything to do for a second, if it is asked in
 * each tenth of one.  @n_idle is its own, 0 at first. */
gboolean gst_tfx_tool_stands_still (GstElement *pipeline, guint *n_idle);
/* Restarts a pipeline that reads a file and makes no progress: decodebin may lose the
 * first sound.  FALSE after the last attempt; @n_starts is its own, 0 at
 * first. */
gboolean gst_tfx_tool_start_anew (GstElement *pipeline, guint *n_starts);

/* Stores the name of the decoder that is missing for the sound, "AAC decoder"; free it. */
void gst_tfx_tool_note_missing (GstMessage *message, gchar **missing);
/* The error of a message; missing, unless NULL, is why; free it. */
GError *gst_tfx_tool_take_error (GstMessage *message, const gchar *missing);

/* The warning of a message; NULL if it is of no use to a user of the program; free
 * it. */
gchar *gst_tfx_tool_take_warning (GstMessage *message);

/* Sets a pipeline to READY.  FALSE with an error if autoaudiosrc finds no microphone, or
 * autoaudiosink no loudspeakers. */
gboolean gst_tfx_tool_find_devices (GstElement *pipeline, GError **error);

/* A tfxchain that is the caller's; NULL after a message. */
GstElement *gst_tfx_tool_make_chain (void);

/* The current caps of a pad of an element, a reference; NULL before caps. */
GstCaps *gst_tfx_tool_get_caps (GstElement *element, const gchar *name);

/* Whether two names are those of one file or folder that is there. */
gboolean gst_tfx_tool_is_same_file (const gchar *a, const gchar *b);

/* Whether what becomes the output would no longer be there as the input, which may be a
 * link to it. */
gboolean gst_tfx_tool_would_replace (const gchar *output, const gchar *input);

/* For g_array_sort. */
gint gst_tfx_tool_compare_doubles (const gdouble *a, const gdouble *b);

GstTfxToolStatus gst_tfx_process_run (gint argc, gchar **argv);
GstTfxToolStatus gst_tfx_check_run (gint argc, gchar **argv);
GstTfxToolStatus gst_tfx_loudness_run (gint argc, gchar **argv);
GstTfxToolStatus gst_tfx_list_run (gint argc, gchar **argv);
GstTfxToolStatus gst_tfx_bench_run (gint argc, gchar **argv);
GstTfxToolStatus gst_tfx_devices_run (gint argc, gchar **argv);
GstTfxToolStatus gst_tfx_play_run (gint argc, gchar **argv);
GstTfxToolStatus gst_tfx_record_run (gint argc, gchar **argv);
GstTfxToolStatus gst_tfx_response_run (gint argc, gchar **argv);
GstTfxToolStatus gst_tfx_spectra_run (gint argc, gchar **argv);
GstTfxToolStatus gst_tfx_verify_run (gint argc, gchar **argv);
GstTfxToolStatus gst_tfx_watch_run (gint argc, gchar **argv);

G_END_DECLS

#endif /* GST_TFX_TOOL_H */
