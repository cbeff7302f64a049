/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainprivate.h: the instance of tfxchain and functions of its files.
 */
#ifndef GST_TFX_CHAIN_PRIVATE_H
#define GST_TFX_CHAIN_PRIVATE_H

#include "gsttfxchain.h"
#include "gsttfxchainbuilder.h"
#include "gsttfxchainfile.h"
#include "gsttfxchainstage.h"

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_tfx_chain_debug);

struct _GstTfxChain
{
  GstTfxElement parent;

  /* Under the object lock. */
  gchar *text;   /* the property; NULL after a stage has changed */
  gchar *fault;  /* the error in the text, or NULL */
  gchar *folder; /* for relative file names; NULL: the working folder, and the
                     * text is not from a file */
  GPtrArray *files; /* of GstTfxChainSeen *: the files in the text; replaced,
                     * never changed */
  GstTfxChainExpr *expr; /* without stages after an error */
  GPtrArray *stages;     /* of GstTfxChainStage; replaced, never changed;
                          * written atomically */
  gboolean is_started;
  GstTfxChainSeen *location; /* or NULL */
  gboolean is_watching;

  GMutex watch_lock;
  /* Under this lock. */
  gboolean is_ready;       /* the state is above NULL */
  GstTfxChainWatch *watch; /* or NULL */

  guint64 message_interval; /* ns, atomic; 0: no messages */

  /* Of the streaming thread. */
  GstTfxChainBuilder builder;
  GPtrArray *seen_stages;    /* at the last buffer, a reference; or NULL */
  GstClockTime last_message; /* end of the last message, or none */
  GstClockTime message_late; /* how late that was */
  GstClockTime last_end;     /* end of the last buffer */
};

/* A reference to the current expression. */
GstTfxChainExpr *gst_tfx_chain_get_expr (GstTfxChain *self);

/* A reference to the current stages. */
GPtrArray *gst_tfx_chain_get_stages (GstTfxChain *self);

/* Sets the empty chain of a new element. */
void gst_tfx_chain_init_text (GstTfxChain *self);

/* Sets the text of the chain, like the property.  FALSE if it is refused.  Any
 * thread. */
gboolean gst_tfx_chain_set_text (GstTfxChain *self, const gchar *text);

/* The same with the text of the file at the location, if there is one.  The caller does
 * not hold a lock. */
void gst_tfx_chain_set_file (GstTfxChain *self);

/* Sets the chain again after one of its files was saved. */
void gst_tfx_chain_read_again (GstTfxChain *self);

/* The chain's file and the files in the text, of GstTfxChainSeen *, with their versions
 * when they were read; to be freed. */
GPtrArray *gst_tfx_chain_list_files (GstTfxChain *self);

/* The current text of the chain, to be freed. */
gchar *gst_tfx_chain_get_text (GstTfxChain *self);

/* The current chain in one line, to be freed; NULL if it is invalid. */
gchar *gst_tfx_chain_print (GstTfxChain *self);

/* Notifies of the property chain. */
void gst_tfx_chain_notify_text (GstTfxChain *self);

/* Removes all stages, when the element is disposed. */
void gst_tfx_chain_drop_stages (GstTfxChain *self);

/* buffer_done of GstTfxElement: posts the element message if message-interval is
 * over. */
void gst_tfx_chain_readings_post (GstTfxElement *element, GstClockTime begin,
    GstClockTime end, const GstSegment *segment);

/* GInterfaceInitFunc of GstPreset. */
void gst_tfx_chain_preset_init (gpointer iface, gpointer data);

G_END_DECLS

#endif /* GST_TFX_CHAIN_PRIVATE_H */
