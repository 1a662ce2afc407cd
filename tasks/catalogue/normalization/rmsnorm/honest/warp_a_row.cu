/*@winnow
{ "launches": [ { "kernel": "rmsnorm", "grid": ["ceil_div(rows, 4)"], "block": [32, 4],
                  "args": ["x", "weight", "y", "eps", "rows", "cols"] } ] }
@*/
// One warp a row, two sums a lane, lanes merged by shuffles.
#include <cuda_bf16.h>

extern "C" __global__ void rmsnorm(const __nv_bfloat16* __restrict__ x,
                                   const __nv_bfloat16* __restrict__ weight,
                                   __nv_bfloat16* __restrict__ y, float eps, int rows, int cols) {
  const int row = blockIdx.x * 4 + threadIdx.y;
  if (row >= rows) {
    return;
  }
  const __nv_bfloat16* values = x + (size_t)row * cols;
  float even = 0.0f, odd = 0.0f;
  for (int c = 2 * threadIdx.x; c < cols; c += 64) {
    const float first = __bfloat162float(values[c]);
    const float second = c + 1 < cols ? __bfloat162float(values[c + 1]) : 0.0f;
    even = fmaf(first, first, even);
    odd = fmaf(second, second, odd);
  }
  float squares = even + odd;
  for (int offset = 16; offset > 0; offset /= 2) {
    squares += __shfl_xor_sync(0xffffffff, squares, offset);
  }
  const float scale = rsqrtf(squares / cols + eps);
  for (int c = threadIdx.x; c < cols; c += 32) {
    y[(size_t)row * cols + c] =
        __float2bfloat16(__bfloat162float(values[c]) * scale * __bfloat162float(weight[c]));
  }
}
