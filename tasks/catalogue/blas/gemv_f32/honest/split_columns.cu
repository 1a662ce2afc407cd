/*@winnow
{
  "launches": [
    { "fill": "y", "value": 0 },
    { "kernel": "gemv", "grid": ["m", "min(ceil_div(n, 256), 64)"], "block": [64],
      "args": ["a", "x", "y", "alpha", "n"] }
  ]
}
@*/
// Several blocks a row; each warp adds its sum by an atomic.
extern "C" __global__ void gemv(const float* __restrict__ a, const float* __restrict__ x, float* y,
                                float alpha, int n) {
  float sum = 0.0f;
  for (int j = blockIdx.y * 64 + threadIdx.x; j < n; j += gridDim.y * 64) {
    sum = fmaf(a[(size_t)blockIdx.x * n + j], x[j], sum);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_down_sync(0xffffffff, sum, offset);
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&y[blockIdx.x], alpha * sum);
  }
}
