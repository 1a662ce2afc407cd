/*@winnow
{
  "launches": [
    { "kernel": "gemm", "grid": ["ceil_div(n, 64)", "m"], "block": [64],
      "args": ["a", "b", "c", "n", "k"] }
  ]
}
@*/
// One thread an output, what each addition loses carried along (Kahan).
__global__ void gemm(const float* __restrict__ a, const float* __restrict__ b,
                     float* __restrict__ c, int n, int k) {
  const int row = blockIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) {
    return;
  }
  float sum = 0.0f, lost = 0.0f;
  for (int p = 0; p < k; ++p) {
    const float term = a[(size_t)row * k + p] * b[(size_t)p * n + column] - lost;
    const float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  c[(size_t)row * n + column] = sum;
}
