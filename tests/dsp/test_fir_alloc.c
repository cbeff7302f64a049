/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_fir_alloc.c: the FIR engine allocates nothing while samples flow, and
 * memory that runs short where it is taken is reported and does no harm.
 *
 * The linker hands every call of the program to the functions below
 * (-Wl,--wrap; see meson.build).
 */
#include "common.h"
#include "fircase.h"
#include "tap.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Counts while it is on; the n-th allocation fails if fail_at is n > 0. */
static bool watching;
static unsigned n_allocations, n_frees, n_locks, fail_at;

static bool
allocation_fails (void)
{
  if (!watching)
    return false;
  n_allocations++;
  return fail_at && n_allocations == fail_at;
}

/* The linker's names for the functions that are wrapped and for those of the
 * library. */
void *__real_malloc (size_t size);
void *__real_calloc (size_t n, size_t size);
void *__real_realloc (void *memory, size_t size);
void *__real_aligned_alloc (size_t alignment, size_t size);
int __real_posix_memalign (void **memory, size_t alignment, size_t size);
void __real_free (void *memory);

void *__wrap_malloc (size_t size);
void *__wrap_calloc (size_t n, size_t size);
void *__wrap_realloc (void *memory, size_t size);
void *__wrap_aligned_alloc (size_t alignment, size_t size);
int __wrap_posix_memalign (void **memory, size_t alignment, size_t size);
void __wrap_free (void *memory);

void *
__wrap_malloc (size_t size)
{
  return allocation_fails () ? NULL : __real_malloc (size);
}

void *
__wrap_calloc (size_t n, size_t size)
{
  return allocation_fails () ? NULL : __real_calloc (n, size);
}

void *
__wrap_realloc (void *memory, size_t size)
{
  return allocation_fails () ? NULL : __real_realloc (memory, size);
}

void *
__wrap_aligned_alloc (size_t alignment, size_t size)
{
  return allocation_fails () ? NULL : __real_aligned_alloc (alignment, size);
}

int
__wrap_posix_memalign (void **memory, size_t alignment, size_t size)
{
  return allocation_fails () ? ENOMEM
                             : __real_posix_memalign (memory, alignment, size);
}

void
__wrap_free (void *memory)
{
  if (watching && memory)
    n_frees++;
  __real_free (memory);
}

