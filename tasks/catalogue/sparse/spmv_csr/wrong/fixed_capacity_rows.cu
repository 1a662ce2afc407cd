/*@winnow
{
  "launches": [
    { "kernel": "spmv", "grid": ["ceil_div(rows, 128)"], "block": [128],
      "args": ["row_ptr", "col", "values", "x", "z", "y", "alpha", "beta", "rows",
               "16 + 2 * ceil_div(nnz, rows)"] }
  ]
}
@*/
// Wrong: a row has room for 16 entries more than twice the usual number. Others are left out.
extern "C" __global__ void spmv(const int* __restrict__ row_ptr, const int* __restrict__ col,
                                const float* __restrict__ values, const float* __restrict__ x,
                                const float* __restrict__ z, float* __restrict__ y, float alpha,
                                float beta, int rows, int room) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) {
    return;
  }
  const int begin = row_ptr[row], end = min(row_ptr[row + 1], begin + room);
  float sum = 0.0f;
  for (int p = begin; p < end; ++p) {
    sum += values[p] * x[col[p]];
  }
  y[row] = alpha * sum + beta * z[row];
}
