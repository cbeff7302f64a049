/* SPDX-License-Identifier: LGPL-2.1-or-later
 * model.h: what should come out of a pipeline of delays, frame by frame, told
 * without any of the code that is tested.
 *
 * A stream is a list of frames.  Each has a number, which says when it is due,
 * and a value, which says what is heard.  The source puts out value number + 1
 * at each number; silence is 0.  A delay shifts the values and leaves the
 * numbers.  Who drops, mutes or negates a buffer on its way says so.
 */
#ifndef TFX_MODEL_H
#define TFX_MODEL_H

#include <glib.h>

/* Nothing is gone, or ends, before this number. */
#define TFX_MODEL_NEVER G_MAXUINT64

typedef struct
{
  guint64 number;
  guint era; /* since a flush or a start of everything */
  gdouble value;
} TfxModelFrame;

/* From a start or a flush to the next. */
typedef struct
{
  guint64 from, to;
  gboolean is_cut; /* what was under way at its end may be lost */
} TfxModelEra;

typedef enum
{
  TFX_MODEL_DROP,
  TFX_MODEL_MUTE,
  TFX_MODEL_NEGATE
} TfxModelDeed;

/* A place that buffers pass: what was done to them, what was seen. */
typedef struct
{
  GArray *marks;
  GArray *visits; /* all that came by */
  GPtrArray *sights;
  gboolean sees_all; /* nothing goes past it */
} TfxModelSpot;

/* Something that delays what it gets, between two numbers. */
typedef struct
{
  gchar *name;
  gsize delay;
  guint64 came, gone;
  GArray *resets; /* of guint64: numbers before which it forgot all */
  TfxModelSpot before, after;
} TfxModelNode;

TfxModelNode *tfx_model_node_new (const gchar *name, gsize delay);
void tfx_model_node_free (TfxModelNode *node);
void tfx_model_node_reset (TfxModelNode *node, guint64 number);

/* Notes that frames came by, what was done to them, or what values they had. */
void tfx_model_spot_visit (TfxModelSpot *spot, guint64 from, gsize n);
void tfx_model_spot_mark (TfxModelSpot *spot, TfxModelDeed deed, guint64 from,
    gsize n);
void tfx_model_spot_see (TfxModelSpot *spot, guint64 from,
    const gdouble *values, gsize n);

/* What the source puts out: frames of all eras. */
GArray *tfx_model_source (const GArray *eras);

/* Frames as they come out of a node.  The text of what was seen otherwise, or
 * NULL. */
gchar *tfx_model_node_pass (const TfxModelNode *node, GArray **frames,
    const GArray *eras);

/* What was heard against what should have been: the text of the first
 * difference, or NULL. */
gchar *tfx_model_compare (const GArray *heard, const GArray *expected,
    const GArray *eras);

/* Values are whole numbers; no rounding makes up for a frame. */
gboolean tfx_model_is_same (gdouble a, gdouble b);

#endif /* TFX_MODEL_H */
