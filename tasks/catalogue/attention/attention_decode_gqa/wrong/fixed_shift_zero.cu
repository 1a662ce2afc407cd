/*@winnow
{
  "let": { "rows": "batch * kv_heads * group" },
  "launches": [
    { "kernel": "attend<{d}>", "grid": ["ceil_div(rows, 32)"], "block": [32],
      "args": ["q", "k", "v", "out", { "float": "scale / sqrt(d)" }, "rows", "group", "s"] }
  ]
}
@*/
// Wrong: takes every score for a small number, and so subtracts no maximum before exp.
#include <cuda_bf16.h>

template <int D>
__global__ void attend(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ k,
                       const __nv_bfloat16* __restrict__ v, __nv_bfloat16* __restrict__ out,
                       float scale, int rows, int group, int s) {
  const int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= rows) {
    return;
  }
  const size_t head = (size_t)(row / group) * s * D;
  const __nv_bfloat16* query = q + (size_t)row * D;
  float sums[D] = {}, total = 0.0f;
  for (int j = 0; j < s; ++j) {
    const __nv_bfloat16* key = k + head + (size_t)j * D;
    const __nv_bfloat16* value = v + head + (size_t)j * D;
    float dot = 0.0f;
    for (int c = 0; c < D; ++c) {
      dot = fmaf(__bfloat162float(query[c]), __bfloat162float(key[c]), dot);
    }
    const float weight = expf(scale * dot);
    total += weight;
    for (int c = 0; c < D; ++c) {
      sums[c] = fmaf(weight, __bfloat162float(value[c]), sums[c]);
    }
  }
  for (int c = 0; c < D; ++c) {
    out[(size_t)row * D + c] = __float2bfloat16(sums[c] / total);
  }
}
