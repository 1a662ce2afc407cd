/*@winnow
{ "launches": [ { "kernel": "axpy", "when": "n < 0", "grid": ["ceil_div(n, 256)"], "block": [256],
    "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Has one launch, whose condition never holds.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
