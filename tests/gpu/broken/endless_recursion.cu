/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
__device__ __noinline__ float deeper(volatile float* z, int depth, int n) {
  volatile float frame[256];
  frame[depth % 256] = z[depth % n];
  return deeper(z, depth + 1, n) + frame[(depth + 1) % 256]; // no end
}

extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + deeper(z, 0, n);
  }
}
