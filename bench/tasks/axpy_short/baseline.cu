/*@winnow
{
  "params": { "BLOCK": [256, 128, 512] },
  "launches": [
    { "kernel": "axpy", "grid": ["ceil_div(n, BLOCK)"], "block": ["BLOCK"],
      "args": ["x", "y", "z", "alpha", "n"] }
  ]
}
@*/
// One thread an element: coalesced loads and stores, guarded at the end.
extern "C" __global__ void axpy(const float* __restrict__ x, const float* __restrict__ y,
                                float* __restrict__ z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
