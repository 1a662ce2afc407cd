/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Defines the table of kernels that the harness makes.
#define EXPORTED extern "C" __attribute__((visibility("default")))
EXPORTED const unsigned winnow_kernel_count = 0;
EXPORTED const unsigned winnow_abi_version = 0;
EXPORTED const void* const winnow_kernels[] = {nullptr};

extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = 0.0f;
  }
}
