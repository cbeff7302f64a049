/* SPDX-License-Identifier: LGPL-2.1-or-later
 * scipy.c: starts scipy_peer.py and talks with it. */
#include "scipy.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Two float32 outputs of the same double sections: rounding, and what is left
 * of it after the cascade. */
#define TOLERANCE_DB -130.0

struct Scipy
{
  pid_t pid;
  FILE *to, *from;
};

typedef struct Peer
{
  Scipy *scipy;
  unsigned id;
  char variant[64];
} Peer;

/* Those that may have SciPy; Debian's package is for the first one. */
static const char *const pythons[] = { "/usr/bin/python3", "python3" };

static Scipy *
start (const char *python)
{
  Scipy *s = calloc (1, sizeof *s);
  int to[2] = { -1, -1 }, from[2] = { -1, -1 };

  if (!s || pipe2 (to, O_CLOEXEC) < 0 || pipe2 (from, O_CLOEXEC) < 0) {
    free (s);
    return NULL;
  }
  s->pid = fork ();
  if (s->pid == 0) {
    dup2 (to[0], STDIN_FILENO);
    dup2 (from[1], STDOUT_FILENO);
    execlp (python, python, SCIPY_PEER, (char *)NULL);
    _exit (127);
  }
  close (to[0]);
  close (from[1]);
  s->to = fdopen (to[1], "w");
  s->from = fdopen (from[0], "r");
  return s;
}

void
scipy_close (Scipy **scipy)
{
  Scipy *s = *scipy;

  *scipy = NULL;
  if (!s)
    return;
  if (s->to)
    fclose (s->to);
  if (s->from)
    fclose (s->from);
  if (s->pid > 0)
    waitpid (s->pid, NULL, 0);
  free (s);
}

Scipy *
scipy_open (char *why, size_t why_size)
{
  /* A peer that died is an error at the next answer, not a signal. */
  signal (SIGPIPE, SIG_IGN);
  for (size_t i = 0; i < sizeof pythons / sizeof pythons[0]; i++) {
    Scipy *s = start (pythons[i]);

    if (s && s->pid > 0 && s->to && s->from &&
        fgets (why, (int)why_size, s->from)) {
      why[strcspn (why, "\n")] = '\0';
      return s;
    }
    scipy_close (&s);
  }
  snprintf (why, why_size,
      "no python3 that can import scipy "
      "(Debian package python3-scipy)");
  return NULL;
}

static bool
peer_run (void *data, unsigned n_blocks, BenchTime *time)
{
  Peer *peer = data;
  char answer[128];

  fprintf (peer->scipy->to, "run %u %u\n", peer->id, n_blocks);
  return fflush (peer->scipy->to) == 0 &&
         fgets (answer, sizeof answer, peer->scipy->from) &&
         sscanf (answer, "time %lf %lf", &time->cpu_ns, &time->elapsed_ns) == 2;
}

static void
peer_free (void *data)
{
  Peer *peer = data;

  fprintf (peer->scipy->to, "drop %u\n", peer->id);
  fflush (peer->scipy->to);
  free (peer);
}

/* Sends the sections and the noise; learns the layout. */
static bool
set_up (Peer *peer, const TfxSos *sos, size_t n_sos, unsigned n_channels,
    size_t n_frames, bool convert)
{
  Scipy *s = peer->scipy;
  size_t n = n_frames * n_channels;
  float *noise = malloc (n * sizeof *noise);
  char answer[128], layout[48];
  bool ok;

  if (!noise)
    return false;
  bench_fill_noise (noise, n);
  fprintf (s->to, "setup %s %zu %zu %u\n", convert ? "f32" : "f64", n_sos,
      n_frames, n_channels);
  for (size_t i = 0; i < n_sos; i++) {
    const TfxSos *c = &sos[i];
    double row[6] = { c->b0, c->b1, c->b2, 1.0, c->a1, c->a2 };
    fwrite (row, sizeof row, 1, s->to);
  }
  ok = fwrite (noise, sizeof *noise, n, s->to) == n && fflush (s->to) == 0 &&
       fgets (answer, sizeof answer, s->from) &&
       sscanf (answer, "ready %u %47[^\n]", &peer->id, layout) == 2;
  free (noise);
  if (ok)
    snprintf (peer->variant, sizeof peer->variant, "%s%s", layout,
        convert ? ", F32" : ", F64");
  return ok;
}

/* The peer does the same filter, or there is nothing to compare. */
static bool
agrees (Peer *peer, const float *expected, size_t n)
{
  Scipy *s = peer->scipy;
  float *out = malloc (n * sizeof *out);
  double error = 0.0, power = 0.0, error_db;
  char answer[128];
  size_t n_out = 0;
  bool ok;

  fprintf (s->to, "check %u\n", peer->id);
  ok = out && fflush (s->to) == 0 && fgets (answer, sizeof answer, s->from) &&
       sscanf (answer, "output %zu", &n_out) == 1 && n_out == n &&
       fread (out, sizeof *out, n, s->from) == n;
  for (size_t i = 0; ok && i < n; i++) {
    error += ((double)out[i] - expected[i]) * ((double)out[i] - expected[i]);
    power += (double)expected[i] * expected[i];
  }
  free (out);
  error_db = 10.0 * log10 (error / power + 1e-30);
  if (ok && !(error_db < TOLERANCE_DB)) {
    fprintf (stderr,
        "error: SciPy's output differs from the core's by "
        "%.1f dB\n",
        error_db);
    return false;
  }
  return ok;
}

bool
scipy_init_subject (Scipy *scipy, BenchSubject *subject, const TfxSos *sos,
    size_t n_sos, unsigned n_channels, size_t n_frames, bool convert,
    const float *expected)
{
  Peer *peer = calloc (1, sizeof *peer);

  if (!peer)
    return false;
  peer->scipy = scipy;
  if (!set_up (peer, sos, n_sos, n_channels, n_frames, convert) ||
      !agrees (peer, expected, n_frames * n_channels)) {
    fprintf (stderr, "error: the SciPy process does not answer as it should\n");
    free (peer);
    return false;
  }
  *subject = (BenchSubject){
    .name = "SciPy sosfilt",
    .variant = peer->variant,
    .n_channels = n_channels,
    .n_frames = n_frames,
    .n_sections = n_sos,
    .units = (double)n_frames * n_channels,
    .limit = BENCH_NONE,
    .run = peer_run,
    .data = peer,
    .free = peer_free,
  };
  return true;
}
