/* SPDX-License-Identifier: LGPL-2.1-or-later
 * limit.c: independent multiply-adds, enough of them to hide their latency.
 *
 * Compiled without the vectorizer: "c" is one double at a time. */
#include "limit.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define STEPS 4096

/* The values stay near 1: x = x m + a has its fixed point a / (1 - m) there.
 * Fourteen chains and two constants fill the sixteen registers. */
#define N_CHAINS 14
#define FACTOR 0.75
#define TERM 0.25

/* What the results go to, so that they are computed. */
static volatile double sink;

static void
run_c (unsigned n)
{
  double x[N_CHAINS], sum = 0.0;

  for (unsigned k = 0; k < N_CHAINS; k++)
    x[k] = 1.0 + k;
  for (unsigned i = 0; i < n; i++) {
#pragma GCC unroll 14
    for (unsigned k = 0; k < N_CHAINS; k++)
      x[k] = x[k] * FACTOR + TERM;
  }
  for (unsigned k = 0; k < N_CHAINS; k++)
    sum += x[k];
  sink = sum;
}

#if defined(__x86_64__)
static void
run_sse2 (unsigned n)
{
  const __m128d m = _mm_set1_pd (FACTOR), a = _mm_set1_pd (TERM);
  __m128d x[N_CHAINS], sum = a;

  for (unsigned k = 0; k < N_CHAINS; k++)
    x[k] = _mm_set1_pd (1.0 + k);
  for (unsigned i = 0; i < n; i++) {
#pragma GCC unroll 14
    for (unsigned k = 0; k < N_CHAINS; k++)
      x[k] = _mm_add_pd (_mm_mul_pd (x[k], m), a);
  }
  for (unsigned k = 0; k < N_CHAINS; k++)
    sum = _mm_add_pd (sum, x[k]);
  sink = _mm_cvtsd_f64 (sum);
}

__attribute__ ((target ("avx2,fma"))) static void
run_avx2 (unsigned n)
{
  const __m256d m = _mm256_set1_pd (FACTOR), a = _mm256_set1_pd (TERM);
  __m256d x[N_CHAINS], sum = a;

  for (unsigned k = 0; k < N_CHAINS; k++)
    x[k] = _mm256_set1_pd (1.0 + k);
  for (unsigned i = 0; i < n; i++) {
#pragma GCC unroll 14
    for (unsigned k = 0; k < N_CHAINS; k++)
      x[k] = _mm256_fmadd_pd (x[k], m, a);
  }
  for (unsigned k = 0; k < N_CHAINS; k++)
    sum = _mm256_add_pd (sum, x[k]);
  sink = _mm256_cvtsd_f64 (sum);
}

__attribute__ ((target ("avx512f"))) static void
run_avx512 (unsigned n)
{
  const __m512d m = _mm512_set1_pd (FACTOR), a = _mm512_set1_pd (TERM);
  __m512d x[N_CHAINS], sum = a;

  for (unsigned k = 0; k < N_CHAINS; k++)
    x[k] = _mm512_set1_pd (1.0 + k);
  for (unsigned i = 0; i < n; i++) {
#pragma GCC unroll 14
    for (unsigned k = 0; k < N_CHAINS; k++)
      x[k] = _mm512_fmadd_pd (x[k], m, a);
  }
  for (unsigned k = 0; k < N_CHAINS; k++)
    sum = _mm512_add_pd (sum, x[k]);
  sink = _mm512_cvtsd_f64 (sum);
}
#elif defined(__aarch64__)
static void
run_neon (unsigned n)
{
  const float64x2_t m = vdupq_n_f64 (FACTOR), a = vdupq_n_f64 (TERM);
  float64x2_t x[N_CHAINS], sum = a;

  for (unsigned k = 0; k < N_CHAINS; k++)
    x[k] = vdupq_n_f64 (1.0 + k);
  for (unsigned i = 0; i < n; i++) {
#pragma GCC unroll 14
    for (unsigned k = 0; k < N_CHAINS; k++)
      x[k] = vfmaq_f64 (a, x[k], m);
  }
  for (unsigned k = 0; k < N_CHAINS; k++)
    sum = vaddq_f64 (sum, x[k]);
  sink = vaddvq_f64 (sum);
}
#endif

typedef struct Loop
{
  const char *kernel;
  unsigned width;
  void (*run) (unsigned n);
} Loop;

static const Loop loops[] = {
  { "c", 1, run_c },
#if defined(__x86_64__)
  { "sse2", 2, run_sse2 },
  { "avx2", 4, run_avx2 },
  { "avx512", 8, run_avx512 },
#elif defined(__aarch64__)
  { "neon", 2, run_neon },
#endif
};

static bool
is_supported (const char *kernel)
{
#if defined(__x86_64__)
  if (strcmp (kernel, "avx512") == 0)
    return __builtin_cpu_supports ("avx512f");
  if (strcmp (kernel, "avx2") == 0)
    return __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma");
#endif
  return true;
}

static bool
limit_run (void *data, unsigned n_blocks, BenchTime *time)
{
  const Loop *loop = data;
  BenchTime start = bench_time_now ();

  for (unsigned i = 0; i < n_blocks; i++)
    loop->run (STEPS);
  *time = bench_time_since (start);
  return true;
}

bool
limit_init_subject (BenchSubject *subject, const char *kernel)
{
  for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
    if (strcmp (loops[i].kernel, kernel) != 0 || !is_supported (kernel))
      continue;
    *subject = (BenchSubject){
      .name = "one multiply-add",
      .variant = kernel,
      .units = (double)STEPS * N_CHAINS * loops[i].width,
      .limit = BENCH_NONE,
      .run = limit_run,
      .data = (void *)&loops[i],
    };
    return true;
  }
  return false;
}
