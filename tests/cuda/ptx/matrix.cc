/* SPDX-License-Identifier: LGPL-2.1-or-later
 * matrix.cc: products of small matrices of doubles, by all lanes of a warp:
 * D = A B + C, of M x K, K x N and M x N.  To be compiled with
 * -ffp-contract=off -fno-strict-aliasing.
 *
 * Their layout over the lanes is in the PTX ISA, "Matrix Fragments for mma"; with
 * g = lane / 4 and t = lane % 4:
 *
 *   a[v]  A[g + 8 (v % (M / 8))][t + 4 (v / (M / 8))]
 *   b[v]  B[t + 4 v][g]
 *   c[v]  C[g + 8 (v / 2)][2 t + v % 2]; d[v] likewise
 *
 * In which order a device adds up is not documented: here in that of k, each step
 * a fused multiply-add. */
#include "operation.h"

namespace ptx {
constexpr int N = 8;

template <int M, int K>
static void
multiply (Context &c, const Instruction &i, uint32_t)
{
  constexpr int n_a = M * K / WARP, n_b = K * N / WARP, n_c = M * N / WARP;
  double a[M][K], b[K][N], sum[M][N];

  /* All is read before anything is written: a target may be a source too. */
  for (int v = 0; v < n_a; v++) {
    auto *s = from<double> (c, i.s[v]);
    for (int l = 0; l < WARP; l++)
      a[l / 4 + 8 * (v % (M / 8))][l % 4 + 4 * (v / (M / 8))] = s[l];
  }
  for (int v = 0; v < n_b; v++) {
    auto *s = from<double> (c, i.s[n_a + v]);
    for (int l = 0; l < WARP; l++)
      b[l % 4 + 4 * v][l / 4] = s[l];
  }
  for (int v = 0; v < n_c; v++) {
    auto *s = from<double> (c, i.s[n_a + n_b + v]);
    for (int l = 0; l < WARP; l++)
      sum[l / 4 + 8 * (v / 2)][2 * (l % 4) + v % 2] = s[l];
  }
  for (int row = 0; row < M; row++) {
    for (int k = 0; k < K; k++) {
      for (int column = 0; column < N; column++)
        sum[row][column] =
            __builtin_fma (a[row][k], b[k][column], sum[row][column]);
    }
  }
  for (int v = 0; v < n_c; v++) {
    auto *d = to<double> (c, i.d[v]);
    for (int l = 0; l < WARP; l++)
      d[l] = sum[l / 4 + 8 * (v / 2)][2 * (l % 4) + v % 2];
  }
}

const Matrix *
find_matrix (const std::string &shape)
{
  static const Matrix all[] = {
    { "m8n8k4", 80, multiply<8, 4>, 1, 1, 2 },
    { "m16n8k4", 90, multiply<16, 4>, 2, 1, 4 },
    { "m16n8k8", 90, multiply<16, 8>, 4, 2, 4 },
  };

  for (const Matrix &m : all) {
    if (shape == m.shape)
      return &m;
  }
  return nullptr;
}
} // namespace ptx
