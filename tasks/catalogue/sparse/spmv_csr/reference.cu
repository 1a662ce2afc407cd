/*@winnow
{ "launches": [ { "kernel": "spmv_reference", "grid": ["ceil_div(rows, 32)"], "block": [32],
                  "args": ["row_ptr", "col", "values", "x", "z", "y", "y_magnitude", "alpha",
                           "beta", "rows"] } ] }
@*/
extern "C" __global__ void spmv_reference(const int* row_ptr, const int* col, const float* values,
                                          const float* x, const float* z, double* y,
                                          double* magnitude, float alpha, float beta,
                                          long long rows) {
  const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= rows) {
    return;
  }
  double sum = 0, block = 0, size = 0;
  for (long long p = row_ptr[row]; p < row_ptr[row + 1]; ++p) {
    const double product = NARROW(product, (double)values[p] * (double)x[col[p]]);
    block += product;
    size += fabs(product);
    if ((p - row_ptr[row]) % 32 == 31 || p + 1 == row_ptr[row + 1]) { // a kernel adds it up first
      sum += NARROW(partial_sum, block);
      block = 0;
    }
  }
  const double added = (double)beta * (double)z[row];
  y[row] = (double)alpha * sum + added;
  magnitude[row] = fabs((double)alpha) * size + fabs(added);
}
