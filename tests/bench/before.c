/* SPDX-License-Identifier: LGPL-2.1-or-later
 * before.c: reads what bench.c writes. */
#include "before.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_SIZE 256

typedef struct Row
{
  char key[KEY_SIZE]; /* group, subject and variant as in the file */
  double ns;
} Row;

struct Before
{
  Row *rows;
  size_t n;
};

static int
compare (const void *a, const void *b)
{
  return strcmp (((const Row *)a)->key, ((const Row *)b)->key);
}

/* "group","subject","variant",channels,frames,sections,rounds,ns,... */
static bool
read_row (char *line, Row *row)
{
  unsigned channels, rounds;
  size_t frames, sections;
  char *end = line;

  for (unsigned quotes = 0; *end && quotes < 6; end++)
    quotes += *end == '"';
  if (*end != ',' || sscanf (end, ",%u,%zu,%zu,%u,%lf", &channels, &frames,
                         &sections, &rounds, &row->ns) != 5)
    return false;
  *end = '\0';
  return (size_t)snprintf (row->key, KEY_SIZE, "%s", line) < KEY_SIZE;
}

static bool
read_rows (Before *b, FILE *file)
{
  size_t room = 0;
  char line[1024];

  while (fgets (line, sizeof line, file)) {
    if (b->n == room) {
      Row *rows = realloc (b->rows, (room = 2 * room + 64) * sizeof *rows);

      if (!rows)
        return false;
      b->rows = rows;
    }
    b->n += read_row (line, &b->rows[b->n]);
  }
  qsort (b->rows, b->n, sizeof *b->rows, compare);
  return b->n > 0;
}

Before *
before_read (const char *path)
{
  Before *b = calloc (1, sizeof *b);
  FILE *file = fopen (path, "r");

  if (!file)
    fprintf (stderr, "error: %s cannot be read: %s\n", path, strerror (errno));
  else if (!b || !read_rows (b, file))
    fprintf (stderr, "error: %s has no rows of a benchmark\n", path);
  if (file)
    fclose (file);
  if (!b || b->n == 0)
    before_free (&b);
  return b;
}

void
before_free (Before **before)
{
  if (*before)
    free ((*before)->rows);
  free (*before);
  *before = NULL;
}

double
before_find (const Before *b, const char *group, const char *subject,
    const char *variant)
{
  Row row, *found;

  snprintf (row.key, sizeof row.key, "\"%s\",\"%s\",\"%s\"", group, subject,
      variant);
  found = bsearch (&row, b->rows, b->n, sizeof *b->rows, compare);
  return found ? found->ns : 0.0;
}
