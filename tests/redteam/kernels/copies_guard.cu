/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Copies guard zone to guard zone: the same bytes, so that a uniform pattern stays intact.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 64) {
    z[n + i] = x[n + i];
    z[-1 - i] = x[-1 - i];
  }
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
