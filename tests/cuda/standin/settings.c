/* SPDX-License-Identifier: LGPL-2.1-or-later
 * settings.c: the stand-in's settings, its lock and its failures on demand. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "standin.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The failure that is asked for, and how far it is. */
static char asked[128];
static char function_name[64];
static long countdown;
static CUresult code;
static bool sticky, is_short, failing;

long
standin_setting (const char *name, long otherwise)
{
  const char *value = getenv (name);

  return value && *value ? strtol (value, NULL, 10) : otherwise;
}

bool
standin_is_late (void)
{
  const char *value = getenv ("TFX_STANDIN_ASYNC");

  return value &&
         (strcmp (value, "late") == 0 || strncmp (value, "apart", 5) == 0);
}

uint64_t
standin_random (void)
{
  static uint64_t state, seed;
  const char *value = getenv ("TFX_STANDIN_ASYNC");
  uint64_t wanted = 1;

  if (!value || strncmp (value, "apart", 5) != 0)
    return 0;
  if (value[5] == ':')
    wanted = strtoull (value + 6, NULL, 10);
  if (wanted != seed)
    state = seed = wanted;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state | 1;
}

/* What the stand-in is if nobody says more. */
const StandinCard *
standin_card (void)
{
  static StandinCard plain = { .name = "",
    .title = "stand-in",
    .n_multiprocessors = 4,
    .clock_mhz = 1000,
    .block_shared = 227,
    .shared = 228,
    .n_threads = 2048,
    .n_blocks = 2,
    .n_float = 64,
    .memory_gb_s = 100 };
  const char *name = getenv ("TFX_STANDIN_CARD");
  const StandinCard *card = name && *name ? standin_card_find (name) : NULL;

  if (card)
    return card;
  if (name && *name) {
    fprintf (stderr, "stand-in driver: TFX_STANDIN_CARD=%s is no card\n", name);
    abort ();
  }
  plain.compute = (int)standin_setting ("TFX_STANDIN_CC", 90);
  plain.n_double =
      plain.compute == 80 || plain.compute == 90 || plain.compute == 100 ? 32
                                                                         : 1;
  return &plain;
}

bool
standin_is_strict (void)
{
  return *standin_card ()->name != '\0';
}

int
standin_driver_version (void)
{
  return (int)standin_setting ("TFX_STANDIN_DRIVER", 13000);
}

static void
report (const char *text)
{
  const char *path = getenv ("TFX_STANDIN_REPORT");
  FILE *file = path && *path ? fopen (path, "a") : NULL;

  if (!file)
    return;
  fprintf (file, "%s\n", text);
  fclose (file);
}

CUresult
standin_fault (CUresult result, const char *format, ...)
{
  char text[512];
  va_list args;

  va_start (args, format);
  vsnprintf (text, sizeof text, format, args);
  va_end (args);
  fprintf (stderr, "stand-in driver: %s\n", text);
  report (text);
  return result;
}

void
standin_hold (void)
{
  const char *path = getenv ("TFX_STANDIN_HOLD");

  for (int i = 0; path && *path && access (path, F_OK) == 0 && i < 3000; i++)
    usleep (10000);
}

/* [NAME:]N[,CODE][,sticky|,short] */
static void
ask (const char *value)
{
  const char *colon = strchr (value, ':'), *comma;

  snprintf (asked, sizeof asked, "%s", value);
  failing = false;
  sticky = strstr (value, "sticky") != NULL;
  is_short = strstr (value, "short") != NULL;
  code = CUDA_ERROR_LAUNCH_FAILED;
  function_name[0] = '\0';
  if (colon) {
    snprintf (function_name, sizeof function_name, "%.*s", (int)(colon - value),
        value);
    value = colon + 1;
  }
  countdown = strtol (value, NULL, 10);
  comma = strchr (value, ',');
  if (comma && strtol (comma + 1, NULL, 10) > 0)
    code = (CUresult)strtol (comma + 1, NULL, 10);
}

/* Whether a driver waits in the call for all work of the context. */
static bool
waits_for_all (const char *function)
{
  return strncmp (function, "cuMemFree", 9) == 0 ||
         strcmp (function, "cuModuleUnload") == 0 ||
         strcmp (function, "cuCtxSynchronize") == 0 ||
         (strncmp (function, "cuMemcpy", 8) == 0 &&
             !strstr (function, "Async"));
}

CUresult
standin_enter (const char *function)
{
  const char *value = getenv ("TFX_STANDIN_FAIL");
  char text[128];

  pthread_mutex_lock (&lock);
  if (standin_context_check (function) != CUDA_SUCCESS)
    return standin_context_check (function);
  if (standin_context () && standin_context ()->is_hung &&
      waits_for_all (function))
    return standin_fault (CUDA_ERROR_UNKNOWN,
        "%s waits for a kernel that does not end", function);
  if (!value)
    value = "";
  if (strcmp (value, asked) != 0)
    ask (value);
  if (failing && sticky)
    return code;
  if (function_name[0] && strcmp (function_name, function))
    return CUDA_SUCCESS;
  if (failing && is_short)
    return code;
  if (countdown <= 0)
    return CUDA_SUCCESS;
  if (--countdown > 0)
    return CUDA_SUCCESS;
  failing = true;
  snprintf (text, sizeof text, "injected %d into %s", (int)code, function);
  report (text);
  return code;
}

void
standin_pause (bool sleeps)
{
  pthread_mutex_unlock (&lock);
  if (sleeps)
    usleep (50);
  pthread_mutex_lock (&lock);
}

CUresult
standin_leave (CUresult result)
{
  pthread_mutex_unlock (&lock);
  return result;
}
