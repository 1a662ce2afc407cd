/*@winnow
{
  "launches": [
    { "kernel": "attend<{group}>", "grid": ["batch * kv_heads"], "block": [1],
      "shared_bytes": "4 * (2 * group + 64) * d",
      "args": ["q", "k", "v", "out", { "float": "scale / sqrt(d)" }, "s", "d"] }
  ]
}
@*/
// A block is one thread with all queries of a kv-head. It walks over tiles of 32 keys and values as
// floats with running maxima and sums. Keys are stored as columns, so that one vector register has
// eight keys.
#include <cuda_bf16.h>

// Takes rows of d numbers as floats; with `turned`, as columns of 32.
__device__ void load_rows(const __nv_bfloat16* rows, float* tile, int count, int d, bool turned) {
  for (int row = 0; row < count; ++row) {
    for (int c = 0; c < d; ++c) {
      tile[turned ? c * 32 + row : row * d + c] = __bfloat162float(rows[(size_t)row * d + c]);
    }
  }
}

// The weights of 32 keys for one query, and the sums of values so far with the new ones.
struct Softmax {
  float largest = -INFINITY, total = 0.0f;

  __device__ void add(const float* query, const float* keys, const float* values, float* sums,
                      int count, float scale, int d) {
    float weights[32] = {};
    for (int c = 0; c < d; ++c) {
#pragma unroll
      for (int j = 0; j < 32; ++j) {
        weights[j] += query[c] * keys[c * 32 + j];
      }
    }
    float maximum = largest;
    for (int j = 0; j < count; ++j) {
      weights[j] *= scale;
      maximum = fmaxf(maximum, weights[j]);
    }
    const float shrink = expf(largest - maximum);
    total *= shrink;
    for (int c = 0; c < d; ++c) {
      sums[c] *= shrink;
    }
    for (int j = 0; j < count; ++j) {
      const float weight = expf(weights[j] - maximum);
      total += weight;
      for (int c = 0; c < d; ++c) {
        sums[c] += weight * values[j * d + c];
      }
    }
    largest = maximum;
  }
};

template <int GROUP>
__global__ void attend(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ k,
                       const __nv_bfloat16* __restrict__ v, __nv_bfloat16* __restrict__ out,
                       float scale, int s, int d) {
  extern __shared__ float shared[];
  float *queries = shared, *sums = queries + GROUP * d;
  float *keys = sums + GROUP * d, *values = keys + 32 * d;
  const size_t head = blockIdx.x;
  load_rows(q + head * GROUP * d, queries, GROUP, d, false);
  memset(sums, 0, GROUP * d * sizeof(float));
  memset(keys, 0, 32 * d * sizeof(float));
  Softmax softmax[GROUP];
  for (int key = 0; key < s; key += 32) {
    const int loaded = min(32, s - key);
    load_rows(k + (head * s + key) * d, keys, loaded, d, true);
    load_rows(v + (head * s + key) * d, values, loaded, d, false);
    for (int g = 0; g < GROUP; ++g) {
      softmax[g].add(queries + g * d, keys, values, sums + g * d, loaded, scale, d);
    }
  }
  for (int g = 0; g < GROUP; ++g) {
    for (int c = 0; c < d; ++c) {
      out[(head * GROUP + g) * d + c] = __float2bfloat16(sums[g * d + c] / softmax[g].total);
    }
  }
}
