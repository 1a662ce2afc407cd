/*@winnow
{
  "params": { "BLOCK": [256, 512, 128] },
  "launches": [
    { "kernel": "cumsum<{BLOCK}>", "grid": ["rows"], "block": ["BLOCK"], "args": ["x", "y", "cols"]
}
  ]
}
@*/
// One block a row, tile by tile: scans in warps, then of the sums of warps; the carry goes on.
template <int BLOCK>
__global__ void cumsum(const float* __restrict__ x, float* __restrict__ y, int cols) {
  __shared__ float sums[BLOCK / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float carry = 0.0f;
  for (int start = 0; start < cols; start += BLOCK) {
    const int c = start + threadIdx.x;
    float value = c < cols ? x[(size_t)blockIdx.x * cols + c] : 0.0f;
    for (int offset = 1; offset < 32; offset *= 2) {
      const float left = __shfl_up_sync(0xffffffff, value, offset);
      value += lane >= offset ? left : 0.0f;
    }
    if (lane == 31) {
      sums[warp] = value;
    }
    __syncthreads();
    float before = carry;
    for (int w = 0; w < BLOCK / 32; ++w) {
      before += w < warp ? sums[w] : 0.0f;
      carry += sums[w];
    }
    if (c < cols) {
      y[(size_t)blockIdx.x * cols + c] = before + value;
    }
    __syncthreads();
  }
}
