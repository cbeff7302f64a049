/* SPDX-License-Identifier: LGPL-2.1-or-later
 * torchfx.c: starts a script that runs TorchFX and talks with it. */
#include "torchfx.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct Torchfx
{
  pid_t pid;
  FILE *to, *from;
};

Torchfx *
torchfx_open (const char *script, char *text, size_t size)
{
  Torchfx *t = calloc (1, sizeof *t);
  int to[2] = { -1, -1 }, from[2] = { -1, -1 };

  snprintf (text, size, "no python3 that can import torchfx");
  if (!t || pipe2 (to, O_CLOEXEC) < 0 || pipe2 (from, O_CLOEXEC) < 0) {
    free (t);
    return NULL;
  }
  /* A peer that died is an error at the next answer, not a signal. */
  signal (SIGPIPE, SIG_IGN);
  t->pid = fork ();
  if (t->pid == 0) {
    const char *path = getenv ("TFX_LD_LIBRARY_PATH");

    /* The libraries of a bundle are not Python's. */
    if (path)
      setenv ("LD_LIBRARY_PATH", path, 1);
    dup2 (to[0], STDIN_FILENO);
    dup2 (from[1], STDOUT_FILENO);
    execlp ("python3", "python3", script, (char *)NULL);
    _exit (127);
  }
  close (to[0]);
  close (from[1]);
  t->to = fdopen (to[1], "w");
  t->from = fdopen (from[0], "r");
  if (t->pid > 0 && t->to && t->from && fgets (text, (int)size, t->from)) {
    text[strcspn (text, "\n")] = '\0';
    if (strncmp (text, "no ", 3) != 0)
      return t;
  }
  torchfx_close (&t);
  return NULL;
}

void
torchfx_close (Torchfx **torchfx)
{
  Torchfx *t = *torchfx;

  *torchfx = NULL;
  if (!t)
    return;
  if (t->to)
    fclose (t->to);
  if (t->from)
    fclose (t->from);
  if (t->pid > 0)
    waitpid (t->pid, NULL, 0);
  free (t);
}

bool
torchfx_ask (Torchfx *t, double *a, double *b, const char *format, ...)
{
  char answer[256];
  va_list args;

  va_start (args, format);
  vfprintf (t->to, format, args);
  va_end (args);
  return fflush (t->to) == 0 && fgets (answer, sizeof answer, t->from) &&
         sscanf (answer, "time %lf %lf", a, b) == 2;
}
