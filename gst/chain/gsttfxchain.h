/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchain.h: the element tfxchain and its stages.
 */
#ifndef GST_TFX_CHAIN_H
#define GST_TFX_CHAIN_H

#include "gsttfxchainfile.h"
#include "gsttfxelement.h"
#include "gsttfxworker.h"

#include "lang/expr.h"

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_tfx_chain_debug);

/* An expression that threads share; it may be read while a reference is
 * held. */
typedef struct
{
  gint refs; /* atomic */
  TfxExpr *expr;
} GstTfxChainExpr;

typedef struct _GstTfxChainWatch GstTfxChainWatch;

#define GST_TYPE_TFX_CHAIN (gst_tfx_chain_get_type ())
G_DECLARE_FINAL_TYPE (GstTfxChain, gst_tfx_chain, GST, TFX_CHAIN, GstTfxElement)

GST_ELEMENT_REGISTER_DECLARE (tfxchain);

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

  GMutex watch_lock;
  /* Under this lock. */
  gboolean is_watching;    /* the property */
  gboolean is_ready;       /* the state is above NULL */
  GstTfxChainWatch *watch; /* or NULL */

  guint64 message_interval; /* ns, atomic; 0: no messages */

  /* Of the streaming thread. */
  GstTfxWorker worker;       /* designs long stages */
  GPtrArray *clamps;         /* numbers out of range, or NULL */
  guint n_builds;            /* of the chain and of single stages */
  gboolean is_refused;       /* the last expression could not be built */
  TfxMove *move;             /* the current values and chain, or NULL */
  GPtrArray *seen_stages;    /* at the last buffer, a reference; or NULL */
  GstClockTime last_message; /* end of the last message, or none */
  GstClockTime message_late; /* how late that was */
  GstClockTime last_end;     /* end of the last buffer */
};

/* ---- a parameter of the catalogue as properties -------------------------- */

/* The properties of a parameter.  The one of its name is the number; if the
 * parameter can also be a list, the first of the list.  Further ones are the
 * whole list, and the second number if there are two at most. */
typedef enum
{
  GST_TFX_CHAIN_PARAM_WHOLE, /* "cutoff" */
  GST_TFX_CHAIN_PARAM_UPPER, /* "cutoff-upper" */
  GST_TFX_CHAIN_PARAM_LIST,  /* "cutoff-list" */
  GST_TFX_CHAIN_PARAM_FILE,  /* "b-file", for a list in a file */
  GST_TFX_CHAIN_PARAM_N_PARTS
} GstTfxChainParamPart;

/* The property for a part of a parameter; NULL if it does not have that
 * part. */
GParamSpec *gst_tfx_chain_param_make_spec (const TfxParam *param,
    GstTfxChainParamPart part);

/* The name of that property. */
#define GST_TFX_CHAIN_PARAM_NAME_SIZE 64
void gst_tfx_chain_param_print_name (const TfxParam *param,
    GstTfxChainParamPart part, gchar name[GST_TFX_CHAIN_PARAM_NAME_SIZE]);

/* Whether that property is the name of a file. */
gboolean
gst_tfx_chain_param_is_file (const TfxParam *param, GstTfxChainParamPart part);

/* Stores a part of @from in @to, which has the property's type. */
void gst_tfx_chain_param_get (const TfxParam *param, GstTfxChainParamPart part,
    const TfxValue *from, GValue *to);

/* The value @to of @old with one part set.  Clear it with
 * gst_tfx_chain_param_clear().  A list of two at most is in @pair, so that a
 * ramp of the edges of a band allocates nothing.  The file of a text has not
 * been read. */
void gst_tfx_chain_param_set (const TfxParam *param, GstTfxChainParamPart part,
    const TfxValue *old, const GValue *from, TfxValue *to, gdouble pair[2]);
void gst_tfx_chain_param_clear (TfxValue *to, const gdouble pair[2]);

/* ---- stages -------------------------------------------------------------- */

/* Readers of the lowest gain, each since its own last read. */
typedef enum
{
  GST_TFX_CHAIN_STAGE_STATS,
  GST_TFX_CHAIN_STAGE_MESSAGES,
  GST_TFX_CHAIN_STAGE_N_READERS
} GstTfxChainStageReader;

