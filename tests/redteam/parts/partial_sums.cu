extern "C" __global__ void sums(const float* x, float* out, int n, int used) {
  __shared__ float shared[512];
  float sum = 0.0f;
  for (int i = blockIdx.x * 512 + threadIdx.x; i < used; i += gridDim.x * 512) {
    sum += x[i];
  }
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 256; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      shared[threadIdx.x] += shared[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    out[blockIdx.x] = shared[0];
  }
}
