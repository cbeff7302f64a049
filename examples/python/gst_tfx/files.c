/* SPDX-License-Identifier: LGPL-2.1-or-later
 * files.c: the files that a chain names, which files.py reads. */
#include "files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A sound file.  No function here needs the interpreter. */
typedef struct Sound
{
  TfxFile file;
  char name[81]; /* as much of it as messages quote */
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
  return a->rate_hz == b->rate_hz && a->n_channels == b->n_channels &&
         a->n_frames == b->n_frames &&
         memcmp (((const Sound *)a)->taps, ((const Sound *)b)->taps,
             a->n_channels * a->n_frames * sizeof (double)) == 0;
}

static int
sound_fit (const TfxFile *file, double rate_hz, unsigned n_channels,
    int channel, TfxImpulse *impulse, char why[TFX_FILE_WHY_SIZE])
{
  const Sound *self = (const Sound *)file;
  const unsigned n_has = channel < 0 ? file->n_channels : 1;
  const double *taps =
      self->taps + (channel < 0 ? 0 : (size_t)channel * file->n_frames);
  const size_t size = n_has * file->n_frames * sizeof *taps;

  if (file->rate_hz != rate_hz) {
    snprintf (why, TFX_FILE_WHY_SIZE,
        "the impulse response in '%s' cannot be used: its sample rate is %.15g "
        "Hz, but that of the chain is %.15g Hz; resample it",
        self->name, file->rate_hz, rate_hz);
    return -EINVAL;
  }
  if (n_channels != 0 && n_has != 1 && n_has != n_channels) {
    snprintf (why, TFX_FILE_WHY_SIZE,
        "the impulse response in '%s' cannot be used: it has %u channels, but "
        "the stream has %u; it must have 1 or %u",
        self->name, n_has, n_channels, n_channels);
    return -EINVAL;
  }
  *impulse = (TfxImpulse){ malloc (size), n_has, file->n_frames, 0 };
  if (!impulse->taps) {
    strcpy (why, "out of memory");
    return -ENOMEM;
  }
  memcpy (impulse->taps, taps, size);
  return 0;
}

/* The tuple that the function returns for a file.  NULL with the reason. */
static PyObject *
read_file (void *function, const char *kind, const char *name,
    char why[TFX_FILE_WHY_SIZE])
{
  PyObject *read = PyObject_CallFunction (function, "ss", kind, name);
  const char *text;

  if (!read || PyTuple_Check (read)) {
    strcpy (why, "the reader failed");
    return read;
  }
  text = PyUnicode_AsUTF8AndSize (read, NULL);
  snprintf (why, TFX_FILE_WHY_SIZE, "%s", text ? text : "");
  Py_DECREF (read);
  return NULL;
}

static TfxFile *
open_impulse (void *function, const char *name, char why[TFX_FILE_WHY_SIZE])
{
  PyObject *read = read_file (function, "impulse", name, why);
  const char *shown;
  Py_buffer samples;
  unsigned n_channels;
  double rate_hz;
  Sound *self;

  if (!read)
    return NULL;
  if (!PyArg_ParseTuple (read, "sdIy*", &shown, &rate_hz, &n_channels,
          &samples)) {
    Py_DECREF (read);
    return NULL;
  }
  self = malloc (sizeof *self + (size_t)samples.len);
  if (self) {
    self->file = (TfxFile){ .refs = 1,
      .n_channels = n_channels,
      .n_frames = (size_t)samples.len / sizeof (double) / n_channels,
      .rate_hz = rate_hz,
      .free = sound_free,
      .is_same = sound_is_same,
      .fit = sound_fit };
    snprintf (self->name, sizeof self->name, "%s", shown);
    memcpy (self->taps, samples.buf, (size_t)samples.len);
  } else {
    strcpy (why, "out of memory");
  }
  PyBuffer_Release (&samples);
  Py_DECREF (read);
  return self ? &self->file : NULL;
}

static char *
read_any_text (void *function, const char *kind, const char *name,
    char why[TFX_FILE_WHY_SIZE])
{
  PyObject *read = read_file (function, kind, name, why);
  const char *text;
  char *copy = NULL;

  if (read && PyArg_ParseTuple (read, "s", &text)) {
    copy = strdup (text);
    if (!copy)
      strcpy (why, "out of memory");
  }
  Py_XDECREF (read);
  return copy;
}

static char *
read_settings (void *function, const char *name, char why[TFX_FILE_WHY_SIZE])
{
  return read_any_text (function, "settings", name, why);
}

static char *
read_text (void *function, const char *name, char why[TFX_FILE_WHY_SIZE])
{
  return read_any_text (function, "text", name, why);
}

TfxFileReader
tfx_files_reader (PyObject *function)
{
  return (TfxFileReader){ function, open_impulse, read_settings, read_text };
}
