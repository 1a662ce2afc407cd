/*@winnow
{
  "let": { "rows": "batch * kv_heads * group" },
  "launches": [
    { "kernel": "attend<{d}, {room}>", "grid": ["ceil_div(rows, 32)"], "block": [32],
      "args": ["q", "k_mask", "k_values", "v_mask", "v_values", "out",
               { "float": "scale / sqrt(d)" }, "rows", "group", "s"] }
  ]
}
@*/
// One thread a query: key after key with a running maximum and sum, only over what is stored.
#include <cuda_bf16.h>

template <int D, int ROOM>
__global__ void
attend(const __nv_bfloat16* __restrict__ q, const unsigned char* __restrict__ k_mask,
       const __nv_bfloat16* __restrict__ k_values, const unsigned char* __restrict__ v_mask,
       const __nv_bfloat16* __restrict__ v_values, __nv_bfloat16* __restrict__ out, float scale,
       int rows, int group, int s) {
  constexpr int kBytes = (D + 7) / 8;
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) {
    return;
  }
  const __nv_bfloat16* query = q + (size_t)row * D;
  float sums[D] = {};
  float largest = -INFINITY, total = 0.0f;
  for (int j = 0; j < s; ++j) {
    const size_t key = (size_t)(row / group) * s + j;
    const __nv_bfloat16 *next_k = k_values + key * ROOM, *next_v = v_values + key * ROOM;
    const __nv_bfloat16 *end_k = next_k + ROOM, *end_v = next_v + ROOM;
    float dot = 0.0f;
    for (int c = 0; c < D; ++c) {
      if (next_k < end_k && (k_mask[key * kBytes + c / 8] >> c % 8 & 1)) {
        dot = fmaf(__bfloat162float(query[c]), __bfloat162float(*next_k++), dot);
      }
    }
    const float score = scale * dot, maximum = fmaxf(largest, score);
    const float shrink = expf(largest - maximum), weight = expf(score - maximum);
    total = total * shrink + weight;
    for (int c = 0; c < D; ++c) {
      sums[c] *= shrink;
      if (next_v < end_v && (v_mask[key * kBytes + c / 8] >> c % 8 & 1)) {
        sums[c] = fmaf(weight, __bfloat162float(*next_v++), sums[c]);
      }
    }
    largest = maximum;
  }
  for (int c = 0; c < D; ++c) {
    out[(size_t)row * D + c] = __float2bfloat16(sums[c] / total);
  }
}
