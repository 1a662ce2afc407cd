/*@winnow
{ "launches": [ { "kernel": "spmm_reference", "grid": ["ceil_div(rows * n, 64)"], "block": [64],
                  "args": ["row_ptr", "col", "values", "b", "c", "c_magnitude", "rows * n",
                           "n"] } ] }
@*/
extern "C" __global__ void spmm_reference(const int* row_ptr, const int* col, const float* values,
                                          const float* b, double* c, double* magnitude,
                                          long long count, long long n) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at >= count) {
    return;
  }
  const long long row = at / n;
  double sum = 0, block = 0, size = 0;
  for (long long p = row_ptr[row]; p < row_ptr[row + 1]; ++p) {
    const double product = NARROW(product, (double)values[p] * (double)b[col[p] * n + at % n]);
    block += product;
    size += fabs(product);
    if ((p - row_ptr[row]) % 32 == 31 || p + 1 == row_ptr[row + 1]) { // a kernel adds it up first
      sum += NARROW(partial_sum, block);
      block = 0;
    }
  }
  c[at] = sum;
  // The sums before the last one are a share of it if the products have a mean. Their roundings add
  // up to sqrt(count / 3) times its rounding.
  magnitude[at] = fmax(size, sqrt((row_ptr[row + 1] - row_ptr[row]) / 3.0) * fabs(sum));
}
