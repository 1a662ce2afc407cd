/*@winnow
{ "launches": [ { "kernel": "reference", "grid": ["ceil_div(rows, 32)"], "block": [32],
                  "args": ["x", "residual", "weight", "sum", "sum_magnitude", "y", "y_magnitude",
                           "eps", "rows", "cols"] } ] }
@*/
#include <cuda_bf16.h>

extern "C" __global__ void reference(const __nv_bfloat16* x, const __nv_bfloat16* residual,
                                     const __nv_bfloat16* weight, double* sum,
                                     double* sum_magnitude, double* y, double* y_magnitude,
                                     float eps, long long rows, long long cols) {
  const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= rows) {
    return;
  }
  double squares = 0, block = 0;
  for (long long c = 0; c < cols; ++c) {
    const long long at = row * cols + c;
    const double left = (float)x[at], right = (float)residual[at];
    sum[at] = NARROW(sum, left + right);
    sum_magnitude[at] = fabs(left) + fabs(right);
    block += sum[at] * sum[at];
    if (c % 128 == 127 || c + 1 == cols) { // a block that a kernel adds up first
      squares = NARROW(partial_sum, squares + block);
      block = 0;
    }
  }
  const double scale = NARROW(scale, 1 / sqrt(squares / cols + eps));
  for (long long c = 0; c < cols; ++c) {
    const long long at = row * cols + c;
    y[at] = NARROW(normalised, sum[at] * scale) * (float)weight[c];
    y_magnitude[at] = sum_magnitude[at] * scale * fabs((float)weight[c]);
  }
}
