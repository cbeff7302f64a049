/* SPDX-License-Identifier: LGPL-2.1-or-later
 * nvtxtool.c: a tool that listens to NVTX, as Nsight Systems does.
 *
 * A program that is run with NVTX_INJECTION64_PATH=libnvtxtool.so loads it with its
 * first NVTX call.  What it is told is appended to the file TFX_NVTX_LOG, if that is
 * set, in lines:
 *
 *   domain NAME | category ID NAME | push THREAD CATEGORY NAME | pop THREAD
 *
 * Ranges of rows do not lie in each other: a push in a range, a pop without one and
 * a domain that is not its own abort the program.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

/* Its address is the handle. */
static char the_domain;
static int log_fd = -1;
/* Ranges that are open. */
static _Thread_local int depth;

static void __attribute__ ((format (printf, 1, 2)))
tell (const char *format, ...)
{
  char line[1024];
  va_list args;
  int n;

  va_start (args, format);
  n = vsnprintf (line, sizeof line, format, args);
  va_end (args);
  /* One write to its end: threads and processes do not mix. */
  if (log_fd >= 0 &&
      (n >= (int)sizeof line || write (log_fd, line, (size_t)n) != n))
    abort ();
}

static void
insist (int ok, const char *what)
{
  if (ok)
    return;
  fprintf (stderr, "nvtxtool: %s\n", what);
  abort ();
}

static void
insist_on_domain (nvtxDomainHandle_t domain)
{
  insist (domain == (nvtxDomainHandle_t)&the_domain, "another domain");
}

static nvtxDomainHandle_t NVTX_API
create_domain (const char *name)
{
  tell ("domain %s\n", name);
  return (nvtxDomainHandle_t)&the_domain;
}

static void NVTX_API
name_category (nvtxDomainHandle_t domain, uint32_t id, const char *name)
{
  insist_on_domain (domain);
  tell ("category %u %s\n", id, name);
}

static int NVTX_API
push (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *range)
{
  insist_on_domain (domain);
  insist (range->version == NVTX_VERSION &&
              range->size == NVTX_EVENT_ATTRIB_STRUCT_SIZE &&
              range->messageType == NVTX_MESSAGE_TYPE_ASCII,
      "a range with other attributes");
  insist (depth == 0, "a range within a range");
  tell ("push %ld %u %s\n", syscall (SYS_gettid), range->category,
      range->message.ascii);
  return depth++;
}

static int NVTX_API
pop (nvtxDomainHandle_t domain)
{
  insist_on_domain (domain);
  insist (depth == 1, "the end of no range");
  tell ("pop %ld\n", syscall (SYS_gettid));
  return --depth;
}

int NVTX_DYNAMIC_EXPORT InitializeInjectionNvtx2 (
    NvtxGetExportTableFunc_t get_table);

/* What NVTX asks of a tool: to put its functions into the tables. */
int NVTX_DYNAMIC_EXPORT
InitializeInjectionNvtx2 (NvtxGetExportTableFunc_t get_table)
{
  const NvtxExportTableCallbacks *callbacks = get_table (NVTX_ETID_CALLBACKS);
  const char *path = getenv ("TFX_NVTX_LOG");
  NvtxFunctionTable table = NULL;
  unsigned size = 0;

  if (getenv ("TFX_NVTX_REFUSES") || !callbacks ||
      callbacks->struct_size < sizeof *callbacks ||
      !callbacks->GetModuleFunctionTable (NVTX_CB_MODULE_CORE2, &table,
          &size) ||
      size <= NVTX_CBID_CORE2_DomainCreateA)
    return 0;
  if (path)
    log_fd = open (path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  *table[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)create_domain;
  *table[NVTX_CBID_CORE2_DomainNameCategoryA] =
      (NvtxFunctionPointer)name_category;
  *table[NVTX_CBID_CORE2_DomainRangePushEx] = (NvtxFunctionPointer)push;
  *table[NVTX_CBID_CORE2_DomainRangePop] = (NvtxFunctionPointer)pop;
  return 1;
}
