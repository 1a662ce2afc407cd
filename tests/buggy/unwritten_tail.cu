/*@winnow
{ "launches": [ { "kernel": "axpy4", "grid": ["max(1, n / 4 / 64)"], "block": [64],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Vectors of four, and nobody for the one to three elements that remain.
extern "C" __global__ void axpy4(const float* x, const float* y, float* z, float alpha, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
    for (int j = 4 * i; j < 4 * i + 4; ++j) {
      z[j] = alpha * x[j] + y[j];
    }
  }
}
