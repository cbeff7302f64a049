/* SPDX-License-Identifier: LGPL-2.1-or-later
 * build.h: one stage of an expression alone. */
#ifndef TFX_LANG_BUILD_H
#define TFX_LANG_BUILD_H

#include "class.h"

/* Checks and designs a node whose class can be designed alone; build's error is
 * not NULL.  0, or the code of the error. */
int tfx_build_move (TfxBuild *build, const TfxNode *node, TfxMoved *moved);

#endif /* TFX_LANG_BUILD_H */