int __real_pthread_mutex_lock (pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock (pthread_mutex_t *mutex);

int
__wrap_pthread_mutex_lock (pthread_mutex_t *mutex)
{
  if (watching)
    n_locks++;
  return __real_pthread_mutex_lock (mutex);
}

static void
watch (unsigned fail)
{
  n_allocations = n_frees = n_locks = 0;
  fail_at = fail;
  watching = true;
}

static void
unwatch (void)
{
  watching = false;
}

static const struct
{
  size_t n_taps, block_frames;
  TfxFirMethod method;
} specs[] = {
  { 100, 0, TFX_FIR_DIRECT },
  { 500, 1024, TFX_FIR_FFT },
  { 30000, 128, TFX_FIR_FFT },
};

#define N_SPECS (sizeof specs / sizeof *specs)
#define N_FRAMES 30000

/* Runs, with changes of taps that nobody else holds; only the run is
 * watched. */
static void
run_all (const TfxConvolverSpec *spec, TfxConvolver *convolver, double *samples)
{
  unsigned sum[3] = { 0 };
  size_t at = 0;

  for (unsigned i = 0; at < N_FRAMES; i++) {
    size_t n = fir_split_random (N_FRAMES - at);
    TfxBlock block =
        tfx_block_interleaved (samples + 2 * at, TFX_SAMPLE_F64, 2, n);

    watch (0);
    tfx_convolver_run (convolver, &block, &block);
    unwatch ();
    sum[0] += n_allocations, sum[1] += n_frees, sum[2] += n_locks;
    at += n;
    if (i % 5 == 0) {
      TfxConvolverTaps *taps = fir_taps_new (spec);
      tfx_convolver_set_taps (convolver, taps, i % 10 ? 0 : 700);
      tfx_convolver_taps_unref (&taps);
    }
  }
  n_allocations = sum[0], n_frees = sum[1], n_locks = sum[2];
}

static void
test_run (void)
{
  TapMany many = tap_many ("running neither allocates, frees nor locks");
  double *samples = test_alloc (2 * N_FRAMES * sizeof *samples);

  for (size_t s = 0; s < N_SPECS; s++) {
    FirCase *c = fir_case_new (FIR_NOISE, specs[s].n_taps, 1, 2, 1, 1);
    TfxConvolverSpec spec = fir_case_spec (c, TFX_SAMPLE_F64, specs[s].method,
        specs[s].block_frames);
    TfxConvolver *convolver = fir_convolver_new (&spec);

    test_noise_f64 (samples, 2 * N_FRAMES);
    run_all (&spec, convolver, samples);
    tap_many_check (&many, n_allocations == 0 && n_frees == 0 && n_locks == 0,
        "%zu taps: %u allocated, %u freed, %u locked", specs[s].n_taps,
        n_allocations, n_frees, n_locks);
    tfx_convolver_free (&convolver);
    fir_case_free (&c);
  }
  free (samples);
  tap_many_end (&many);
}

/* Other taps, history and rest want no memory. */
static void
test_state (void)
{
  TapMany many = tap_many ("nor do the other calls allocate");
  double *history = test_alloc (2 * N_FRAMES * sizeof *history);

  for (size_t s = 0; s < N_SPECS; s++) {
    FirCase *c = fir_case_new (FIR_NOISE, specs[s].n_taps, 1, 2, 1, 1);
    TfxConvolverSpec spec = fir_case_spec (c, TFX_SAMPLE_F64, specs[s].method,
        specs[s].block_frames);
    TfxConvolver *convolver = fir_convolver_new (&spec);
    TfxConvolverTaps *taps = fir_taps_new (&spec);

    watch (0);
    tfx_convolver_get_history (convolver, history);
    tfx_convolver_set_history (convolver, history);
    tfx_convolver_state_peak (convolver);
    tfx_convolver_set_taps (convolver, taps, 10);
    tfx_convolver_reset (convolver);
    unwatch ();
    tap_many_check (&many, n_allocations == 0 && n_locks == 0,
        "%zu taps: %u allocated, %u locked", specs[s].n_taps, n_allocations,
        n_locks);
    tfx_convolver_taps_unref (&taps);
    tfx_convolver_free (&convolver);
    fir_case_free (&c);
  }
  free (history);
  tap_many_end (&many);
}

/* The watch sees the engine's calls, and every one of them may fail. */
static void
test_short (void)
{
  TapMany many = tap_many ("memory that runs short is reported");

  for (size_t s = 0; s < N_SPECS; s++) {
    FirCase *c = fir_case_new (FIR_NOISE, specs[s].n_taps, 1, 2, 1, 1);
    const TfxConvolverSpec spec = fir_case_spec (c, TFX_SAMPLE_F32,
        specs[s].method, specs[s].block_frames);
    unsigned n_failed = 0;

    for (unsigned fail = 1; fail < 1000; fail++) {
      TfxConvolverTaps *taps;
      TfxConvolver *convolver = NULL;
      int result;

      watch (fail);
      result = tfx_convolver_taps_new (&spec, &taps);
      if (!result)
        result = tfx_convolver_new (taps, &convolver);
      unwatch ();
      tfx_convolver_taps_unref (&taps);
      tap_many_check (&many, (result == 0) == (convolver != NULL),
          "%zu taps, allocation %u: %d", specs[s].n_taps, fail, result);
      tfx_convolver_free (&convolver);
      if (!result)
        break;
      n_failed++;
      tap_many_check (&many, result == -ENOMEM, "%zu taps, allocation %u: %d",
          specs[s].n_taps, fail, result);
    }
    tap_many_check (&many, n_failed >= 3, "%zu taps: only %u allocations",
        specs[s].n_taps, n_failed);
    fir_case_free (&c);
  }
  tap_many_end (&many);
}

static const TapTest tests[] = {
  { "run", test_run },
  { "state", test_state },
  { "short", test_short },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
