/*@winnow
{
  "launches": [
    { "kernel": "gelu", "grid": ["min(ceil_div(n, 128), 256)"], "block": [128], "args": ["x", "y",
"n"] }
  ]
}
@*/
// A grid-stride loop; the normal distribution function instead of the error function.
extern "C" __global__ void gelu(const float* __restrict__ x, float* __restrict__ y, long long n) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * (long long)blockDim.x) {
    y[i] = x[i] * normcdff(x[i]);
  }
}
