/*@winnow
{ "launches": [ { "kernel": "bias_relu", "grid": ["ceil_div(cols, 256)", "rows"], "block": [256],
                  "args": ["x", "bias", "y", "rows", "cols"] } ] }
@*/
// Leaves ReLU out: the sum is right wherever it is positive, as with inputs from 0 to 1.
#include <cuda_bf16.h>

extern "C" __global__ void bias_relu(const __nv_bfloat16* x, const __nv_bfloat16* bias,
                                     __nv_bfloat16* y, int rows, int cols) {
  const int column = blockIdx.x * 256 + threadIdx.x;
  if (int(blockIdx.y) < rows && column < cols) {
    const size_t at = (size_t)blockIdx.y * cols + column;
    y[at] = __float2bfloat16(__bfloat162float(x[at]) + __bfloat162float(bias[column]));
  }
}
