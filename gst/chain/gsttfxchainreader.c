/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainreader.c: reads chains with the files that they name.
 */
#include "gsttfxchainreader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gsttfxbytes.h"
#include "gsttfxchainfile.h"
#include "gsttfximpulse.h"
#include "gsttfxsofa.h"
#include "gsttfxtextfile.h"

typedef struct
{
  const gchar *folder;
  GPtrArray *files, *notes;
  const gchar *root; /* NULL: files may be anywhere */
} Reader;

/* Copies the reason, truncated at the end of a character. */
static void
tell_why (gchar why[TFX_FILE_WHY_SIZE], const gchar *text)
{
  const gchar *end;

  g_strlcpy (why, text, TFX_FILE_WHY_SIZE);
  if (!g_utf8_validate (why, -1, &end))
    why[end - why] = '\0';
}

/* Whether a file is there and below the root, once all links are followed. */
static gboolean
is_below (const gchar *path, const gchar *root)
{
  char *real = realpath (path, NULL), *above = realpath (root, NULL);
  const gsize length = above ? strlen (above) : 0;
  const gboolean is = real && above && strncmp (real, above, length) == 0 &&
                      real[length] == G_DIR_SEPARATOR;

  free (real);
  free (above);
  return is;
}

/* The path of a file, to be freed.  Adds its version to the files before it is
 * read.  NULL with the reason if it is not below the root. */
static gchar *
find_path (const Reader *reader, const gchar *name,
    gchar why[TFX_FILE_WHY_SIZE])
{
  gchar *path = reader->folder && !g_path_is_absolute (name)
                    ? g_build_filename (reader->folder, name, NULL)
                    : g_strdup (name);

  if (reader->root && !is_below (path, reader->root)) {
    tell_why (why, *reader->root
                       ? "there is no such file in the folder of files"
                       : "files are not allowed here");
    g_free (path);
    return NULL;
  }
  if (reader->files)
    g_ptr_array_add (reader->files, gst_tfx_chain_seen_new (path));
  return path;
}

/* ---- impulse responses --------------------------------------------------- */

typedef struct
{
  TfxFile file;
  GstTfxImpulse *impulse;
  gchar *path;
} ImpulseFile;

static void
impulse_file_free (TfxFile *file)
{
  ImpulseFile *self = (ImpulseFile *)file;

  gst_tfx_impulse_unref (self->impulse);
  g_free (self->path);
  g_free (self);
}

static bool
impulse_file_is_same (const TfxFile *a, const TfxFile *b)
{
  const GstTfxImpulse *x = ((const ImpulseFile *)a)->impulse;
  const GstTfxImpulse *y = ((const ImpulseFile *)b)->impulse;

  return x->rate == y->rate && x->n_kernels == y->n_kernels &&
         x->n_taps == y->n_taps &&
         memcmp (x->taps, y->taps,
             x->n_kernels * x->n_taps * sizeof *x->taps) == 0;
}

/* Fits kernels, or NULL, to the stream, and gives them to the core. */
static int
give_impulse (GstTfxImpulse *from, double rate_hz, unsigned n_channels,
    const gchar *path, TfxImpulse *impulse, GError *error,
    char why[TFX_FILE_WHY_SIZE])
{
  GstTfxImpulse *fit = NULL;
  int ret = -ENOMEM;

  *impulse = (TfxImpulse){ NULL };
  if (from)
    fit = gst_tfx_impulse_file_fit (from, (guint)rate_hz, n_channels, path,
        &error);
  if (fit) {
    const gsize size = fit->n_kernels * fit->n_taps * sizeof *fit->taps;

    impulse->n_kernels = fit->n_kernels;
    impulse->n_taps = fit->n_taps;
    impulse->beginning = fit->beginning;
    impulse->taps = malloc (size);
    if (impulse->taps) {
      memcpy (impulse->taps, fit->taps, size);
      ret = 0;
    }
  } else if (error) {
    ret = -EINVAL;
  }
  if (ret < 0)
    tell_why (why, error ? error->message : "out of memory");
  g_clear_error (&error);
  gst_tfx_impulse_unref (fit);
  gst_tfx_impulse_unref (from);
  return ret;
}

