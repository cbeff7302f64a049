/* SPDX-License-Identifier: LGPL-2.1-or-later
 * process.c: starts a program and talks with it. */
#include "process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

Process *
process_open (const char *const *argv)
{
  Process *p = calloc (1, sizeof *p);
  int to[2] = { -1, -1 }, from[2] = { -1, -1 };

  if (!p || pipe2 (to, O_CLOEXEC) < 0 || pipe2 (from, O_CLOEXEC) < 0) {
    free (p);
    return NULL;
  }
  /* A peer that died is an error at the next answer, not a signal. */
  signal (SIGPIPE, SIG_IGN);
  p->pid = fork ();
  if (p->pid == 0) {
    const char *path = getenv ("TFX_LD_LIBRARY_PATH");

    /* The libraries of a bundle are not the peer's. */
    if (path)
      setenv ("LD_LIBRARY_PATH", path, 1);
    dup2 (to[0], STDIN_FILENO);
    dup2 (from[1], STDOUT_FILENO);
    execvp (argv[0], (char *const *)argv);
    _exit (127);
  }
  close (to[0]);
  close (from[1]);
  p->to = fdopen (to[1], "w");
  p->from = fdopen (from[0], "r");
  if (p->pid < 0 || !p->to || !p->from)
    process_close (&p);
  return p;
}

void
process_close (Process **process)
{
  Process *p = *process;

  *process = NULL;
  if (!p)
    return;
  if (p->to)
    fclose (p->to);
  if (p->from)
    fclose (p->from);
  if (p->pid > 0)
    waitpid (p->pid, NULL, 0);
  free (p);
}

bool
process_read (Process *p, char *line, size_t size)
{
  if (!fgets (line, (int)size, p->from))
    return false;
  line[strcspn (line, "\n")] = '\0';
  return true;
}

bool
process_ask (Process *p, double *a, double *b, const char *format, ...)
{
  char answer[256];
  va_list args;

  va_start (args, format);
  vfprintf (p->to, format, args);
  va_end (args);
  return fflush (p->to) == 0 && process_read (p, answer, sizeof answer) &&
         sscanf (answer, "time %lf %lf", a, b) == 2;
}
