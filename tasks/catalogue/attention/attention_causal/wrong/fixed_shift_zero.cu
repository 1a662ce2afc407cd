/*@winnow
{ "launches": [ { "kernel": "attention<{d}>", "grid": ["ceil_div(s, 32)", "batch * heads"],
                  "block": [32], "args": ["q", "k", "v", "out", { "float": "scale / sqrt(d)" }, "s"]
} ] }
@*/
// Wrong: takes every score for a small number, and so subtracts no maximum before exp.
#include <cuda_fp16.h>

template <int D>
__global__ void attention(const __half* __restrict__ q, const __half* __restrict__ k,
                          const __half* __restrict__ v, __half* __restrict__ out, float scale,
                          int s) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i >= s) {
    return;
  }
  const size_t head = (size_t)blockIdx.y * s * D;
  const __half* query = q + head + (size_t)i * D;
  float sums[D] = {}, total = 0.0f;
  for (int j = 0; j <= i; ++j) {
    const __half* key = k + head + (size_t)j * D;
    const __half* value = v + head + (size_t)j * D;
    float dot = 0.0f;
    for (int c = 0; c < D; ++c) {
      dot = fmaf(__half2float(query[c]), __half2float(key[c]), dot);
    }
    const float weight = expf(scale * dot);
    total += weight;
    for (int c = 0; c < D; ++c) {
      sums[c] = fmaf(weight, __half2float(value[c]), sums[c]);
    }
  }
  for (int c = 0; c < D; ++c) {
    out[head + (size_t)i * D + c] = __float2half(sums[c] / total);
  }
}
