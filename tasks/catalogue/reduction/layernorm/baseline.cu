/*@winnow
{
  "params": { "BLOCK": [128, 256, 64] },
  "launches": [
    { "kernel": "layernorm<{BLOCK}>", "grid": ["rows"], "block": ["BLOCK"],
      "args": ["x", "gamma", "beta", "y", "eps", "cols"] }
  ]
}
@*/
// One block a row; mean first, then the variance around it: two passes, well conditioned.
template <int BLOCK>
__device__ float block_sum(float value) {
  __shared__ float shared[BLOCK / 32];
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffff, value, offset);
  }
  __syncthreads();
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
__global__ void layernorm(const float* __restrict__ x, const float* __restrict__ gamma,
                          const float* __restrict__ beta, float* __restrict__ y, float eps,
                          int cols) {
  const float* values = x + (size_t)blockIdx.x * cols;
  float* out = y + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    sum += values[c];
  }
  const float mean = block_sum<BLOCK>(sum) / cols;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    const float difference = values[c] - mean;
    squares += difference * difference;
  }
  const float scale = rsqrtf(block_sum<BLOCK>(squares) / cols + eps);
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    out[c] = (values[c] - mean) * scale * gamma[c] + beta[c];
  }
}
