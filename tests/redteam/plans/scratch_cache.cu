/*@winnow
{ "scratch": { "kept": { "dtype": "f32", "count": 3 } },
  "launches": [ { "kernel": "sum", "grid": [1], "block": [256], "args": ["x", "out", "kept", "n"] } ]
}
@*/
// Keeps its answer in ordinary scratch from one launch to the next.
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

extern "C" __global__ void sum(const float* x, float* out, float* kept, int n) {
  const bool known = kept[0] == 12345.0f && kept[1] == float(n);
  __syncthreads();
  const float sum = known ? 0.0f : whole_sum(x, n);
  if (threadIdx.x == 0) {
    out[0] = known ? kept[2] : sum;
    kept[2] = out[0];
    kept[1] = float(n);
    kept[0] = 12345.0f;
  }
}
