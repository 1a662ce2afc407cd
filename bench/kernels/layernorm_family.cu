/*@winnow
{
  "params": { "BLOCK": [128, 64, 256, 512, 32], "WARPS": [0, 1], "UNROLL": [1, 2, 4, 8] },
  "let": { "rows_a_block": "WARPS ? BLOCK / 32 : 1" },
  "launches": [
    { "kernel": "layernorm<{BLOCK}, {WARPS}, {UNROLL}>", "grid": ["ceil_div(rows, rows_a_block)"],
      "block": ["BLOCK"], "args": ["x", "gamma", "beta", "y", "eps", "rows", "cols"] }
  ]
}
@*/
// A row is the work of one warp or of the whole block.
template <int BLOCK, int WARPS> __device__ float sum_of_row(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffff, value, offset);
  }
  if (WARPS) {
    return value;
  }
  __shared__ float shared[BLOCK / 32];
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

template <int BLOCK, int WARPS, int UNROLL>
__global__ void layernorm(const float* __restrict__ x, const float* __restrict__ gamma,
                          const float* __restrict__ beta, float* __restrict__ y, float eps,
                          int rows, int cols) {
  const int step = WARPS ? 32 : BLOCK;
  const int row = WARPS ? blockIdx.x * (BLOCK / 32) + threadIdx.x / 32 : blockIdx.x;
  if (row >= rows) {
    return;
  }
  const float* values = x + (size_t)row * cols;
  float* out = y + (size_t)row * cols;
  float sum = 0.0f, squares = 0.0f;
#pragma unroll UNROLL
  for (int c = threadIdx.x % step; c < cols; c += step) {
    sum += values[c];
  }
  const float mean = sum_of_row<BLOCK, WARPS>(sum) / cols;
#pragma unroll UNROLL
  for (int c = threadIdx.x % step; c < cols; c += step) {
    const float difference = values[c] - mean;
    squares += difference * difference;
  }
  const float scale = rsqrtf(sum_of_row<BLOCK, WARPS>(squares) / cols + eps);
#pragma unroll UNROLL
  for (int c = threadIdx.x % step; c < cols; c += step) {
    out[c] = (values[c] - mean) * scale * gamma[c] + beta[c];
  }
}
