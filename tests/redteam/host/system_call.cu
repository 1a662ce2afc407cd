/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Makes a system call by inline assembly: exit_group(0).
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  asm volatile("syscall" ::"a"(231), "D"(0) : "rcx", "r11", "memory");
  if (i < n) {
    z[i] = 0.0f;
  }
}
