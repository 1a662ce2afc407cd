/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Defines the clock of the harness itself and returns no time at all.
extern "C" __attribute__((visibility("default"))) unsigned long long winnow_clock() {
  return 0;
}
extern "C" __attribute__((visibility("default"))) int clock_gettime(int, void*) {
  return 0;
}

extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = 0.0f;
  }
}
