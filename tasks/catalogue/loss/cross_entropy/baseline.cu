/*@winnow
{
  "params": { "BLOCK": [256, 512, 128] },
  "launches": [
    { "kernel": "cross_entropy<{BLOCK}>", "grid": ["rows"], "block": ["BLOCK"],
      "args": ["logits", "labels", "loss", "classes"] }
  ]
}
@*/
// One block a row, read twice: the maximum, then the sum.
template <int BLOCK, bool IS_MAX> __device__ float block_reduce(float value) {
  __shared__ float shared[BLOCK / 32];
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffff, value, offset);
    value = IS_MAX ? fmaxf(value, other) : value + other;
  }
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
__global__ void cross_entropy(const float* __restrict__ logits, const int* __restrict__ labels,
                              float* __restrict__ loss, int classes) {
  const float* scores = logits + (size_t)blockIdx.x * classes;
  float largest = -INFINITY;
  for (int c = threadIdx.x; c < classes; c += BLOCK) {
    largest = fmaxf(largest, scores[c]);
  }
  largest = block_reduce<BLOCK, true>(largest);
  float sum = 0.0f;
  for (int c = threadIdx.x; c < classes; c += BLOCK) {
    sum += expf(scores[c] - largest);
  }
  sum = block_reduce<BLOCK, false>(sum);
  if (threadIdx.x == 0) {
    loss[blockIdx.x] = logf(sum) + (largest - scores[labels[blockIdx.x]]);
  }
}
