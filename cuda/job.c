/* SPDX-License-Identifier: LGPL-2.1-or-later
 * job.c: see job.h. */
#include "job.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct TfxJob
{
  TfxKernelId id;
  char name[TFX_KERNEL_NAME_SIZE];
  int compute;
  pthread_t thread;
  bool has_ended; /* atomic; until then the thread owns the members below */
  int ret;
  void *image;
  size_t size;
  char why[256];
  TfxJob *next;
};

static void *
job_run (void *data)
{
  TfxJob *job = data;

  job->ret = tfx_compile_kernel (&job->id, job->compute, &job->image,
      &job->size, job->why, sizeof job->why);
  __atomic_store_n (&job->has_ended, true, __ATOMIC_RELEASE);
  return NULL;
}

static bool
has_ended (const TfxJob *job)
{
  return __atomic_load_n (&job->has_ended, __ATOMIC_ACQUIRE);
}

/* False if there is no thread to be had, or no memory. */
static bool
job_begin (TfxJob **jobs, const TfxKernelId *id, int compute, const char *name)
{
  TfxJob *job = calloc (1, sizeof *job);

  if (!job)
    return false;
  job->id = *id;
  job->compute = compute;
  snprintf (job->name, sizeof job->name, "%s", name);
  if (pthread_create (&job->thread, NULL, job_run, job) != 0) {
    free (job);
    return false;
  }
  job->next = *jobs;
  *jobs = job;
  return true;
}

/* The result goes to the caller. */
static int
job_end (TfxJob **link, void **image, size_t *size, char *why, size_t why_size)
{
  TfxJob *job = *link;
  int ret = job->ret;

  pthread_join (job->thread, NULL);
  *image = job->image;
  *size = job->size;
  snprintf (why, why_size, "%s", job->why);
  *link = job->next;
  free (job);
  return ret;
}

int
tfx_job_take (TfxJob **jobs, const TfxKernelId *id, int compute, void **image,
    size_t *size, char *why, size_t why_size)
{
  char name[TFX_KERNEL_NAME_SIZE];

  tfx_kernel_name (id, name);
  for (TfxJob **link = jobs; *link; link = &(*link)->next) {
    if (strcmp ((*link)->name, name) == 0)
      return has_ended (*link) ? job_end (link, image, size, why, why_size)
                               : -EINPROGRESS;
  }
  return job_begin (jobs, id, compute, name) ? -EINPROGRESS : -EAGAIN;
}

bool
tfx_job_is_any (const TfxJob *jobs)
{
  for (; jobs; jobs = jobs->next) {
    if (!has_ended (jobs))
      return true;
  }
  return false;
}

void
tfx_job_clear (TfxJob **jobs)
{
  while (*jobs) {
    TfxJob *next = (*jobs)->next;

    pthread_join ((*jobs)->thread, NULL);
    free ((*jobs)->image);
    free (*jobs);
    *jobs = next;
  }
}
