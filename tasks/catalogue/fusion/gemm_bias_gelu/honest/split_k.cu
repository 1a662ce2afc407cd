/*@winnow
{
  "params": { "PARTS": [4] },
  "let": { "part_k": "ceil_div(k, PARTS)" },
  "scratch": { "sum": { "dtype": "f32", "count": "m * n" } },
  "launches": [
    { "kernel": "begin", "grid": ["ceil_div(n, 64)", "m"], "block": [64],
      "args": ["bias", "sum", "n"] },
    { "kernel": "add_parts", "grid": ["ceil_div(n, 64)", "m", "PARTS"], "block": [64],
      "args": ["x", "w", "sum", "m", "n", "k", "part_k"] },
    { "kernel": "finish", "grid": ["ceil_div(n, 64)", "m"], "block": [64],
      "args": ["sum", "y", "n"] }
  ]
}
@*/
// Parts of k add to the bias by atomics; a last launch applies GELU by the complementary error
// function.
#include <cuda_fp16.h>

extern "C" __global__ void begin(const __half* __restrict__ bias, float* __restrict__ sum, int n) {
  const int column = blockIdx.x * 64 + threadIdx.x;
  if (column < n) {
    sum[(size_t)blockIdx.y * n + column] = __half2float(bias[column]);
  }
}

extern "C" __global__ void add_parts(const __half* __restrict__ x, const __half* __restrict__ w,
                                     float* sum, int m, int n, int k, int part_k) {
  const int row = blockIdx.y, column = blockIdx.x * 64 + threadIdx.x;
  if (column >= n) {
    return;
  }
  const int first = blockIdx.z * part_k, end = min(k, first + part_k);
  float part = 0.0f;
  for (int p = first; p < end; ++p) {
    part += __half2float(x[(size_t)row * k + p]) * __half2float(w[(size_t)p * n + column]);
  }
  atomicAdd(&sum[(size_t)row * n + column], part);
}

extern "C" __global__ void finish(const float* __restrict__ sum, __half* __restrict__ y, int n) {
  const int column = blockIdx.x * 64 + threadIdx.x;
  if (column < n) {
    const float t = sum[(size_t)blockIdx.y * n + column];
    y[(size_t)blockIdx.y * n + column] = __float2half(0.5f * t * erfcf(t * -0.70710678f));
  }
}
