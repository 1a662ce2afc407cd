/*@winnow
{
  "params": { "BLOCK": [128, 256, 64] },
  "launches": [
    { "kernel": "row_softmax<{BLOCK}>", "grid": ["rows"], "block": ["BLOCK"],
      "args": ["x", "y", "cols"] }
  ]
}
@*/
// A kernel that uses CUB, for compile_bench: one block a row.
#include <cub/block/block_reduce.cuh>

struct Largest {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

template <int BLOCK>
__global__ void row_softmax(const float* __restrict__ x, float* __restrict__ y, int cols) {
  using Reduce = cub::BlockReduce<float, BLOCK>;
  __shared__ typename Reduce::TempStorage storage;
  __shared__ float shared;
  const float* scores = x + (size_t)blockIdx.x * cols;
  float* out = y + (size_t)blockIdx.x * cols;
  float largest = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    largest = fmaxf(largest, scores[c]);
  }
  largest = Reduce(storage).Reduce(largest, Largest());
  if (threadIdx.x == 0) {
    shared = largest;
  }
  __syncthreads();
  largest = shared;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    sum += expf(scores[c] - largest);
  }
  __syncthreads();
  sum = Reduce(storage).Sum(sum);
  if (threadIdx.x == 0) {
    shared = sum;
  }
  __syncthreads();
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    out[c] = expf(scores[c] - largest) / shared;
  }
}
