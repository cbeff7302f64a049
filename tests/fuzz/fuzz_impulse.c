/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fuzz_impulse.c: any bytes as a file with an impulse response, of every kind that
 * libsndfile knows or text, for streams of two rates.
 *
 * Invariants: an error with a text in UTF-8, or finite samples, no more than a
 * file may have; in bounded time and memory. */
#include <gst/gst.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "driver.h"
#include "file.h"
#include "gsttfxchainreader.h"
#include "gsttfximpulse.h"

/* Those of gsttfximpulse.c, and what a resampler may add to a kernel. */
#define MAX_SAMPLES (1 << 27)
#define MAX_RINGING (1 << 22)
#define MAX_RATE_RATIO 256

/* Of processor time, sanitizers and all. */
#define MAX_SECONDS 20.0
#define MAX_MEMORY_KIB (6l << 20)

static unsigned long n_read, n_refused, n_fitted, n_unfit;
static gdouble slowest_s;

/* ---- what must hold ------------------------------------------------------------------ */

static void
check_text (const gchar *text)
{
  FUZZ_MUST (text && g_utf8_validate (text, -1, NULL));
  FUZZ_MUST (g_str_has_prefix (text, "the impulse response in '"));
  FUZZ_MUST (strlen (strchr (text, ':')) > 6);
}

static void
check_taps (const gdouble *taps, guint n_kernels, gsize n_taps, gdouble most)
{
  FUZZ_MUST (n_kernels >= 1 && n_taps >= 1);
  FUZZ_MUST (n_taps <= TFX_FIR_MAX_TAPS + MAX_RINGING);
  for (gsize i = 0; i < n_kernels * n_taps; i++)
    FUZZ_MUST (fabs (taps[i]) <= most);
}

static void
check_impulse (const GstTfxImpulse *impulse, gdouble most)
{
  check_taps (impulse->taps, impulse->n_kernels, impulse->n_taps, most);
  FUZZ_MUST (impulse->beginning < impulse->n_taps);
  FUZZ_MUST (impulse->delay < impulse->n_taps);
}

/* libsndfile and what it loads print what they find wrong. */
static void
exchange_streams (void)
{
  static FILE *out, *err;
  FILE *was_out = stdout, *was_err = stderr;

  if (!out) {
    out = fopen ("/dev/null", "w");
    err = fopen ("/dev/null", "w");
  }
  FUZZ_MUST (out && err);
  stdout = out;
  stderr = err;
  out = was_out;
  err = was_err;
}

/* ---- the ways of a file ---------------------------------------------------------------- */

/* As tfxfir has it. */
static void
read_for_element (const char *path, guint rate, guint n_channels)
{
  GError *error = NULL;
  GstTfxImpulse *impulse, *fit;

  exchange_streams ();
  impulse = gst_tfx_impulse_file_read (path, n_channels, &error);
  exchange_streams ();
  FUZZ_MUST (!impulse == (error != NULL));
  if (!impulse) {
    n_refused++;
    check_text (error->message);
    g_error_free (error);
    return;
  }
  n_read++;
  FUZZ_MUST (impulse->n_kernels == 1 || impulse->n_kernels == n_channels);
  FUZZ_MUST (impulse->n_kernels * impulse->n_taps <= MAX_SAMPLES);
  check_impulse (impulse, GST_TFX_IMPULSE_MAX);
  fit = gst_tfx_impulse_file_fit (impulse, rate, n_channels, path, &error);
  FUZZ_MUST (!fit == (error != NULL));
  if (fit) {
    n_fitted++;
    check_impulse (fit, GST_TFX_IMPULSE_MAX * MAX_RATE_RATIO * 2);
  } else {
    n_unfit++;
    check_text (error->message);
    g_error_free (error);
  }
  gst_tfx_impulse_unref (fit);
  gst_tfx_impulse_unref (impulse);
}

