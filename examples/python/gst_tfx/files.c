/* SPDX-License-Identifier: LGPL-2.1-or-later
 * files.c: the files that a chain names, which files.py reads. */
#include "files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A sound file with the rate of the chain.  Its functions need no interpreter. */
typedef struct Sound
{
  TfxFile file;
  double taps[]; /* [channel][frame] */
} Sound;

static void
sound_free (TfxFile *file)
{
  free (file);
}

static bool
sound_is_same (const TfxFile *a, const TfxFile *b)
{
  return a->n_channels == b->n_channels && a->n_frames == b->n_frames &&
         memcmp (((const Sound *)a)->taps, ((const Sound *)b)->taps,
             a->n_channels * a->n_frames * sizeof (double)) == 0;
}

static int
sound_fit (const TfxFile *file, double rate_hz, unsigned n_channels,
    int channel, TfxImpulse *impulse, char why[TFX_FILE_WHY_SIZE])
{
  const unsigned n = channel < 0 ? file->n_channels : 1;
  const size_t first = channel < 0 ? 0 : (size_t)channel * file->n_frames;
  const size_t size = n * file->n_frames * sizeof (double);

  *impulse = (TfxImpulse){ malloc (size), n, file->n_frames, 0 };
  if (impulse->taps)
    memcpy (impulse->taps, ((const Sound *)file)->taps + first, size);
  else
    strcpy (why, "out of memory");
  return impulse->taps ? 0 : -ENOMEM;
}

/* The tuple that the function returns for a file.  NULL with the reason. */
static PyObject *
read_file (void *function, const char *kind, const char *name,
    char why[TFX_FILE_WHY_SIZE])
{
  PyObject *read = PyObject_CallFunction (function, "sN", kind,
      PyUnicode_DecodeFSDefault (name));
  const char *text = NULL;

  if (read && PyUnicode_Check (read))
    text = PyUnicode_AsUTF8AndSize (read, NULL);
  snprintf (why, TFX_FILE_WHY_SIZE, "%s", text ? text : "out of memory");
  if (text)
    Py_CLEAR (read);
  return read;
}

static TfxFile *
open_impulse (void *function, const char *name, char why[TFX_FILE_WHY_SIZE])
{
  PyObject *read = read_file (function, "impulse", name, why);
  Sound *self = NULL;
  Py_buffer samples;
  unsigned n;

  if (read && PyArg_ParseTuple (read, "Iy*", &n, &samples)) {
    self = malloc (sizeof *self + (size_t)samples.len);
    if (self) {
      self->file = (TfxFile){ .refs = 1,
        .n_channels = n,
        .n_frames = (size_t)samples.len / sizeof (double) / n,
        .free = sound_free,
        .is_same = sound_is_same,
        .fit = sound_fit };
      memcpy (self->taps, samples.buf, (size_t)samples.len);
    }
    PyBuffer_Release (&samples);
  }
  Py_XDECREF (read);
  return self ? &self->file : NULL;
}

static char *
read_settings (void *function, const char *name, char why[TFX_FILE_WHY_SIZE])
{
  strcpy (why, "only GStreamer reads filter settings; 'gst-tfx check -q -C "
               "FILE' prints them as a chain");
  return NULL;
}

static char *
read_text (void *function, const char *name, char why[TFX_FILE_WHY_SIZE])
{
  PyObject *read = read_file (function, "text", name, why);
  const char *text;
  char *copy = NULL;

  if (read && PyArg_ParseTuple (read, "s", &text))
    copy = strdup (text);
  Py_XDECREF (read);
  return copy;
}

TfxFileReader
tfx_files_reader (PyObject *function)
{
  return (TfxFileReader){ function, open_impulse, read_settings, read_text };
}
