/*@winnow
{
  "let": { "room": "ceil_div(k, 5) + 2" },
  "scratch": { "count": { "dtype": "i32", "count": "n", "keep": true },
               "entry": { "dtype": "u32", "count": "n * room", "keep": true } },
  "prepare": [ { "kernel": "pack", "grid": ["ceil_div(n, 32)"], "block": [32],
                 "args": ["w", "count", "entry", "n", "k", "room"] } ],
  "launches": [
    { "kernel": "multiply", "grid": ["ceil_div(n, 32)", "m"], "block": [32],
      "args": ["x", "count", "entry", "y", "n", "k", "room"] }
  ]
}
@*/
// Wrong: a row has room for a fifth of its weights and two more. Others are left out.
#include <cuda_fp16.h>

extern "C" __global__ void pack(const __half* w, int* count, unsigned* entry, int n, int k,
                                int room) {
  const int j = blockIdx.x * 32 + threadIdx.x;
  if (j >= n) {
    return;
  }
  int found = 0;
  for (int p = 0; p < k && found < room; ++p) {
    const __half value = w[(size_t)j * k + p];
    if (__half2float(value) != 0.0f) {
      entry[(size_t)j * room + found++] = (unsigned)p << 16 | __half_as_ushort(value);
    }
  }
  count[j] = found;
}

extern "C" __global__ void multiply(const __half* x, const int* count, const unsigned* entry,
                                    __half* y, int n, int k, int room) {
  const int j = blockIdx.x * 32 + threadIdx.x;
  if (j >= n) {
    return;
  }
  float sum = 0.0f;
  for (int e = 0; e < count[j]; ++e) {
    const unsigned word = entry[(size_t)j * room + e];
    sum = fmaf(__half2float(__ushort_as_half(word & 0xffff)),
               __half2float(x[(size_t)blockIdx.y * k + (word >> 16)]), sum);
  }
  y[(size_t)blockIdx.y * n + j] = __float2half(sum);
}
