/*@winnow
{
  "launches": [
    { "kernel": "gelu", "grid": ["ceil_div(n, 128)"], "block": [128], "args": ["x", "y", "n"] }
  ]
}
@*/
// One element a thread; erfc does not cancel for negative arguments.
extern "C" __global__ void gelu(const float* __restrict__ x, float* __restrict__ y, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = 0.5f * x[i] * erfcf(-0.70710678f * x[i]);
  }
}
