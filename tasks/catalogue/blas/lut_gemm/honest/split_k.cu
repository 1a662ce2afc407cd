/*@winnow
{
  "params": { "PARTS": [3] },
  "let": { "part": "ceil_div(half_k, PARTS)" },
  "scratch": { "sum": { "dtype": "f32", "count": "m * n" } },
  "launches": [
    { "fill": "sum", "value": 0 },
    { "kernel": "add_parts", "grid": ["ceil_div(n, 32)", "m", "PARTS"], "block": [32],
      "args": ["x", "w", "table", "sum", "n", "half_k", "part"] },
    { "kernel": "narrow", "grid": ["ceil_div(m * n, 64)"], "block": [64],
      "args": ["sum", "y", "m * n"] }
  ]
}
@*/
// Parts of k add by atomics; low and high nibbles have sums of their own.
#include <cuda_fp16.h>

extern "C" __global__ void add_parts(const __half* __restrict__ x,
                                     const unsigned char* __restrict__ w,
                                     const __half* __restrict__ table, float* sum, int n,
                                     int half_k, int part) {
  const int row = blockIdx.y, j = blockIdx.x * 32 + threadIdx.x;
  if (j >= n) {
    return;
  }
  const int begin = blockIdx.z * part, end = min(half_k, begin + part);
  float low = 0.0f, high = 0.0f;
  for (int q = begin; q < end; ++q) {
    const int codes = w[(size_t)j * half_k + q];
    const __half* two = x + ((size_t)row * half_k + q) * 2;
    low += __half2float(two[0]) * __half2float(table[(size_t)j * 16 + (codes & 15)]);
    high += __half2float(two[1]) * __half2float(table[(size_t)j * 16 + (codes >> 4)]);
  }
  atomicAdd(&sum[(size_t)row * n + j], low + high);
}

extern "C" __global__ void narrow(const float* __restrict__ sum, __half* __restrict__ y,
                                  int count) {
  const int at = blockIdx.x * 64 + threadIdx.x;
  if (at < count) {
    y[at] = __float2half(sum[at]);
  }
}
