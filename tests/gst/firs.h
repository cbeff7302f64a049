/* SPDX-License-Identifier: LGPL-2.1-or-later
 * firs.h: FIR filters in the tests: what should come out of them, and what
 * does.
 */
#ifndef TFX_FIRS_H
#define TFX_FIRS_H

#include <sndfile.h>

#include "tfxcheck.h"

/* ---- what should come out ------------------------------------------------- */

/* The convolution of every channel with its kernel, sum by sum in double, as
 * long as the input and `delay` frames earlier than the causal one.
 * taps[n_kernels][n_taps]; one kernel is for all channels. */
gdouble *tfx_firs_convolve (const gdouble *taps, guint n_kernels, gsize n_taps,
    gsize delay, const gdouble *in, gsize n_frames, gint n_channels);

/* The designed taps.  Free with g_free(). */
gdouble *tfx_firs_design (TfxMode mode, TfxWindow window, gsize n_taps,
    gdouble lower_hz, gdouble upper_hz, gdouble rate);

/* What "tfxfir taps=N" puts out; the rest is the default: aligned, a low-pass at
 * 1 kHz with a Hamming window. */
gdouble *tfx_firs_plain (gsize n_taps, const gdouble *in, gsize n_frames,
    const GstAudioInfo *info);

/* Decaying noise that is not symmetric; its gain is about 1. */
gdouble *tfx_firs_room (gsize n_taps, guint seed);

/* The power of a - b as a part of that of b, in dB. */
gdouble tfx_firs_error_db (const gdouble *a, const gdouble *b, gsize n);

/* ---- what comes out -------------------------------------------------------- */

/* What a harness has put out, since the last tfx_firs_forget(). */
typedef struct
{
  GArray *samples; /* of gdouble, interleaved */
  gint n_channels;
  gsize n_frames, n_buffers;
  GstClockTime first_pts, next_pts; /* none without times */
  guint64 first_offset, next_offset;
  guint n_jumps;     /* times that are not where the last buffer ended */
  gboolean discont;  /* of the first buffer */
  GstAudioInfo info; /* of the last caps */
} TfxCatch;

TfxCatch *tfx_firs_catch_new (void);
void tfx_firs_catch_free (TfxCatch *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TfxCatch, tfx_firs_catch_free)

/* Takes in a buffer, and gives it back. */
void
tfx_firs_take (TfxCatch *self, GstBuffer *buffer, const GstAudioInfo *info);

/* Takes in all that is there.  Every buffer must hold frames; its duration and
 * its offsets must be those of its frames. */
void tfx_firs_collect (TfxCatch *self, GstHarness *h, const GstAudioInfo *info);
/* The same until there are n frames. */
void tfx_firs_collect_until (TfxCatch *self, GstHarness *h,
    const GstAudioInfo *info, gsize n);
/* All that there is to its end. */
void tfx_firs_finish (TfxCatch *self, GstHarness *h, const GstAudioInfo *info);
void tfx_firs_forget (TfxCatch *self);

/* Pushes n frames with their times, from frame number `from` on, in buffers of
 * at most `most`; 0: of all sizes up to 700. */
void tfx_firs_push (GstHarness *h, const GstAudioInfo *info, const gdouble *in,
    gsize n, guint64 from, gsize most);

/* The stream is over: what is held comes out, and the next one, whatever its
 * times, finds the filter at rest. */
void tfx_firs_end (GstHarness *h);

/* A stream from its start to its end. */
TfxCatch *tfx_firs_play (const gchar *launch, const GstAudioInfo *info,
    const gdouble *in, gsize n, guint64 from, gsize most);

/* As many frames as went in, without a gap, from the time of the first of them
 * on. */
void
tfx_firs_expect_whole (const TfxCatch *self, gsize n, guint64 from, gint rate);

const gdouble *tfx_firs_samples (const TfxCatch *self);

/* All of them are within a power of error in dB, or within a distance. */
void tfx_firs_expect_db (const TfxCatch *self, const gdouble *expected,
    gdouble limit_db, const gchar *what);
void tfx_firs_expect_near (const TfxCatch *self, const gdouble *expected,
    gdouble distance, const gchar *what);

/* Sets the property kernel. */
void tfx_firs_set_kernel (GstElement *element, const gdouble *taps, gsize n);

/* Writes samples [frame][channel] to a sound file in the folder of this run; its
 * path. */
#define TFX_FIRS_WAV (SF_FORMAT_WAV | SF_FORMAT_FLOAT)
gchar *tfx_firs_write_sound (const gchar *name, gint format,
    const gdouble *samples, gsize n_frames, guint n_channels, guint rate);

#endif /* TFX_FIRS_H */
