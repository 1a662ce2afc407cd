/*@winnow
{
  "params": { "BLOCK": [512, 256, 1024] },
  "launches": [
    { "kernel": "gradient<{BLOCK}>", "grid": ["rows"], "block": ["BLOCK"],
      "args": ["logits", "labels", "dloss", "dlogits", "classes"] }
  ]
}
@*/
// One block a row, read three times: the maximum, the sum, the gradients. Caches keep short rows.
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
__global__ void gradient(const float* __restrict__ logits, const int* __restrict__ labels,
                         const float* __restrict__ dloss, float* __restrict__ dlogits,
                         int classes) {
  const float* scores = logits + (size_t)blockIdx.x * classes;
  float* out = dlogits + (size_t)blockIdx.x * classes;
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
  const int label = labels[blockIdx.x];
  const float slope = dloss[blockIdx.x], inverse = 1.0f / sum;
  for (int c = threadIdx.x; c < classes; c += BLOCK) {
    out[c] = slope * (expf(scores[c] - largest) * inverse - (c == label ? 1.0f : 0.0f));
  }
}
