/* SPDX-License-Identifier: LGPL-2.1-or-later
 * rows.h: elements in a row in the tests, and what comes out of them.
 */
#ifndef TFX_ROWS_H
#define TFX_ROWS_H

#include "tfxcheck.h"

/* "a ! ( b ! c )" as elements e0, e1, e2, in a harness. */
typedef struct
{
  GstHarness *h;
  GstElement *elements[64];
  guint n;
  GstElement *guest; /* between two of them, for a while */
  gint rate;         /* of the stream */
} TfxRow;

/* Makes a row of tfx elements and others, fused or not, for a stream. */
void tfx_rows_open (TfxRow *row, const gchar *launch, const GstAudioInfo *info,
    gboolean fuse);
void tfx_rows_close (TfxRow *row);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TfxRow, tfx_rows_close)

/* A field of an element's stats. */
guint64 tfx_rows_stat (TfxRow *row, guint element, const gchar *field);

/* What comes out, and when. */
typedef struct
{
  GArray *samples; /* of gdouble, interleaved */
  GArray *numbers; /* of guint64: which frame each one is, by its offset */
  guint64 n_frames, n_buffers;
  gboolean stamped;    /* the time of each frame is that of its number, but for
                        * a few ns, as each element rounds where it starts */
  gboolean contiguous; /* exactly, and the numbers go from 0 on without a gap */
} TfxHeard;

void tfx_heard_close (TfxHeard *heard);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TfxHeard, tfx_heard_close)
const gdouble *tfx_heard_samples (const TfxHeard *heard);

/* Both are the same frames at the same times.  Where frames are lost in the
 * middle of a buffer, all of its frames are told the times of the first ones;
 * so if they may be lost at different places of a buffer, only the first and the
 * last frame and the count must be the same. */
void
tfx_heard_expect_same (const TfxHeard *a, const TfxHeard *b, gboolean loses);

/* What is done to a row before the buffer that begins with this frame. */
typedef void (*TfxMeddle) (TfxRow *row, guint64 frame, GRand *rand);

/* Plays noise through a row, stamped, in random buffers, with an end.  The
 * buffers and the random numbers of the meddler are the same for the same
 * seed; a toggle's are others. */
void tfx_rows_play (TfxRow *row, const GstAudioInfo *info, const gdouble *in,
    gsize n_frames, guint seed, TfxMeddle meddle, TfxMeddle toggle,
    TfxHeard *heard);

/* The same row unfused, and fused with a toggle, which have played the same. */
typedef struct
{
  TfxRow rows[2];
  TfxHeard heard[2];
} TfxPair;

void tfx_pair_play (TfxPair *pair, const gchar *launch,
    const GstAudioInfo *info, const gdouble *in, gsize n_frames, guint seed,
    TfxMeddle meddle, TfxMeddle toggle);
void tfx_pair_close (TfxPair *pair);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TfxPair, tfx_pair_close)

/* The largest difference between the two, which must be contiguous and of one
 * length. */
gdouble tfx_pair_distance (const TfxPair *pair);

/* The power of the difference in dB, against that of the unfused row or of the
 * input, whichever is more. */
gdouble tfx_pair_error_db (const TfxPair *pair, const gdouble *in);

/* What that may be: each unfused float32 element rounds to 24 bits, -149 dB.
 * Doubles are rounded to 53 bits everywhere, and a section at a low cutoff makes
 * up to 60 dB more of that, in plain C 10 dB more.  Transforms have both in them; direct
 * FIRs of float32 sum up in single precision. */
gdouble tfx_rows_bound_db (const GstAudioInfo *info, gboolean has_fft,
    gboolean has_firs);

/* ---- random rows --------------------------------------------------------------- */

/* A number between two, in proportion. */
gdouble tfx_rows_draw (GRand *rand, gdouble low, gdouble high);

GstAudioInfo tfx_rows_draw_info (GRand *rand);

/* ---- meddlers ---------------------------------------------------------------- */

/* Flushes, gaps and other segments start the whole afresh, now and then.  Frames
 * that are held by then are lost or not whether fused or not. */
void tfx_rows_interrupt (TfxRow *row, guint64 frame, GRand *rand);

/* Fuses and splits at every place, now and then. */
void tfx_rows_toggle_fuse (TfxRow *row, guint64 frame, GRand *rand);

/* Another device, as named, is no neighbour. */
void tfx_rows_toggle_device (TfxRow *row, guint64 frame, GRand *rand);

/* Somebody looks at the pads, for a while. */
void tfx_rows_toggle_probe (TfxRow *row, guint64 frame, GRand *rand);

#endif /* TFX_ROWS_H */
