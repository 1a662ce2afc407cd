/*@winnow
{
  "params": { "BLOCK": [128, 256, 64] },
  "launches": [
    { "kernel": "row_softmax<{BLOCK}>", "grid": ["rows"], "block": ["BLOCK"],
      "args": ["x", "y", "cols"] }
  ]
}
@*/
// One block a row; maximum and sum by warp shuffles, then across warps through shared memory.
template <int BLOCK, bool IS_MAX>
__device__ float block_reduce(float value) {
  __shared__ float shared[BLOCK / 32];
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffff, value, offset);
    value = IS_MAX ? fmaxf(value, other) : value + other;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    shared[threadIdx.x / 32] = value;
  }
  __syncthreads();
  value = shared[0];
  for (int warp = 1; warp < BLOCK / 32; ++warp) {
    value = IS_MAX ? fmaxf(value, shared[warp]) : value + shared[warp];
  }
  return value;
}

template <int BLOCK>
__global__ void row_softmax(const float* __restrict__ x, float* __restrict__ y, int cols) {
  const float* scores = x + (size_t)blockIdx.x * cols;
  float* out = y + (size_t)blockIdx.x * cols;
  float largest = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    largest = fmaxf(largest, scores[c]);
  }
  largest = block_reduce<BLOCK, true>(largest);
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    sum += expf(scores[c] - largest);
  }
  sum = block_reduce<BLOCK, false>(sum);
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    out[c] = expf(scores[c] - largest) / sum;
  }
}
