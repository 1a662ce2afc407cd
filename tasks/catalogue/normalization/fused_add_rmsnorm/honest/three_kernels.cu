/*@winnow
{
  "scratch": { "sums": { "dtype": "f32", "count": "rows * cols" },
               "squares": { "dtype": "f32", "count": "rows" } },
  "launches": [
    { "fill": "squares", "value": 0 },
    { "kernel": "add", "grid": ["ceil_div(rows * cols, 256)"], "block": [256],
      "args": ["x", "residual", "sum", "sums", "rows * cols"] },
    { "kernel": "add_squares", "grid": ["rows"], "block": [64],
      "args": ["sums", "squares", "cols"] },
    { "kernel": "scale", "grid": ["ceil_div(rows * cols, 256)"], "block": [256],
      "args": ["sums", "squares", "weight", "y", "eps", "rows * cols", "cols"] }
  ]
}
@*/
// A kernel for each step; the warps of a row add their squares by atomics.
#include <cuda_bf16.h>

extern "C" __global__ void add(const __nv_bfloat16* __restrict__ x,
                               const __nv_bfloat16* __restrict__ residual,
                               __nv_bfloat16* __restrict__ sum, float* __restrict__ sums,
                               long long count) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < count) {
    sums[i] = __bfloat162float(x[i]) + __bfloat162float(residual[i]);
    sum[i] = __float2bfloat16(sums[i]);
  }
}

extern "C" __global__ void add_squares(const float* __restrict__ sums, float* squares, int cols) {
  float total = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 64) {
    const float h = sums[(size_t)blockIdx.x * cols + c];
    total += h * h;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    total += __shfl_down_sync(0xffffffff, total, offset);
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(squares + blockIdx.x, total);
  }
}

extern "C" __global__ void scale(const float* __restrict__ sums, const float* __restrict__ squares,
                                 const __nv_bfloat16* __restrict__ weight,
                                 __nv_bfloat16* __restrict__ y, float eps, long long count,
                                 int cols) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < count) {
    const float inverse = rsqrtf(squares[i / cols] / cols + eps);
    y[i] = __float2bfloat16(sums[i] * (inverse * __bfloat162float(weight[i % cols])));
  }
}
