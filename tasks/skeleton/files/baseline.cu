/*@winnow
{
  "params": { "BLOCK": [256, 128, 512] },
  "launches": [
    { "kernel": "rows_by_blocks<{BLOCK}>", "grid": ["rows"], "block": ["BLOCK"],
      "args": ["x", "y", "scale", "cols"] }
  ]
}
@*/
// One block a row; warps add by shuffles, then through shared memory. TO DO: a decent kernel that a
// good engineer writes in an hour: coalesced, with shared memory where the operation needs it.
template <int BLOCK> __device__ float block_sum(float value) {
  __shared__ float shared[BLOCK / 32];
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffff, value, offset);
  }
  if (threadIdx.x % 32 == 0) {
    shared[threadIdx.x / 32] = value;
  }
  __syncthreads();
  float sum = 0.0f;
  for (int warp = 0; warp < BLOCK / 32; ++warp) {
    sum += shared[warp];
  }
  return sum;
}

template <int BLOCK>
__global__ void rows_by_blocks(const float* __restrict__ x, float* __restrict__ y, float scale,
                               int cols) {
  const float* in = x + (size_t)blockIdx.x * cols;
  float* out = y + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    sum += 0.0f; // TO DO: what is added over a row, or no sum
  }
  sum = block_sum<BLOCK>(sum);
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    out[c] = 0.0f; // TO DO: the element
  }
}
