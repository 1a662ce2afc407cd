/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Right for positive inputs only, as tests with inputs from [0, 1) would never notice.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * fabsf(x[i]) + y[i];
  }
}
