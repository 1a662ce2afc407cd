/*@winnow
{
  "params": { "ROWS": [4, 1, 16] },
  "launches": [
    { "kernel": "spmm<{ROWS}>", "grid": ["ceil_div(rows, ROWS)"], "block": [1],
      "args": ["row_ptr", "col", "values", "b", "c", "rows", "n"] }
  ]
}
@*/
// A block is one thread with a few rows. An entry adds a multiple of a row of b to the sums of 32
// columns, which fill four vector registers.
template <int ROWS>
__global__ void spmm(const int* __restrict__ row_ptr, const int* __restrict__ col,
                     const float* __restrict__ values, const float* __restrict__ b,
                     float* __restrict__ c, int rows, int n) {
  constexpr int kColumns = 32;
  for (int row = blockIdx.x * ROWS; row < min((int)(blockIdx.x + 1) * ROWS, rows); ++row) {
    for (int left = 0; left < n; left += kColumns) {
      const int columns = min(kColumns, n - left);
      float sums[kColumns] = {};
      for (int p = row_ptr[row]; p < row_ptr[row + 1]; ++p) {
        const float* from = b + (size_t)col[p] * n + left;
        for (int j = 0; j < columns; ++j) {
          sums[j] += values[p] * from[j];
        }
      }
      for (int j = 0; j < columns; ++j) {
        c[(size_t)row * n + left + j] = sums[j];
      }
    }
  }
}
