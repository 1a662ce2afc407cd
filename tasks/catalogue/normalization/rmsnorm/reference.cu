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
  double squares = 0, block = 0;
  for (long long c = 0; c < cols; ++c) {
    const double value = (float)x[row * cols + c];
    block += value * value;
    if (c % 128 == 127 || c + 1 == cols) { // a block that a kernel adds up first
      squares = NARROW(partial_sum, squares + block);
      block = 0;
    }
  }
  const double scale = NARROW(scale, 1 / sqrt(squares / cols + eps));
  for (long long c = 0; c < cols; ++c) {
    const long long at = row * cols + c;
    y[at] = NARROW(normalised, (float)x[at] * scale) * (float)weight[c];
    magnitude[at] = fabs(y[at]);
  }
}
