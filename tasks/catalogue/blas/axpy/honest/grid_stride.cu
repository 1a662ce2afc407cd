/*@winnow
{
  "params": { "BLOCK": [256, 96] },
  "launches": [
    { "kernel": "axpy", "grid": ["min(ceil_div(n, BLOCK), 64)"], "block": ["BLOCK"],
      "args": ["x", "y", "z", "alpha", "n"] }
  ]
}
@*/
// Few blocks that walk over the vectors; product and sum in one rounding.
extern "C" __global__ void axpy(const float* __restrict__ x, const float* __restrict__ y,
                                float* __restrict__ z, float alpha, int n) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += stride) {
    z[i] = fmaf(alpha, x[i], y[i]);
  }
}