/* As a chain has it. */
static void
read_for_chain (const char *path, guint rate)
{
  const TfxParam *param = &tfx_catalogue_find ("FIR")->params[0];
  TfxValue value = { .type = TFX_VALUE_TEXT, .text = (char *)path };
  gchar why[TFX_FILE_WHY_SIZE] = "";
  TfxImpulse impulse;
  TfxFile *file;
  int code, channel;

  exchange_streams ();
  gst_tfx_chain_reader_open (&value, param, NULL, why);
  exchange_streams ();
  file = value.file;
  if (!file) {
    n_refused++;
    check_text (why);
    return;
  }
  n_read++;
  FUZZ_MUST (file->n_channels * file->n_frames <= MAX_SAMPLES);
  FUZZ_MUST (isfinite (file->rate_hz) && file->rate_hz >= 0.0);
  channel = file->n_frames % 2 ? (int)file->n_channels - 1 : -1;
  code = file->fit (file, rate, file->n_channels, channel, &impulse, why);
  if (code == 0) {
    n_fitted++;
    check_taps (impulse.taps, impulse.n_kernels, impulse.n_taps,
        GST_TFX_IMPULSE_MAX * MAX_RATE_RATIO * 2);
    FUZZ_MUST (tfx_impulse_find_peak (&impulse) < impulse.n_taps);
    free (impulse.taps);
  } else {
    n_unfit++;
    check_text (why);
  }
  tfx_file_unref (&file);
}

/* As a curve. */
static void
read_as_curve (const char *path)
{
  const TfxParam *param = &tfx_catalogue_find ("Curve")->params[0];
  TfxValue value = { .type = TFX_VALUE_TEXT, .text = (char *)path };
  gchar why[TFX_FILE_WHY_SIZE] = "";

  if (!gst_tfx_chain_reader_open (&value, param, NULL, why)) {
    FUZZ_MUST (!value.list);
    FUZZ_MUST (g_str_has_prefix (why, "the curve in '") &&
               g_utf8_validate (why, -1, NULL));
    return;
  }
  FUZZ_MUST (value.n_list >= 2 && value.n_list <= TFX_EXPR_MAX_LIST);
  for (size_t i = 0; i < value.n_list; i += 2)
    FUZZ_MUST (value.list[i] > (i > 0 ? value.list[i - 2] : 0.0) &&
               fabs (value.list[i + 1]) <= 120.0);
  free (value.list);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  const char *path = fuzz_file_write (data, size);
  const guint rate = size % 2 ? 44100 : 48000;
  const clock_t start = clock ();
  struct rusage usage;
  gdouble seconds;

  fuzz_begin (data, size);
  read_as_curve (path);
  if (size / 2 % 2)
    read_for_element (path, rate, 1 + size / 4 % 2);
  else
    read_for_chain (path, rate);
  seconds = (gdouble)(clock () - start) / CLOCKS_PER_SEC;
  slowest_s = MAX (slowest_s, seconds);
  FUZZ_MUST (seconds < MAX_SECONDS);
  getrusage (RUSAGE_SELF, &usage);
  FUZZ_MUST (usage.ru_maxrss < MAX_MEMORY_KIB);
  return 0;
}

#ifndef TFX_FUZZER

static const char *const tokens[] = { "\xff\xff\xff\xff", "\x7f\xff\xff\xff",
  "\xff\xff\xff\x7f", "\x80", "\x01", "RIFF", "RF64", "WAVE", "fmt ", "data",
  "fact", "ds64", "LIST", "FORM", "AIFF", "AIFC", "COMM", "SSND", "caff",
  "desc", "pakt", "fLaC", "OggS", "OpusHead", "ID3", ".snd", "1e999", "-1e30",
  "nan", "1e-310", "\n", ",", "1\n", "// Sample interval\n", "* Data start\n",
  "1e-9 // Sample interval (seconds)\n", "\xc3\xa9" };

static bool
judge (unsigned long n_runs, char *line, size_t size)
{
  g_snprintf (line, size,
      "%lu files read, %lu refused, %lu fitted, %lu not; the slowest in %.2f s",
      n_read, n_refused, n_fitted, n_unfit, slowest_s);
  return n_read >= n_runs / 10 && n_refused >= n_runs / 10 &&
         n_fitted >= n_runs / 20 && n_unfit >= n_runs / 1000;
}

int
main (int argc, char **argv)
{
  const FuzzTarget target = { tokens, G_N_ELEMENTS (tokens), NULL, true,
    judge };

  gst_init (NULL, NULL);
  return fuzz_main (&target, argc, argv);
}

#endif /* TFX_FUZZER */
