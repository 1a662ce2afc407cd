/*@winnow
{
  "launches": [
    { "kernel": "row_sum", "grid": ["h"], "block": [256], "args": ["in", "out", "w"] }
  ]
}
@*/
// A block a row: coalesced loads, then sums of warps by shuffles.
__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_down_sync(0xffffffff, value, offset);
  }
  return value;
}

extern "C" __global__ void row_sum(const float* __restrict__ in, float* __restrict__ out, int w) {
  __shared__ float of_warps[8];
  const float* row = in + (size_t)blockIdx.x * w;
  float sum = 0.0f;
#pragma unroll 8
  for (int c = threadIdx.x; c < w; c += 256) {
    sum += row[c];
  }
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) {
    of_warps[threadIdx.x / 32] = sum;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = warp_sum(threadIdx.x < 8 ? of_warps[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) {
      out[blockIdx.x] = sum;
    }
  }
}
