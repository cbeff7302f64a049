/* SPDX-License-Identifier: LGPL-2.1-or-later
 * topochange.h: what comes, goes and moves in a topology while it plays, by
 * GStreamer's own recipes: a pad is blocked, and what is behind it is linked
 * anew.
 */
#ifndef TFX_TOPOCHANGE_H
#define TFX_TOPOCHANGE_H

#include "topology.h"

typedef enum
{
  TFX_TOPOCHANGE_INSERT,
  TFX_TOPOCHANGE_REMOVE,
  TFX_TOPOCHANGE_REMOVE_ENDED, /* after an EOS through the element */
  TFX_TOPOCHANGE_RELINK,
  TFX_TOPOCHANGE_RESTART, /* the element alone */
  TFX_TOPOCHANGE_N
} TfxTopochangeKind;

typedef struct
{
  gint refs; /* atomic: whoever began it, and the probe */
  TfxTopology *topology;
  TfxTopochangeKind kind;
  TfxTopologyBranch *branch;
  guint at;              /* the node, or where one comes, in the branch */
  TfxTopologyNode *node; /* that comes, goes or restarts; or none */
  GstState low;          /* for a restart */
  GstPad *pad;           /* blocked for it */
  gulong probe;
  gint state; /* atomic: 0 waits, 1 is under way, 2 is done, 3 given up */
} TfxTopochange;

/* Draws a change and has it done when the next buffer comes by.  NULL if there
 * is nothing that could be done. */
TfxTopochange *tfx_topochange_begin (TfxTopology *topology, GRand *rand);
gboolean tfx_topochange_is_done (TfxTopochange *self);
/* Gives it up if it has not begun, and lets go of it. */
void tfx_topochange_end (TfxTopochange *self);

#endif /* TFX_TOPOCHANGE_H */
