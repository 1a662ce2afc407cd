/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["n << 62", "n << 62", "n << 62"], "block": [256],
    "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// A grid whose extents overflow 64-bit arithmetic.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
