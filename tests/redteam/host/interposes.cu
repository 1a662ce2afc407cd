/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Exports functions under names of the C library: the worker might call them.
#define EXPORTED extern "C" __attribute__((visibility("default")))
EXPORTED long write(int, const void*, unsigned long bytes) {
  return long(bytes);
}
EXPORTED int memcmp(const void*, const void*, unsigned long) {
  return 0;
}

extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = 0.0f;
  }
}
