/* SPDX-License-Identifier: LGPL-2.1-or-later
 * equaliser.c: rows of cookbook sections: hum and its harmonics, and a graphic
 * equaliser. */
#include <errno.h>
#include <math.h>

#include "class.h"
#include "error.h"
#include "design/least-squares.h"
#include "design/rbj.h"

static const TfxSos identity = { 1.0, 0.0, 0.0, 0.0, 0.0 };

/* ---- Hum ---------------------------------------------------------------------------- */

void
tfx_hum_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  extent->sections += (size_t)tfx_class_number (node, "harmonics");
}

/* Notches at the frequency and its multiples, all of them as wide as the first.
 * Those that the rate has no room for change nothing. */
int
tfx_hum_design (const TfxBuild *build, const TfxNode *node, TfxMoved *moved)
{
  const double q = tfx_class_number (node, "q");
  const double freq_hz = tfx_class_fit_frequency (build, "frequency", -1,
      tfx_class_number (node, "frequency"), 1e-6);

  moved->n_sos = (size_t)tfx_class_number (node, "harmonics");
  for (size_t i = 0; i < moved->n_sos; i++) {
    const double times = (double)(i + 1);

    if (tfx_rbj_section (TFX_RBJ_NOTCH, times * freq_hz, times * q, 1.0,
            build->rate_hz, &moved->sos[i]) < 0)
      moved->sos[i] = identity;
  }
  return 0;
}

/* ---- GraphicEQ -------------------------------------------------------------------------
 * The bands overlap, so their gains are found together: with the gain of a section
 * in dB nearly proportional to what it is set to, those that give the wanted gains
 * at the centres and halfway between them are the solution of linear equations (V.
 * Valimaki and J. Liski, Accurate cascade graphic equalizer, 2017); and once more,
 * with the sections as they are by then. */

#define MAX_BANDS TFX_LEAST_SQUARES_MAX
#define MAX_POINTS (2 * MAX_BANDS - 1)
#define N_TURNS 4
/* How much more a centre counts than what lies halfway. */
#define CENTRE_WEIGHT 3.0
/* What a section is set to while it is measured, where it is asked for nothing. */
#define PROBE_DB 6.0

typedef struct Bands
{
  size_t n, n_points;
  double centre_hz[MAX_BANDS], q;
  double point_hz[MAX_POINTS], wanted_db[MAX_POINTS];
  double gain_db[MAX_BANDS]; /* of the sections */
} Bands;

void
tfx_graphic_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  extent->sections += tfx_class_value (node, "gains")->n_list;
}

/* Where the highest centre may be, as a part of the rate. */
#define HIGHEST_CENTRE 0.49

/* The first centre, or the highest that the rate has room for. */
static double
find_first (const TfxBuild *build, const TfxNode *node)
{
  const double f_min = tfx_class_number (node, "f_min");
  const double highest = HIGHEST_CENTRE * build->rate_hz;

  if (f_min <= highest)
    return f_min;
  tfx_class_report (build, "f_min", -1, f_min, highest, 1e-6 * build->rate_hz,
      highest);
  return highest;
}

/* Centres evenly spread over the logarithm of the frequency, as many of them as the
 * rate has room for. */
static void
place (Bands *bands, const TfxBuild *build, const TfxNode *node)
{
  const TfxValue *gains = tfx_class_value (node, "gains");
  const double f_min = find_first (build, node);
  const double ratio = pow (tfx_class_number (node, "f_max") / f_min,
      1.0 / (double)(gains->n_list - 1));

  bands->n = 0;
  /* One and a half times as wide as the distance between neighbours. */
  bands->q = sqrt (ratio) / (1.5 * (ratio - 1.0));
  for (size_t i = 0; i < gains->n_list; i++) {
    const double centre = f_min * pow (ratio, (double)i);

    if (!(centre <= HIGHEST_CENTRE * build->rate_hz))
      break;
    bands->centre_hz[i] = bands->point_hz[2 * i] = centre;
    bands->wanted_db[2 * i] = bands->gain_db[i] = gains->list[i];
    if (i > 0) {
      bands->point_hz[2 * i - 1] = centre / sqrt (ratio);
      bands->wanted_db[2 * i - 1] = 0.5 * (gains->list[i - 1] + gains->list[i]);
    }
    bands->n++;
  }
  bands->n_points = 2 * bands->n - 1;
}

static int
make_section (const Bands *bands, size_t i, double gain_db, double rate_hz,
    TfxSos *sos)
{
  return tfx_rbj_section (TFX_RBJ_PEAKING, bands->centre_hz[i], bands->q,
      pow (10.0, gain_db / 20.0), rate_hz, sos);
}

static double
weigh (size_t point)
{
  return point % 2 == 0 ? CENTRE_WEIGHT : 1.0;
}

static int
solve (Bands *bands, double rate_hz)
{
  double a[MAX_BANDS * MAX_POINTS], b[MAX_POINTS];
  TfxSos sos;

  for (size_t i = 0; i < bands->n; i++) {
    const double probe =
        fabs (bands->gain_db[i]) > 0.1 ? bands->gain_db[i] : PROBE_DB;

    if (make_section (bands, i, probe, rate_hz, &sos) < 0)
      return -EINVAL;
    for (size_t k = 0; k < bands->n_points; k++) {
      const TfxComplex h =
          tfx_response_at (&sos, 1, bands->point_hz[k], rate_hz);

      a[i * bands->n_points + k] =
          weigh (k) * 10.0 * log10 (h.re * h.re + h.im * h.im) / probe;
    }
  }
  for (size_t k = 0; k < bands->n_points; k++)
    b[k] = weigh (k) * bands->wanted_db[k];
  tfx_least_squares (a, b, bands->n_points, bands->n, bands->gain_db);
  return 0;
}

int
tfx_graphic_design (const TfxBuild *build, const TfxNode *node, TfxMoved *moved)
{
  Bands bands;
  int code = 0;

  place (&bands, build, node);
  for (int i = 0; i < N_TURNS && code == 0; i++)
    code = solve (&bands, build->rate_hz);
  moved->n_sos = tfx_class_value (node, "gains")->n_list;
  for (size_t i = 0; i < moved->n_sos && code == 0; i++) {
    if (i < bands.n)
      code = make_section (&bands, i, bands.gain_db[i], build->rate_hz,
          &moved->sos[i]);
    else
      moved->sos[i] = identity;
  }
  return code < 0 ? tfx_class_refuse (build,
                        "f_min is too low, or its bands are too narrow, for "
                        "stable sections in double precision")
                  : 0;
}
