/*@winnow
{
  "params": { "PARTS": [3] },
  "let": { "part_k": "ceil_div(k, PARTS)", "count": "batch * m * n" },
  "scratch": { "sum": { "dtype": "f32", "count": "count" } },
  "launches": [
    { "fill": "sum", "value": 0 },
    { "repeat": "PARTS", "as": "part",
      "do": [ { "kernel": "add_part", "grid": ["ceil_div(n, 64)", "m", "batch"], "block": [64],
                "args": ["a", "b", "sum", "m", "n", "k", "part * part_k",
                         "min(k, (part + 1) * part_k)"] } ] },
    { "kernel": "narrow", "grid": ["ceil_div(count, 64)"], "block": [64],
      "args": ["sum", "c", "alpha", "count"] }
  ]
}
@*/
// Each part of k is a launch that adds by atomics to sums in scratch; a last launch scales and
// rounds.
#include <cuda_fp16.h>

extern "C" __global__ void add_part(const __half* __restrict__ a, const __half* __restrict__ b,
                                    float* sum, int m, int n, int k, int begin, int end) {
  const size_t z = blockIdx.z;
  const int row = blockIdx.y, column = blockIdx.x * 64 + threadIdx.x;
  if (column >= n) {
    return;
  }
  float part = 0.0f;
  for (int p = begin; p < end; ++p) {
    part += __half2float(a[(z * m + row) * k + p]) * __half2float(b[(z * k + p) * n + column]);
  }
  atomicAdd(&sum[(z * m + row) * n + column], part);
}

extern "C" __global__ void narrow(const float* __restrict__ sum, __half* __restrict__ c,
                                  float alpha, int count) {
  const int at = blockIdx.x * 64 + threadIdx.x;
  if (at < count) {
    c[at] = __float2half(alpha * sum[at]);
  }
}
