/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxjournal.h: which files of a folder are done, so that an interrupted run
 * can be resumed. */
#ifndef GST_TFX_JOURNAL_H
#define GST_TFX_JOURNAL_H

#include <glib.h>

G_BEGIN_DECLS

typedef struct GstTfxJournal GstTfxJournal;

/* The journal in a file, for options with this digest.  Unless the user has given the path, it must be a
 * regular file of this user, and no link.  NULL with the error if it is not, or cannot be
 * written. */
GstTfxJournal *gst_tfx_journal_open (const gchar *path, gboolean is_given,
    const gchar *digest, GError **error);
void gst_tfx_journal_close (GstTfxJournal *journal);

/* From now on the journal is asked about another chain. */
void gst_tfx_journal_set_chain (GstTfxJournal *journal, const gchar *chain);

/* Whether this output was made from the current version of this input with this chain,
 * and still exists. */
gboolean gst_tfx_journal_is_done (GstTfxJournal *journal, const gchar *input,
    const gchar *output);

/* Whether it was begun, and nobody knows how it ended: an output that is there is
 * from then. */
gboolean gst_tfx_journal_is_begun (GstTfxJournal *journal, const gchar *input,
    const gchar *output);

/* What tells this state of an input from others, its size and time; free it.  NULL if
 * it cannot be read. */
gchar *gst_tfx_journal_look_at (const gchar *input);

/* Writes down that it begins, in this state; its output must not be there.  Any thread.  FALSE
 * with the error. */
gboolean gst_tfx_journal_begin (GstTfxJournal *journal, const gchar *input,
    const gchar *state, const gchar *output, GError **error);

/* Writes down that it is done, of the state that it had when it began: it may have
 * changed since.  Any thread.  FALSE with the error. */
gboolean gst_tfx_journal_add (GstTfxJournal *journal, const gchar *input,
    const gchar *state, const gchar *output, GError **error);

G_END_DECLS

#endif /* GST_TFX_JOURNAL_H */
