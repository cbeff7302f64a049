/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tables.c: the state matrix of a cascade and its powers.
 *
 * In extended precision where the machine has it: near z = 1 the two states of
 * a section almost cancel, and every squaring of the matrix pays for it. */
#include "tables.h"

#include <math.h>
#include <string.h>

#define MAX_STATE (2 * TFX_GROUP_MAX)

/* Sections in a group where there are several, at the least. */
#define MANY_MIN 4

/* Where groups are of one section for the sake of its error. */
#define EXACT_SEGMENT_LOG2 7

/* A factor b0, or c1, so far below the other coefficients is no divisor. */
#define TINY 1e-12
/* The products of factors b0 that a group's samples are divided by. */
#define FAR 1e50
#define FAR_FLOAT 1e25

/* A section in one of the kernels' forms:
 *
 *   y = b0 x + out s;  s' = in x - a1 s + s2;  s2' = c2 x - a2 s
 */
typedef struct Section
{
  long double b0, out, in, c2, a1, a2;
  float r;           /* as in kernels/args.h; every arithmetic can hold it */
  long double scale; /* s1 = scale s */
} Section;

/* A group of sections, the last ones perhaps identities. */
typedef struct Group
{
  unsigned n; /* sections */
  Section sections[TFX_GROUP_MAX];
} Group;

typedef long double Matrix[MAX_STATE][MAX_STATE];

TfxGroups
tfx_tables_group (size_t n_sos, bool is_double)
{
  /* No sections at all: an identity. */
  TfxGroups best = { n_sos > 0 ? (unsigned)n_sos : 1, 1 };
  double best_cost = INFINITY;

  if (n_sos <= TFX_GROUP_MAX)
    return best;
  if (is_double)
    return (TfxGroups){ 1, (unsigned)n_sos };
  for (unsigned size = TFX_GROUP_MAX; size >= MANY_MIN; size--) {
    unsigned n = (unsigned)((n_sos + size - 1) / size);
    /* Six multiplications per sample and section, and the scans and waits of a
     * group, which cost about one section and a half. */
    double cost = n * (size + 1.5);
    if (cost < best_cost) {
      best_cost = cost;
      best = (TfxGroups){ size, n };
    }
  }
  return best;
}

unsigned
tfx_tables_min_segment_log2 (TfxGroups groups)
{
  return groups.size == 1 && groups.n > 1 ? EXACT_SEGMENT_LOG2 : 0;
}

size_t
tfx_tables_size (TfxGroups groups, bool has_drive)
{
  const size_t size = groups.size;

  return ((size_t)groups.n * TFX_TABLE_SIZE (size) +
             (has_drive ? TFX_DRIVE_SIZE (size) : 0)) *
         TFX_REAL_SIZE;
}

/* c1 and c2 of the section with b0 taken out: differences that are often small,
 * in one rounding. */
static void
divide (const TfxSos *s, long double c[2])
{
  c[0] = (long double)s->b1 / s->b0 - s->a1;
  c[1] = (long double)s->b2 / s->b0 - s->a2;
}

bool
tfx_tables_can_normalise (TfxReal real, const TfxSos *sos, size_t n_sos)
{
  const double far = real == TFX_REAL_DOUBLE ? FAR : FAR_FLOAT;
  double product = 1.0;

  for (size_t i = 0; i < n_sos; i++) {
    const TfxSos *s = &sos[i];
    long double c[2];

    /* Longer cascades are split into groups, each with its product. */
    product = i % TFX_GROUP_MAX ? product * s->b0 : s->b0;
    if (!(fabs (s->b0) > TINY * fmax (fabs (s->b1), fabs (s->b2))))
      return false;
    divide (s, c);
    if (!(fabsl (c[0]) > TINY * fmaxl (1.0L, fabsl (c[1]))) ||
        !(fabs (s->b0) > 1 / far && fabs (s->b0) < far) ||
        !(fabs (product) > 1 / far && fabs (product) < far))
      return false;
  }
  return true;
}

/* product: of b0 up to this section, if they are taken out; an identity needs no
 * factor. */
