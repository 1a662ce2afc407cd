/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": [0], "block": [256], "args": ["x", "y", "z", "alpha",
    "n"] } ] }
@*/
// Launches a grid of no blocks, which costs no time.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
