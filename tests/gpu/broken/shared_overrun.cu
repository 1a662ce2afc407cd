/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// 1 MiB past the start of shared memory: outside of the block's window.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  __shared__ float staged[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  volatile float* past = staged + (1 << 18);
  past[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  if (i < n) {
    z[i] = alpha * past[threadIdx.x] + y[i];
  }
}
