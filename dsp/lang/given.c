/* SPDX-License-Identifier: LGPL-2.1-or-later
 * given.c: classes whose sections are given by their coefficients. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "class.h"
#include "error.h"
#include "number.h"

/* b0 b1 b2 a0 a1 a2, as a row of SciPy's sos. */
#define N_NUMBERS 6

static TfxSos
make_section (const double *row)
{
  return (TfxSos){ row[0] / row[3], row[1] / row[3], row[2] / row[3],
    row[4] / row[3], row[5] / row[3] };
}

/* place: which section, such as "section 2 of ", or nothing. */
static int
check_section (const double *row, const char *place, const char *thing,
    TfxExprError *error)
{
  TfxSos sos;

  if (row[3] == 0.0)
    return tfx_error_set (error, -ERANGE, "a0 of %s%s is 0", place, thing);
  sos = make_section (row);
  if (!isfinite (sos.b0) || !isfinite (sos.b1) || !isfinite (sos.b2))
    return tfx_error_set (error, -ERANGE,
        "%s%s is not finite after division by its a0, %s", place, thing,
        TFX_NUMBER_TEXT (row[3]));
  if (!tfx_sos_is_stable (&sos))
    return tfx_error_set (error, -ERANGE,
        "%s%s is unstable: a1 = %.15g and a2 = %.15g (divided by a0) "
        "give a pole on or outside the unit circle",
        place, thing, sos.a1, sos.a2);
  return 0;
}

static void
collect (const TfxNode *node, double row[N_NUMBERS])
{
  for (unsigned i = 0; i < N_NUMBERS; i++)
    row[i] = node->values[i].number;
}

int
tfx_given_check (const TfxNode *node, const char *thing, TfxExprError *error)
{
  double row[N_NUMBERS];

  collect (node, row);
  return check_section (row, "", thing, error);
}

void
tfx_given_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  extent->sections++;
}

int
tfx_given_design (const TfxBuild *build, const TfxNode *node, TfxMoved *moved)
{
  double row[N_NUMBERS];

  collect (node, row);
  moved->n_sos = 1;
  moved->sos[0] = make_section (row);
  return 0;
}

/* ---- SOS ------------------------------------------------------------------------- */

int
tfx_sos_check (const TfxNode *node, const char *thing, TfxExprError *error)
{
  const TfxValue *rows = tfx_class_value (node, "sos");
  const size_t n = rows->n_list / N_NUMBERS;
  int code = 0;

  for (size_t i = 0; i < n && code == 0; i++) {
    char place[40];

    snprintf (place, sizeof place, "section %zu of ", i);
    code = check_section (rows->list + i * N_NUMBERS, place, thing, error);
  }
  return code;
}

void
tfx_sos_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  extent->sections += tfx_class_value (node, "sos")->n_list / N_NUMBERS;
}

int
tfx_sos_design (const TfxBuild *build, const TfxNode *node, TfxMoved *moved)
{
  const TfxValue *rows = tfx_class_value (node, "sos");

  moved->n_sos = rows->n_list / N_NUMBERS;
  for (size_t i = 0; i < moved->n_sos; i++)
    moved->sos[i] = make_section (rows->list + i * N_NUMBERS);
  return 0;
}
