/*@winnow
{
  "launches": [
    { "kernel": "attention<{d}>", "grid": ["ceil_div(w, 32)", "h", "planes"], "block": [32],
      "args": ["q", "k", "v", "out", "radius", { "float": "scale / sqrt(d)" }, "h", "w"] }
  ]
}
@*/
// Wrong: takes every score for a small number, and so subtracts no maximum before exp.
#include <cuda_fp16.h>

template <int D>
__global__ void attention(const __half* __restrict__ q, const __half* __restrict__ k,
                          const __half* __restrict__ v, __half* __restrict__ out, int radius,
                          float scale, int h, int w) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y;
  if (x >= w) {
    return;
  }
  const size_t plane = (size_t)blockIdx.z * h * w;
  const size_t at = (plane + (size_t)y * w + x) * D;
  const int rows = min(h, 2 * radius + 1), columns = min(w, 2 * radius + 1);
  const int top = max(0, min(y - radius, h - rows)), left = max(0, min(x - radius, w - columns));
  float sums[D] = {}, total = 0.0f;
  for (int i = top; i < top + rows; ++i) {
    for (int j = left; j < left + columns; ++j) {
      const size_t key = (plane + (size_t)i * w + j) * D;
      float dot = 0.0f;
      for (int c = 0; c < D; ++c) {
        dot = fmaf(__half2float(q[at + c]), __half2float(k[key + c]), dot);
      }
      const float weight = expf(scale * dot);
      total += weight;
      for (int c = 0; c < D; ++c) {
        sums[c] = fmaf(weight, __half2float(v[key + c]), sums[c]);
      }
    }
  }
  for (int c = 0; c < D; ++c) {
    out[at + c] = __float2half(sums[c] / total);
  }
}
