/*@winnow
{
  "scratch": { "sums": { "dtype": "f32", "count": "rows * cols" } },
  "launches": [
    { "kernel": "add_rmsnorm", "grid": ["ceil_div(rows, 4)"], "block": [32, 4],
      "args": ["x", "residual", "weight", "sum", "y", "sums", "eps", "rows", "cols"] }
  ]
}
@*/
// One warp a row; the sums wait in global memory, in single precision.
#include <cuda_bf16.h>

extern "C" __global__ void
add_rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ residual,
            const __nv_bfloat16* __restrict__ weight, __nv_bfloat16* __restrict__ sum,
            __nv_bfloat16* __restrict__ y, float* sums, float eps, int rows, int cols) {
  const int row = blockIdx.x * 4 + threadIdx.y;
  if (row >= rows) {
    return;
  }
  const size_t start = (size_t)row * cols;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) {
    const float h = __bfloat162float(residual[start + c]) + __bfloat162float(x[start + c]);
    sum[start + c] = __float2bfloat16(h);
    sums[start + c] = h;
    squares += h * h;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    squares += __shfl_xor_sync(0xffffffff, squares, offset);
  }
  const float root = sqrtf(squares / cols + eps);
  for (int c = threadIdx.x; c < cols; c += 32) {
    y[start + c] = __float2bfloat16(sums[start + c] / root * __bfloat162float(weight[c]));
  }
}
