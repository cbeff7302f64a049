/* SPDX-License-Identifier: LGPL-2.1-or-later
 * oaconvolve.c: starts oaconvolve_peer.py and talks with it. */
#include "oaconvolve.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Peer
{
  pid_t pid;
  FILE *to, *from;
  char variant[64];
} Peer;

static void
peer_free (void *data)
{
  Peer *p = data;

  if (p->to)
    fclose (p->to);
  if (p->from)
    fclose (p->from);
  if (p->pid > 0)
    waitpid (p->pid, NULL, 0);
  free (p);
}

static bool
peer_run (void *data, unsigned n_blocks, BenchTime *time)
{
  Peer *p = data;
  char answer[128];

  fprintf (p->to, "%u\n", n_blocks);
  return fflush (p->to) == 0 && fgets (answer, sizeof answer, p->from) &&
         sscanf (answer, "time %lf %lf", &time->cpu_ns, &time->elapsed_ns) == 2;
}

/* Debian's SciPy is for this Python. */
#define PYTHON "/usr/bin/python3"

static bool
start (Peer *p, size_t n_taps, size_t n_samples)
{
  int to[2], from[2];
  char taps[32], samples[32];

  snprintf (taps, sizeof taps, "%zu", n_taps);
  snprintf (samples, sizeof samples, "%zu", n_samples);
  if (pipe2 (to, O_CLOEXEC) < 0 || pipe2 (from, O_CLOEXEC) < 0)
    return false;
  signal (SIGPIPE, SIG_IGN);
  p->pid = fork ();
  if (p->pid == 0) {
    dup2 (to[0], STDIN_FILENO);
    dup2 (from[1], STDOUT_FILENO);
    execl (PYTHON, PYTHON, OACONVOLVE_PEER, taps, samples, (char *)NULL);
    _exit (127);
  }
  close (to[0]);
  close (from[1]);
  p->to = fdopen (to[1], "w");
  p->from = fdopen (from[0], "r");
  return p->pid > 0 && p->to && p->from;
}

bool
oaconvolve_init_subject (BenchSubject *subject, size_t n_taps, size_t n_samples)
{
  Peer *p = calloc (1, sizeof *p);
  char version[128];

  if (!p)
    return false;
  if (!start (p, n_taps, n_samples) ||
      !fgets (version, sizeof version, p->from)) {
    peer_free (p);
    return false;
  }
  snprintf (p->variant, sizeof p->variant, "%zu at once", n_samples);
  *subject = (BenchSubject){
    .name = "SciPy oaconvolve",
    .variant = p->variant,
    .n_channels = 1,
    .n_frames = n_samples,
    .units = (double)n_samples,
    .limit = BENCH_NONE,
    .run = peer_run,
    .data = p,
    .free = peer_free,
  };
  return true;
}
