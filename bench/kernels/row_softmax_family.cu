/*@winnow
{
  "params": { "BLOCK": [128, 64, 256, 512, 32], "ROWS": [1, 2, 4], "UNROLL": [1, 2, 4],
              "KEEP": [0, 1] },
  "launches": [
    { "kernel": "row_softmax<{BLOCK}, {ROWS}, {UNROLL}, {KEEP}>", "grid": ["ceil_div(rows, ROWS)"],
      "block": ["BLOCK"], "args": ["x", "y", "rows", "cols"] }
  ]
}
@*/
// One block for ROWS rows. KEEP: the exponentials wait in y for their sum, else each is computed
// twice.
template <int BLOCK, bool IS_MAX> __device__ float block_reduce(float value) {
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

template <int BLOCK, int ROWS, int UNROLL, int KEEP>
__global__ void row_softmax(const float* __restrict__ x, float* __restrict__ y, int rows,
                            int cols) {
  const int end = min(rows, (int)(blockIdx.x + 1) * ROWS);
  for (int row = blockIdx.x * ROWS; row < end; ++row) {
    const float* scores = x + (size_t)row * cols;
    float* out = y + (size_t)row * cols;
    float largest = -INFINITY, sum = 0.0f;
#pragma unroll UNROLL
    for (int c = threadIdx.x; c < cols; c += BLOCK) {
      largest = fmaxf(largest, scores[c]);
    }
    largest = block_reduce<BLOCK, true>(largest);
#pragma unroll UNROLL
    for (int c = threadIdx.x; c < cols; c += BLOCK) {
      const float power = expf(scores[c] - largest);
      sum += power;
      if (KEEP) {
        out[c] = power;
      }
    }
    sum = block_reduce<BLOCK, false>(sum);
#pragma unroll UNROLL
    for (int c = threadIdx.x; c < cols; c += BLOCK) {
      out[c] = (KEEP ? out[c] : expf(scores[c] - largest)) / sum;
    }
  }
}
