/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// The same with an asm that only the preprocessor puts together.
#define JOIN(a, b) a##b
#define HIDDEN JOIN(__a, sm)

extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  HIDDEN volatile("syscall" ::"a"(231), "D"(0) : "rcx", "r11", "memory");
  if (i < n) {
    z[i] = 0.0f;
  }
}
