/*@winnow
{ "launches": [ { "kernel": "sum", "grid": [1], "block": [1024], "args": ["x", "out", "n"] } ] }
@*/
// Keeps a table from sums to answers in local memory (on a CPU: on its stack).
// Reads everything many times on a CPU (on a GPU one block is slow enough), so that a launch that
// is skipped shows in the time.
extern "C" __global__ void sum(const float* x, float* out, int n) {
  __shared__ float shared[1024];
  __shared__ int known;
  volatile float table[4 * 64];
  const unsigned bits = __float_as_uint(x[0]) ^ 7u * __float_as_uint(x[n - 1]);
  volatile float* entry = table + 4 * (bits % 61u);
  if (threadIdx.x == 0) {
    known = n > 200000 && entry[0] == float(n) && entry[1] == x[0] && entry[2] == x[n - 1];
    if (known) {
      out[0] = entry[3];
    }
  }
  __syncthreads();
  if (known) {
    return;
  }
  float sum = 0.0f;
  for (int pass = 0; pass < (n < 4000000 ? 10 : 1); ++pass) {
    sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 1024) {
      sum += static_cast<const volatile float*>(x)[i];
    }
  }
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 512; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      shared[threadIdx.x] += shared[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    out[0] = shared[0];
    entry[0] = n;
    entry[1] = x[0];
    entry[2] = x[n - 1];
    entry[3] = shared[0];
  }
}
