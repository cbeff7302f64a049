/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainprivate.h: what the files of tfxchain share.
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
  gchar *text;      /* as it was set; NULL: a stage has changed since */
  gchar *fault;     /* what is wrong with it, or NULL */
  gchar *folder;    /* that the names in it are relative to; NULL: the working
                     * folder, and the text is from no file */
  GPtrArray *files; /* of GstTfxChainSeen *: what it names; replaced, never
                     * changed */
  GstTfxChainExpr *expr; /* without stages if there is a fault */
  GPtrArray *stages;     /* of GstTfxChainStage; replaced, never changed;
                          * written atomically */
  gboolean is_started;
  GstTfxChainSeen *location; /* or NULL */
  gboolean is_watching;

  GMutex watch_lock;
  /* Under this lock. */
  gboolean is_ready;       /* the state is above NULL */
  GstTfxChainWatch *watch; /* or NULL */

  guint64 message_interval; /* ns, atomic; 0: there are no messages */

  /* Of the streaming thread. */
  GstTfxChainBuilder builder;
  GPtrArray *seen_stages;    /* as it last saw them, a reference; or NULL */
  GstClockTime last_message; /* its end, or none */
  GstClockTime message_late; /* how long before that it was due */
  GstClockTime last_end;     /* that of the last buffer */
};

/* The expression as it is now; a reference for the caller. */
GstTfxChainExpr *gst_tfx_chain_get_expr (GstTfxChain *self);

/* The stages as they are now; a reference for the caller. */
GPtrArray *gst_tfx_chain_get_stages (GstTfxChain *self);

/* A new element has an empty chain. */
void gst_tfx_chain_init_text (GstTfxChain *self);

/* Takes the text of the chain, as the property does.  FALSE if it is refused.
 * Any thread. */
gboolean gst_tfx_chain_set_text (GstTfxChain *self, const gchar *text);

/* The same with the text of the file at the location, if there is one. */
void gst_tfx_chain_set_file (GstTfxChain *self);

/* One of the files that the chain comes from was saved. */
void gst_tfx_chain_read_again (GstTfxChain *self);

/* The files that the chain comes from, of GstTfxChainSeen *, as they were when they were
 * read; to be freed. */
GPtrArray *gst_tfx_chain_list_files (GstTfxChain *self);

/* The text of the chain as it is now, to be freed. */
gchar *gst_tfx_chain_get_text (GstTfxChain *self);

/* The chain as it is now in one line, to be freed; NULL if it is wrong. */
gchar *gst_tfx_chain_print (GstTfxChain *self);

/* The property has changed. */
void gst_tfx_chain_notify_text (GstTfxChain *self);

/* The stages lose their chain, at its end. */
void gst_tfx_chain_drop_stages (GstTfxChain *self);

/* buffer_done of GstTfxElement: posts the element message if message-interval is
 * over. */
void gst_tfx_chain_readings_post (GstTfxElement *element, GstClockTime begin,
    GstClockTime end, const GstSegment *segment);

/* GInterfaceInitFunc of GstPreset. */
void gst_tfx_chain_preset_init (gpointer iface, gpointer data);

G_END_DECLS

#endif /* GST_TFX_CHAIN_PRIVATE_H */
