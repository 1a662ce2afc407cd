/*@winnow
{ "launches": [ { "kernel": "silu_reference", "grid": ["ceil_div(rows * cols, 64)"], "block": [64],
                  "args": ["x", "y", "y_magnitude", "rows * cols", "cols"] } ] }
@*/
#include <cuda_bf16.h>

extern "C" __global__ void silu_reference(const __nv_bfloat16* x, double* y, double* magnitude,
                                          long long count, long long cols) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < count) {
    const long long at = i / cols * 2 * cols + i % cols;
    const double gate = (float)x[at], up = (float)x[at + cols];
    const double exponential = NARROW(exponential, exp(-gate));
    y[i] = NARROW(silu, gate / (1 + exponential)) * up;
    // Rounding the exponent's argument moves the exponential in proportion to it.
    magnitude[i] = fabs(y[i]) * (1 + fabs(gate));
  }
}
