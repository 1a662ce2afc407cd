/*@winnow
{
  "params": { "BLOCK": [256, 512, 128] },
  "launches": [
    { "kernel": "argmax<{BLOCK}>", "grid": ["rows"], "block": ["BLOCK"],
      "args": ["x", "out", "cols"] }
  ]
}
@*/
// One block a row; value and index by warp shuffles, then across warps through shared memory.
__device__ void keep_best(float& value, int& index, float other, int other_index) {
  if (other > value || (other == value && other_index < index)) {
    value = other;
    index = other_index;
  }
}

template <int BLOCK>
__global__ void argmax(const float* __restrict__ x, int* __restrict__ out, int cols) {
  __shared__ float values[BLOCK / 32];
  __shared__ int indices[BLOCK / 32];
  const float* row = x + (size_t)blockIdx.x * cols;
  float value = -INFINITY;
  int index = cols;
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    keep_best(value, index, row[c], c);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffff, value, offset);
    const int other_index = __shfl_xor_sync(0xffffffff, index, offset);
    keep_best(value, index, other, other_index);
  }
  if (threadIdx.x % 32 == 0) {
    values[threadIdx.x / 32] = value;
    indices[threadIdx.x / 32] = index;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int warp = 1; warp < BLOCK / 32; ++warp) {
      keep_best(value, index, values[warp], indices[warp]);
    }
    out[blockIdx.x] = index;
  }
}
