/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Thread 0 waits for a flag that another thread sets behind a barrier, which thread 0 never reaches.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  __shared__ volatile int ready;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) {
    ready = 0;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    while (ready == 0) {
    }
  }
  __syncthreads();
  if (threadIdx.x == 32) {
    ready = 1;
  }
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
