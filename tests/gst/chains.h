/* SPDX-License-Identifier: LGPL-2.1-or-later
 * chains.h: chains in the tests: what the core alone makes of them, and how
 * they respond.
 */
#ifndef TFX_CHAINS_H
#define TFX_CHAINS_H

#include "lang/expr.h"
#include "tfxcheck.h"

/* ---- the core alone --------------------------------------------------------- */

/* A chain run by the core, as the element should run it. */
typedef struct
{
  GstAudioInfo info;
  gsize block_frames;
  TfxExpr *expr;
  TfxFilter *filter;
  TfxPlan *plan;
} TfxCore;

TfxCore *tfx_chains_core_new (const gchar *text, const GstAudioInfo *info,
    gsize block_frames);
void tfx_chains_core_free (TfxCore *core);

/* From the next sample on: another text, another number. */
void tfx_chains_core_set_text (TfxCore *core, const gchar *text);
void tfx_chains_core_set (TfxCore *core, const gchar *stage, const gchar *param,
    gdouble number);

/* What comes out, in blocks of block_frames. */
gdouble *
tfx_chains_core_run (TfxCore *core, const gdouble *samples, gsize n_frames);

/* Whether a text is no chain, or a chain that is quick to design, run and drain. */
gboolean tfx_chains_is_cheap (const gchar *text, gdouble rate_hz);

/* A chain over samples from rest. */
gdouble *tfx_chains_expected (const gchar *text, const GstAudioInfo *info,
    const gdouble *samples, gsize n_frames, gsize block_frames);

/* ---- elements ---------------------------------------------------------------- */

/* A tfxchain with that text, and a harness around one. */
GstElement *tfx_chains_element (const gchar *text);
GstHarness *tfx_chains_harness (const gchar *text, const GstAudioInfo *info);

/* The property chain must be this. */
void tfx_chains_expect_text (GstElement *element, const gchar *text);

/* A tfxchain with that property, chain or location, does not start: its error has
 * each of the words. */
void tfx_chains_expect_refused (const gchar *property, const gchar *value,
    const gchar *word, ...) G_GNUC_NULL_TERMINATED;

/* A child by its name, which must be there; a reference. */
GObject *tfx_chains_child (GstElement *element, const gchar *name);

/* A number of a child must be this. */
void tfx_chains_expect_number (GstElement *element, const gchar *property,
    gdouble number);

/* The gain in dB that a mono impulse response has at a frequency. */
gdouble
tfx_chains_gain_db (const gdouble *response, gsize n, gdouble hz, gdouble rate);

/* The impulse response of an element of one channel, n frames of double. */
gdouble *tfx_chains_impulse (GstHarness *h, const GstAudioInfo *info, gsize n);

/* Pushes 10 ms of ones at 48 kHz; the last sample that comes out. */
gdouble tfx_chains_push_ones (GstHarness *h, const GstAudioInfo *info);

#endif /* TFX_CHAINS_H */
