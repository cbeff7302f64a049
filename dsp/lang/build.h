/* SPDX-License-Identifier: LGPL-2.1-or-later
 * build.h: one stage of an expression alone. */
#ifndef TFX_LANG_BUILD_H
#define TFX_LANG_BUILD_H

#include "class.h"

/* What all stages of an expression are made for.  Positions that are not as many as the
 * channels are none. */
TfxBuild tfx_build_begin (const TfxExpr *expr, double rate_hz,
    unsigned n_channels, uint64_t positions);

/* What one of them is: what comes to it, in the room that there is. */
TfxBuild tfx_build_for (const TfxBuild *all, const TfxNode *node);

/* Whether it is kept as it is to be made. */
bool tfx_build_is_prepared (const TfxNode *node, const TfxBuild *build);

/* Makes it, or takes what is kept; the error is not NULL.  0, or its code. */
int tfx_build_call (const TfxBuild *all, const TfxNode *node, TfxStage **stage);

/* Checks and designs a node whose class can be designed alone; build's error is
 * not NULL.  0, or the code of the error. */
int tfx_build_move (TfxBuild *build, const TfxNode *node, TfxMoved *moved);

#endif /* TFX_LANG_BUILD_H */
