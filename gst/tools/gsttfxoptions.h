/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxoptions.h: the options of the commands that run a chain. */
#ifndef GST_TFX_OPTIONS_H
#define GST_TFX_OPTIONS_H

#include <glib.h>

#include "gsttfxtool.h"
#include "lang/expr.h"

G_BEGIN_DECLS

/* What the options of process and watch ask for.  All strings are owned. */
typedef struct GstTfxOptions
{
  gchar *chain, *chain_file, *preset; /* one of them */
  gchar *out, *base, *journal, *extension, *codec, *loudness, *dither;
  gchar *noise_shaping, *true_peak, *bits, *rate, *manifest, *tail, *key;
  gdouble target_lufs;  /* of loudness, once it is read */
  gdouble most_peak_db; /* of true_peak, or the usual one, then */
  gint output_hz;       /* of rate, then; 0: that of the input */
  gint64 tail_ns;       /* or GST_TFX_RINGOUT_AUTO, then */
  gint n_jobs;
  gboolean replaygain, album;
  gboolean overwrite, allow_cut, keep_video, json, quiet;
  GPtrArray *notes; /* on filter settings; NULL: the chain was not read */
} GstTfxOptions;

/* The options that name a chain, for GOption: &entries[0] and on. */
#define GST_TFX_OPTIONS_N_CHAIN 3
void gst_tfx_options_list_chain (GstTfxOptions *options, GOptionEntry *entries);
/* All options of process and watch, with these. */
#define GST_TFX_OPTIONS_N_ENTRIES 22
void gst_tfx_options_list (GstTfxOptions *options, GOptionEntry *entries);
/* Prints the names of the presets, a line each. */
GstTfxToolStatus gst_tfx_options_print_presets (void);
/* Whether one of them was given. */
gboolean gst_tfx_options_has_chain (const GstTfxOptions *options);
/* Whether it is a chain and no file has that name. */
gboolean gst_tfx_options_is_chain (const gchar *text);
/* The last argument that is one; 0: none is. */
gint gst_tfx_options_look_for_chain (gint argc, gchar **argv);
/* As a shell takes it; free it. */
gchar *gst_tfx_options_quote (const gchar *chain);
/* Whether the chain is the name of a file, which is then an error message. */
gboolean gst_tfx_options_tell_file (const gchar *chain);
/* FALSE after a message: the last argument is no chain, but one before it is. */
gboolean gst_tfx_options_check_order (gint argc, gchar **argv);
/* The chain of a command that takes nothing else: its one word, if no option has it.
 * FALSE after a message. */
gboolean gst_tfx_options_find_chain (GstTfxOptions *options, gint argc,
    gchar **argv, const gchar *command);
/* The chain behind one other word, if no option has it: argv[2].  Then as below.
 * FALSE after a message too, with `usage`, if there are other words. */
gboolean gst_tfx_options_take_chain (GstTfxOptions *options, gint argc,
    gchar **argv, const gchar *usage);
/* Reads the options `bits` and `rate`.  FALSE after a message. */
gboolean gst_tfx_options_read_format (GstTfxOptions *options);
/* Finds the text of the chain.  FALSE after a message. */
gboolean gst_tfx_options_read_chain (GstTfxOptions *options);
/* FALSE after a message. */
gboolean gst_tfx_options_check_jobs (gint n_jobs);
/* The same with the options of process and watch: with a loudness, bits or a rate there
 * may be no chain. */
gboolean gst_tfx_options_read (GstTfxOptions *options);
/* The chain that was read, as the title of a picture; that of a file without the comments
 * in it.  To be freed. */
gchar *gst_tfx_options_name_chain (const GstTfxOptions *options);
/* Prints what a rate does not allow, as a warning: of tfx_expr_build. */
void gst_tfx_options_tell_clamp (const TfxExprClamp *clamped, void *data);
/* SHA-256 of all that changes an output: options, and files that the chain names; free
 * it. */
gchar *gst_tfx_options_digest (const GstTfxOptions *options);
void gst_tfx_options_clear (GstTfxOptions *options);

G_END_DECLS

#endif /* GST_TFX_OPTIONS_H */
