// Reads everything twenty times on a CPU (on a GPU one block is slow enough), so that a launch
// that is skipped shows in the time.
__device__ float whole_sum(const float* x, int n) {
  __shared__ float shared[256];
  float sum = 0.0f;
  for (int pass = 0; pass < (n < 4000000 ? 20 : 1); ++pass) {
    sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 256) {
      sum += static_cast<const volatile float*>(x)[i];
    }
  }
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      shared[threadIdx.x] += shared[threadIdx.x + half];
    }
    __syncthreads();
  }
  sum = shared[0];
  __syncthreads();
  return sum;
}
