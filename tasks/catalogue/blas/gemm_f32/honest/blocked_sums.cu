/*@winnow
{
  "launches": [
    { "kernel": "gemm", "grid": ["ceil_div(n, 64)", "m"], "block": [64],
      "args": ["a", "b", "c", "n", "k"] }
  ]
}
@*/
// One thread an output; sums of 16 terms are formed first, then added.
__global__ void gemm(const float* __restrict__ a, const float* __restrict__ b,
                     float* __restrict__ c, int n, int k) {
  const int row = blockIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) {
    return;
  }
  float sum = 0.0f;
  for (int start = 0; start < k; start += 16) {
    float block = 0.0f;
    for (int p = start; p < min(start + 16, k); ++p) {
      block += a[(size_t)row * k + p] * b[(size_t)p * n + column];
    }
    sum += block;
  }
  c[(size_t)row * n + column] = sum;
}
