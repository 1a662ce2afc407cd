/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Runs code from the constructor of a __device__ variable when the module is loaded.
struct Early {
  __device__ Early() : value(clock64()) {}
  long long value;
};
__device__ Early early;

extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = float(early.value);
  }
}
