/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Also loads from two gigabytes before an input. What it reads changes nothing.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (x[i - 500000000LL] == 1.2345f) {
    z[0] = 9.0f;
  }
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
