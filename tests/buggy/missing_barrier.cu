/*@winnow
{
  "launches": [
    { "kernel": "tree_sum", "grid": [1], "block": [256], "args": ["x", "out", "n"] }
  ]
}
@*/
// A tree reduction without barriers between its levels.
extern "C" __global__ void tree_sum(const float* x, float* out, int n) {
  __shared__ float shared[256];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += 256) {
    sum += x[i];
  }
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      shared[threadIdx.x] += shared[threadIdx.x + half];
    }
  }
  if (threadIdx.x == 0) {
    out[0] = shared[0];
  }
}
