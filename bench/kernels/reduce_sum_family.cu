/*@winnow
{
  "params": { "BLOCK": [256, 128, 64, 512], "BLOCKS": [512, 128, 1024, 2048],
              "UNROLL": [1, 2, 4, 8], "SHUFFLE": [0, 1] },
  "let": { "blocks": "min(ceil_div(n, UNROLL * BLOCK), BLOCKS)" },
  "scratch": { "partial": { "dtype": "f32", "count": "blocks" } },
  "launches": [
    { "kernel": "block_sums<{BLOCK}, {UNROLL}, {SHUFFLE}>", "grid": ["blocks"], "block": ["BLOCK"],
      "args": ["x", "partial", "n"] },
    { "kernel": "block_sums<{BLOCK}, 1, {SHUFFLE}>", "grid": [1], "block": ["BLOCK"],
      "args": ["partial", "out", "blocks"] }
  ]
}
@*/
// Two passes: every block sums a grid-stride share, one block sums the blocks.
template <int BLOCK, int SHUFFLE> __device__ float block_sum(float sum) {
  __shared__ float shared[BLOCK];
  int count = BLOCK;
  if (SHUFFLE) {
    for (int offset = 16; offset > 0; offset /= 2) {
      sum += __shfl_xor_sync(0xffffffff, sum, offset);
    }
    count = BLOCK / 32;
  }
  if (!SHUFFLE || threadIdx.x % 32 == 0) {
    shared[SHUFFLE ? threadIdx.x / 32 : threadIdx.x] = sum;
  }
  __syncthreads();
  for (int half = count / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      shared[threadIdx.x] += shared[threadIdx.x + half];
    }
    __syncthreads();
  }
  return shared[0];
}

template <int BLOCK, int UNROLL, int SHUFFLE>
__global__ void block_sums(const float* __restrict__ x, float* __restrict__ sums, int n) {
  float sum = 0.0f;
  const int step = gridDim.x * BLOCK;
  for (int first = blockIdx.x * BLOCK + threadIdx.x; first < n; first += UNROLL * step) {
    for (int k = 0; k < UNROLL; ++k) {
      sum += first + k * step < n ? x[first + k * step] : 0.0f;
    }
  }
  sum = block_sum<BLOCK, SHUFFLE>(sum);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
  }
}
