/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tfx-response.c: prints the response of filters, as a table for a plot.
 *
 * The filters are written as in a gst-launch-1.0 pipeline:
 *
 *   tfx-response rate=48000 \
 *       tfxbutterworth mode=high-pass cutoff=80 order=4 '!' \
 *       tfxchebyshev mode=low-pass cutoff=5000 order=8 ripple=0.5
 *
 * Each line of the output holds: the frequency in Hz, the gain in dB of each
 * filter, the gain in dB of all in series, and their group delay in ms.  It
 * needs nothing but dsp/tfx.h.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tfx.h"

#define MAX_FILTERS 16
/* A zero on the unit circle has no dB; this is what is printed for it. */
#define FLOOR_DB -400.0

/* What is asked of a filter, in the properties of the elements. */
typedef struct
{
  TfxDesign design; /* without its frequencies */
  double cutoff_hz, lower_hz, upper_hz;
} Filter;

typedef struct
{
  double rate_hz, from_hz, to_hz;
  unsigned n_points;
  size_t n_filters;
  Filter filters[MAX_FILTERS];
} Request;

typedef struct
{
  const char *name;
  int value;
} Nick;

static const Nick modes[] = {
  { "low-pass", TFX_MODE_LOW_PASS },
  { "high-pass", TFX_MODE_HIGH_PASS },
  { "band-pass", TFX_MODE_BAND_PASS },
  { "band-reject", TFX_MODE_BAND_REJECT },
  { NULL, 0 },
};

static const Nick types[] = {
  { "1", TFX_FAMILY_CHEBYSHEV1 },
  { "2", TFX_FAMILY_CHEBYSHEV2 },
  { NULL, 0 },
};

static const char usage[] =
    "Usage: tfx-response rate=HZ [from=HZ] [to=HZ] [points=N] "
    "FILTER ['!' FILTER ...]\n"
    "FILTER: tfxbutterworth or tfxchebyshev, then PROPERTY=VALUE, with the\n"
    "        properties mode, order, cutoff, lower-frequency,\n"
    "        upper-frequency, type, ripple and attenuation of the elements\n";

static int
read_nick (const Nick *nicks, const char *text, int *value)
{
  for (; nicks->name; nicks++) {
    if (strcmp (nicks->name, text) == 0) {
      *value = nicks->value;
      return 0;
    }
  }
  return -EINVAL;
}

static int
read_number (const char *text, double *value)
{
  char *end;

  *value = strtod (text, &end);
  return end != text && *end == '\0' && isfinite (*value) ? 0 : -EINVAL;
}

/* A whole number from 1 to max. */
static int
read_count (const char *text, unsigned max, unsigned *value)
{
  double number;

  if (read_number (text, &number) || number < 1.0 || number > max ||
      number != floor (number))
    return -EINVAL;
  *value = (unsigned)number;
  return 0;
}

static int
set_request (Request *request, const char *key, const char *text)
{
  if (strcmp (key, "rate") == 0)
    return read_number (text, &request->rate_hz);
  if (strcmp (key, "from") == 0)
    return read_number (text, &request->from_hz);
  if (strcmp (key, "to") == 0)
    return read_number (text, &request->to_hz);
  if (strcmp (key, "points") == 0)
    return read_count (text, 100000, &request->n_points);
  return -ENOENT;
}

static int
set_filter (Filter *filter, const char *key, const char *text)
{
  TfxDesign *design = &filter->design;
  int nick = 0, r;

  if (strcmp (key, "mode") == 0) {
    r = read_nick (modes, text, &nick);
    design->mode = r ? design->mode : (TfxMode)nick;
    return r;
  }
  if (strcmp (key, "type") == 0 && design->family != TFX_FAMILY_BUTTERWORTH) {
    r = read_nick (types, text, &nick);
    design->family = r ? design->family : (TfxFamily)nick;
    return r;
  }
  if (strcmp (key, "order") == 0)
    return read_count (text, TFX_DESIGN_MAX_ORDER, &design->order);
  if (strcmp (key, "cutoff") == 0)
    return read_number (text, &filter->cutoff_hz);
  if (strcmp (key, "lower-frequency") == 0)
    return read_number (text, &filter->lower_hz);
  if (strcmp (key, "upper-frequency") == 0)
    return read_number (text, &filter->upper_hz);
  if (strcmp (key, "ripple") == 0)
    return read_number (text, &design->ripple_db);
  if (strcmp (key, "attenuation") == 0)
    return read_number (text, &design->attenuation_db);
  return -ENOENT;
}

