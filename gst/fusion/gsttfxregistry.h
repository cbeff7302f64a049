/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxregistry.h: which element has the state of a stage.
 */
#ifndef GST_TFX_REGISTRY_H
#define GST_TFX_REGISTRY_H

#include "gsttfxengine.h"
#include "gsttfxfilter.h"

G_BEGIN_DECLS

/* One for the process; any thread.  An element has the state of a stage that
 * its engine ran last, whoever the stage belongs to. */

/* The engine of @self has begun to run its plan: it takes over the state of
 * every stage that another element has, with the frames that these hold back,
 * and has them all from now on. */
void gst_tfx_registry_claim (GstTfxFilter *self, GstTfxEngine *engine);

/* The stages of @plan that are not in @but (unless NULL) are at rest: nobody
 * has a state of theirs that counts. */
void gst_tfx_registry_forget (const TfxPlan *plan, const TfxPlan *but);

/* @self stops; its engine is about to be cleared.  State that others may ask
 * for is kept for them. */
void gst_tfx_registry_leave (GstTfxFilter *self, GstTfxEngine *engine);

G_END_DECLS

#endif /* GST_TFX_REGISTRY_H */
