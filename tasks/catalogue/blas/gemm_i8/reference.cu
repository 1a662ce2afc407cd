/*@winnow
{
  "launches": [
    { "kernel": "gemm_reference", "grid": ["ceil_div(n, 128)", "m"], "block": [128],
      "args": ["a", "b", "c", "m", "n", "k"] }
  ]
}
@*/
extern "C" __global__ void gemm_reference(const signed char* a, const signed char* b, int* c,
                                          long long m, long long n, long long k) {
  const long long row = blockIdx.y;
  const long long column = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (column < n) {
    int sum = 0;
    for (long long p = 0; p < k; ++p) {
      sum += a[row * k + p] * b[column * k + p];
    }
    c[row * n + column] = sum;
  }
}
