/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainstage.h: GstTfxChainStage, a stage of a tfxchain as its child.
 */
#ifndef GST_TFX_CHAIN_STAGE_H
#define GST_TFX_CHAIN_STAGE_H

#include "gsttfxchainexpr.h"
#include "gsttfxchainparam.h"

G_BEGIN_DECLS

#define GST_TYPE_TFX_CHAIN_STAGE (gst_tfx_chain_stage_get_type ())
G_DECLARE_DERIVABLE_TYPE (GstTfxChainStage, gst_tfx_chain_stage, GST,
    TFX_CHAIN_STAGE, GstObject)

/* There is a subclass for each class of the catalogue, with a property for each
 * parameter.  The values are those of the chain that the stage is in. */
struct _GstTfxChainStageClass
{
  GstObjectClass parent_class;

  const TfxClass *klass;
  /* [klass->n_params]; NULL where there is no such property */
  GParamSpec *(*specs)[GST_TFX_CHAIN_PARAM_N_PARTS];
};

/* Access to the values of a stage, which its chain has.  Each is called with the stage's
 * parent and returns FALSE if that no longer has the stage. */
typedef struct
{
  gboolean (*set) (GstObject *chain, GstTfxChainStage *stage, guint param,
      GstTfxChainParamPart part, const GValue *value);
  gboolean (*get) (GstObject *chain, GstTfxChainStage *stage, guint param,
      GstTfxChainParamPart part, GValue *value);
  /* The stage's id in the filter; 0 instead of FALSE. */
  guint64 (*get_id) (GstObject *chain, GstTfxChainStage *stage);
  /* The stage with its current values, for the current stream, else for a default one;
   * NULL if it cannot be made. */
  TfxStage *(*make) (GstObject *chain, GstTfxChainStage *stage, gdouble *rate);
} GstTfxChainStageValues;

/* A stage of a class, with the name of the stage; floating.  @values is
 * static. */
GstTfxChainStage *gst_tfx_chain_stage_new (const TfxClass *klass,
    const gchar *name, const GstTfxChainStageValues *values);

const TfxClass *gst_tfx_chain_stage_get_klass (GstTfxChainStage *self);

/* The index of the stage in its chain; called by the chain, with its lock held. */
guint gst_tfx_chain_stage_get_index (GstTfxChainStage *self);
void gst_tfx_chain_stage_set_index (GstTfxChainStage *self, guint index);

/* The stage's id in the filter; 0 if it is not in a chain.  Any thread. */
guint64 gst_tfx_chain_stage_get_id (GstTfxChainStage *self);

/* Call when the stage is removed from its chain: it keeps its values in @expr. */
void gst_tfx_chain_stage_retire (GstTfxChainStage *self, GstTfxChainExpr *expr);

/* Notifies of the properties of a parameter.  With no lock held. */
void gst_tfx_chain_stage_notify (GstTfxChainStage *self, guint param);

/* Readers of the lowest gain, each since its own last read. */
typedef enum
{
  GST_TFX_CHAIN_STAGE_STATS,
  GST_TFX_CHAIN_STAGE_MESSAGES,
  GST_TFX_CHAIN_STAGE_N_READERS
} GstTfxChainStageReader;

/* Gain and loudness of the stage, to be freed; NULL if it does not measure its level or
 * has not run.  Any thread. */
GstStructure *gst_tfx_chain_stage_take_stats (GstTfxChainStage *self,
    GstTfxChainStageReader reader);

G_END_DECLS

#endif /* GST_TFX_CHAIN_STAGE_H */
