/*@winnow
{ "launches": [ { "kernel": "rmsnorm", "grid": ["ceil_div(rows, 32)"], "block": [32],
                  "args": ["x", "weight", "y", "eps", "rows", "cols"] } ] }
@*/
// One thread a row: the longest chain of additions. Scale and weight are multiplied first.
#include <cuda_bf16.h>

extern "C" __global__ void rmsnorm(const __nv_bfloat16* x, const __nv_bfloat16* weight,
                                   __nv_bfloat16* y, float eps, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) {
    return;
  }
  const __nv_bfloat16* values = x + (size_t)row * cols;
  float squares = 0.0f;
  for (int c = 0; c < cols; ++c) {
    const float value = __bfloat162float(values[c]);
    squares = fmaf(value, value, squares);
  }
  const float scale = 1.0f / sqrtf(squares / cols + eps);
  for (int c = 0; c < cols; ++c) {
    const float factor = scale * __bfloat162float(weight[c]);
    y[(size_t)row * cols + c] = __float2bfloat16(__bfloat162float(values[c]) * factor);
  }
}
