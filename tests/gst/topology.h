/* SPDX-License-Identifier: LGPL-2.1-or-later
 * topology.h: pipelines of elements that are identities or delays, which change
 * while they play, and what comes out of them.
 *
 * A trunk of nodes, or a trunk with a tee and two branches.  A pad without an
 * element feeds it; pads without elements hear the ends.
 */
#ifndef TFX_TOPOLOGY_H
#define TFX_TOPOLOGY_H

#include "deeds.h"

/* What stands in the pipeline, or did. */
typedef struct
{
  GstElement *element;
  TfxModelNode *model;
  gboolean can_go;       /* holds nothing that would be lost */
  gboolean can_go_ended; /* at least after an EOS */
  gboolean has_probe;
} TfxTopologyNode;

typedef struct _TfxTopology TfxTopology;

/* An end, where every third buffer is kept and read late. */
typedef struct
{
  TfxTopology *topology;
  GstPad *pad;
  GstSegment segment;
  GArray *heard; /* of TfxModelFrame */
  GQueue kept;
  guint n_buffers;
  gboolean is_ended;
} TfxTopologyEnd;

/* A trunk or a branch: from a src pad to an end or a tee. */
typedef struct
{
  GstPad *head;
  GPtrArray *nodes; /* in the order of the stream, with those that are gone */
} TfxTopologyBranch;

struct _TfxTopology
{
  gboolean fuse;       /* what the elements begin with */
  gboolean has_holds;  /* there may be frames that are held: none are dropped */
  gboolean has_planes; /* at least some of the time */
  GstAudioInfo info;
  GstElement *bin, *tee;
  GstBus *bus;
  GstPad *src;
  GstClockTime origin;           /* the running time that pts 0 stands for */
  guint64 next;                  /* the number of the next frame */
  GArray *eras;                  /* of TfxModelEra */
  TfxTopologyBranch branches[3]; /* the trunk first */
  guint n_branches;
  TfxTopologyEnd ends[2];
  guint n_ends;
  GPtrArray *nodes, *deeds; /* owners of all there ever were */
  gint is_flushing;
  GMutex driving;      /* held while a buffer is pushed */
  gboolean is_refused; /* nothing more goes in before the next era */

  GMutex lock; /* of what follows, and of the ends */
  GCond cond;
  gchar *error;  /* the first one */
  GString *tale; /* what was built and done */
};

/* Draws a pipeline, which plays. */
TfxTopology *tfx_topology_new (GRand *rand, gboolean fuse);
void tfx_topology_free (TfxTopology *self);

void tfx_topology_tell (TfxTopology *self, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);
void tfx_topology_complain (TfxTopology *self, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);

/* A new node, not in the pipeline yet. */
TfxTopologyNode *
tfx_topology_draw_node (TfxTopology *self, GRand *rand, gboolean may_queue);

/* Another text of the same meaning for some tfxchain. */
void tfx_topology_draw_text (TfxTopology *self, GRand *rand);

/* Somebody on the src pad of a node, for good or until the node goes. */
void tfx_topology_draw_probe (TfxTopology *self, GRand *rand);

/* ---- the stream ---------------------------------------------------------- */

/* Makes the ends, lets them go, and starts the elements and the stream. */
void tfx_topology_open_ends (TfxTopology *self, guint n_ends);
void tfx_topology_close_ends (TfxTopology *self);
void tfx_topology_start (TfxTopology *self);

/* From one thread. */
void tfx_topology_push (TfxTopology *self, gsize n_frames);
/* Another segment that the stream goes on in. */
void tfx_topology_push_segment (TfxTopology *self, guint kind);
void tfx_topology_push_format (TfxTopology *self, GRand *rand);
/* From any thread: the next era. */
void tfx_topology_flush (TfxTopology *self);
void tfx_topology_restart (TfxTopology *self, GstState low);
/* The end of the stream: the text of what is wrong, or NULL. */
gchar *tfx_topology_end (TfxTopology *self);

#endif /* TFX_TOPOLOGY_H */
