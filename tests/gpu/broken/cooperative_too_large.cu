/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": [100000], "block": [256], "cooperative": true,
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// A grid-wide barrier needs all blocks on the device at once; 100,000 never are.
#include <cooperative_groups.h>
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  cooperative_groups::this_grid().sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    z[i] = alpha * x[i] + y[i];
  }
}
