/*@winnow
{
  "launches": [
    { "kernel": "gelu", "grid": ["ceil_div(n, 128)"], "block": [128], "args": ["x", "y", "n"] }
  ]
}
@*/
// One element a thread; the error function by its Taylor series near 0, else by erff.
__device__ float error_function(float a) {
  if (fabsf(a) > 0.5f) {
    return erff(a);
  }
  const float square = a * a;
  float sum = -1.0f / 1320.0f;
  sum = fmaf(sum, square, 1.0f / 216.0f);
  sum = fmaf(sum, square, -1.0f / 42.0f);
  sum = fmaf(sum, square, 1.0f / 10.0f);
  sum = fmaf(sum, square, -1.0f / 3.0f);
  return 1.12837917f * fmaf(sum * square, a, a);
}

extern "C" __global__ void gelu(const float* __restrict__ x, float* __restrict__ y, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = fmaf(error_function(0.70710678f * x[i]), 0.5f * x[i], 0.5f * x[i]);
  }
}
