/* SPDX-License-Identifier: LGPL-2.1-or-later
 * build.h: one stage of an expression. */
#ifndef TFX_LANG_BUILD_H
#define TFX_LANG_BUILD_H

#include "class.h"

/* Makes the stage of a call, or takes the one that is kept, for an input with the
 * conditions in all.  Sets *stage to a reference for the caller.  0, or the code of
 * the error, which is not NULL. */
int tfx_build_node (const TfxBuild *all, const TfxNode *node, TfxStage **stage);

#endif /* TFX_LANG_BUILD_H */
