/*@winnow
{
  "launches": [
    { "kernel": "gemm", "grid": ["ceil_div(n, 16)", "ceil_div(m, 32)"], "block": [1],
      "args": ["a", "b", "c", "m", "n", "k"] }
  ]
}
@*/
// A block is one thread with 32 x 16 outputs. It takes 64 columns of a and b at a time into
// local memory as integers, with zeros at the edges. Four rows of sixteen sums stay in vector
// registers.
constexpr int kRows = 32, kColumns = 16, kDepth = 64;

__global__ void gemm(const signed char* __restrict__ a, const signed char* __restrict__ b,
                     int* __restrict__ c, int m, int n, int k) {
  const int top = blockIdx.y * kRows, left = blockIdx.x * kColumns;
  int sums[kRows][kColumns] = {};
  for (int start = 0; start < k; start += kDepth) {
    const int depth = min(kDepth, k - start);
    int a_tile[kRows][kDepth], b_tile[kDepth][kColumns];
    for (int i = 0; i < kRows; ++i) {
      for (int p = 0; p < depth; ++p) {
        a_tile[i][p] = top + i < m ? a[(size_t)(top + i) * k + start + p] : 0;
      }
    }
    for (int p = 0; p < depth; ++p) {
      for (int j = 0; j < kColumns; ++j) {
        b_tile[p][j] = left + j < n ? b[(size_t)(left + j) * k + start + p] : 0;
      }
    }
    for (int i = 0; i < kRows; i += 4) {
      int four[4][kColumns];
      memcpy(four, sums[i], sizeof(four));
      for (int p = 0; p < depth; ++p) {
#pragma unroll
        for (int row = 0; row < 4; ++row) {
#pragma unroll
          for (int j = 0; j < kColumns; ++j) {
            four[row][j] += a_tile[i + row][p] * b_tile[p][j];
          }
        }
      }
      memcpy(sums[i], four, sizeof(four));
    }
  }
  for (int i = 0; i < min(kRows, m - top); ++i) {
    for (int j = 0; j < min(kColumns, n - left); ++j) {
      c[(size_t)(top + i) * n + left + j] = sums[i][j];
    }
  }
}
