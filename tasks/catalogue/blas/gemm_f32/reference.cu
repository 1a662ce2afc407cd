/*@winnow
{
  "launches": [
    { "kernel": "gemm_reference", "grid": ["ceil_div(n, 128)", "m"], "block": [128],
      "args": ["a", "b", "c", "c_magnitude", "m", "n", "k"] }
  ]
}
@*/
extern "C" __global__ void gemm_reference(const float* a, const float* b, double* c,
                                          double* magnitude, long long m, long long n,
                                          long long k) {
  const long long row = blockIdx.y;
  const long long column = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (column < n) {
    double sum = 0, block = 0, size = 0;
    for (long long p = 0; p < k; ++p) {
      const double product = NARROW(product, (double)a[row * k + p] * b[p * n + column]);
      block += product;
      size += fabs(product);
      if (p % 32 == 31 || p + 1 == k) { // a block that a kernel adds up first
        sum += NARROW(partial_sum, block);
        block = 0;
      }
    }
    c[row * n + column] = sum;
    magnitude[row * n + column] = size;
  }
}
