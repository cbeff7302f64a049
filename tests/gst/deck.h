/* SPDX-License-Identifier: LGPL-2.1-or-later
 * deck.h: the same stream through the same elements on the CPU and on the
 * device, and what comes out of both.
 *
 * A launch line names the places where the two differ: DEVICE stands for the
 * device property of an element, MEMORY for a capsfilter that asks for CUDA
 * memory, on the CPU for none.
 */
#ifndef TFX_DECK_H
#define TFX_DECK_H

#include "tfxcheck.h"

typedef enum
{
  DECK_CPU,
  DECK_CUDA
} DeckSide;

/* Elements named e0, e1 … in a harness, and what comes out of it. */
typedef struct
{
  GstHarness *h;
  const gchar *launch;
  GstBus *bus;
  GstAudioInfo info;
  guint64 n_in;      /* frames that went in: the number of the next one */
  gboolean may_lose; /* buffers that come out may be unreadable */

  /* Under the lock until the end. */
  GMutex lock;
  GCond cond;
  guint n_ends;
  GArray *samples; /* of gdouble, all that came out */
  guint64 n_frames, n_buffers;
  guint64 n_device_buffers; /* those in CUDA memory */
  GArray *times;            /* of GstClockTime, of each buffer */
} Deck;

Deck *deck_new (const gchar *launch, DeckSide side, const GstAudioInfo *info);
void deck_free (Deck *deck);

/* References. */
GstElement *deck_element (Deck *deck, const gchar *name);
GstPad *deck_pad (Deck *deck, const gchar *element, const gchar *name);
guint64 deck_stat (Deck *deck, const gchar *element, const gchar *field);
gchar *deck_text (Deck *deck, const gchar *element, const gchar *field);
gboolean deck_runs_on (Deck *deck, const gchar *element, const gchar *device);
/* A field of stats is that number. */
void deck_expect_stat (Deck *deck, const gchar *element, const gchar *field,
    guint64 wanted);
void deck_set (Deck *deck, const gchar *element, const gchar *property,
    const gchar *value);

/* From READY, as at first. */
void deck_restart (Deck *deck);

/* Pushes noise that is the same on every deck, with times. */
GstFlowReturn deck_push (Deck *deck, gsize n_frames);
/* In buffers of at most so many. */
void deck_push_many (Deck *deck, gsize n_frames, gsize most);
void deck_push_event (Deck *deck, GstEvent *event);
void deck_set_info (Deck *deck, const GstAudioInfo *info);

/* All that has gone in comes out. */
void deck_drain (Deck *deck);

/* The end of the stream; waits for all that comes before it. */
void deck_end (Deck *deck);

/* 20 log10 of the largest difference, relative to the peak. */
gdouble deck_distance_db (const Deck *a, const Deck *b);

/* Both must have put out as many frames at the same times. */
void deck_expect_same_times (const Deck *a, const Deck *b, const gchar *what);

/* The same; no more than this apart, and b has not warned. */
void deck_expect_same (const Deck *a, const Deck *b, gdouble close_db,
    const gchar *what);

#endif /* TFX_DECK_H */
