/*@winnow
{
  "params": { "SIDE": [16, 32, 8] },
  "launches": [
    { "kernel": "gemm<{SIDE}>", "grid": ["ceil_div(n, SIDE)", "ceil_div(m, SIDE)"], "block": [1],
      "args": ["a", "b", "c", "m", "n", "k"] }
  ]
}
@*/
// A block is one thread with a tile of c, whose sums stay in the first cache. An element of a adds
// a multiple of a part of a row of b, by whole vector registers.
template <int SIDE>
__global__ void gemm(const float* __restrict__ a, const float* __restrict__ b,
                     float* __restrict__ c, int m, int n, int k) {
  const int top = blockIdx.y * SIDE, rows = min(SIDE, m - top);
  const int left = blockIdx.x * SIDE, columns = min(SIDE, n - left);
  float sums[SIDE][SIDE] = {};
  for (int p = 0; p < k; ++p) {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        sums[i][j] += a[(top + i) * k + p] * b[p * n + left + j];
      }
    }
  }
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      c[(top + i) * n + left + j] = sums[i][j];
    }
  }
}
