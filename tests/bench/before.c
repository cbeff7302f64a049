/* SPDX-License-Identifier: LGPL-2.1-or-later
 * before.c: both ends of the pipe to another tree's benchmark.
 *
 *   case KERNEL PLANAR TYPE CHANNELS FRAMES SECTIONS -> subject ID, or none
 *   run ID BLOCKS -> time CPU ELAPSED
 *   drop ID */
#include "before.h"

#include <stdlib.h>
#include <string.h>

#define GREETING "cascades of bench_shapes"
#define MAX_SERVED 16

typedef struct Subject
{
  Process *before;
  unsigned id;
} Subject;

Process *
before_open (const char *program)
{
  const char *const argv[] = { program, "--serve", NULL };
  Process *p = process_open (argv);
  char line[128] = "";

  if (p && process_read (p, line, sizeof line) && strcmp (line, GREETING) == 0)
    return p;
  fprintf (stderr,
      "error: --before=%s: this is no bench_shapes that has --serve\n",
      program);
  process_close (&p);
  return NULL;
}

static bool
subject_run (void *data, unsigned n_blocks, BenchTime *time)
{
  Subject *s = data;

  return process_ask (s->before, &time->cpu_ns, &time->elapsed_ns,
      "run %u %u\n", s->id, n_blocks);
}

static void
subject_free (void *data)
{
  Subject *s = data;

  fprintf (s->before->to, "drop %u\n", s->id);
  free (s);
}

bool
before_init_subject (Process *before, BenchSubject *subject, const CoreCase *c)
{
  Subject *s = calloc (1, sizeof *s);
  char line[128];

  if (!s)
    return false;
  s->before = before;
  fprintf (before->to, "case %s %d %d %u %zu %zu\n", c->kernel, c->planar,
      (int)c->type, c->n_channels, c->n_frames, c->n_sos);
  if (fflush (before->to) != 0 || !process_read (before, line, sizeof line) ||
      sscanf (line, "subject %u", &s->id) != 1) {
    free (s);
    return false;
  }
  *subject = (BenchSubject){
    .name = "before",
    .n_channels = c->n_channels,
    .n_frames = c->n_frames,
    .n_sections = c->n_sos,
    .units = (double)c->n_frames * c->n_channels,
    .limit = BENCH_NONE,
    .run = subject_run,
    .data = s,
    .free = subject_free,
  };
  return true;
}

/* The number of the new one, or MAX_SERVED. */
static unsigned
serve_case (BenchSubject *subjects, const char *line, const TfxSos *sos)
{
  CoreCase c = { .sos = sos };
  char kernel[16];
  int planar, type;
  unsigned i = 0;

  while (i < MAX_SERVED && subjects[i].run)
    i++;
  if (i == MAX_SERVED ||
      sscanf (line, "case %15s %d %d %u %zu %zu", kernel, &planar, &type,
          &c.n_channels, &c.n_frames, &c.n_sos) != 6 ||
      c.n_sos > BEFORE_MAX_SECTIONS)
    return MAX_SERVED;
  c.kernel = kernel;
  c.planar = planar != 0;
  c.type = (TfxSample)type;
  return core_init_subject (&subjects[i], &c) ? i : MAX_SERVED;
}

static bool
serve_line (BenchSubject *subjects, const char *line, const TfxSos *sos)
{
  unsigned id = MAX_SERVED, n_blocks;
  BenchTime time;

  if (strncmp (line, "case ", 5) == 0) {
    id = serve_case (subjects, line, sos);
    return (id < MAX_SERVED ? printf ("subject %u\n", id) : puts ("none")) > 0;
  }
  if (sscanf (line, "run %u %u", &id, &n_blocks) == 2 && id < MAX_SERVED &&
      subjects[id].run)
    return subjects[id].run (subjects[id].data, n_blocks, &time) &&
           printf ("time %.17g %.17g\n", time.cpu_ns, time.elapsed_ns) > 0;
  if (sscanf (line, "drop %u", &id) != 1 || id >= MAX_SERVED ||
      !subjects[id].run)
    return false;
  subjects[id].free (subjects[id].data);
  subjects[id].run = NULL;
  return true;
}

int
before_serve (void)
{
  BenchSubject subjects[MAX_SERVED] = { 0 };
  TfxSos sos[BEFORE_MAX_SECTIONS];
  bool ok = cascades_repeat_api (sos, BEFORE_MAX_SECTIONS) > 0;
  char line[128];

  puts (GREETING);
  fflush (stdout);
  while (ok && fgets (line, sizeof line, stdin))
    ok = serve_line (subjects, line, sos) && fflush (stdout) == 0;
  for (unsigned i = 0; i < MAX_SERVED; i++) {
    if (subjects[i].run)
      subjects[i].free (subjects[i].data);
  }
  return ok ? 0 : 1;
}
