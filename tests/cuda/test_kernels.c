#include "common.h"
#include "tap.h"
#include "tfx-cuda.h"
#include "plan.h"
#include "backend.h"
#include "engine.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>

static void
test_first (void)
{
  TfxCuda *cuda;
  char why[256];
  int ret = tfx_cuda_new (-1, &cuda, why, sizeof why);
  if (ret < 0) { tap_check (false, "%s", why); return; }
  tap_diag ("%s %s", tfx_cuda_name (cuda), tfx_cuda_backend (cuda)->kernel);
  static const size_t lens[] = { 1, 7, 8, 9, 31, 64, 100, 511, 1024, 2048, 4096, 5000, 20000, 300000 };
  for (int n_sos = 1; n_sos <= 13; n_sos += n_sos < 7 ? 1 : 6)
  for (unsigned ch = 1; ch <= 9; ch += 4)
  for (unsigned i = 0; i < sizeof lens / sizeof *lens; i++) {
    size_t n = lens[i];
    if (n > 5000 && (ch > 1 || n_sos > 2)) continue;
    TfxSos sos[64];
    for (int k = 0; k < n_sos; k++) sos[k] = test_random_section (0.999);
    TfxExec *a = test_exec_new (sos, n_sos, ch, tfx_cuda_backend (cuda));
    TfxExec *b = test_exec_new (sos, n_sos, ch, tfx_cpu_backend_for ("c"));
    double *x = malloc (n * ch * 8), *y = malloc (n * ch * 8), *z = malloc (n * ch * 8);
    double e = 0, p = 0;
    int r = 0;
    for (int rep = 0; rep < 2; rep++) {
    test_noise_f64 (x, n * ch);
    memcpy (y, x, n * ch * 8); memcpy (z, x, n * ch * 8);
    r |= test_exec_f64 (a, y, ch, n);
    r |= test_exec_f64 (b, z, ch, n);
    for (size_t k = 0; k < n * ch; k++) { if (!(fabs (y[k] - z[k]) <= e)) e = fabs (y[k] - z[k]); p = fmax (p, fabs (z[k])); }
    }
    if (r || !(e < 1e-9 * p)) {
      char text[256]; tfx_cuda_error (cuda, text, sizeof text);
      tap_diag ("%d sections %u ch %zu frames: error %g of %g, ret %d %s", n_sos, ch, n, e, p, r, text);
    }
    tap_check (r == 0 && e < 1e-9 * p, "x");
    tfx_exec_free (&a); tfx_exec_free (&b);
    free (x); free (y); free (z);
  }
  tfx_cuda_unref (&cuda);
}
static const TapTest tests[] = { { "first", test_first }, { NULL, NULL } };
int main (int argc, char **argv) { return tap_main (argc, argv, tests); }
