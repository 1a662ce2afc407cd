/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// 65,792 bytes; a kernel may declare 49,152.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  __shared__ float staged[16448];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = threadIdx.x; j < 16448; j += blockDim.x) {
    staged[j] = x[(i + j) % n];
  }
  __syncthreads();
  if (i < n) {
    z[i] = alpha * staged[threadIdx.x] + y[i];
  }
}
