/*@winnow
{
  "params": { "ROWS": [4, 1, 16] },
  "launches": [
    { "kernel": "add_rmsnorm<{ROWS}>", "grid": ["ceil_div(rows, ROWS)"], "block": [1],
      "args": ["x", "residual", "weight", "sum", "y", "eps", "rows", "cols"] }
  ]
}
@*/
// A block is one thread with a few rows, and adds x and residual twice. Sixteen sums that do not
// wait for one another fill two vector registers.
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
__global__ void
add_rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ residual,
            const __nv_bfloat16* __restrict__ weight, __nv_bfloat16* __restrict__ sum,
            __nv_bfloat16* __restrict__ y, float eps, int rows, int cols) {
  for (int row = blockIdx.x * ROWS; row < min((int)(blockIdx.x + 1) * ROWS, rows); ++row) {
    const size_t start = (size_t)row * cols;
    const auto h = [&](int c) {
      return __bfloat162float(x[start + c]) + __bfloat162float(residual[start + c]);
    };
    const float squares = sum_of(cols, [&](int c) { return h(c) * h(c); });
    const float scale = 1.0f / sqrtf(squares / cols + eps);
    for (int c = 0; c < cols; ++c) {
      sum[start + c] = __float2bfloat16(h(c));
      y[start + c] = __float2bfloat16(h(c) * scale * __bfloat162float(weight[c]));
    }
  }
}
