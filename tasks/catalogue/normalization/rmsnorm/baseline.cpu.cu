/*@winnow
{
  "params": { "ROWS": [4, 1, 16] },
  "launches": [
    { "kernel": "rmsnorm<{ROWS}>", "grid": ["ceil_div(rows, ROWS)"], "block": [1],
      "args": ["x", "weight", "y", "eps", "rows", "cols"] }
  ]
}
@*/
// A block is one thread with a few rows. Sixteen sums that do not wait for one another fill two
// vector registers.
#include <cuda_bf16.h>

template <typename Term> __device__ float sum_of(int n, Term term) {
  constexpr int kLanes = 16;
  float lanes[kLanes] = {};
  int i = 0;
  for (; i + kLanes <= n; i += kLanes) {
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      lanes[lane] += term(i + lane);
    }
  }
  float sum = 0.0f;
  for (; i < n; ++i) {
    sum += term(i);
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    sum += lanes[lane];
  }
  return sum;
}

template <int ROWS>
__global__ void rmsnorm(const __nv_bfloat16* __restrict__ x,
                        const __nv_bfloat16* __restrict__ weight, __nv_bfloat16* __restrict__ y,
                        float eps, int rows, int cols) {
  for (int row = blockIdx.x * ROWS; row < min((int)(blockIdx.x + 1) * ROWS, rows); ++row) {
    const __nv_bfloat16* values = x + (size_t)row * cols;
    __nv_bfloat16* out = y + (size_t)row * cols;
    const float squares = sum_of(cols, [&](int c) {
      const float value = __bfloat162float(values[c]);
      return value * value;
    });
    const float scale = 1.0f / sqrtf(squares / cols + eps);
    for (int c = 0; c < cols; ++c) {
      out[c] = __float2bfloat16(__bfloat162float(values[c]) * scale * __bfloat162float(weight[c]));
    }
  }
}
