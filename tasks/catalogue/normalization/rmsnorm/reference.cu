/*@winnow
{ "launches": [ { "kernel": "rmsnorm_reference", "grid": ["ceil_div(rows, 32)"], "block": [32],
                  "args": ["x", "weight", "y", "y_magnitude", "eps", "rows", "cols"] } ] }
@*/
#include <cuda_bf16.h>

extern "C" __global__ void rmsnorm_reference(const __nv_bfloat16* x, const __nv_bfloat16* weight,
                                             double* y, double* magnitude, float eps,
                                             long long rows, long long cols) {
  const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= rows) {
    return;
  }
  double squares = 0;
  for (long long c = 0; c < cols; ++c) {
    const double value = (float)x[row * cols + c];
    squares += value * value;
  }
  const double scale = 1 / sqrt(squares / cols + eps);
  for (long long c = 0; c < cols; ++c) {
    const long long at = row * cols + c;
    y[at] = (double)(float)x[at] * scale * (double)(float)weight[c];
    magnitude[at] = fabs(y[at]);
  }
}
