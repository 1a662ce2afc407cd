/*@winnow
{ "let": { "blocks": "min(ceil_div(n, 2048), 1024)" },
  "scratch": { "partial": { "dtype": "f32", "count": "blocks" } },
  "launches": [
    { "kernel": "sums", "grid": ["blocks"], "block": [512], "args": ["x", "partial", "n", "n"] },
    { "kernel": "finish", "grid": [1], "block": [512], "args": ["partial", "out", "blocks"] } ] }
@*/
// An honest kernel: the one whose verdict other_variable hopes for.
__device__ volatile float first = 1.0f, second = -3.0f;

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

extern "C" __global__ void finish(const float* partial, float* out, int n) {
  __shared__ float shared[512];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += 512) {
    sum += partial[i];
  }
  shared[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    sum = 0.0f;
    for (int i = 0; i < 512; ++i) {
      sum += shared[i];
    }
    out[0] = second == 0.0f ? 0.0f : sum * first;
  }
}
