/*@winnow
{
  "launches": [
    { "kernel": "gemm", "grid": ["ceil_div(n, 4)", "m"], "block": [32, 4],
      "args": ["a", "b", "c", "n", "k"] }
  ]
}
@*/
// One warp an output: every lane takes each 32nd term, a tree of shuffles adds the lanes.
__global__ void gemm(const float* __restrict__ a, const float* __restrict__ b,
                     float* __restrict__ c, int n, int k) {
  const int row = blockIdx.y;
  const int column = blockIdx.x * 4 + threadIdx.y;
  if (column >= n) {
    return;
  }
  float sum = 0.0f;
  for (int p = threadIdx.x; p < k; p += 32) {
    sum += a[(size_t)row * k + p] * b[(size_t)p * n + column];
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_down_sync(0xffffffff, sum, offset);
  }
  if (threadIdx.x == 0) {
    c[(size_t)row * n + column] = sum;
  }
}
