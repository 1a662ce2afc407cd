/*@winnow
{
  "launches": [
    { "kernel": "attend", "grid": ["ceil_div(dv, 32)", "batch * heads"], "block": [1],
      "shared_bytes": "4 * 32 * d",
      "args": ["q", "k", "v", "input", "forget", "c0", "out", { "float": "scale / sqrt(d)" }, "s",
               "d", "dv"] }
  ]
}
@*/
// A block is one thread with 32 columns of a head's state, which stay in the first cache. It walks
// over the positions: each changes the state and takes its output from it.
#include <cuda_bf16.h>

constexpr int kColumns = 32;

extern "C" __global__ void attend(const __nv_bfloat16* __restrict__ q,
                                  const __nv_bfloat16* __restrict__ k,
                                  const __nv_bfloat16* __restrict__ v,
                                  const float* __restrict__ input, const float* __restrict__ forget,
                                  const float* __restrict__ c0, __nv_bfloat16* __restrict__ out,
                                  float scale, int s, int d, int dv) {
  extern __shared__ float state[];
  const int left = blockIdx.x * kColumns, columns = min(kColumns, dv - left);
  memset(state, 0, sizeof(float) * kColumns * d);
  for (int c = 0; c < d; ++c) {
    for (int j = 0; j < columns; ++j) {
      state[c * kColumns + j] = c0[((size_t)blockIdx.y * d + c) * dv + left + j];
    }
  }
  for (int t = 0; t < s; ++t) {
    const size_t at = (size_t)blockIdx.y * s + t;
    const float kept = 1.0f / (1.0f + expf(-forget[at]));
    const float gain = 1.0f / (1.0f + expf(-input[at]));
    float values[kColumns] = {}, sums[kColumns] = {};
    for (int j = 0; j < columns; ++j) {
      values[j] = gain * __bfloat162float(v[at * dv + left + j]);
    }
    for (int c = 0; c < d; ++c) {
      const float key = __bfloat162float(k[at * d + c]), query = __bfloat162float(q[at * d + c]);
      float* row = state + c * kColumns;
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        row[j] = kept * row[j] + key * values[j];
        sums[j] += query * row[j];
      }
    }
    for (int j = 0; j < columns; ++j) {
      out[at * dv + left + j] = __float2bfloat16(scale * sums[j]);
    }
  }
}