static int
add_filter (Request *request, const char *name)
{
  /* The defaults of the elements. */
  Filter filter = {
    .design.mode = TFX_MODE_LOW_PASS,
    .design.order = 4,
    .design.ripple_db = 0.1,
    .design.attenuation_db = 40.0,
    .cutoff_hz = 1000.0,
    .lower_hz = 300.0,
    .upper_hz = 3400.0,
  };

  if (strcmp (name, "tfxbutterworth") == 0)
    filter.design.family = TFX_FAMILY_BUTTERWORTH;
  else if (strcmp (name, "tfxchebyshev") == 0)
    filter.design.family = TFX_FAMILY_CHEBYSHEV1;
  else
    return -ENOENT;
  if (request->n_filters == MAX_FILTERS)
    return -E2BIG;
  request->filters[request->n_filters++] = filter;
  return 0;
}

/* One word of the command line; says itself what is wrong. */
static int
read_word (Request *request, const char *word)
{
  const char *equals = strchr (word, '=');
  char key[32];
  int r;

  if (strcmp (word, "!") == 0)
    return 0;
  if (!equals) {
    r = add_filter (request, word);
    if (r == -E2BIG)
      fprintf (stderr, "tfx-response: more than %d filters\n", MAX_FILTERS);
    else if (r)
      fprintf (stderr, "tfx-response: no such filter: %s\n", word);
    return r;
  }
  snprintf (key, sizeof key, "%.*s", (int)(equals - word), word);
  if (request->n_filters == 0)
    r = set_request (request, key, equals + 1);
  else
    r = set_filter (&request->filters[request->n_filters - 1], key, equals + 1);
  if (r == -ENOENT)
    fprintf (stderr, "tfx-response: no such property here: %s\n", key);
  else if (r)
    fprintf (stderr, "tfx-response: %s cannot be \"%s\"\n", key, equals + 1);
  return r;
}

static double
gain_db (const TfxSos *sos, size_t n_sos, double freq_hz, double rate_hz)
{
  TfxComplex h = tfx_response_at (sos, n_sos, freq_hz, rate_hz);
  double db = 20.0 * log10 (hypot (h.re, h.im));

  return db > FLOOR_DB ? db : FLOOR_DB;
}

/* Writes the filter's sections and returns how many; says itself why not. */
static int
design_filter (const Filter *filter, double rate_hz, TfxSos *sos)
{
  TfxDesign design = filter->design;
  bool band =
      design.mode == TFX_MODE_BAND_PASS || design.mode == TFX_MODE_BAND_REJECT;
  const char *why = NULL;
  int n;

  design.lower_hz = band ? filter->lower_hz : filter->cutoff_hz;
  design.upper_hz = band ? filter->upper_hz : 0.0;
  n = tfx_design_sections (&design, rate_hz, sos);
  if (n < 0) {
    tfx_design_check (&design, rate_hz, &why);
    fprintf (stderr, "tfx-response: at a rate of %g Hz: %s\n", rate_hz,
        why ? why : "cannot be met");
  }
  return n;
}

static int
print_table (const Request *request)
{
  /* All sections in a row; first[i] is where filter i begins. */
  static TfxSos sos[MAX_FILTERS * TFX_DESIGN_MAX_SECTIONS];
  size_t first[MAX_FILTERS + 1] = { 0 };
  double rate_hz = request->rate_hz;

  for (size_t i = 0; i < request->n_filters; i++) {
    int n = design_filter (&request->filters[i], rate_hz, sos + first[i]);

    if (n < 0)
      return n;
    first[i + 1] = first[i] + (size_t)n;
  }

  printf ("# frequency in Hz, gain of each filter in dB, of all in dB, "
          "group delay in ms\n");
  for (unsigned k = 0; k < request->n_points; k++) {
    /* Even steps on a logarithmic axis. */
    double at = request->n_points > 1 ? k / (request->n_points - 1.0) : 0.0;
    double f = request->from_hz * pow (request->to_hz / request->from_hz, at);
    size_t n_sos = first[request->n_filters];

    printf ("%.6g", f);
    for (size_t i = 0; i < request->n_filters; i++)
      printf ("\t%.4f",
          gain_db (sos + first[i], first[i + 1] - first[i], f, rate_hz));
    printf ("\t%.4f\t%.5g\n", gain_db (sos, n_sos, f, rate_hz),
        1e3 * tfx_response_group_delay (sos, n_sos, f, rate_hz) / rate_hz);
  }
  return 0;
}

int
main (int argc, char **argv)
{
  Request request = { .rate_hz = 48000.0, .from_hz = 10.0, .n_points = 1000 };

  for (int i = 1; i < argc; i++) {
    if (read_word (&request, argv[i])) {
      fputs (usage, stderr);
      return EXIT_FAILURE;
    }
  }
  if (request.n_filters == 0) {
    fputs (usage, stderr);
    return EXIT_FAILURE;
  }
  if (request.to_hz == 0.0)
    request.to_hz = request.rate_hz / 2.0;
  if (!(request.rate_hz > 0.0 && request.from_hz > 0.0 &&
          request.to_hz > request.from_hz)) {
    fprintf (stderr, "tfx-response: rate and from must be above 0, and to "
                     "above from\n");
    return EXIT_FAILURE;
  }
  return print_table (&request) ? EXIT_FAILURE : EXIT_SUCCESS;
}
