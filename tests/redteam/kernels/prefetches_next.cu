/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Prefetches the inputs of the next launch into L2 and computes only a share of this one.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    asm volatile("prefetch.global.L2::evict_last [%0];" ::"l"(x + (i + n / 2) % n));
    z[i] = i % 2 == 0 ? alpha * x[i] + y[i] : alpha * x[i - 1] + y[i - 1];
  }
}
