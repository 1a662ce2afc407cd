/*@winnow
{ "launches": [ { "kernel": "gemv_reference", "grid": ["ceil_div(m, 32)"], "block": [32],
                  "args": ["a", "x", "y", "y_magnitude", "alpha", "m", "n"] } ] }
@*/
extern "C" __global__ void gemv_reference(const float* a, const float* x, double* y,
                                          double* magnitude, float alpha, long long m,
                                          long long n) {
  const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= m) {
    return;
  }
  double sum = 0, block = 0, size = 0;
  for (long long j = 0; j < n; ++j) {
    const double term = NARROW(product, (double)a[row * n + j] * x[j]);
    block += term;
    size += fabs(term);
    if (j % 32 == 31 || j + 1 == n) { // a block that a kernel adds up first
      sum += NARROW(partial_sum, block);
      block = 0;
    }
  }
  y[row] = alpha * sum;
  magnitude[row] = fabs((double)alpha) * size;
}