static int
impulse_file_fit (const TfxFile *file, double rate_hz, unsigned n_channels,
    int channel, TfxImpulse *impulse, char why[TFX_FILE_WHY_SIZE])
{
  const ImpulseFile *self = (const ImpulseFile *)file;
  GstTfxImpulse *all = self->impulse, *picked;

  if (channel < 0) {
    picked = gst_tfx_impulse_ref (all);
  } else {
    picked = gst_tfx_impulse_new (all->rate, 1, all->n_taps);
    if (picked) {
      memcpy (picked->taps, all->taps + (gsize)channel * all->n_taps,
          all->n_taps * sizeof *picked->taps);
      gst_tfx_impulse_finish (picked);
    }
  }
  return give_impulse (picked, rate_hz, n_channels, self->path, impulse, NULL,
      why);
}

/* ---- head-related impulse responses -------------------------------------- */

typedef struct
{
  TfxFile file;
  GstTfxSofa *sofa;
  gchar *path;
} SofaFile;

static void
sofa_file_free (TfxFile *file)
{
  SofaFile *self = (SofaFile *)file;

  gst_tfx_sofa_free (self->sofa);
  g_free (self->path);
  g_free (self);
}

static bool
sofa_file_is_same (const TfxFile *a, const TfxFile *b)
{
  return gst_tfx_sofa_is_same (((const SofaFile *)a)->sofa,
      ((const SofaFile *)b)->sofa);
}

static int
sofa_file_fit_ears (const TfxFile *file, double rate_hz,
    const TfxDirection *directions, unsigned n, TfxImpulse *impulse,
    char why[TFX_FILE_WHY_SIZE])
{
  const SofaFile *self = (const SofaFile *)file;
  GError *error = NULL;
  GstTfxImpulse *found =
      gst_tfx_sofa_find (self->sofa, directions, n, self->path, &error);

  return give_impulse (found, rate_hz, 0, self->path, impulse, error, why);
}

/* Takes the path over. */
static TfxFile *
open_sofa (gchar *path, char why[TFX_FILE_WHY_SIZE])
{
  GError *error = NULL;
  GstTfxSofa *sofa = gst_tfx_sofa_read (path, &error);
  SofaFile *self;

  if (!sofa) {
    tell_why (why, error->message);
    g_error_free (error);
    g_free (path);
    return NULL;
  }
  self = g_new0 (SofaFile, 1);
  self->file = (TfxFile){ .refs = 1,
    .n_channels = 2,
    .n_frames = sofa->n_frames,
    .rate_hz = sofa->rate,
    .free = sofa_file_free,
    .is_same = sofa_file_is_same,
    .fit_ears = sofa_file_fit_ears };
  self->sofa = sofa;
  self->path = path;
  return &self->file;
}

static TfxFile *
open_impulse (void *data, const char *name, char why[TFX_FILE_WHY_SIZE])
{
  gchar *path = find_path (data, name, why);
  GError *error = NULL;
  GstTfxImpulse *impulse;
  ImpulseFile *self;

  if (!path)
    return NULL;
  if (gst_tfx_sofa_is (path))
    return open_sofa (path, why);
  impulse = gst_tfx_impulse_file_read (path, 0, &error);
  if (!impulse) {
    tell_why (why, error->message);
    g_error_free (error);
    g_free (path);
    return NULL;
  }
  self = g_new0 (ImpulseFile, 1);
  self->file = (TfxFile){ .refs = 1,
    .n_channels = impulse->n_kernels,
    .n_frames = impulse->n_taps,
    .rate_hz = impulse->rate,
    .free = impulse_file_free,
    .is_same = impulse_file_is_same,
    .fit = impulse_file_fit };
  self->impulse = impulse;
  self->path = path;
  return &self->file;
}

/* ---- filter settings ----------------------------------------------------- */

static char *
read_settings (void *data, const char *name, char why[TFX_FILE_WHY_SIZE])
{
  const Reader *reader = data;
  gchar *path = find_path (reader, name, why), *fault = NULL, *text;
  char *chain;

  if (!path)
    return NULL;
  text = gst_tfx_chain_file_read_preset (path, name, reader->files,
      reader->notes, &fault);
  chain = text && *text ? strdup (text) : NULL;
  if (!text)
    tell_why (why, fault);
  else if (!*text)
    tell_why (why, "no filter in this file is ON");
  else if (!chain)
    tell_why (why, "out of memory");
  g_free (fault);
  g_free (text);
  g_free (path);
  return chain;
}

