/*@winnow
{ "launches": [ { "kernel": "attract", "grid": ["ceil_div(targets, 32)"], "block": [32],
                  "args": ["active", "source", "mass", "acceleration", "softening", "targets",
                           "sources"] } ] }
@*/
// A thread a body. The factor of every pair is rounded to half precision.
#include <cuda_fp16.h>

extern "C" __global__ void attract(const float* active, const float* source, const float* mass,
                                   float* acceleration, float softening, int targets, int sources) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= targets) {
    return;
  }
  float sum[3] = {};
  for (int j = 0; j < sources; ++j) {
    float d[3], square = softening;
    for (int c = 0; c < 3; ++c) {
      d[c] = source[3 * j + c] - active[3 * i + c];
      square += d[c] * d[c];
    }
    const float root = rsqrtf(square);
    const float factor = __half2float(__float2half_rn(mass[j] * root * root * root));
    for (int c = 0; c < 3; ++c) {
      sum[c] += factor * d[c];
    }
  }
  for (int c = 0; c < 3; ++c) {
    acceleration[3 * i + c] = sum[c];
  }
}
