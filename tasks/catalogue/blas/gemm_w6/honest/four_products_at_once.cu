/*@winnow
{
  "launches": [
    { "kernel": "gemm", "grid": ["ceil_div(n, 4)", "ceil_div(m, 8)"], "block": [32, 4],
      "args": ["x", "x_scale", "w", "w_scale", "y", "m", "n", "quads"] }
  ]
}
@*/
// Three bytes become four bytes in a register, whose sign bits are mended at once. A warp has eight
// rows of one column, and its lanes add their exact sums before they are scaled.
#include <cuda_fp16.h>

// Four weights as the bytes of a word. Nothing is borrowed between bytes whose highest bit is set.
__device__ int bytes_of(const unsigned char* three) {
  const unsigned quad = three[0] | three[1] << 8 | three[2] << 16;
  const unsigned spread =
      (quad & 63) | (quad & 0xfc0) << 2 | (quad & 0x3f000) << 4 | (quad & 0xfc0000) << 6;
  const unsigned moved = spread ^ 0x20202020u; // from 0 to 63
  return (int)(((moved | 0x80808080u) - 0x20202020u) ^ 0x80808080u);
}

extern "C" __global__ void gemm(const signed char* __restrict__ x,
                                const __half* __restrict__ x_scale,
                                const unsigned char* __restrict__ w,
                                const __half* __restrict__ w_scale, __half* __restrict__ y, int m,
                                int n, int quads) {
  const int j = blockIdx.x * 4 + threadIdx.y, top = blockIdx.y * 8, groups = (quads + 31) / 32;
  if (j >= n) {
    return;
  }
  const int* words = reinterpret_cast<const int*>(x);
  float sums[8] = {};
  for (int group = 0; group < groups; ++group) {
    const int q = group * 32 + threadIdx.x;
    const int four = q < quads ? bytes_of(w + ((size_t)j * quads + q) * 3) : 0;
    const float scale = __half2float(w_scale[(size_t)j * groups + group]);
    for (int i = 0; i < 8 && top + i < m; ++i) {
      const int left = q < quads ? words[(size_t)(top + i) * quads + q] : 0;
      int whole = __dp4a(left, four, 0);
      for (int offset = 16; offset > 0; offset /= 2) {
        whole += __shfl_xor_sync(0xffffffff, whole, offset, 32);
      }
      sums[i] += whole * (scale * __half2float(x_scale[(size_t)(top + i) * groups + group]));
    }
  }
  if (threadIdx.x == 0) {
    for (int i = 0; i < 8 && top + i < m; ++i) {
      y[(size_t)(top + i) * n + j] = __float2half(sums[i]);
    }
  }
}
