/*@winnow
{
  "params": { "ROWS": [16, 4, 64] },
  "launches": [
    { "kernel": "spmv<{ROWS}>", "grid": ["ceil_div(rows, ROWS)"], "block": [1],
      "args": ["row_ptr", "col", "values", "x", "z", "y", "alpha", "beta", "rows"] }
  ]
}
@*/
// A block is one thread with a few rows; four sums of a row do not wait for one another.
template <int ROWS>
__global__ void spmv(const int* __restrict__ row_ptr, const int* __restrict__ col,
                     const float* __restrict__ values, const float* __restrict__ x,
                     const float* __restrict__ z, float* __restrict__ y, float alpha, float beta,
                     int rows) {
  for (int row = blockIdx.x * ROWS; row < min((int)(blockIdx.x + 1) * ROWS, rows); ++row) {
    const int end = row_ptr[row + 1];
    float sums[4] = {};
    int p = row_ptr[row];
    for (; p + 4 <= end; p += 4) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        sums[i] += values[p + i] * x[col[p + i]];
      }
    }
    for (; p < end; ++p) {
      sums[0] += values[p] * x[col[p]];
    }
    y[row] = alpha * ((sums[0] + sums[1]) + (sums[2] + sums[3])) + beta * z[row];
  }
}
