/* SPDX-License-Identifier: LGPL-2.1-or-later
 * deeds.h: people on the way of a buffer, who read it, keep it, write to it,
 * put another in its place or drop it, and tell the model.
 */
#ifndef TFX_DEEDS_H
#define TFX_DEEDS_H

#include "model.h"
#include "tfxcheck.h"

typedef enum
{
  TFX_DEEDS_COUNT, /* looks at nothing */
  TFX_DEEDS_READ,
  TFX_DEEDS_KEEP, /* every third one, and reads it later or never */
  TFX_DEEDS_REPLACE,
  TFX_DEEDS_NEGATE,
  TFX_DEEDS_MUTE,
  TFX_DEEDS_DROP, /* every fifth one */
  TFX_DEEDS_N
} TfxDeedsKind;

typedef struct
{
  TfxDeedsKind kind;
  TfxModelSpot *spot;
  gint rate;
  guint n; /* buffers so far */
  GQueue kept;
  gchar *error;
  GMutex lock;
} TfxDeeds;

const gchar *tfx_deeds_name (TfxDeedsKind kind);

TfxDeeds *tfx_deeds_new (TfxDeedsKind kind, TfxModelSpot *spot, gint rate);
void tfx_deeds_free (TfxDeeds *self);

/* Reads what is still kept. */
void tfx_deeds_end (TfxDeeds *self);

/* Reads the oldest that is kept, if there is one: from any thread. */
void tfx_deeds_read_one (TfxDeeds *self);

/* A buffer comes by; what goes on in its place, or NULL. */
GstBuffer *tfx_deeds_take (TfxDeeds *self, GstPad *pad, GstBuffer *buffer);

/* The same as a probe for buffers, and as the chain function of a ghost pad.
 * The deeds must outlive the pad's use. */
gulong tfx_deeds_probe (TfxDeeds *self, GstPad *pad);
void tfx_deeds_ghost (TfxDeeds *self, GstPad *ghost);

/* ---- buffers of numbered frames ----------------------------------------------- */

/* Each channel has its own factor. */
GstBuffer *
tfx_deeds_buffer (const GstAudioInfo *info, guint64 number, gsize n_frames);

/* How many frames are in a buffer. */
gsize tfx_deeds_n_frames (GstBuffer *buffer, const GstAudioInfo *info);

/* The values of the frames; NULL if the channels do not agree. */
gdouble *tfx_deeds_values (GstBuffer *buffer, GstCaps *caps, gsize *n_frames);

/* The number that the time of a buffer says, by the segment; FALSE if it is not
 * the time of any frame. */
gboolean tfx_deeds_number (GstBuffer *buffer, const GstSegment *segment,
    gint rate, guint64 *number);

#endif /* TFX_DEEDS_H */
