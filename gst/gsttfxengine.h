/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxengine.h: an executor that is made when the first plan comes, and
 * knows whether it has heard anything yet.
 */
#ifndef GST_TFX_ENGINE_H
#define GST_TFX_ENGINE_H

#include <glib.h>

#include "tfx.h"

G_BEGIN_DECLS

/* Of one thread at a time.  Starts with all zero. */
typedef struct
{
  TfxExec *exec; /* NULL before the first plan */
  TfxPlan *plan; /* what exec runs */
  gboolean used; /* samples were filtered since the last reset */
} GstTfxEngine;

/* Runs @stage from now on; the stage stays the caller's.  On failure the old
 * plan runs on, and *@why is a text for the user, to be freed. */
gboolean gst_tfx_engine_set_stage (GstTfxEngine *self, TfxStage *stage,
    guint rate, guint n_channels, const TfxBackend *backend, gchar **why);

/* Filters a block in place.  0 or a negative errno value. */
gint gst_tfx_engine_run (GstTfxEngine *self, const TfxBlock *block);

/* Back to rest.  FALSE if it is at rest already. */
gboolean gst_tfx_engine_reset (GstTfxEngine *self);

/* Frees what it holds; it can be used again. */
void gst_tfx_engine_clear (GstTfxEngine *self);

G_END_DECLS

#endif /* GST_TFX_ENGINE_H */
