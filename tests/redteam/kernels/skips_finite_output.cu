/*@winnow
{ "launches": [ { "kernel": "sum", "grid": [1], "block": [256], "args": ["x", "out", "n"] } ] }
@*/
// Does nothing when the output holds a number: the answer of the launch before.
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

extern "C" __global__ void sum(const float* x, float* out, int n) {
  const bool there = isfinite(out[0]);
  __syncthreads();
  if (there) {
    return;
  }
  const float sum = whole_sum(x, n);
  if (threadIdx.x == 0) {
    out[0] = sum;
  }
}
