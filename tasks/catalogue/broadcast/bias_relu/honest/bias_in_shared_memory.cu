/*@winnow
{ "launches": [ { "kernel": "bias_relu", "grid": ["ceil_div(cols, 64)", "min(rows, 64)"],
                  "block": [64], "args": ["x", "bias", "y", "rows", "cols"] } ] }
@*/
// A block walks down 64 columns; their bias stands in shared memory as floats.
#include <cuda_bf16.h>

extern "C" __global__ void bias_relu(const __nv_bfloat16* __restrict__ x,
                                     const __nv_bfloat16* __restrict__ bias,
                                     __nv_bfloat16* __restrict__ y, int rows, int cols) {
  __shared__ float shifts[64];
  const int first = blockIdx.x * 64, width = min(64, cols - first);
  if (threadIdx.x < width) {
    shifts[threadIdx.x] = __bfloat162float(bias[first + threadIdx.x]);
  }
  __syncthreads();
  for (int row = blockIdx.y; row < rows; row += gridDim.y) {
    if (threadIdx.x < width) {
      const size_t at = (size_t)row * cols + first + threadIdx.x;
      y[at] = __float2bfloat16(fmaxf(0.0f, shifts[threadIdx.x] + __bfloat162float(x[at])));
    }
  }
}
