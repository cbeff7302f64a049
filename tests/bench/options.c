/* SPDX-License-Identifier: LGPL-2.1-or-later
 * options.c: reads the arguments of a benchmark; names the machine. */
#include "options.h"

#include <fnmatch.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define SHORT_ROUNDS 15
#define SHORT_TURN_MS 4.0
#define FULL_ROUNDS 41
#define FULL_TURN_MS 10.0
#define MAX_ROUNDS 10000
#define MAX_TURN_MS 10000.0

static void
print_usage (FILE *file, const char *name)
{
  fprintf (file,
      "Usage: bench_%s [OPTION...]\n"
      "\n"
      "  --full           more cases, more and longer rounds\n"
      "  --only=PATTERN   the groups whose titles match a shell pattern\n"
      "  --rounds=N       turns of each subject, 1 to %d (%d, full: %d)\n"
      "  --turn=MS        length of a turn in ms, up to %g (%g, full: %g)\n"
      "  --csv=FILE       where to write the CSV (bench_%s.csv)\n"
      "  --help           this text\n",
      name, MAX_ROUNDS, SHORT_ROUNDS, FULL_ROUNDS, MAX_TURN_MS, SHORT_TURN_MS,
      FULL_TURN_MS, name);
}

/* A number within (low, high], or the end of the program. */
static double
read_number (const char *option, const char *text, double low, double high)
{
  char *end;
  double value = strtod (text, &end);

  if (end == text || *end != '\0' || !(value > low && value <= high)) {
    fprintf (stderr,
        "error: --%s=%s: a number above %g and up to %g is needed\n", option,
        text, low, high);
    exit (2);
  }
  return value;
}

static void
replace (char **text, char *by)
{
  if (!by) {
    fprintf (stderr, "error: no memory\n");
    exit (1);
  }
  free (*text);
  *text = by;
}

void
bench_options_read (BenchOptions *options, int argc, char **argv,
    const char *name)
{
  static const struct option longs[] = { { "full", no_argument, NULL, 'f' },
    { "only", required_argument, NULL, 'o' },
    { "rounds", required_argument, NULL, 'r' },
    { "turn", required_argument, NULL, 't' },
    { "csv", required_argument, NULL, 'c' }, { "help", no_argument, NULL, 'h' },
    { NULL, 0, NULL, 0 } };
  double rounds = 0.0, turn_ms = 0.0;
  char *csv = NULL;
  int c;

  memset (options, 0, sizeof *options);
  if (asprintf (&csv, "bench_%s.csv", name) < 0)
    csv = NULL;
  replace (&options->csv, csv);
  while ((c = getopt_long (argc, argv, "", longs, NULL)) != -1) {
    switch (c) {
      case 'f':
        options->full = true;
        break;
      case 'o':
        options->only = optarg;
        break;
      case 'r':
        rounds = read_number ("rounds", optarg, 0.0, MAX_ROUNDS);
        break;
      case 't':
        turn_ms = read_number ("turn", optarg, 0.0, MAX_TURN_MS);
        break;
      case 'c':
        replace (&options->csv, strdup (optarg));
        break;
      case 'h':
        print_usage (stdout, name);
        exit (0);
      default:
        print_usage (stderr, name);
        exit (2);
    }
  }
  if (optind < argc) {
    fprintf (stderr, "error: unknown argument: %s\n", argv[optind]);
    exit (2);
  }
  if (rounds == 0.0)
    rounds = options->full ? FULL_ROUNDS : SHORT_ROUNDS;
  options->n_rounds = rounds < 1.0 ? 1 : (unsigned)rounds;
  if (turn_ms == 0.0)
    turn_ms = options->full ? FULL_TURN_MS : SHORT_TURN_MS;
  options->turn_ms = turn_ms;
}

void
bench_options_clear (BenchOptions *options)
{
  free (options->csv);
  options->csv = NULL;
}

bool
bench_options_select (const BenchOptions *options, const char *title)
{
  return !options->only || fnmatch (options->only, title, 0) == 0;
}

/* What follows the first line of /proc/cpuinfo that begins with key. */
static bool
read_cpuinfo (const char *key, char *value, size_t size)
{
  FILE *file = fopen ("/proc/cpuinfo", "r");
  char line[512];
  bool found = false;

  while (file && !found && fgets (line, sizeof line, file)) {
    char *colon = strchr (line, ':');

    if (!colon || strncmp (line, key, strlen (key)) != 0)
      continue;
    colon += strspn (colon, ": \t");
    colon[strcspn (colon, "\n")] = '\0';
    snprintf (value, size, "%s", colon);
    found = true;
  }
  if (file)
    fclose (file);
  return found;
}

void
bench_options_print_machine (void)
{
  char model[128] = "unknown", family[32], number[32];
  struct utsname system;
  double load;

  read_cpuinfo ("model name", model, sizeof model);
  printf ("CPU: %s", model);
  if (read_cpuinfo ("cpu family", family, sizeof family) &&
      read_cpuinfo ("model\t", number, sizeof number))
    printf (", family %s, model %s", family, number);
  printf (", %ld online", sysconf (_SC_NPROCESSORS_ONLN));
  if (uname (&system) == 0)
    printf ("; %s %s", system.sysname, system.machine);
  if (getloadavg (&load, 1) == 1)
    printf ("; load %.2f", load);
  putchar ('\n');
#if defined(__VERSION__)
  printf ("Compiler: %s\n", __VERSION__);
#endif
}