static Section
section_of (const TfxSos *s, bool normalised, long double product)
{
  Section section = { .a1 = s->a1, .a2 = s->a2, .r = (float)(-s->a1 / 2) };
  long double c[2];

  if (!normalised) {
    section.b0 = s->b0;
    section.in = s->b1 - (long double)s->a1 * s->b0;
    section.c2 = s->b2 - (long double)s->a2 * s->b0;
    section.out = section.scale = 1;
    return section;
  }
  divide (s, c);
  section.b0 = section.in = 1;
  section.out = c[0];
  section.c2 = c[0] == 0 ? 0 : c[1] / c[0];
  section.scale = c[0] == 0 ? 1 : product * c[0];
  return section;
}

/* One step of the group from state s with input x, in place.  The state of a
 * section is s and s2 + r s. */
static void
step (const Group *g, long double x, long double *s)
{
  for (unsigned k = 0; k < g->n; k++) {
    const Section *c = &g->sections[k];
    long double s1 = s[2 * k], s2 = s[2 * k + 1] - c->r * s1;

    s[2 * k] = c->in * x - c->a1 * s1 + s2;
    s[2 * k + 1] = c->c2 * x - c->a2 * s1 + c->r * s[2 * k];
    x = c->b0 * x + c->out * s1;
  }
}

/* a = a a; block lower triangular. */
static void
square (unsigned n_sections, Matrix a)
{
  unsigned n = 2 * n_sections;
  Matrix c;

  for (unsigned i = 0; i < n; i++) {
    for (unsigned j = 0; j <= (i | 1); j++) {
      long double sum = 0;
      for (unsigned k = j & ~1u; k <= (i | 1); k++)
        sum += a[i][k] * a[k][j];
      c[i][j] = sum;
    }
  }
  for (unsigned i = 0; i < n; i++)
    memcpy (a[i], c[i], ((i | 1) + 1) * sizeof a[i][0]);
}

/* ---- writing ------------------------------------------------------------------ */

void
tfx_real_put (void *numbers, TfxReal real, size_t at, long double value)
{
  char *to = (char *)numbers + at * TFX_REAL_SIZE;

  if (real == TFX_REAL_DOUBLE) {
    double x = (double)value;
    memcpy (to, &x, sizeof x);
  } else {
    float x[2];
    x[0] = (float)value;
    x[1] = (float)(value - x[0]);
    memcpy (to, x, sizeof x);
  }
}

/* A power's 2 x 2 block, row-major. */
static void
put_block (char *table, TfxReal real, size_t at, Matrix a, unsigned row,
    unsigned column)
{
  for (unsigned i = 0; i < 4; i++)
    tfx_real_put (table, real, at + i, a[2 * row + i / 2][2 * column + i % 2]);
}

static void
put_power (char *table, TfxReal real, unsigned n, unsigned index, Matrix a)
{
  size_t at = TFX_TABLE_POWERS (n) + (size_t)index * TFX_POWER_SIZE (n);

  for (unsigned k = 0; k < n; k++, at += 4)
    put_block (table, real, at, a, k, k);
  for (unsigned k = 1; k < n; k++) {
    for (unsigned i = 0; i < k; i++, at += 4)
      put_block (table, real, at, a, k, i);
  }
}

/* n_rows of the control matrix. */
static void
put_control (char *table, TfxReal real, const Group *g, size_t at,
    unsigned n_rows)
{
  long double s[MAX_STATE] = { 0 };
  unsigned n_state = 2 * g->n;

  step (g, 1, s);
  for (unsigned row = n_rows; row-- > 0; step (g, 0, s)) {
    for (unsigned i = 0; i < n_state; i++)
      tfx_real_put (table, real, at + row * n_state + i, s[i]);
  }
}

/* Behind the tables of the only group: the control matrix of a round, and, turned,
 * the power of all of it. */
static void
put_drive (char *table, const Group *g, Matrix power)
{
  const unsigned n_state = 2 * g->n;
  const size_t at = TFX_TABLE_SIZE (g->n);

  memset (table + at * TFX_REAL_SIZE, 0, TFX_DRIVE_SIZE (g->n) * TFX_REAL_SIZE);
  for (unsigned j = 0; j < n_state; j++) {
    for (unsigned i = j & ~1u; i < n_state; i++)
      tfx_real_put (table, TFX_REAL_DOUBLE, at + j * n_state + i, power[i][j]);
  }
  put_control (table, TFX_REAL_DOUBLE, g,
      at + TFX_DRIVE_STATES (g->n) * n_state, 1u << TFX_ROUND_LOG2);
}

