/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// A complete host program with allocations, launches and a print of success.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void axpy(const float*, const float*, float*, float, int);

int main() {
  float* z;
  cudaMalloc(&z, 4096);
  cudaMemset(z, 0, 4096);
  axpy<<<1, 256>>>(z, z, z, 1.0f, 1024);
  cudaDeviceSynchronize();
  printf("correct\n");
  return 0;
}

extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = 0.0f;
  }
}
