/*@winnow
{
  "scratch": { "sums": { "dtype": "f32", "count": "rows * cols" } },
  "launches": [
    { "kernel": "add_bias", "grid": ["min(rows, 1024)"], "block": [128],
      "args": ["x", "bias", "sums", "rows", "cols"] },
    { "kernel": "relu", "grid": ["min(ceil_div(rows * cols, 128), 4096)"], "block": [128],
      "args": ["sums", "y", "rows * cols"] }
  ]
}
@*/
// Not fused: sums in single precision go to memory, and a second launch cuts them at 0.
#include <cuda_bf16.h>

extern "C" __global__ void add_bias(const __nv_bfloat16* __restrict__ x,
                                    const __nv_bfloat16* __restrict__ bias, float* sums, int rows,
                                    int cols) {
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    for (int c = threadIdx.x; c < cols; c += 128) {
      const size_t at = (size_t)row * cols + c;
      sums[at] = __bfloat162float(x[at]) + __bfloat162float(bias[c]);
    }
  }
}

extern "C" __global__ void relu(const float* __restrict__ sums, __nv_bfloat16* __restrict__ y,
                                long long count) {
  for (long long i = blockIdx.x * 128LL + threadIdx.x; i < count; i += gridDim.x * 128LL) {
    y[i] = __float2bfloat16(fmaxf(sums[i], 0.0f));
  }
}
