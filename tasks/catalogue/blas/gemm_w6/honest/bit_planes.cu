/*@winnow
{
  "let": { "words": "ceil_div(quads, 8)" },
  "scratch": {
    "w_planes": { "dtype": "u32", "count": "6 * n * words", "keep": true },
    "x_planes": { "dtype": "u32", "count": "8 * m * words" }
  },
  "prepare": [ { "kernel": "pack_w", "grid": ["ceil_div(n * words, 64)"], "block": [64],
                 "args": ["w", "w_planes", "n", "quads", "words"] } ],
  "launches": [
    { "kernel": "pack_x", "grid": ["ceil_div(m * words, 64)"], "block": [64],
      "args": ["x", "x_planes", "m", "quads", "words"] },
    { "kernel": "gemm", "grid": ["ceil_div(n, 64)", "m"], "block": [64],
      "args": ["x_planes", "x_scale", "w_planes", "w_scale", "y", "n", "quads", "words"] }
  ]
}
@*/
// Products of bit planes, as FlexQ does by binary tensor cores: 32 columns of a bit of x and a bit
// of w are a count of the ones that they share. The highest bit of each counts negatively.
#include <cuda_fp16.h>

extern "C" __global__ void pack_w(const unsigned char* __restrict__ w,
                                  unsigned* __restrict__ planes, int n, int quads, int words) {
  const int at = blockIdx.x * 64 + threadIdx.x;
  if (at >= n * words) {
    return;
  }
  const int j = at / words, word = at % words;
  unsigned bits[6] = {};
  for (int p = 0; p < 32 && word * 32 + p < 4 * quads; ++p) {
    const int column = word * 32 + p;
    const unsigned char* three = w + ((size_t)j * quads + column / 4) * 3;
    const int quad = three[0] | three[1] << 8 | three[2] << 16;
    for (int b = 0; b < 6; ++b) {
      bits[b] |= (unsigned)(quad >> (6 * (column % 4) + b) & 1) << p;
    }
  }
  for (int b = 0; b < 6; ++b) {
    planes[((size_t)word * 6 + b) * n + j] = bits[b];
  }
}

extern "C" __global__ void pack_x(const signed char* __restrict__ x, unsigned* __restrict__ planes,
                                  int m, int quads, int words) {
  const int at = blockIdx.x * 64 + threadIdx.x;
  if (at >= m * words) {
    return;
  }
  const int row = at / words, word = at % words;
  unsigned bits[8] = {};
  for (int p = 0; p < 32 && word * 32 + p < 4 * quads; ++p) {
    const int value = x[(size_t)row * 4 * quads + word * 32 + p];
    for (int b = 0; b < 8; ++b) {
      bits[b] |= (unsigned)(value >> b & 1) << p;
    }
  }
  for (int b = 0; b < 8; ++b) {
    planes[(size_t)at * 8 + b] = bits[b];
  }
}

extern "C" __global__ void gemm(const unsigned* __restrict__ x_planes,
                                const __half* __restrict__ x_scale,
                                const unsigned* __restrict__ w_planes,
                                const __half* __restrict__ w_scale, __half* __restrict__ y, int n,
                                int quads, int words) {
  const int row = blockIdx.y, j = blockIdx.x * 64 + threadIdx.x, groups = (quads + 31) / 32;
  if (j >= n) {
    return;
  }
  float sum = 0.0f;
  for (int group = 0; group < groups; ++group) {
    int whole = 0;
    for (int word = group * 4; word < min(group * 4 + 4, words); ++word) {
      const unsigned* left = x_planes + ((size_t)row * words + word) * 8;
      for (int b = 0; b < 6; ++b) {
        const unsigned right = w_planes[((size_t)word * 6 + b) * n + j];
        int count = 0;
        for (int a = 0; a < 8; ++a) {
          const int shared = __popc(left[a] & right) << a;
          count += a == 7 ? -shared : shared;
        }
        whole += (b == 5 ? -count : count) * (1 << b);
      }
    }
    sum = fmaf((float)whole * __half2float(x_scale[(size_t)row * groups + group]),
               __half2float(w_scale[(size_t)j * groups + group]), sum);
  }
  y[(size_t)row * n + j] = __float2half(sum);
}
