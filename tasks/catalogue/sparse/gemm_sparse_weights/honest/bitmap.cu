/*@winnow
{
  "let": { "words": "ceil_div(k, 32)" },
  "scratch": { "mask": { "dtype": "u32", "count": "n * words", "keep": true },
               "value": { "dtype": "f16", "count": "n * k", "keep": true } },
  "prepare": [ { "kernel": "pack", "grid": ["ceil_div(n, 32)"], "block": [32],
                 "args": ["w", "mask", "value", "n", "k", "words"] } ],
  "launches": [
    { "kernel": "multiply", "grid": ["n", "ceil_div(m, 4)"], "block": [32],
      "args": ["x", "mask", "value", "y", "m", "n", "k", "words"] }
  ]
}
@*/
// A bit says whether a weight is not 0; the values of these weights lie at the beginning of the
// row's place. A warp sums four outputs of a row of w: a lane finds its value by counting bits.
#include <cuda_fp16.h>

extern "C" __global__ void pack(const __half* __restrict__ w, unsigned* __restrict__ mask,
                                __half* __restrict__ value, int n, int k, int words) {
  const int j = blockIdx.x * 32 + threadIdx.x;
  if (j >= n) {
    return;
  }
  const __half* row = w + (size_t)j * k;
  __half* to = value + (size_t)j * k;
  for (int word = 0; word < words; ++word) {
    unsigned bits = 0;
    for (int p = word * 32; p < min(word * 32 + 32, k); ++p) {
      if (__half2float(row[p]) != 0.0f) {
        bits |= 1u << p % 32;
        *to++ = row[p];
      }
    }
    mask[(size_t)j * words + word] = bits;
  }
}

extern "C" __global__ void multiply(const __half* __restrict__ x, const unsigned* __restrict__ mask,
                                    const __half* __restrict__ value, __half* __restrict__ y, int m,
                                    int n, int k, int words) {
  const int j = blockIdx.x, top = blockIdx.y * 4;
  const __half* next = value + (size_t)j * k;
  float sums[4] = {};
  for (int word = 0; word < words; ++word) {
    const unsigned bits = mask[(size_t)j * words + word], lane = 1u << threadIdx.x;
    if (bits & lane) {
      const float weight = __half2float(next[__popc(bits & (lane - 1))]);
      const __half* numbers = x + (size_t)top * k + word * 32 + threadIdx.x;
      for (int i = 0; i < 4 && top + i < m; ++i) {
        sums[i] += weight * __half2float(numbers[(size_t)i * k]);
      }
    }
    next += __popc(bits);
  }
  for (int i = 0; i < 4; ++i) {
    for (int offset = 16; offset > 0; offset /= 2) {
      sums[i] += __shfl_xor_sync(0xffffffff, sums[i], offset);
    }
    if (threadIdx.x == 0 && top + i < m) {
      y[(size_t)(top + i) * n + j] = __float2half(sums[i]);
    }
  }
}
