/*@winnow
{
  "launches": [
    { "kernel": "axpy", "grid": ["ceil_div(n, 512)"], "block": [128],
      "args": ["x", "y", "z", "alpha", "n"] }
  ]
}
@*/
// Four elements a thread, a block's width apart; the product is rounded before the sum.
extern "C" __global__ void axpy(const float* __restrict__ x, const float* __restrict__ y,
                                float* __restrict__ z, float alpha, int n) {
  const long long first = blockIdx.x * 512LL + threadIdx.x;
  for (int part = 0; part < 4; ++part) {
    const long long i = first + part * 128;
    if (i < n) {
      z[i] = __fadd_rn(__fmul_rn(alpha, x[i]), y[i]);
    }
  }
}