static void
put_powers (char *table, TfxReal real, const Group *g, bool has_drive)
{
  unsigned n_state = 2 * g->n;
  Matrix a;

  memset (a, 0, sizeof a);
  for (unsigned j = 0; j < n_state; j++) {
    long double s[MAX_STATE] = { 0 };
    s[j] = 1;
    step (g, 0, s);
    for (unsigned i = 0; i < n_state; i++)
      a[i][j] = s[i];
  }
  for (unsigned index = 0; index < TFX_N_POWERS; index++) {
    put_power (table, real, g->n, index, a);
    if (index == TFX_ROUND_LOG2 && has_drive)
      put_drive (table, g, a);
    square (g->n, a);
  }
}

static void
put_group (char *table, TfxReal real, const Group *g, long double gain,
    bool normalised, bool has_drive)
{
  for (unsigned k = 0; k < g->n; k++) {
    const Section *c = &g->sections[k];

    tfx_real_put (table, real, 6 * k, normalised ? c->out : c->in);
    tfx_real_put (table, real, 6 * k + 1, c->c2);
    tfx_real_put (table, real, 6 * k + 2, c->a1);
    tfx_real_put (table, real, 6 * k + 3, c->a2);
    tfx_real_put (table, real, 6 * k + 4, c->b0);
    tfx_real_put (table, real, 6 * k + 5, c->r);
    tfx_real_put (table, real, TFX_TABLE_SCALE (g->n) + 2 * k, 1 / c->scale);
    tfx_real_put (table, real, TFX_TABLE_SCALE (g->n) + 2 * k + 1, c->scale);
  }
  tfx_real_put (table, real, TFX_TABLE_GAIN (g->n), gain);
  tfx_real_put (table, real, TFX_TABLE_GAIN (g->n) + 1, 0);
  put_control (table, real, g, TFX_TABLE_CONTROL (g->n), TFX_CONTROL_ROWS);
  put_powers (table, real, g, has_drive);
}

void
tfx_tables_fill (void *tables, TfxReal real, TfxGroups groups,
    const TfxSos *sos, size_t n_sos, double gain, bool normalised,
    bool has_drive)
{
  char *table = tables;
  size_t first = 0;

  for (unsigned i = 0; i < groups.n; i++) {
    Group g = { .n = groups.size };
    long double product = 1;

    for (unsigned k = 0; k < g.n; k++, first++) {
      TfxSos s = first < n_sos ? sos[first] : (TfxSos){ .b0 = 1 };

      if (normalised)
        product *= s.b0;
      g.sections[k] = section_of (&s, normalised, product);
    }
    put_group (table, real, &g, product * (i + 1 == groups.n ? gain : 1.0),
        normalised, has_drive);
    table += TFX_TABLE_SIZE ((size_t)groups.size) * TFX_REAL_SIZE;
  }
}

void
tfx_tables_fix (const void *tables, unsigned size, unsigned segment_log2,
    void *fixed)
{
  const unsigned half_log2 = segment_log2 <= 6 ? segment_log2 - 1 : 5;
  const size_t power = TFX_POWER_SIZE ((size_t)size) * TFX_REAL_SIZE;
  const char *powers =
      (const char *)tables + TFX_TABLE_POWERS ((size_t)size) * TFX_REAL_SIZE;
  const size_t diagonal = (size_t)4 * size * TFX_REAL_SIZE;
  char *to = fixed;

  memcpy (to, tables, TFX_FIXED_HALF (size) * TFX_REAL_SIZE);
  to += TFX_FIXED_HALF (size) * TFX_REAL_SIZE;
  memcpy (to, powers + half_log2 * power, 2 * power);
  to += 2 * power;
  for (unsigned i = 0; i < 3; i++) {
    const char *level = powers + (segment_log2 + 5 * i) * power;

    for (unsigned step = 0; step < 5; step++, to += diagonal)
      memcpy (to, level + step * power, diagonal);
    memcpy (to, level + diagonal, power - diagonal);
    to += power - diagonal;
  }
}
