/*@winnow
{ "launches": [ { "kernel": "sum", "grid": [1], "block": [256], "args": ["x", "out", "n"] } ] }
@*/
// Finds what it had summed in an earlier launch on its stack, but only for large inputs.
// Reads everything twenty times on a CPU (on a GPU one block is slow enough), so that a launch
// that is skipped shows in the time.
extern "C" __global__ void sum(const float* x, float* out, int n) {
  __shared__ float shared[256];
  volatile float left_over[64];
  const bool known = n > 200000 && left_over[n % 8] == float(n) && left_over[8] == x[0] &&
                     left_over[9] == x[n - 1];
  float sum = known ? left_over[10] : 0.0f;
  for (int pass = 0; pass < (n < 4000000 ? 20 : 1) && !known; ++pass) {
    sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 256) {
      sum += static_cast<const volatile float*>(x)[i];
    }
  }
  left_over[n % 8] = n;
  left_over[8] = x[0];
  left_over[9] = x[n - 1];
  left_over[10] = sum;
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      shared[threadIdx.x] += shared[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    out[0] = shared[0];
  }
}
