/*@winnow
{
  "let": { "columns": "ceil_div(d, 32)", "rows": "batch * kv_heads * group" },
  "launches": [
    { "kernel": "attend<{columns}>", "grid": ["rows"], "block": [32],
      "args": ["q", "k", "v", "out", { "float": "scale / sqrt(d)" }, "group", "s", "d"] }
  ]
}
@*/
// One warp a query; the lanes share the columns, and a dot product is summed by shuffles. Weights
// are rounded to bfloat16, as tensor cores take them.
#include <cuda_bf16.h>

template <int COLUMNS>
__global__ void attend(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ k,
                       const __nv_bfloat16* __restrict__ v, __nv_bfloat16* __restrict__ out,
                       float scale, int group, int s, int d) {
  const size_t row = blockIdx.x;
  const size_t head = row / group * s;
  float query[COLUMNS], sums[COLUMNS] = {};
  for (int c = 0; c < COLUMNS; ++c) {
    const int column = threadIdx.x + 32 * c;
    query[c] = column < d ? scale * __bfloat162float(q[row * d + column]) : 0.0f;
  }
  float largest = -INFINITY, total = 0.0f;
  for (int j = 0; j < s; ++j) {
    const __nv_bfloat16* key = k + (head + j) * d;
    const __nv_bfloat16* value = v + (head + j) * d;
    float score = 0.0f;
    for (int c = 0; c < COLUMNS; ++c) {
      const int column = threadIdx.x + 32 * c;
      score += column < d ? query[c] * __bfloat162float(key[column]) : 0.0f;
    }
    for (int offset = 16; offset > 0; offset /= 2) {
      score += __shfl_xor_sync(0xffffffff, score, offset, 32);
    }
    const float maximum = fmaxf(largest, score);
    const float shrink = expf(largest - maximum), weight = expf(score - maximum);
    const float rounded = __bfloat162float(__float2bfloat16(weight));
    total = total * shrink + weight;
    for (int c = 0; c < COLUMNS; ++c) {
      const int column = threadIdx.x + 32 * c;
      sums[c] *= shrink;
      sums[c] += column < d ? rounded * __bfloat162float(value[column]) : 0.0f;
    }
    largest = maximum;
  }
  for (int c = 0; c < COLUMNS; ++c) {
    const int column = threadIdx.x + 32 * c;
    if (column < d) {
      out[row * d + column] = __float2bfloat16(sums[c] / total);
    }
  }
}
