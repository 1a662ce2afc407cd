/*@winnow
{ "launches": [ { "kernel": "add_rmsnorm", "grid": ["ceil_div(rows, 32)"], "block": [32],
                  "args": ["x", "residual", "weight", "sum", "y", "eps", "rows", "cols"] } ] }
@*/
// One thread a row: the longest chain of additions; each sum is formed twice.
#include <cuda_bf16.h>

extern "C" __global__ void add_rmsnorm(const __nv_bfloat16* x, const __nv_bfloat16* residual,
                                       const __nv_bfloat16* weight, __nv_bfloat16* sum,
                                       __nv_bfloat16* y, float eps, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) {
    return;
  }
  const size_t start = (size_t)row * cols;
  float squares = 0.0f;
  for (int c = 0; c < cols; ++c) {
    const float h = __bfloat162float(x[start + c]) + __bfloat162float(residual[start + c]);
    squares = fmaf(h, h, squares);
  }
  const float scale = 1.0f / sqrtf(squares / cols + eps);
  for (int c = 0; c < cols; ++c) {
    const float h = __bfloat162float(x[start + c]) + __bfloat162float(residual[start + c]);
    y[start + c] = __float2bfloat16(h * (scale * __bfloat162float(weight[c])));
    sum[start + c] = __float2bfloat16(h);
  }
}