/* A child of a chain, whose expression has its values. */
typedef struct
{
  GstObject parent;

  /* Under the chain's object lock. */
  guint index;           /* in the chain */
  GstTfxChainExpr *last; /* when it was removed from its chain; set once */
  /* Under its own lock: the lowest since each reader's last read, in dB. */
  gdouble gains[GST_TFX_CHAIN_STAGE_N_READERS];
} GstTfxChainStage;

/* A subclass for each class of the catalogue, with properties for each
 * parameter. */
typedef struct
{
  GstObjectClass parent_class;

  const TfxClass *klass;
  /* [klass->n_params]; NULL where there is no such property */
  GParamSpec *(*specs)[GST_TFX_CHAIN_PARAM_N_PARTS];
} GstTfxChainStageClass;

GType gst_tfx_chain_stage_get_type (void);

/* A stage of a class, with the name of the stage; floating. */
GstTfxChainStage *
gst_tfx_chain_stage_new (const TfxClass *klass, const gchar *name);

/* Notifies of the properties of a parameter.  With no lock held. */
void gst_tfx_chain_stage_notify (GstTfxChainStage *self, guint param);

/* The stage's id in the filter; 0 if it is no longer in a chain.  Any
 * thread. */
guint64 gst_tfx_chain_stage_get_id (GstTfxElement *element, GstObject *stage);

/* Gain and loudness of the stage, to be freed; NULL if it does not measure its
 * level or has not run.  Any thread. */
GstStructure *gst_tfx_chain_stage_take_stats (GstTfxChainStage *self,
    GstTfxChainStageReader reader);

/* Takes ownership of @expr. */
GstTfxChainExpr *gst_tfx_chain_expr_new (TfxExpr *expr);
GstTfxChainExpr *gst_tfx_chain_expr_ref (GstTfxChainExpr *self);
void gst_tfx_chain_expr_unref (GstTfxChainExpr *self);

/* The expression, to be changed: first replaces *@self by a copy if there are
 * other references.  Under the lock under which all references are taken.  NULL
 * if memory is short. */
TfxExpr *gst_tfx_chain_expr_edit (GstTfxChainExpr **self);

/* References to the current expression and stages. */
GstTfxChainExpr *gst_tfx_chain_get_expr (GstTfxChain *self);
GPtrArray *gst_tfx_chain_get_stages (GstTfxElement *element);

/* ---- the text ------------------------------------------------------------ */

/* Sets the text of the chain, with file names relative to the folder (NULL: the
 * working folder, and the text is not from a file), or the fault of its file.
 * Takes the files that its file includes (of GstTfxChainSeen *, or NULL).
 * Notifies of the property chain.  FALSE if it is refused.  The caller holds no
 * lock; any thread. */
gboolean gst_tfx_chain_set_text (GstTfxChain *self, const gchar *text,
    const gchar *folder, GPtrArray *included, const gchar *fault);

/* Sets the text of the file at the location, if there is one. */
void gst_tfx_chain_read_location (GstTfxChain *self);

/* The text of the chain, or after a stage has changed, or if @is_printed, the
 * chain in one line; NULL if it is invalid.  To be freed. */
gchar *gst_tfx_chain_get_text (GstTfxChain *self, gboolean is_printed);

/* ---- saved files --------------------------------------------------------- */

/* Sets is_watching or is_ready.  While both are set, a thread reads the chain
 * again after its own file or a file in its text was saved.  The caller holds
 * no lock. */
void
gst_tfx_chain_watch_set (GstTfxChain *self, gboolean *flag, gboolean value);

/* Reads the chain again if a file was saved in NULL, where there is no
 * watch. */
void gst_tfx_chain_watch_catch_up (GstTfxChain *self);

/* ---- the filter, for GstTfxElementClass ---------------------------------- */

TfxChain *gst_tfx_chain_build (GstTfxElement *element, GstTfxBuild *build,
    GError **error);

/* Designs only the stages that were set since the last chain was built, without
 * allocating. */
gboolean gst_tfx_chain_build_move (GstTfxElement *element, GstTfxBuild *build);

void
gst_tfx_chain_build_reserve (GstTfxElement *element, const GstTfxBuild *build);

/* Waits for the thread and frees all, when the stream stops. */
void gst_tfx_chain_build_stop (GstTfxChain *self);

G_END_DECLS

#endif /* GST_TFX_CHAIN_H */
