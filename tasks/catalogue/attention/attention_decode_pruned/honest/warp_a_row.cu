/*@winnow
{
  "let": { "columns": "ceil_div(d, 32)", "rows": "batch * kv_heads * group" },
  "launches": [
    { "kernel": "attend<{columns}>", "grid": ["rows"], "block": [32],
      "args": ["q", "k_mask", "k_values", "v_mask", "v_values", "out",
               { "float": "scale / sqrt(d)" }, "group", "s", "d", "room"] }
  ]
}
@*/
// One warp a query; the lanes share the columns, and a dot product is summed by shuffles. Weights
// are rounded to bfloat16, as tensor cores take them.
#include <cuda_bf16.h>

// The elements of a row that this lane has.
template <int COLUMNS>
__device__ void unpack(const unsigned char* bytes, const __nv_bfloat16* values, float* mine, int d,
                       int room) {
  int before = 0;
  for (int i = 0; i < COLUMNS; ++i) {
    const int c = threadIdx.x + 32 * i;
    const bool is_stored = c < d && (bytes[c / 8] >> c % 8 & 1);
    const unsigned word = __ballot_sync(0xffffffff, is_stored);
    const int rank = before + __popc(word & ((1u << threadIdx.x) - 1));
    mine[i] = is_stored && rank < room ? __bfloat162float(values[rank]) : 0.0f;
    before += __popc(word);
  }
}

template <int COLUMNS>
__global__ void
attend(const __nv_bfloat16* __restrict__ q, const unsigned char* __restrict__ k_mask,
       const __nv_bfloat16* __restrict__ k_values, const unsigned char* __restrict__ v_mask,
       const __nv_bfloat16* __restrict__ v_values, __nv_bfloat16* __restrict__ out, float scale,
       int group, int s, int d, int room) {
  const size_t row = blockIdx.x, head = row / group * s;
  const int bytes = (d + 7) / 8;
  float query[COLUMNS], mine[COLUMNS], sums[COLUMNS] = {};
  for (int i = 0; i < COLUMNS; ++i) {
    const int c = threadIdx.x + 32 * i;
    query[i] = c < d ? scale * __bfloat162float(q[row * d + c]) : 0.0f;
  }
  float largest = -INFINITY, total = 0.0f;
  for (int j = 0; j < s; ++j) {
    unpack<COLUMNS>(k_mask + (head + j) * bytes, k_values + (head + j) * room, mine, d, room);
    float score = 0.0f;
    for (int i = 0; i < COLUMNS; ++i) {
      score += query[i] * mine[i];
    }
    for (int offset = 16; offset > 0; offset /= 2) {
      score += __shfl_xor_sync(0xffffffff, score, offset);
    }
    const float maximum = fmaxf(largest, score);
    const float shrink = expf(largest - maximum), weight = expf(score - maximum);
    const float rounded = __bfloat162float(__float2bfloat16(weight));
    total = total * shrink + weight;
    unpack<COLUMNS>(v_mask + (head + j) * bytes, v_values + (head + j) * room, mine, d, room);
    for (int i = 0; i < COLUMNS; ++i) {
      sums[i] = sums[i] * shrink + rounded * mine[i];
    }
    largest = maximum;
  }
  for (int i = 0; i < COLUMNS; ++i) {
    const int c = threadIdx.x + 32 * i;
    if (c < d) {
      out[row * d + c] = __float2bfloat16(sums[i] / total);
    }
  }
}