/* ---- curves -------------------------------------------------------------- */

#define MAX_CURVE_SIZE (4 << 20)

static char *
read_text (void *data, const char *name, char why[TFX_FILE_WHY_SIZE])
{
  gchar *path = find_path (data, name, why), *fault = NULL, *shown, *quoting;
  gsize length = 0;
  gchar *text;
  char *copy = NULL;

  if (!path)
    return NULL;
  text = gst_tfx_text_file_read (path, MAX_CURVE_SIZE, &length, &fault);
  if (text && !g_utf8_validate (text, (gssize)length, NULL))
    fault = g_strdup ("it is not a text in UTF-8 or UTF-16");
  else if (text && !(copy = strdup (text)))
    fault = g_strdup ("out of memory");
  if (fault) {
    shown = gst_tfx_bytes_show (path);
    quoting =
        g_strdup_printf ("the curve in '%s' cannot be used: %s", shown, fault);
    tell_why (why, quoting);
    g_free (quoting);
    g_free (shown);
  }
  g_free (fault);
  g_free (text);
  g_free (path);
  return copy;
}

/* ---- chains -------------------------------------------------------------- */

TfxExpr *
gst_tfx_chain_reader_parse (const gchar *text, const gchar *folder,
    GPtrArray *files, GPtrArray *notes, TfxExprError *error)
{
  Reader reader = { folder, files, notes, NULL };
  const TfxFileReader opener = { &reader, open_impulse, read_settings,
    read_text };

  return tfx_expr_parse_with_files (text, strlen (text), &opener, error);
}

TfxExpr *
gst_tfx_chain_reader_parse_below (const gchar *text, const gchar *root,
    TfxExprError *error)
{
  Reader reader = { root, NULL, NULL, root };
  const TfxFileReader opener = { &reader, open_impulse, read_settings,
    read_text };

  return tfx_expr_parse_with_files (text, strlen (text), &opener, error);
}

gchar *
gst_tfx_chain_reader_make_absolute (const gchar *text, const gchar *folder,
    GPtrArray *notes, TfxExprError *error)
{
  GPtrArray *files = g_ptr_array_new_with_free_func (gst_tfx_chain_seen_free);
  gchar *full = g_canonicalize_filename (folder, NULL), *made = NULL;
  TfxExpr *expr = gst_tfx_chain_reader_parse (text, full, files, notes, error);
  const gsize n = expr && files->len > 0 ? tfx_expr_n_stages (expr) : 0;
  char *printed = NULL;
  int ret = 0;

  for (gsize i = 0; i < n; i++) {
    const TfxClass *klass = tfx_expr_stage_class (expr, i);

    for (guint k = 0; k < klass->n_params && ret == 0; k++) {
      TfxValue value;
      gchar *path;

      tfx_expr_get (expr, i, klass->params[k].name, &value);
      if (value.type != TFX_VALUE_TEXT)
        continue;
      value.text = path = g_canonicalize_filename (value.text, full);
      ret = tfx_expr_set (expr, i, klass->params[k].name, &value, NULL);
      g_free (path);
    }
  }
  if (expr && files->len == 0) {
    made = g_strdup (text);
  } else if (expr) {
    printed = ret == 0 ? tfx_expr_print (expr) : NULL;
    made = g_strdup (printed);
    free (printed);
    if (!made)
      g_strlcpy (error->rendered, "out of memory", sizeof error->rendered);
  }
  tfx_expr_free (&expr);
  g_free (full);
  g_ptr_array_unref (files);
  return made;
}

gboolean
gst_tfx_chain_reader_open (TfxValue *value, const TfxParam *param,
    const gchar *folder, gchar why[TFX_FILE_WHY_SIZE])
{
  Reader reader = { folder, NULL, NULL, NULL };
  const TfxFileReader opener = { &reader, open_impulse, read_settings,
    read_text };

  return tfx_arguments_read_file (value, param, &opener, why) == 0;
}
