/*@winnow
{
  "params": { "BLOCK": [256, 128] },
  "let": { "blocks": "min(ceil_div(n, 4 * BLOCK), 512)" },
  "scratch": { "partial": { "dtype": "f32", "count": "blocks" } },
  "launches": [
    { "kernel": "block_sums<{BLOCK}>", "grid": ["blocks"], "block": ["BLOCK"],
      "args": ["x", "partial", "n"] },
    { "kernel": "block_sums<{BLOCK}>", "grid": [1], "block": ["BLOCK"],
      "args": ["partial", "out", "blocks"] }
  ]
}
@*/
// Two passes: every block sums a grid-stride share in shared memory, one block sums the blocks.
template <int BLOCK>
__global__ void block_sums(const float* __restrict__ x, float* __restrict__ sums, int n) {
  __shared__ float shared[BLOCK];
  float sum = 0.0f;
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) {
    sum += x[i];
  }
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      shared[threadIdx.x] += shared[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = shared[0];
  }
}
