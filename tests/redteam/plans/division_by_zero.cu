/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["n / (n - n)"], "block": [256], "args": ["x", "y",
    "z", "alpha", "n"] } ] }
@*/
// Divides by zero while the plan is computed.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
