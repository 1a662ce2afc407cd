/*@winnow
{ "launches": [ { "kernel": "bias_relu_reference", "grid": ["ceil_div(rows * cols, 64)"],
                  "block": [64],
                  "args": ["x", "bias", "y", "y_magnitude", "rows * cols", "cols"] } ] }
@*/
#include <cuda_bf16.h>

extern "C" __global__ void bias_relu_reference(const __nv_bfloat16* x, const __nv_bfloat16* bias,
                                               double* y, double* magnitude, long long count,
                                               long long cols) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < count) {
    const double value = (float)x[i], shift = (float)bias[i % cols];
    y[i] = fmax(0.0, NARROW(sum, value + shift));
    magnitude[i] = fabs(value) + fabs(shift);
  }
}
