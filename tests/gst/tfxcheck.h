/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tfxcheck.h: what the tests of the elements share.
 *
 * Samples are held as interleaved doubles, n frames of n channels, whatever
 * the stream's format and layout are.
 */
#ifndef TFX_CHECK_H
#define TFX_CHECK_H

#include <gst/audio/audio.h>
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#include "../part.h"
#include "tfx.h"

/* ---- the test programs --------------------------------------------------- */

/* Runs a suite: the program's main().  Plugins outside of the project are
 * loaded from their files, so that no registry of the system is read. */
int tfx_check_main (int argc, char **argv, Suite *suite);

/* The same for one list of cases. */
int tfx_check_run (int argc, char **argv, TCase *tcase);

/* A folder of this run, in which presets are saved too.  The first call is that of
 * main(); tfx_check_run() removes it with all that is in it. */
const gchar *tfx_check_folder (void);

/* The path of a file in it, and the same after a text, or bytes, have been written to
 * it.  Free with g_free(). */
gchar *tfx_check_path (const gchar *name);
gchar *tfx_check_write (const gchar *name, const gchar *text);
gchar *tfx_check_write_bytes (const gchar *name, const gchar *bytes, gssize n);

/* The cases 0 to n - 1 of a loop test, or of a part every n_parts-th (part.h). */
#define tfx_check_add_part(tcase, test, n, n_parts)                            \
  for (int case_ = 0; case_ < (int)(n); case_++)                               \
    if (part_has ((unsigned)case_, n_parts))                                   \
  tcase_add_loop_test (tcase, test, case_, case_ + 1)

/* For a loop that waits for what another thread does: sleeps for a millisecond.  FALSE
 * a minute and a half after the first call, for which *begin is 0. */
gboolean tfx_check_wait (gint64 *begin);

/* ---- samples --------------------------------------------------------------- */

/* n random numbers in -1 to 1 that a float32 holds exactly; the same for the
 * same seed.  Free with g_free(). */
gdouble *tfx_check_noise (gsize n, guint seed);

/* n times the same number.  Free with g_free(). */
gdouble *tfx_check_constant (gsize n, gdouble value);

/* A sine from sample `from` on, in float32.  Free with g_free(). */
gdouble *tfx_check_sine (gsize n, gsize from, gdouble hz, gint rate);

/* The largest step from a number to the next. */
gdouble tfx_check_step (const gdouble *x, gsize n);

/* The largest |a[i] - b[i]|; NaN counts as infinite. */
gdouble tfx_check_distance (const gdouble *a, const gdouble *b, gsize n);

/* No NaN and no infinity among them. */
gboolean tfx_check_is_finite (const gdouble *x, gsize n);

/* The root mean square of every step-th number. */
gdouble tfx_check_rms (const gdouble *x, gsize n, gsize step);

/* ---- formats and buffers --------------------------------------------------- */

/* A format as in audio/x-raw caps; no channel positions above 2 channels. */
GstAudioInfo tfx_check_info (GstAudioFormat format, gint rate, gint n_channels,
    GstAudioLayout layout);

/* Shorthands: interleaved. */
GstAudioInfo tfx_check_f32 (gint rate, gint n_channels);
GstAudioInfo tfx_check_f64 (gint rate, gint n_channels);

/* A buffer without times that holds n frames; planar ones have their meta. */
GstBuffer *tfx_check_buffer (const GstAudioInfo *info, const gdouble *samples,
    gsize n_frames);

/* The same, with a time, duration and offsets from the number of its
 * first frame. */
GstBuffer *tfx_check_stamped (const GstAudioInfo *info, const gdouble *samples,
    gsize n_frames, guint64 from);

/* The samples in a buffer; *n_frames (unless NULL) says how many frames. */
gdouble *tfx_check_samples (GstBuffer *buffer, const GstAudioInfo *info,
    gsize *n_frames);

/* ---- elements --------------------------------------------------------------- */

/* g_autoptr (TfxHarness) and g_autoptr (TfxElement) stop an element, forget the
 * messages on its bus, which hold it, and give it back. */
typedef GstHarness TfxHarness;
typedef GstElement TfxElement;
void tfx_check_close (GstHarness *h);
void tfx_check_drop (GstElement *element);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TfxHarness, tfx_check_close)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TfxElement, tfx_check_drop)

