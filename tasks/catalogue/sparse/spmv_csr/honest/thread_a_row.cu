/*@winnow
{ "launches": [ { "kernel": "spmv", "grid": ["ceil_div(rows, 64)"], "block": [64],
                  "args": ["row_ptr", "col", "values", "x", "z", "y", "alpha", "beta",
                           "rows"] } ] }
@*/
// One thread a row: the longest chain of additions. The sum starts with the other vector.
extern "C" __global__ void spmv(const int* row_ptr, const int* col, const float* values,
                                const float* x, const float* z, float* y, float alpha, float beta,
                                int rows) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= rows) {
    return;
  }
  float sum = beta * z[row];
  for (int p = row_ptr[row]; p < row_ptr[row + 1]; ++p) {
    sum = fmaf(alpha * values[p], x[col[p]], sum);
  }
  y[row] = sum;
}