/* A harness around one element, or around a bin of several, from a launch
 * line. */
GstHarness *tfx_check_harness (const gchar *launch, const GstAudioInfo *info);

void tfx_check_set_info (GstHarness *h, const GstAudioInfo *info);

/* Pushes n frames in buffers of at most `most` and gives back what comes out,
 * which must be as many frames. */
gdouble *tfx_check_filter (GstHarness *h, const GstAudioInfo *info,
    const gdouble *samples, gsize n_frames, gsize most);

/* A flush and a new segment: the filter starts afresh. */
void tfx_check_flush (GstHarness *h);

/* A segment in time; `stop` may be GST_CLOCK_TIME_NONE. */
void tfx_check_push_segment (GstHarness *h, GstClockTime start,
    GstClockTime stop, GstClockTime base);

/* Pushes one buffer; the next one that comes out. */
GstBuffer *tfx_check_push (GstHarness *h, GstBuffer *buffer);

/* How many frames come out; they are gone. */
guint64 tfx_check_pull_frames (GstHarness *h, const GstAudioInfo *info);

/* Whatever is within: sets the property where it is known. */
void tfx_check_set_fuse (GstElement *element, gboolean fuse);

/* Links a blocked source pad.  A buffer that waits there is sent with the caps of the
 * pad: without CUDA memory if the downstream elements accept none (docs/gpu.md). */
gboolean tfx_check_link_waiting (GstPad *src, GstPad *sink);

/* GStreamer's recipes, while nothing flows there: an element comes behind a pad or goes,
 * and what stands around it is linked.  It has no bin then; the caller needs a
 * reference.  FALSE if something cannot be linked or does not start. */
gboolean tfx_check_put_behind (GstBin *bin, GstPad *src, GstElement *element);
gboolean tfx_check_take_out (GstElement *element);

/* Sends an EOS through an element; whether it comes out.  It goes no further. */
gboolean tfx_check_send_eos (GstElement *element);

/* A field of the stats property. */
guint64 tfx_check_stat (GstElement *element, const gchar *field);

/* A property as text, to be freed; and it is this, or NULL. */
gchar *tfx_check_property (gpointer object, const gchar *property);
void tfx_check_expect_property (gpointer object, const gchar *property,
    const gchar *text);

/* A bus for an element in a harness. */
GstBus *tfx_check_bus (GstHarness *h);

/* The text of the next warning on the bus, NULL if there is none. */
gchar *tfx_check_pop_warning (GstBus *bus);

/* The next warning must be there and hold each of the words. */
void tfx_check_expect_warning (GstBus *bus, const gchar *word,
    ...) G_GNUC_NULL_TERMINATED;

/* The same of an error, or of either type. */
void tfx_check_expect_va (GstBus *bus, GstMessageType type, const gchar *word,
    va_list args);
void tfx_check_expect_error (GstBus *bus, const gchar *word,
    ...) G_GNUC_NULL_TERMINATED;

/* No warning is on the bus. */
void tfx_check_expect_no_warning (GstBus *bus);

/* GObject refuses what the code sets, and says so in the log: as a warning, from
 * GLib 2.84 on as a critical one. */
#define TFX_CHECK_REFUSED(code)                                                \
  do {                                                                         \
    tfx_check_begin_refusal ();                                                \
    code;                                                                      \
    tfx_check_end_refusal (#code);                                             \
  } while (0)
void tfx_check_begin_refusal (void);
void tfx_check_end_refusal (const gchar *code);

/* ---- what should come out --------------------------------------------------- */

/* The design run by the core alone, in place, over the same bytes. */
gdouble *tfx_check_engine (const TfxDesign *design, const GstAudioInfo *info,
    const gdouble *samples, gsize n_frames);

/* How far a buffer is from n frames of what the core alone makes of `samples`. */
gdouble tfx_check_deviation (GstBuffer *buffer, const GstAudioInfo *info,
    const TfxDesign *design, const gdouble *samples, gsize n_frames);

/* The same filter by other means, in double and in direct form I: one biquad
 * for each pole pair of the analog prototype, by a bilinear transform of its
 * own.  Low-pass and high-pass only, Butterworth and Chebyshev 1. */
gdouble *tfx_check_reference (const TfxDesign *design, gint rate,
    gint n_channels, const gdouble *samples, gsize n_frames);

#endif /* TFX_CHECK_H */
